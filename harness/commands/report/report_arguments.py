"""The parser of `critic report`. Nothing heavy is imported, for `critic --help`."""

from harness.commands.arguments import Commands, add_command, add_known_head, positive_number

_EXITS = (
    "Exit status: 0 the records that are shown are sound; 1 calls ran although they were refused, "
    "records are missing, hashes or chain do not hold, or the tables were changed: the page is "
    "written all the same, and says it; 2 the log cannot be read, or the page not written."
)


def add_report(commands: Commands) -> None:
    """Add the command."""
    report = add_command(commands, "report", _EXITS)
    report.add_argument("log", metavar="LOG")
    report.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="the page; replaced if it exists"
    )
    report.add_argument(
        "--last",
        type=positive_number,
        default=10_000,
        metavar="N",
        help="show the records with the last N numbers (default: %(default)s)",
    )
    add_known_head(report)
