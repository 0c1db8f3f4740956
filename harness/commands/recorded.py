"""Records as JSON, for whoever shows or exports them: a redacted one goes as far as it goes."""

from collections.abc import Iterator
from typing import Any, Final

from harness.canonical import canonical_json
from harness.log.sql import SqlDecisionLog
from harness.record import RawRecord, read_record
from harness.replay.engine import Replayer
from harness.wire import InvalidInput

REDACTED: Final = "redacted"
"""The member with the digests of the parts that were taken out: null stands in their places."""

_STANDS_IN: Final = "redacted"


def record_wires(log: SqlDecisionLog, start: int = 1) -> Iterator[dict[str, Any]]:
    """Yield the records from number `start` on as JSON, unchecked: replay shows if they are right.

    Raises:
        harness.log.log_errors.LogDamaged: one cannot be read, and not because it is redacted.
    """
    for raw in log.raw(start):
        try:
            wire = read_record(raw.body).wire()
        except InvalidInput:
            wire = _redacted_wire(raw, log)
        yield wire


def _redacted_wire(raw: RawRecord, log: SqlDecisionLog) -> dict[str, Any]:
    (document,) = Replayer(log, None, judge=False).documents([raw])
    value = {name: one for name, one in document.value.items() if one is not None}
    # The rest of it is a record, once what is redacted is left out, or something stands in.
    rest = {name: one for name, one in value.items() if name != "run"}
    rest |= {"asked": _STANDS_IN} if "asked" in document.value else {}
    try:
        read = read_record(canonical_json(rest)) if document.redacted else None
    except (InvalidInput, ValueError):
        read = None
    if read is None or document.missing or document.error:
        return next(log.entries(raw.seq)).wire()  # raises what is wrong with it
    return {**value, REDACTED: list(document.redacted)}
