"""Whether a text says of what a number of three digits or fewer is the number.

Rule 1: it is meant after the noun of the argument, after `#` or `id`, or in a list of such numbers.
        `id`, `no.` and `number` belong to the noun before them where a tool that is called has it.
Rule 2: what may count something else, in a list or behind an answer, is only a word. So is what a
        unit or the sign of a currency stands behind, what begins a line of a list, a part of a
        number with commas, a number behind a noun that has a capital, beside letters that take no
        space, and between slashes.
"""

import re
from collections.abc import Iterator
from typing import Final

from critic.provenance.argument_nouns import MEANINGLESS, PLAIN_WORDS, Nouns, is_capitalized
from critic.provenance.boundaries import NO_CHANGE, UNSPACED, ScriptPattern
from critic.provenance.folding import QUOTES, WORD, mark_lines, small
from critic.provenance.holders import ItemText, Shown
from critic.provenance.place import Place
from critic.provenance.quoted_names import is_part, names_said
from critic.provenance.texts import NARROW
from critic.provenance.tool_words import stem_of
from critic.provenance.value_kinds import Sought
from evals.capability import Role

_WINDOW: Final = 120
_PART: Final = re.compile(rf"{WORD}++\.?|[^ ]")
_AROUND: Final = QUOTES + "()[]{}<>=*"
_NUMBER: Final = re.compile("[0-9]++")
_LISTED: Final = "(?:#?[0-9]{1,12}(?: ?[,;&] ?(?:and |or )?| and | or ))*"
_NOUN_BEFORE: Final = re.compile(rf"((?:(?![0-9_]){WORD})++):?[ ({QUOTES}]+{_LISTED}\Z")
_ROW: Final = re.compile("[0-9/]+")
_ROW_BEFORE: Final = re.compile(r"[0-9/]+\Z")
_MOST_ROWS: Final = 200
_WORD_BEHIND: Final = re.compile(f" +({WORD}++)")
_JOINS: Final = frozenset({",", ";", "&", "and", "or"})
_MARKS: Final = frozenset(
    (
        *("#", "id", "ids", "number", "numbers", "no.", "nos.", "nr.", "\u2116"),
        *("n\xba", "n.\xba", "n\xb0", "n.\xb0"),
    )
)
_LINE_BEGINS: Final = re.compile(r"(?:\A|\n)[ (]*+\Z")
_MARKER_ENDS: Final = re.compile(r"[.)]++ ++[^ \n]")
"""What makes a number that begins a line the marker of a list."""
_SIGN_BEHIND: Final = re.compile(" ?[%\u2030\u20ac$\xa3\xa5\u20b9]")
_THOUSANDS_BEHIND: Final = re.compile(",[0-9]{3}(?![0-9])")
_THOUSANDS_BEFORE: Final = re.compile(r"(?<![0-9,])[0-9]{1,3}(?:,[0-9]{3})*,\Z")
_SEVERAL_BEFORE: Final = re.compile(rf"[sS][: ({QUOTES}]*+(?:#?[0-9]{{1,3}},)*\Z")
"""Behind a noun for several things, commas part their numbers, also without spaces."""
_UNIT_BEHIND: Final = re.compile(f"[ \n]++({WORD}++)")
_UNITS: Final = frozenset(
    map(
        stem_of,
        (
            *("second", "minute", "min", "hour", "hr", "day", "night", "week", "month", "year"),
            *("time", "percent", "euro", "dollar", "pound", "kg", "piece", "item", "unit", "copy"),
            *("people", "person", "guest", "adult", "child", "children", "seat"),
        ),
    )
)
"""Stems of words that say what the number before them counts."""
_SENTENCE_NO: Final = re.compile(rf"(?:\A|[.!?\n])[ ({QUOTES}]*No\.[ \n]?\Z")
"""An answer, behind which a sentence may begin with a number."""
_UNSPACED: Final = ScriptPattern(NO_CHANGE, f"[{UNSPACED}]")
_COUNTED: Final = frozenset({"each", "more", "most", "of", "other", "out", "own", "same", "such"})
_BEHIND_LISTS: Final = PLAIN_WORDS - _COUNTED | {"today", "tomorrow"}
"""Words behind a list of numbers, of which none is a number of these."""


def weigh_number(
    place: Place, value: Sought, role: Role, nouns: Nouns, shown: Shown | None
) -> tuple[ItemText | None, bool]:
    """Return an entry that holds a short number as that of something, and whether it means it."""
    first: ItemText | None = None
    is_asked = role != "locator" and value.form == "text"
    for entry, at in place.texts(NARROW).occurrences(value.narrow, shown):
        text = entry.text(NARROW.form)
        is_meant = number_is_meant(text, at, nouns)
        if is_meant and _is_no_count(entry, value, at, nouns):
            return entry, True
        # What is to be read without a question is no number of any word.
        is_said = is_meant or (is_asked and _follows_word(entry, value, at, nouns))
        first = first or (entry if is_said else None)
    if first is None and is_asked:
        rows = ((one, at) for one in place.shown_entries(shown) for at in _rows_of(one, value))
        meant = (one for one, at in rows if number_is_meant(one.text(NARROW.form), at, nouns))
        first = next(meant, None)
    return first, False


def _rows_of(entry: ItemText, value: Sought) -> Iterator[int]:
    """Yield where numbers stand that slashes join, with a value among them: 881/882."""
    text = entry.text(NARROW.form)
    for one in (f"/{value.narrow}", f"{value.narrow}/"):
        at, left = text.find(one), _MOST_ROWS
        while at >= 0 and left:
            start, end = max(0, at - _WINDOW), at + _WINDOW
            before, behind = _ROW_BEFORE.search(text[start:at]), _ROW.match(text, at, end)
            first, last = at - len(before[0]) if before else at, behind.end() if behind else at
            if value.narrow in text[first:last].split("/") and _stands(text, first, last):
                yield first
            at, left = text.find(one, at + 1), left - 1


def _stands(text: str, start: int, end: int) -> bool:
    begins, ends = NARROW.begins.of(text), NARROW.ends.of(text)
    return bool(text[start] != "/" and begins.match(text, start) and ends.match(text, end))


def _is_no_count(entry: ItemText, value: Sought, at: int, nouns: Nouns) -> bool:
    """Return whether a number that is meant can be none of a longer name or of other things."""
    text, end = entry.text(mark_lines), at + len(value.narrow)
    if is_part(names_said(entry, mark_lines), text, at, end, is_path=False):
        return False
    before, behind = text[max(0, at - _WINDOW) : at], text[end : end + _WINDOW]
    if _SENTENCE_NO.search(before) or _is_other(before, value.narrow, behind, nouns):
        return False
    counted = _WORD_BEHIND.match(small(behind))
    is_listed = counted is not None and _drop_list(_parts_of(small(before)))
    return not is_listed or counted is None or _may_follow_list(counted[1], nouns.own)


def _is_other(before: str, number: str, behind: str, nouns: Nouns) -> bool:
    """Return whether a number marks a line, is a part of a longer one, or has a unit."""
    if len(number) < 3 and _MARKER_ENDS.match(behind) and _LINE_BEGINS.search(before):
        return True
    is_part_of_thousands = _THOUSANDS_BEHIND.match(behind) or (
        len(number) == 3 and _THOUSANDS_BEFORE.search(before)
    )
    if is_part_of_thousands and not _SEVERAL_BEFORE.search(before):
        return True
    unit = _UNIT_BEHIND.match(behind)
    is_counted = unit is not None and stem_of(small(unit[1])) in _UNITS - nouns.own
    return is_counted or _SIGN_BEHIND.match(behind) is not None


def _may_follow_list(word: str, own: frozenset[str]) -> bool:
    return word in _BEHIND_LISTS or stem_of(word) in own or _NUMBER.fullmatch(word) is not None


def _follows_word(entry: ItemText, value: Sought, at: int, nouns: Nouns) -> bool:
    """Return whether a number may be that of a noun of another language: German has capitals."""
    text, end = entry.text(mark_lines), at + len(value.narrow)
    letters = _UNSPACED.of(text)
    if (at and letters.match(text, at - 1)) or letters.match(text, end):
        return True
    word = _NOUN_BEFORE.search(text, max(0, at - _WINDOW), at)
    noun = small(word[1]) if word else ""
    if word is None or noun in PLAIN_WORDS | MEANINGLESS or stem_of(noun) in nouns.others:
        return False
    return is_capitalized(text, *word.span(1))


def _parts_of(before: str) -> list[str]:
    return [part for part in _PART.findall(before) if part not in _AROUND]


def number_is_meant(text: str, start: int, nouns: Nouns) -> bool:
    """Return whether what stands before a number says of what it is the number."""
    parts = _parts_of(text[max(0, start - _WINDOW) : start])
    _drop_list(parts)
    marked = _drop_marks(parts)
    if parts and parts[-1] in ("no", "nr") and len(parts) > 1 and stem_of(parts[-2]) in nouns.own:
        return True
    stem = stem_of(parts[-1].rstrip(".")) if parts else ""
    if stem in nouns.own and not parts[-1].endswith("."):
        return True
    return marked and stem not in nouns.others


def _drop_marks(parts: list[str]) -> bool:
    """Drop what says that a number follows, and return whether anything did."""
    marked = False
    while parts:
        if len(parts) > 1 and parts[-1] in "\xb0\xba":
            parts[-2:] = ["".join(parts[-2:])]
        if not (parts[-1] in _MARKS or (parts[-1] == ":" and len(parts) > 1)):
            break
        marked = marked or parts[-1] != ":"
        parts.pop()
    return marked


def _drop_list(parts: list[str]) -> bool:
    """Drop the numbers of a list before its last one, with what joins them, if there are any."""
    count = len(parts)
    while parts and parts[-1] in _JOINS:
        kept = parts[:]
        while parts and parts[-1] in _JOINS:
            parts.pop()
        if not parts or not _NUMBER.fullmatch(parts[-1].rstrip(".")):
            parts[:] = kept
            break
        parts.pop()
        if parts and parts[-1] == "#" and len(parts) > 1:
            if parts[-2] not in _JOINS:
                break
            parts.pop()
    return len(parts) < count
