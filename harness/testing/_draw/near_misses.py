"""All ways in which a plan can nearly pass, with the refusal that each must get."""

from collections.abc import Callable
from typing import Final, NamedTuple

from critic import Check, RefusalKind
from harness.testing._draw import near_miss_facts, near_miss_needs, near_miss_scope
from harness.testing._draw.bounds import NotCovered
from harness.testing._draw.drawn_plans import Drafter
from harness.testing._draw.near_miss import NearMissPlan


class Way(NamedTuple):
    """One way to break a passing plan, with the check and kind of its refusal."""

    name: str
    check: Check
    kind: RefusalKind
    violate: Callable[[Drafter], NearMissPlan | None]


_BEYOND_SPEC: Final = "violates_decision_spec"

NEAR_MISSES: Final[tuple[Way, ...]] = (
    Way("undeclared_output", "coverage", _BEYOND_SPEC, near_miss_scope.undeclared_output),
    Way("unproducible_output", "coverage", _BEYOND_SPEC, near_miss_scope.unproducible_output),
    Way("toolless_output", "coverage", _BEYOND_SPEC, near_miss_scope.toolless_output),
    Way("foreign_trace", "coverage", _BEYOND_SPEC, near_miss_scope.foreign_trace),
    Way("unsurfaced_tool", "surface", _BEYOND_SPEC, near_miss_scope.unsurfaced_tool),
    Way("broken_args", "surface", _BEYOND_SPEC, near_miss_scope.broken_args),
    Way("confined_content", "surface", _BEYOND_SPEC, near_miss_scope.confined_content),
    Way("over_safety_mode", "approval", "approval_mode_mismatch", near_miss_scope.over_safety_mode),
    Way("over_ceiling", "approval", "approval_mode_mismatch", near_miss_scope.over_ceiling),
    Way("unapproved", "approval", "approval_mode_mismatch", near_miss_scope.unapproved_call),
    Way(
        "approved_elsewhere",
        "approval",
        "approval_mode_mismatch",
        near_miss_needs.approved_elsewhere,
    ),
    Way("unpinned_class", "evidence", "missing_evidence", near_miss_facts.unpinned_class),
    Way("unmet_claim", "evidence", "missing_evidence", near_miss_facts.unmet_claim),
    Way("forged_ref", "evidence", "missing_evidence", near_miss_facts.forged_ref),
    Way("expired_ref", "evidence", "missing_evidence", near_miss_facts.expired_ref),
    Way("unbacked_argument", "evidence", "missing_evidence", near_miss_facts.unbacked_argument),
    Way("demand_unmet", "evidence", "missing_evidence", near_miss_needs.demand_unmet),
    Way(
        "demand_about_another", "evidence", "missing_evidence", near_miss_needs.demand_about_another
    ),
    Way("wrong_place", "evidence", "missing_evidence", near_miss_needs.wrong_place),
    Way("missing_argument", "evidence", "missing_evidence", near_miss_needs.missing_argument),
    Way("divided_group", "evidence", "missing_evidence", near_miss_needs.divided_group),
    Way("unpinned_spec_class", "evidence", "missing_evidence", near_miss_facts.unpinned_spec_class),
    Way("unknown_dependency", "loop", "loop_guard", near_miss_facts.unknown_dependency),
    Way("repeated_id", "loop", "loop_guard", near_miss_facts.repeated_id),
    Way("too_many_steps", "loop", "loop_guard", near_miss_facts.too_many_steps),
    Way("repeated_call", "loop", "loop_guard", near_miss_facts.repeated_call),
    Way("repeated_over_turns", "loop", "loop_guard", near_miss_needs.repeated_over_turns),
    Way("too_many_tokens", "loop", "budget_exceeded", near_miss_facts.too_many_tokens),
)
"""All ways, in the order of the checks."""


def fits(way: Way, kind: RefusalKind | None, check: Check | None) -> bool:
    """Return whether a way has the given kind and check; None allows any."""
    return kind in (None, way.kind) and check in (None, way.check)


def first_near_miss(drafter: Drafter, ways: list[Way]) -> tuple[Way, NearMissPlan] | None:
    """Return a near miss of the first of these ways that is possible here, or None."""
    for way in ways:
        try:
            plan = way.violate(drafter)
        except NotCovered:
            continue
        if plan is not None:
            return way, plan
    return None
