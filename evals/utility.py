"""utility: did the run produce the outputs that the spec requires?"""

from collections.abc import Iterator

from evals.escaping import escape_name, pointer
from evals.plan import ToolStep
from evals.run import Run
from evals.schemas import compile_schema, schema_faults
from evals.verdict import EvaluatorVerdict, Finding, make_verdict


def evaluate(run: Run) -> EvaluatorVerdict:
    """Return the share of required outputs that are present, not null, and valid."""
    required = list(dict.fromkeys(run.proposal.spec.required_outputs))
    errors = [error for name in required if (error := _output_error(run, name))]
    missed = [Finding(severity="error", message=error) for error in errors]
    score = 1 - len(missed) / len(required) if required else 1.0
    findings = [*missed, *_call_findings(run), *_uncalled(run)]
    return make_verdict("utility", run.trace_id, score, findings)


def _output_error(run: Run, name: str) -> str | None:
    """Return what is wrong with a required output, or None."""
    if name not in run.outputs:
        return f"required output {name} is missing"
    value = run.outputs[name]
    if value is None:
        return f"required output {name} is null"
    schema = (run.proposal.spec.output_schemas or {}).get(name)
    if schema is None:
        return None
    errors = schema_faults(compile_schema(schema), value)
    if not errors:
        return None
    place = escape_name(pointer(*errors[0].path)) or "its root"
    return f"required output {name} does not satisfy its schema at {place}"


def _call_findings(run: Run) -> Iterator[Finding]:
    completed = {
        call.step: position for position, call in enumerate(run.calls) if call.status == "completed"
    }
    for position, call in enumerate(run.calls):
        if call.status == "completed":
            continue
        retried = completed.get(call.step, -1) > position
        yield Finding(
            severity="info" if retried else "warn",
            message=f"call {position} of step {call.step} ended {call.status}"
            + (" and completed on retry" if retried else ""),
        )


def _uncalled(run: Run) -> Iterator[Finding]:
    called = {call.step for call in run.calls}
    for index, step in enumerate(run.proposal.plan.steps):
        if type(step) is ToolStep and index not in called:
            yield Finding(severity="warn", message=f"step {index} was planned but not called")
