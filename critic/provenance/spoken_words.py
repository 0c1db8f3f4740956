"""Whether what a person says means a value, or only holds the word.

Rule 1: words that any sentence may hold are meant where they are quoted, after `#` or `@`, with a
        capital inside a sentence, beside the noun of the argument, or, for a recipient, after "to"
        or "with".
Rule 2: a number of three digits or fewer is meant after the noun of the argument, after `#` or
        `id`, or in a list of such numbers. `id`, `no.` and `number` belong to the noun before them
        where a tool that is called has that noun.
Rule 3: of very many places in which a value stands the first ones are looked at.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from critic.provenance.adjoining import find_adjoining
from critic.provenance.folding import QUOTES, WORD, mark_lines, small
from critic.provenance.holders import ItemText, Shown, TextForm
from critic.provenance.place import Place
from critic.provenance.texts import NARROW, PATHS, WIDE, Texts, as_written
from critic.provenance.tool_words import stem_of, stems_of, words_of_name
from critic.provenance.value_kinds import Sought, holds_no_word
from evals.capability import Role, ToolCapability

_WINDOW: Final = 120
_LINE: Final = 400
"""Characters of a line, on each side of a value, in which quotes are looked for."""
_QUOTE_PAIRS: Final = (
    *(("\u201c", "\u201d"), ("\u201e", "\u201c"), ("\xab", "\xbb")),
    *(("\u300c", "\u300d"), ("\u300e", "\u300f"), ("\u300a", "\u300b")),
)
"""Quotes of which each side is known: French has a blank inside of them."""
_OPENS: Final = re.compile(rf"((?<!{WORD})[\u201c\u201e\xab]|[\u300c\u300e\u300a]) ?\Z")
_CLOSES: Final = re.compile(rf" ?([\u201c\u201d\xbb](?!{WORD})|[\u300d\u300f\u300b])")
_DOUBLE_QUOTES: Final = (('"', '"'), *_QUOTE_PAIRS)
_ENDS: Final = " .,;:!?/"
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
        texts = place.texts(NARROW)
        for entry, at in texts.occurrences(value.narrow, shown):
            if _number_is_meant(entry.text(NARROW.form), at, nouns):
                return entry, True
        return None, False
    found = place.says(value, shown)
    if value.form not in ("path", "text"):
        return found or place.says_group(value, shown), found is not None
    if found is None:
        return find_adjoining(place, value, nouns.own, shown)
    return _weigh_said(place, found, value, role, nouns, shown=shown)


def _weigh_said(
    place: Place, found: ItemText, value: Sought, role: Role, nouns: Nouns, *, shown: Shown | None
) -> tuple[ItemText, bool]:
    """Return an entry that holds a text or path, and whether it means it."""
    reading, is_sign = PATHS if value.is_path else NARROW, holds_no_word(value.narrow)
    texts, form = place.texts(reading), as_written if reading is PATHS else mark_lines
    if not value.is_words:
        return found, _is_said_whole(texts, form, value, shown)
    for entry, at in texts.occurrences(value.said, shown):
        text, end = entry.text(form), at + len(value.said)
        is_folder = reading is PATHS and text.startswith("/", end) and not is_sign
        if is_folder or _words_are_meant(text, at, end, role, nouns.own):
            return entry, True
    return found, False


def _is_said_whole(texts: Texts, form: TextForm, value: Sought, shown: Shown | None) -> bool:
    """Return whether a value stands anywhere but inside the longer name that quotes hold."""
    occurrences = [*texts.occurrences(value.said, shown)]
    return not occurrences or any(
        not _is_part_of_quoted(entry.text(form), at, at + len(value.said))
        for entry, at in occurrences
    )


def _is_part_of_quoted(text: str, start: int, end: int) -> bool:
    """Return whether a value begins or, without a slash, ends a longer name in double quotes."""
    before = _last_line(text[max(0, start - _LINE) : start])
    behind = text[end : end + _LINE].partition("\n")[0]
    for opening, closing in _DOUBLE_QUOTES:
        if opening == closing:
            is_open = before.count(opening) % 2 == 1
        else:
            is_open = before.rfind(opening) > before.rfind(closing)
        if is_open and closing in behind:
            led = before[before.rfind(opening) + 1 :].strip(" ")
            rest = behind[: behind.find(closing)].strip(_ENDS)
            return bool(rest if not led else "/" not in text[start:end])
    return False


def find_folder(place: Place, folder: Sought, shown: Shown | None) -> ItemText | None:
    """Return the first entry of a place that names a folder.

    A plain word has a slash behind, and so has any single segment: Q3, v2.0 and bob@x.com are no
    folders by themselves.
    """
    if "/" in folder.narrow and not folder.is_words:
        return place.says(folder, shown)
    texts = place.texts(PATHS)
    for entry, at in texts.occurrences(folder.narrow, shown):
        if entry.text(as_written).startswith("/", at + len(folder.narrow)):
            return entry
    return None


def find_mention(place: Place, value: Sought, nouns: Nouns, shown: Shown | None) -> ItemText | None:
    """Return the first entry of a place that mentions a value, in whichever characters."""
    if not value.is_short_number:
        return place.mentions(value, shown)
    texts = place.texts(WIDE)
    for entry, at in texts.occurrences(value.narrow, shown):
        if _number_is_meant(entry.text(WIDE.form), at, Nouns(nouns.own)):
            return entry
    return None


def _words_are_meant(text: str, start: int, end: int, role: Role, own: frozenset[str]) -> bool:
    if _is_quoted(text, start, end):
        return True
    if holds_no_word(text[start:end]):
        return False
    before = text[start - 1 : start]
    return bool(before and before in "#@") or _is_said_to_be_meant(text, start, end, role, own)


def _is_quoted(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 3) : start], text[end : end + 3]
    if before and after and before[-1] in QUOTES and after[0] in QUOTES:
        return True
    # German quotes point the other way: in »a« general »b« nothing opens before the word.
    opens, closes = _OPENS.search(before), _CLOSES.match(after)
    return bool(opens and closes and (opens[1], closes[1]) in _QUOTE_PAIRS)


def _is_said_to_be_meant(text: str, start: int, end: int, role: Role, own: frozenset[str]) -> bool:
    left = small(_last_line(text[max(0, start - _WINDOW) : start]))
    right = small(text[end : end + _WINDOW])
    words = small(text[start:end]).replace("-", " ").split(" ")
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
