"""The parser of `critic shadow`. Nothing heavy is imported, for `critic --help`."""

from harness.commands.arguments import Commands, add_command

_EXITS = (
    "Exit status: 0 counted; 1 records are missing, or the tables or the index were changed; 2 the "
    "log cannot be read."
)


def add_shadow(commands: Commands) -> None:
    """Add `critic shadow`."""
    shadow = add_command(commands, "shadow", _EXITS)
    shadow.add_argument("log", metavar="LOG")
    shadow.add_argument(
        "--policy",
        metavar="FILE",
        help="judge the sessions of the log by this policy, from what their calls returned, and "
        "propose edits of it; without it, edits of the policy that the records show are proposed",
    )
    shadow.add_argument("--format", choices=("text", "json"), default="text")
