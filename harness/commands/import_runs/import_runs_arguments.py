"""The parser of `critic import`."""

from typing import Final

from harness.commands.arguments import Commands, add_command, identifier_argument, positive_number

_FORMATS: Final = (
    "openai",
    "responses",
    "anthropic",
    "claude-code",
    "langchain",
    "pydantic-ai",
    "otlp",
    "mcp",
)
_EXITS: Final = (
    "Exit status: 0 written, and what is left out is on standard error; 2 the file is not of the "
    "format, and nothing is written."
)


def add_import(commands: Commands) -> None:
    """Add `critic import`."""
    imported = add_command(commands, "import", _EXITS)
    imported.add_argument("file", metavar="FILE", help="the record; - is standard input")
    imported.add_argument(
        "--from",
        dest="source",
        required=True,
        choices=_FORMATS,
        metavar="FORMAT",
        help=f"its format: {', '.join(_FORMATS)}",
    )
    imported.add_argument(
        "--session", metavar="ID", help="the id of the session (default: from the record)"
    )
    imported.add_argument(
        "--request", metavar="TEXT", help="the words of the user, where the record has none"
    )
    imported.add_argument(
        "--user", type=identifier_argument, metavar="ID", help="the user of the run, for the log"
    )
    imported.add_argument(
        "--tenant",
        type=identifier_argument,
        metavar="ID",
        help="the tenant of the user, for the log",
    )
    imported.add_argument(
        "--max-bytes",
        type=positive_number,
        metavar="N",
        help="refuse files of more bytes without reading them (default: 33554432, 32 MiB)",
    )
