"""What stands as one name in quotes, or as an element of a list: a part of it is another name.

Rule 1: a quote opens behind anything but a letter or a digit, and closes before anything but these:
        else it is an apostrophe, or an inch. A sign that has one side alone needs no such test.
Rule 2: quotes end at the last sign that may close them before others of their kind open, on the
        same line.
Rule 3: a value is all of what quotes hold up to blanks, signs that end a sentence, and marks. A
        path is whole behind a command, too, where it shows by itself that it begins there.
Rule 4: of what a system shows, an element of a list is a name as well, if it is as short as a
        field, and one with a blank inside has parts that are none.
"""

import re
from bisect import bisect_right
from typing import Final

from critic.provenance.folding import WORD
from critic.provenance.holders import GAP, ItemText, NameSpans, TextForm
from critic.provenance.written_lists import parse_list

_PAIRS: Final = (
    *("\u300c\u300d", "\u300e\u300f", "\u300a\u300b", "\u3008\u3009", "\u3010\u3011"),
    *("\u3014\u3015", "\u3016\u3017", "\u301d\u301f"),
)
_CLOSED_BY: Final = {
    '"': '"\u201d',
    "\u201c": '\u201d"',
    "\u201e": '\u201c\u201d"',
    "\u201d": "\u201d",
    "\u201f": '\u201d"',
    "\xab": "\xbb",
    "\xbb": "\xab\xbb",
    "\u2039": "\u203a",
    "\u203a": "\u2039\u203a",
    "'": "'\u2019",
    "\u2018": "\u2019'",
    "\u2019": "\u2019",
    "\u201a": "\u2018\u2019",
    "\u201b": "\u2019'",
    "`": "`",
    **{pair[0]: pair[1] for pair in _PAIRS},
}
"""What closes what a sign opens, as each language writes it."""
_KINDS: Final = (
    *("'\u2018\u2019\u201a\u201b", '"\u201c\u201d\u201e\u201f', "\xab\xbb", "\u2039\u203a", "`"),
    *_PAIRS,
)
_KIND_OF: Final = {sign: kind for kind, signs in enumerate(_KINDS) for sign in signs}
_SINGLE, _LISTED = 0, len(_KINDS)
_SIGNS: Final = "".join(_KINDS)
_SIGN: Final = re.compile(f"[\n-\r\x85\u2028\u2029{_SIGNS}]")
_TWO_SIDED: Final = "\"'`\u2019"
"""Only what stands beside these tells whether they are quotes, and which side they are."""
_MOSTLY_CLOSING: Final = "\u201d\xbb\u203a\u2019"
_WITH_BLANKS: Final = "\u201c\u201e\xab\u300c\u300e\u300a"
"""What opens quotes that may have a blank inside, as French ones have."""
_LETTER: Final = re.compile("[0-9A-Za-z\xaa\xb5\xba\xc0-\u0dff\u1c80-\u1fff]")
"""Digits, and letters of scripts that put spaces between words."""
_BLANKS: Final = " \t\xa0\u2009\u202f\u3000"
_ENDS: Final = ".,;:!?\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f"
_LED_BY: Final = f"{_BLANKS}{_SIGNS}#@*_([{{<"
_ENDED_BY: Final = f"{_BLANKS}{_SIGNS}{_ENDS}/\\*_)]}}>"
_LABEL: Final = re.compile(rf"(?:{WORD}++[:=]|\./|@)\Z")
_LINE: Final = re.compile(r"\A(?::[0-9]{1,6}){1,2}")
_PATH_BEGINS: Final = re.compile(r"(?:~|\.{0,2})/|[A-Za-z]:[/\\]")
_LONGEST, _LONGEST_ELEMENT = 800, 80


class _Open:
    """Quotes that were opened: where, with which sign, and where the last one closed them."""

    __slots__ = ("end", "sign", "start")

    def __init__(self, start: int, sign: str) -> None:
        self.start, self.sign, self.end = start, sign, -1


def names_said(entry: ItemText, form: TextForm) -> NameSpans:
    """Return the names that a text of a person holds in quotes."""
    return entry.names(form, _find_said)


def names_listed(entry: ItemText, form: TextForm) -> NameSpans:
    """Return the names that a text of a system holds: as elements of lists, written out or not."""
    return entry.names(form, _find_listed)


def _find_said(entry: ItemText, form: TextForm) -> NameSpans:
    return _find_quoted(entry.text(form))


def _find_listed(entry: ItemText, form: TextForm) -> NameSpans:
    found: NameSpans = {}
    if any(text.lstrip().startswith("[") and parse_list(text) for text in entry.texts):
        found = _find_quoted(entry.text(form))
    _add_elements(found, entry, form)
    return found


def _add_elements(found: NameSpans, entry: ItemText, form: TextForm) -> None:
    """Add those texts of an entry that are names as elements of a list."""
    at = 0
    for index, text in enumerate(entry.texts if entry.elements else ()):
        length = len(form(text))
        is_name = len(text) <= _LONGEST_ELEMENT and text.splitlines() == [text]
        if index in entry.elements and is_name and " " in text.strip():
            _add(found, _LISTED, at, at + length)
        at += length + len(GAP)


def _find_quoted(text: str) -> NameSpans:
    """Return the spans in quotes, by the kind of quotes."""
    found: NameSpans = {}
    opened: dict[int, _Open] = {}
    for match in _SIGN.finditer(text):
        at, sign = match.start(), match[0]
        kind = _KIND_OF.get(sign)
        if kind is None:
            _close_all(found, opened)
            continue
        one = opened.get(kind)
        if one is not None and at - one.start > _LONGEST:
            _add_closed(found, kind, opened.pop(kind))
            one = None
        if _may_open(text, at, sign, one):
            if one is not None:
                _add_closed(found, kind, one)
            opened[kind] = _Open(at, sign)
        elif one is not None and _may_close(text, at, sign, one):
            one.end = at
    _close_all(found, opened)
    return found


def _close_all(found: NameSpans, opened: dict[int, _Open]) -> None:
    for kind, one in opened.items():
        _add_closed(found, kind, one)
    opened.clear()


def _add_closed(found: NameSpans, kind: int, one: _Open) -> None:
    if one.end >= 0:
        _add(found, kind, one.start + 1, one.end)


def _add(found: NameSpans, kind: int, start: int, end: int) -> None:
    starts, ends = found.setdefault(kind, ([], []))
    starts.append(start)
    ends.append(end)


def _may_open(text: str, at: int, sign: str, one: _Open | None) -> bool:
    """Return whether a sign opens quotes, where others of their kind may be open."""
    is_tested = at > 0 and sign in _TWO_SIDED + _MOSTLY_CLOSING
    if sign not in _CLOSED_BY or (is_tested and _LETTER.match(text, at - 1)):
        return False
    if one is None:
        return True
    if one.end >= 0:
        return sign not in _MOSTLY_CLOSING or text[at - 1] in _BLANKS + "([{"
    # An apostrophe may begin a word: the '90s.
    return _KIND_OF[sign] == _SINGLE and not _may_close(text, at, sign, one)


def _may_close(text: str, at: int, sign: str, one: _Open) -> bool:
    if sign not in _CLOSED_BY[one.sign]:
        return False
    is_tested = sign in _TWO_SIDED or sign == one.sign
    return not is_tested or _LETTER.match(text, at + 1) is None


def is_part(
    names: NameSpans, text: str, start: int, end: int, *, is_path: bool, beside: bool = False
) -> bool:
    """Return whether a value that stands in a text is but a part of a name.

    Args:
        beside: whether a label or a mark beside the value is none of the name.
    """
    for starts, ends in names.values():
        at = bisect_right(starts, start) - 1
        if at >= 0 and end <= ends[at]:
            led, rest = text[starts[at] : start], text[end : ends[at]]
            if beside:
                led, rest = _LABEL.sub("", led), _LINE.sub("", rest)
            if rest.strip(_ENDED_BY):
                return True
            is_begun = is_path and _PATH_BEGINS.match(text, start) is not None
            if led.strip(_LED_BY) and not (is_begun and _is_command(led)):
                return True
    return False


def _is_command(led: str) -> bool:
    """Return whether what stands before a path is apart from it, and begins no path itself."""
    return led[-1] in _BLANKS and "/" not in led and "\\" not in led


def is_quoted(names: NameSpans, text: str, start: int, end: int) -> bool:
    """Return whether a value stands in quotes by itself, but for signs that end a sentence."""
    for kind, (starts, ends) in names.items():
        at = bisect_right(starts, start) - 1
        if kind == _LISTED or at < 0 or end > ends[at]:
            continue
        first, last = starts[at], ends[at]
        inside = text[first:start], text[end:last].strip(_ENDS)
        blank = " " if text[first - 1] in _WITH_BLANKS else ""
        if inside[0] in ("", blank) and inside[1] in ("", blank):
            sides = (first - 2, last + 1) if _KINDS[kind] not in _PAIRS else ()
            return not any(one >= 0 and _LETTER.match(text, one) for one in sides)
    return False
