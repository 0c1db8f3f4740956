"""The shop agent of the guide, as files that a reader runs and changes."""

import sys
from pathlib import Path
from typing import Final

from harness.commands.exit_status import EXIT_OK
from harness.commands.judge.pipeline import example_folder
from harness.errors import UsageError, escape_text

_FILES: Final = ("shop.py", "script.py", "tasks.jsonl", "attacks.jsonl")


def write_shop(folder: Path) -> int:
    """Write the files into a folder, which is created if needed. Return 0.

    Raises:
        UsageError: one of them exists already, or cannot be written.
    """
    source = example_folder("_shop", "examples/shop_agent")
    here = [folder / name for name in _FILES if (folder / name).exists()]
    if here:
        raise UsageError(f"{escape_text(str(here[0]))} is there already: name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        (folder / name).write_bytes((source / name).read_bytes())
        sys.stdout.write(f"{escape_text(str(folder / name))}\n")
    return EXIT_OK
