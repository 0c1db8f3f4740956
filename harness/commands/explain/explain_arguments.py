"""The parser of `critic explain`."""

from harness.commands.arguments import Commands, add_command


def add_explain(commands: Commands) -> None:
    """Add `critic explain`."""
    explain = add_command(commands, "explain", "Exit status: 0 printed.")
    explain.add_argument(
        "topic",
        choices=("tiers", "guesses"),
        help="tiers: what each approval_mode means; guesses: the words that `init` guesses by",
    )
