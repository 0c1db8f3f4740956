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
WORD = r"[\w\u0300-\u036f\u3099\u309a\xad\u200b-\u200f\u2060-\u2064\ufeff]"
"""A character of a word. Marks and characters without a width change the word they stand in."""
QUOTING = "\"'`\u2018\u2019\u201a\u201c-\u201e\xab\xbb\u2039\u203a"
STOPS = "\u060c\u061b\u061f\u06d4\u0964\u0965\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f\uff61\uff64"
"""Signs that end a clause without a blank behind them."""
FIRSTS = "\u3008\u300a\u300c\u300e\u3010\uff08\uff3b\uff5b"
LASTS = "\u3009\u300b\u300d\u300f\u3011\uff09\uff3d\uff5d"
APART = f",;=|>*#\u2116\u2014\u2015\u2026\u2022{QUOTING}{STOPS}{FIRSTS}{LASTS}{GAP}"
"""Signs between two values in lists, sentences and markup. Any other joins them to one."""
HELD = rf"(?:(?!{WORD}|[{APART}\s]|</|<br\b|&[A-Za-z_]+=).|(?<=[0-9])#)"
NUMBER = r"(?<![\w./:@\\+%~-])(?:(?:n|no|nr|nos)\.|n\xb0)(?=[0-9])|[\xaa\xba](?=[0-9])"


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
        return re.match(rf"[^\WA-Za-z]+(?!:){HELD}\w", text[at:]) is not None
    before = re.search(rf"(\w(?!:){HELD})?([^\W0-9A-Za-z]+)$", text[:at])
    return before is not None and (before[1] is not None or len(before[2]) > 40)
