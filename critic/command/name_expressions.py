"""The names that an expression may give, as patterns of `*` and `?`: of find, and of what filters.

Rule 1: an alternative is read as a pattern of its own. What is repeated, and any character where
        the expression takes any, may be a part of a name, or several folders.
Rule 2: a backslash makes a letter a class or a place, and any other sign itself. Groups and
        alternatives count with a backslash and without: dialects differ.

Example: `.*/\\.(env|pem)` gives `*/*/.env` and `*/*/.pem`.
"""

import re
from collections.abc import Iterator
from typing import Final

from critic.command.shell_syntax import NotUnderstood

_REPEATED: Final = r"(\\?[*+?]|\\?\{[^{}]*\})?"
_GROUP: Final = re.compile(rf"\\?\(((?:[^()\\]|\\[^()])*)\\?\){_REPEATED}")
_CLASS: Final = r"\[\^?\]?(?:\[:[a-z]+:\]|[^\]])*\]"
_ATOM: Final = re.compile(rf"(\\.|{_CLASS}|.){_REPEATED}", re.DOTALL)
_NOWHERE: Final = re.compile(r"\\[<>`'bB]")
_BY_NUMBER: Final = re.compile(r"\\[xoNcQ0-9]|\(\?")
_OR: Final = re.compile(r"\\?\|")
_BRACES: Final = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)")
_ANY: Final = "*/*"
_MOST: Final = 50


def patterns_of_regex(expression: str) -> list[str]:
    """Return the patterns of the names, with their folders, that a regular expression gives.

    Raises:
        NotUnderstood: it has more than 50 groups or alternatives, or names a sign by its number.
    """
    if _BY_NUMBER.search(expression):
        raise NotUnderstood("a regular expression with a sign by its number")
    if expression.count("(") > _MOST:
        raise NotUnderstood("a regular expression with more than 50 groups")
    left, plain = [expression], list[str]()
    while left:
        one = left.pop()
        group = _GROUP.search(one)
        if group is None:
            plain += _OR.split(one)
        else:
            options = [".*"] if group[2] else _OR.split(group[1])
            left += [one[: group.start()] + option + one[group.end() :] for option in options]
        if len(left) + len(plain) > _MOST:
            raise NotUnderstood("a regular expression with more than 50 alternatives")
    return ["".join(_pattern_of(one)) for one in plain]


def _pattern_of(expression: str) -> Iterator[str]:
    plain = _NOWHERE.sub("", expression)
    for atom, repeated in _ATOM.findall(plain.strip("^$")):
        sign = atom[-1]
        is_class = atom[0] == "[" and len(atom) > 1
        if (
            repeated
            or atom == "."
            or (is_class and (atom[1] == "^" or "/" in atom or "[:" in atom))
        ):
            yield _ANY
        elif is_class:
            yield "?"
        elif atom[0] == "\\" and sign.isalnum():
            yield _ANY
        else:
            yield sign


def patterns_in_braces(pattern: str) -> list[str]:
    """Return the patterns that alternatives in braces stand for.

    Raises:
        NotUnderstood: there is more than one such list.
    """
    listed = _BRACES.fullmatch(pattern)
    if listed is not None:
        return [f"{listed[1]}{one}{listed[3]}" for one in listed[2].split(",")]
    if "{" in pattern or "}" in pattern:
        raise NotUnderstood(f"a pattern of names with braces: {pattern}")
    return [pattern]
