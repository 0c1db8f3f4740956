"""The context of a law: a proposal, ways to alter it, and the `verify` that is on trial."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

from critic import (
    CompiledContext,
    DecisionSpec,
    Plan,
    Proposal,
    Refused,
    RunContext,
    Verified,
    Violation,
)
from harness.canonical import canonical_bytes
from harness.errors import HarnessError
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing.strategies import NearMiss
from harness.wire import build

_MOST_LISTED: Final = 1000
"""How many violations a verdict lists."""

_T = TypeVar("_T")
LawVerdict = Verified | Refused
Verify = Callable[[RunContext, CompiledContext, DecisionSpec, Plan], LawVerdict]
Mark = tuple[str, str, int | None, str | None]
"""Check, kind, step and path of a violation: all of it but the reason."""


class LawBroken(HarnessError, AssertionError):
    """A law does not hold. The message names it, says what happened and shows the proposal.

    Of several lines: the law, what happened, then `proposal:`, `altered:`, `verdict:` and
    `verdict on altered:` as JSON, as far as they matter.
    """


class NoVerdict(HarnessError):
    """Verify raised. That breaks `totality`, and leaves nothing for the other laws to compare."""


class LawContext:
    """The argument of a law: it draws what it needs, judges, and requires."""

    def __init__(
        self,
        proposal: Proposal,
        data: st.DataObject,
        verify: Verify,
        near_miss: NearMiss | None = None,
    ) -> None:
        self.proposal = proposal
        self.near_miss = near_miss
        self.wire: Json = proposal.wire()
        self.verify = verify
        self._data = data

    @property
    def loose(self) -> Json:
        """The proposal with approvals that name no context, so that they hold in an altered one."""
        ctx = self.wire["ctx"]
        approvals = [
            {name: value for name, value in approval.items() if name != "context_digest"}
            for approval in ctx.get("approvals", ())
        ]
        return with_part(self.wire, "ctx", approvals=approvals) if approvals else self.wire

    def draw(self, strategy: st.SearchStrategy[_T]) -> _T:
        """Draw something that the law needs."""
        return self._data.draw(strategy)

    def pick(self, options: Sequence[_T]) -> _T:
        """Draw one of the options; the first is the simplest."""
        return options[self.draw(st.integers(0, len(options) - 1))]

    def judge(self, proposal: Proposal | Json) -> LawVerdict:
        """Return the verdict on a proposal, or on the wire form of one.

        Raises:
            NoVerdict: verify raised.
        """
        try:
            return self._verdict(proposal)
        except Exception as error:
            raise NoVerdict from error

    def _verdict(self, given: Proposal | Json) -> LawVerdict:
        proposal = given if isinstance(given, Proposal) else build(Proposal, given)
        return self.verify(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)

    def require(self, holds: bool, what: str, altered: Json | None = None) -> None:
        """Complain unless it holds, about the proposal and what it was altered to.

        Raises:
            LawBroken: it does not hold.
        """
        if holds:
            return
        lines = [what, f"proposal: {json.dumps(self.wire)}"]
        lines += [f"altered: {json.dumps(altered)}"] if altered is not None else []
        lines += [f"verdict: {self._show_verdict(self.wire)}"]
        lines += (
            [f"verdict on altered: {self._show_verdict(altered)}"] if altered is not None else []
        )
        raise LawBroken("\n".join(lines))

    def _show_verdict(self, wire: Json) -> str:
        try:
            return json.dumps(self._verdict(wire).wire())
        except Exception as error:
            return f"none: {type(error).__name__}"

    def require_answer(self, proposal: Proposal | Json, altered: Json | None = None) -> None:
        """Require one of the two answers, and no exception."""
        try:
            verdict: Any = self._verdict(proposal)
        except Exception as error:
            self.require(False, f"verify raised {type(error).__name__}: {error}", altered)
            return
        answered = type(verdict) in (Verified, Refused)
        self.require(answered, f"verify returned {type(verdict).__name__}", altered)
        passes = isinstance(verdict, Verified)
        self.require(bool(verdict) is passes, f"its truth value is {bool(verdict)}", altered)
        leads = passes or verdict.violations[0].kind == verdict.kind
        self.require(leads, "its kind is not that of its first violation", altered)

    def require_kept(self, before: LawVerdict, altered: Json, what: str) -> None:
        """Require that no violation of a verdict is missing in the verdict on the altered one.

        Nothing is said of a verdict that is too long to list all of its violations.
        """
        after = self.judge(altered)
        if is_capped(before) or is_capped(after):
            self.require(not after, f"{what} let a refused plan pass", altered)
            return
        lost = marks(before) - marks(after)
        self.require(not lost, f"{what} took a violation away: {list(lost)}", altered)

    def require_refused(self, before: LawVerdict, altered: Json, what: str) -> None:
        """Require that the altered proposal is refused if the proposal was."""
        passes = not before and bool(self.judge(altered))
        self.require(not passes, f"{what} let a refused plan pass", altered)

    def require_same(self, before: LawVerdict, altered: Json, what: str) -> None:
        """Require the very same verdict on the altered proposal."""
        same = canonical_bytes(before) == canonical_bytes(self.judge(altered))
        self.require(same, f"{what} changed the verdict", altered)


def is_capped(verdict: LawVerdict) -> bool:
    """Return whether a verdict counts violations that it does not list."""
    return isinstance(verdict, Refused) and len(verdict.violations) > _MOST_LISTED


def marks(verdict: LawVerdict) -> Counter[Mark]:
    """Count the violations without their reasons, which quote what a law may change."""
    return marks_of(verdict.violations if isinstance(verdict, Refused) else ())


def marks_of(violations: Iterable[Violation]) -> Counter[Mark]:
    """Count some violations without their reasons."""
    return Counter(
        (violation.check, violation.kind, violation.offending_step, violation.path)
        for violation in violations
    )


def with_part(wire: Json, part: str, **changes: Any) -> Json:
    """Return the proposal with some fields of one part set, or left out where they are `ABSENT`."""
    fields = {**wire[part], **changes}
    return {**wire, part: {name: value for name, value in fields.items() if value is not ABSENT}}


def with_manifest(wire: Json, name: str, entries: list[Json]) -> Json:
    """Return the proposal with other entries in one of its two manifests."""
    return with_part(wire, "compiled", manifests={**wire["compiled"]["manifests"], name: entries})


def with_step(wire: Json, index: int, **changes: Any) -> Json:
    """Return the proposal with some fields of one step set."""
    steps = list(wire["plan"]["steps"])
    steps[index] = {**steps[index], **changes}
    return with_part(wire, "plan", steps=steps)
