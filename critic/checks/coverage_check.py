"""Check 1: can the plan produce what the spec requires, and is it of this trace?"""

from collections.abc import Callable, Iterator
from functools import partial

from critic.checks.grounds import OtherTrace, OutputMissing
from critic.checks.violation import Found, Wording
from critic.prepared import PreparedPlan
from critic.surface import PRODUCES_ANYTHING


def check_coverage(case: PreparedPlan) -> Iterator[Found]:
    """Check 1: every required output is declared, and some step can produce it.

    An output that some capability of the manifest lists in `produces` comes only from a step whose
    capability lists it. Any other output may come from a reason step, or from a tool without
    `produces`. A plan that names a trace must name that of the context.

    Yields `violates_decision_spec` without a step, at `/declared_outputs` (one for each undeclared
    output and one for each that no step produces, in the order of the spec) or `/trace_id`.
    """
    required = set(case.spec.required_outputs)
    undeclared = required.difference(case.plan.declared_outputs)
    unproduced = unproduced_outputs(case, required)
    if undeclared or unproduced:
        for output in dict.fromkeys(case.spec.required_outputs):
            if output in undeclared:
                yield _coverage_violation(partial(_word_output, output))
            if output in unproduced:
                yield _coverage_violation(partial(_no_producer, case, output))
    trace = case.plan.trace_id
    if trace is not None and trace != case.ctx.trace_id:
        yield _coverage_violation(partial(_of_another_trace, trace, case.ctx.trace_id))


def unproduced_outputs(case: PreparedPlan, outputs: set[str]) -> set[str]:
    """Return those of `outputs` that no step of the plan can produce."""
    if case.traits & PRODUCES_ANYTHING:  # then what no tool of the manifest lists can come from it
        outputs = outputs & case.surface.listed
    return unlisted_outputs(case, outputs) if outputs else outputs


def unlisted_outputs(case: PreparedPlan, outputs: set[str]) -> set[str]:
    """Return those of `outputs` that no tool of the plan lists in `produces`."""
    # A set, because many steps may call the same tool.
    return outputs.difference(*{tool.produces for _, tool, _ in case.steps})


def _coverage_violation(words: Callable[[], Wording]) -> Found:
    return Found("coverage", "violates_decision_spec", None, words)


def _word_output(output: str) -> Wording:
    reason = f"plan does not produce required output {output}"
    return Wording(reason, "/declared_outputs", OutputMissing(output, is_declared=False))


def _no_producer(case: PreparedPlan, output: str) -> Wording:
    reason = f"no step can produce required output {output}"
    if output in case.surface.listed:
        reason = f"no step calls a tool that lists required output {output} in produces"
    return Wording(reason, "/declared_outputs", OutputMissing(output, is_declared=True))


def _of_another_trace(trace: str, expected: str) -> Wording:
    reason = f"plan is for trace {trace}, not for trace {expected}"
    return Wording(reason, "/trace_id", OtherTrace())
