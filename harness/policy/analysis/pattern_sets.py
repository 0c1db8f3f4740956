"""Prove that no text matches both of two patterns, where possible.

It reads anchored patterns of characters, classes and counts: `^CL-[0-9]{5}$`. All characters above
ASCII count as one, so a proof holds for each of them.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import Final, NamedTuple

_ABOVE: Final = "\u0080"
_ALL: Final = frozenset(map(chr, range(128))) | {_ABOVE}
_DIGITS: Final = frozenset("0123456789") | {_ABOVE}
_SPACES: Final = frozenset(" \t\n\r\f\v") | {_ABOVE}
_WORDS: Final = frozenset(one for one in _ALL if one.isalnum() or one == "_") | {_ABOVE}
_NAMED: Final = {"d": _DIGITS, "s": _SPACES, "w": _WORDS}
_NEGATED: Final = {name.upper(): (_ALL - chars) | {_ABOVE} for name, chars in _NAMED.items()}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r"}
_COUNT: Final = re.compile(r"\{(\d{1,3})(?:(,)(\d{1,3})?)?\}|([*+?])")
_TOKEN: Final = re.compile(r"\\(.)|\[(\^?)((?:\\.|[^\\\]])+)\]|([^\\\[\](){}|*+?^$])", re.DOTALL)
_MOST_STATES: Final = 2_000
_FOREVER: Final = 1_000


class _Run(NamedTuple):
    """A number of characters of one set."""

    chars: frozenset[str]
    least: int
    most: int


def never_both(pattern: str, other: str) -> bool:
    """Return whether it is proven that no text matches both patterns."""
    runs, others = _runs_of(pattern), _runs_of(other)
    return runs is not None and others is not None and not _meet(runs, others)


def _runs_of(pattern: str) -> list[_Run] | None:
    """Return the runs of an anchored pattern; None if it cannot be read."""
    if pattern[:1] != "^" or pattern[-1:] != "$" or pattern[-2:-1] == "\\":
        return None
    at, end, runs = 1, len(pattern) - 1, list[_Run]()
    while at < end:
        token = _TOKEN.match(pattern, at, end)
        chars = _chars_of(token) if token else None
        if token is None or chars is None:
            return None
        count = _COUNT.match(pattern, token.end(), end)
        runs.append(_Run(chars, *_bounds_of(count)))
        at = count.end() if count else token.end()
    return runs


def _bounds_of(count: re.Match[str] | None) -> tuple[int, int]:
    if count is None:
        return 1, 1
    if sign := count[4]:
        return (1 if sign == "+" else 0), (1 if sign == "?" else _FOREVER)
    least = int(count[1])
    return least, least if count[2] is None else int(count[3] or _FOREVER)


def _chars_of(token: re.Match[str]) -> frozenset[str] | None:
    """Return the set of one character of a pattern; None if it cannot be read."""
    escaped, negated, members, plain = token.groups()
    if members is not None:
        chars = _members_of(members)
        return (_ALL - chars) | {_ABOVE} if chars is not None and negated else chars
    if plain is not None:
        return _ALL if plain == "." else _of_char(plain)
    return _read_escape(escaped)


def _of_char(char: str) -> frozenset[str]:
    return frozenset({char if char < _ABOVE else _ABOVE})


def _read_escape(char: str) -> frozenset[str] | None:
    if char in _NAMED:
        return _NAMED[char]
    if char in _NEGATED:
        return _NEGATED[char]
    if char in _CONTROLS:
        return frozenset(_CONTROLS[char])
    return None if char.isalnum() else _of_char(char)


_RANGES: Final = re.compile(r"(\\.|[^\\])(?:-(\\.|[^\\]))?", re.DOTALL)


def _members_of(text: str) -> frozenset[str] | None:
    """Return the characters of a class such as `A-Za-z_`; None if it cannot be read."""
    if "[" in text or "&&" in text or "--" in text or "~~" in text:
        return None
    parts = [_range_of(*found.groups()) for found in _RANGES.finditer(text)]
    sets = [part for part in parts if part is not None]
    return frozenset().union(*sets) if len(sets) == len(parts) else None


def _range_of(first: str, last: str | None) -> frozenset[str] | None:
    """Return the characters from one to another, or those of one."""
    ends = [_read_escape(one[1]) if one[1:] else _of_char(one) for one in (first, last or first)]
    low, high = ends
    if low is None or high is None:
        return None
    if last is None:
        return low
    if len(low) > 1 or len(high) > 1:
        return None
    return frozenset(one for one in _ALL if min(low) <= one <= min(high))


_Place = tuple[int, int]


def _meet(runs: list[_Run], others: list[_Run]) -> bool:
    """Return whether some text may match both."""
    waiting: list[tuple[_Place, _Place]] = [((0, 0), (0, 0))]
    seen = {*waiting}
    while waiting:
        here, there = waiting.pop()
        if len(seen) > _MOST_STATES or (_may_end(runs, here) and _may_end(others, there)):
            return True
        both = product(_steps(runs, here), _steps(others, there))
        found = {(one, two) for (a, one), (b, two) in both if runs[a].chars & others[b].chars}
        waiting += found - seen
        seen |= found
    return False


def _may_end(runs: list[_Run], place: _Place) -> bool:
    at, taken = place
    return at == len(runs) or (
        taken >= runs[at].least and all(run.least == 0 for run in runs[at + 1 :])
    )


def _steps(runs: list[_Run], place: _Place) -> Iterator[tuple[int, _Place]]:
    """Yield each run that the next character may belong to, and the position after it."""
    at, taken = place
    while at < len(runs):
        run = runs[at]
        if taken < run.most:
            # a run without end is at one place, once it has enough
            yield at, (at, min(taken + 1, run.least) if run.most == _FOREVER else taken + 1)
        if taken < run.least:
            return
        at, taken = at + 1, 0
