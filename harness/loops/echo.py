"""Approvals that only repeat what the critic was shown. An echo is not a judgement.

An output can hold the very reply that would approve it, and a prompt can hold one as an example. A
model that copies it has judged nothing. So an approving critique counts only if it holds something
that the critic was not shown: another score, or a summary in its own words.
"""

import re
from typing import Final

from harness.loops.critique import Critique, unfenced

ECHO: Final = (
    "its approval repeats what the task or the output holds: judge the output yourself, and "
    "say in the summary, in your own words, why nothing has to change"
)

_ESCAPE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")
_IGNORED: Final = re.compile(r"[\s\"'`\\]+")
_SCORE: Final = re.compile(r"score:([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)", re.ASCII)


def is_echo(reply: str, critique: Critique, shown: str) -> bool:
    """Return whether `reply`, read as `critique`, repeats what the critic was shown.

    It does if the whole reply appears in `shown`, or if each of its parts does: the empty list of
    issues, the score as a number, and the summary if there is one. White space, quotes, code
    fences and the spelling of characters make no difference, nor does the order of the parts.
    """
    material = _squeezed(shown)
    if _squeezed(unfenced(reply)) in material:
        return True
    scores = {float(number) for number in _SCORE.findall(material)}
    summary_shown = _squeezed(critique.summary) in material
    return "issues:[]" in material and critique.score in scores and summary_shown


def _squeezed(text: str) -> str:
    decoded = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    return _IGNORED.sub("", decoded)
