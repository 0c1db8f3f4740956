"""verify: refuse a bad plan before any side effect."""

from critic.caveats import caveats_of
from critic.checks import CHECKS
from critic.prepared import prepare_plan
from critic.surface import surface_of
from critic.verdicts import Refused, Verified, Violation
from evals.context import RunContext
from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal
from evals.spec import DecisionSpec


def verify(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> Verified | Refused:
    """Judge a plan by the five checks and collect every violation.

    Pure and total: the same envelopes give the same verdict, and valid envelopes never raise. The
    verdict is an object of its own. The index of `compiled` is built at its first use and kept.

    Raises:
        TypeError: an argument is not exactly the envelope it should be. A subclass is refused
            too, since it could answer differently from the fields that were validated.
    """
    if type(ctx) is not RunContext:
        raise _not_exact(ctx, RunContext)
    if type(compiled) is not CompiledContext:
        raise _not_exact(compiled, CompiledContext)
    if type(spec) is not DecisionSpec:
        raise _not_exact(spec, DecisionSpec)
    if type(plan) is not Plan:
        raise _not_exact(plan, Plan)
    case = prepare_plan(ctx, surface_of(compiled), spec, plan)
    violations: list[Violation] = []
    for check in CHECKS:
        violations += check(case)
    if violations:
        return Refused.because(tuple(violations))
    reason = f"{len(case.steps)} steps, {len(set(spec.required_outputs))} required outputs covered"
    # Never shared: whoever changes the verdict they hold must not change anybody else's. Validated
    # as the constructor does, without its step for None: it would be half of the cost.
    fields = {"reasons": (reason,), "caveats": caveats_of(case)}
    verified: Verified = Verified.__pydantic_validator__.validate_python(fields)
    return verified


def verify_proposal(proposal: Proposal) -> Verified | Refused:
    """Judge the four inputs of `verify` given as one value.

    Raises:
        TypeError: `proposal` is not exactly a Proposal, or one of its parts is not exactly the
            envelope it should be.
    """
    if type(proposal) is not Proposal:
        raise _not_exact(proposal, Proposal)
    return verify(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)


def _not_exact(value: object, model: type[Envelope]) -> TypeError:
    return TypeError(f"verify needs a {model.__name__}, not {type(value).__name__}")
