"""Approvals that only repeat what the critic was shown. An echo is not a judgement.

An output can hold the very reply that would approve it, and a prompt can hold one as an example. A
model that copies it has judged nothing. So an approving critique counts only if it holds something
that the critic was not shown: another score, or a summary in its own words.
"""

import html
import re
import unicodedata
from typing import Final

from harness.loops.critique import Critique, remove_fence

ECHO: Final = (
    "its approval repeats what the task or the output holds: judge the output yourself, and "
    "say in the summary, in your own words, why nothing has to change"
)

_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
_IGNORED: Final = re.compile(r"[^\w.\[\]+-]+|_+|(?<![0-9]e)[+-]+")  # a sign counts in 10e-1
_NO_ISSUES: Final = re.compile(r"issues\[\]")
_SCORE: Final = re.compile(r"score[\[\]]*([0-9]+(?:\.[0-9]+)?)(?:e([+-]?[0-9]+))?", re.ASCII)


def is_echo(reply: str, critique: Critique, shown: str) -> bool:
    """Return whether `reply`, read as `critique`, repeats what the critic was shown.

    It does if the whole reply appears in `shown`, or if each of its parts does: the empty list of
    issues, the score as a number, and the summary if there is one. White space, punctuation, code
    fences, capitals and the spelling of characters make no difference, nor does the order of the
    parts.
    """
    material = letters(shown)
    if letters(remove_fence(reply)) in material:
        return True
    scores = {float(f"{digits}e{power or 0}") for digits, power in _SCORE.findall(material)}
    summary_shown = letters(critique.summary) in material
    no_issues_shown = _NO_ISSUES.search(material) is not None
    return no_issues_shown and critique.score in scores and summary_shown


def letters(text: str) -> str:
    """Return the letters, digits, dots and square brackets of a text, however they are written."""
    text = _ESCAPE.sub(lambda escape: chr(int(escape[1] or escape[2], 16)), text)
    text = html.unescape(html.unescape(text))
    return _IGNORED.sub("", unicodedata.normalize("NFKC", text).casefold())
