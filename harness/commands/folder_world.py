"""The option `--cwd` of commands that guard sessions: the folder in which shell commands begin."""

import argparse
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


def find_world(folder: str | None) -> ShellWorld | None:
    """Return the disk around a folder, if one is named.

    Raises:
        UsageError: there is no such folder.
    """
    if folder is None:
        return None
    from harness.guard import DiskWorld  # noqa: PLC0415 - for shell commands only

    if not Path(folder).is_dir():
        raise UsageError(f"--cwd {escape_name(folder)}: there is no such folder")
    return DiskWorld.around(Path(folder).absolute())
