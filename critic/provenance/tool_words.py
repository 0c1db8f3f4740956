"""Whether a request asks for a tool by its name: every word of the name stands in the request.

Words are compared by their stems, so that `delete_file` is asked for by "deleting these files".
Short words keep what tells them from others: "wire" is not "wir", and "note" not "not".
"""

import re
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
# In this order: the first that leaves so many letters is taken off.
_ENDINGS: Final = (
    *(("ations", 4), ("ation", 4), ("ings", 3), ("ing", 3), ("ions", 4), ("ion", 4)),
    *(("es", 3), ("ed", 3), ("s", 3), ("e", 4)),
)
_LOST_ITS_E: Final = re.compile("[^aeiou][aeiouy][^aeiouwxy]")
"""What is left of `wiring` and `notes`. Without an e, the last letter would have been doubled."""


def stems_of(text: str) -> set[str]:
    """Return the stems of the words of a canonical text."""
    return {*map(stem_of, {*_WORD.findall(text)})}


def stems_of_name(capability_id: str) -> frozenset[str]:
    """Return the stems of the words of a tool's name, without those that say nothing about it."""
    words = words_of_name(capability_id)
    return frozenset(stem_of(word) for word in words if word and word not in _COMMON)


def words_of_name(name: str) -> list[str]:
    """Return the words of a name, in small letters."""
    return _BETWEEN_WORDS.split(_CAPITAL.sub("_", name).lower())


def stem_of(word: str) -> str:
    """Return a word without its ending, so that a plural is no other word."""
    for ending, least in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= least and not (ending == "s" == stem[-1]):
            is_of_e = ending != "s" and _LOST_ITS_E.fullmatch(stem)
            word = f"{stem}e" if is_of_e else stem
            break
    return f"{word[:-1]}i" if word.endswith("y") else word
