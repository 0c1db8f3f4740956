"""utility: did the run call the tools of its plan and produce what the spec requires?"""

from collections.abc import Container, Iterator

from evals.escaping import escape_name, pointer
from evals.json_schemas import compile_schema, schema_faults
from evals.plan import ToolStep
from evals.run import Run
from evals.verdict import EvaluatorVerdict, Finding, make_verdict


def evaluate(run: Run) -> EvaluatorVerdict:
    """Return the share of required outputs that are present, not null, and valid.

    A plan with tool steps of which none was called scores 0: nothing supports its outputs.
    """
    required = dict.fromkeys(run.proposal.spec.required_outputs)
    missed = [error for name in required if (error := _output_error(run, name))]
    share = 1 - len(missed) / len(required) if required else 1.0
    called = {call.step for call in run.calls}
    steps = enumerate(run.proposal.plan.steps)
    in_session = run.proposal.ctx.session is not None
    tools = [
        index
        for index, step in steps
        if type(step) is ToolStep and not (in_session and step.of is not None)
    ]
    uncalled = [index for index in tools if index not in called]
    errors = [*missed, *(f"step {index} was planned but not called" for index in uncalled)]
    findings = [Finding(severity="error", message=message) for message in errors]
    findings += [*_call_findings(run), *_other_outputs(run, required)]
    return make_verdict(
        "utility", run.trace_id, 0.0 if tools and uncalled == tools else share, findings
    )


def _output_error(run: Run, name: str) -> str | None:
    """Return what is wrong with a required output, or None."""
    if name not in run.outputs:
        return f"required output {name} is missing"
    if run.outputs[name] is None:
        return f"required output {name} is null"
    fault = _schema_fault(run, name)
    return None if fault is None else f"required output {name} {fault}"


def _schema_fault(run: Run, name: str) -> str | None:
    """Return where an output that is there does not satisfy its schema, or None."""
    schema = (run.proposal.spec.output_schemas or {}).get(name)
    if schema is None:
        return None
    errors = schema_faults(compile_schema(schema), run.outputs[name])
    if not errors:
        return None
    place = escape_name(pointer(*errors[0].path)) or "its root"
    return f"does not satisfy its schema at {place}"


def _other_outputs(run: Run, required: Container[str]) -> Iterator[Finding]:
    """Yield what is wrong with the outputs beyond the required ones: none of it costs a score."""
    declared = set(run.proposal.plan.declared_outputs)
    for name in sorted(run.outputs):
        if name not in declared:
            message = f"output {name} is not declared by the plan"
            yield Finding(severity="warn", message=message)
        fault = None if name in required else _schema_fault(run, name)
        if fault is not None:
            yield Finding(severity="warn", message=f"output {name} {fault}")


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
