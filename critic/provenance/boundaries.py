"""Where words part although no space stands between them.

Rule 1: Han, Kana and Hangul are written without a space beside the words of others, so a word ends
        where ASCII changes to one of them. Signs that look like a dash, and marks, part nothing.
Rule 2: where a joint holds what stands on the far side, as in `data2026` with `.csv` behind such
        letters, all of it is one longer value.
Rule 3: a number begins behind a sign of an ordinal, and behind `n.`, `no.` and `nr.`.
Rule 4: for what grants, any sign joins the words beside it but those that sentences, lists and
        markup put between two values. For what doubts, few signs do, and words part at every
        change. It sees whatever grants sees.
"""

import re
from functools import cache, reduce
from typing import Final

from critic.provenance.folding import QUOTES, SEPARATORS, WORD

_ASCII: Final = "A-Za-z0-9"
UNSPACED: Final = (
    "\u1100-\u115e\u1161-\u1172\u1176-\u11ff\u3005\u3006\u3021-\u3029\u3038-\u303a\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fd-\u30ff\u3131-\u3160\u3165-\u318e\u31f0-\u31ff\u3400-\u4db5\u4e01-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff6f\uff71-\uff9d\uffa1-\uffbe\uffc2-\uffd7"
    "\U00020000-\U0003ffff"
)
"""Letters of Han, Kana and Hangul, but for those that look like a dash or a nought."""
_ORDINALS: Final = "\xaa\xba"

OTHER_THAN_UNSPACED: Final = f"{SEPARATORS}{UNSPACED}{_ORDINALS}"
OTHER_THAN_ASCII: Final = f"{SEPARATORS}{_ASCII}"
_APART: Final = f"[^{OTHER_THAN_UNSPACED}]"
_BESIDE: Final = f"[^{OTHER_THAN_ASCII}]"
_MOST_BESIDE: Final = 40
"""Letters that are looked back over for a joint. Behind more of them, no value begins."""

JOINT: Final = r"[./:@\\+%~-]"
"""What joins words to one value for what doubts."""
STOPS: Final = (
    "\u060c\u061b\u061f\u06d4\u0964\u0965\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f\uff61\uff64"
)
"""Commas and stops that need no space behind them."""
FIRST_OF_PAIRS: Final = "\u3008\u300a\u300c\u300e\u3010\uff08\uff3b\uff5b"
LAST_OF_PAIRS: Final = "\u3009\u300b\u300d\u300f\u3011\uff09\uff3d\uff5d"
ENCLOSING: Final = f"{QUOTES}\u2039\u203a{FIRST_OF_PAIRS}{LAST_OF_PAIRS}"
_BETWEEN: Final = f",;=|>*#\u2116\u2014\u2015\u2026\u2022{STOPS}{ENCLOSING}"
"""What may stand between two values that no space parts, as in `id=ORD-7,ORD-8` or `"a"`."""
STRICT_JOINT: Final = rf"(?:(?![{_BETWEEN}\s]|</|<br\b|&[A-Za-z_]++=)[{SEPARATORS}]|(?<=[0-9])#)"
"""What joins words to one value for what grants: any sign but those."""
_FIRM: Final = f"(?!:){STRICT_JOINT}"
"""The joints that no label ends in."""
_CHANGE: Final = f"(?<=[{_ASCII}])(?=[{UNSPACED}])", f"(?<=[{UNSPACED}])(?=[{_ASCII}])"
NO_JOINT_BEHIND: Final = f"(?!(?:{_BESIDE}|[0-9])++{_FIRM}{WORD})"
_NO_JOINT_BEFORE: Final = reduce(
    # Each further letter is looked at only if those behind it are such letters, too.
    lambda further, count: (
        f"(?<!{WORD}{_FIRM}{_BESIDE}{{{count}}})(?>(?<!{_BESIDE}{{{count + 1}}})|{further})"
    ),
    range(_MOST_BESIDE, 0, -1),
    "(?!)",
)
ENDS_BESIDE: Final = _CHANGE[0] + NO_JOINT_BEHIND
"""Matches where a value of ASCII ends at a letter that takes no space."""
CHANGES: Final = f"(?:{ENDS_BESIDE}|{_CHANGE[1]}{_NO_JOINT_BEFORE})"
"""Matches where words part for what grants (rule 2)."""
ALL_CHANGES: Final = f"(?:{'|'.join(_CHANGE)})"
"""Matches where words part for what doubts."""
NO_CHANGE: Final = "(?!)"
"""In a text of ASCII alone words part nowhere: its patterns need no class of all letters."""

_ALONE: Final = f"(?<!{WORD})(?<!{WORD}{JOINT})"
_NUMBERED: Final = "".join(
    (
        f"(?:(?<=[{_ORDINALS}])|",
        "|".join(f"(?<={_ALONE}{sign})" for sign in (r"n\.", r"n[or]\.", r"nos\.", "n\xb0")),
        ")(?=[0-9])",
    )
)
"""Matches where a number begins behind what says that it is one."""


class ScriptPattern:
    """A pattern for texts of ASCII, and one for all others, compiled when such a text is met.

    To compile the classes of all letters takes longer than to read the policy of an agent.
    """

    __slots__ = ("_in_any", "_in_ascii")

    def __init__(self, in_ascii: str, in_any: str) -> None:
        """Take the sources of both patterns."""
        self._in_ascii: Final = re.compile(in_ascii)
        self._in_any: Final = in_any

    def of(self, text: str) -> re.Pattern[str]:
        """Return the pattern for a text."""
        return self._in_ascii if text.isascii() else compile_pattern(self._in_any)


@cache
def compile_pattern(source: str) -> re.Pattern[str]:
    """Return the pattern of a source, which is compiled once."""
    return re.compile(source)


_FILLED: Final = {STRICT_JOINT: rf"[.](?=[{{]{WORD})|-(?=[{{]{WORD}|[*])"}
"""A joint before a pattern or a place to fill, which goes on with a value for what grants."""
_TWO_SIGNS: Final = "[./:-]{2}"
_TWICE: Final = {STRICT_JOINT: f"{_TWO_SIGNS}(?=[0-9])"}
"""Two signs before a digit, as in `ORD-7--2`, join for what grants, too."""
_BEHIND_TWO: Final = {STRICT_JOINT: f"(?!(?<={WORD}{_TWO_SIGNS})[0-9])"}


def token_of(changes: str, joint: str) -> str:
    """Return a pattern of words that a joint holds together, parted at changes."""
    filled = _FILLED.get(joint, NO_CHANGE)
    joint = f"(?:{joint}|{_TWICE.get(joint, NO_CHANGE)})"
    if changes == NO_CHANGE:
        return f"{WORD}++(?:{joint}(?!{_NUMBERED}){WORD}++)*+(?:{filled})?+"
    word = f"(?:{_APART}++|{_BESIDE}++)"
    parts = f"(?={WORD})(?!{changes}|{_NUMBERED}){word}|{joint}(?!{_NUMBERED}){word}"
    return f"{word}(?:{parts})*+(?:{filled})?+"


def begins_of(changes: str, joint: str) -> str:
    """Return a pattern that matches where a value may begin."""
    return f"(?:(?<!{WORD})(?<!{WORD}{joint}){_BEHIND_TWO.get(joint, '')}|{changes}|{_NUMBERED})"


def ends_of(changes: str, joint: str) -> str:
    """Return a pattern that matches where a value may end."""
    further = (_FILLED.get(joint, NO_CHANGE), _TWICE.get(joint, NO_CHANGE))
    more = "|".join((f"{joint}(?!{_NUMBERED}){WORD}", *further))
    return f"(?:(?!{WORD}|{more})|{changes}|{_NUMBERED})"


def run_of(also: str, changes: str = CHANGES) -> str:
    """Return a pattern of a whole run of words and other characters, parted at changes.

    Args:
        also: the range of characters up to a slash that are none of the run: `-,./`, say.
    """
    if changes == NO_CHANGE:
        return f"[^{SEPARATORS.replace('-/', also, 1)}]++"
    apart = f"[^{OTHER_THAN_UNSPACED.replace('-/', also, 1)}]"
    beside = f"[^{OTHER_THAN_ASCII.replace('-/', also, 1)}]"
    return f"(?:{apart}++|{beside}++)(?:(?!{changes})(?:{apart}++|{beside}++))*+"
