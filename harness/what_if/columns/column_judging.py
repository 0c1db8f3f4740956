"""Judge the plans of a file under a change: by columns, and one by one where columns cannot.

Rule 1: what is shown is judged by the critic itself. Where that gives another answer than the
        columns, the plan is named as not judged: nothing passes by a fault of this code.
Rule 2: a record is judged in one way: if one of its plans has to be judged by itself, all are.
Rule 3: a turn with several plans is counted once: its plans are judged one by one.
Rule 4: memory is that of a group of rows, and a few numbers for each turn.
"""

from collections.abc import Iterator
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final

import numpy as np
import orjson

from harness.what_if.columns.column_facts import ChangedSettings, Setting, StepFacts, TimedSettings
from harness.what_if.columns.column_reading import PlanFile, PlanGroup
from harness.what_if.columns.kernel import (
    UNKNOWN,
    Answers,
    Numbers,
    PlanMarks,
    Plans,
    Scratch,
    answers,
)
from harness.what_if.columns.plan_columns import PlanRow
from harness.what_if.columns.plan_rows import RowReader
from harness.what_if.matrix import LeftOutTally, TurnTally
from harness.what_if.plan_answers import ANSWERS, answer_entry, direction_between
from harness.what_if.recorded_change import ChangeBySpec, changed_inputs
from harness.what_if.rejudging import Compared, JudgedPlan, NotJudged, RecordedPlans, compared_plans

_IS_CHANGED: Final = np.array(
    [[direction_between(one, other) != "unchanged" for other in ANSWERS] for one in ANSWERS]
)
_DISAGREES: Final = (
    "its columns and the rules give different answers: judge the log itself, and report this",
)


class PlanJudge:
    """Judges the groups of a file under one change."""

    def __init__(
        self, change: ChangeBySpec, decision_key: str | None = None, *, shown: bool = True
    ) -> None:
        """Judge under a change.

        Args:
            decision_key: judge only the records of this decision.
            shown: return each plan that gets another answer by itself, with its verdicts.

        Raises:
            ValueError: the policy gives evidence an id, or a class a name, that sessions give.
        """
        self._changed, self._key, self._shown = changed_inputs(change), decision_key, shown
        self._settings = ChangedSettings(self._changed)
        self._makes_turns_anew = self._changed.makes_turns_anew
        self._reader, self._scratch = RowReader(), Scratch()

    def compare_file(self, file: PlanFile) -> Iterator[Compared | TurnTally | LeftOutTally]:
        """Yield what is shown in the order of the records, and the counts of all other plans.

        Raises:
            harness.what_if.columns.column_reading.PlansUnusable: the file is damaged.
        """
        repeated = file.repeated_turns()
        for group in file.groups():
            with file.blame_file():
                yield from self._compare_group(group, repeated)

    def _compare_group(
        self, group: PlanGroup, repeated: Numbers
    ) -> Iterator[Compared | TurnTally | LeftOutTally]:
        asked = np.ones(len(group), np.bool_)
        if self._key is not None:
            left_out = group.other_decisions(self._key)
            asked = ~left_out
            if records := int((left_out & group.is_decision).sum()):
                yield LeftOutTally(records)
        after = self.answers(group, asked & group.judged)
        is_several = np.isin(group.turn_id, repeated)
        alone = asked & (group.not_judged | (group.judged & (is_several | (after == UNKNOWN))))
        if self._shown:
            judged = np.flatnonzero(asked & group.judged & (after != UNKNOWN))
            changed = _IS_CHANGED[group.before[judged], after[judged]]
            alone[judged] |= changed | group.drifted[judged]
        if alone.any():
            alone = np.isin(group.seq, group.seq[alone])
        yield from _count_cells(group, after, asked & group.judged & ~alone)
        yield from self._one_by_one(group, after, np.flatnonzero(alone))

    def answers(self, group: PlanGroup, wanted: PlanMarks) -> Answers:
        """Return the answers on the wanted plans of a group; `UNKNOWN` for all others."""
        found = np.full(len(group), UNKNOWN, np.uint8)
        if self._makes_turns_anew:
            wanted = wanted & ~group.of_guard
        plans, texts = group.plans(), [group.texts(name) for name in _SHARED]
        steps, declared = group.texts("plan_steps"), group.texts("declared_outputs")
        for rows, numbers in _by_context(group, wanted):
            settings = self._settings.settings_of(
                *(one[at] for one, at in zip(texts, numbers, strict=True))
            )
            if settings.by_plan:
                continue
            for chosen, setting in _by_time(group, rows, settings):
                some = plans if len(chosen) == len(group) else plans.take(chosen)
                found[chosen] = self._answers(some, setting, steps, declared)
        return found

    def _answers(
        self, plans: Plans, setting: Setting, steps: list[str], declared: list[str]
    ) -> Answers:
        def facts(code: int) -> StepFacts:
            return setting.facts(steps[code])

        def lacks(code: int) -> bool:
            return not setting.required.issubset(orjson.loads(declared[code]))

        return answers(plans, setting, facts, lacks, self._scratch)

    def _one_by_one(self, group: PlanGroup, after: Answers, rows: Numbers) -> Iterator[Compared]:
        numbered = zip(
            group.seq[rows].tolist(), after[rows].tolist(), group.rows(rows), strict=True
        )
        for seq, several in groupby(numbered, key=itemgetter(0)):
            yield from self._of_record(seq, [(code, row) for _, code, row in several])

    def _of_record(self, seq: int, rows: list[tuple[int, PlanRow]]) -> Iterator[Compared]:
        plans = tuple(self._reader.plan(seq, row) for _, row in rows)
        record = RecordedPlans(seq, rows[0][1].decision_key, plans)
        found = compared_plans(record, self._changed)
        if len(found) != len(rows):
            yield from found
            return
        for one, (code, row) in zip(found, rows, strict=True):
            yield one if _agrees(one, code, row) else NotJudged(seq, seq, "unknown", _DISAGREES)


_SHARED: Final = ("ctx", "compiled", "spec")


def _agrees(one: Compared, code: int, row: PlanRow) -> bool:
    if not isinstance(one, JudgedPlan):
        return code == UNKNOWN
    is_before = answer_entry(one.before).text == row.answer
    return is_before and (code == UNKNOWN or answer_entry(one.after) == ANSWERS[code])


def _count_cells(group: PlanGroup, after: Answers, rows: PlanMarks) -> Iterator[TurnTally]:
    size = len(ANSWERS)
    cells = group.before[rows].astype(np.int64) * size + after[rows]
    plans = np.bincount(cells, minlength=size * size)
    drifted = np.bincount(cells[group.drifted[rows]], minlength=size * size)
    for cell in np.flatnonzero(plans).tolist():
        before, now = divmod(cell, size)
        yield TurnTally(ANSWERS[before], ANSWERS[now], int(plans[cell]), int(drifted[cell]))


def _by_context(group: PlanGroup, wanted: PlanMarks) -> Iterator[tuple[Numbers, tuple[int, ...]]]:
    """Yield the wanted rows of each shared context, with the numbers of its texts."""
    rows = np.flatnonzero(wanted)
    if not rows.size:
        return
    columns = [group.codes(name)[rows] for name in _SHARED]
    if all((one == one[0]).all() for one in columns):
        yield rows, tuple(int(one[0]) for one in columns)
        return
    order = np.lexsort(columns)
    ordered = [one[order] for one in columns]
    is_first = np.any([one[1:] != one[:-1] for one in ordered], axis=0)
    starts = [0, *(np.flatnonzero(is_first) + 1).tolist(), len(order)]
    for start, end in pairwise(starts):
        yield rows[order[start:end]], tuple(int(one[start]) for one in ordered)


def _by_time(
    group: PlanGroup, rows: Numbers, settings: TimedSettings
) -> Iterator[tuple[Numbers, Setting]]:
    """Yield the rows of each time between what expires, in their setting."""
    if not settings.expiries:
        yield rows, settings.setting_at(0)
        return
    over = np.searchsorted(np.array(settings.expiries), group.as_of_us[rows], side="right")
    over[~group.has_time[rows]] = -1
    for one in np.unique(over).tolist():
        yield rows[over == one], settings.setting_at(one)
