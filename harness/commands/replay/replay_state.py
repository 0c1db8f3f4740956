"""The progress of a replay: a small file from which an interrupted replay continues."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Final

from evals.envelope import ARRAY, OPTIONAL, Count, Envelope
from harness.errors import UsageError, escape_text
from harness.record.integrity import Link
from harness.replay.result import ReplayStatus
from harness.whole_files import replace_file
from harness.wire import InvalidInput, parse

_LARGEST: Final = 64 * 1024  # bytes of a state

Digests = Annotated[tuple[str, ...], ARRAY]


class ReplayState(Envelope):
    """The last replayed record, and the number of answers of each status.

    `hashes` are those that the next record may name. `head` is the one that was given, as written;
    `since` is SEQ:HASH of the record that was.
    """

    seq: Count
    hashes: Digests
    counts: dict[ReplayStatus, Count]
    head: Annotated[str | None, OPTIONAL] = None
    since: Annotated[str | None, OPTIONAL] = None

    @classmethod
    def of(
        cls, link: Link, counts: Mapping[str, int], head: str | None, since: str | None
    ) -> "ReplayState":
        """Return the state of a replay that has come to a link."""
        hashes = tuple(sorted(link.hashes))
        kept: Any = dict(Counter(counts))
        return cls(seq=link.seq, hashes=hashes, counts=kept, head=head, since=since)

    def follows(self, link: Link) -> bool:
        """Return whether the log still has the same record at this number."""
        return self.seq == link.seq and frozenset(self.hashes) == link.hashes


def kept_state(path: Path, head: str | None, since: str | None) -> ReplayState | None:
    """Return the state in a file, or None if there is no such file.

    Raises:
        UsageError: the file is not a state, or one of a replay with another `--head` or `--since`.
    """
    if not path.exists():
        return None
    try:
        state = parse(ReplayState, _read_bytes(path))
    except InvalidInput as error:
        shown = escape_text(str(path))
        raise UsageError(
            f"--resume {shown}: not the state of a replay ({error}): name another file"
        ) from None
    if state.head != head:
        raise _unusable(path, "it is of a replay with another --head")
    if state.since != since:
        raise _unusable(path, "it is of a replay with another --since")
    return state


def keep_state(path: Path, state: ReplayState) -> None:
    """Keep the state: the file holds the one before or this one, never a part.

    Whoever writes to it can change what was counted, so that it is for its owner alone.
    """
    replace_file(path, state.model_dump_json().encode(), private=True, synced=False)


def _read_bytes(path: Path) -> bytes:
    if not path.is_file():  # a device may never end
        raise InvalidInput("", "not a file")
    with path.open("rb") as file:
        return file.read(_LARGEST)


def check_state(
    path: Path, state: ReplayState, link: Link, numbers: Iterable[int], first: int
) -> None:
    """Check that a log is the one that a state was kept of, and that it counts all answers.

    Args:
        path: the file of the state.
        state: what it holds.
        link: what the log holds there.
        numbers: those of the records of the log.
        first: the number after which the replay began.

    Raises:
        UsageError: its records are others, or are gone, or were not counted.
    """
    if not state.follows(link):
        raise _unusable(path, f"the log does not hold record {state.seq} as it was replayed")
    counted, given = sum(state.counts.values()), _count_answers(numbers, first, state.seq)
    if counted != given:
        raise _unusable(path, f"it counts {counted} answers, where a replay gives {given}")


def _count_answers(numbers: Iterable[int], first: int, last: int) -> int:
    """Return how many answers a replay gives: one for each record, and one for each gap."""
    answers, before = 0, first
    for number in takewhile(lambda one: one <= last, numbers):
        if first == 0 or number > first:  # from the start on, also what has no number of a record
            answers += 1 + (number > before + 1)
            before = max(before, number)
    return answers


def _unusable(path: Path, why: str) -> UsageError:
    return UsageError(f"--resume {escape_text(str(path))}: {why}: remove the file to start again")
