"""Read a decision log for the feedback that follows from it."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from evals.joined_json import join_object
from evals.plan import Proposal
from harness.loops.feedback import FeedbackEntry, derive_feedback
from harness.record import INPUT_NAMES, CriticErrorRecord, LogRecord, NoTurnRecord
from harness.wire import InvalidInput, parse


class FeedbackLog(Protocol):
    """The records of a log, with the inputs that they name."""

    def entries(self, start: int = 1) -> Iterator[LogRecord]:
        """Yield the records from this number on, in their order."""
        ...

    def inputs(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Return the inputs of those digests; leave out what is not stored."""
        ...


def read_feedback(log: FeedbackLog, start: int = 1) -> tuple[FeedbackEntry, ...]:
    """Return the feedback of the records of a log, from a number on.

    Raises:
        harness.log.LogError: the log cannot be read.
    """
    return derive_feedback((record, _proposal(log, record)) for record in log.entries(start))


def _proposal(log: FeedbackLog, record: LogRecord) -> Proposal | None:
    """Return the inputs of a record, or None where a part is missing or redacted."""
    if isinstance(record, CriticErrorRecord | NoTurnRecord):
        return None
    digests = {name: getattr(record.inputs, name) for name in INPUT_NAMES}
    bodies = log.inputs(digests.values())
    if not bodies.keys() >= {*digests.values()}:
        return None
    data = join_object({name: bodies[digest] for name, digest in digests.items()})
    try:
        return parse(Proposal, data, max_bytes=len(data))
    except InvalidInput:
        return None
