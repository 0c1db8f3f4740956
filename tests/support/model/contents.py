"""What is looked for in a text to send: addresses, accounts and links, in the wide form."""

import re
from typing import Any, NamedTuple

from tests.support.model.authorities import led_to, unescaped
from tests.support.model.kinds import (
    ACCOUNT,
    ADDRESS,
    fold,
    plain_text,
    with_signs,
)
from tests.support.model.parting import parted
from tests.support.model.runs import FILE_NAME, PUNCTUATION

BRACKETS = r"\[[0-9a-f.]*:[0-9a-f:.]+(?:%[^\s\]/]+)?\]"
AT_NUMBER = (
    r"[\w.+&-]+@\[(?:[0-9]+(?:\.[0-9]+){1,3}|(?:ipv6:)?[0-9a-f]*:[0-9a-f:.]+(?:%[^\s\[\]]+)?)\]"
)
NUMBERS = r"(?:[0-9]{4,10}|0x[0-9a-f]{4,8})(?=[/?#:])"
BEGINS = "(?<=[^\x00-\x7f])(?=[A-Za-z0-9])"
ENDS = "(?<=[A-Za-z0-9])(?=[^\x00-\x7f])"
ACCOUNTS = r"(?<![a-z0-9])(?=([a-z]{2}[0-9]{2}(?:[ -]{0,4}[a-z0-9]){8,40}(?![a-z0-9])))"
COINS = r"(?<![a-z0-9])(?:bc1[a-z0-9]{11,59}|0x[0-9a-f]{40})(?![a-z0-9])"
LINKS = (
    rf"(?:[a-z][a-z0-9+.-]*://|//(?=[\w-]+\.|{BRACKETS}|{NUMBERS})|(?<![\w.@])www\.(?=[\w-]))"
    rf"(?:{BRACKETS})?(?:(?<=\])|[^\s<>\"'`|^{{}}()\[\]])[^\s<>\"'`|^{{}}()\[\]]*"
    r"|(?<![\w@/.])\d{1,3}(?:\.\d{1,3}){3}(?::[0-9]+)?/[^\s<>\"'`|^{}()\[\]]*"
    r"|(?<![\w@/])(?<!(?<!\.)\.)(?:[\w-]+\.)+(?:xn--[a-z0-9-]+|[a-z]{2,})(?::[0-9]+)?"
    r"(?:[/?#][^\s<>\"'`|^{}()\[\]]*|(?![\w@])|(?=[^\x00-\x7f]|_+(?!\w)))"
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


FILE_HOSTS = (".cc", ".md", ".mov", ".pl", ".ps", ".py", ".rs", ".sh", ".so", ".zip")


class Found(NamedTuple):
    """What a reader may follow: itself and its parts, and whether the text holds it as it is."""

    kind: str
    parts: list[str]
    as_it_is: bool


def found_in(value: Any) -> list[Found]:
    """Return the addresses, accounts and links of a text, also those of its wide form."""
    if not isinstance(value, str):
        return []
    exact = [*addresses_of(value), *accounts_of(value), *links_of(value)]
    plain = with_signs(plain_text(unescaped(value)))
    loose = re.sub("[_,:()]", "-", plain)
    numbered = [("address", [one]) for one in re.findall(AT_NUMBER, plain)]
    seen = [*addresses_of(plain), *numbered, *accounts_of(loose), *links_of(plain)]
    found = [one for one in exact if list(map(plain_text, one[1])) == list(map(fold, one[1]))]
    known = [(kind, list(map(fold, parts))) for kind, parts in found]
    odd = [("url", [one.rstrip(PUNCTUATION)]) for one in led_to(plain)]
    hidden = [one for one in [*seen, *odd] if one not in known]
    return [Found(*one, as_it_is=one in found) for one in [*found, *hidden]]


def links_of(text: str) -> list[tuple[str, list[str]]]:
    matches = list(re.finditer(LINKS, text, re.IGNORECASE))
    found = [
        one[0].lstrip("_" if text.startswith("_", one.end()) else "").rstrip(PUNCTUATION)
        for one in matches
    ]
    found = [one for one in found if is_link(one.lower())]
    return [("url", [one]) for one in found]


def is_link(text: str) -> bool:
    """Return whether a name with dots is a link by what it ends in, where nothing else says it."""
    if "//" in text or text.startswith("www."):
        return True
    if re.fullmatch(r"\d+(?:\.\d+){3}/\d{1,2}/*", text):
        return False
    host = re.split("[/?#:]", text)[0]
    if FILE_NAME.fullmatch(host):
        return host.endswith(FILE_HOSTS) and text[len(host) :].startswith(("/", "?"))
    return host != text or host.endswith(ENDINGS) or re.search(r"\.xn--[^.]*$", host) is not None


def addresses_of(text: str) -> list[tuple[str, list[str]]]:
    """Return each address with its parts: what ends at a separator may be one by itself.

    So may what begins behind an apostrophe.
    """
    found = []
    for one in re.finditer(ADDRESS, parted(text)):
        name = one[0].partition("@")[0]
        begins = [0, *(at.end() for at in re.finditer(f"^_+|['\u2019]|{BEGINS}", name))]
        parts = [parts_of(one[0][at:], rf"[.+-]|_+$|{ENDS}", ADDRESS) for at in begins]
        found.append(("address", [part for each in parts for part in each]))
    return found


def accounts_of(text: str) -> list[tuple[str, list[str]]]:
    """Return each account with its parts: a word behind it does not hide it."""
    found = re.finditer(ACCOUNTS, text, re.IGNORECASE)
    coins = [("account", [one]) for one in re.findall(COINS, text, re.IGNORECASE)]
    return [*(("account", parts_of(one[1], "[ -]", ACCOUNT)) for one in found), *coins]


def parts_of(whole: str, separator: str, pattern: str) -> list[str]:
    """Return the whole, and each beginning of it that ends before a separator."""
    ends = [one.start() for one in re.finditer(separator, whole)]
    parts = [whole[:end] for end in reversed(ends)]
    return [whole, *(one for one in parts if re.fullmatch(pattern, one, re.IGNORECASE))]
