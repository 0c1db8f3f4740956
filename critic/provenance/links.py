"""Links: what a tool would open, and what a reader takes for one.

Rule 1: a narrow link is one that every reader takes for the same page. A link with another scheme,
        a user part, a backslash, dots or empty segments in its path is none.
Rule 2: a wide link is anything that a program may turn into one: any scheme or none, any case.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice
from typing import Final, NamedTuple

from critic.provenance.authorities import (
    BRACKETED_HOST,
    HOST,
    IN_HOST,
    NUMBERED_HOST,
    WIDE_REST,
    odd_links_in,
)
from critic.provenance.boundaries import ENDS_BESIDE, ScriptPattern, compile_pattern, run_of
from critic.provenance.dot_segments import may_go_up
from critic.provenance.folding import (
    QUOTES,
    WORD,
    collapse_spaces,
    has_control,
    small,
)
from critic.provenance.host_names import (
    FILE_HOSTS,
    Looks,
    host_of,
    last_label,
    looks_of,
    names_no_host,
)
from critic.provenance.link_signs import (
    LINK_CLOSING,
    LINK_ENDS,
    LINK_OPENING,
    LINK_QUOTES,
    LINK_SPACES,
    LINK_STOPS,
    has_escapes,
)

_NO_PAGE: Final = rf"{LINK_SPACES}<>\"'`|\\^{{}}()\[\]{LINK_QUOTES}"
_IN_PAGE: Final = f"[^{_NO_PAGE}{LINK_CLOSING}]"
_PLAIN: Final = f"[^{_NO_PAGE}{LINK_CLOSING}{LINK_OPENING}{LINK_STOPS}]"
_STOP_IN_PAGE: Final = (
    rf"(?![{LINK_STOPS}]++https?:)[{LINK_STOPS}]++(?=[!-~])(?={_PLAIN})"
    rf"|(?<=[^\x00-\x7f])[{LINK_STOPS}]++(?={_PLAIN})"
)
"""A sign of a sentence that ends no page: before ASCII, or between letters of another script."""
_PAGE: Final = (
    rf"(?:{_PLAIN}++|\({_IN_PAGE}*+\)|[{LINK_OPENING}]{_IN_PAGE}*+[{LINK_CLOSING}]?"
    rf"|{_STOP_IN_PAGE})*+"
)
_IN_ASCII_PAGE: Final = r"[^\x00-\x20<>\"'`|\\^{}()\[\]]"
_ASCII_PAGE: Final = rf"(?:{_IN_ASCII_PAGE}++|\({_IN_ASCII_PAGE}*+\))*+"
"""The same in a text of ASCII alone, whose pattern is compiled when this module is imported."""
_NARROW: Final = re.compile(
    rf"(?:(?:https?:)?//)?({HOST}(?::[0-9]{{1,5}})?)(/[^?#]*)?(\?[^#]*)?(#.*)?", re.IGNORECASE
)
_BEFORE_AT: Final = rf"(?:{WORD}|[.:%+~-])"
"""What may follow a host that is the beginning of an address, or of a user part."""
_FINAL_DOT: Final = rf"\.++(?=[/#\\]|[?:]{WORD})"
"""The dot that a whole host name may end in, where the link goes on behind it."""
_STOP_AS_DOT: Final = "[\u3002\uff0e\uff61]"
_GOES_ON: Final = (
    rf"{_FINAL_DOT}|\.\.++{WORD}|\.?[\\%^~*+=&$]++(?:[/@#]|{WORD})|:(?:/|(?![0-9]{{1,5}}(?!{WORD})){WORD})"
    rf"|[\uff0f\u2044\u2215]|{_STOP_AS_DOT}[A-Za-z0-9]"
)
"""What some readers take for a part of the host before it: then that host is not a narrow link."""
_USER: Final = rf"(?:{_BEFORE_AT}|[!$&'()*,;=]){{0,64}}+"
"""What a user part may be, up to a length: else a list of hosts takes the square of its length."""


def _narrow_in_text(host: str, page: str) -> str:
    return (
        rf"(?i)(?:(?<![A-Za-z0-9+./@-])(?:https?:|(?<!:))//|(?<!{WORD})(?<![.:/@%+~\\-])(?={IN_HOST}++\.{IN_HOST}))"
        rf"{host}(?!{_BEFORE_AT}*+@)(?!{_USER}@)(?!{_GOES_ON})"
        rf"(?P<rest>(?::[0-9]{{1,5}})?(?:[/?#]{page})?)"
    )


_NARROW_IN_TEXT: Final = ScriptPattern(
    _narrow_in_text(HOST, _ASCII_PAGE), _narrow_in_text(HOST, _PAGE)
)
_LABEL: Final = run_of("-,./", ENDS_BESIDE)
_NARROW_BESIDE: Final = _narrow_in_text(rf"{_LABEL}(?:\.{_LABEL})++", _PAGE)
_SENTENCE_ENDS: Final = rf"(?=[.,;:!?){QUOTES}{LINK_STOPS}]*+(?:[{LINK_SPACES}]|\Z))"
_LINK_ENDS: Final = (
    rf"\Z|[{LINK_SPACES}>]|[.,;:!?*~]++(?![{{\[(^$]|<(?!/|br))|(?<!/)</|<br ?/?>"
    rf"|(?<!/)(?:\|(?=https?://)|(?:\|(?:(?:ba|z)?sh|jq|python3?|sudo|tar)|(?:\[[0-9]{{1,2}}\])++){_SENTENCE_ENDS})"
    rf"|[)\]}}{LINK_CLOSING}](?![A-Za-z0-9_/{{])"
    rf"|(?<!/)[{QUOTES}]|[{QUOTES}](?!{WORD}|[/{{])|\\(?:[\"'nrt]|u00(?:2[27]|3[ce]))|\|(?=[{LINK_SPACES}|]|\Z)"
    rf"|\u2026(?!{WORD}|[/{{])"
    rf"|[{LINK_STOPS}]++(?![{{$]|<(?!/|br))|(?![\x00-\x7f]){WORD}"
)
"""What may stand behind a named link. Anything else may be a part of it, as a place to fill is."""
_JOINED: Final = (
    rf"\\?[>)\]}}{QUOTES}{LINK_CLOSING}]++"
    rf"(?: *+[+&$%{{]| ++\.|\.(?:(?![{LINK_SPACES})]|\Z)| *+[$({{]))"
)
"""What a program joins to a page with a final slash, behind the quotes or brackets around it."""
_NUMBERS: Final = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_MASK: Final = re.compile("/[0-9]{1,2}")
"""What makes a network of four numbers, or stands behind those of a version."""
_LABEL_BEHIND: Final = rf"{_STOP_AS_DOT}{IN_HOST}++(?:\.|{_STOP_AS_DOT}){IN_HOST}"
"""What goes on with a host where a stop is read as a dot."""
_PAIRS: Final = frozenset(("<|", "||", "[|", "{}"))
_MARKS: Final = "*_~"
_NEAR: Final = 200
_NO_BEGIN: Final = rf"(?:[$&)}}\]^\u2026\u2010-\u2015]|[A-Za-z0-9]{_STOP_AS_DOT})\Z"
_SHORT: Final = re.compile(r"(?:[A-Za-z]\.){2,}[A-Za-z]++")
"""What begins as an abbreviation does, as in "i.e.in short"."""
_HOST_ENDS: Final = re.compile(r"(?<=[A-Za-z0-9])(?=[^\x00-\x7f]|_++\Z)")
_HOST_BEGINS: Final = re.compile(r"(?<=[^\x00-\x7f])(?=[A-Za-z0-9])")
_MOST_PARTS: Final = 12
_WIDE_IN_TEXT: Final = re.compile(
    r"(?:(?P<scheme>(?:[a-z][a-z0-9+.-]{0,19}:[/\\]{2}|(?<![a-z])https?:)[/\\]*+"
    rf"|(?<![:/\\a-z0-9])[/\\]{{2,}}+(?={IN_HOST}++\.{IN_HOST}|{NUMBERED_HOST}(?=[/?#:])|{BRACKETED_HOST}))"
    r"(?:[^\s/\\?#@<>\"'`()\[\]{}]{1,200}@)?[.%]*+"
    rf"|(?<!{WORD})(?<![@-])(?<!(?<!\.)\.)(?={IN_HOST}++\.{IN_HOST})(?!{HOST}{_BEFORE_AT}{{0,64}}+@))"
    rf"(?P<host>{HOST}|{BRACKETED_HOST})(?:{_FINAL_DOT})?(?P<rest>{WIDE_REST})"
)
_CAPITAL: Final = "A-Z\xc0-\xd6\xd8-\xde\u0391-\u03a9\u0400-\u042f"
_SENTENCE: Final = rf"([^{_CAPITAL}]+)\.[{_CAPITAL}](?:(?![{_CAPITAL}]){WORD})++"
"""A link, and behind its full stop the word that begins a sentence."""
_MOST_SEGMENTS: Final = 64


class WebLink(NamedTuple):
    """A link in one of its forms: host, path without a final slash, and query and fragment."""

    host: str
    path: str
    rest: str

    @property
    def key(self) -> str:
        """The link as one text."""
        return f"{self.host}{self.path}{self.rest}"

    @property
    def has_query(self) -> bool:
        """Whether it sends a query: a fragment stays with the reader."""
        return self.rest.startswith("?")

    def parents(self) -> Iterator[str]:
        """Yield the pages that the page of this link is below, but for the host itself."""
        parts = self.path.split("/")
        if len(parts) <= _MOST_SEGMENTS:
            yield from (self.host + "/".join(parts[:end]) for end in range(len(parts) - 1, 1, -1))


def link_of(text: str) -> WebLink | None:
    """Return the narrow form of a link; None where programs may read it in two ways."""
    match = _NARROW.fullmatch(text)
    if match is None or has_control(text) or collapse_spaces(text).find(" ") >= 0:
        return None
    if "\\" in text or has_escapes(text):
        return None
    host, path, query, fragment = match.groups()
    segments = (path or "").split("/")[1:]
    if segments and not segments[-1]:
        del segments[-1]
    if "" in segments or may_go_up(segments):
        return None
    name = small(host).removeprefix("www.")
    return WebLink(name, "".join(f"/{one}" for one in segments), (query or "") + (fragment or ""))


def links_in(text: str) -> Iterator[tuple[WebLink, bool]]:
    """Yield the narrow links in a text, each spelling once, and whether it may be no page."""
    return iter(_links_of(text)[0])


def all_links_in(text: str) -> Iterator[tuple[WebLink, bool]]:
    """Yield the narrow links in a text, and as links what may be only a part of one."""
    return chain(*_links_of(text))


@lru_cache(maxsize=1)  # the indexes of a place ask one after the other
def _links_of(text: str) -> tuple[tuple[tuple[WebLink, bool], ...], ...]:
    """Return the links in a text, and the parts of links."""
    whole, parts = dict[str, None](), dict[str, None]()
    for spelled, is_whole in _each_narrow(text):
        (whole if is_whole else parts)[spelled] = None
    return tuple(_read_links(whole)), tuple(_read_links(parts))


def _read_links(spellings: Iterable[str]) -> Iterator[tuple[WebLink, bool]]:
    for one in spellings:
        link = link_of(one)
        if link is not None:
            yield link, names_no_host(one)


def _each_narrow(text: str) -> Iterator[tuple[str, bool]]:
    """Yield how each narrow link is spelled, and whether it is more than a part of one."""
    patterns = [_NARROW_IN_TEXT.of(text)]
    if not text.isascii():
        patterns.append(compile_pattern(_NARROW_BESIDE))
    whole = set[str]()
    for match in (match for one in patterns for match in one.finditer(text)):
        if match[0] in whole:
            continue  # it is known, and as more than a part
        found, is_whole = match[0].rstrip(LINK_ENDS), _is_whole(match)
        if is_whole:
            whole.add(match[0])
        sentence = compile_pattern(_SENTENCE).fullmatch(found)
        if sentence is None:
            yield found, is_whole
            yield _within_underscores(match[0]), is_whole
        elif match["rest"]:
            yield found, is_whole
            yield sentence[1], False
        elif "." in sentence[1]:
            yield sentence[1], is_whole
        elif "/" in found:
            yield found, is_whole


def _is_whole(match: re.Match[str]) -> bool:
    """Return whether a link ends, and begins, where what stands beside it is no part of it."""
    text, start, end = match.string, match.start(), match.end()
    before, behind = text[max(start - 1, 0) : start], text[end : end + 1]
    is_bare = "//" not in match[0]
    if match["rest"]:
        found = match[0].rstrip(LINK_ENDS)
        cut = match[0][len(found) :]
        opened = text[max(start - _NEAR, 0) : start + 1].rpartition("\n")[2]
        is_joined = compile_pattern(_JOINED).match(text, end) is not None
        is_open = found.endswith("/") and (is_joined or cut.startswith(("\u2026", "...")))
        if is_open or any(one in cut and one not in opened for one in _MARKS):
            return False
    elif behind and compile_pattern(_LABEL_BEHIND).match(text, end):
        return False
    led = compile_pattern(_NO_BEGIN).search(text, max(start - 2, 0), start)
    if is_bare and (led or _SHORT.fullmatch(match[0])):
        return False
    is_quoted = before != "" and before in QUOTES and behind != "" and behind in QUOTES
    ends = compile_pattern(_LINK_ENDS).match(text, end) is not None
    return ends or is_quoted or before + behind in _PAIRS or before + text[end : end + 2] == "></"


def _within_underscores(link: str) -> str:
    """Return a host without underscores at both ends, or nothing: no host has one at its end."""
    is_host = link.startswith("_") and link.endswith("_") and host_of(link) == small(link)
    return link.strip("_") if is_host else ""


def wide_link_of(text: str) -> WebLink | None:
    """Return the wide form of a link that is a wide text as a whole."""
    match = _WIDE_IN_TEXT.match(text.strip(" "))
    return None if match is None else _wide_link(match["host"], match["rest"])


def wide_links_in(text: str) -> Iterator[tuple[WebLink, Looks]]:
    """Yield what may be links in a wide text, each spelling once, and what each looks like."""
    found = (one.group("scheme", "host", "rest") for one in _each_wide(text))
    for scheme, host, rest in dict.fromkeys(found):
        link = _wide_link(host, rest)
        is_link = scheme is not None or host.startswith("www.")
        looks = "link" if is_link else _looks_in_text(link, rest)
        yield link, looks
        yield from _links_beside(host, looks)
    for host, rest in dict.fromkeys(odd_links_in(text)):
        yield _wide_link(host, rest), "link"


def hosts_beside(host: str) -> Iterator[str]:
    """Yield what is left of a host without the letters of another script before it."""
    label, dot, rest = host.partition(".")
    begins = islice(_HOST_BEGINS.finditer(label), _MOST_PARTS)
    yield from (label[at.start() :] + dot + rest for at in begins)


def _links_beside(host: str, looks: Looks) -> Iterator[tuple[WebLink, Looks]]:
    """Yield what may be a link without the letters behind it: it is one if the whole is none."""
    for at in islice(_HOST_ENDS.finditer(host), _MOST_PARTS):
        link = _wide_link(host[: at.start()].lstrip("_"), "")
        is_new = looks == "words" and "." in link.host
        yield link, _looks_in_text(link, "") if is_new else "words"


def _each_wide(text: str) -> Iterator[re.Match[str]]:
    """Yield the matches, also a link whose scheme reads as the host of another scheme before it.

    No text is read twice: what is behind such a link is looked at behind it alone.
    """
    at = 0
    while (match := _WIDE_IN_TEXT.search(text, at)) is not None:
        yield match
        at = match.end()
        while text.startswith(":", at):
            last = match.start("host") + match["host"].rfind(".") + 1
            inner = _WIDE_IN_TEXT.match(text, last)
            if inner is None or inner["scheme"] is None:
                break
            yield inner
            match, at = inner, inner.end()


def looks_like_link(text: str) -> bool:
    """Return whether a value is a link by its shape."""
    if "://" in text:
        return re.match("[A-Za-z][A-Za-z0-9+.-]*://", text) is not None
    match = _NARROW.fullmatch(text)
    if match is None or " " in text:
        return False
    host = small(match[1]).partition(":")[0]
    if "." not in host:
        return text.startswith("//")
    looks = looks_of(last_label(host), has_page=match[2] is not None)
    return host.startswith("www.") or looks != "words"


def _looks_in_text(link: WebLink, rest: str) -> Looks:
    """Return what a reader may take it for: with something behind it, a file name may be a host."""
    ending = last_label(link.host)
    has_page = link.path != "" or link.has_query or (link.rest != "" and rest[0] in "/\\")
    if ending in FILE_HOSTS and has_page:
        return "link"
    if "/" in link.path and _NUMBERS.fullmatch(link.host) is not None:
        return "words" if _MASK.fullmatch(link.path + link.rest) else "link"
    return looks_of(ending, has_page=has_page)


def _wide_link(host: str, rest: str) -> WebLink:
    page, mark, after = _split_page(rest.rstrip(LINK_ENDS).replace("\\", "/"))
    return WebLink(host.removeprefix("www.").strip("."), page.rstrip("/"), mark + after)


def _split_page(rest: str) -> tuple[str, str, str]:
    at = min((at for at in (rest.find("?"), rest.find("#")) if at >= 0), default=len(rest))
    return rest[:at], rest[at : at + 1], rest[at + 1 :]
