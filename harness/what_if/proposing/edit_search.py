"""Find the smallest edits that let one task through, by judging it again. Pure.

Law: each proposal, applied to the policy, lets its task through. Nothing else decides which edits
those are: no rule here says what an edit is good for.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Final, NamedTuple, Protocol

from harness.what_if.proposing.policy_edits import EDIT_ORDER, PolicyEdit
from harness.what_if.proposing.task_judge import JudgedTask, TaskStop

Edits = tuple[PolicyEdit, ...]

MOST_JUDGEMENTS: Final = 400
"""How often a task is judged again for one stop."""
_OF_PAIRS: Final = 200
"""How many of these may be pairs that need nobody's word, so that what needs one is tried, too."""
_OF_QUESTIONS: Final = 60
"""How many are spent on a stop that a person may answer."""
_MOST_STOPS: Final = 8
_MOST_RANKED: Final = 4


class UncuredStop(NamedTuple):
    """A stop that no edit of the closed set helps, and why."""

    stop: TaskStop
    why: str


class FoundEdits(NamedTuple):
    """The edits that let a task through: what stopped it, and what becomes of it with them."""

    stops: tuple[TaskStop, ...]
    edits: Edits
    judged: JudgedTask


class TaskBench(Protocol):
    """One task before one policy: what a search asks of it."""

    def judge_with(self, edits: Edits) -> JudgedTask | None:
        """Return what becomes of the task with edits; None if they do not fit the policy."""
        ...

    def candidates(self, edits: Edits, stop: TaskStop) -> list[PolicyEdit]:
        """Return the edits that may help with a stop, where some were made already."""
        ...

    def price_edits(self, edits: Edits, stop: TaskStop) -> tuple[int, int]:
        """Return how many attacks would pass with edits, and how much else would open."""
        ...


class EditSearch:
    """The search for the edits of one task."""

    def __init__(self, bench: TaskBench, known: Iterable[PolicyEdit] = ()) -> None:
        """Begin a search.

        Args:
            known: edits that are proposed already, for other tasks: they are tried first.
        """
        self._bench: Final = bench
        self._known: Final = tuple(known)
        self._left = 0
        self.judgements = 0

    def find(self, judged: JudgedTask) -> FoundEdits | UncuredStop | None:
        """Return what lets a task through that stops, stop by stop; None if it does not stop."""
        stops = [] if judged.stop is None else [judged.stop]
        edits, now = self._with_known(judged)
        for _ in range(_MOST_STOPS):
            past = None if now.stop is None else self._get_past(edits, now)
            if past is None:
                break
            edits, now = past
            if judged.outcome == "refused" and now.outcome != "refused":
                break  # a person may answer what is asked now
            stops += [] if now.stop is None else [now.stop]
        if now.outcome == "refused" and now.stop is not None:
            return UncuredStop(now.stop, self._say_why(now.stop))
        if not edits:
            return None if not stops else UncuredStop(stops[0], "a person is asked")
        edits, now = self._without_idle(edits, now)
        kept = {stop.turn: stop for stop in stops if now.stop is None or stop != now.stop}
        return FoundEdits(tuple(kept.values()), edits, now)

    def _say_why(self, stop: TaskStop) -> str:
        if self._left <= 0 and not stop.is_misfit:
            return f"no edit was found that helps, in {MOST_JUDGEMENTS} judgements"
        if stop.is_misfit:
            return "no edit helps: its args_schema does not take that"
        return "no edit helps: the value was seen nowhere" if stop.is_unseen else "no edit helps"

    def _with_known(self, judged: JudgedTask) -> tuple[Edits, JudgedTask]:
        """Return the task with all that is proposed already, if that takes it any further."""
        free = tuple(edit for edit in self._known if not edit.needs_word)
        now = self._judge_with(free) if free else None
        return (free, now) if now is not None and _is_further(judged, now) else ((), judged)

    def _judge_with(self, edits: Edits) -> JudgedTask | None:
        self._left -= 1
        self.judgements += 1
        return self._bench.judge_with(edits)

    def _get_past(self, edits: Edits, judged: JudgedTask) -> tuple[Edits, JudgedTask] | None:
        """Return the edits with the smallest that take the task past its stop; None without."""
        stop = judged.stop
        if stop is None:
            return None
        is_refused = judged.outcome == "refused"
        self._left = MOST_JUDGEMENTS if is_refused else _OF_QUESTIONS
        if stop.is_misfit:
            return None
        found = [one for one in self._bench.candidates(edits, stop) if one not in edits]
        for tried in _rounds(found, in_pairs=is_refused):
            passing = self._find_passing(edits, judged, tried)
            if passing:
                return self._best_of(edits, passing, stop)
        return None

    def _find_passing(
        self, edits: Edits, judged: JudgedTask, tried: Iterable[Edits]
    ) -> list[tuple[Edits, JudgedTask]]:
        passing = []
        for more in tried:
            if self._left <= 0:
                break
            now = self._judge_with((*edits, *more))
            if now is not None and _is_further(judged, now):
                passing.append((more, now))
        return passing

    def _best_of(
        self, edits: Edits, passing: list[tuple[Edits, JudgedTask]], stop: TaskStop
    ) -> tuple[Edits, JudgedTask]:
        """Return the edits that open least, by attacks, by others' choices, and by their order."""
        passing = sorted(passing, key=lambda one: self._place_of(one[0]))[:_MOST_RANKED]
        if len(passing) > 1:
            passing.sort(key=lambda one: self._bench.price_edits((*edits, *one[0]), stop))
        return (*edits, *passing[0][0]), passing[0][1]

    def _place_of(self, edits: Edits) -> int:
        return sum(0 if one in self._known else 1 + EDIT_ORDER[one.kind] for one in edits)

    def _without_idle(self, edits: Edits, judged: JudgedTask) -> tuple[Edits, JudgedTask]:
        """Return the edits without those that the task does as well without."""
        for edit in edits:
            others = tuple(one for one in edits if one != edit)
            now = self._judge_with(others) if others else None
            if now is not None and _rank(now) <= _rank(judged):
                edits, judged = others, now
        return edits, judged


def _rounds(found: list[PolicyEdit], *, in_pairs: bool) -> Iterator[Iterator[Edits]]:
    """Yield what is tried together: single edits, pairs, and then those that need a word.

    Args:
        in_pairs: whether what needs a word may come with another edit.
    """
    free = [one for one in found if not one.needs_word]
    asked = [one for one in found if one.needs_word]
    yield ((one,) for one in free)
    yield _few(combinations(free, 2), _OF_PAIRS)
    yield ((one,) for one in asked)
    if in_pairs:
        yield ((one, other) for one in asked for other in free)
        yield iter(combinations(asked, 2))


def _few(pairs: Iterator[tuple[PolicyEdit, PolicyEdit]], most: int) -> Iterator[Edits]:
    return (pair for pair, _ in zip(pairs, range(most), strict=False))


_ORDER: Final = {"allowed": 0, "asked": 1, "refused": 2}


def _rank(judged: JudgedTask) -> tuple[int, int, int]:
    return _ORDER[judged.outcome], -judged.turns, judged.doubts


def _is_further(before: JudgedTask, now: JudgedTask) -> bool:
    """Return whether a task gets past its stop: no turn that ran before is refused now."""
    if before.outcome == "refused":
        return now.outcome != "refused" or now.turns > before.turns
    return now.outcome != "refused" and now.doubts < before.doubts
