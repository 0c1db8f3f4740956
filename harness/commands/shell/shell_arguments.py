"""The parser of `critic shell`."""

from typing import Final

from harness.commands.arguments import Commands, add, add_command

_EXITS: Final = "Exit status: 0 understood; 1 not understood; 2 some input is invalid."


def add_shell(commands: Commands) -> None:
    """Add `critic shell explain`."""
    shell = add_command(commands, "shell", _EXITS)
    actions = shell.add_subparsers(dest="action", metavar="ACTION", required=True)
    explain = add(actions, "explain", "print what a command line does, step by step", _EXITS)
    explain.add_argument(
        "words",
        metavar="COMMAND",
        nargs="+",
        help="the command line as one argument, or its words; write -- before it. It is not run",
    )
    explain.add_argument(
        "--policy", metavar="FILE", help="judge by this policy (default: that of Claude Code)"
    )
    explain.add_argument(
        "--request", metavar="TEXT", help="what the user asked for (default: nothing)"
    )
    explain.add_argument(
        "--cwd", metavar="DIR", default=".", help="the folder it starts in (default: this one)"
    )
    explain.add_argument(
        "--shell",
        choices=("bash", "dash", "zsh"),
        help="the shell that would run it; without it, only what all three read alike",
    )
    explain.add_argument("--format", choices=("text", "json"), default="text")
