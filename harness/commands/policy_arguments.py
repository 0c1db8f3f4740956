"""The parsers of `critic policy` and `critic init`."""

from typing import Final

from harness.commands.arguments import Commands, add

_CHECK_EXITS: Final = (
    "Exit status: 0 nothing to say; 1 the lint has findings; 2 a file is not a policy."
)


def add_policy(commands: Commands) -> None:
    """Add `critic policy check`."""
    policy = add(commands, "policy", "check a policy file", _CHECK_EXITS)
    actions = policy.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = add(actions, "check", "explain every mistake, and what is ineffective", _CHECK_EXITS)
    check.add_argument(
        "files", nargs="+", metavar="FILE", help="a policy as TOML or JSON; - is standard input"
    )
    for action in (check,):
        action.add_argument("--format", choices=("text", "json"), default="text")
