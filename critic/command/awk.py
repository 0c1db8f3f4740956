"""Read programs of awk and filters of jq: those that only read their input and print."""

import re
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk
from critic.command.operand_kinds import apply_arguments, apply_kind
from critic.command.program_options import parse_options
from critic.command.shell_syntax import NotUnderstood, Word

_AWK_REACHES_OUT: Final = re.compile(
    r"system|getline|[|>@]|ARGV|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|include|load|close|fflush"
)
# Longest match: neither is ever read as a redirection or a pipe.
_COMPARES: Final = re.compile(r">=|\|\|")
_JQ_REACHES_OUT: Final = re.compile(
    r"(?:(?<![\w.])|(?<=[\d.]\.))"  # after a dot it is a field, but for a number or two dots
    r"(env|ENV|input_filename|include|import|modulemeta|get_search_list)\b|\$__prog"
)


def read_awk(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what awk does: it reads its files.

    Raises:
        NotUnderstood: the program may reach more than its input, or is not known.
    """
    given = parse_options(entry, words, stops=True)
    program = given.operands[0].exact if given.operands else None
    if program is None or _AWK_REACHES_OUT.search(_without_comparisons(program)):
        raise NotUnderstood("an awk program that may read, write or run something")
    for word in given.operands[1:]:
        if not word.prefix or word.prefix.startswith("-"):
            raise NotUnderstood(f"an argument of awk: {word.shown}")
        apply_kind(walk, "read", word, deed)


def _without_comparisons(program: str) -> str:
    """Return a program without the signs that compare: only what a print came before writes."""
    signs = _COMPARES.sub("", program)
    before, _, after = signs.partition("print")
    return before.replace(">", "") + after if "print" in signs else signs.replace(">", "")


def read_jq(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what jq does: it reads its files.

    Raises:
        NotUnderstood: the filter may read more than its input, or is not known.
    """
    given = parse_options(entry, words)
    if not given.operands or given.operands[0].exact is None:
        raise NotUnderstood("a jq filter that is known only when it runs")
    if _JQ_REACHES_OUT.search(given.operands[0].exact):
        raise NotUnderstood("a jq filter that reads more than its input")
    apply_arguments(walk, entry, given, deed)
