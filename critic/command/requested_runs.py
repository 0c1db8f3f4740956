"""Which scripts the words of a user ask to be run.

Rule 1: a script is the object of a verb that runs: it is named after it in the same clause, alone
        or in a list, and not after a word for a place. `Fix gen.py and run the tests` names none.
Rule 2: `run it` is of all that was named before, and `gen.py runs` of what stands right before.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from critic.command.deed_verbs import RUN_VERBS, deed_verbs_at, tokens_of

THAT: Final = ""
"""Stands for what was named before."""

_PRONOUNS: Final = frozenset(("it", "them", "that", "this", "these", "those", "both"))
_PLACES: Final = frozenset(
    (
        *("of", "in", "for", "from", "about", "to", "on", "against", "under", "inside", "into"),
        *("when", "if", "because", "since", "while", "but", "so", "then"),
    )
)
_JOINS: Final = frozenset(("and", "or", ",", "&"))
_CLAUSE_ENDS: Final = _PLACES | frozenset(";:?!")
_MOST_BEFORE: Final = 2
_MOST_AFTER: Final = 100


def read_runs(text: str) -> Iterator[str]:
    """Yield the names that a sentence asks to be run; `THAT` stands for what was named before."""
    tokens = tokens_of(text)
    small = [token.lower() for token in tokens]
    given = 0
    for at, stem in deed_verbs_at(small):
        if stem not in RUN_VERBS:
            continue
        if small[at].endswith("s"):
            before = tokens[max(0, at - _MOST_BEFORE) : at]
            yield from filter(_is_path, map(_name_of, before))
        if not _PRONOUNS.isdisjoint(small[at + 1 : at + 2]):
            if stem == "call":  # `call it src/new.py` gives a name
                continue
            yield THAT
            yield from filter(_is_path, map(_name_of, tokens[given:at]))
            given = at
        if small[at + 1 : at + 2] != ["with"]:
            yield from _objects(tokens, small, at + 1)


def _objects(tokens: Sequence[str], small: Sequence[str], at: int) -> Iterator[str]:
    """Yield the names from a place up to the end of the clause."""
    last = min(len(tokens), at + _MOST_AFTER)
    while at < last and small[at] not in _CLAUSE_ENDS:
        follows = _name_of(tokens[at + 1]) if at + 1 < len(tokens) else ""
        is_named = small[at - 1] in _PRONOUNS or _is_path(_name_of(tokens[at - 1]))
        if small[at] in _JOINS and not (is_named and _is_path(follows)):
            return
        name = _name_of(tokens[at])
        if _is_path(name):
            yield name
        at += 1


def _name_of(token: str) -> str:
    return token.rstrip(".-")


def _is_path(name: str) -> bool:
    return "/" in name or "." in name[1:]
