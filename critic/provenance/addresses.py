"""Addresses in texts: as a tool would read them, and as a reader may.

Rule 1: an address that grants stands between its boundaries, with no sign around it that may
        hold a longer name (`{first}.bob@x.example`, `jean–bob@x.example`). One that doubts may be
        any part of it that a reader may take for one.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

from critic.provenance.boundaries import (
    ALL_CHANGES,
    CHANGES,
    ENCLOSING,
    NO_CHANGE,
    STOPS,
    STRICT_JOINT,
    compile_pattern,
    run_of,
)
from critic.provenance.folding import SEPARATORS, WORD

_NO_PART: Final = "-%'-*,/"
_IN_ADDRESS: Final = f"[^{SEPARATORS.replace('-/', _NO_PART, 1)}]"
_APOSTROPHE: Final = f"(?<={WORD})['\u2019](?={WORD})"
_IN_NAME: Final = re.compile(_APOSTROPHE)


def _address_of(changes: str) -> str:
    name, label = run_of(_NO_PART, changes), run_of("-,./", changes)
    return (
        rf"(?:(?<!{_IN_ADDRESS})(?<!{WORD}['\u2019])|{changes}){name}(?:{_APOSTROPHE}{name})*+"
        rf"@{label}(?:\.{label})*+(?![@])"
    )


_IPV6: Final = r"(?:ipv6:)?[0-9a-f]{0,4}:[0-9a-f:.]{1,50}(?:%[^\s\[\]]{1,20})?"
_NUMBER: Final = rf"(?:[0-9]{{1,10}}\.){{1,3}}[0-9]{{1,10}}|{_IPV6}"
_AT_NUMBER: Final = rf"(?<!{_IN_ADDRESS}){run_of(_NO_PART, NO_CHANGE)}@\[(?:{_NUMBER})\]"
"""An address at a number in brackets in place of a host."""
ADDRESS: Final = re.compile(_address_of(NO_CHANGE))
_PARTED_ADDRESS: Final = _address_of(CHANGES)
_PARTED_ADDRESSES: Final = _PARTED_ADDRESS, _address_of(ALL_CHANGES)
_NAME_BEGINS: Final = re.compile(rf"\A_++|{_APOSTROPHE}|(?<=[^\x00-\x7f])(?=[A-Za-z0-9])")
_HOST_ENDS: Final = re.compile(r"[.-]|_++\Z|(?<=[A-Za-z0-9])(?=[^\x00-\x7f])")
_BESIDE_ADDRESS: Final = "&+-."
_OPENS_NAME: Final = "&+."
"""Signs that may be the first of a name, as none of a list is."""
_BEGINS: Final = re.compile(
    rf"(?<!(?!{WORD})[^\s,;:=|/*<>(\[{{@{ENCLOSING}{STOPS}\u2014\u2015\u2026\u2022])(?<!{WORD}[>`])(?<![)\]}}]\*)"
)
_ENDS: Final = re.compile(
    rf"(?!(?![/:?(]|&(?:[a-z]++;|[A-Za-z]++=)){STRICT_JOINT}++{WORD}|&#|[.]{{1,2}}[{{\[])"
)
_MOST_PARTS: Final = 12
_LONGEST_HOST: Final = 1000


def addresses_in(text: str) -> Iterator[str]:
    """Yield the addresses in a narrow text; behind a further `@` stands only a part of one."""
    for match in _each(_PARTED_ADDRESSES[:1], text):
        start = match.start()
        end = start + len(match[0].rstrip(_BESIDE_ADDRESS))
        is_cell = text[start - 1 : start] == ">" and text.startswith("</", end)
        is_whole = (is_cell or _BEGINS.match(text, start)) and _ENDS.match(text, end)
        is_part = match[0].lstrip("-")[0] in _OPENS_NAME or text[start - 1 : start] == "@"
        if is_whole and not is_part:
            yield from _spellings(match[0])


def wide_addresses_in(text: str) -> Iterator[str]:
    """Yield what may be an address in a wide text."""
    for match in _each(_PARTED_ADDRESSES, text):
        for address in _spellings(match[0]):
            yield from _from_apostrophes(address)
    yield from _at_numbers(text)


def _at_numbers(text: str) -> Iterator[str]:
    if "@[" in text:
        yield from compile_pattern(_AT_NUMBER).findall(text)


def _each(parted: tuple[str, ...], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of each pattern. They differ in how they part other scripts from ASCII."""
    if text.isascii():
        yield from ADDRESS.finditer(text)
        return
    patterns = (ADDRESS, *map(compile_pattern, parted))
    found = (match for pattern in patterns for match in pattern.finditer(text))
    yield from {match.span(): match for match in found}.values()


def _spellings(found: str) -> Iterator[str]:
    """Yield an address, also without underscores at both ends: no host has one at its end."""
    yield (address := found.strip(_BESIDE_ADDRESS))
    if address[0] == address[-1] == "_":
        yield address.strip("_")


def _from_apostrophes(address: str) -> Iterator[str]:
    """Yield an address, and what follows each apostrophe in it: that may be one by itself."""
    yield address
    yield from (address[at.end() :] for at in islice(_IN_NAME.finditer(address), _MOST_PARTS))


def address_parts(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the addresses in a wide text, each as all that may be one in it, the longest first.

    Apostrophes, separators, letters of another script and underscores at its ends part it.
    """
    pattern = ADDRESS if text.isascii() else compile_pattern(_PARTED_ADDRESS)
    for match in pattern.finditer(text):
        name, _, host = match[0].strip(_BESIDE_ADDRESS).partition("@")
        ends = reversed([*islice(_HOST_ENDS.finditer(host), _MOST_PARTS)])
        hosts = (host, *(host[: at.start()] for at in ends if len(host) <= _LONGEST_HOST))
        hosts = tuple(one for one in hosts if "." in one)
        begins = islice(_NAME_BEGINS.finditer(name), _MOST_PARTS)
        names = [name, *filter(None, (name[at.end() :] for at in begins))]
        if hosts:
            yield tuple(dict.fromkeys(f"{one}@{other}" for one in names for other in hosts))
    yield from ((one,) for one in _at_numbers(text))
