"""Numbers of accounts and telephones in texts: as a tool would read them, and as a reader may.

Rule 1: a number is written in groups, which spaces and hyphens part, on one line. A group with a
        digit beside others with digits is a part of their number, and no number by itself.
Rule 2: groups that are an IBAN, of the length that its country has and with the right check digits,
        are one number: what stands beside it is another. So are those of a telephone number with a
        `+`, which counts. Round brackets do not.
        A short group at the end of a line may go on in the next one.
Rule 3: what may stand beside a number is a list of signs. With any other it may be a part.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from critic.provenance.boundaries import CHANGES, UNSPACED, compile_pattern
from critic.provenance.folding import QUOTES, WORD, mark_lines, small, wide
from critic.provenance.ibans import find_iban, iban_length, is_iban

SEPARATED: Final = re.compile("[ -]+")
WIDE_GAPS: Final = re.compile("[ ./()\u2010-\u2015\u2212-]+")
_WRAPPED: Final = re.compile("[ \n-]+")
GROUP: Final = f"(?:(?!_){WORD})++"
PARTED_GROUP: Final = f"(?!_){WORD}(?:(?!_|{CHANGES}){WORD})*+"
_GROUPS: Final = re.compile(GROUP)
ASCII_GROUPS: Final = re.compile("[A-Za-z0-9]++")
_IN_BRACKETS: Final = r"\([0-9]{2,5}\)"
_LONG_ENOUGH: Final = r"(?<![0-9][ -])(?=(?:[ ()-]*+[0-9]){7})"
"""Without a `+`, a number with brackets stands behind no other, and has seven digits."""


def _phone_of(ends: str) -> str:
    """Return a pattern of a telephone number, of which each group ends so."""
    code = rf"\+[0-9]{{1,4}}+(?:[ -]?(?:\(0\)|{_IN_BRACKETS}))?+"
    return rf"(?:{code}|{_LONG_ENOUGH}(?:[0178][ -]?)?+{_IN_BRACKETS})(?:[ -]*+[0-9]++{ends})++"


_ASCII_UNITS: Final = re.compile(r"(?<!\w)" + _phone_of(r"(?!\w)") + "|[A-Za-z0-9]++", re.ASCII)
_UNITS: Final = f"(?<!{WORD}){_phone_of(f'(?!{WORD})')}|{GROUP}"
_PARTED_UNITS: Final = (
    f"(?:(?<!{WORD})|(?<=[{UNSPACED}]))"
    + _phone_of(f"(?:(?!{WORD})|{CHANGES})")
    + f"|{PARTED_GROUP}"
)
_ONE_PHONE: Final = re.compile(_phone_of(""))
_COUNTED: Final = re.compile(
    r"(?=(?:[^0-9]*+[0-9]){11}).*[0-9]{2} +[0-9]|(?=(?:[^0-9]*+[0-9]){12}).*[0-9]{3} +[0-9]{2}"
)
"""A number that may be complete before its last group, as in `+49 170 1234567 5 times`."""
_DROPPED: Final = re.compile(r"\(0\)|[ ()-]")
_INSIDE_BEFORE: Final = re.compile(rf"(?<=[_+%~\\])|(?<={WORD}[./@-])|(?<=(?![A-Za-z]){WORD}:)")
_INSIDE_AFTER: Final = re.compile(rf"[_+%~\\]|[./:@-]{WORD}")
_OPENS: Final = f"([{{<{QUOTES}*#"
_STOPS: Final = " \n|;\u2014\u2026\u2022\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
_BEGINS_BEHIND: Final = f"{_STOPS}\uff08\u3010\u300a\u300c\u300e"
_ENDS_BEFORE: Final = f"{_STOPS}<\uff09\u3011\u300b\u300d\u300f"
_CLOSES: Final = rf"[\])}}>{QUOTES}*.,:!?]"
_ENDS: Final = re.compile(
    rf"(?:['\u2019]s)?+{_CLOSES}*+(?:\Z|[{_ENDS_BEFORE}])"
    rf"|[{QUOTES}](?:[\])}}]*+[,:;]|/?>)|[,;](?=[{QUOTES}{{\[A-Za-z-])|&(?=[A-Za-z]++=)"
)
_ENDS_BESIDE: Final = f"{_CLOSES}++[{UNSPACED}]|{CHANGES}"
_MOST_SIGNS: Final = 8
IBAN_SHAPE: Final = re.compile("[A-Za-z]{2}[0-9]{2}[A-Za-z0-9]{8,30}")
_DIGIT: Final = re.compile("[0-9]")
_LINE_BEGINS: Final = re.compile("\n([A-Za-z0-9]{1,7})(?![A-Za-z0-9])")
_LINE_ENDS: Final = re.compile("(?<![A-Za-z0-9])([A-Za-z0-9]{1,7})\n\\Z")
_NO_GROUP: Final = 8
"""Characters of a number that nobody writes as one of its groups."""
_SHORTEST, _LONG, _LONGEST, MOST_GROUPS = 4, 16, 62, 12
_SHORTEST_PHONE, _LONGEST_PHONE = 7, 15
_SHORTEST_HEAD: Final = 3  # of an IBAN: two letters and a digit


class _Group(NamedTuple):
    """A group of a number, or all of one, and where it stands.

    Attributes:
        has_digit: whether it has a digit; false, too, of what may be a number and a count.
    """

    start: int
    end: int
    text: str
    has_digit: bool
    is_whole: bool = False


def account_form(text: str) -> str | None:
    """Return a number without what parts its groups; None where a text is none."""
    plain = small(text)
    form = _DROPPED.sub("", plain) if is_phone_like(plain) else SEPARATED.sub("", plain)
    is_one = _GROUPS.fullmatch(form.removeprefix("+")) is not None
    if not is_one or not _SHORTEST <= len(form) <= _LONGEST or _DIGIT.search(form) is None:
        return None
    return form if len(_GROUPS.findall(plain)) <= MOST_GROUPS else None


def wide_account_form(text: str) -> str:
    """Return the wide form of a number."""
    return WIDE_GAPS.sub("", wide(text)).removeprefix("+")


def is_phone_like(text: str) -> bool:
    """Return whether a text is written as a telephone number with a `+` or brackets."""
    return _ONE_PHONE.fullmatch(text) is not None


def is_phone(text: str) -> bool:
    """Return whether a text is a telephone number by its shape alone."""
    count = len(_DIGIT.findall(text)) if is_phone_like(text) else 0
    return _SHORTEST_PHONE <= count <= _LONGEST_PHONE


def by_lines(text: str) -> str:
    """Return a narrow text with the breaks of its lines and cells: so are numbers read."""
    return small(mark_lines(text.replace("\t", "|")))


def accounts_in(text: str) -> Iterator[str]:
    """Yield what is an account number in a text by lines, without what separates its groups."""
    for units in _units_for(text):
        run: list[_Group] = []
        groups, since_digit, is_beside = _groups_in(units, text), MOST_GROUPS, False
        group = next(groups, None)
        while group is not None:
            following = next(groups, None)
            if run and (group.is_whole or not is_beside):
                run.clear()
            run.append(group)
            del run[:-MOST_GROUPS]
            since_digit = 0 if group.has_digit else since_digit + 1
            is_beside = following is not None and _are_beside(text, group, following)
            is_end = following is None or not is_beside or not _goes_on(group, following)
            # A run without a digit is no account.
            is_end = is_end and since_digit < len(run)
            if is_end and (_may_end(text, group.end) or _is_in_cells(text, run)):
                yield from _ending_here(text, run)
            if group.is_whole:
                run.clear()
            group = following


def _units_for(text: str) -> tuple[re.Pattern[str], ...]:
    if text.isascii():
        return (_ASCII_UNITS,)
    return compile_pattern(_UNITS), compile_pattern(_PARTED_UNITS)


def account_groups_in(text: str) -> Iterator[str]:
    """Yield each group of a text by lines, and what a telephone number begins with.

    A person may have meant such a part: with a number behind it, or without its `+`.
    """
    for units in _units_for(text):
        for group in _groups_in(units, text):
            if len(group.text) < _SHORTEST:
                continue  # nor has a telephone number as short enough digits
            if _INSIDE_AFTER.match(text, group.end) or _INSIDE_BEFORE.match(text, group.start):
                continue
            written = text[group.start : group.end]
            if "+" in written or "(" in written:
                yield from _phone_beginnings(written)
            elif len(group.text) >= _SHORTEST and group.has_digit:
                yield group.text


def _phone_beginnings(written: str) -> Iterator[str]:
    joined = ""
    for group in _GROUPS.finditer(written.replace("(0)", " ")):
        joined += group[0]
        if len(joined) > _LONGEST_PHONE:
            return
        if len(joined) >= _SHORTEST_PHONE:
            yield joined
            if written[0] == "+":
                yield f"+{joined}"


def _goes_on(group: _Group, following: _Group) -> bool:
    """Return whether a number goes on with the group beside its last one."""
    is_ended = group.is_whole and group.text[0] != "+"
    return following.has_digit and not following.is_whole and not is_ended


def _ending_here(text: str, run: list[_Group]) -> Iterator[str]:
    """Yield the last groups of a run joined, one and more of them, unless they are a part."""
    joined, has_digit = "", False
    for at in range(len(run) - 1, -1, -1):
        group = run[at]
        joined, has_digit = group.text + joined, has_digit or group.has_digit
        if len(joined) > _LONGEST:
            return  # so is any longer one
        is_part = at > 0 and run[at - 1].has_digit
        if len(joined) < _SHORTEST or not has_digit or is_part:
            continue
        if _is_begun(text, group.start, run[-1].end) and not _is_wrapped(text, group, run[-1]):
            yield joined


def _is_begun(text: str, start: int, end: int) -> bool:
    if start and text[start - 1] in _BEGINS_BEHIND:
        return True
    return _may_begin(text, start) or _is_cell(text, start, end)


def _may_begin(text: str, at: int) -> bool:
    """Return whether what stands before a number is no part of it.

    A colon behind a letter ends a label, `IBAN:`. A comma between digits is part of a number.
    """
    before = text[max(0, at - _MOST_SIGNS) : at]
    rest = before.rstrip(_OPENS)
    last, earlier = rest[-1:], rest[-2:-1]
    if not last or last in _BEGINS_BEHIND:
        return len(before) == at or last != ""
    if rest != before:
        return last in ":=," or _is_unspaced(last)
    if last in ":=":
        return earlier.isascii() and (earlier.isalpha() or earlier in {'"', "'"})
    if last == ",":
        return not earlier.isdigit() or text[at].isalpha()
    if text[at] == "+":
        return _is_unspaced(last)
    return not last.isascii() and compile_pattern(CHANGES).match(text, at) is not None


def _is_wrapped(text: str, first: _Group, last: _Group) -> bool:
    """Return whether a number may go on in the line before or behind it, in groups as short."""
    behind = before = None
    if len(last.text) < _NO_GROUP and text.startswith("\n", last.end):
        behind = _LINE_BEGINS.match(text, last.end)
    begins_line = first.start and text[first.start - 1] == "\n"
    if begins_line and len(first.text) < _NO_GROUP and first.text[0] != "+":
        before = _LINE_ENDS.search(text[max(0, first.start - _NO_GROUP - 1) : first.start])
    if behind is None and before is None:
        return False
    return any(one is not None and _DIGIT.search(one[1]) for one in (behind, before))


def _is_cell(text: str, start: int, end: int) -> bool:
    """Return whether a number is all that stands in an element of HTML or XML."""
    return text[start - 1 : start] == ">" and text.startswith("</", end)


def _is_in_cells(text: str, run: list[_Group]) -> bool:
    """Return whether a number is one of values with commas between them: an IBAN, or behind one."""
    begins_cell = run[0].text[0].isalpha() or text[run[0].start - 1 : run[0].start] == ","
    return len(run) == 1 and begins_cell and text.startswith(",", run[0].end)


def _may_end(text: str, at: int) -> bool:
    """Return whether what stands behind a number is no part of it."""
    if _ENDS.match(text, at) is not None:
        return True
    return not text.isascii() and compile_pattern(_ENDS_BESIDE).match(text, at) is not None


def _is_unspaced(char: str) -> bool:
    return not char.isascii() and compile_pattern(f"[{UNSPACED}]").match(char) is not None


def _are_beside(text: str, one: _Group, other: _Group) -> bool:
    gap = text[one.end : other.start]
    return gap == " " or SEPARATED.fullmatch(gap) is not None


def _groups_in(units: re.Pattern[str], text: str) -> Iterator[_Group]:
    """Yield the groups of a text. A whole number is one group."""
    at = 0
    for match in units.finditer(text):
        start, end = match.span()
        if start < at:
            continue  # of the IBAN before
        one, at, is_whole, is_sure = match[0], end, False, True
        if one[0] == "+" or "(" in one:
            is_whole, is_sure = one[0] == "+", _COUNTED.fullmatch(one) is None
            one = _DROPPED.sub("", one)
        elif len(one) >= _SHORTEST_HEAD and (iban := _iban_at(units, text, match)) is not None:
            one, at = iban
            is_whole = True
        elif len(one) >= _LONG and IBAN_SHAPE.fullmatch(one):
            is_whole = True  # nobody writes such a group beside others of its number
        yield _Group(start, at, one, is_sure and _DIGIT.search(one) is not None, is_whole)


def _iban_at(units: re.Pattern[str], text: str, head: re.Match[str]) -> tuple[str, int] | None:
    """Return the IBAN that begins with a group, and where it ends."""
    joined, end = head[0], head.end()
    length = iban_length(joined)
    if length is None or find_iban(_WRAPPED, length, text, head.start()) is None:
        return None
    for _ in range(MOST_GROUPS - 1):
        if len(joined) >= length:
            break
        gap = _WRAPPED.match(text, end)
        more = gap and units.match(text, gap.end())
        if more is None:
            return None
        joined, end = joined + more[0], more.end()
    return (joined, end) if is_iban(joined) else None
