"""The parser of `critic doctor`."""

from harness.commands.arguments import Commands, add_command


def add_doctor(commands: Commands) -> None:
    """Add `critic doctor`."""
    add_command(commands, "doctor")
