"""What critics reply, read strictly: a judgement, or a fault to be named when they are asked again.

Rule 1: what is not exactly of the form that was asked for is malformed, and no judgement. Numbers
        are not searched for, clamped or guessed.
Rule 2: any listed issue blocks. A critic that lists one does not approve, whatever its score; what
        need not be mended belongs in its summary.
"""

import re
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from evals.envelope import ARRAY, Envelope
from harness.runtime.revise import Judgement, Malformed
from harness.wire import NOT_BLANK, InvalidInput, parse

EMPTY_REPLY: Final = "the reply is empty"

_LONGEST_REPLY: Final = 1 << 20  # bytes; a critique of a megabyte is none
_FENCED: Final = re.compile(r"```(?:json)?\s(.*)```", re.DOTALL | re.IGNORECASE)
_SCORE_LINE: Final = re.compile(r"score\s*[:=]", re.ASCII | re.IGNORECASE)
_SCORE: Final = re.compile(
    r"score[ \t]*[:=][ \t]*(0(?:\.\d+)?|1(?:\.0+)?)", re.ASCII | re.IGNORECASE
)

Issue = Annotated[str, StringConstraints(pattern=NOT_BLANK)]


class Critique(Envelope):
    """A critic's judgement: issues that must be mended, and how far the output solves the task.

    `score` is a number of 0 to 1. `issues` is always given, if only as an empty list: a critic
    that did not look for issues has not found none.
    """

    issues: Annotated[tuple[Issue, ...], ARRAY]
    score: Annotated[float, Field(ge=0, le=1)]
    summary: str = ""


def parse_critique(text: str) -> Critique | Malformed:
    """The critique that a reply is: one JSON object and nothing else, or one fenced block of it.

    Malformed, among others: an empty reply, prose around the object, a score that is a bool, a
    string, not finite or out of range, issues that are no list of texts, duplicate or unknown keys.
    """
    bare = text.strip()
    if not bare:
        return Malformed(EMPTY_REPLY)
    fenced = _FENCED.fullmatch(bare)
    document = (fenced[1] if fenced else bare).encode(errors="surrogatepass")
    try:
        return parse(Critique, document, _LONGEST_REPLY)
    except InvalidInput as error:
        return Malformed(str(error))


def judge(critique: Critique, approval_threshold: float) -> Judgement[Critique]:
    """Approved from the threshold on, unless an issue is listed. The merit is the score first."""
    good = critique.score >= approval_threshold and not critique.issues
    merit = (critique.score, -len(critique.issues))
    return Judgement("approved" if good else "refused", merit, critique)


def parse_score(text: str) -> float | None:
    """The number on the one line `score: 0.85` or `score=0.4`, a plain decimal of 0 to 1.

    None for anything else: no such line, two lines that begin so, a percentage, a fraction, an
    exponent, a sign, a value out of range.
    """
    lines = [line.strip(" \t\r") for line in text.split("\n")]
    scores = [line for line in lines if _SCORE_LINE.match(line)]
    found = _SCORE.fullmatch(scores[0]) if len(scores) == 1 else None
    return float(found[1]) if found else None


def says(reply: str, phrase: str) -> bool:
    """Whether the whole reply is the phrase, but for case and the space around it."""
    return reply.strip().casefold() == phrase.strip().casefold()
