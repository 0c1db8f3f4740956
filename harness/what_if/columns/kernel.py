"""Judge many plans of one setting at once: reductions over the bits of their steps.

Rule 1: nothing is decided here about a step. What a whole plan decides is: what its steps cover and
        pin together, whether they repeat a destructive call, and their sums.
Rule 2: the answer is that of the first check with a finding; a person is asked where an approval
        would clear everything that all checks found.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from harness.what_if.columns.column_facts import (
    BITS_OF,
    DESTRUCTIVE,
    EVIDENCE,
    FIRST_KINDS,
    LOOP,
    OVER_BUDGET,
    SITUATION_BITS,
    UNCOVERED,
    Setting,
    StepFacts,
)
from harness.what_if.plan_answers import ANSWERS, MatrixEntry

Numbers: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.int32]
PlanMarks: TypeAlias = npt.NDArray[np.bool_]
Answers: TypeAlias = npt.NDArray[np.uint8]

UNKNOWN: Final = 255
"""Stands for the answer on a plan that has to be judged by itself."""

LONGEST: Final = 512
"""Steps of a plan that is judged here. The sum of more tokens might not fit into 64 bits."""

_OFTEN: Final = 16
"""Where a number occurs so often on average, it costs less to ask about every number."""

_SITUATION: Final = (1 << SITUATION_BITS) - 1


class Scratch:
    """Memory that is used again for each group: to get new memory costs more than to fill it."""

    def __init__(self) -> None:
        self._kept: dict[str, Numbers] = {}

    def numbers(self, name: str, count: int) -> Numbers:
        """Return room for so many numbers. What it held before is lost."""
        kept = self._kept.get(name)
        if kept is None or kept.size < count:
            kept = self._kept[name] = np.empty(count, np.int64)
        return kept[:count]


class Lists(NamedTuple):
    """A list of numbers for each plan: those from `starts[n]` up to `starts[n + 1]`."""

    starts: Numbers
    values: Codes | Numbers

    def lengths(self) -> Numbers:
        """Return how many numbers each plan has."""
        return self.starts[1:] - self.starts[:-1]

    def take(self, rows: Numbers) -> "Lists":
        """Return the lists of some plans."""
        lengths = self.lengths()[rows]
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        moved = np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Lists(starts, self.values[moved + np.arange(starts[-1])])


class Plans(NamedTuple):
    """Plans as columns. Steps are numbers of texts in a dictionary, and so are declared outputs.

    Attributes:
        repeats: the positions of the steps that repeat an earlier call.
    """

    steps: Lists
    repeats: Lists
    declared: Codes
    spent_steps: Numbers
    spent_tokens: Numbers
    out_of_order: PlanMarks
    other_trace: PlanMarks

    def take(self, rows: Numbers) -> "Plans":
        """Return some of the plans."""
        return Plans(
            self.steps.take(rows),
            self.repeats.take(rows),
            self.declared[rows],
            self.spent_steps[rows],
            self.spent_tokens[rows],
            self.out_of_order[rows],
            self.other_trace[rows],
        )


def answers(
    plans: Plans,
    setting: Setting,
    facts_of: Callable[[int], StepFacts],
    lacks: Callable[[int], bool],
    scratch: Scratch,
) -> Answers:
    """Return the answer on each plan, as an index of `ANSWERS`, or `UNKNOWN`.

    Args:
        facts_of: gives the facts of a step by its number.
        lacks: says whether the declared outputs of a number lack a required one.
    """
    bits_of, tokens_of = _tables(plans.steps.values, facts_of)
    lengths, limits = plans.steps.lengths(), setting.budget
    numbers = scratch.numbers("steps", plans.steps.values.size)
    numbers[:] = plans.steps.values  # once, and not for each table
    values = scratch.numbers("values", numbers.size)
    steps = Lists(plans.steps.starts, numbers)
    bits = _reduce_steps(np.bitwise_or, bits_of, steps, values)
    situation = bits & _SITUATION
    undeclared = _mark_codes(plans.declared, lacks)
    missing = ~bits & (setting.outputs | setting.classes)
    uncovered = undeclared | plans.other_trace | (missing & setting.outputs != 0)
    situation |= uncovered * np.int64(UNCOVERED)
    if setting.classes:
        situation |= (missing & setting.classes != 0) * np.int64(EVIDENCE)
    loops = plans.out_of_order | (plans.spent_steps + lengths > limits.max_steps)
    situation |= loops * np.int64(LOOP)
    situation[_repeating_plans(plans, bits_of)] |= LOOP
    tokens = _reduce_steps(np.add, tokens_of, steps, values)
    tokens += plans.spent_tokens
    situation |= (tokens > limits.bucket_tokens) * np.int64(OVER_BUDGET)
    found = _ANSWER_OF.take(situation)
    if lengths.size and lengths.max() > LONGEST:
        found[lengths > LONGEST] = UNKNOWN
    return found


def _tables(
    codes: Codes | Numbers, facts_of: Callable[[int], StepFacts]
) -> tuple[Numbers, Numbers]:
    """Return the bits and the tokens of steps by their numbers: at least of those that occur."""
    size = int(codes.max()) + 1 if codes.size else 0
    bits, tokens = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for code in range(size) if size * _OFTEN < codes.size else np.unique(codes).tolist():
        bits[code], tokens[code] = facts_of(code)
    return bits, tokens


def _mark_codes(codes: Codes, is_marked: Callable[[int], bool]) -> PlanMarks:
    """Return the marks of numbers, each of which is asked about once."""
    size = int(codes.max()) + 1 if codes.size else 0
    marks = np.zeros(size, np.bool_)
    for code in range(size) if size * _OFTEN < codes.size else np.unique(codes).tolist():
        marks[code] = is_marked(code)
    return marks.take(codes)


def _reduce_steps(how: np.ufunc, table: Numbers, lists: Lists, values: Numbers) -> Numbers:
    """Return for each plan what the values of its steps are together; 0 for no steps."""
    is_filled, starts = lists.lengths() != 0, lists.starts[:-1]
    if not values.size:
        return np.zeros(len(starts), np.int64)
    table.take(lists.values, out=values, mode="clip")  # in range: it was built for them
    if is_filled.all():
        return how.reduceat(values, starts)
    found = np.zeros(len(starts), np.int64)
    found[is_filled] = how.reduceat(values, starts[is_filled])
    return found


def _repeating_plans(plans: Plans, bits_of: Numbers) -> Numbers:
    """Return the plans that make a destructive call twice."""
    repeats = plans.repeats
    if not repeats.values.size:
        return np.zeros(0, np.int64)
    rows = np.repeat(np.arange(len(plans.declared)), repeats.lengths())
    steps = plans.steps.values[plans.steps.starts[rows] + repeats.values]
    found: Numbers = rows[bits_of[steps] & DESTRUCTIVE != 0]
    return found


def _answer_of(situation: int) -> int:
    """Return the answer in a situation, as an index of `ANSWERS`."""
    found = [kind for kind in FIRST_KINDS if situation & sum(BITS_OF[kind])]
    if not found:
        return 0
    asks = not any(situation & BITS_OF[kind][0] for kind in found)
    return ANSWERS.index(MatrixEntry(found[0], asks))


def _all_answers() -> Any:
    return np.array([_answer_of(one) for one in range(_SITUATION + 1)], np.uint8)


_ANSWER_OF: Final[Answers] = _all_answers()
