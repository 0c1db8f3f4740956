"""Links: what a tool would open, and what a reader takes for one.

Rule 1: a narrow link is one that every reader takes for the same page. A link with another scheme,
        a user part, a backslash, dots or empty segments in its path is none.
Rule 2: a wide link is anything that a program may turn into one: any scheme or none, any case.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Final, Literal, NamedTuple

from critic.provenance.boundaries import ENDS_BESIDE, run_of
from critic.provenance.folding import (
    SEPARATORS,
    WORD,
    collapse_spaces,
    compatible,
    has_control,
    small,
)

_IN_HOST: Final = f"[^{SEPARATORS.replace('-/', '-,./', 1)}]"
"""A word or a hyphen: what stands between the dots of a host."""

_HOST: Final = rf"{_IN_HOST}++(?:\.{_IN_HOST}++)*+"
_QUOTED: Final = "\u2018\u201c\u201d\u201e\xab\xbb"
_IN_PAGE: Final = (
    r"[^\x00-\x20\x85\xa0\u1680\u180e\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
    rf"<>\"'`|\\^{{}}()\[\]{_QUOTED}]"
)
_REST: Final = rf"(?::[0-9]{{1,5}})?(?:[/?#](?:{_IN_PAGE}++|\({_IN_PAGE}*+\))*+)?"
_WIDE_REST: Final = (
    r"(?::[0-9]{1,5})?(?:[/\\?#][^\x00-\x20\x85\u1680\u180e\u2028\u2029"
    rf"<>\"'`|^{{}}()\[\]{_QUOTED}]*)?"
)
_NARROW: Final = re.compile(
    rf"(?:(?:https?:)?//)?({_HOST}(?::[0-9]{{1,5}})?)(/[^?#]*)?(\?[^#]*)?(#.*)?", re.IGNORECASE
)
_BEFORE_AT: Final = rf"(?:{WORD}|[.:%+~-])"
"""What may follow a host that is the beginning of an address, or of a user part."""
_FINAL_DOT: Final = rf"\.++(?=[/#\\]|[?:]{WORD})"
"""The dot that a whole host name may end in, where the link goes on behind it."""
_GOES_ON: Final = (
    rf"{_FINAL_DOT}|\.\.++{WORD}|\.?[\\%^~*+=&$]++(?:[/@#]|{WORD})|:(?:/|(?![0-9]{{1,5}}(?!{WORD})){WORD})"
    "|[\uff0f\u2044\u2215\u3002]"
)
"""What some readers take for a part of the host before it: then that host is not a narrow link."""
_USER: Final = rf"(?:{_BEFORE_AT}|[!$&'()*,;=]){{0,64}}+"
"""What a user part may be, up to a length: else a list of hosts takes the square of its length."""


def _narrow_in_text(host: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:(?<![A-Za-z0-9+./@-])(?:https?:|(?<!:))//|(?<!{WORD})(?<![.:/@%+~\\-])(?={_IN_HOST}++\.{_IN_HOST}))"
        rf"{host}(?!{_BEFORE_AT}*+@)(?!{_USER}@)(?!{_GOES_ON}){_REST}",
        re.IGNORECASE,
    )


_NARROW_IN_TEXT: Final = _narrow_in_text(_HOST)
_LABEL: Final = run_of("-,./", ENDS_BESIDE)


@cache
def _narrow_beside() -> re.Pattern[str]:
    return _narrow_in_text(rf"{_LABEL}(?:\.{_LABEL})++")


_HOST_ENDS: Final = re.compile(r"(?<=[A-Za-z0-9])(?=[^\x00-\x7f]|_++\Z)")
_HOST_BEGINS: Final = re.compile(r"(?<=[^\x00-\x7f])(?=[A-Za-z0-9])")
_MOST_PARTS: Final = 12
_NUMBERED_HOST: Final = r"(?:[0-9]{4,10}|0x[0-9a-f]{4,8})(?=[/?#:])"
_BRACKETED_HOST: Final = r"\[[0-9a-f.]*:[0-9a-f:.]{1,60}(?:%[^\s\]/]{1,60})?\]"
_WIDE_IN_TEXT: Final = re.compile(
    r"(?:(?P<scheme>(?:[a-z][a-z0-9+.-]{0,19}:[/\\]{2}|(?<![a-z])https?:)[/\\]*+"
    rf"|(?<![:/\\a-z0-9])[/\\]{{2,}}+(?={_IN_HOST}++\.{_IN_HOST}|{_NUMBERED_HOST}|{_BRACKETED_HOST}))"
    r"(?:[^\s/\\?#@<>\"'`()\[\]{}]{1,200}@)?[.%]*+"
    rf"|(?<!{WORD})(?<![@-])(?<!(?<!\.)\.)(?={_IN_HOST}++\.{_IN_HOST})(?!{_HOST}{_BEFORE_AT}{{0,64}}+@))"
    rf"(?P<host>{_HOST}|{_BRACKETED_HOST})(?:{_FINAL_DOT})?(?P<rest>{_WIDE_REST})"
)
_ESCAPED: Final = re.compile("%(?:25)*(?:2e|2f|5c)", re.IGNORECASE)
_DOTS: Final = frozenset((".", ".."))
_ENDS: Final = ".,;:!?'\"*_~\u2019\u2026"
_NAMED_TLD: Final = re.compile(r"[^\x00-@\[-`{-\xbf]{2,}")
_FILE_ENDINGS: Final = frozenset(
    (
        *("bak", "bat", "bmp", "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "dat"),
        *("db", "doc", "docx", "dmg", "eml", "env", "exe", "gif", "go", "gz", "h", "hpp"),
        *("htm", "html", "ics", "ini", "ipynb", "jar", "java", "jpeg", "jpg", "js", "json"),
        *("jsonl", "jsx", "kt", "lock", "log", "lua", "m4a", "md", "mov", "mp3", "mp4"),
        *("numbers", "odp", "ods", "odt", "old", "ogg", "pages", "parquet", "pdf", "pem"),
        *("php", "pl", "png", "ppt", "pptx", "ps", "py", "rar", "rb", "rs", "rst", "rtf"),
        *("sh", "so", "sql", "sqlite", "svg", "swift", "tar", "tex", "tgz", "toml", "ts"),
        *("tsv", "tsx", "txt", "vue", "wav", "webp", "xls", "xlsx", "xml", "yaml"),
        *("yml", "zip"),
    )
)
"""What ends the names of files more often than hosts that are written bare."""
_FILE_HOSTS: Final = frozenset(("cc", "md", "mov", "pl", "ps", "py", "rs", "sh", "so", "zip"))
"""What ends the names of files and is a top-level domain, in which anybody may have a host."""
_TLDS: Final = frozenset(
    (
        *("ai", "app", "biz", "click", "cloud", "club", "com", "dev", "edu", "email"),
        *("example", "fun", "gov", "info", "int", "invalid", "io", "link", "live", "mil"),
        *("mobi", "name", "net", "online", "org", "page", "pro", "shop", "site", "space"),
        *("store", "tech", "test", "top", "tv", "website", "work", "world", "xyz", "zone"),
    )
)
"""What ends a host that is written bare, beside the two letters of a country."""
_MOST_SEGMENTS: Final = 64


Looks = Literal["link", "host", "words"]
"""What a reader takes for a link by itself, for a host only where it was seen as one, or never."""


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


def may_go_up(segments: Iterable[str]) -> bool:
    """Return whether a program may read a segment as dots or as several: `..;x`, or wide dots."""
    forms = (one if one.isascii() else compatible(one) for one in segments)
    return any(one.partition(";")[0] in _DOTS or "/" in one or "\\" in one for one in forms)


def has_escapes(text: str) -> bool:
    """Return whether a text holds a dot or a slash that is written as an escape."""
    return _ESCAPED.search(text) is not None


def links_in(text: str) -> Iterator[tuple[WebLink, bool]]:
    """Yield the narrow links in a text, each spelling once, and whether it may be no page."""
    patterns = (_NARROW_IN_TEXT,) if text.isascii() else (_NARROW_IN_TEXT, _narrow_beside())
    matches = (match[0] for one in patterns for match in one.finditer(text))
    for whole in dict.fromkeys(matches):
        found = whole.rstrip(_ENDS)
        for one in (found, _before_sentence(found), _within_underscores(whole)):
            link = link_of(one) if one else None
            if link is not None:
                yield link, names_no_host(one)


def may_be_file(text: str) -> bool:
    """Return whether what can be read as a link may be the name of a file: it names no host."""
    host = _host_of(text)
    return _last_label(host) in _FILE_ENDINGS and not host.startswith("www.")


def names_no_host(text: str) -> bool:
    """Return whether what can be read as a link may be a file, or a number with points."""
    host = _host_of(text)
    is_number = "/" not in text and _NAMED_TLD.fullmatch(_last_label(host)) is None
    return may_be_file(text) or (is_number and not host.startswith("www."))


def _host_of(text: str) -> str:
    return small(re.split("[/?#]", text, maxsplit=1)[0])


def _before_sentence(host: str) -> str:
    """Return a host without the word after its full stop that begins a sentence, or nothing."""
    before, _, word = host.rpartition(".")
    begins = word[:1].isupper() and word[1:].islower() and before == before.lower()
    return before if begins and "." in before else ""


def _within_underscores(link: str) -> str:
    """Return a host without underscores at both ends, or nothing: no host has one at its end."""
    is_host = link.startswith("_") and link.endswith("_") and _host_of(link) == small(link)
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
        looks = "link" if is_link else _looks_in_text(link)
        yield link, looks
        yield from _links_beside(host, looks)


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
        yield link, _looks_in_text(link) if is_new else "words"


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
    looks = _looks_of(_last_label(host), has_page=match[2] is not None)
    return host.startswith("www.") or looks != "words"


def _looks_of(ending: str, *, has_page: bool) -> Looks:
    if ending in _FILE_ENDINGS or _NAMED_TLD.fullmatch(ending) is None:
        return "words"
    if has_page or ending in _TLDS:
        return "link"
    return "host" if len(ending) == 2 and ending.isascii() else "words"


def _looks_in_text(link: WebLink) -> Looks:
    """Return what a reader may take it for: with something behind it, a file name may be a host."""
    ending, has_page = _last_label(link.host), link.path != ""
    if ending in _FILE_HOSTS and (has_page or link.has_query):
        return "link"
    return _looks_of(ending, has_page=has_page)


def _wide_link(host: str, rest: str) -> WebLink:
    page, mark, after = _split_page(rest.rstrip(_ENDS).replace("\\", "/"))
    return WebLink(host.removeprefix("www.").strip("."), page.rstrip("/"), mark + after)


def _split_page(rest: str) -> tuple[str, str, str]:
    at = min((at for at in (rest.find("?"), rest.find("#")) if at >= 0), default=len(rest))
    return rest[:at], rest[at : at + 1], rest[at + 1 :]


def _last_label(host: str) -> str:
    return host.partition(":")[0].rpartition(".")[2]
