"""What is looked for in a text to send: addresses, accounts and links, in the wide form."""

import re
import unicodedata
from typing import Any, NamedTuple

from tests.support.model.kinds import ACCOUNT, FILE_NAME, NFKC, PUNCTUATION

ADDRESSES = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
ACCOUNTS = r"(?<!\w)(?=([a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]){8,40}(?!\w)))"
LINKS = (
    r"(?:[a-z][a-z0-9+.-]*://|//(?=[\w-]+\.)|(?<![\w.@])www\.(?=[\w-]))[^\s<>\"'`|^{}()\[\]]+"
    r"|(?<![\w.@/])(?:[\w-]+\.)+[a-z]{2,}(?::[0-9]+)?(?:[/?#][^\s<>\"'`|^{}()\[\]]*|(?![\w@]))"
)

ENDINGS = (
    ".com",
    ".net",
    ".org",
    ".io",
    ".dev",
    ".app",
    ".info",
    ".example",
    ".test",
    ".co",
    ".eu",
)


def plain(text: str) -> str:
    """Return the text as a reader sees it: compatible characters as one, nothing without width."""
    folded = NFKC("NFKC", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char) != "Cf")


class Found(NamedTuple):
    """What a reader may follow: itself and its parts, and whether the text holds it as it is."""

    kind: str
    parts: list[str]
    as_it_is: bool


def found_in(value: Any) -> list[Found]:
    """Return the addresses, accounts and links of a text, also those of its wide form."""
    if not isinstance(value, str):
        return []
    found = [*addresses_of(value), *accounts_of(value), *links_of(value)]
    known = [(kind, list(map(plain, parts))) for kind, parts in found]
    wide = [*addresses_of(plain(value)), *accounts_of(plain(value)), *links_of(plain(value))]
    hidden = [one for one in wide if one not in known]
    return [Found(*one, as_it_is=True) for one in found] + [
        Found(*one, as_it_is=False) for one in hidden
    ]


def links_of(text: str) -> list[tuple[str, list[str]]]:
    found = [one[0].rstrip(PUNCTUATION) for one in re.finditer(LINKS, text, re.IGNORECASE)]
    found = [one for one in found if is_link(one.lower())]
    return [("url", [re.sub(r"^(?:[a-zA-Z][\w+.-]*:)?//", "", one)]) for one in found]


def is_link(text: str) -> bool:
    """Return whether a name with dots is a link by what it ends in, where nothing else says it."""
    if "//" in text or text.startswith("www."):
        return True
    host = re.split("[/?#:]", text)[0]
    return not FILE_NAME.fullmatch(host) and (host != text or host.endswith(ENDINGS))


def addresses_of(text: str) -> list[tuple[str, list[str]]]:
    """Return each address with its parts: what ends at a separator may be one by itself."""
    found = re.finditer(ADDRESSES, text)
    return [("address", parts_of(one[0], r"[.+-]", ADDRESSES)) for one in found]


def accounts_of(text: str) -> list[tuple[str, list[str]]]:
    """Return each account with its parts: a word behind it does not hide it."""
    found = re.finditer(ACCOUNTS, text, re.IGNORECASE)
    return [("account", parts_of(one[1], "[ -]", ACCOUNT)) for one in found]


def parts_of(whole: str, separator: str, pattern: str) -> list[str]:
    """Return the whole, and each beginning of it that ends before a separator."""
    ends = [one.start() for one in re.finditer(separator, whole)]
    parts = [whole[:end] for end in reversed(ends)]
    return [whole, *(one for one in parts if re.fullmatch(pattern, one, re.IGNORECASE))]
