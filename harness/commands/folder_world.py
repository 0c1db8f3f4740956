"""The option `--cwd` of commands that guard sessions: the folder in which shell commands begin."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from evals.escaping import escape_name
from harness.errors import UsageError
from harness.runtime.ports import ShellWorld


def add_folder(parser: argparse.ArgumentParser) -> None:
    """Add the option `--cwd`."""
    parser.add_argument(
        "--cwd",
        metavar="DIR",
        help="the folder that shell commands run in (default: commands are not understood)",
    )


def find_world(
    folder: str | None, files: Iterable[str | Path | None] = (), log: str | None = None
) -> ShellWorld | None:
    """Return the disk around a folder, if one is named.

    Args:
        files: what the guard reads and writes, which no command may write.
        log: where its decision log is.

    Raises:
        UsageError: there is no such folder.
    """
    if folder is None:
        return None
    # For shell commands only.
    from harness.guard import DiskWorld  # noqa: PLC0415
    from harness.integrations.hooks.own_places import places_of_guard  # noqa: PLC0415

    if not Path(folder).is_dir():
        raise UsageError(f"--cwd {escape_name(folder)}: there is no such folder")
    own = places_of_guard(Path.cwd(), [Path(one) for one in files if one is not None], log)
    return DiskWorld.around(Path(folder).absolute(), guarded=own)
