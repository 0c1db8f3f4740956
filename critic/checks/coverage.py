"""Check 1: can the plan produce what the spec requires, and is it of this trace?"""

from collections.abc import Iterator

from critic.checks.violation import violation_of
from critic.prepared import PreparedPlan
from critic.surface import (
    PRODUCES_ANYTHING,
)
from critic.verdicts import Violation


def check_coverage(case: PreparedPlan) -> Iterator[Violation]:
    """Check 1: every required output is declared, and some step can produce it.

    A tool step produces what its capability lists in `produces`, or anything where the capability
    has no `produces`; a reason step may produce anything. A plan that names a trace must name that
    of the context.

    Yields `violates_decision_spec` without a step, at `/declared_outputs` (one for each undeclared
    output and one for each that no step produces, in the order of the spec) or `/trace_id`.
    """
    required = set(case.spec.required_outputs)
    undeclared = required.difference(case.plan.declared_outputs)
    unlisted = () if case.traits & PRODUCES_ANYTHING else unlisted_outputs(case, required)
    if undeclared or unlisted:
        for output in dict.fromkeys(case.spec.required_outputs):
            if output in undeclared:
                yield _coverage_violation(f"plan does not produce required output {output}")
            if output in unlisted:
                yield _coverage_violation(f"no step can produce required output {output}")
    trace = case.plan.trace_id
    if trace is not None and trace != case.ctx.trace_id:
        reason = f"plan belongs to trace {trace}, not to {case.ctx.trace_id}"
        yield violation_of("coverage", "violates_decision_spec", reason, None, "/trace_id")


def unlisted_outputs(case: PreparedPlan, outputs: set[str]) -> set[str]:
    """Return those of `outputs` that no tool of the plan lists in `produces`.

    A reason step, or a tool without `produces`, may produce them all the same. A step outside the
    surface is left to the surface check.
    """
    # A set, because many steps may call the same tool.
    return outputs.difference(*{tool.produces for _, tool, _ in case.steps})


def _coverage_violation(reason: str) -> Violation:
    return violation_of("coverage", "violates_decision_spec", reason, None, "/declared_outputs")
