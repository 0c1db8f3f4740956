"""Whether a text quotes a value as a whole, found the slow way.

A text falls into tokens, and a value must not cut one in two. A token is a run of words and what
joins them; what stands around a number, such as its sign, belongs to it.
"""

import re
import unicodedata

DIGITS = "0123456789"
MARKS = {"Mn", "Mc", "Me", "Cf", "Pc", "Nd", "Nl", "No"}

DASHES = "\u2010\u2011\u2012\u2013\u2212"
APOSTROPHES = "'\u2019\u00b4"
JOINERS = ".:/#@+=~-!?&%^\\"
"""What joins words, one or more of them."""
WIDE = "\uff0b\uff0c\uff0d\uff0e\uff05\uff0f\uff1a"
SPACES = (
    "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
)
BETWEEN_DIGITS = (
    JOINERS
    + APOSTROPHES
    + ",*\u00d7\u00f7\u00b7\u2022\u2026\u2014\u2030"
    + DASHES
    + WIDE
    + SPACES
    + "\t"
)
SIGNS = "+-.~<\u00b1\u2248\u2264\u2265" + DASHES + "\uff0b\uff0d\uff0e"
CURRENCY = "[$\u00a2-\u00a5\u20a0-\u20cf]"
AFTER = "-+%\u2030" + DASHES + "\uff0b\uff0d\uff05"
MASKED = r"(?:[*#]{3,}|[\u2022\u25cf]{2,}|\u2026|\.{3,}|[xX]{3})[ -]?$"
"""What hides the digits before a number. A word may end in it."""


def is_token_character(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) in MARKS


def words(text: str) -> list[tuple[int, int]]:
    """Return the start and the end of each word."""
    found: list[tuple[int, int]] = []
    for place, char in enumerate(text):
        if not is_token_character(char):
            continue
        if found and found[-1][1] == place:
            found[-1] = found[-1][0], place + 1
        else:
            found.append((place, place + 1))
    return found


def tokens(text: str) -> list[tuple[int, int]]:
    """Return the start and the end of each token."""
    found: list[tuple[int, int]] = []
    for start, end in words(text):
        if found and joins(text, found[-1][1], start, end):
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return [widened(text, *one) for one in found]


def joins(text: str, end: int, start: int, after: int) -> bool:
    """Return whether what stands between two words joins them."""
    between = text[end:start]
    if not between.strip(JOINERS) or (len(between) == 1 and between in APOSTROPHES):
        return True
    if text[end - 1] not in DIGITS or text[start] not in DIGITS:
        return False
    if between == " ":
        before = re.search(r"[0-9]*$", text[:end])
        follows = re.match(r"[0-9]*", text[start:after])
        return bool(before and len(before[0]) <= 3 and follows and len(follows[0]) == 3)
    return not between.strip(BETWEEN_DIGITS)


def widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the token with what belongs to a number at its ends."""
    inside = text[start:end]
    before, after = text[:start], text[end:]
    is_number = set(inside) <= set(DIGITS + BETWEEN_DIGITS + " ")
    held = re.search(rf"\( ?(?:{CURRENCY} ?)?$", before)
    closed = re.match(r"\)", after)
    if is_number and held and closed and not is_word_at(text, end + len(closed[0])):
        return held.start(), end + len(closed[0])
    if inside[0] in DIGITS:
        signed = re.search(rf"[{re.escape(SIGNS)}]+(?:{CURRENCY} ?)?$", before)
        masked = re.search(MASKED, before)
        sign = signed[0] if signed else ""
        if sign and is_word_at(text, start - len(sign) - 1):
            sign = sign.lstrip(AFTER)
        start -= max(len(sign), len(masked[0]) if masked else 0)
    if is_number:
        hidden = re.match(r"[*#]{3,}|[\u2022\u25cf]{2,}|\u2026{2,}", after)
        signs = len(hidden[0]) if hidden else len(after) - len(after.lstrip(AFTER))
        end += 0 if is_word_at(text, end + signs) else signs
    return start, end


def is_word_at(text: str, place: int) -> bool:
    return 0 <= place < len(text) and is_token_character(text[place])


def occurs(value: str, text: str) -> bool:
    """Return whether the text holds the value without cutting a token in two."""
    if not any(is_token_character(char) for char in value):
        return value == text
    return any(is_free(value, text, start) for start in range(len(text) - len(value) + 1))


def is_free(value: str, text: str, start: int) -> bool:
    """Return whether the value stands there as a whole."""
    end = start + len(value)
    if text[start:end] != value:
        return False
    spans = tokens(text)
    edges = [place for one in spans for place in one]
    if start not in edges and start and {value[0], text[start - 1]} <= set(JOINERS):
        return False
    if end not in edges and {value[-1], text[end : end + 1]} <= set(JOINERS):
        return False
    return not any(one < place < two for one, two in spans for place in (start, end))


def stated(word: str, text: str) -> bool:
    """Return whether the text is the word, or states it after a colon or an equals sign."""
    return text == word or any(
        is_free(word, text, start) and re.search(r"[:=] +$", text[:start])
        for start in range(len(text))
    )
