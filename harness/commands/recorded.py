"""Records and their inputs as JSON, for display and export.

Rule 1: a shown record matches its hash in the log. One that does not is a line, and is not shown.
Rule 2: a redacted record is shown as far as possible, with the names of its redacted parts.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from harness.canonical import canonical_json
from harness.record import read_record
from harness.record.closed_words import REDACTED
from harness.record.integrity import StoredDocument
from harness.record.parts import is_redacted, whole_of
from harness.replay.index_check import RowRead
from harness.replay.log_page import Page
from harness.wire import InvalidInput, parse_finite_json


class RecordedWire(NamedTuple):
    """A record as JSON, as it was recorded.

    Attributes:
        wire: the record; empty if there is a problem.
        bodies: its inputs by name, or the reason why one is unavailable.
        gone: the names of the inputs that are redacted or missing.
        taken: the names of the members that are redacted.
        problem: how the record or an input was altered; one line, or empty.
    """

    wire: Mapping[str, Any]
    bodies: Mapping[str, Any]
    gone: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    problem: str = ""


class WireReader:
    """Reads records as JSON. An input shared with the record before is parsed once."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[str, Any]] = {}

    def read(self, one: RowRead) -> RecordedWire:
        """Return a record with its inputs, or how it was altered."""
        seq, document, page = one.document.raw.seq, one.document, one.page
        if one.problem:
            return RecordedWire({}, {}, problem=one.problem)
        wire = record_wire(document)
        if isinstance(wire, str):
            return RecordedWire({}, {}, problem=f"record {seq} cannot be read: {wire}")
        bodies, gone = dict[str, Any](), []
        for name, digest in document.digests.items():
            read = page.inputs.read(name, digest, page.bodies, parsed=False)
            if read.tampered:
                return RecordedWire({}, {}, problem=f"record {seq}: {read.tampered}")
            if read.incomplete or read.redacted:
                gone.append(name)
            if not read.incomplete:
                bodies[name] = self._show_input(name, digest, page)
        return RecordedWire(wire, bodies, tuple(gone), tuple(document.gone))

    def _show_input(self, name: str, digest: str, page: Page) -> Any:
        before, shown = self._last.get(name, ("", None))
        if before != digest:
            shown = _input_shown(digest, page)
            self._last[name] = digest, shown
        return shown


def _input_shown(digest: str, page: Page) -> Any:
    """Return an input as JSON, or the reason why it is unavailable."""
    body = page.bodies[digest]
    whole = whole_of(body, page.bodies)
    if is_redacted(digest, body) or whole.redacted:
        return f"redacted: part {', '.join(whole.redacted or (digest,))}"
    if whole.data is None:
        return f"cannot be put together: {whole.broken}"
    try:
        return parse_finite_json(whole.data)
    except InvalidInput as error:
        return f"{len(whole.data)} bytes that cannot be read: {error}"


def record_wire(document: StoredDocument) -> dict[str, Any] | str:
    """Return a record with a checked hash as JSON, or the error."""
    if document.missing:
        return f"part {document.missing[0]} is missing"
    value = rest = dict(document.value)
    if document.redacted:
        value = {name: one for name, one in value.items() if one is not None}
        # The rest of it is a record, once what is redacted is left out, or something stands in.
        rest = {name: one for name, one in value.items() if name not in {"attempts", "run"}}
        rest |= {"asked": REDACTED} if "asked" in document.value else {}
    try:
        read_record(canonical_json(rest))
    except (InvalidInput, ValueError) as error:
        if isinstance(error, InvalidInput):
            return str(error)
        return "it has no canonical form"
    return {**value, REDACTED: list(document.redacted)} if document.redacted else value
