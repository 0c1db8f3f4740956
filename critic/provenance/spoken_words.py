"""Whether what a person says means a value, or only holds the word.

Rule 1: words that any sentence may hold are meant where they are quoted, after `#` or `@`, with a
        capital inside a sentence, beside the noun of the argument, or, for a recipient, after "to"
        or "with".
Rule 2: a number of three digits or fewer is meant after the noun of the argument, after `#` or
        `id`, or in a list of such numbers. `id`, `no.` and `number` belong to the noun before them
        where a tool that is called has that noun.
Rule 3: whatever it is, a part of a longer name in quotes is only a word.
Rule 4: of very many places in which a value stands the first ones are looked at.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from critic.provenance.adjoining import find_adjoining
from critic.provenance.folding import QUOTES, WORD, mark_lines, small
from critic.provenance.holders import ItemText, NameSpans, Shown, TextForm
from critic.provenance.place import Place
from critic.provenance.quoted_names import is_part, is_quoted, names_listed, names_said
from critic.provenance.texts import NARROW, PATHS, WIDE, Reading, as_written
from critic.provenance.tool_words import stem_of, stems_of, words_of_name
from critic.provenance.value_kinds import Sought, holds_no_word
from evals.capability import Role, ToolCapability

_WINDOW: Final = 120
_BETWEEN: Final = f"[ :({QUOTES}]*"
_WORD_BEFORE: Final = re.compile(rf"({WORD}++){_BETWEEN}(?:(?:named|called|titled){_BETWEEN})?\Z")
_WORD_AFTER: Final = re.compile(rf"[ ){QUOTES}]*({WORD}++)")
_TO_OR_WITH: Final = re.compile(rf"(?<!{WORD})(?:to|with) \Z")
_PART: Final = re.compile(rf"{WORD}++\.?|[^ ]")
_AROUND: Final = QUOTES + "()[]{}<>=*"
_NUMBER: Final = re.compile("[0-9]++")
_JOINS: Final = frozenset({",", ";", "&", "and", "or"})
_MARKS: Final = frozenset({"#", "id", "ids", "number", "numbers", "no.", "nos.", "nr."})
_SENTENCE_ENDS: Final = ".!?\n"
_SKIPPED: Final = " ([{*\u2022-" + QUOTES
_MEANINGLESS: Final = frozenset(
    (
        *("id", "ids", "no", "nos", "nr", "num", "number", "numbers", "key", "ref", "name"),
        *("names", "list", "value", "arg", "to", "from", "for", "of", "in", "on", "at", "by"),
        *("the", "a", "an", "text"),
    )
)
"""What names of arguments hold beside their nouns."""
_FUNCTION_WORDS: Final = frozenset(
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


_FUNCTION_STEMS: Final = frozenset(map(stem_of, _FUNCTION_WORDS))


_NamesIn = Callable[[ItemText, TextForm], NameSpans]


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
    return frozenset(stems_of(text)) - _FUNCTION_STEMS


def _stems(names: Iterable[str]) -> frozenset[str]:
    words = (word for name in names for word in words_of_name(name))
    return frozenset(stem_of(word) for word in words if word and word not in _MEANINGLESS)


def find_meant(
    place: Place, value: Sought, role: Role, nouns: Nouns, shown: Shown | None
) -> tuple[ItemText | None, bool]:
    """Return the first entry of a place that holds a value, and whether any of them means it."""
    if value.is_short_number:
        return _find_number(place, value, nouns, shown)
    found = place.says(value, shown)
    if value.form not in ("path", "text"):
        return found or place.says_group(value, shown), found is not None
    if found is None:
        entry, is_meant = find_adjoining(place, value, nouns.own, shown)
        return entry, is_meant and not _FUNCTION_WORDS.issuperset(_words_of(value.narrow))
    if not value.is_words:
        return _find_whole(place, found, value, shown, names_said)
    for entry, at in place.texts(_reading_of(value)).occurrences(value.said, shown):
        if _words_are_meant(entry, value, at, role, nouns.own):
            return entry, True
    return found, False


def find_listed(place: Place, value: Sought, shown: Shown | None) -> tuple[ItemText | None, bool]:
    """Return the first entry of a system that says a value, and whether any says it as a whole."""
    found = place.says(value, shown)
    if found is None or value.form not in ("path", "text"):
        return found, found is not None
    return _find_whole(place, found, value, shown, names_listed)


def _reading_of(value: Sought) -> Reading:
    return PATHS if value.is_path else NARROW


def _form_of(value: Sought) -> TextForm:
    """Return the form in which lines and capitals are seen, as long as that of the reading."""
    return as_written if value.is_path else mark_lines


def _find_whole(
    place: Place, found: ItemText | None, value: Sought, shown: Shown | None, names_in: _NamesIn
) -> tuple[ItemText | None, bool]:
    """Return the entry that holds a value, or one in which it stands beside longer names."""
    form, parts = _form_of(value), 0
    if found is None or not names_in(found, form):
        return found, found is not None
    for entry, at in place.texts(_reading_of(value)).occurrences(value.said, shown):
        if not _is_part(names_in(entry, form), entry.text(form), value, at):
            return entry, True
        parts += 1
    return found, parts == 0


def _is_part(names: NameSpans, text: str, value: Sought, at: int) -> bool:
    return bool(names) and is_part(names, text, at, at + len(value.said), is_path=value.is_path)


def find_folder(place: Place, folder: Sought, shown: Shown | None) -> tuple[ItemText | None, bool]:
    """Return the first entry of a place that names a folder, and whether any does as a whole.

    A plain word has a slash behind, and so has any single segment: Q3, v2.0 and bob@x.com are no
    folders by themselves.
    """
    if "/" in folder.said and not folder.is_words:
        return _find_whole(place, place.says(folder, shown), folder, shown, names_said)
    first: ItemText | None = None
    for entry, at in place.texts(PATHS).occurrences(folder.said, shown):
        text = entry.text(as_written)
        if text.startswith("/", at + len(folder.said)):
            if not _is_part(names_said(entry, as_written), text, folder, at):
                return entry, True
            first = first or entry
    return first, False


def find_mention(place: Place, value: Sought, nouns: Nouns, shown: Shown | None) -> ItemText | None:
    """Return the first entry of a place that mentions a value, in whichever characters."""
    if not value.is_short_number:
        return place.mentions(value, shown)
    texts = place.texts(WIDE)
    for entry, at in texts.occurrences(value.narrow, shown):
        if _number_is_meant(entry.text(WIDE.form), at, Nouns(nouns.own)):
            return entry
    return None


def _words_are_meant(
    entry: ItemText, value: Sought, start: int, role: Role, own: frozenset[str]
) -> bool:
    form, end = _form_of(value), start + len(value.said)
    text, names = entry.text(form), names_said(entry, form)
    if _is_part(names, text, value, start):
        return False
    if is_quoted(names, text, start, end):
        return True
    if holds_no_word(text[start:end]):
        return False
    if value.is_path and text.startswith("/", end):
        return True
    before = text[start - 1 : start]
    return bool(before and before in "#@") or _is_said_to_be_meant(text, start, end, role, own)


def _is_said_to_be_meant(text: str, start: int, end: int, role: Role, own: frozenset[str]) -> bool:
    left = small(_last_line(text[max(0, start - _WINDOW) : start]))
    right = small(text[end : end + _WINDOW])
    words = _words_of(text[start:end])
    if _FUNCTION_WORDS.issuperset(words):
        return False
    beside = (_WORD_BEFORE.search(left), _WORD_AFTER.match(right))
    if any(match and stem_of(match[1]) in own for match in beside) or _names_noun(words, own):
        return True
    if not _FUNCTION_WORDS.isdisjoint(words):
        return False
    if role == "recipient" and _TO_OR_WITH.search(left):
        return True
    return _is_name(text, start, end)


def _words_of(text: str) -> list[str]:
    return small(text).replace("-", " ").split(" ")


def _names_noun(words: Sequence[str], own: frozenset[str]) -> bool:
    """Return whether words stand beside the noun of the argument, and hold it: a living room."""
    sides = (words[1:], words[0]), (words[:-1], words[-1])
    return any(stem_of(noun) in own and not _FUNCTION_WORDS.issuperset(one) for one, noun in sides)


def _last_line(text: str) -> str:
    return text[text.rfind("\n") + 1 :]


def _is_name(text: str, start: int, end: int) -> bool:
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


def _find_number(
    place: Place, value: Sought, nouns: Nouns, shown: Shown | None
) -> tuple[ItemText | None, bool]:
    for entry, at in place.texts(NARROW).occurrences(value.narrow, shown):
        if _number_is_meant(entry.text(NARROW.form), at, nouns):
            return entry, True
    return None, False


def _number_is_meant(text: str, start: int, nouns: Nouns) -> bool:
    window = text[max(0, start - _WINDOW) : start]
    parts = [part for part in _PART.findall(window) if part not in _AROUND]
    _drop_list(parts)
    marked = False
    while parts and (parts[-1] in _MARKS or (parts[-1] == ":" and len(parts) > 1)):
        marked = marked or parts[-1] != ":"
        parts.pop()
    if parts and parts[-1] in ("no", "nr") and len(parts) > 1 and stem_of(parts[-2]) in nouns.own:
        return True
    stem = stem_of(parts[-1].rstrip(".")) if parts else ""
    if stem in nouns.own and not parts[-1].endswith("."):
        return True
    return marked and stem not in nouns.others


def _drop_list(parts: list[str]) -> None:
    """Drop the numbers of a list before its last one, with what joins them."""
    while parts and parts[-1] in _JOINS:
        kept = parts[:]
        while parts and parts[-1] in _JOINS:
            parts.pop()
        if not parts or not _NUMBER.fullmatch(parts[-1].rstrip(".")):
            parts[:] = kept
            return
        parts.pop()
        if parts and parts[-1] == "#" and len(parts) > 1:
            if parts[-2] not in _JOINS:
                return
            parts.pop()
