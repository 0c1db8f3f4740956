"""Values by their kind: what names the same thing (narrow), and what may (wide).

The narrow form is what the tool will use, so it alone grants. The wide form folds what a reader may
take for the same, so it only doubts.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Any, NamedTuple

from tests.support.model.authorities import led_to, unescaped
from tests.support.model.facts import Json, spelled
from tests.support.model.parting import (
    FIRSTS,
    GAP,
    HELD,
    LASTS,
    QUOTING,
    STOPS,
    WORD,
    is_unspaced,
    parted,
)
from tests.support.model.runs import (
    HOST,
    has_link_shape,
    runs_in,
    spellings,
)

JOINED = r"[./:@\\+%~-]"
TWO = "[./:-]{2}"
FREE_BEFORE = f"(?<!{WORD})(?<!{WORD}{HELD})(?!(?<={WORD}{TWO})[0-9])"
FILLED = rf"[.-]\{{{WORD}|-\*"
FREE_AFTER = f"(?!{WORD}|{HELD}{WORD}|{FILLED}|{TWO}[0-9])"
BEFORE = f"(?<!{WORD})(?<!{WORD}{JOINED})"
AFTER = f"(?!{WORD}|{JOINED}{WORD})"
NOT_INSIDE = rf"(?<![+%~\\])(?:(?<=[a-z]:)|(?<!{WORD}[./:@-]))"
NOT_BEFORE = rf"(?!{WORD}|[+%~\\]|[./:@-]{WORD})"

PHRASES = "\ufdfa\ufdfb"
UNSPACED = "[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]"
NFKC = unicodedata.ucd_3_2_0.normalize

ADDRESS = r"[\w.+&-]+(?:(?<=\w)['\u2019](?=\w)[\w.+&-]+)*@[\w-]+(?:\.[\w-]+)+"
ACCOUNT = r"[a-z]{2}\d{2}(?:[ -]?[a-z0-9]){8,}"
IN_BRACKETS = r"(?<!\d[ -])(?=(?:[ ()-]*\d){7})(?:[0178][ -]?)?\(\d{2,5}\)"
PHONE = rf"(?:\+\d{{1,4}}(?:[ -]?\((?:0|\d{{2,5}})\))?|{IN_BRACKETS})(?:[ -]*\d+)+"
IBANS = (
    "no15 be16 dk18 fk18 fi18 fo18 gl18 nl18 sd18 mk19 si19 at20 ba20 ee20 kz20 lt20 lu20 mn20"
    " xk20 ch21 hr21 li21 lv21 bg22 bh22 cr22 de22 gb22 ge22 ie22 me22 rs22 va22 ae23 gi23 il23"
    " iq23 om23 so23 tl23 ad24 cz24 es24 md24 pk24 ro24 sa24 se24 sk24 tn24 vg24 ly25 pt25 st25"
    " is26 tr26 bi27 dj27 fr27 gr27 it27 mc27 mr27 sm27 al28 az28 by28 cy28 do28 gt28 hn28 hu28"
    " lb28 ni28 pl28 sv28 br29 eg29 ps29 qa29 ua29 jo30 kw30 mu30 ye30 mt31 sc31 lc32 ru33"
)
"""The countries that have IBANs, each with the length of its own."""
LETTERS = rf"(?:(?![\d_]){WORD})+"
ONLY_WORDS = re.compile(rf"{LETTERS}(?:[ '\u2019-]{LETTERS})*")
PATH_BEGINS = r"[~.]{0,2}/|[A-Za-z]:[/\\]"
FIRM = ("path", "url", "address", "account")


class Url(NamedTuple):
    """A link in its narrow form. http and https are one, and `www.` does not count."""

    host: str
    path: tuple[str, ...]
    query: str | None
    fragment: str | None


# --- the kind of a value ----------------------------------------------------------------------


def text_of(value: Any) -> str:
    return value if isinstance(value, str) else spelled(value)


def shape_of(value: Any) -> str:
    """Return the kind that a value has by its shape, where nothing else says it."""
    text = text_of(value).strip()
    if re.fullmatch(ADDRESS, text):
        return "address"
    if re.fullmatch(ACCOUNT, text.lower()) or is_phone(text_of(value)):
        return "account"
    if has_link_shape(text):
        return "url"
    begins = re.match(PATH_BEGINS, text)
    return "path" if begins or ("/" in text and " " not in text) else "text"


def is_phone(text: str) -> bool:
    digits = re.sub("[^0-9]", "", text)
    return re.fullmatch(PHONE, text) is not None and 7 <= len(digits) <= 15


# --- the narrow form --------------------------------------------------------------------------


@lru_cache(4096)
def fold(text: str) -> str:
    """Return the text in small letters, with the quotes and apostrophes that a keyboard has."""
    return straight(small(text))


def small(text: str) -> str:
    """Return the text in small letters, where a letter has one and that has one capital."""
    return "".join(
        char.lower() if len(char.lower()) == 1 and char.lower().upper() == char else char
        for char in text
    )


def straight(text: str) -> str:
    return re.sub("[\u201c\u201d]", '"', re.sub("[\u2018\u2019]", "'", text))


def even(text: str) -> str:
    """Return the text with each run of white space as one space, or one line break."""
    return re.sub(r"\s+", lambda run: "\n" if "\n" in run[0] else " ", text)


def narrow(kind: str, value: Any) -> Any:
    """Return what all spellings of one thing share. Compare only values of one kind."""
    text = text_of(value)
    kind = "text" if is_unreadable(kind, value) else kind
    if kind == "path":
        return text[:-1] if text.endswith("/") and len(text) > 1 else text
    if kind == "url":
        return read_url(text)
    if kind == "address":
        return fold(text)
    if kind == "account":
        return joined_number(fold(text))
    plain = fold(even(text).replace("\n", " ").strip())
    return plain[1:] if plain[:1] in ("#", "@") and len(plain) > 1 else plain


def joined_number(text: str) -> str:
    """Return a number without what parts its groups; a zero in brackets is none of it."""
    plain = re.sub(r"\(0\)|[()]", "", text) if re.fullmatch(PHONE, text) else text
    return re.sub(r"[\s-]", "", plain)


def spelling(kind: str, value: Any) -> tuple[str, Any]:
    """Return what the values of a kind are compared by. One that cannot be read is a text."""
    return ("text" if is_unreadable(kind, value) else kind), narrow(kind, value)


def exact(kind: str, value: Any) -> str:
    """Return a value as it is spelled. A path with a slash behind it is the same path."""
    is_path = kind == "path" and not is_unreadable(kind, value)
    return narrow(kind, value) if is_path else text_of(value)


def is_unreadable(kind: str, value: Any) -> bool:
    """Return whether nobody can say what a value of this kind names."""
    text = text_of(value)
    if kind == "path":
        segments = text.removeprefix("/").removesuffix("/").split("/")
        odd = any(is_elsewhere(one) or (not one and len(segments) > 1) for one in segments)
        return odd or re.search(r"[\\\x00-\x1f\x7f-\x9f]", text) is not None or text == "//"
    if kind == "url":
        return read_url(text) is None
    if kind == "account":
        joined = joined_number(text)
        return re.fullmatch(r"(?=.*[0-9])\+?[^\W_]{4,62}", joined) is None
    return kind == "address" and not re.fullmatch(ADDRESS, text)


def is_elsewhere(segment: str) -> bool:
    """Return whether some program reads a part of a path as dots, or as several parts."""
    read = NFKC("NFKC", segment)
    shown = "".join(char for char in read if unicodedata.category(char) != "Cf")
    up = r"\.\.?(?:[^\w.-]|$)|.*[{,]\.\.?[,}]" if "{" in shown else r"\.\.?(?:[^\w.-]|$)"
    return re.match(up, shown) is not None or any(sign in read for sign in "/\\")


@lru_cache(4096)
def read_url(text: str) -> Url | None:
    """Return the parts of a link, or nothing if it cannot be read."""
    scheme = re.match(r"([a-z][a-z0-9+.-]*):(?![0-9])(//)?", text.lower())
    if scheme and (scheme[1] not in ("http", "https") or not scheme[2]):
        return None
    if re.search(r"[\\\s\x00-\x1f\x7f]", text) or is_escaped(text):
        return None
    rest = text[scheme.end() :] if scheme else text.removeprefix("//")
    rest, mark, fragment = rest.partition("#")
    rest, question, query = rest.partition("?")
    host, _slash, path = rest.partition("/")
    segments = path.removesuffix("/").split("/") if path.removesuffix("/") else []
    if not re.fullmatch(rf"{HOST}(?::\d{{1,5}})?", host) or path.startswith("/"):
        return None
    if any(one == "" or is_elsewhere(one) for one in segments):
        return None
    host = fold(host).removeprefix("www.")
    return Url(host, tuple(segments), query if question else None, fragment if mark else None)


def is_escaped(text: str) -> bool:
    """Return whether a dot or a slash is spelled by its code, however often that is spelled."""
    plain = re.sub("%(?:25)+", "%", text.lower())
    long = "%(2e|2f|5c|c0%a[ef]|c1%9c|e0%80%a[ef]|e2%80%a5|ef%bc%(8[ef]|bc))"
    return re.search(long, plain) is not None


@lru_cache(4096)
def links_in(text: str) -> list[Url]:
    """Return the links that a text names as such, and the hosts."""
    found = [read_url(run) for run in runs_in(text) if has_link_shape(run)]
    return [one for one in found if one is not None]


def parts_in(text: str) -> list[Url]:
    """Return what reads as a link in a text, and may be only a part of one."""
    parts = [run for run, is_whole in spellings(text) if not is_whole and has_link_shape(run)]
    return [one for one in map(read_url, parts) if one is not None]


# --- where a value stands in a text, in its narrow form -----------------------------------------


class Place(NamedTuple):
    """Where a value stands: the text with evened white space, and the ends in it."""

    text: str
    start: int
    end: int


def places(kind: str, value: Any, text: str) -> list[Place]:
    """Return where a value stands in a text as a whole. A link has no place but the whole text."""
    if kind == "url":
        shaped = has_link_shape(text_of(value))
        runs = [one for one in runs_in(text) if "." in one or re.match("(?i)(https?:)?//", one)]
        links = links_in(text) if shaped else [read_url(one) for one in runs]
        sought = read_url(text_of(value))
        return [Place(text, 0, 0)] if sought is not None and sought in links else []
    reading, form = said(kind, value)
    if form == "":
        return []
    pattern = pattern_of(reading, form)
    if reading == "path":
        found = places_in(not_bold(text), not_bold(text), pattern)
        return [one for one in found if begins_path(one) and ends_path(one)]
    if reading == "account":
        return account_places(pattern, text)
    plain = even(text)
    texts = [parted(plain)] if kind == "text" else list(dict.fromkeys((plain, parted(plain))))
    return [place for one in texts for place in places_in(one, fold(one), pattern)]


def places_in(text: str, searched: str, pattern: str) -> list[Place]:
    return [Place(text, one.start(), one.end()) for one in re.finditer(pattern, searched)]


def not_bold(text: str) -> str:
    """Return a text as it is read, without the stars that make a part of a line bold."""
    bold = r"(?<![\w*/.\\])\*\*(?![\s*/])([^\n*]{1,202})(?<![\s*/])\*\*(?!\w|[*/.\\]\w)"
    return re.sub(bold, r"  \1  ", text)


def said(kind: str, value: Any) -> tuple[str, str]:
    """Return how texts are read for a value, and its form there: as a path if it begins as one."""
    text = text_of(value)
    kind = "text" if is_unreadable(kind, value) or kind not in FIRM else kind
    if kind == "path" or (kind == "text" and re.match(PATH_BEGINS, text)):
        return "path", text.rstrip("/") or text[:1]
    return kind, narrow(kind, value)


def pattern_of(kind: str, form: str) -> str:
    if kind == "path":
        return f"(?<!{WORD}){re.escape(form)}(?!{WORD})"
    if kind == "address":
        signs = f"\u2014\u2015\u2026\u2022{QUOTING}{STOPS}{FIRSTS}{LASTS}{GAP}"
        odd = rf"(?!{WORD})[^\s\-,;:=|/*<>(\[{{@{signs}]"
        begins = rf"(?<!{WORD})(?<![.+&@])(?<!{WORD}[-'\u2019>`])(?<![.+&@]-)(?<!{odd})(?<!{odd}-)"
        begins += rf"(?<![)\]}}]\*)(?<!{WORD}--)"
        goes_on = rf"(?![/:?(]|&(?:[a-z]+;|[A-Za-z]+=)){HELD}+{WORD}|&#|[.]{{1,2}}[{{\[]"
        ends = rf"(?!{WORD}|@|[.-]{WORD})(?!{goes_on})"
        one = f"(?:{re.escape(form)}|_+{re.escape(form)}_+)"
        return f"(?:{begins}|(?<=>)(?={one}</)){one}{ends}"
    if kind == "account":
        beside = f"|(?<={UNSPACED})" if form[0] == "+" else ""
        inside = "[ -]?".join(map(re.escape, form))
        return f"(?:(?<!{WORD}){beside}){inside}(?!{WORD})"
    return FREE_BEFORE + "[ \n]".join(map(re.escape, parted(form).split(" "))) + FREE_AFTER


SENTENCE = "[.,:;!?]"
OPENING = f"[{QUOTING}(\\[<{FIRSTS}]"
CLOSING = f"[{QUOTING})\\]}}>{LASTS}]"


def begins_path(place: Place) -> bool:
    """Return whether a path may begin there: what stands before it ends or opens something."""
    run = re.split(r"\s", place.text[: place.start])[-1]
    if run.endswith("<") and re.match(f"/{WORD}+>", place.text[place.start :]):
        return False
    if run.endswith(">") and re.match(r"~?/[^<>\s]*</", place.text[place.start :]):
        return True
    if run == "" or re.fullmatch(OPENING + "{1,2}", run):
        return True
    if re.search(rf"([=,;|(\[{{][{QUOTING}]|[\"']:[\"']|\]\()$", run):
        return True
    is_rooted = re.match("~?/", place.text[place.start : place.end]) is not None
    led = rf"([|{STOPS}{FIRSTS}]|(^|[0-9/-])>|^[A-Za-z_-]{{1,16}}=)$"
    return is_rooted and re.search(led, run) is not None


def ends_path(place: Place) -> bool:
    """Return whether a path may end there: what stands behind it closes, lists or ends."""
    run = re.split(r"\s", place.text[place.end :])[0]
    if re.fullmatch(f"/{SENTENCE}?|{SENTENCE}{{0,3}}", run) or re.match("/[,;]", run):
        return True
    return any(map(is_closed, {run, run.removeprefix("/")}))


def is_closed(run: str) -> bool:
    listed = rf"[,;](~?/|\.{{1,2}}/|[{QUOTING}])|\||</|<br\b"
    closed = rf"{SENTENCE}{{0,2}}{CLOSING}{{1,4}}"
    if re.match(listed, run) or re.fullmatch(f"{closed}{SENTENCE}{{0,3}}", run):
        return True
    if re.match(rf"{closed}([,:;][{QUOTING}0-9\[{{(/~]|\||</)", run):
        return True
    if re.match(rf"[{QUOTING}]([,:;]|/?>)|['\u2019]s(?!\w)", run):
        return True
    beside = re.match(f"[{STOPS}{LASTS}]+", run)
    if beside is None or len(beside[0]) > 4:
        return False
    rest = run[beside.end() :]
    return not re.match(rf"[A-Za-z0-9._~$%/\\\[({{-]|[^\WA-Za-z]+(?!:){HELD}\w", rest)


A_PHONE = f"(?:(?<!{WORD})|(?<={UNSPACED})){NOT_INSIDE}{PHONE}{NOT_BEFORE}"


def account_places(pattern: str, text: str) -> list[Place]:
    """Return where a number stands that is no part of another on its line."""
    found = [
        place for one in lines_of(text) for place in places_in(apart(one), apart(one), pattern)
    ]
    return [one for one in found if is_whole_account(one) and is_free(one)]


OPENERS = "([{<*#\"'`\u2018\u2019\u201a\u201c\u201d\u201e\xab\xbb"
CLOSERS = ")]}>*\"'`\u2018\u2019\u201a\u201c\u201d\u201e\xab\xbb.,:!?"
PARTING_SIGNS = " \n|;\u2014\u2026\u2022\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f" + GAP


def is_free(place: Place) -> bool:
    """Return whether only signs that part words stand around a number."""
    before, behind = place.text[: place.start], place.text[place.end :]
    begun = before.rstrip(OPENERS)
    last = begun[-1:]
    form = place.text[place.start : place.end]
    if begun == before and last in (":", "=", ","):
        label = begun[-2:-1]
        is_named = label.isascii() and (label.isalpha() or label in ("'", '"'))
        is_begun = form[0].isalpha() or not label.isdigit() if last == "," else is_named
    else:
        signs = (
            PARTING_SIGNS + "\uff08\u3010\u300a\u300c\u300e" + (":=," if begun != before else "")
        )
        is_open = begun != before or place.text[place.start] == "+"
        is_begun = last in signs or (is_open and is_unspaced(last))
    ended = re.sub("^['\u2019]s", "", behind).lstrip(CLOSERS)
    first = ended[:1]
    is_ended = first in PARTING_SIGNS + "<\uff09\u3011\u300b\u300d\u300f"
    is_ended |= ended != behind and first != "" and is_unspaced(first)
    quotes = OPENERS[5:]
    structured = rf"[{quotes}]([\])}}]*[,:;]|/?>)|[,;][{quotes}{{\[A-Za-z-]|&[A-Za-z]+="
    is_ended |= re.match(structured, behind) is not None
    is_listed = form[0].isalpha() or before.endswith(",")
    is_ended |= behind.startswith(",") and is_listed and re.search("[ -]", form) is None
    is_begun |= before.endswith(">") and behind.startswith("</")
    return is_begun and is_ended


def lines_of(text: str) -> list[str]:
    plain = fold(even(text.replace("\t", "|")))
    return list(dict.fromkeys((plain, parted(plain))))


def apart(text: str) -> str:
    """Return a text with each telephone number and IBAN joined, on a line of its own."""
    phone = rf"{A_PHONE}(?![ -]+\w*\d)"
    text = with_ibans_apart(re.sub(phone, joined_phone, text))
    long = rf"(?<!{WORD})[a-z]{{2}}\d\d[a-z0-9]{{12,30}}(?!{WORD})"
    return re.sub(long, lambda one: on_its_line(one, one[0]), text)


def with_ibans_apart(text: str) -> str:
    for country, length in ((one[:2], int(one[2:])) for one in IBANS.split()):
        if country in text:
            iban = rf"(?<!{WORD}){NOT_INSIDE}{country}\d\d(?:[ \n-]*[a-z0-9]){{{length - 4}}}"
            text = re.sub(iban + NOT_BEFORE, joined_iban, text)
    return text


def is_group(value: Any, text: str) -> bool:
    """Return whether a number is one group of another, or what a telephone number begins with."""
    form = narrow("account", value)
    one = f"(?<!{WORD}){NOT_INSIDE}{re.escape(form)}{NOT_BEFORE}"
    for line in lines_of(text):
        phones = re.findall(A_PHONE, line)
        if form in [begun for phone in phones for begun in beginnings(phone)]:
            return True
        if re.search(one, with_ibans_apart(re.sub(A_PHONE, ";", line))):
            return True
    return False


def beginnings(phone: str) -> list[str]:
    """Return what a telephone number begins with, of seven digits and more."""
    groups = re.findall("[0-9]+", phone.replace("(0)", ""))
    found = ["".join(groups[:count]) for count in range(1, len(groups) + 1)]
    found = [one for one in found if 7 <= len(one) <= 15]
    return [*found, *(f"+{one}" for one in found if phone[0] == "+")]


def joined_phone(one: re.Match[str]) -> str:
    """Return a telephone number joined; nothing where its last group may be a count."""
    *groups, last = re.split("[ -]+", one[0])
    known = re.sub("[^0-9]", "", "".join(groups))
    is_count = re.search(r"[0-9] +[0-9]+$", one[0]) and len(last) < min(3, len(groups[-1]))
    if one[0][0] == "+" and is_count and len(known) >= 10:
        return on_its_line(one, ";")
    return on_its_line(one, joined_number(one[0])) if one[0][0] == "+" else joined_number(one[0])


def joined_iban(one: re.Match[str]) -> str:
    """Return an IBAN with the right check digits on a line of its own; else the text."""
    joined = re.sub("[^a-z0-9]", "", one[0])
    digits = "".join(str(int(char, 36)) for char in joined[4:] + joined[:4])
    return on_its_line(one, joined) if int(digits) % 97 == 1 else one[0]


def on_its_line(one: re.Match[str], joined: str) -> str:
    """Return a number between breaks of lines in place of spaces: other signs stay beside it."""
    before, behind = one.string[: one.start()][-1:], one.string[one.end() :][:1]
    return "\n" * (before in (" ", "")) + joined + "\n" * (behind in (" ", ""))


def is_whole_account(place: Place) -> bool:
    """Return whether no group with a digit stands beside a number on its line."""
    behind = re.match(r"[ -]+(\w+)", place.text[place.end :])
    before = re.search(r"(\w+)[ -]+\Z", place.text[: place.start])
    groups = re.split("[ -]", place.text[place.start : place.end])
    short = "([a-z0-9]{1,7})"
    next_line = re.match(rf"\n{short}(?![a-z0-9])", place.text[place.end :])
    line_before = re.search(rf"(?<![a-z0-9]){short}\n\Z", place.text[: place.start])
    beside = [behind, before, next_line if len(groups[-1]) < 8 else None]
    beside += [line_before if len(groups[0]) < 8 and groups[0][:1] != "+" else None]
    return not any(one and re.search(r"\d", one[1]) for one in beside)


def stands(kind: str, value: Any, text: str) -> bool:
    return bool(places(kind, value, text))


def is_short_number(kind: str, value: Any) -> bool:
    return re.fullmatch(r"[0-9]{1,3}", plain_form(kind, value)) is not None


def has_only_words(kind: str, value: Any) -> bool:
    """Return whether a value is only words. A link is none: no plain word of a text names it."""
    if kind == "url" and not is_unreadable(kind, value):
        return False
    form = plain_form(kind, value)
    return ONLY_WORDS.fullmatch(form) is not None or has_no_word(form)


def has_no_word(form: str) -> bool:
    return form != "" and re.search(WORD, form) is None


def plain_form(kind: str, value: Any) -> str:
    """Return the small form of a value: of a path, all of it counts."""
    return fold(narrow("path", value)) if kind == "path" else str(narrow("text", value))


# --- the wide form ----------------------------------------------------------------------------


def wide(value: Any) -> str:
    """Return the spelling that all share that a reader may take for one."""
    return wide_text(text_of(value))


def plain_text(text: str) -> str:
    """Return the text as a reader sees it: compatible characters as one, nothing without width."""
    spaced = re.sub("[\u2025\u2026\u2116]|[\xaa\xba](?=[0-9])", r"\g<0> ", text)
    read = NFKC("NFKC", spaced if is_short_enough([text]) else unreadable(spaced))
    folded = straight(read.casefold())
    return "".join(char for char in folded if unicodedata.category(char) != "Cf")


def is_short_enough(texts: list[str]) -> bool:
    """Return whether few characters of the texts stand for whole phrases: one in 16, and 80."""
    phrases = [char for text in texts for char in text if char in PHRASES]
    return len(phrases) <= 80 + sum(map(len, texts)) // 16


def unreadable(text: str) -> str:
    return "".join("\ue000" if char in PHRASES else char for char in text)


@lru_cache(4096)
def wide_text(spelled_text: str) -> str:
    text = plain_text(spelled_text)
    text = re.sub(r"[a-z][a-z0-9+.-]*://|(?<![\w.])www\.", "", text)
    return re.sub(r"[\\/]+", "/", re.sub(r"\s+", " ", text))


def wide_value(value: Any) -> str:
    text = wide(value).strip(" \"'").strip("/").rstrip(".")
    return text[1:] if text[:1] in ("#", "@") and len(text) > 1 else text


def mentions(value: Any, text: str, kind: str = "") -> bool:
    """Return whether a text holds the value in the wide form; short numbers only as numbered."""
    form = wide_value(value)
    if form == "":
        return False
    if is_short_number(kind, value):
        marks = r"(?:#|n\.?[\xb0\xba]|\b(?:ids?|numbers?|no)\b)"
        return re.search(rf"{marks}\W{{0,4}}{form}{AFTER}", words_of(text)) is not None
    if kind == "account":
        more = "_,:" if re.match("[a-z]{2}[0-9]{2}", form) else ""
        gap = rf"[ ./(){more}\u2010-\u2015\u2212-]*"
        inside = gap.join(map(re.escape, re.sub("[ ()+-]", "", form)))
        sought = rf"(?<!(?!_){WORD}){inside}(?!(?!_){WORD})"
        return any(re.search(sought, one) for one in (wide(text), words_of(text)))
    if kind == "address":
        marked = f"(?:{re.escape(form)}|_+{re.escape(form)}_+)"
        behind = "" if form.endswith("]") else r"(?![\w@-]|\.[\w-])"
        inside = rf"(?<![\w.+&-]){marked}{behind}"
        return any(re.search(inside, one) for one in (wide(text), words_of(text)))
    if kind == "url":
        goes_on = re.search("[?#].*/$", wide(value)) is not None
        return mentions_link(form + "/" if goes_on else form, text)
    sought = BEFORE + re.escape(parted(form, everywhere=True)) + AFTER
    return re.search(sought, words_of(text)) is not None


def words_of(text: str) -> str:
    """Return the wide form of a text with a gap wherever words may part."""
    return parted(wide(text), everywhere=True)


def mentions_link(form: str, text: str) -> bool:
    """Return whether a text holds a link; a host without dots only behind a scheme or slashes."""
    return shows_link(form, BEFORE, rf"(?!{WORD}|[./:@?#&=%+~-]+{WORD})", text)


def shows_link(form: str, before: str, behind: str, text: str) -> bool:
    """Return whether a text holds a form of a link between these, or behind slashes and a user."""
    plain = with_signs(plain_text(unescaped(text)))
    if any(leads_to_form(one, form) for one in led_to(plain)):
        return True
    text = without_final_dot(plain)
    form, user = (
        re.escape(without_final_dot(with_signs(form))),
        r"(?:[^\s/\\?#@<>\"'`()\[\]{}]{1,200}@)?",
    )
    bare = "." in re.split("[/?#]", form.replace("\\.", "."))[0]
    behind = rf"(?:{behind}|(?={UNSPACED}))" if form[-1:].isalnum() else behind
    found = bare and re.search(before + form + behind, wide(text)) is not None
    return found or re.search(f"//{user}{form}{behind}", text) is not None


def leads_to_form(link: str, form: str) -> bool:
    """Return whether a link is the one, or a page of the host, that a form says."""
    host = re.split("[/?#]", link)[0].removeprefix("www.").split(":")[0]
    same = [one.removeprefix("www.").rstrip("/") for one in (link.rstrip(".,;:!?'\"*_~"), form)]
    return same[0] == same[1] or host == form


def without_final_dot(text: str) -> str:
    """Return a text without the dots that end the host of a link which goes on behind them."""
    return re.sub(rf"(?<={WORD})\.+(?=[/#\\]|[?:]{WORD})", "", text)


def with_signs(text: str) -> str:
    """Return a text with the dots, slashes and colons that stand in it under another spelling."""
    for sign, name in ((".", "period"), ("/", "sol"), (":", "colon")):
        text = re.sub(rf"&(#0*{ord(sign)}|#x0*{ord(sign):x}|{name});", sign, text)
    return text.replace("\u3002", ".").replace("%2e", ".")


def same_wide(one: Any, other: Any) -> bool:
    return wide_value(one) == wide_value(other)


def covered(table: Json, place: list[str]) -> Any:
    """Return what a table of argument names and pointers says of a place: the longest name wins."""
    found = [name for name in table if leads_to(name, place)]
    return table[max(found, key=lambda name: name.count("/"))] if found else None


def leads_to(name: str, place: list[str]) -> bool:
    """Return whether a name, or a JSON pointer with `*` for any segment, leads to or above it."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in name.split("/")[1:]]
    if not name.startswith("/"):
        return place[:1] == [name]
    return len(parts) <= len(place) and all(
        part in ("*", other) for part, other in zip(parts, place, strict=False)
    )
