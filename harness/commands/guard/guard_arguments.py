"""The parser of `critic guard`."""

from harness.commands.arguments import Commands, add_ci_format, add_command, positive_number
from harness.commands.folder_world import add_folder


def add_guard(commands: Commands) -> None:
    """Add `critic guard`."""
    exits = (
        "Exit status: 0 all ok; 1 something was refused, or a closed session failed policy or "
        "safety (in shadow too); 2 an event or the command is invalid."
    )
    guard = add_command(commands, "guard", exits)
    guard.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="session events, one JSON object a line; - is standard input (the default)",
    )
    guard.add_argument("--policy", required=True, metavar="FILE", help="the policy of the sessions")
    guard.add_argument("--log", help="decision log to append each ruling to, made if missing")
    add_folder(guard)
    guard.add_argument(
        "--explain",
        action="store_true",
        help="print the turns as a person reads them: calls, tiers, origins of values, rulings",
    )
    add_ci_format(guard, default=None, said="json; text is what --explain prints")
    guard.add_argument(
        "--max-bytes",
        type=positive_number,
        metavar="N",
        help="refuse lines of more bytes without reading them (default: 33554432, 32 MiB)",
    )
