"""The facts of a step under a change, whatever its plan: as bits, found by the checks.

Rule 1: the checks of the critic find everything. A step is judged by them as a plan of its own;
        here is only noted what they found, and whether an approval would clear it.
Rule 2: what the whole plan decides is left to `harness.what_if.columns.kernel`: coverage, the
        classes that the spec requires, the order of the steps, repeats and sums.
Rule 3: what bits cannot say is judged plan by plan: approvals, which are of one plan; turns of a
        guard, whose plan is made anew; a spec with more outputs and classes than there are bits.
Rule 4: contexts that differ only in limits share the facts of steps: limits are of a plan.
"""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from critic import CompiledContext, DecisionSpec, Plan, Proposal, RunBudget
from critic.checks import CHECKS
from critic.checks.coverage_check import unproduced_outputs
from critic.checks.loop_check import planned_tokens
from critic.checks.violation import Found
from critic.prepared import PreparedPlan, prepare_plan
from evals.kinds import (
    APPROVABLE_KINDS,
    CHECK_NAMES,
    KINDS_OF,
    MODE_RANK,
    REFUSAL_KINDS,
    Check,
    RefusalKind,
)
from evals.plan import SHELL_ADAPTER
from harness.canonical import canonical_json
from harness.record import sha256
from harness.record.index_row import EPOCH, MICROSECOND
from harness.what_if.changed_turns import Unjudgeable
from harness.what_if.columns.plan_columns import PlanRow
from harness.what_if.columns.plan_rows import RowReader, row_context
from harness.what_if.recorded_change import ChangedInputs, InputsBySpec
from harness.wire import parse

_MOST_FACTS: Final = 200_000  # of all settings: they are forgotten together
_MOST_TIMES: Final = 16  # of one context: as above
_MOST_HELD: Final = 1 << 26
"""About how many bytes all contexts take: those that were not used for longest are forgotten."""
_SIZE_READ: Final = 16  # bytes that a character of a context takes once it is read
_DESTRUCTIVE_RANK: Final = MODE_RANK["destructive"]

_FOUND: Final[tuple[tuple[Check, RefusalKind, bool], ...]] = tuple(
    (check, kind, approvable)
    for check in CHECK_NAMES
    for kind in KINDS_OF[check]
    for approvable in (False, True)
    if not approvable or kind in APPROVABLE_KINDS
)
_BITS: Final = {found: 1 << at for at, found in enumerate(_FOUND)}
"""The bit of what a check finds, of which kind, and whether an approval would clear it."""
SITUATION_BITS: Final = len(_FOUND)
FIRST_KINDS: Final = tuple(dict.fromkeys(kind for _, kind, _ in _FOUND))
"""The kinds in the order of the checks."""


def _bits_of(kind: RefusalKind, *, approvable: bool) -> int:
    return sum(bit for found, bit in _BITS.items() if found[1:] == (kind, approvable))


BITS_OF: Final[Mapping[RefusalKind, tuple[int, int]]] = MappingProxyType(
    {
        kind: (_bits_of(kind, approvable=False), _bits_of(kind, approvable=True))
        for kind in REFUSAL_KINDS
    }
)
"""The bits of each kind: those that no approval clears, and those that one would clear."""


def _whole_plan_bits(check: Check) -> list[int]:
    """Return the bits of what a check finds about a plan as a whole, by kind."""
    return [_BITS[check, kind, False] for kind in KINDS_OF[check]]


# A kind more than these is not judged by the kernel yet, and fails here.
(UNCOVERED,) = _whole_plan_bits("coverage")
(EVIDENCE,) = _whole_plan_bits("evidence")
LOOP, OVER_BUDGET = _whole_plan_bits("loop")

DESTRUCTIVE: Final = 1 << SITUATION_BITS
"""The bit of a step that is destructive: this alone is not a violation."""
_FIRST_NAME: Final = SITUATION_BITS + 1
_MOST_NAMES: Final = 63 - _FIRST_NAME


class StepFacts(NamedTuple):
    """The bits of a step: what is found about it, what it covers and pins; and its tokens."""

    bits: int
    tokens: int


class Setting:
    """The setting of plans under a change: a context, manifests and a spec, at one time.

    Attributes:
        outputs: the bits of the required outputs, of which each needs a step that covers it.
        classes: the bits of the required classes, of which each needs a step that pins it.
        required: the required outputs.
        budget: the limits.
    """

    def __init__(self, proposal: Proposal, tables: "StepTables") -> None:
        """Judge in the context of a proposal, whatever its plan."""
        self._ctx, self._compiled, self._spec = proposal.ctx, proposal.compiled, proposal.spec
        names = [*dict.fromkeys(self._spec.required_outputs)]
        classes = [*dict.fromkeys(self._spec.required_evidence or ())]
        self.required: Final = frozenset(names)
        self._outputs = {name: 1 << _FIRST_NAME + at for at, name in enumerate(names)}
        first = _FIRST_NAME + len(names)
        self._classes = {name: 1 << first + at for at, name in enumerate(classes)}
        self.outputs: Final = sum(self._outputs.values())
        self.classes: Final = sum(self._classes.values())
        self.budget: Final = self._ctx.run_budget or RunBudget()
        self._tables: Final = tables
        self._facts: Final = tables.table_of(proposal)

    def facts(self, step: str) -> StepFacts:
        """Return the facts of a step, given as JSON.

        Raises:
            harness.wire.InvalidInput: it is not a step.
        """
        found = self._facts.get(step)
        if found is None:
            found = self._find_bits(step)
            self._tables.add(self._facts, step, found)
        return found

    def _find_bits(self, step: str) -> StepFacts:
        data = f'{{"declared_outputs":[],"steps":[{step}]}}'.encode()
        case = prepare_plan(self._ctx, self._compiled, self._spec, parse(Plan, data, len(data)))
        bits = self._covered_bits(case) | self._pinned_bits(case)
        if case.steps[0][1].rank == _DESTRUCTIVE_RANK:
            bits |= DESTRUCTIVE
        for check in CHECKS:
            for found in check(case):
                bits |= 0 if found.step is None else _bit(found)
        return StepFacts(bits, planned_tokens(case))

    def _covered_bits(self, case: PreparedPlan) -> int:
        uncovered = unproduced_outputs(case, {*self.required})
        return sum(bit for name, bit in self._outputs.items() if name not in uncovered)

    def _pinned_bits(self, case: PreparedPlan) -> int:
        class_of = case.surface.class_at(self._ctx.as_of)
        pinned = {class_of(ref) for ref in case.steps[0][2]["evidence_refs"] or ()}
        return sum(bit for name, bit in self._classes.items() if name in pinned)


def _bit(found: Found) -> int:
    if found.check == "loop" and not found.approvable:
        return 0  # of the order of steps, of which here is only one
    return _BITS[found.check, found.kind, found.approvable]


class StepTable(dict[str, StepFacts]):
    """The facts of steps by their texts.

    Attributes:
        judged_by: the manifests and the spec by which they were found.
    """

    def __init__(self, *judged_by: object) -> None:
        """Start empty."""
        super().__init__()
        self.judged_by: Final = judged_by  # so that their ids are not given to others


class StepTables:
    """The tables in use, by all that steps are judged by, and how many facts they have."""

    def __init__(self) -> None:
        """Start empty."""
        self._tables: Final[WeakValueDictionary[tuple[int, int, str], StepTable]] = (
            WeakValueDictionary()
        )
        self._count = 0

    def table_of(self, proposal: Proposal) -> StepTable:
        """Return the table of a context: the same one where only limits differ."""
        compiled, spec, ctx = proposal.compiled, proposal.spec, proposal.ctx.wire()
        ctx.pop("run_budget", None)
        # Steps and tokens that are spent count for a plan; calls, for the step that repeats one.
        ctx["spent"] = ctx.get("spent", {}).get("calls")
        key = id(compiled), id(spec), sha256(canonical_json(ctx))
        found = self._tables.get(key)
        if found is None:
            found = self._tables[key] = StepTable(compiled, spec)
        return found

    def add(self, table: StepTable, step: str, facts: StepFacts) -> None:
        """Add the facts of a step. If all tables have too many, all are emptied before."""
        if self._count >= _MOST_FACTS:
            for one in self._tables.values():
                one.clear()
            self._count = 0
        self._count += 1
        table[step] = facts


class TimedSettings:
    """The settings of a shared context under a change: one for each time that matters."""

    def __init__(
        self, proposal: Proposal | None, expiries: tuple[datetime, ...], tables: StepTables
    ) -> None:
        """Take the changed proposal, or None where each plan has to be judged by itself."""
        self._proposal, self._kept = proposal, dict[int, Setting]()
        self._tables: Final = tables
        self._expiries = expiries
        self.expiries: Final = [(moment - EPOCH) // MICROSECOND for moment in expiries]
        """When evidence or an approval of a value expires, in microseconds since 1970."""

    @property
    def by_plan(self) -> bool:
        """Return whether each plan has to be judged by itself."""
        return self._proposal is None

    def setting_at(self, expired: int) -> Setting:
        """Return the setting in which so many expiries are over; -1: the time is not known."""
        found = self._kept.get(expired)
        if found is None:
            if self._proposal is None:
                raise ValueError("these plans are judged one by one")
            if len(self._kept) >= _MOST_TIMES:
                self._kept.clear()
            found = self._kept[expired] = Setting(
                self._move_moment(self._proposal, expired), self._tables
            )
        return found

    def _move_moment(self, proposal: Proposal, expired: int) -> Proposal:
        moment = None
        if self._expiries and expired >= 0:
            # What expires at a time has expired then.
            moment = self._expiries[expired - 1] if expired else self._expiries[0] - MICROSECOND
        ctx = proposal.ctx.model_copy(update={"as_of": moment})
        return Proposal(ctx=ctx, compiled=proposal.compiled, spec=proposal.spec, plan=proposal.plan)


class ChangedSettings:
    """Makes settings, and keeps those that were used last, as many as fit."""

    def __init__(self, changed: ChangedInputs | InputsBySpec, most: int = _MOST_HELD) -> None:
        """Take the change.

        Args:
            most: about how many bytes the settings may hold.
        """
        self._changed, self._most = changed, most
        self._reader, self._tables = RowReader(), StepTables()
        self._kept: dict[tuple[str, str, str], tuple[TimedSettings, int]] = {}
        self._held = 0

    def settings_of(self, ctx: str, compiled: str, spec: str) -> TimedSettings:
        """Return what the texts of a shared context become.

        Raises:
            harness.wire.InvalidInput: the texts are not a context.
        """
        key = ctx, compiled, spec
        found, held = self._kept.pop(key, (None, 0))
        if found is None:
            found = self._make_settings(*key)
            # The reader keeps what manifests and specs become.
            held = _SIZE_READ * len(ctx) + len(compiled) + len(spec)
            self._held += held
        self._kept[key] = found, held  # the last that was used
        while self._held > self._most and len(self._kept) > 1:
            _, gone = self._kept.pop(next(iter(self._kept)))
            self._held -= gone
        return found

    def _make_settings(self, ctx: str, compiled: str, spec: str) -> TimedSettings:
        recorded = Proposal(
            ctx=row_context(PlanRow(ctx=ctx, trace_id="any")),
            compiled=self._reader.shared_envelope(CompiledContext, compiled),
            spec=self._reader.shared_envelope(DecisionSpec, spec),
            plan=Plan(steps=(), declared_outputs=()),
        )
        if recorded.ctx.approvals:
            return TimedSettings(None, (), self._tables)
        try:
            would_be = self._changed.proposal(recorded, sha256(compiled.encode()))
        except Exception:
            # The plans are judged one by one, and what fails there is named.
            return TimedSettings(None, (), self._tables)
        if isinstance(would_be, Unjudgeable) or _names(would_be.spec) > _MOST_NAMES:
            return TimedSettings(None, (), self._tables)
        if _has_effects(recorded.compiled) or _has_effects(would_be.compiled):
            return TimedSettings(
                None, (), self._tables
            )  # what commands do hangs on the steps of their calls
        if recorded.spec.late or would_be.spec.late:  # steps of a late plan hang on one another
            return TimedSettings(None, (), self._tables)
        return TimedSettings(would_be, _expiries(would_be), self._tables)


def _has_effects(compiled: CompiledContext) -> bool:
    return any(tool.adapter_id == SHELL_ADAPTER for tool in compiled.manifests.tool_manifest)


def _names(spec: DecisionSpec) -> int:
    return len({*spec.required_outputs}) + len({*(spec.required_evidence or ())})


def _expiries(proposal: Proposal) -> tuple[datetime, ...]:
    """Return the times at which something in a context stops to hold, in order."""
    items = proposal.compiled.manifests.evidence_manifest
    session = proposal.ctx.session
    approved = (session.approved if session else None) or ()
    moments = {*(one.expires_at for one in items), *(one.expires_at for one in approved)}
    return tuple(sorted(moment for moment in moments if moment is not None))
