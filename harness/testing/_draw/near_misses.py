"""Every way in which a plan can all but pass, and the refusal that each must meet."""

from collections.abc import Callable
from typing import Final, NamedTuple

from critic import Check, RefusalKind
from harness.testing._draw import near_miss_facts as near_facts
from harness.testing._draw import near_miss_scope as near_scope
from harness.testing._draw.near_miss import Spoiled
from harness.testing._draw.plans import Drafter


class Miss(NamedTuple):
    """One way to miss, with what the refusal must say."""

    name: str
    check: Check
    kind: RefusalKind
    spoil: Callable[[Drafter], Spoiled | None]


_BEYOND_SPEC: Final = "violates_decision_spec"

MISSES: Final[tuple[Miss, ...]] = (
    Miss("undeclared_output", "coverage", _BEYOND_SPEC, near_scope.undeclared_output),
    Miss("unproducible_output", "coverage", _BEYOND_SPEC, near_scope.unproducible_output),
    Miss("foreign_trace", "coverage", _BEYOND_SPEC, near_scope.foreign_trace),
    Miss("unsurfaced_tool", "surface", _BEYOND_SPEC, near_scope.unsurfaced_tool),
    Miss("broken_args", "surface", _BEYOND_SPEC, near_scope.broken_args),
    Miss("over_safety_mode", "approval", "approval_mode_mismatch", near_scope.over_safety_mode),
    Miss("over_ceiling", "approval", "approval_mode_mismatch", near_scope.over_ceiling),
    Miss("unapproved", "approval", "approval_mode_mismatch", near_scope.unapproved),
    Miss("unpinned_class", "evidence", "missing_evidence", near_facts.unpinned_class),
    Miss("unmet_claim", "evidence", "missing_evidence", near_facts.unmet_claim),
    Miss("forged_ref", "evidence", "missing_evidence", near_facts.forged_ref),
    Miss("expired_ref", "evidence", "missing_evidence", near_facts.expired_ref),
    Miss("unbacked_argument", "evidence", "missing_evidence", near_facts.unbacked_argument),
    Miss("unpinned_spec_class", "evidence", "missing_evidence", near_facts.unpinned_spec_class),
    Miss("unknown_dependency", "loop", "loop_guard", near_facts.unknown_dependency),
    Miss("repeated_id", "loop", "loop_guard", near_facts.repeated_id),
    Miss("too_many_steps", "loop", "loop_guard", near_facts.too_many_steps),
    Miss("repeated_call", "loop", "loop_guard", near_facts.repeated_call),
    Miss("too_many_tokens", "loop", "budget_exceeded", near_facts.too_many_tokens),
)
"""Every way to miss, in the order of the checks."""


def fits(miss: Miss, kind: RefusalKind | None, check: Check | None) -> bool:
    """Whether a miss is of the kind and the check that are asked for."""
    return kind in (None, miss.kind) and check in (None, miss.check)


def spoiled(drafter: Drafter, misses: list[Miss]) -> tuple[Miss, Spoiled] | None:
    """A near miss of the first of these ways that there is an occasion for."""
    for miss in misses:
        found = miss.spoil(drafter)
        if found is not None:
            return miss, found
    return None
