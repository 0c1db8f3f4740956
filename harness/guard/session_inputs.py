"""Spell the inputs of a batch for its records, at the cost of what is new since the last one.

Rule 1: evidence is only added. Each item is spelled, hashed and split once. Digests continue from
        running hashes, and the stored form from groups that are closed once. The acts of a session
        grow too, in arrays of the run's context: their elements are spelled and split once.
Rule 2: digests and bytes are those of the whole proposal, which is built when somebody reads it.

For example, a record of turn 400 stores the item that turn 399 returned, and references:

    {"manifests":{"evidence_manifest":[<items 1 to 32>,<33 to 64>,...,<item 399>],...
"""

import hashlib
from collections.abc import Mapping, Sequence
from operator import is_
from threading import Lock
from typing import Any, Final, NamedTuple

from orjson import Fragment
from rfc8785 import CanonicalizationError

from critic import CompiledContext, DecisionSpec, Plan, Proposal, RunContext
from critic.session.call_batch import Batch
from critic.session.session_evidence import Trail
from evals.envelope import Envelope
from evals.joined_json import finish_object
from evals.manifest import held_by
from evals.side_table import Beside
from evals.unread import unread_context, unread_proposal
from harness.canonical import canonical_bytes, canonical_json
from harness.record.drafts import Parted, sha256
from harness.record.inputs import InputBody, RecordInputs
from harness.record.parts import LARGE, SMALLEST, GrowingArray, keep_piece, part_document
from harness.wire import EnvelopeT, parse

_OF_PROPOSAL: Final = b'{"compiled":'
_GROWING: Final = {"session": {"own", "sent"}, "spent": {"calls"}}
"""The arrays of a run's context that grow with its session."""


class _Tools:
    """The part of a context that does not grow: before and after its evidence."""

    def __init__(self, bare: CompiledContext, opening: bytes) -> None:
        whole = canonical_bytes(bare)
        self.opening: Final = opening.removeprefix(_OF_PROPOSAL)
        assert whole.startswith(self.opening)  # noqa: S101 - of the same classes
        self.ending: Final = whole[len(self.opening) :]
        self.pieces: Final[dict[str, bytes]] = {}
        tools = GrowingArray(self.pieces, SMALLEST)
        spelled = [canonical_bytes(tool) for tool in bare.manifests.tool_manifest]
        for one in spelled:
            tools.add(one, _body_of(one, self.pieces))
        self.ending_body: Final = self.ending.replace(_array(spelled), _array(tools.elements()), 1)
        self.opening_body: Final = self._refer_to_classes(bare)

    def _refer_to_classes(self, bare: CompiledContext) -> bytes:
        classes = bare.manifests.classes
        if classes is None:
            return self.opening
        whole = _array(canonical_bytes(one) for one in classes)
        body = keep_piece(self.pieces, whole, whole)
        return self.opening.replace(whole, body, 1)


class _Evidence(NamedTuple):
    """The evidence of a trail: its hash, the references to its items, and their lengths."""

    hash: Any
    elements: bytes
    pieces: dict[str, bytes]
    size: int


class _Grown:
    """The evidence of trails that continue one another, as far as it was spelled."""

    def __init__(self, opening: bytes) -> None:
        self._lock: Final = Lock()
        self._count = 0
        self._size = 0
        self._hash: Final = hashlib.sha256(opening.removeprefix(_OF_PROPOSAL))
        self._pieces: Final[dict[str, bytes]] = {}
        self._array: Final = GrowingArray(self._pieces, SMALLEST)

    def spell(self, trail: Trail) -> _Evidence:
        """Return the evidence of a trail. What was spelled before is not spelled again."""
        with self._lock:
            if self._count > len(trail):  # a batch of before
                return _Grown(trail.opening).spell(trail)
            for item in trail.added_since(self._count):
                self._add(canonical_bytes(item))
            elements = b",".join(self._array.elements())
            return _Evidence(self._hash.copy(), elements, self._pieces, self._size)

    def _add(self, whole: bytes) -> None:
        joined = b"," + whole if self._count else whole
        self._hash.update(joined)
        self._size += len(joined)
        self._array.add(whole, _body_of(whole, self._pieces))
        self._count += 1


class _GrowingMember:
    """An array that grows with a session, as far as its elements were spelled."""

    def __init__(self) -> None:
        self._lock: Final = Lock()
        self._begin()

    def _begin(self) -> None:
        self._known: list[Envelope] = []
        self._spelled: list[bytes] = []
        self._pieces: dict[str, bytes] = {}
        self._array = GrowingArray(self._pieces, LARGE + 1)

    def spell(self, elements: Sequence[Envelope]) -> tuple[bytes, Parted]:
        """Return the bytes of the array, whole and in parts. Known elements are not respelled."""
        with self._lock:
            is_next = len(elements) >= len(self._known) and all(map(is_, self._known, elements))
            if not is_next:  # an act was taken back, or this is a batch of before
                self._begin()
            for one in elements[len(self._known) :]:
                self._known.append(one)
                self._spelled.append(canonical_bytes(one))
                self._array.add(self._spelled[-1], _body_of(self._spelled[-1], self._pieces))
            whole = _array(self._spelled)
            return whole, Parted(_array(self._array.elements()), {**self._pieces}, len(whole))


class _Acts:
    """The part of a run's context that grows with its session."""

    def __init__(self) -> None:
        self._members: Final = {
            (name, inner): _GrowingMember() for name in _GROWING for inner in _GROWING[name]
        }

    def spell(self, ctx: RunContext) -> tuple[bytes, Parted]:
        """Return the canonical bytes of a context, whole and in parts."""
        whole = ctx.model_dump(mode="json", exclude=_GROWING)
        parts, pieces, size = (
            {name: {**one} if isinstance(one, dict) else one for name, one in whole.items()},
            dict[str, bytes](),
            0,
        )
        for (name, inner), member in self._members.items():
            elements = getattr(getattr(ctx, name), inner, None)
            if elements:
                spelled, apart = member.spell(elements)
                whole[name][inner] = Fragment(spelled)
                parts[name][inner] = Fragment(apart.body)
                pieces |= apart.pieces
                size += len(spelled)
        try:
            data = canonical_json(whole)
        except CanonicalizationError:  # by a spelling that does not take what is spelled already
            data = canonical_bytes(ctx)
            return data, part_document(data)
        if len(data) - size > LARGE:
            parts = {name: _refer_to_members(value, pieces) for name, value in parts.items()}
        return data, Parted(canonical_json(parts), pieces, len(data))


def _refer_to_members(value: Any, pieces: dict[str, bytes]) -> Any:
    """Return a member with references for its large parts, which are stored."""
    if isinstance(value, dict):
        return {name: _refer_to_members(inner, pieces) for name, inner in value.items()}
    if isinstance(value, Fragment):
        return value
    whole = canonical_json(value)
    return Fragment(keep_piece(pieces, whole, _body_of(whole, pieces)))


_ACTS: Final = Beside[_Acts]()
_SPECS: Final = Beside[bytes]()
_GROWN: Final = Beside[_Grown]()
_TOOLS: Final = Beside[_Tools]()


class BatchInputs(RecordInputs):
    """The four inputs of a batch of a session."""

    __slots__ = ("_bare", "_parts", "_rest", "_tools", "batch", "digest", "proposal")

    def __init__(self, batch: Batch) -> None:
        """Spell the new parts."""
        self.batch: Final = batch
        self._bare: Final = batch.tools
        self._tools: Final = _tools_of(self._bare, batch.trail)
        # Without the evidence, which is looked at in the batch.
        self.proposal = Proposal(
            ctx=batch.ctx, compiled=self._bare, spec=batch.spec, plan=batch.plan
        )
        root = batch.trail.root
        acts = _ACTS.get(root) or _ACTS.keep(root, _Acts())
        ctx, ctx_in_parts = acts.spell(batch.ctx)
        self._rest: Final = {
            "ctx": ctx,
            "plan": canonical_bytes(batch.plan),
            "spec": _spec_of(batch.spec),
        }
        state = batch.trail.digest_state()
        state.update(self._tools.ending + finish_object(self._rest))
        self.digest: str = state.hexdigest()
        rest = {name: InputBody(body, sha256(body)) for name, body in self._rest.items()}
        rest["ctx"] = InputBody(ctx_in_parts, rest["ctx"].digest)
        self._parts: Final = {"compiled": self._spell_context(), **rest}

    @property
    def parts(self) -> Mapping[str, InputBody]:
        """Return the inputs by their names in a Proposal."""
        return self._parts

    def handed_out(self) -> Proposal:
        """Return an independent copy."""
        return unread_proposal(self._make_copy)

    def _make_copy(self) -> Proposal:
        handed = Proposal(
            ctx=_parse_input(RunContext, self._rest["ctx"]),
            compiled=self._bare,
            spec=_parse_input(DecisionSpec, self._rest["spec"]),
            plan=_parse_input(Plan, self._rest["plan"]),
        )
        # Not through the constructor: it would look at the context.
        handed.__dict__["compiled"] = unread_context(
            self._spell_whole, held_by(self._bare.manifests, self.batch.seen)
        )
        return handed

    def _spell_context(self) -> InputBody:
        tools, trail = self._tools, self.batch.trail
        grown = _GROWN.get(trail.root) or _GROWN.keep(trail.root, _Grown(trail.opening))
        evidence = grown.spell(trail)
        evidence.hash.update(tools.ending)
        evidence.pieces.update(tools.pieces)
        body = tools.opening_body + evidence.elements + tools.ending_body
        size = len(tools.opening) + evidence.size + len(tools.ending)
        return InputBody(Parted(body, evidence.pieces, size), evidence.hash.hexdigest())

    def _spell_whole(self) -> bytes:
        items = b",".join(map(canonical_bytes, self.batch.trail.items))
        return self._tools.opening + items + self._tools.ending


def _spec_of(spec: DecisionSpec) -> bytes:
    return _SPECS.get(spec) or _SPECS.keep(spec, canonical_bytes(spec))


def _parse_input(model: type[EnvelopeT], body: bytes) -> EnvelopeT:
    return parse(model, body, max_bytes=len(body))


def _tools_of(bare: CompiledContext, trail: Trail) -> _Tools:
    return _TOOLS.get(bare) or _TOOLS.keep(bare, _Tools(bare, trail.opening))


def _body_of(whole: bytes, pieces: dict[str, bytes]) -> bytes:
    """Return the bytes of an element with references for its pieces, which are stored."""
    apart = part_document(whole)
    pieces.update(apart.pieces)
    return apart.body


def _array(elements: Any) -> bytes:
    return b"[%s]" % b",".join(elements)
