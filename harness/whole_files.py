"""Write a file as a whole, or not at all."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from harness.errors import UsageError, escape_text


def write_whole(path: Path, pieces: Iterable[str]) -> None:
    """Write text under a name. What had the name stays until all of the text is on disk.

    Raises:
        UsageError: the name is that of something else than a file.
        OSError: it cannot be written. Nothing is left behind.
    """
    if path.exists() and not path.is_file():
        raise UsageError(f"{escape_text(str(path))} is not a file: name another one")
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
