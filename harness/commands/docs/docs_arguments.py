"""The parser of `critic docs`."""

from harness.commands.arguments import Commands, add_command


def add_docs(commands: Commands) -> None:
    """Add `critic docs`."""
    docs = add_command(commands, "docs", "Exit status: 0 printed; 2 there is no such page.")
    docs.add_argument(
        "page", nargs="?", metavar="PAGE", help="the name of a page; without it, all are listed"
    )
