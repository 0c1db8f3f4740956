"""Where words part without a space: a text with a gap at each such place.

Letters of Han, Kana and Hangul take no space beside ASCII. What looks like a dash or a nought
parts nothing, nor does a mark.
"""

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

GAP = "\ue001"
SEEMS_ASCII = re.compile(
    "[\u30fc\uff70\u3007\u4e00\u3161-\u3163\uffda-\uffdc\u1173-\u1175\u115f\u1160\u3164\uffa0\uff9e\uff9f]"
)
NAMES = re.compile(
    r"(?:HALFWIDTH )?(?:KATAKANA|HANGUL|HIRAGANA) (?:LETTER|SYLLABLE|CHOSEONG|JUNGSEONG|JONGSEONG)"
    "|CJK (?:UNIFIED|COMPATIBILITY) IDEOGRAPH|HANGZHOU NUMERAL|(?:KATA|HIRA)[A-Z ]*ITERATION MARK"
    "|(?:KATAKANA|HIRAGANA) DIGRAPH|IDEOGRAPHIC (?:ITERATION|CLOSING) MARK"
)
JOINT = r"[./@\\+%~-]"
NUMBER = r"(?<![\w./:@\\+%~-])(?:n|no|nr|nos)\.(?=[0-9])|[\xaa\xba](?=[0-9])"


@lru_cache(4096)
def is_unspaced(char: str) -> bool:
    return not SEEMS_ASCII.match(char) and NAMES.match(unicodedata.name(char, "")) is not None


def is_change(one: str, other: str) -> bool:
    """Return whether one is a letter or digit of ASCII, and the other takes no space beside it."""
    ends = one, other
    return any(
        a.isascii() and a.isalnum() and is_unspaced(b) for a, b in (ends, ends[::-1]) if a and b
    )


@lru_cache(4096)
def parted(text: str, *, everywhere: bool = False) -> str:
    """Return a text with its gaps.

    Where a joint holds what is on the far side of a few letters, there is one only if asked for.
    """
    if text.isascii() and "n" not in text.lower():
        return text
    numbers = [one.end() for one in re.finditer(NUMBER, text, re.IGNORECASE)]
    places = [
        at
        for at in range(1, len(text))
        if is_change(text[at - 1], text[at]) and (everywhere or not is_held(text, at))
    ]
    ends = sorted({0, *numbers, *places, len(text)})
    return GAP.join(text[a:b] for a, b in pairwise(ends))


def is_held(text: str, at: int) -> bool:
    if is_unspaced(text[at]):
        behind = re.match(rf"([^\W0-9A-Za-z]+){JOINT}\w", text[at:])
        return behind is not None and len(behind[1]) <= 8
    before = re.search(rf"\w{JOINT}([^\W0-9A-Za-z]+)$", text[:at])
    return before is not None and len(before[1]) <= 8
