"""The answer of replay for a record: one of six statuses, with the reasons."""

from typing import Annotated, Literal

from evals.envelope import ARRAY, OPTIONAL, Envelope, Identifier
from evals.json_value import PresentJson
from harness.canonical import canonical_json
from harness.errors import escape_text

ReplayStatus = Literal["same", "drift", "tampered", "incomplete", "redacted", "open"]
"""The answers of replay; `ReplayResult` says what each means."""

RecordKind = Literal[
    "begun",
    "settled",
    "critic_error",
    "closed",
    "reopened",
    "handed_over",
    "taken_over",
    "redacted",
]
"""The kinds of records that are not decisions."""


class Difference(Envelope):
    """One place where the recorded report and the one derived now differ.

    `path` is a JSON pointer into the report, or `/attempts/<index>/verdict/...` for the verdict
    on an earlier attempt. A side that has nothing there is absent.
    """

    path: str
    recorded: PresentJson = None
    derived: PresentJson = None

    def line(self) -> str:
        """Return the difference as one line, safe to print."""
        recorded, derived = _show_value(self.recorded), _show_value(self.derived)
        return f"{escape_text(self.path) or 'report'}: recorded {recorded}, derived {derived}"


class ReplayResult(Envelope):
    """The answer for one record, or for the records that are missing from `seq` on.

    same: the inputs, hashes and link are right, and the report and the verdicts on the attempts
        derived now are the recorded ones, byte for byte.
    drift: it was written under another ruleset, or cannot be derived here; `differences` may be
        empty.
    tampered: what is stored is not what was recorded, or its report does not follow from it.
    incomplete: something that is needed is missing.
    redacted: something that is needed was taken out of the log, and nothing is derived from it.
    open: an execution began and no record ends it. What it names may have run.

    (Without `judge` nothing is derived, and only bytes, hashes, inputs and links count.)

    The status is the worst of tampered, incomplete, redacted, drift and open; `reasons` holds all,
    worst first. Notes are worth a look and change nothing. True in an `if` only if the status is
    `same`. `kind` is absent for a decision.
    """

    seq: int
    status: ReplayStatus
    reasons: Annotated[tuple[str, ...], ARRAY] = ()
    notes: Annotated[tuple[str, ...], ARRAY] = ()
    differences: Annotated[tuple[Difference, ...], ARRAY] = ()
    kind: Annotated[RecordKind | None, OPTIONAL] = None
    trace_id: Annotated[Identifier | None, OPTIONAL] = None
    decision_key: Annotated[Identifier | None, OPTIONAL] = None

    def __bool__(self) -> bool:
        return self.status == "same"

    def text(self) -> str:
        """Return one line for a person, and under it the reasons, differences and notes."""
        lines = [f"record {self.seq}: {self.status}"]
        lines += [f"  {reason}" for reason in self.reasons]
        lines += [f"  {difference.line()}" for difference in self.differences]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join(lines)


def _show_value(value: object) -> str:
    if value is None:
        return "nothing"
    return escape_text(value if isinstance(value, str) else canonical_json(value).decode())
