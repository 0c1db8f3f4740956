"""Whether a request asks for a tool by its name: every word of the name stands in the request.

Words are compared by their stems, so that `delete_file` is asked for by "deleting these files".
"""

import re
from collections.abc import Iterator
from typing import Final

from critic.provenance.folding import SEPARATORS

_WORD: Final = re.compile(f"[^{SEPARATORS}_]++")
_CAPITAL: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BETWEEN_WORDS: Final = re.compile("[-_./]")

# What names of tools hold beside their meaning.
_COMMON: Final = frozenset(
    (
        *("a", "all", "and", "by", "for", "from", "get", "in", "of", "the", "through", "to"),
        *("city", "git", "info", "information", "up", "update", "user", "with"),
    )
)
# In this order: the first that leaves enough is taken off.
_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ions", "ion", "es", "ed", "s", "e")
_SHORTEST_STEM: Final = 3


def stems_of(text: str) -> Iterator[str]:
    """Yield the stems of the words of a canonical text."""
    return map(stem_of, _WORD.findall(text))


def stems_of_name(capability_id: str) -> frozenset[str]:
    """Return the stems of the words of a tool's name, without those that say nothing about it."""
    words = words_of_name(capability_id)
    return frozenset(stem_of(word) for word in words if word and word not in _COMMON)


def words_of_name(name: str) -> list[str]:
    """Return the words of a name, in small letters."""
    return _BETWEEN_WORDS.split(_CAPITAL.sub("_", name).lower())


def stem_of(word: str) -> str:
    """Return a word without its ending, so that a plural is no other word."""
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= _SHORTEST_STEM and not (ending == "s" == stem[-1]):
            word = stem
            break
    return f"{word[:-1]}i" if word.endswith("y") else word
