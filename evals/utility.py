"""utility: did the run deliver what the spec asks for?"""

from collections.abc import Iterator

from evals.escaping import escape_name, pointer
from evals.plan import ToolStep
from evals.run import Run
from evals.schemas import compile_schema, schema_faults
from evals.verdict import EvaluatorVerdict, Finding, make_verdict


def evaluate(run: Run) -> EvaluatorVerdict:
    """Score: the share of required outputs that are there, not null, and valid."""
    required = list(dict.fromkeys(run.proposal.spec.required_outputs))
    faults = [fault for name in required if (fault := _output_fault(run, name))]
    missed = [Finding(severity="error", message=fault) for fault in faults]
    score = 1 - len(missed) / len(required) if required else 1.0
    findings = [*missed, *_call_findings(run), *_uncalled(run)]
    return make_verdict("utility", run.trace_id, score, findings)


def _output_fault(run: Run, name: str) -> str | None:
    if name not in run.outputs:
        return f"required output {name} is missing"
    value = run.outputs[name]
    if value is None:
        return f"required output {name} is null"
    schema = (run.proposal.spec.output_schemas or {}).get(name)
    if schema is None:
        return None
    faults = schema_faults(compile_schema(schema), value)
    if not faults:
        return None
    place = escape_name(pointer(*faults[0].path)) or "its root"
    return f"required output {name} does not satisfy its schema at {place}"


def _call_findings(run: Run) -> Iterator[Finding]:
    recovered = {call.step: at for at, call in enumerate(run.calls) if call.status == "completed"}
    for at, call in enumerate(run.calls):
        if call.status == "completed":
            continue
        retried = recovered.get(call.step, -1) > at
        yield Finding(
            severity="info" if retried else "warn",
            message=f"call {at} of step {call.step} ended {call.status}"
            + (" and completed on retry" if retried else ""),
        )


def _uncalled(run: Run) -> Iterator[Finding]:
    called = {call.step for call in run.calls}
    for index, step in enumerate(run.proposal.plan.steps):
        if type(step) is ToolStep and index not in called:
            yield Finding(severity="warn", message=f"step {index} was planned but not called")
