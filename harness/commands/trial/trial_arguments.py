"""The parser of `critic try`. Nothing heavy is imported, for `critic --help`."""

from harness.commands.arguments import Commands, add_command

_EXITS = (
    "Exit status: 0 all tasks are allowed, or asked about by the tier of a tool alone; 1 some are "
    "not; 2 the policy or a file of sessions is invalid."
)


def add_try(commands: Commands) -> None:
    """Add `critic try`."""
    trial = add_command(commands, "try", _EXITS)
    trial.add_argument("policy", metavar="POLICY", help="it is not changed")
    trial.add_argument(
        "tasks",
        nargs="+",
        metavar="TASKS",
        help="session events of tasks that should be done, one JSON object a line",
    )
    trial.add_argument(
        "--attacks",
        action="append",
        default=[],
        metavar="FILE",
        help="session events of attacks: the last calls of a session are the attack",
    )
    trial.add_argument("--json", action="store_true", help="print one JSON object")
    trial.add_argument(
        "--patch", metavar="FILE", help="write the edits as a unified diff of the policy"
    )
