"""A record for a person: the plan with its tiers, the refusals, the calls, the scores.

It reads plain JSON, as recorded, so records of any version are shown as far as possible.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from evals.escaping import escape_line, escape_name
from harness.canonical import ascii_json
from harness.log.search.turns import TurnRecords
from harness.record.closed_words import REDACTED
from harness.record.index_row import OF_NO_TURN, SHADOW

_WIDEST: Final = 160
"""Characters of a value that are shown."""

_MARK: Final = ">>"
"""What stands before the step that was refused."""

_NO_TIER: Final = "not in the manifests"

Json = Mapping[str, Any]


class RecordShown(NamedTuple):
    """A record with its inputs. Missing inputs and non-objects are empty objects."""

    record: Json
    inputs: Mapping[str, Json]
    problems: Mapping[str, str]
    """The inputs that cannot be shown, and why."""

    @classmethod
    def of(cls, document: Json) -> "RecordShown":
        """Read a record with `input_bodies`, as `critic log show --format json` prints it."""
        bodies = document.get("input_bodies", {})
        names = ("ctx", "compiled", "spec", "plan") if "inputs" in document else ()
        inputs = {name: _object(bodies.get(name)) for name in ("ctx", "compiled", "spec", "plan")}
        problems = {name: "it is missing" for name in names if name not in bodies}
        problems |= {name: body for name, body in bodies.items() if isinstance(body, str)}
        return cls(document, inputs, problems)

    @property
    def report(self) -> Json:
        """Return the report; empty for other records than decisions."""
        return _object(self.record.get("report"))

    @property
    def is_shadow(self) -> bool:
        """Whether its plan was refused but the refusal was not enforced."""
        return self.record.get("action") == "shadow"

    @property
    def verdict(self) -> Json:
        """Return the verdict on the plan."""
        return _object(self.report.get("verify"))

    @property
    def steps(self) -> list[Json]:
        """Return the steps of the plan."""
        return _objects(self.inputs["plan"].get("steps"))

    @property
    def calls(self) -> list[Json]:
        """Return the calls that were made."""
        return _objects(_object(self.record.get("run")).get("calls"))

    def tier(self, step: Json) -> str:
        """Return the mode of the tool of a step."""
        if step.get("kind") != "tool":
            return "no tool"
        manifests = _object(self.inputs["compiled"].get("manifests"))
        for tool in _objects(manifests.get("tool_manifest")):
            if all(tool.get(name) == step.get(name) for name in ("adapter_id", "capability_id")):
                return str(tool.get("approval_mode", _NO_TIER))
        return _NO_TIER

    def violations(self, step: int | None) -> list[Json]:
        """Return the violations of a step, or of the plan as a whole."""
        every = _objects(self.verdict.get("violations"))
        return [one for one in every if one.get("offending_step") == step]


def describe_end(
    record: Json, end_of: Callable[[str], tuple[int, str] | None], unknown: str
) -> str:
    """Return how an execution ended that a record began, or settled; nothing of another record.

    Args:
        record: the record.
        end_of: gives the record that ends what one with a hash began, or overtakes what that
            settled: its number and its hash.
        unknown: what is said where there is none.
    """
    if record.get("kind") not in ("begun", "settled"):
        return ""
    ends, found = list[int](), end_of(str(record.get("hash")))
    while found is not None and found[0] not in ends:
        ends.append(found[0])
        found = end_of(found[1])
    if record.get("kind") == "settled":
        return f"overtaken by record {ends[-1]}" if ends else ""
    settled = "".join(f"record {one} settles it, and " for one in ends[:-1])
    return f"{settled}record {ends[-1]} ends it" if ends else unknown


def record_lines(shown: RecordShown, end: str, turn: TurnRecords | None = None) -> Iterator[str]:
    """Yield the lines of a record.

    Args:
        shown: the record.
        end: the known end of the execution that it began or settled, if any.
        turn: its turn, if known.
    """
    record = shown.record
    yield _head(shown, end)
    if turn is not None:
        numbers = ", ".join(map(str, turn.records))
        yield f"  turn: {turn.fate}, of records {numbers}"
    if record.get("kind") == "critic_error":
        yield f"  where: {_line(record.get('where'))}"
        yield f"  asked: {_value(record.get('asked'))}"
    elif record.get("kind") in OF_NO_TURN:
        yield from _describe_seam(record)
    else:
        yield from _about(shown)
        yield from _describe_plan(shown)
        yield from _describe_evidence(shown)
        yield from _run(shown)
        yield from _scores(shown.report)
    yield from (f"  input {name}: {_line(why)}" for name, why in shown.problems.items())
    if REDACTED in record:
        yield f"  redacted: part {_line(_redacted_parts(record))}"
    yield f"  hash {_line(record.get('hash'))}, follows {_line(record.get('prev_hash'))}"
    yield f"  ruleset {_line(record.get('ruleset_version'))}; check it with `critic replay`"


def _describe_seam(record: Json) -> Iterator[str]:
    """Yield the lines of a record that belongs to no turn."""
    if record.get("kind") == "redacted":
        yield f"  by {_name(record.get('by'))}: {_line(record.get('because'))}"
        yield from (f"  taken out: {_line(one)}" for one in _list(record.get("taken")))
    if record.get("kind") in ("closed", "reopened"):
        yield f"  trace {_line(record.get('trace_id'))}"
    if record.get("kind") != "taken_over":
        return
    old = _object(record.get("old"))
    yield f"  the log before ended with head {_line(old.get('seq'))}:{_line(old.get('hash'))}"
    for name, what in (("claims", "claims that nobody may make again"), ("sessions", "sessions")):
        yield f"  {len(_list(record.get(name)))} {what} came along"


def _redacted_parts(record: Json) -> str:
    return ", ".join(map(str, record[REDACTED]))


_SAYING: Final = {
    "critic_error": ("the critic failed and refused", "failed_at"),
    "closed": ("a session was closed", "closed_at"),
    "reopened": ("a closed session was reopened", "reopened_at"),
    "handed_over": ("the log continues in another log", "handed_at"),
    "taken_over": ("the log continues another log", "taken_at"),
    "redacted": ("parts were taken out of the log", "redacted_at"),
}
"""What a record of a kind says, and the member with its time."""


def _head(shown: RecordShown, end: str) -> str:
    record, report = shown.record, shown.report
    number = f"record {record.get('seq')}"
    if record.get("kind") == "begun":
        return f"{number}: an execution began, {end}, {_line(record.get('begun_at'))}"
    if record.get("kind") == "settled":
        said = f"{_line(record.get('outcome'))} by {_name(record.get('by'))}"
        said += f", {end}" if end else ""
        return f"{number}: an execution was settled as {said}, {_line(record.get('settled_at'))}"
    if (kind := str(record.get("kind"))) in _SAYING:
        said, moment = _SAYING[kind]
        return f"{number}: {said}, {_line(record.get(moment))}"
    if shown.is_shadow:
        return f"{number}: {SHADOW}, not enforced, {_line(report.get('decided_at'))}"
    by = f" by {_line(report.get('refused_at'))}" if "refused_at" in report else ""
    return f"{number}: {_line(report.get('status'))}{by}, {_line(report.get('decided_at'))}"


def _for_whom(ctx: Mapping[str, Any]) -> str:
    whom = [f"{one} {_name(ctx[f'{one}_id'])}" for one in ("user", "tenant") if f"{one}_id" in ctx]
    return f", for {' of '.join(whom)}" if whom else ""


def _about(shown: RecordShown) -> Iterator[str]:
    ctx, report = shown.inputs["ctx"], shown.report
    trace = shown.record.get("trace_id", report.get("trace_id"))
    session = _object(ctx.get("session"))
    turn = f", session {_name(session.get('id'))} turn {session.get('turn')}" if session else ""
    yield f"  trace {_line(trace)}{turn}{_for_whom(ctx)}"
    as_of = f"judged as of {_line(ctx['as_of'])}, " if "as_of" in ctx else ""
    yield f"  {as_of}safety mode {_line(ctx.get('safety_mode', 'unknown'))}, budget {_budget(ctx)}"
    if "action" in shown.record:
        answer = _describe_answer(_object(shown.record.get("answer")))
        yield f"  action {_line(shown.record['action'])}{answer}"
    if "because" in shown.record:
        yield f"  because: {_line(shown.record['because'])}"
        yield f"  of the execution that began with record {_line(shown.record.get('begun'))}"
    if "rationale" in report:
        yield f"  why: {_line(report['rationale'])}"
    if "error" in shown.record:
        yield f"  error: {_line(shown.record['error'])}"
    for index, attempt in enumerate(_objects(shown.record.get("attempts"))):
        reasons = _object(attempt.get("verdict")).get("reasons", [])
        yield f"  tried before ({index}): {_line('; '.join(map(str, reasons)))}"
    for approval in _objects(ctx.get("approvals")):
        by = f"{_name(approval.get('approval_id'))} by {_name(approval.get('approver'))}"
        yield f"  approval {by} of plan {_name(approval.get('plan_digest'))}"


def _describe_answer(answer: Json) -> str:
    if answer.get("answer") == "lapsed":
        return ", the question expired"
    by = f" by {_name(answer['approver'])}" if "approver" in answer else ""
    return f", the answer was {_line(answer.get('answer'))}{by}" if answer else ""


def _count_calls(number: Any) -> str:
    return f"{_line(number)} call{'' if number == 1 else 's'}"


def _budget(ctx: Json) -> str:
    limits = _object(ctx.get("run_budget"))
    return ", ".join(f"{name} {value}" for name, value in limits.items()) or "none declared"


def _describe_plan(shown: RecordShown) -> Iterator[str]:
    yield f"  plan {_line(_object(shown.record.get('inputs')).get('plan'))}"
    for violation in shown.violations(None):
        yield f"  {_MARK} {_name_refusal(shown)}: {_describe_violation(violation)}"
    for index, step in enumerate(shown.steps):
        violations = shown.violations(index)
        mark = _MARK if violations else "  "
        if "of" in step:
            yield f"  {mark} step {index}: {_describe_part(step)} ({_line(shown.tier(step))})"
        else:
            args = f" {_value(step.get('args'))}" if step.get("kind") == "tool" else ""
            yield f"  {mark} step {index}: {_describe_tool(step)}{args} ({_line(shown.tier(step))})"
        if needs := step.get("requires_evidence"):
            yield f"       needs {_value(needs)}"
        if pinned := step.get("evidence_refs"):
            yield f"       relies on {_value(pinned)}"
        yield from _late_lines(shown, index, step)
        told = map(_describe_violation, violations)
        yield from (f"     {_MARK} {_name_refusal(shown)}: {one}" for one in told)
    yield from (f"  caveat: {_line(one)}" for one in shown.verdict.get("caveats", ()))


def _late_lines(shown: RecordShown, index: int, step: Json) -> Iterator[str]:
    """Yield what a step takes and waits for, its conditions, and its openings."""
    for take in _objects(step.get("takes")):
        place = _line(take.get("at")) or "the output"
        yield f"       takes {_line(take.get('arg'))} from step {_name(take.get('step'))}: {place}"
    if waits := step.get("evidence_steps"):
        yield f"       relies on what steps return: {_value(waits)}"
    for one in _objects(shown.verdict.get("conditions")):
        if one.get("step") == index:
            place = f" at {_line(one['path'])}" if one.get("path") else ""
            yield f"       condition {_line(one.get('kind'))}{place}: {_line(one.get('reason'))}"
    for one in _objects(_object(shown.record.get("run")).get("openings")):
        if one.get("step") == index:
            yield f"       {_describe_opening(one)}"


def _describe_opening(opening: Json) -> str:
    verdict = _object(opening.get("verdict"))
    by = [_name(one.get("approver")) for one in _objects(opening.get("approvals"))]
    when = f"after {_count_calls(opening.get('after'))}"
    when += f", as of {_line(opening['as_of'])}" if "as_of" in opening else ""
    told = f", approved by {', '.join(by)}" if by else ""
    if verdict.get("ok") is True:
        return f"opened {when}{told}"
    found = map(_describe_violation, _objects(verdict.get("violations")))
    return f"{_MARK} not opened {when}{told}: {'; '.join(found)}"


def _describe_part(step: Json) -> str:
    """Return what a command does: the step of its call, the effect, the command, and why."""
    args = _object(step.get("args"))
    object_ = f"; needs {_value(args['object'])}" if "object" in args else ""
    command, why = _value(args.get("command")), _line(args.get("why", ""))
    return f"of step {_line(step.get('of'))}, {_describe_tool(step)} {command}: {why}{object_}"


def _name_refusal(shown: RecordShown) -> str:
    return "would be refused" if shown.is_shadow else "refused"


def _describe_violation(violation: Json) -> str:
    place = f" at {_line(violation['path'])}" if violation.get("path") else ""
    cure = " (an approval would clear it)" if violation.get("approvable") else ""
    return f"{_line(violation.get('kind'))}{place}: {_line(violation.get('reason'))}{cure}"


def _describe_evidence(shown: RecordShown) -> Iterator[str]:
    manifests = _object(shown.inputs["compiled"].get("manifests"))
    for item in _objects(manifests.get("evidence_manifest")):
        facts = [f"{name} {_value(item[name])}" for name in _OF_ITEM if name in item]
        about = f"; {', '.join(facts)}" if facts else ""
        yield f"  evidence {_name(item.get('id'))}: {_name(item.get('classification'))}{about}"


_OF_ITEM: Final = ("subject", "source", "expires_at", "content")


def _run(shown: RecordShown) -> Iterator[str]:
    run = _object(shown.record.get("run"))
    if not run:
        return
    taken = [f"{name} {run[name]}" for name in ("wall_ms", "tokens", "cost_micros") if name in run]
    yield f"  run {_name(run.get('run_id'))}: {', '.join([_count_calls(len(shown.calls)), *taken])}"
    for index, step in enumerate(shown.steps):
        if step.get("kind") == "tool" and "of" not in step:
            yield f"     step {index}: {how_called(shown, index, step)}"
    for call in shown.calls:
        if not _is_index(call.get("step"), shown.steps):
            yield f"  {_MARK} a call of no step: {_describe_tool(call)} {_value(call.get('args'))}"


def how_called(shown: RecordShown, index: int, step: Json) -> str:
    """Return the call of a step, compared with its plan."""
    calls = [call for call in shown.calls if call.get("step") == index]
    return "; ".join(_describe_call(call, step) for call in calls) or "not called"


def _describe_call(call: Json, step: Json) -> str:
    said = [_line(call.get("status"))]
    if any(call.get(name) != step.get(name) for name in ("adapter_id", "capability_id")):
        said.append(f"another tool than planned: {_describe_tool(call)}")
    planned, actual = _object(step.get("args")), _object(call.get("args"))
    taken = {str(one.get("arg")).partition("/")[2] for one in _objects(step.get("takes"))}
    said += [
        f"{_name(name)} taken: {_value(actual.get(name))}"
        if name in taken
        else f"{_name(name)} planned {_value(planned.get(name))}, "
        f"called with {_value(actual.get(name))}"
        for name in sorted({*planned, *actual})
        if planned.get(name) != actual.get(name)
    ]
    if len(said) == 1:
        said.append("as planned")
    said += [f"error {_line(call['error'])}"] if "error" in call else []
    return ", ".join(said)


def _scores(report: Json) -> Iterator[str]:
    scores = _object(_object(_object(report.get("score")).get("scorecard")).get("scores"))
    for name, verdict in scores.items():
        scored = _object(verdict)
        yield f"  score {_name(name)}: {_line(scored.get('status'))} {scored.get('score')}"
        for finding in _objects(scored.get("findings")):
            yield f"     {_line(finding.get('severity'))}: {_line(finding.get('message'))}"


def step_cells(shown: RecordShown) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each step: its number, tool, tier, args, evidence, violations, and call."""
    for index, step in enumerate(shown.steps):
        reasons = "; ".join(str(one.get("reason")) for one in shown.violations(index))
        args, evidence = (ascii_json(step.get(name)) for name in ("args", "evidence_refs"))
        is_called = "run" in shown.record and "of" not in step
        ran = how_called(shown, index, step) if is_called else ""
        yield index, _describe_tool(step), shown.tier(step), args, evidence, reasons, ran


def _describe_tool(step: Json) -> str:
    if step.get("kind") == "reason":
        return f"think: {_line(step.get('summary', ''))}"
    return f"{_name(step.get('adapter_id'))}/{_name(step.get('capability_id'))}"


def _value(value: Any) -> str:
    text = escape_line(ascii_json(value))
    return text if len(text) <= _WIDEST else f"{text[:_WIDEST]}... ({len(text)} characters)"


def _line(value: Any) -> str:
    return "-" if value is None else escape_line(str(value))


def _name(value: Any) -> str:
    return "-" if value is None else escape_name(str(value))


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _is_index(value: Any, items: list[Json]) -> bool:
    return type(value) is int and 0 <= value < len(items)
