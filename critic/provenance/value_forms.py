"""The forms of a value: its spelling, lists written as text, hosts, addresses in content, and days.

Rule 1: a verdict does not change with Python. Compatibility forms are those of Unicode 3.2, case is
        folded for the characters of Unicode 3.2 (folding is stable for what a version has), and
        words and spaces are listed, not looked up.
Rule 2: `https?://`, trailing `/` and `.`, quotes around a value, case, compatibility forms and the
        kind of white space do not count. 7, 7.0 and "7" are one value.
Rule 3: null, booleans, the empty text, and keys of objects are not values.
Rule 4: every pattern runs in linear time. So does Unicode normalization, since of a run of
        combining marks the first 30 count.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple
from unicodedata import ucd_3_2_0

import orjson

from evals.canonical_json import canonical_json

SEPARATORS: Final = (
    "\x00-/:-@\\[-^`{-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u2000-\u200a\u2010-\u2029\u202f-\u203e\u2041-\u2053\u2055-\u205f\u20a0-\u20cf\u2190-\u22ff"
    "\u3000-\u3004\u3008-\u3020\u3030\uff01-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff40\uff5b-\uff65"
)
"""The inside of a character class: what is not part of a word. The underscore is part of one."""

WORD: Final = f"[^{SEPARATORS}]"
"""A pattern of one character of a word."""

_IN_HOST: Final = f"[^{SEPARATORS.replace('-/', '-,./', 1)}]"  # a word or a hyphen
_IN_ADDRESS: Final = f"[^{SEPARATORS.replace('-/', '-*,/', 1)}]"  # a word, or one of + - .
_IN_LINK: Final = r"[^\x00-\x20\x85\u1680\u180e\u2028\u2029<>\"'`|\\^{}()\[\]]"
_SPACE: Final = re.compile(
    "[\t-\r\x1c- \x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
)
_LINE_BREAK: Final = re.compile("[\n-\r\x1c-\x1e\x85\u2028\u2029]")
_SCHEME: Final = re.compile("https?://")
_QUOTES: Final = " '\"`\u2018\u2019\u201c\u201d\xab\xbb"
_HOST: Final = re.compile(rf"((?:{_IN_HOST}++\.)++[a-z]{{2,}}+)(?=$|[/:?#])")
# Endings of files that are top-level domains too, and seldom end a host that people name bare.
_FILE_ENDINGS: Final = frozenset({"md", "mov", "py", "zip"})
_A_QUOTE: Final = "22"
_SURROGATES: Final = range(0xD800, 0xE000)
_LAST_CODE: Final = 0x10FFFF
_SHORT_NUMBER: Final = re.compile("[0-9]{1,3}")
_ONE_WORD: Final = re.compile(f"(?:{WORD}|[.@-]){{1,40}}")
_LONGEST_FIELD: Final = 80
_MOST_MARKS: Final = 30

_ADDRESSES: Final = re.compile(
    rf"(?<!{_IN_ADDRESS}){_IN_ADDRESS}++@{_IN_HOST}++(?:\.{_IN_HOST}++)++"
    rf"|(?:[Hh][Tt][Tt][Pp][Ss]?://|(?<!{WORD})[Ww][Ww][Ww]\.){_IN_LINK}*{WORD}"
    rf"|(?<!{WORD})[A-Z]{{2}}[0-9]{{2}}[A-Z0-9]{{8,}}+(?!{WORD})"
)
_BESIDE_ADDRESS: Final = "+-."

_LONG_INTEGER: Final = r"(?<![A-Za-z0-9_.+-])(-?[1-9][0-9]{18,}+)(?![A-Za-z0-9_.+-])"
# An unclosed quote takes all that is left, so that each character is looked at once.
_JSON_TOKEN: Final = re.compile(rf'"(?:[^"\\]|\\.)*+"|".*|{_LONG_INTEGER}', re.DOTALL)
_PYTHON_TOKEN: Final = re.compile(
    r"""'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|(['"].*)"""
    r"""|(?<![A-Za-z0-9_])(True|False|None)(?![A-Za-z0-9_])|,(?=[ \t\r\n]*+\])|""" + _LONG_INTEGER,
    re.DOTALL,
)
_PYTHON_ESCAPE: Final = re.compile(
    r'\\(?:([0-7]{1,3})|x([0-9a-fA-F]{2})|U([0-9a-fA-F]{8})|(.))|"', re.DOTALL
)
_JSON_NAMES: Final[Mapping[str, str]] = {"True": "true", "False": "false", "None": "null"}
_JSON_ESCAPES: Final[Mapping[str, str]] = {
    "a": "\\u0007",
    "v": "\\u000b",
    "\n": "",
    "'": "'",
    "/": "\\\\/",
}

_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH: Final = "(" + "|".join(f"{name[:3]}(?:{name[3:]})?" for name in _MONTHS) + ")"
_ISO_DAY: Final = re.compile(r"(?<![0-9])([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")
_US_DAY: Final = re.compile(r"(?<![0-9/])([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})(?![0-9/])")
_MONTH_DAY: Final = re.compile(
    rf"(?<!{WORD}){_MONTH}[.,]? ([0-9]{{1,2}})(?:st|nd|rd|th)?(?!{WORD})"
)
_DAY_MONTH: Final = re.compile(
    rf"(?<!{WORD})([0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?!{WORD})"
)


class Day(NamedTuple):
    """A day of the calendar; a text that says `May 9` names no year."""

    year: int | None
    month: int
    day: int


class _CaseTable(dict[int, str]):
    """The case folding of characters, each worked out once. Those after Unicode 3.2 stay."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = folded = char if ucd_3_2_0.category(char) == "Cn" else char.casefold()
        return folded


_FOLDED: Final = _CaseTable()

_BESIDE_NEWER: Final = "\ud800"
"""Parts what is newer than Unicode 3.2 from the rest: no valid text holds a lone surrogate."""


class _NewerApart(dict[int, str]):
    """Characters as they are, those after Unicode 3.2 between two marks."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        is_newer = ucd_3_2_0.category(char) == "Cn"
        self[code] = apart = f"{_BESIDE_NEWER}{char}{_BESIDE_NEWER}" if is_newer else char
        return apart


_NEWER_APART: Final = _NewerApart()


def canonical(text: str) -> str:
    """Return the text as values and texts are compared, with one space for any white space."""
    folded = text.lower() if text.isascii() else _compatible(_fold_case(_compatible(text)))
    return _SPACE.sub(" ", _SCHEME.sub("", folded))


def _fold_case(text: str) -> str:
    return text.translate(_FOLDED)


def _compatible(text: str) -> str:
    """Return the text in NFKC of Unicode 3.2. What is newer stays, and nothing moves across it.

    By themselves, the tables of 3.2 in Python compose newer characters and sort newer marks.
    """
    if len(text) > _MOST_MARKS:
        text = _long_runs_of_marks().sub(r"\1", text)
    return ucd_3_2_0.normalize("NFKC", text.translate(_NEWER_APART)).replace(_BESIDE_NEWER, "")


@cache
def _long_runs_of_marks() -> re.Pattern[str]:
    """Return what matches the marks that count in a run, as its group, and those that do not."""
    # NFKC sorts each run by insertion. Five characters of class 0 decompose into marks.
    codes = (*range(0x300, 0x10000), *range(0x1D000, 0x1D200))
    marks = "".join(char for char in map(chr, codes) if ucd_3_2_0.combining(char))
    mark = f"[{marks}\u0f73\u0f75\u0f81\uff9e\uff9f]"
    return re.compile(f"({mark}{{{_MOST_MARKS}}}){mark}+")


def spelling(value: str | int | float) -> str:
    """Return the one spelling of a value. It is empty where nothing is left that could count."""
    text = value if type(value) is str else canonical_json(value).decode()
    return canonical(text).strip(_QUOTES).rstrip("/.")


def elements(value: Any) -> Iterator[str | int | float]:
    """Yield the values in a scalar: none, the scalar itself, or those of a list written as text."""
    if type(value) is not str:
        if type(value) is int or type(value) is float:
            yield value
        return
    listed = _parse_list(value)
    if listed is None:
        yield from (value,) if value else ()
    else:
        yield from leaves(listed)


def leaves(value: Any) -> Iterator[str | int | float]:
    """Yield every text and number in a JsonValue but the empty text, in the order of the value."""
    open_values = [value]
    while open_values:
        current = open_values.pop()
        if type(current) is dict:
            open_values.extend(reversed(current.values()))
        elif type(current) is list:
            open_values.extend(reversed(current))
        elif type(current) in (str, int, float) and current != "":
            yield current


def _parse_list(text: str) -> list[Any] | None:
    """Return the list that a text spells, as JSON or as Python does; None where it spells none."""
    text = text.strip(" \t\r\n")
    if not (text.startswith("[") and text.endswith("]")):
        return None
    as_json = _JSON_TOKEN.sub(_exact, text)
    for spelled in (as_json, _PYTHON_TOKEN.sub(_as_json, text)):
        try:
            value = orjson.loads(spelled)
        except orjson.JSONDecodeError:
            continue
        return value if type(value) is list else None
    return None


def _exact(token: re.Match[str]) -> str:
    """Return a token of JSON. An integer that may not fit 64 bits becomes a text of its digits."""
    return f'"{token[1]}"' if token[1] else token[0]


def _as_json(token: re.Match[str]) -> str:
    single, double, unclosed, name, integer = token.groups()
    inner = double if single is None else single
    if inner is not None:
        return f'"{_PYTHON_ESCAPE.sub(_json_escape, inner)}"'
    return f'"{integer}"' if integer else unclosed or _JSON_NAMES.get(name, "")


def _json_escape(escape: re.Match[str]) -> str:
    """Return an escape of a Python string, or a quote in it, as JSON writes it."""
    octal, short, long, char = escape.groups()
    if char:
        return _JSON_ESCAPES.get(char, escape[0])
    code = int(octal, 8) if octal else int(short or long or _A_QUOTE, 16)
    if code in _SURROGATES or code > _LAST_CODE:
        return escape[0]  # JSON has no such escape
    return canonical_json(chr(code))[1:-1].decode()


def is_short_number(value: str) -> bool:
    """Return whether a spelling is a number of three digits or fewer."""
    return _SHORT_NUMBER.fullmatch(value) is not None


def host_of(value: str) -> str | None:
    """Return the host that a spelling begins with. An e-mail address or a file name has none."""
    if "@" in value or " " in value:
        return None
    match = _HOST.match(value)
    if match is None or (match[1] == value and _is_file_name(value)):
        return None
    return match[1]


def _is_file_name(host: str) -> bool:
    """Return whether what looks like a host by itself is rather the name of a file."""
    return host.rpartition(".")[2] in _FILE_ENDINGS and not host.startswith("www.")


def addresses_in(text: str) -> Iterator[str]:
    """Yield the e-mail addresses, links and account numbers in a text, as they are written."""
    plain = text if text.isascii() else _compatible(text)
    for match in _ADDRESSES.finditer(plain):
        yield match[0].strip(_BESIDE_ADDRESS)


def iso_days(text: str) -> list[Day]:
    """Return the days that a text spells in ISO form."""
    return [Day(*map(int, match.groups())) for match in _ISO_DAY.finditer(text)]


def days_in(text: str) -> Iterator[Day]:
    """Yield the days that a canonical text names in any form."""
    yield from iso_days(text)
    for month, day, year in _US_DAY.findall(text):
        yield Day(int(year), int(month), int(day))
    for name, day in _MONTH_DAY.findall(text):
        yield _named_day(name, day)
    for day, name in _DAY_MONTH.findall(text):
        yield _named_day(name, day)


def _named_day(name: str, day: str) -> Day:
    number = next(at for at, month in enumerate(_MONTHS, 1) if month.startswith(name))
    return Day(None, number, int(day))


class Content(NamedTuple):
    """The values in a piece of evidence: fields of records, and free texts, both as written."""

    fields: list[str | int | float]
    texts: list[str | int | float]


def content_of(content: Any, record_fields: frozenset[str]) -> Content:
    """Split the content of a piece of evidence. A text is free text as a whole.

    Fields are the leaves below the keys of `record_fields`, the keys of an object that such a key
    holds, and elements of lists that are one word of at most 40 characters. What is longer than 80
    characters or has a line break is free text. All other leaves are.
    """
    found = Content([], [])
    open_values = [_Inner(content)]
    while open_values:
        value, is_field, is_element = open_values.pop()
        if type(value) is dict:
            open_values += _inner_members(value, is_field, record_fields)
        elif type(value) is list:
            open_values += [_Inner(inner, is_field, True) for inner in value]
        elif type(value) in (str, int, float) and value != "":
            short = _is_short(value) and (is_field or (is_element and _is_one_word(value)))
            (found.fields if short else found.texts).append(value)
    return found


class _Inner(NamedTuple):
    """A value in a structured result: whether it is below a record field, and in a list."""

    value: Any
    is_field: bool = False
    is_element: bool = False


def _inner_members(
    value: dict[str, Any], is_field: bool, record_fields: frozenset[str]
) -> Iterator[_Inner]:
    for key, inner in value.items():
        yield _Inner(inner, is_field or key in record_fields)
        if key in record_fields and type(inner) is dict:
            yield from (_Inner(name, True) for name in inner)


def _is_short(value: str | int | float) -> bool:
    return type(value) is not str or (
        len(value) <= _LONGEST_FIELD and _LINE_BREAK.search(value) is None
    )


def _is_one_word(value: str | int | float) -> bool:
    return type(value) is not str or _ONE_WORD.fullmatch(value) is not None
