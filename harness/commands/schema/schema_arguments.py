"""The parser of `critic schema`."""

from harness.commands.arguments import Commands, add_command


def add_schema(commands: Commands) -> None:
    """Add `critic schema`."""
    schema = add_command(commands, "schema")
    schema.add_argument(
        "name", nargs="?", metavar="NAME", help="one envelope, such as Plan (default: all)"
    )
