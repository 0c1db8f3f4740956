"""What arguments are called, and which words of a request mean nothing by themselves."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from critic.provenance.folding import QUOTES, small
from critic.provenance.tool_words import stem_of, stems_of, words_of_name
from evals.capability import ToolCapability

_WINDOW: Final = 120
_SENTENCE_ENDS: Final = ".!?\n"
_SKIPPED: Final = " ([{*\u2022-" + QUOTES
MEANINGLESS: Final = frozenset(
    (
        *("id", "ids", "no", "nos", "nr", "num", "number", "numbers", "key", "ref", "name"),
        *("names", "list", "value", "arg", "to", "from", "for", "of", "in", "on", "at", "by"),
        *("the", "a", "an", "text"),
    )
)
"""What names of arguments hold beside their nouns."""
PLAIN_WORDS: Final = frozenset(
    (
        *("a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any"),
        *("anybody", "anyone", "anything", "are", "as", "at", "be", "because", "been"),
        *("before", "being", "below", "between", "both", "but", "by", "can", "could", "did"),
        *("do", "does", "done", "each", "either", "else", "every", "everybody", "everyone"),
        *("everything", "few", "for", "from", "get", "had", "has", "have", "he", "her"),
        *("here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its"),
        *("just", "let", "like", "many", "may", "me", "might", "mine", "more", "most"),
        *("much", "must", "my", "no", "nobody", "none", "nor", "not", "nothing", "now", "of"),
        *("off", "on", "once", "one", "only", "or", "other", "our", "ours", "out", "over"),
        *("own", "please", "same", "shall", "she", "should", "so", "some", "somebody"),
        *("someone", "something", "such", "than", "thanks", "that", "the", "their", "theirs"),
        *("them", "then", "there", "these", "they", "this", "those", "to", "too", "under"),
        *("until", "up", "us", "very", "was", "we", "well", "were", "what", "when", "where"),
        *("which", "who", "whom", "whose", "why", "will", "with", "would", "yes", "you"),
        *("your", "yours"),
    )
)
_FUNCTION_STEMS: Final = frozenset(map(stem_of, PLAIN_WORDS))


class Nouns(NamedTuple):
    """The stems of the nouns of an argument, and those of all other arguments and kinds."""

    own: frozenset[str]
    others: frozenset[str] = frozenset()


NO_NOUNS: Final = Nouns(frozenset())


def nouns_of(tool: ToolCapability, name: str, kind: str | None) -> frozenset[str]:
    """Return the stems of the nouns of an argument: of its name and kind, else of its tool."""
    found = _stems((name, kind or ""))
    return found or _stems("_".join(words_of_name(tool.capability_id)[1:]).split("_"))


def nouns_of_field(name: str) -> Nouns:
    """Return the nouns that a field of a record is called by."""
    return Nouns(_stems((name,)))


def nouns_in(tools: Iterable[ToolCapability]) -> frozenset[str]:
    """Return the stems of the nouns of all arguments that have a role or a kind."""
    found: set[str] = set()
    for tool in tools:
        named: tuple[Mapping[str, str], ...] = (tool.arg_roles or {}, tool.arg_kinds or {})
        found |= _stems(part for one in named for name in one for part in name.split("/"))
        found |= _stems((tool.arg_kinds or {}).values())
    return frozenset(found)


def meaning_stems(text: str) -> frozenset[str]:
    """Return the stems of the words of a narrow text that mean something by themselves."""
    return frozenset(stems_of(text) - _FUNCTION_STEMS)


def _stems(names: Iterable[str]) -> frozenset[str]:
    words = (word for name in names for word in words_of_name(name))
    return frozenset(stem_of(word) for word in words if word and word not in MEANINGLESS)


def is_capitalized(text: str, start: int, end: int) -> bool:
    """Return whether a word has a capital inside a sentence that is not all capitals."""
    word = text[start:end]
    if small(word[0]) == word[0] or ("-" in word and word == word.upper()):
        return False
    at = start - 1
    while at >= 0 and text[at] in _SKIPPED:
        at -= 1
    if at < 0 or text[at] in _SENTENCE_ENDS:
        return False
    around = text[max(0, start - _WINDOW) : start] + text[end : end + _WINDOW]
    return around != around.upper()
