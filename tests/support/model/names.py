"""What a text gives as one name, in quotes: a part of it is not what is named."""

import re

from tests.support.model.kinds import Place

PAIRS = (
    *("\u300c\u300d", "\u300e\u300f", "\u300a\u300b", "\u3008\u3009", "\u3010\u3011"),
    *("\u3014\u3015", "\u3016\u3017", "\u301d\u301f"),
)
KINDS = (
    *("'\u2018\u2019\u201a\u201b", '"\u201c\u201d\u201e\u201f', "\xab\xbb", "\u2039\u203a", "`"),
    *PAIRS,
)
"""Signs of quotes, by kinds that may stand inside each other."""
CLOSES = {
    **dict.fromkeys('"\u201c\u201f', '"\u201d'),
    **dict.fromkeys("'\u2018\u201b", "'\u2019"),
    "\u201e": '"\u201c\u201d',
    "\u201d": "\u201d",
    "\u201a": "\u2018\u2019",
    "\u2019": "\u2019",
    "\xab": "\xbb",
    "\xbb": "\xab\xbb",
    "\u2039": "\u203a",
    "\u203a": "\u2039\u203a",
    "`": "`",
    **{pair[0]: pair[1] for pair in PAIRS},
}
"""The signs that may close what a sign opens."""
LETTER = "[0-9A-Za-z\xaa\xb5\xba\xc0-\u0dff\u1c80-\u1fff]"
"""A letter that makes an apostrophe or a sign of inches of a quote beside it."""
BLANKS = " \t\xa0\u2009\u202f\u3000"
ENDS = ".,;:!?\u3002\uff0c\u3001\uff1b\uff1a\uff01\uff1f"
SIGNS = "".join(KINDS)
LONGEST = 800


def is_part_of_name(kind: str, place: Place) -> bool:
    """Return whether quotes hold more than the value. A path may stand behind a command."""
    return any(not is_all(kind, place, *one) for one in around(place))


def is_all(kind: str, place: Place, first: int, last: int) -> bool:
    text, start, end = place
    if text[end:last].strip(f"{BLANKS}{SIGNS}{ENDS}/\\*_)]}}>"):
        return False
    led = text[first:start]
    is_command = led[-1:] in [*BLANKS] and re.search(r"[/\\]", led) is None
    is_begun = kind == "path" and re.match(r"~/|\.{0,2}/|[A-Za-z]:[/\\]", text[start:]) is not None
    return led.strip(f"{BLANKS}{SIGNS}#@*_([{{<") == "" or (is_command and is_begun)


def stands_quoted(place: Place) -> bool:
    """Return whether quotes hold the value and nothing but what ends a sentence."""
    text, start, end = place
    return any(
        is_alone(text[first - 1], text[first:start], text[end:last].strip(ENDS))
        and is_apart(text, first - 1, last)
        for first, last in around(place)
    )


def is_alone(opening: str, led: str, rest: str) -> bool:
    """Return whether nothing stands beside a value in quotes, but for one blank in some of them."""
    inside = ["", " "] if opening in "\u201c\u201e\xab\u300c\u300e\u300a" else [""]
    return led in inside and rest in inside


def is_apart(text: str, opening: int, closing: int) -> bool:
    """Return whether no letter stands beside quotes, where those are not of China or Japan."""
    beside = re.match(LETTER, text[:opening][-1:]) or re.match(LETTER, text[closing + 1 :])
    return beside is None or any(text[opening] in pair for pair in PAIRS)


def around(place: Place) -> list[tuple[int, int]]:
    """Return where the insides of those quotes begin and end that stand around a value."""
    text, start, end = place
    breaks = "[\n-\r\x85\u2028\u2029]"
    first = max([0, *(one.end() for one in re.finditer(breaks, text[:start]))])
    line = re.split(breaks, text[first:])[0]
    found = [one for kind in KINDS for one in spans_in(line, kind)]
    return [
        (first + one, first + two)
        for one, two in found
        if first + one <= start and end <= first + two
    ]


def spans_in(line: str, kind: str) -> list[tuple[int, int]]:
    """Return where quotes of a kind stand in a line: up to the last that may close them."""
    signs = [at for at, char in enumerate(line) if char in kind]
    found, index = [], 0
    while index < len(signs):
        opening, closing = signs[index], 0
        index += 1
        while opens(line, opening) and index < len(signs) and signs[index] - opening <= LONGEST:
            if begins_others(line, opening, closing, signs[index]):
                break
            closing = signs[index] if closes(line, opening, signs[index]) else closing
            index += 1
        if closing:
            found.append((opening + 1, closing))
    return found


def begins_others(line: str, opening: int, closing: int, at: int) -> bool:
    """Return whether a sign behind one that opens quotes, and perhaps closes them, opens others.

    Before they are closed, only the sign that may be an apostrophe does: '90s.
    """
    if closing:
        is_led = line[at - 1] in [*BLANKS, *"([{"]
        return opens(line, at) and (is_led or line[at] not in "\u2019\u201d\xbb\u203a")
    return line[at] in KINDS[0] and opens(line, at) and not closes(line, opening, at)


def opens(line: str, at: int) -> bool:
    """Return whether a sign may open quotes: those that also close do so behind no letter."""
    both = line[at] in "\"'`\u2019\u201d\xbb\u203a"
    return line[at] in CLOSES and not (both and re.match(LETTER, line[:at][-1:]))


def closes(line: str, opening: int, at: int) -> bool:
    """Return whether a sign closes what another opens: if it could open, too, before no letter."""
    both = line[at] in "\"'`\u2019" or line[at] == line[opening]
    return line[at] in CLOSES[line[opening]] and not (both and re.match(LETTER, line[at + 1 :]))
