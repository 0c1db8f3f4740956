"""The parser of `critic demo`."""

from harness.commands.arguments import Commands, add_command


def add_demo(commands: Commands) -> None:
    """Add `critic demo`."""
    demo = add_command(commands, "demo")
    demo.add_argument(
        "--shop",
        metavar="FOLDER",
        help="write the shop agent of the guide into a folder instead: its code, recorded tasks "
        "and attacks, and a scripted model",
    )
    demo.add_argument(
        "--log", default="audit.db", help="decision log to write (default: %(default)s)"
    )
