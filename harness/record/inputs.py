"""The inputs of a decision as it holds them: parsed from their own bytes, and never handed out.

Rule 1: what is decided, permitted and recorded is what is held here. Whoever is given a part is
        given a copy, which is theirs to spoil.
Rule 2: a held context is made once for each CompiledContext that a caller gives, and kept as long
        as that lives. Later changes of the caller's object in place do not reach it.
Rule 3: no attribute of what is handed out leads here. It holds bytes, which nothing can change.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, NamedTuple

from critic import CompiledContext, DecisionSpec, Plan, Proposal, RunContext
from evals.envelope import Envelope
from evals.joined_json import begin_object, finish_object
from evals.manifest import held_by
from evals.side_table import Beside
from evals.unread import unread_context
from harness.canonical import canonical_bytes
from harness.record.drafts import Digest, Parted
from harness.record.index_row import input_columns
from harness.wire import EnvelopeT, parse

ToolKey = tuple[str, str]
"""The (adapter_id, capability_id) of a tool."""


class Held(Generic[EnvelopeT]):
    """One input: its canonical bytes, their SHA-256, and the envelope that they spell.

    Raises:
        InvalidInput: the envelope was changed in place into something else.
    """

    __slots__ = ("body", "digest", "envelope")

    def __init__(self, envelope: EnvelopeT) -> None:
        self.body: Final = canonical_bytes(envelope)
        self.digest: Final = hashlib.sha256(self.body).hexdigest()
        self.envelope: Final = self._parse_body(type(envelope))

    def handed_out(self) -> EnvelopeT:
        """Return a copy for somebody else. It shares nothing with this or any other."""
        return self._parse_body(type(self.envelope))

    def _parse_body(self, model: type[EnvelopeT]) -> EnvelopeT:
        return parse(model, self.body, max_bytes=len(self.body))


class HeldContext(Held[CompiledContext]):
    """A context. Whatever is done with it costs the same for ten tools and a hundred thousand."""

    __slots__ = ("_hash", "_held", "_tools")

    def __init__(self, compiled: CompiledContext) -> None:
        super().__init__(compiled)
        # `compiled` is the first member of a proposal: its hash goes on from here.
        self._hash: Final = hashlib.sha256(begin_object({"compiled": self.body}))
        self._tools: Final[dict[ToolKey, bytes]] = {}
        self._held: Final = held_by(self.envelope.manifests)

    def handed_out(self) -> CompiledContext:
        """Return a copy for somebody else: it is made of the bytes when it is looked at."""
        return unread_context(self.body, self._held)

    def proposal_digest(self, ctx: bytes, plan: bytes, spec: bytes) -> str:
        """Return the digest of the proposal of this context and the canonical bytes of the rest."""
        return proposal_digest(self._hash, ctx, plan, spec)

    def hash(self) -> Any:
        """Return the hash of a proposal so far, a copy: what follows are the other members."""
        return self._hash.copy()

    def tool(self, name: ToolKey) -> bytes | None:
        """Return the canonical bytes of the tool's entry, or None if there is no such tool."""
        if name not in self._tools:
            entry = self.envelope.manifests.tools.get(name)
            if entry is None:
                return None
            self._tools[name] = canonical_bytes(entry)
        return self._tools[name]


def proposal_digest(begun: Any, ctx: bytes, plan: bytes, spec: bytes) -> str:
    """Return the digest of a proposal whose first member is hashed already."""
    whole = begun.copy()
    whole.update(finish_object({"ctx": ctx, "plan": plan, "spec": spec}))
    digest: str = whole.hexdigest()
    return digest


class InputBody(NamedTuple):
    """One input as it is recorded: canonical bytes, whole or in parts, and their SHA-256."""

    body: bytes | Parted
    digest: str


class InputDigests(Envelope):
    """The digest of each input of `verify`. The log stores the inputs under these digests."""

    ctx: Digest
    compiled: Digest
    spec: Digest
    plan: Digest


class DraftedInputs(NamedTuple):
    """The inputs as each record of them has them.

    Attributes:
        digests: their digests.
        member: the canonical bytes of these.
        bodies: their canonical bytes by digest, whole or in parts.
        columns: what the index says of them.
    """

    digests: InputDigests
    member: bytes
    bodies: Mapping[str, bytes | Parted]
    columns: Mapping[str, Any]

    @classmethod
    def of(
        cls, named: Mapping[str, str], bodies: Mapping[str, bytes | Parted], proposal: Proposal
    ) -> "DraftedInputs":
        """Return the inputs of a proposal: their digests by name, their bodies by digest."""
        digests = InputDigests(**named)
        columns = input_columns(proposal.ctx, proposal.plan)
        return cls(digests, canonical_bytes(digests), bodies, columns)


class RecordInputs(ABC):
    """The four inputs of a decision, spelled once for whatever is recorded of them."""

    __slots__ = ("_drafted",)

    digest: str
    """That of the proposal."""

    proposal: Proposal
    """The inputs as they are held: nobody else is given them."""

    _drafted: DraftedInputs

    @property
    def drafted(self) -> DraftedInputs:
        """Return the inputs as each record of them has them: made once."""
        try:
            return self._drafted
        except AttributeError:
            named = {name: one.digest for name, one in self.parts.items()}
            bodies = {part.digest: part.body for part in self.parts.values()}
            self._drafted = DraftedInputs.of(named, MappingProxyType(bodies), self.proposal)
            return self._drafted

    @property
    @abstractmethod
    def parts(self) -> Mapping[str, Held[Any] | InputBody]:
        """Return the inputs by their names in a Proposal."""

    @abstractmethod
    def handed_out(self) -> Proposal:
        """Return a copy for somebody else. It shares nothing with this or any other."""


class HeldInputs(RecordInputs):
    """The four inputs of a decision. `digest` is that of the proposal."""

    __slots__ = ("context", "ctx", "digest", "plan", "proposal", "spec")

    def __init__(
        self,
        ctx: Held[RunContext],
        context: HeldContext,
        spec: Held[DecisionSpec],
        plan: Held[Plan],
    ) -> None:
        self.ctx: Final = ctx
        self.context: Final = context
        self.spec: Final = spec
        self.plan: Final = plan
        self.digest = context.proposal_digest(ctx.body, plan.body, spec.body)
        self.proposal = _make_proposal(ctx.envelope, context.envelope, spec.envelope, plan.envelope)

    @classmethod
    def of(cls, proposal: Proposal) -> "HeldInputs":
        """Return the inputs of a proposal as it is now.

        Raises:
            InvalidInput: a part was changed in place and is not a valid envelope any more.
        """
        context = HeldContext(proposal.compiled)
        return cls(Held(proposal.ctx), context, Held(proposal.spec), Held(proposal.plan))

    def with_ctx(self, ctx: RunContext) -> "HeldInputs":
        """Return the same inputs in another run."""
        return HeldInputs(Held(ctx), self.context, self.spec, self.plan)

    @property
    def parts(self) -> Mapping[str, Held[Any]]:
        """Return the inputs by their names in a Proposal."""
        return {
            "ctx": self.ctx,
            "compiled": self.context,
            "spec": self.spec,
            "plan": self.plan,
        }

    def tools(self) -> Mapping[ToolKey, bytes]:
        """Return the canonical bytes of the entries of those tools that the plan calls."""
        named = {
            (step.adapter_id, step.capability_id)
            for step in self.plan.envelope.steps
            if step.kind == "tool"
        }
        bodies = {name: body for name in named if (body := self.context.tool(name)) is not None}
        return MappingProxyType(bodies)

    def handed_out(self) -> Proposal:
        """Return a copy for somebody else. It shares nothing with this or any other."""
        handed = _make_proposal(
            self.ctx.handed_out(),
            self.context.envelope,
            self.spec.handed_out(),
            self.plan.handed_out(),
        )
        # Not through the constructor: it would look at the context.
        handed.__dict__["compiled"] = self.context.handed_out()
        return handed


def _make_proposal(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec, plan: Plan
) -> Proposal:
    return Proposal(ctx=ctx, compiled=compiled, spec=spec, plan=plan)


_CONTEXTS: Final = Beside[HeldContext]()


def held_context(compiled: CompiledContext) -> HeldContext:
    """Return the held form of a context, made at the first call for this very object.

    Raises:
        InvalidInput: it was changed in place, before that, and is not a CompiledContext any more.
    """
    return _CONTEXTS.get(compiled) or _CONTEXTS.keep(compiled, HeldContext(compiled))
