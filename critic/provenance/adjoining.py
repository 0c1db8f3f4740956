"""A value in a request that signs around it keep from standing there as a whole.

Rule 1: it is meant where the sign is none of it: behind a label that is the noun of the argument
        (`order:ORD-7`), and of a path behind `./`, and with a file ending behind `@` or before
        the number of a line.
Rule 2: with a sign that may hold a longer value together it is only words: beside another of its
        shape (`ORD-7/ORD-8`), behind another label, between two marks, beside letters that take
        no space, and beside any sign that joins neither words nor paths (`report(1)`).
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from critic.provenance.boundaries import (
    ALL_CHANGES,
    JOINT,
    NO_CHANGE,
    UNSPACED,
    ScriptPattern,
    begins_of,
    ends_of,
)
from critic.provenance.folding import QUOTES, WORD, mark_lines, small
from critic.provenance.holders import ItemText, Shown, TextForm
from critic.provenance.place import Place
from critic.provenance.quoted_names import is_part, names_said
from critic.provenance.texts import NARROW, PATHS, Reading, as_written
from critic.provenance.tool_words import stem_of
from critic.provenance.value_kinds import Sought

_MOST_PLACES: Final = 20
_WINDOW: Final = 120
_NO, _WORDS, _MEANT = range(3)
_WORD: Final = ScriptPattern("[A-Za-z0-9]++", f"[A-Za-z0-9]++|(?![A-Za-z0-9_]){WORD}")
_WHATEVER: Final = ScriptPattern("", "")
_LABEL: Final = re.compile(rf"((?<!\S)[(\[{{{QUOTES}]*+)?({WORD}++)[:=]\Z")
"""A label, with what opens before it where it stands by itself: in a link it is of the query."""
_LABELS: Final = frozenset(map(stem_of, ("id", "no", "nr", "number", "file", "path")))
_NUMBERS: Final = re.compile("[0-9]+")
_LINE: Final = re.compile("(?::[0-9]{1,6}){1,2}")
_FILE: Final = re.compile(r"(?:.*/)?[^/]*\.[A-Za-z][A-Za-z0-9]{0,9}", re.DOTALL)
_APART: Final = ScriptPattern(NO_CHANGE, ALL_CHANGES)
_LETTER: Final = ScriptPattern(NO_CHANGE, f"[{UNSPACED}]")
_UNSPACED: Final = ScriptPattern(NO_CHANGE, f"[{UNSPACED}]{{2,}}")
_IN_PATH: Final = r"./:@\\+%~=$*&\-"
_LOOSE: Final[dict[Reading, tuple[re.Pattern[str], re.Pattern[str]]]] = {
    NARROW: (
        re.compile(begins_of(NO_CHANGE, JOINT)),
        re.compile(ends_of(NO_CHANGE, JOINT)),
    ),
    PATHS: (
        re.compile(rf"(?<!{WORD})(?<![{_IN_PATH})}}\]])"),
        re.compile(f"(?!{WORD}|[{_IN_PATH}{{])"),
    ),
}
"""Where a value may begin and end if nothing but a joint held it to what is beside it."""


def _without_signs(form: TextForm) -> Reading:
    """Return how texts are read for words that any sign parts, and letters of other scripts."""

    def same_form(text: str) -> str:
        return form(text)

    # The places of tokens are kept by the form.
    return Reading(same_form, _WORD, _WHATEVER, _WHATEVER)


_APART_IN: Final = {one: _without_signs(one.form) for one in (NARROW, PATHS)}


def find_adjoining(
    place: Place, value: Sought, own: frozenset[str], shown: Shown | None
) -> tuple[ItemText | None, bool]:
    """Return the first entry that holds a value beside other signs, and whether any means it.

    Args:
        own: the stems of the nouns of the argument.
    """
    reading, first = PATHS if value.is_path else NARROW, None
    for entry, at in _places_of(place, reading, value.said, shown):
        level = _level_at(reading, value, own, entry.text(reading.form), at)
        if level == _MEANT and not _is_part(entry, value, at):
            return entry, True
        first = entry if first is None and level >= _WORDS else first
    return first, False


def _is_part(entry: ItemText, value: Sought, at: int) -> bool:
    form, end = as_written if value.is_path else mark_lines, at + len(value.said)
    names = names_said(entry, form)
    return is_part(names, entry.text(form), at, end, is_path=value.is_path, beside=True)


def _places_of(
    place: Place, reading: Reading, value: str, shown: Shown | None
) -> Iterator[tuple[ItemText, int]]:
    """Yield where a value stands between any signs: of many places the first ones."""
    texts = place.texts(_APART_IN[reading])
    yield from islice(texts.occurrences(value, shown) if value else (), _MOST_PLACES)


def _level_at(reading: Reading, value: Sought, own: frozenset[str], text: str, at: int) -> int:
    end = at + len(value.said)
    begins, ends = reading.begins.of(text), reading.ends.of(text)
    before = _MEANT if begins.match(text, at) else _level_before(reading, value, own, text, at)
    if before == _NO:
        return _NO
    behind = _MEANT if ends.match(text, end) else _level_behind(reading, value, text, end)
    if behind == _NO or not _has_both_marks(reading, text, at, end):
        return _NO
    return min(before, behind)


def _level_before(reading: Reading, value: Sought, own: frozenset[str], text: str, at: int) -> int:
    sign = text[at - 1]
    if _is_beside(value, text, at):
        return _WORDS
    if sign in ":=" and (label := _LABEL.search(text[max(0, at - _WINDOW) : at])):
        name = small(label[2]) if label[1] is not None else ""
        is_own = stem_of(name) in own | _LABELS and (name != "no" or value.narrow[0].isdigit())
        return _MEANT if is_own else _NO if value.is_words else _WORDS
    if reading is PATHS:
        return _level_before_path(reading, value, text, at)
    if _is_listed(value, text[max(0, at - _WINDOW) : at], sign):
        return _WORDS
    return _level_of_loose(reading, text, at)


def _level_before_path(reading: Reading, value: Sought, text: str, at: int) -> int:
    sign = text[at - 1]
    if value.said.startswith(("/", "~")):
        if _LETTER.of(text).match(text, at - 1) or sign in "*_":
            return _WORDS
        return _level_of_loose(reading, text, at)
    if text.startswith("./", at - 2) and reading.begins.of(text).match(text, at - 2):
        return _MEANT
    if sign == "@" and reading.begins.of(text).match(text, at - 1):
        return _MEANT if _FILE.fullmatch(value.said) else _WORDS
    return _WORDS if sign in "*_" else _level_of_loose(reading, text, at)


def _level_of_loose(reading: Reading, text: str, at: int, *, is_end: bool = False) -> int:
    return _NO if _LOOSE[reading][is_end].match(text, at) is None else _WORDS


def _is_listed(value: Sought, beside: str, sign: str) -> bool:
    """Return whether a text stands between marks, or a joint parts it from one of its shape."""
    if sign == "_":
        return not value.is_words
    words = re.split("[ /+]", beside)
    others = words[-2:-1] if beside.endswith(sign) else words[1:2]
    shape = _NUMBERS.sub("0", value.said)
    return sign in "/+" and "0" in shape and [_NUMBERS.sub("0", one) for one in others] == [shape]


def _level_behind(reading: Reading, value: Sought, text: str, end: int) -> int:
    if _is_beside(value, text, end):
        return _WORDS
    if reading is not PATHS:
        if _is_listed(value, text[end : end + _WINDOW], text[end]):
            return _WORDS
        return _level_of_loose(reading, text, end, is_end=True)
    line = _LINE.match(text, end)
    if line is not None and reading.ends.of(text).match(text, line.end()):
        return _MEANT if _FILE.fullmatch(value.said) else _WORDS
    return _WORDS if text[end] in "*_" else _level_of_loose(reading, text, end, is_end=True)


def _is_beside(value: Sought, text: str, at: int) -> bool:
    """Return whether letters that take no space part a value from what is around it."""
    if _APART.of(text).match(text, at) is not None:
        return True
    is_name = _UNSPACED.of(value.said).fullmatch(value.said) is not None
    return is_name and _UNSPACED.of(text).match(text, at - 1) is not None


def _has_both_marks(reading: Reading, text: str, at: int, end: int) -> bool:
    """Return whether a mark before a value stands behind it, too, with nothing beside the two."""
    signs = text[at - 1 : at], text[end : end + 1]
    marks = [one for one in signs if one and one in ("*_" if reading is PATHS else "_")]
    if not marks:
        return True
    begins = reading.begins.of(text).match(text, at - 1)
    ends = reading.ends.of(text).match(text, end + 1)
    return len(marks) == 2 and signs[0] == signs[1] and bool(begins and ends)
