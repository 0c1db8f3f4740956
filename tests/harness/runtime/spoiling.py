"""Spoil objects by all means that Python has."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from evals.envelope import Envelope


def parts(value: Any) -> Iterator[Any]:
    """Yield the value and everything that it holds, the innermost first."""
    if isinstance(value, Envelope):
        for item in list(value.__dict__.values()):
            yield from parts(item)
    elif isinstance(value, Mapping):
        for item in list(value.values()):
            yield from parts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from parts(item)
    yield value


def spoil(*values: Any) -> None:
    """Change everything that can be changed in these objects, by all means there are."""
    for value in values:
        for part in list(parts(value)):
            _spoil_part(part)


def _spoil_part(part: Any) -> None:
    if isinstance(part, dict):
        part |= dict.fromkeys([*part, "spoiled"], "spoiled")
    elif isinstance(part, list):
        part.append("spoiled")
    elif isinstance(part, Envelope):
        _spoil_envelope(part)


LIES = {
    "ok": True,
    "status": "completed",
    "safety_mode": "destructive",
    "caveats": (),
    "rationale": "spoiled",
    "violations": (),
    "trace_id": "spoiled",
    "run_id": "spoiled",
}


def _spoil_envelope(envelope: Envelope) -> None:
    for name in type(envelope).model_fields:
        with suppress(Exception):
            object.__setattr__(envelope, name, LIES.get(name))
    envelope.__dict__.clear()
