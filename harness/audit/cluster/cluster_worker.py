"""The work of a cluster's worker: it replays packed records, if it has the code of its client."""

import pickle
import threading
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final, NamedTuple

from evals.escaping import escape_name
from harness.record import Head
from harness.replay.log_page import InputReader
from harness.replay.parcels import Parcel, replay_parcel
from harness.replay.stretches import AnsweredStretch
from harness.rules import code_digest

_DECIDING: Final = ("plan-critic", "pydantic", "pydantic-core", "jiter", "jsonschema-rs", "orjson")
"""What answers, and their wording, depend on."""


class InstalledCode(NamedTuple):
    """The code that answers depend on: its digest, and the versions of distributions."""

    code: str | None
    versions: tuple[tuple[str, str], ...]

    def difference(self, other: "InstalledCode") -> str:
        """Say the first difference between two installations, or why they cannot be compared."""
        if self.code is None or other.code is None:
            return "its code cannot be compared: it is installed without its sources"
        for (name, there), (_, here) in zip(other.versions, self.versions, strict=False):
            if there != here:
                return f"it has {name} {escape_name(there)}, here is {here}"
        return f"its code has digest {escape_name(other.code[:12])}, here is {self.code[:12]}"


@cache
def installed_code() -> InstalledCode:
    """Return what is installed here. It is read once per process."""
    return InstalledCode(
        code_digest(), tuple((name, _distribution_version(name)) for name in _DECIDING)
    )


def _distribution_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def pack_parcel(parcel: Parcel, expected: Head | None) -> bytes:
    """Return a parcel and the head that is expected as bytes, for `replay_packed`."""
    return pickle.dumps((parcel, expected), protocol=5)


def replay_packed(
    data: bytes, client: InstalledCode, replay_id: str
) -> AnsweredStretch | InstalledCode:
    """Replay a packed parcel. Where other code is installed, return that, and replay nothing.

    Args:
        data: what `pack_parcel` returned.
        client: what is installed where the answers are awaited.
        replay_id: names the replay; inputs are parsed once for all its parcels.
    """
    here = installed_code()
    if here != client or here.code is None:
        return here
    parcel, expected = pickle.loads(data)  # noqa: S301 - a worker is told what to run: see the docs
    return replay_parcel(parcel, expected, _inputs_of(replay_id))


_thread: Final = threading.local()


def _inputs_of(replay_id: str) -> InputReader:
    """Return what this thread has read of a replay; that of the one before is forgotten."""
    if getattr(_thread, "replay_id", None) != replay_id:
        _thread.replay_id, _thread.inputs = replay_id, InputReader()
    reader: InputReader = _thread.inputs
    return reader
