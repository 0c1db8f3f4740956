"""The four inputs of decisions, each parsed once while it is near."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from evals.context import RunContext
from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.plan import Plan
from evals.spec import DecisionSpec
from harness.record import INPUT_NAMES, InputDigests
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput, parse

_MODELS: Final[Mapping[str, type[Envelope]]] = {
    "ctx": RunContext,
    "compiled": CompiledContext,
    "spec": DecisionSpec,
    "plan": Plan,
}
_MOST: Final = 512
"""How many parsed inputs are kept."""


class StoredInputs(Protocol):
    """The part of a log that gives inputs."""

    def inputs(self, digests: Iterable[str]) -> Mapping[str, bytes]:
        """Return the bodies stored under these digests; leave out what is not stored."""
        ...


class ShownInputs(NamedTuple):
    """The inputs of one record: None for what cannot be had; `faults` says why."""

    ctx: RunContext | None
    compiled: CompiledContext | None
    spec: DecisionSpec | None
    plan: Plan | None
    faults: tuple[str, ...]


class InputsOfRecords:
    """Reads the inputs that records name."""

    def __init__(self, log: StoredInputs) -> None:
        self._log = log
        self._parsed: dict[tuple[str, str], Any] = {}

    def fetch(self, named: Iterable[InputDigests]) -> None:
        """Read what the records of a page name, all at once."""
        wanted = [(name, getattr(one, name)) for one in named for name in INPUT_NAMES]
        new = [key for key in dict.fromkeys(wanted) if key not in self._parsed]
        if len(self._parsed) + len(new) > _MOST:
            self._parsed.clear()
            new = list(dict.fromkeys(wanted))
        bodies = self._log.inputs(digest for _, digest in new)
        for name, digest in new:
            self._parsed[name, digest] = _parse_input(name, bodies.get(digest))

    def inputs_of(self, named: InputDigests) -> ShownInputs:
        """Return the inputs of a record whose page was fetched."""
        found = {name: self._parsed[name, getattr(named, name)] for name in INPUT_NAMES}
        faults = [f"{name} {fault}" for name, fault in found.items() if isinstance(fault, str)]
        values = {name: None if isinstance(one, str) else one for name, one in found.items()}
        return ShownInputs(**values, faults=tuple(faults))


def _parse_input(name: str, body: bytes | None) -> Envelope | str:
    """Return the input, or why there is none."""
    if body is None:
        return "is missing"
    try:
        return parse(_MODELS[name], body, max_bytes=MAX_DOCUMENT_BYTES)
    except InvalidInput:
        return "is redacted or damaged" if b"\0" in body else "cannot be read"
