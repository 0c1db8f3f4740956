"""The part of a log that replay holds beside the record at hand, in bounded memory.

Rule 1: stored bodies and parsed inputs are forgotten when they have more than a bound together.
        The bounds are such that a log of some thousand records reaches them: more take no more.
Rule 2: an input that many records name is put together, checked and parsed once.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

from evals.context import RunContext
from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal
from evals.plan_verdicts import Refused, Verified
from evals.spec import DecisionSpec
from harness.canonical import canonical_bytes
from harness.canonical import digest as digest_of
from harness.record import sha256
from harness.record.inputs import proposal_digest
from harness.record.integrity import StoredDocument
from harness.record.parts import Whole, is_redacted, pieces_of, references, whole_of
from harness.replay.grown_contexts import GrownContexts
from harness.replay.known_acts import KnownActs
from harness.wire import InvalidInput, parse

_MODELS: Final[dict[str, type[Envelope]]] = {
    "ctx": RunContext,
    "compiled": CompiledContext,
    "spec": DecisionSpec,
    "plan": Plan,
}
_MOST_BYTES: Final = 32 * 1024 * 1024  # of bodies
_MORE_BYTES: Final = 4 * 1024 * 1024  # of bodies, beside those of the first page that was kept
_PARSED_BYTES: Final = 2 * 1024 * 1024  # of inputs that are kept parsed, which is ten times larger
_VERDICTS: Final = 256  # that are kept
_AT_ONCE: Final = 16  # bodies that are asked for together: each may be as large as a document


class StoredInput(NamedTuple):
    """An input as far as it could be read: `value`, or why there is none."""

    value: Envelope | None = None
    tampered: str = ""
    incomplete: str = ""
    redacted: str = ""
    unreadable: str = ""
    """What is stored is what was recorded, and this version cannot read it."""
    proposal: Any = None
    """Of a context that went on from another: the SHA-256 of a proposal up to its end."""
    spelled: bytes = b""
    """The canonical bytes, of any other input."""


_Key = tuple[str, str]
_OF_A_GUARD: Final = re.compile("[0-9a-f]{64}")


class InputReader:
    """Reads inputs from stored bodies, most of them once."""

    def __init__(self) -> None:
        self._read: dict[_Key, tuple[StoredInput, int]] = {}
        self._before: dict[_Key, tuple[StoredInput, int]] = {}
        self._held = 0
        self._grown = GrownContexts()
        self._acts = KnownActs()
        self._verdicts: dict[tuple[str, ...], Verified | Refused] = {}

    def read(
        self, name: str, digest: str, bodies: Mapping[str, bytes], *, parsed: bool
    ) -> StoredInput:
        """Return the input that is stored under a digest. Never raises.

        Unless `parsed`, only its bytes are checked, and it has no value.
        """
        key = name, digest
        if (known := self._read.get(key)) is not None:
            return known[0]
        if (known := self._before.get(key)) is not None:
            return self._keep(key, *known)
        body = bodies.get(digest)
        if body is None:
            return StoredInput(incomplete=f"input {name} is missing: no {digest}")
        if is_redacted(digest, body):
            return StoredInput(redacted=f"input {name} is redacted: {digest}")
        found, size = self._read_body(name, digest, body, bodies, parsed=parsed)
        return found if size is None else self._keep(key, found, size)

    def _read_body(
        self, name: str, digest: str, body: bytes, bodies: Mapping[str, bytes], *, parsed: bool
    ) -> tuple[StoredInput, int | None]:
        """Return an input, and how many bytes were read if it is what was recorded."""
        grows = parsed and name == "compiled"
        if grows and (grown := self._grown.read(digest, body, bodies)):
            return StoredInput(grown.value, proposal=grown.proposal), grown.new
        whole = whole_of(body, bodies)
        if whole.data is None or sha256(whole.data) != digest:
            return _problem(name, digest, whole, bodies), None
        found = _parse_input(name, whole.data, self._acts) if parsed else StoredInput()
        if isinstance(found.value, CompiledContext) and _is_of_a_session(found.value):
            self._grown.note(body, whole.data, found.value, bodies)
        return found, len(whole.data)

    def digest_of(self, proposal: Proposal, digests: Mapping[str, str]) -> str:
        """Return the digest of a proposal that was read, whose inputs have these digests."""
        context = self._read_before("compiled", digests)
        if context is None or context.proposal is None:
            return digest_of(proposal)
        rest = []
        for name in ("ctx", "plan", "spec"):
            known = self._read_before(name, digests)
            spelled = known.spelled if known else b""
            rest.append(spelled or canonical_bytes(getattr(proposal, name)))
        return proposal_digest(context.proposal, *rest)

    def verdict_on(
        self, digests: Mapping[str, str], judge: Callable[[], Verified | Refused]
    ) -> Verified | Refused:
        """Return the verdict on inputs that were read and have these digests: they are judged once.

        A ruling, the beginning of what it lets run and the end of that have the same inputs.
        """
        key = tuple(digests[name] for name in _MODELS)
        known = self._verdicts.pop(key, None)
        verdict = self._verdicts[key] = judge() if known is None else known
        if len(self._verdicts) > _VERDICTS:
            del self._verdicts[next(iter(self._verdicts))]
        return verdict

    def _read_before(self, name: str, digests: Mapping[str, str]) -> StoredInput | None:
        key = name, digests[name]
        known = self._read.get(key) or self._before.get(key)
        return known[0] if known else None

    def _keep(self, key: _Key, found: StoredInput, size: int) -> StoredInput:
        if self._held + size > _PARSED_BYTES:
            # What is read again and again comes back from among those before.
            self._before, self._read, self._held = self._read, {}, 0
        self._held += size
        self._read[key] = found, size
        return found


def _is_of_a_session(context: CompiledContext) -> bool:
    """Return whether a guard made a context: its version is a digest."""
    version = context.pack_version
    return version is not None and _OF_A_GUARD.fullmatch(version) is not None


def _parse_input(name: str, data: bytes, acts: KnownActs) -> StoredInput:
    value: Envelope
    try:
        if name == "ctx":
            value, spelled = acts.read(data)
        else:
            value = parse(_MODELS[name], data)
            spelled = canonical_bytes(value)
    except InvalidInput as error:
        return StoredInput(unreadable=f"input {name} cannot be read: {error}")
    if spelled != data:
        return StoredInput(unreadable=f"input {name} is not in its canonical form")
    return StoredInput(value, spelled=b"" if name == "compiled" else data)


def _problem(name: str, digest: str, whole: Whole, bodies: Mapping[str, bytes]) -> StoredInput:
    """Say why an input cannot be had: an altered part outweighs one that is missing."""
    if altered := _altered_parts(digest, bodies):
        parts = ", ".join(altered)
        return StoredInput(tampered=f"input {name} is not what was recorded: altered part {parts}")
    if whole.missing:
        parts = ", ".join(whole.missing)
        return StoredInput(incomplete=f"input {name} is missing a part: no {parts}")
    if whole.redacted:
        parts = ", ".join(whole.redacted)
        return StoredInput(
            redacted=f"input {name} is redacted, what is left of it cannot be proved: part {parts}"
        )
    why = f" ({whole.broken})" if whole.broken else ""
    return StoredInput(tampered=f"input {name} is not what was recorded: digest {digest}{why}")


def _altered_parts(digest: str, bodies: Mapping[str, bytes]) -> list[str]:
    """Return the parts of an input that are whole and have another digest: the innermost ones."""
    parts = pieces_of([bodies[digest]], lambda some: {d: bodies[d] for d in some if d in bodies})
    altered = []
    for part, body in parts.items():
        data = None if is_redacted(part, body) else whole_of(body, parts).data
        if data is not None and sha256(data) != part:
            altered.append(part)
    inner = {part for part in altered for each in references(parts[part]) if each in altered}
    return [part for part in altered if part not in inner]


@dataclass(frozen=True)
class Page:
    """The bodies and records that some records name.

    Attributes:
        bodies: stored bodies of inputs and parts, by digest.
        claims: the number of the record that made each claim; None if the log does not say.
        named: records by hash: those that began executions which others end.
        inputs: reads inputs.
    """

    bodies: Mapping[str, bytes] = field(default_factory=dict)
    claims: Mapping[str, int] | None = None
    named: Mapping[str, StoredDocument] = field(default_factory=dict)
    inputs: InputReader = field(default_factory=InputReader)


class Bodies(dict[str, bytes]):
    """Stored bodies by digest, fetched from a log."""

    def __init__(self, stored: Callable[[Iterable[str]], Mapping[str, bytes]]) -> None:
        """Take what returns the bodies stored under digests, and leaves out what is not stored."""
        super().__init__()
        self._stored = stored
        self._held = 0
        self._first: int | None = None  # bytes of the first page since all were forgotten

    def fetch(self, digests: Iterable[str], most: int = _MOST_BYTES) -> bool:
        """Fetch bodies with all their parts. Return False once more than `most` bytes are held."""
        new = [digest for digest in dict.fromkeys(digests) if digest not in self]
        while new:
            below: list[bytes] = []
            for at in range(0, len(new), _AT_ONCE):
                found = self._stored(new[at : at + _AT_ONCE])
                self.update(found)
                self._held += sum(map(len, found.values()))
                if self._held > most:
                    return False
                below += found.values()
            named = dict.fromkeys(chain.from_iterable(map(references, below)))
            # What is not stored is asked for once: its digest is nowhere among what is found.
            new = [digest for digest in named if digest not in self]
        return True

    @contextmanager
    def fetched_by(self, stored: Callable[[Iterable[str]], Mapping[str, bytes]]) -> Iterator[None]:
        """Fetch by another function for a while: one that keeps its transaction."""
        before, self._stored = self._stored, stored
        try:
            yield
        finally:
            self._stored = before

    def make_room(self) -> None:
        """Forget all bodies if there are many: the next records often name the same."""
        if self._first is None and self._held:
            self._first = self._held
        if self._held > min((self._first or 0) + _MORE_BYTES, _MOST_BYTES // 2):
            self.forget()

    def forget(self) -> None:
        """Forget all bodies."""
        self.clear()
        self._held, self._first = 0, None
