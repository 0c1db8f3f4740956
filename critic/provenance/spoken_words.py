"""Whether what a person says means a value, or only holds the word.

Rule 1: words that any sentence may hold are meant where they are quoted, after `#` or `@`, with a
        capital inside a sentence, beside the noun of the argument, or, for a recipient, after "to"
        or "with".
Rule 2: whatever it is, a part of a longer name in quotes is only a word.
Rule 3: of very many places in which a value stands the first ones are looked at.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from critic.provenance.adjoining import find_adjoining
from critic.provenance.argument_nouns import PLAIN_WORDS, Nouns, is_capitalized
from critic.provenance.folding import QUOTES, WORD, mark_lines, small
from critic.provenance.holders import ItemText, NameSpans, Shown, TextForm
from critic.provenance.place import Place
from critic.provenance.quoted_names import is_part, is_quoted, names_listed, names_said
from critic.provenance.short_numbers import number_is_meant, weigh_number
from critic.provenance.texts import NARROW, PATHS, WIDE, Reading, as_written
from critic.provenance.tool_words import stem_of
from critic.provenance.value_kinds import Sought, holds_no_word
from evals.capability import Role

_WINDOW: Final = 120
_BETWEEN: Final = f"[ :({QUOTES}]*"
_WORD_BEFORE: Final = re.compile(rf"({WORD}++){_BETWEEN}(?:(?:named|called|titled){_BETWEEN})?\Z")
_WORD_AFTER: Final = re.compile(rf"[ ){QUOTES}]*({WORD}++)")
_TO_OR_WITH: Final = re.compile(rf"(?<!{WORD})(?:to|with) \Z")


_NamesIn = Callable[[ItemText, TextForm], NameSpans]


def find_meant(
    place: Place, value: Sought, role: Role, nouns: Nouns, shown: Shown | None
) -> tuple[ItemText | None, bool]:
    """Return the first entry of a place that holds a value, and whether any of them means it."""
    if value.is_short_number:
        return weigh_number(place, value, role, nouns, shown)
    found = place.says(value, shown)
    if value.form not in ("path", "text"):
        return found or place.says_group(value, shown), found is not None
    if found is None:
        entry, is_meant = find_adjoining(place, value, nouns.own, shown)
        return entry, is_meant and not PLAIN_WORDS.issuperset(_words_of(value.narrow))
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
    form = _form_of(value)
    if found is None or not names_in(found, form):
        return found, found is not None
    for entry, at in place.texts(_reading_of(value)).occurrences(value.said, shown):
        if not _is_part(names_in(entry, form), entry.text(form), value, at):
            return entry, True
    return found, False  # beside longer names, or in none of the places that were looked at


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
    for reading in (WIDE, NARROW):
        for entry, at in place.texts(reading).occurrences(value.narrow, shown):
            if number_is_meant(entry.text(reading.form), at, Nouns(nouns.own)):
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
    if PLAIN_WORDS.issuperset(words):
        return False
    beside = (_WORD_BEFORE.search(left), _WORD_AFTER.match(right))
    if any(match and stem_of(match[1]) in own for match in beside) or _names_noun(words, own):
        return True
    if not PLAIN_WORDS.isdisjoint(words):
        return False
    if role == "recipient" and _TO_OR_WITH.search(left):
        return True
    return is_capitalized(text, start, end)


def _words_of(text: str) -> list[str]:
    return small(text).replace("-", " ").split(" ")


def _names_noun(words: Sequence[str], own: frozenset[str]) -> bool:
    """Return whether words stand beside the noun of the argument, and hold it: a living room."""
    sides = (words[1:], words[0]), (words[:-1], words[-1])
    return any(stem_of(noun) in own and not PLAIN_WORDS.issuperset(one) for one, noun in sides)


def _last_line(text: str) -> str:
    return text[text.rfind("\n") + 1 :]
