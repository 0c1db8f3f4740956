"""Pins: what the tools of MCP servers said of themselves when a person last looked.

A tool of the policy is pinned when it is seen for the first time. Later it has to say the same: a
change is a refusal until a person accepts it. Keep the file where no agent can write.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.canonical import canonical_json
from harness.errors import HarnessError, escape_text
from harness.locking import lock_file
from harness.whole_files import replace_file
from harness.wire import InvalidInput, parse_json

Json = dict[str, Any]
_Version = tuple[int, int, int]

PINNED: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""The members of a tool that a pin is of: all that a model is told."""


class PinsUnusable(HarnessError):
    """The file of pins cannot be believed, or there is no such change."""


class Pin(NamedTuple):
    """The description of one tool, and its digest."""

    tool: Json
    digest: str


class PinnedTools(NamedTuple):
    """The contents of the file, by the names that the policy has.

    Attributes:
        pinned: what was accepted.
        changed: what was seen since, and differs.
    """

    pinned: Mapping[str, Pin]
    changed: Mapping[str, Pin]


def pin_of(tool: Mapping[str, Any]) -> Pin:
    """Return the pin of an entry of `tools/list`. What is null is absent.

    Raises:
        PinsUnusable: it has no canonical form, such as a number that readers round.
    """
    kept = {name: _without_nulls(tool[name]) for name in PINNED if tool.get(name) is not None}
    try:
        data = canonical_json(kept)
    except Exception:
        raise PinsUnusable("its description has no canonical JSON form") from None
    return Pin(kept, hashlib.sha256(data).hexdigest())


def _without_nulls(part: Any) -> Any:
    """Return a member without the nulls at its top: one protocol spells what another leaves out."""
    if type(part) is not dict:
        return part
    return {name: value for name, value in part.items() if value is not None}


class PinFile:
    """The file of pins of one policy. Processes may share it."""

    def __init__(self, path: Path) -> None:
        """Keep pins in this file. It is made when the first tool is pinned."""
        self.path: Final = path
        self._known: tuple[_Version, PinnedTools] | None = None

    def read(self) -> PinnedTools:
        """Return the pins; none if the file is missing.

        Raises:
            PinsUnusable: it is not a file of pins.
            OSError: it cannot be read.
        """
        try:
            version = _file_version(self.path)
            if self._known is None or self._known[0] != version:
                self._known = version, _parse_pins(self.path.read_bytes())
            return self._known[1]
        except FileNotFoundError:
            return PinnedTools({}, {})
        except (InvalidInput, PinsUnusable) as error:
            raise PinsUnusable(f"{escape_text(str(self.path))}: {error}") from None

    def check(self, name: str, tool: Mapping[str, Any]) -> str | None:
        """Return why a tool may not be used as it is listed, or None. Pin it if it is new.

        Raises:
            PinsUnusable: the file cannot be believed.
            OSError: it cannot be read or written.
        """
        pin = pin_of(tool)
        if self._knows(self.read(), name, pin):
            return None
        with self._hold_lock():
            pins = self.read()
            if self._knows(pins, name, pin):
                return None
            if name not in pins.pinned:
                self._write(PinnedTools({**pins.pinned, name: pin}, pins.changed))
                return None
            if pins.changed.get(name) != pin:
                self._write(PinnedTools(pins.pinned, {**pins.changed, name: pin}))
        return "its description is not the one that was accepted"

    def _knows(self, pins: PinnedTools, name: str, pin: Pin) -> bool:
        known = pins.pinned.get(name)
        return known is not None and known.digest == pin.digest

    def accept(self, name: str, digest: str = "") -> Pin:
        """Pin what a tool says now, if its digest begins so.

        Raises:
            PinsUnusable: it did not change, or changed once more.
        """
        with self._hold_lock():
            pins = self.read()
            pin = pins.changed.get(name)
            if pin is None:
                raise PinsUnusable(f"{escape_text(name)} has no change that waits to be accepted")
            if not pin.digest.startswith(digest):
                raise PinsUnusable(
                    f"{escape_text(name)} says something else by now: see `critic mcp pins list`"
                )
            changed = {other: seen for other, seen in pins.changed.items() if other != name}
            self._write(PinnedTools({**pins.pinned, name: pin}, changed))
        return pin

    def replace(self, tools: Mapping[str, Pin]) -> None:
        """Pin these tools as a person has them in front of them, and forget their changes."""
        with self._hold_lock():
            pins = self.read()
            changed = {name: pin for name, pin in pins.changed.items() if name not in tools}
            self._write(PinnedTools({**pins.pinned, **tools}, changed))

    @contextmanager
    def _hold_lock(self) -> Iterator[None]:
        """Hold the lock of the file. The system releases it however a process ends."""
        lock = self.path.with_name(f".{self.path.name}.lock")
        with lock_file(lock):
            yield

    def _write(self, pins: PinnedTools) -> None:
        parts = {"pinned": pins.pinned, "changed": pins.changed}
        wire = {
            part: {name: pin.tool for name, pin in sorted(tools.items())}
            for part, tools in parts.items()
        }
        data = json.dumps(wire, indent=2).encode() + b"\n"
        replace_file(self.path.resolve(), data, private=True)
        self._known = _file_version(self.path), pins


def _file_version(path: Path) -> _Version:
    """Return what tells one content of a file from another: each is a file of its own."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _parse_pins(data: bytes) -> PinnedTools:
    wire = parse_json(data)
    if type(wire) is not dict or wire.keys() != {"pinned", "changed"}:
        raise PinsUnusable("not a file of pins: it has the members pinned and changed")
    return PinnedTools(_read_tools(wire["pinned"]), _read_tools(wire["changed"]))


def _read_tools(part: Any) -> dict[str, Pin]:
    if type(part) is not dict or not all(type(tool) is dict for tool in part.values()):
        raise PinsUnusable("not a file of pins: a tool is an object, by its name")
    return {name: pin_of(tool) for name, tool in part.items()}
