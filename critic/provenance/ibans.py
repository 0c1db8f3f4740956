"""IBANs: how long one is in each country, and whether its check digits are right."""

import re
from functools import cache
from string import ascii_letters, digits
from typing import Final

_COUNTRIES: Final = {
    15: "no",
    16: "be",
    18: "dk fi fk fo gl nl sd",
    19: "mk si",
    20: "at ba ee kz lt lu mn xk",
    21: "ch hr li lv",
    22: "bg bh cr de gb ge ie me rs va",
    23: "ae gi il iq om so tl",
    24: "ad cz es md pk ro sa se sk tn vg",
    25: "ly pt st",
    26: "is tr",
    27: "bi dj fr gr it mc mr sm",
    28: "al az by cy do gt hn hu lb ni pl sv",
    29: "br eg ps qa ua",
    30: "jo kw mu ye",
    31: "mt sc",
    32: "lc",
    33: "ru",
}
_LENGTHS: Final = {one: length for length, names in _COUNTRIES.items() for one in names.split()}

_DIGITS_OF: Final = {char: str(int(char, 36)) for char in digits + ascii_letters}


def iban_length(head: str) -> int | None:
    """Return the length of an IBAN that begins so, in small letters; None where none does."""
    return _LENGTHS.get(head[:2]) if head[2:4].isdigit() else None


def is_iban(joined: str) -> bool:
    """Return whether a text in small letters, without what parts its groups, is an IBAN."""
    if not joined.isascii() or not joined.isalnum() or len(joined) != iban_length(joined):
        return False
    return int("".join(map(_DIGITS_OF.__getitem__, joined[4:] + joined[:4]))) % 97 == 1


def find_iban(gap: re.Pattern[str], length: int, text: str, at: int) -> str | None:
    """Return the IBAN of a length that begins somewhere, whatever its groups; None without one."""
    match = _iban_shape(gap.pattern, length).match(text, at)
    joined = "" if match is None else gap.sub("", match[0])
    return joined if is_iban(joined) else None


@cache
def _iban_shape(gap: str, length: int) -> re.Pattern[str]:
    return re.compile(f"[A-Za-z0-9](?:(?:{gap})?+[A-Za-z0-9]){{{length - 1}}}(?![A-Za-z0-9])")
