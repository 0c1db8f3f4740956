"""The authorities of links: what stands between the slashes behind a scheme and the page.

Rule 1: programs take for the user part of an authority all that stands before an `@`, and for its
        host all behind it, up to a slash, a question mark, a number sign or a blank.
Rule 2: an authority that is a host, with a port or without, is plain. Behind any other the link is
        one to every name in it that a program may open.
Rule 3: what stands around a link ends it, but where a dot or an `@` with a name goes on behind.

Example: `https://shop.example!.evil.com/x` is a page of `evil.com`, as `//shop.example@evil.com/x`
is in the attribute of a tag.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from critic.provenance.folding import QUOTES, SEPARATORS, WORD
from critic.provenance.link_signs import LINK_QUOTES, LINK_SPACES

IN_HOST: Final = f"[^{SEPARATORS.replace('-/', '-,./', 1)}]"
"""A word or a hyphen: what stands between the dots of a host."""
HOST: Final = rf"{IN_HOST}++(?:\.{IN_HOST}++)*+"
BRACKETED_HOST: Final = r"\[[0-9a-f.]*:[0-9a-f:.]{1,60}(?:%[^\s\]/]{1,60})?\]"
NUMBERED_HOST: Final = r"(?:[0-9]{4,10}|0x[0-9a-f]{4,8})"
WIDE_REST: Final = (
    r"(?::[0-9]{1,5})?(?:[/\\?#][^\x00-\x20\x85\u1680\u180e\u2028\u2029"
    rf"<>\"'`|^{{}}()\[\]{LINK_QUOTES}]*)?"
)
"""What stands behind the host of a link: a port and a page."""

_BEGIN: Final = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,19}:[/\\]|(?<![a-z])https?:|(?<![:/\\a-z0-9])[/\\](?=[/\\]))[/\\]*+"
    rf"|(?<!{WORD})(?<![./\\@-])(?=www\.)"
)
_AUTHORITY: Final = re.compile(
    rf"[^{LINK_SPACES}/\\?#<]*+(?:<[^{LINK_SPACES}/\\?#]{{0,400}}@[^{LINK_SPACES}/\\?#<]*+)?"
)
_WITHIN: Final = {quote: re.compile(rf"[^{LINK_SPACES}/\\?#{quote}]*+") for quote in ("'", '"')}
_SCHEME_AT_END: Final = re.compile(r"[a-z][a-z0-9+.-]{0,19}:\Z")
_PLAIN: Final = re.compile(rf"(?P<host>{HOST}|{BRACKETED_HOST})\.*+(?P<port>(?::[0-9]{{1,5}})?)")
_REST: Final = re.compile(WIDE_REST)
_PIECE: Final = re.compile(rf"\.*+{HOST}")
_GOES_ON: Final = re.compile(rf"(?:(?!{IN_HOST})[^.@])*+\.*+@?{IN_HOST}")
_IS_HOST: Final = re.compile(rf"{HOST.replace('*+', '++')}|{BRACKETED_HOST}|{NUMBERED_HOST}")
_PAIRS: Final = dict(
    zip("\"'`([{<*_~|\u2018\u201c\xab", "\"'`)]}>*_~|\u2019\u201d\xbb", strict=True)
)
_IN_ATTRIBUTE: Final = f"=({QUOTES}"
_PAGE_BEGINS: Final = "/\\?#"


class OddLink(NamedTuple):
    """A host that the link of an odd authority may lead to, and what stands behind it."""

    host: str
    rest: str


def odd_links_in(text: str) -> Iterator[OddLink]:
    """Yield where the links of a wide text may lead whose authority is no plain host."""
    at = 0
    while (begin := _BEGIN.search(text, at)) is not None:
        before = text[max(begin.start() - 1, 0) : begin.start()]
        start = begin.end()
        whole = _authority_at(text, start, _PAIRS.get(before, "") if before in ("'", '"') else "")
        end = at = start + len(whole)
        if text[end : end + 1] in ("/", "\\") and (scheme := _SCHEME_AT_END.search(whole)):
            at = start + scheme.start()  # it may be that of a link of its own
        has_page = end < len(text) and text[end] in _PAGE_BEGINS
        if "<" in whole and "@" in whole and not has_page:  # a tag, and an address behind it
            whole = whole.partition("<")[0]
            end = at = start + len(whole)
        close = whole.find(_PAIRS.get(before, " "))
        if close >= 0 and _is_end(whole, close, has_page=has_page):
            whole, end, has_page = whole[:close], start + close, False
        has_scheme = begin[0][:1] not in ("/", "\\")
        is_attribute = before != "" and before in _IN_ATTRIBUTE
        if has_scheme or is_attribute or ("@" in whole and has_page):
            found = [one for one in _read(whole) if has_scheme or _IS_HOST.fullmatch(one[0])]
            if found:
                rest = _match(_REST, text, end)
                at = max(at, end + len(rest))  # a page is read once
                yield from (OddLink(host, port + rest) for host, port in found)


def _authority_at(text: str, start: int, quote: str) -> str:
    """Return the authority that begins there. Within quotes, a bracket does not end it."""
    if not quote:
        return _match(_AUTHORITY, text, start)
    within = _match(_WITHIN[quote], text, start)
    end = start + len(within)
    return within + (_match(_AUTHORITY, text, end) if text.startswith(quote, end) else "")


def _match(pattern: re.Pattern[str], text: str, at: int) -> str:
    found = pattern.match(text, at)
    return found[0] if found else ""


def _is_end(authority: str, close: int, *, has_page: bool) -> bool:
    """Return whether a closing sign ends an authority."""
    behind = _GOES_ON.match(authority, close + 1)
    if behind is not None and ("@" in behind[0] or "." in behind[0]):
        return False
    return not has_page or "@" not in authority[close:]


def _read(authority: str) -> Iterator[tuple[str, str]]:
    """Yield the hosts, each with its port, that an authority may be read as."""
    _, at, host = authority.rpartition("@")
    yield from _read_host(host, is_odd=at != "")
    between = authority.split("@", maxsplit=2)
    if len(between) > 2:
        yield from _read_host(between[1], is_odd=True)


def _read_host(host: str, *, is_odd: bool) -> Iterator[tuple[str, str]]:
    """Yield what a host may be read as. One that is plain is odd only behind a user part."""
    if (plain := _PLAIN.fullmatch(host)) is not None:
        if is_odd:
            yield plain["host"], plain["port"]
        return
    pieces = [*_PIECE.finditer(host)]
    odd = [one for one in pieces if one.start() > 0 or one[0].startswith(".")]
    last = next((one for one in reversed(odd) if "." in one[0]), None)
    if last is not None:
        yield host[: last.end()], ""
        yield last[0].strip("."), ""
    elif is_odd and pieces:
        yield pieces[0][0], ""
