"""Make a row of columns from a recorded plan, and the recorded plan from its row again."""

from collections.abc import Iterator
from typing import Any, Final, get_args

from critic import CompiledContext, DecisionSpec, Plan, Proposal, RunBudget, RunContext
from critic.checks.loop_check import check_loop
from critic.prepared import prepare_plan
from critic.verify import verify_proposal
from evals.escaping import escape_line, escape_name
from evals.json_value import SAFE_INTEGER
from evals.manifest import Manifests
from evals.plan import ToolStep
from harness.canonical import canonical_bytes, canonical_json
from harness.record import sha256
from harness.record.index_row import EPOCH, MICROSECOND
from harness.what_if.columns.plan_columns import PlanRow
from harness.what_if.plan_answers import answer_entry
from harness.what_if.recorded_change import is_of_session
from harness.what_if.rejudging import NotJudged, NotJudgedStatus, RecordedPlan, RecordedPlans
from harness.wire import EnvelopeT, build, parse, parse_json

_MOST_KEPT: Final = 8  # manifests: each may be as large as a document

_NO_TOOLS: Final = CompiledContext(manifests=Manifests(tool_manifest=(), evidence_manifest=()))
_NO_LIMITS: Final = RunContext(
    trace_id="any",
    safety_mode="read_only",
    run_budget=RunBudget(max_steps=SAFE_INTEGER, bucket_tokens=SAFE_INTEGER),
)
_NO_DEMANDS: Final = DecisionSpec(id="any", required_outputs=())
_OPENED: Final = "its steps were opened one by one: what they would be, only the log itself says"
_OWN: Final = ("trace_id", "run_id", "tenant_id", "user_id", "as_of")
_SPENT: Final = ("steps", "tokens")


class RowWriter:
    """Makes rows. What many records share is written once and kept for the next ones."""

    def __init__(self) -> None:
        self._compiled: dict[str, str] = {}

    def rows(self, record: RecordedPlans) -> Iterator[PlanRow]:
        """Yield the rows of a record: the last one is that of its decision."""
        plans, key = record.plans, record.decision_key
        for number, one in enumerate(plans):
            attempt = number if number < len(plans) - 1 else None
            if isinstance(one, RecordedPlan) and one.run is not None:
                one = NotJudged(one.seq, one.seq, "unknown", (_OPENED,))  # noqa: PLW2901 - its row
            if isinstance(one, NotJudged):
                yield not_judged_row(one)._replace(attempt=attempt, decision_key=key)
            else:
                yield self._row(one)._replace(attempt=attempt)
        if not plans:
            yield PlanRow(decision_key=key)

    def _row(self, one: RecordedPlan) -> PlanRow:
        ctx, plan = one.proposal.ctx, one.proposal.plan
        spent, wire = ctx.spent, ctx.wire()
        return PlanRow(
            turn_id=one.turn_id,
            decision_key=one.proposal.spec.id,
            answer=answer_entry(one.before).text,
            drifted=one.drifted,
            of_guard=is_of_session(one.proposal),
            ctx=_json(_shared_context(wire)),
            trace_id=ctx.trace_id,
            run_id=ctx.run_id,
            tenant_id=ctx.tenant_id,
            user_id=ctx.user_id,
            as_of=wire.get("as_of"),
            as_of_us=None if ctx.as_of is None else (ctx.as_of - EPOCH) // MICROSECOND,
            spent_steps=spent.steps if spent else None,
            spent_tokens=spent.tokens if spent else None,
            compiled=self._compiled_text(one),
            spec=canonical_bytes(one.proposal.spec).decode(),
            plan_id=plan.plan_id,
            plan_trace_id=plan.trace_id,
            declared_outputs=_json(list(plan.declared_outputs)),
            plan_steps=tuple(canonical_bytes(step).decode() for step in plan.steps),
            repeated_calls=tuple(repeated_calls(plan)),
            out_of_order=_is_out_of_order(plan),
            other_trace=plan.trace_id is not None and plan.trace_id != ctx.trace_id,
        )

    def _compiled_text(self, one: RecordedPlan) -> str:
        text = self._compiled.pop(one.compiled, None)
        if text is None:
            text = canonical_bytes(one.proposal.compiled).decode()
        self._compiled[one.compiled] = text  # the last that was used
        if len(self._compiled) > _MOST_KEPT:
            del self._compiled[next(iter(self._compiled))]
        return text


def not_judged_row(one: NotJudged) -> PlanRow:
    """Return the row of records that cannot be judged."""
    upto = None if one.last == one.seq else one.last
    return PlanRow(upto=upto, not_judged=one.status, why=one.reasons)


def repeated_calls(plan: Plan) -> Iterator[int]:
    """Yield the positions of the steps that call what an earlier step called, with its args."""
    made: set[tuple[str, str, bytes]] = set()
    for position, step in enumerate(plan.steps):
        if isinstance(step, ToolStep):
            call = step.adapter_id, step.capability_id, canonical_json(step.args)
            if call in made:
                yield position
            made.add(call)


def _is_out_of_order(plan: Plan) -> bool:
    """Return whether the loop guard refuses the ids or the dependencies of the steps."""
    # Without tools nothing is destructive, and without limits nothing is too much.
    case = prepare_plan(_NO_LIMITS, _NO_TOOLS, _NO_DEMANDS, plan)
    return any(found.step is not None for found in check_loop(case))


def _shared_context(wire: dict[str, Any]) -> dict[str, Any]:
    """Return a context without what differs from plan to plan."""
    kept = {name: value for name, value in wire.items() if name not in _OWN}
    if "spent" in kept:
        kept["spent"] = {name: one for name, one in kept["spent"].items() if name not in _SPENT}
    return kept


def _json(value: Any) -> str:
    return canonical_json(value).decode()


class RowReader:
    """Rebuilds what rows were made from. What many rows share is read once."""

    def __init__(self) -> None:
        self._kept: dict[tuple[type, str], Any] = {}

    def plan(self, seq: int, row: PlanRow) -> RecordedPlan | NotJudged:
        """Return the plan of a row, judged again as it was recorded.

        Raises:
            ValueError: the row is not one that this version writes.
        """
        if row.not_judged is not None:
            upto = seq if row.upto is None else row.upto
            status = next((one for one in get_args(NotJudgedStatus) if one == row.not_judged), None)
            if status is None:
                raise ValueError(f"a row is not judged for {escape_name(row.not_judged)}")
            return NotJudged(seq, upto, status, tuple(map(escape_line, row.why)))
        compiled = row.compiled or ""
        proposal = Proposal(
            ctx=row_context(row),
            compiled=self.shared_envelope(CompiledContext, compiled),
            spec=self.shared_envelope(DecisionSpec, row.spec or ""),
            plan=_plan_of(row),
        )
        if row.turn_id is None:
            raise ValueError("a plan is of no turn")
        before, key = verify_proposal(proposal), sha256(compiled.encode())
        return RecordedPlan(seq, row.turn_id, row.attempt, proposal, key, before, row.drifted)

    def shared_envelope(self, model: type[EnvelopeT], text: str) -> EnvelopeT:
        """Return the envelope in a text, the same object for the same text where it is kept.

        Raises:
            harness.wire.InvalidInput: the text is not one.
        """
        found: EnvelopeT | None = self._kept.pop((model, text), None)
        if found is None:
            found = _parse_text(model, text)
        self._kept[model, text] = found
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return found


def row_context(row: PlanRow) -> RunContext:
    """Return the context of a row.

    Raises:
        harness.wire.InvalidInput: it is not one.
    """
    data = (row.ctx or "").encode()
    value = parse_json(data, len(data))
    own = {name: one for name in _OWN if (one := getattr(row, name)) is not None}
    spent = {"steps": row.spent_steps, "tokens": row.spent_tokens}
    given = {name: one for name, one in spent.items() if one is not None}
    if isinstance(value, dict) and given:
        value["spent"] = {**value.get("spent", {}), **given}
    return build(RunContext, {**value, **own} if isinstance(value, dict) else value)


def _plan_of(row: PlanRow) -> Plan:
    ids = {"plan_id": row.plan_id, "trace_id": row.plan_trace_id}
    own = {name: one for name, one in ids.items() if one is not None}
    members = f'"declared_outputs":{row.declared_outputs},"steps":[{",".join(row.plan_steps)}]'
    text = f"{{{members}}}"
    return _parse_text(Plan, text) if not own else _with_ids(_parse_text(Plan, text), own)


def _with_ids(plan: Plan, ids: dict[str, str]) -> Plan:
    return Plan(steps=plan.steps, declared_outputs=plan.declared_outputs, **ids)


def _parse_text(model: type[EnvelopeT], text: str) -> EnvelopeT:
    data = text.encode()
    return parse(model, data, len(data))
