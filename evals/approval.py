"""Find the steps that a person has approved.

Rule 1: an approval is of one exact plan, by its digest.
Rule 2: where it names a context, it holds for that trace, manifests and spec only.
Rule 3: an expired approval approves nothing.
"""

import hashlib
from collections.abc import Callable, Container
from functools import cached_property
from typing import Final

from evals.canonical_json import canonical_json, digest
from evals.context import Approval, RunContext
from evals.manifest import CompiledContext
from evals.plan import Plan, parts_by_command
from evals.spec import DecisionSpec
from evals.timestamps import is_unexpired

_PREFIX: Final = "sha256:"


def context_digest(ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> str:
    """Return the digest of what an approval is given in: the trace, the manifests and the spec.

    It is the SHA-256 of the canonical JSON object with the members `compiled`, `spec` and
    `trace_id`, as 64 lower-case hexadecimal digits.
    """
    members = {"compiled": compiled.wire(), "spec": spec.wire(), "trace_id": ctx.trace_id}
    return hashlib.sha256(canonical_json(members)).hexdigest()


class Approvals:
    """The approvals of one plan in one context. Nothing is computed until a step needs one."""

    def __init__(
        self,
        ctx: RunContext,
        compiled: CompiledContext,
        spec: DecisionSpec,
        plan: Plan,
        *,
        context: Callable[[], str] | None = None,
        plan_digest: Callable[[], str] | None = None,
    ) -> None:
        """Judge the approvals in a context.

        Args:
            context: gives the digest of the context, where there is a cheaper way to it.
            plan_digest: gives that of the plan, of which `plan` is the end.
        """
        self._ctx = ctx
        self._plan = plan
        self._plan_digest = plan_digest or (lambda: digest(plan))
        self._context = context or (lambda: context_digest(ctx, compiled, spec))
        self._loosely_covered: set[int] = set()

    def cover(self, step: int) -> bool:
        """Return whether a valid approval of the plan covers the step, which needs one."""
        return self._is_among(step, self._steps)

    def cover_late(self, step: int) -> bool:
        """Return whether one does whose approver was shown where late values come from."""
        return self._is_among(step, self._late_steps)

    def _is_among(self, step: int, covered: "_Covered") -> bool:
        bound, loose = covered
        if step in bound:
            return True
        if step not in loose:
            return False
        self._loosely_covered.add(step)
        return True

    @property
    def loosely_covered(self) -> list[int]:
        """Return the steps found covered only by approvals that name no context, in order."""
        return sorted(self._loosely_covered)

    @cached_property
    def _valid(self) -> list[Approval]:
        if not self._ctx.approvals:
            return []
        names = _spellings(self._plan_digest())
        return [
            approval
            for approval in self._ctx.approvals
            if approval.plan_digest in names and is_unexpired(approval.expires_at, self._ctx.as_of)
        ]

    @cached_property
    def _steps(self) -> "_Covered":
        return self._covered_by(self._valid)

    @cached_property
    def _late_steps(self) -> "_Covered":
        return self._covered_by([one for one in self._valid if one.late])

    def _covered_by(self, valid: list[Approval]) -> "_Covered":
        contexts: tuple[str, ...] = ()
        if any(one.context_digest is not None for one in valid):
            contexts = _spellings(self._context())
        bound = [one for one in valid if one.context_digest in contexts]
        loose = [one for one in valid if one.context_digest is None]
        return self._covered_steps(bound), self._covered_steps(loose)

    def _covered_steps(self, approvals: list[Approval]) -> Container[int]:
        if any(approval.steps is None for approval in approvals):
            return range(self._count)
        return frozenset(step for approval in approvals for step in self._steps_listed_by(approval))

    @property
    def _count(self) -> int:
        """How many steps the plan has."""
        return len(self._plan.steps)

    def _steps_listed_by(self, approval: Approval) -> set[int]:
        """Return the steps of an approval: a command with all that it does, or not at all."""
        listed = {*(approval.steps or ())}
        for command, parts in parts_by_command(self._plan).items():
            whole = {command, *parts}
            if not whole <= listed:
                listed -= whole
        return listed


_Covered = tuple[Container[int], Container[int]]
"""The steps that approvals with a context cover, and those that others cover."""


def _spellings(sha256: str) -> tuple[str, ...]:
    return sha256, f"{_PREFIX}{sha256}"
