"""The five checks, in their order. Every reason to refuse a plan is found here, nowhere else.

Rule 1: authority comes from the manifest, the spec and the context. What a plan declares about
        itself can add a violation and can never remove one.
Rule 2: a missing fact refuses the plan; it never lets it pass.
Rule 3: within a check, violations of steps come in ascending order, then those of the whole plan;
        in the last check, the size of the plan comes first.
Rule 4: every check is linear in the steps and the manifests.
"""

from collections.abc import Callable, Iterator
from typing import Final

from critic.checks.approval_check import check_approval
from critic.checks.coverage_check import check_coverage
from critic.checks.evidence_check import check_evidence
from critic.checks.loop_check import check_loop
from critic.checks.surface_check import check_surface
from critic.checks.violation import Found
from critic.prepared import PreparedPlan

CHECKS: Final[tuple[Callable[[PreparedPlan], Iterator[Found]], ...]] = (
    check_coverage,
    check_surface,
    check_approval,
    check_evidence,
    check_loop,
)
"""The checks in the order that decides which violation names the refusal."""
