"""One trial of a law: a proposal, ways to alter it, and the verify that is on trial."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from critic import (
    CompiledContext,
    DecisionSpec,
    Plan,
    Proposal,
    Refused,
    RunContext,
    Verified,
)
from evals.canonical import canonical_bytes
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing.strategies import NearMiss
from harness.wire import build

T = TypeVar("T")
LawVerdict = Verified | Refused
Verify = Callable[[RunContext, CompiledContext, DecisionSpec, Plan], LawVerdict]
Mark = tuple[str, str, int | None, str | None]


class LawBroken(AssertionError):
    """A law does not hold. The message names it, says what happened and shows the proposal."""


class NoVerdict(Exception):
    """Verify raised. That breaks totality, and leaves the other laws with nothing to say."""


class Trial:
    """What a law is given: it draws what it needs, judges, and requires."""

    def __init__(
        self, proposal: Proposal, data: st.DataObject, verify: Verify, miss: NearMiss | None = None
    ) -> None:
        self.proposal = proposal
        self.miss = miss
        self.wire: Json = proposal.wire()
        self.verify = verify
        self._data = data

    def draw(self, strategy: st.SearchStrategy[T]) -> T:
        """Something that the law needs."""
        return self._data.draw(strategy)

    def pick(self, options: Sequence[T]) -> T:
        """One of the options; the first is the simplest."""
        return options[self.draw(st.integers(0, len(options) - 1))]

    def judge(self, proposal: Proposal | Json) -> LawVerdict:
        """The verdict on a proposal, or on the wire form of one."""
        one = proposal if isinstance(proposal, Proposal) else build(Proposal, proposal)
        try:
            return self.verify(one.ctx, one.compiled, one.spec, one.plan)
        except Exception as error:
            raise NoVerdict from error

    def require(self, holds: bool, what: str, altered: Json | None = None) -> None:
        """Complain unless it holds, about the proposal and what it was altered to."""
        if holds:
            return
        shown = [what, f"proposal: {_shown(self.wire)}"]
        shown += [f"altered: {_shown(altered)}"] if altered is not None else []
        raise LawBroken("\n".join(shown))

    def require_kept(self, before: LawVerdict, altered: Json, what: str) -> None:
        """Require that no violation of a verdict is gone from the verdict on something else."""
        lost = marks(before) - marks(self.judge(altered))
        self.require(not lost, f"{what} took a violation away: {list(lost)}", altered)

    def require_refused(self, before: LawVerdict, altered: Json, what: str) -> None:
        """Require that something else is refused if the proposal was."""
        passes = not before and bool(self.judge(altered))
        self.require(not passes, f"{what} let a refused plan pass", altered)

    def require_same(self, before: LawVerdict, altered: Json, what: str) -> None:
        """Require the very same verdict on something else."""
        after = self.judge(altered)
        same = canonical_bytes(before) == canonical_bytes(after)
        told = f"{what} changed the verdict from {_said(before)} to {_said(after)}"
        self.require(same, told, altered)


def marks(verdict: LawVerdict) -> Counter[Mark]:
    """The violations without their reasons, which quote what a law may change."""
    if not isinstance(verdict, Refused):
        return Counter()
    return Counter(
        (one.check, one.kind, one.offending_step, one.path) for one in verdict.violations
    )


def with_part(wire: Json, part: str, **changes: Any) -> Json:
    """The proposal with some fields of one part set, or left out where they are `ABSENT`."""
    fields = {**wire[part], **changes}
    return {**wire, part: {name: value for name, value in fields.items() if value is not ABSENT}}


def with_manifest(wire: Json, name: str, entries: list[Json]) -> Json:
    """The proposal with other entries in one of its two manifests."""
    return with_part(wire, "compiled", manifests={**wire["compiled"]["manifests"], name: entries})


def replace_step(wire: Json, at: int, **changes: Any) -> Json:
    """The proposal with some fields of one step set."""
    steps = list(wire["plan"]["steps"])
    steps[at] = {**steps[at], **changes}
    return with_part(wire, "plan", steps=steps)


def _shown(wire: Json) -> str:
    return json.dumps(wire)


def _said(verdict: LawVerdict) -> str:
    return json.dumps(verdict.wire())
