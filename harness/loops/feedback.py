"""Feedback from a decision log: a line for each attempt that was refused and each run that failed.

Rule 1: entries follow from the records and the inputs that they name, and from nothing else. What
        passed has no entry, and nor has a failure of the critic itself.
Rule 2: that a repair was taken is seen in the next plan of the same decision. Where the records do
        not show which plan came next, nothing is said about it.
Rule 3: names and reasons come from plans. `feedback_line` escapes them; nothing else makes text.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Final, Literal, NamedTuple

from critic import advise
from critic.repairs.repair_kinds import Advice
from evals.capability import ToolName
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.json_value import Text
from evals.kinds import RefusalKind
from evals.plan import Plan, Proposal, ToolStep
from evals.plan_verdicts import Refused
from harness.loops.taken_repairs import repairs_taken
from harness.record import DecisionRecord, LogRecord
from harness.record.drafts import one_line

FeedbackKind = RefusalKind | Literal["policy", "safety", "ended_early"]
"""Why: the kind of a refusal, the evaluator that failed a run, or a run that did not end."""

RepairTaken = Literal["taken", "partly_taken", "not_taken"]

DEFAULT_MOST_FEEDBACK: Final = 5
"""How many entries a planner is given: enough for a habit, and short enough to be read."""


class FeedbackEntry(Envelope):
    """One attempt that was refused, or one run that failed.

    Attributes:
        seq: the number of its record.
        trace_id: the trace of the decision.
        decision_key: the id of its spec.
        kind: the kind of the refusal; of a failed run the evaluator, or `ended_early`.
        reasons: why, as the critic or the record says it.
        offending_step: the step that was refused, if it was one.
        tool: the tool of that step; of a failed run that of the first call that did not complete.
        advised: the kinds of the repairs that the planner could make, each once.
        repair: whether the next plan shows all of them, some or none; absent where none was
            advised, or where the records do not show the next plan.
    """

    seq: Count
    trace_id: Identifier
    decision_key: Identifier
    kind: FeedbackKind
    reasons: Annotated[tuple[Text, ...], ARRAY]
    offending_step: Annotated[Count | None, OPTIONAL] = None
    tool: Annotated[ToolName | None, OPTIONAL] = None
    advised: Annotated[tuple[Identifier, ...], ARRAY] = ()
    repair: Annotated[RepairTaken | None, OPTIONAL] = None


class _Open(NamedTuple):
    """A refused plan that waits for the next one: the place of its entry, and the advice."""

    entry: int
    plan: Plan
    advice: Advice


def derive_feedback(
    records: Iterable[tuple[LogRecord, Proposal | None]],
) -> tuple[FeedbackEntry, ...]:
    """Return the entries of these records, in their order.

    Args:
        records: records of one log in their order, each with its inputs. None for inputs that
            cannot be had leaves out what follows from them.
    """
    history = _History()
    for record, proposal in records:
        if isinstance(record, DecisionRecord):
            history.take(record, proposal)
    return tuple(history.entries)


def top_feedback(
    entries: Iterable[FeedbackEntry], most: int = DEFAULT_MOST_FEEDBACK
) -> tuple[FeedbackEntry, ...]:
    """Return what happened most often: of entries with one kind and tool, the last stands for all.

    Of equally frequent ones the last comes first.

    Raises:
        ValueError: `most` is not a whole number of at least 0.
    """
    if type(most) is not int or most < 0:
        raise ValueError(f"most must be a whole number of at least 0, not {most!r}")
    times, last = Counter[str](), dict[str, tuple[int, FeedbackEntry]]()
    for position, entry in enumerate(entries):
        habit = f"{entry.kind} {entry.tool!r}"
        times[habit] += 1
        last[habit] = position, entry
    ranked = sorted(last, key=lambda habit: (-times[habit], -last[habit][0]))
    return tuple(last[habit][1] for habit in ranked[:most])


def feedback_line(entry: FeedbackEntry) -> str:
    """Return an entry as one line that is safe to print."""
    tool = entry.tool
    at = "" if tool is None else f" at {one_line(f'{tool.adapter_id}.{tool.capability_id}')}"
    line = f"{entry.kind}{at}: {'; '.join(map(one_line, entry.reasons))}"
    if not entry.advised:
        return line
    advice = f"advised: {', '.join(map(one_line, entry.advised))}"
    taken = "" if entry.repair is None else f"; {entry.repair.replace('_', ' ')}"
    return f"{line} ({advice}{taken})"


class _History:
    """The entries so far, and the refused plan of each decision that was not followed yet."""

    def __init__(self) -> None:
        self.entries: list[FeedbackEntry] = []
        self._open: dict[tuple[str, str], _Open] = {}
        self._refused: set[tuple[str, ...]] = set()

    def take(self, record: DecisionRecord, proposal: Proposal | None) -> None:
        """Add the entries of a record, and see whether it takes the repairs of the one before."""
        verdict, inputs = record.report.verify, record.inputs
        named = (record.report.trace_id, inputs.ctx, inputs.compiled, inputs.spec, inputs.plan)
        if record.run is not None and named in self._refused:
            return  # the end of what only a shadow let run: its ruling has the entry
        # Of several plans of which none passed, the record does not show which one came last.
        ordered = verdict.ok or not record.attempts
        for attempt in record.attempts or ():
            self._follow(record, attempt.plan if ordered else None)
            if isinstance(attempt.verdict, Refused):
                self._refuse(record, attempt.verdict, attempt.plan, proposal)
        plan = None if proposal is None else proposal.plan
        self._follow(record, plan if ordered else None)
        if isinstance(verdict, Refused):
            self._refused.add(named)
            self._refuse(record, verdict, plan, proposal)
        elif (failed := _failed_run(record)) is not None:
            self.entries.append(failed)
        if not ordered:
            self._open.pop(_key(record), None)

    def _refuse(
        self, record: DecisionRecord, verdict: Refused, plan: Plan | None, given: Proposal | None
    ) -> None:
        advice = None
        if plan is not None and given is not None:
            advice = advise(given.ctx, given.compiled, given.spec, plan)
        repairs = () if advice is None else advice.repairs
        advised = dict.fromkeys(repair.kind for repair in repairs if repair.by == "planner")
        step = verdict.offending_step
        entry = _entry(record, verdict.kind, verdict.reasons).model_copy(
            update={"offending_step": step, "tool": _tool_at(plan, step), "advised": (*advised,)}
        )
        if plan is not None and advice is not None and advised:
            self._open[_key(record)] = _Open(len(self.entries), plan, advice)
        self.entries.append(entry)

    def _follow(self, record: DecisionRecord, plan: Plan | None) -> None:
        """Say of the refused plan before this one whether its repairs were taken."""
        before = self._open.pop(_key(record), None)
        if before is None or plan is None:
            return
        taken = repairs_taken(before.plan, plan, before.advice.repairs)
        how: RepairTaken = "taken" if all(taken) else "partly_taken" if any(taken) else "not_taken"
        entry = self.entries[before.entry]
        self.entries[before.entry] = entry.model_copy(update={"repair": how})


def _key(record: DecisionRecord) -> tuple[str, str]:
    return record.report.trace_id, record.report.decision_key


def _entry(record: DecisionRecord, kind: FeedbackKind, reasons: tuple[str, ...]) -> FeedbackEntry:
    trace, key = _key(record)
    return FeedbackEntry(
        seq=record.seq, trace_id=trace, decision_key=key, kind=kind, reasons=reasons
    )


def _tool_at(plan: Plan | None, step: int | None) -> ToolName | None:
    if plan is None or step is None or step >= len(plan.steps):
        return None
    called = plan.steps[step]
    if not isinstance(called, ToolStep):
        return None
    return ToolName(adapter_id=called.adapter_id, capability_id=called.capability_id)


def _failed_run(record: DecisionRecord) -> FeedbackEntry | None:
    """Return the entry of a run that failed, or None if it did not or there is none."""
    run, score = record.run, record.report.score
    if run is None or score is None:
        return None
    scores = score.scorecard.scores
    if not score.ok:
        kind: FeedbackKind = "policy" if scores.policy.status == "fail" else "safety"
        verdict = scores.policy if kind == "policy" else scores.safety
        reasons = tuple(it.message for it in verdict.findings if it.severity == "error")
    elif record.error is not None:
        kind, reasons = "ended_early", (record.error,)
    else:
        return None
    broken = next((call for call in run.calls if call.status != "completed"), None)
    entry = _entry(record, kind, reasons)
    if broken is None:
        return entry
    tool = ToolName(adapter_id=broken.adapter_id, capability_id=broken.capability_id)
    return entry.model_copy(update={"offending_step": broken.step, "tool": tool})
