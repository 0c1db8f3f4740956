"""Check a decision log as a whole: its tables, and inputs that no record names. Pure."""

from collections.abc import Iterator
from typing import Annotated, Final, Protocol

from evals.envelope import ARRAY, Envelope
from evals.escaping import escape_name
from harness.replay.engine import RecordedLog
from harness.replay.integrity import read_text_of

_NAMED: Final = 3  # digests that a note names


class StoredLog(RecordedLog, Protocol):
    """A log with its tables, and the digests of all stored inputs."""

    @property
    def problems(self) -> tuple[str, ...]:
        """Return how the tables differ from those that this version makes."""
        ...

    def digests(self) -> frozenset[str]:
        """Return the digests under which inputs are stored."""
        ...


class LogCheck(Envelope):
    """What is wrong with a log beside its records.

    `damage` says how the tables differ from those that this version makes: nothing is appended to
    such a log. `notes` are worth a look and change nothing. True in an `if` only without damage.
    """

    damage: Annotated[tuple[str, ...], ARRAY] = ()
    notes: Annotated[tuple[str, ...], ARRAY] = ()

    def __bool__(self) -> bool:
        return not self.damage

    def text(self) -> str:
        """Return a line for each problem and each note, or "" if there are none."""
        lines = [f"the log is damaged: {problem}" for problem in self.damage]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


def check_log(log: StoredLog) -> LogCheck:
    """Check the tables of a log, and look for inputs that no record names.

    Raises:
        harness.log.errors.LogError: the log cannot be read.
    """
    return LogCheck(damage=log.problems, notes=tuple(_unnamed_inputs(log)))


def _unnamed_inputs(log: StoredLog) -> Iterator[str]:
    # Inputs first: a decision appended meanwhile brings its record with its inputs.
    unnamed = set(log.digests())
    for raw in log.raw():
        unnamed.difference_update(read_text_of(raw).digests.values())
    if not unnamed:
        return
    shown = ", ".join(escape_name(digest) for digest in sorted(unnamed)[:_NAMED])
    more = f" and {len(unnamed) - _NAMED} more" if len(unnamed) > _NAMED else ""
    count = "1 input" if len(unnamed) == 1 else f"{len(unnamed)} inputs"
    yield f"{count} that no record names: {shown}{more}"
