"""verify: refuse a bad plan before any side effect."""

from functools import lru_cache

from critic.caveats import caveats_of
from critic.checks import CHECKS
from critic.prepared import prepare_plan
from critic.surface import surface_of
from critic.verdicts import Refused, Verified, Violation
from evals.context import CompiledContext, DecisionSpec, RunContext
from evals.envelope import Envelope
from evals.plan import Plan, Proposal


def verify(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> Verified | Refused:
    """Judge a plan by the five checks and collect every violation.

    Pure and total: the same envelopes give the same verdict, and valid envelopes never raise.
    The index of `compiled` is built at its first use and kept with it.

    Raises:
        TypeError: an argument is not exactly the envelope it should be. A subclass is refused
            too, since it could answer differently from the fields that were validated.
    """
    _require_exact(ctx, RunContext)
    _require_exact(compiled, CompiledContext)
    _require_exact(spec, DecisionSpec)
    _require_exact(plan, Plan)
    case = prepare_plan(ctx, surface_of(compiled), spec, plan)
    violations: list[Violation] = []
    for check in CHECKS:
        violations += check(case)
    if violations:
        return Refused.because(tuple(violations))
    return _verified(len(case.steps), len(set(spec.required_outputs)), caveats_of(case))


def verify_proposal(proposal: Proposal) -> Verified | Refused:
    """Judge the four inputs of `verify` given as one value.

    Raises:
        TypeError: `proposal` is not exactly a Proposal, or one of its parts is not exactly the
            envelope it should be.
    """
    _require_exact(proposal, Proposal)
    return verify(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)


def _require_exact(value: object, model: type[Envelope]) -> None:
    if type(value) is not model:
        raise TypeError(f"verify needs a {model.__name__}, not {type(value).__name__}")


@lru_cache(maxsize=256)
def _verified(steps: int, outputs: int, caveats: tuple[str, ...]) -> Verified:
    """One object for equal verdicts: they are frozen, and most plans of a fleet pass alike."""
    reason = f"{steps} steps, {outputs} required outputs covered"
    return Verified(reasons=(reason,), caveats=caveats)
