"""Which names of files a search or a filter of names asks for.

Rule 1: what is looked for may be a regular expression or a pattern, and counts as both.
Rule 2: a filter of all files asks for those that it lets through by name: it is no general list
        then. What it drops asks for nothing. Of what git lists, it asks for names that it says.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk, NamedPath
from critic.command.name_expressions import patterns_of_regex
from critic.command.program_options import GivenArguments, parse_options

_ENDINGS: Final = frozenset(("-e", "--extension"))
_INVERTS: Final = frozenset(("-v", "--invert-match"))
_ASKS_FOR: Final = frozenset(("-e", "--regexp"))
_ALL: Final = ("", "**")


def names_looked_for(
    entry: ProgramEntry, given: GivenArguments, folders: Iterable[NamedPath]
) -> Iterator[NamedPath]:
    """Yield what may be listed by the texts that are looked for, as names and patterns."""
    kinds = map(entry.operands.kind_of, range(len(given.operands)))
    looked_for = zip(given.operands, kinds, strict=True)
    texts = [word.shown for word, kind in looked_for if kind == "text"]
    names = [text.strip("^$") for text in texts]
    names += [_part_of_name(one) for text in texts for one in patterns_of_regex(text)]
    names += [f"x.{one.value.shown}" for one in given.options if one.value and one.name in _ENDINGS]
    for folder, name in product((*folders,), names):
        yield NamedPath(folder.path, folder.real, f"**/{name}")


def names_let_through(
    walk: LineWalk, deed: Deed, found: Iterable[NamedPath], *, known: bool
) -> Iterator[NamedPath]:
    """Yield the names that a deed asks for, if it is a filter, of all that was found.

    `known`: only files that git lists were found, so that a part of a name asks for no secret.
    """
    if deed.program != "grep" or deed.found:
        return
    entry = walk.table.entries["grep"][""]
    given = parse_options(entry, [word for word in deed.argv[1:] if word is not None])
    if given.names & _INVERTS:
        return
    texts = [one.value for one in given.options if one.name in _ASKS_FOR and one.value]
    patterns = [one for text in texts or given.operands for one in patterns_of_regex(text.shown)]
    for path, pattern in product([one for one in found if one.pattern in _ALL], patterns):
        name = pattern.rpartition("/")[2] if known else _part_of_name(pattern)
        yield path._replace(pattern=f"**/{name}")


def _part_of_name(pattern: str) -> str:
    """Return the names that an expression is found in; the begin of a hidden one goes on."""
    last = pattern.rpartition("/")[2]
    return f"*{last}*" if last.startswith(".") else f"*{last}"
