"""Which scripts the words of a user ask to be run.

Rule 1: a script is the object of a verb that runs: it is named after it in the same clause, alone
        or in a list, and not after a word for a place. `Fix gen.py and run the tests` names none.
Rule 2: the verb is an order (see `deed_orders`), or tells what the user does (`when running a.py`):
        what users, a README or a timer run is not asked for.
Rule 3: what is run by a plain name (`run the migrate script`, `make reset`) is the last of what
        the verb is of, or stands right after it: not the server of `run the server tests`.
Rule 4: `run it` is of all that was named before, and `gen.py runs` of what stands right before.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from critic.command.deed_objects import DEED_TARGETS, has_object
from critic.command.deed_orders import is_ordered, says_what_others_do, split_tokens
from critic.command.deed_verbs import RUN_VERBS, WISHES, deed_verbs_at, verb_stem

THAT: Final = ""
"""Stands for what was named before."""

_PRONOUNS: Final = frozenset(("it", "them", "that", "this", "these", "those", "both"))
_PLACES: Final = frozenset(
    (
        *("of", "in", "for", "from", "about", "to", "on", "against", "under", "inside", "into"),
        *("when", "if", "because", "since", "while", "but", "so", "then", "over", "by"),
    )
)
_JOINS: Final = frozenset(("and", "or", ",", "&"))
_CLAUSE_ENDS: Final = _PLACES | frozenset(";:?!")
_SURELY: Final = frozenset(("sure", "ensure", "check", "verify", "until", "that", "see"))
"""Words near `gen.py runs` by which it is wanted."""

_BY: Final = frozenset(("with", "via", "using", "by"))
_BEGINS: Final = frozenset(("start", "try"))
_RUNNERS: Final = frozenset(("npm", "pnpm", "yarn", "bun", "composer", "poe", "nox", "pdm"))
_MAKES: Final = frozenset(("make", "just"))
_OF_A_NAME: Final = frozenset(("script", "target", "task", "command", "recipe", "job"))
_AFTER_A_NAME: Final = frozenset(
    ("again", "now", "please", "first", "once", "too", "afterwards", "locally", "with", "after")
)
_WORD: Final = re.compile(r"[a-z0-9]+")
_LONGEST_NAME: Final = 3
_MOST_BEFORE: Final = 2
_MOST_AFTER: Final = 100
_FAR: Final = 8


def read_runs(text: str) -> Iterator[str]:
    """Yield the names that a sentence asks to be run; `THAT` stands for what was named before."""
    tokens = split_tokens(text)
    small = [token.lower() for token in tokens]
    given = 0
    for at, stem in _orders(small):
        if small[at].endswith("s"):
            before = tokens[max(0, at - _MOST_BEFORE) : at]
            yield from filter(_is_path, map(_name_of, before))
        follows = "".join(small[at + 1 : at + 2])
        if follows.rstrip(".") in _PRONOUNS:
            if stem == "call":  # `call it src/new.py` gives a name
                continue
            yield THAT
            yield from filter(_is_path, map(_name_of, tokens[given:at]))
            given = at
        is_of_work = stem in _BEGINS and follows.endswith("ing")  # `start refactoring gen.py`
        if follows != "with" and not small[at].endswith("s") and not is_of_work:
            yield from _objects(tokens, small, at + 1)


def read_targets(text: str) -> Iterator[str]:
    """Yield the keys of the plain names that a text in small letters asks to be run."""
    small = split_tokens(text)
    for at, token in enumerate(small):
        if (
            token in DEED_TARGETS
            and is_ordered(small, at)
            and has_object(small, at, DEED_TARGETS[token])
        ):
            yield name_key(token)
    for at in (*(one for one, _ in _orders(small)), *_makes(small)):
        names = list[str]()
        for token in small[at + 1 : at + _MOST_AFTER]:
            if token in _CLAUSE_ENDS | _JOINS | _OF_A_NAME | _AFTER_A_NAME or token[-1] == ".":
                names += [token] * (token[:-1] != "" and token[-1] == ".")
                break
            names += [token] * token[0].isalnum()
        ends = (names[-count:] for count in range(1, _LONGEST_NAME + 1))
        yield from (name_key(" ".join(one)) for one in (*ends, names[:1]))


def name_key(name: str) -> str:
    """Return a name by the words that it is made of."""
    return " ".join(sorted({*map(verb_stem, _WORD.findall(name))}))


def _makes(small: Sequence[str]) -> Iterator[int]:
    """Yield where a program that runs targets is told to run one: `make reset`."""
    for at, token in enumerate(small):
        after = small[at + 2 : at + 3]
        is_end = not after or not after[0].isalnum() or after[0] in _JOINS | _AFTER_A_NAME | _PLACES
        order = at - (small[at - 1 : at] == ["use"])
        if token in _MAKES and is_end and is_ordered(small, order):
            yield at


def _orders(small: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield where a verb of running is an order or a wish, and its stem."""
    for at, stem in deed_verbs_at(small):
        before = small[max(0, at - _FAR) : at]
        if stem not in RUN_VERBS:
            continue
        if small[at].endswith("ing"):
            is_meant = not says_what_others_do(before[::-1], but=("i", "we"))
        elif small[at].endswith("s"):
            is_meant = not _SURELY.isdisjoint(before)
        else:
            tells = before[-2:] == ["when", "i"] or _is_by_name(before)
            is_meant = tells or is_ordered(small, at) or not WISHES.isdisjoint(before[-2:])
        if is_meant:
            yield at, stem


def _is_by_name(before: Sequence[str]) -> bool:
    """Return whether what comes before `run` says by which command it is: `with npm run`."""
    by = before[-2:-1] and before[-2] in _BY and before[-1] in _RUNNERS
    return bool(by) and not says_what_others_do(before[::-1], but=("i", "we"))


def _objects(tokens: Sequence[str], small: Sequence[str], at: int) -> Iterator[str]:
    """Yield the names from a place up to the end of the clause."""
    last = min(len(tokens), at + _MOST_AFTER)
    while at < last and small[at] not in _CLAUSE_ENDS:
        follows = _name_of(tokens[at + 1]) if at + 1 < len(tokens) else ""
        is_named = small[at - 1] in _PRONOUNS or _is_path(_name_of(tokens[at - 1]))
        if small[at] in _JOINS and not (is_named and _is_path(follows)):
            return
        name = _name_of(tokens[at])
        if _is_path(name) and not _is_of_it(small, at):
            yield name
        at += 1


def _is_of_it(small: Sequence[str], at: int) -> bool:
    """Return whether something of the script at a place is meant, or what is done to it."""
    behind = small[at + 1 : at + 3]
    if behind == ["'", "s"]:
        return True
    ends = not behind or not behind[0][0].isalnum() or behind[0] in _JOINS | _AFTER_A_NAME | _PLACES
    return small[at - 1] in _BY and not ends


def _name_of(token: str) -> str:
    return token.rstrip(".-")


def _is_path(name: str) -> bool:
    return "/" in name or "." in name[1:]
