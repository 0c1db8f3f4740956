"""What is looked for in a text to send: addresses, accounts and links, in the wide form."""

import re
import unicodedata
from typing import Any

from tests.support.model.kinds import NFKC, PUNCTUATION

ADDRESSES = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
ACCOUNTS = r"(?<!\w)(?=([a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]){8,40}(?!\w)))"
LINKS = (
    r"(?:(?:[a-z][a-z0-9+.-]*:)?//|(?<![\w.@])www\.)[^\s<>\"'`|^{}()\[\]]+"
    r"|(?<![\w.@/])(?:[\w-]+\.)+[a-z]{2,}(?::[0-9]+)?[/?#][^\s<>\"'`|^{}()\[\]]*"
)


def plain(text: str) -> str:
    """Return the text as a reader sees it: compatible characters as one, nothing without width."""
    folded = NFKC("NFKC", text).casefold()
    return "".join(char for char in folded if unicodedata.category(char) != "Cf")


def links_of(value: Any) -> list[str]:
    if not isinstance(value, str):
        return []
    found = [one[0].rstrip(PUNCTUATION) for one in re.finditer(LINKS, plain(value))]
    return [re.sub(r"^(?:[a-z][a-z0-9+.-]*:)?//", "", one) for one in found]


def addresses_of(value: Any) -> list[list[str]]:
    """Return each address with its parts: what ends at a separator may be one by itself."""
    if not isinstance(value, str):
        return []
    text = plain(value)
    found = [parts_of(one[0], r"[.+-]", ADDRESSES) for one in re.finditer(ADDRESSES, text)]
    return [one for one in found if one]


def accounts_of(value: Any) -> list[list[str]]:
    """Return each account with its parts: a word behind it does not hide it."""
    if not isinstance(value, str):
        return []
    found = re.finditer(ACCOUNTS, plain(value))
    return [parts_of(one[1], "[ -]", r"[a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]){8,}") for one in found]


def parts_of(whole: str, separator: str, pattern: str) -> list[str]:
    """Return the whole, and each beginning of it that ends before a separator."""
    ends = [one.start() for one in re.finditer(separator, whole)]
    parts = [whole[:end] for end in reversed(ends)]
    return [whole, *(one for one in parts if re.fullmatch(pattern, one))]
