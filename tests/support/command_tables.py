"""A small table of programs, for tests of what reads commands."""

import tomllib
from typing import Final

from critic.command.command_table import CommandTable
from tests.support.paths import ROOT

SMALL_TABLE: Final = CommandTable.model_validate(
    tomllib.loads((ROOT / "tests" / "support" / "commands.toml").read_text("utf-8"))
)
