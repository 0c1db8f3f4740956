"""Parse the replies of critics strictly: a judgement, or an error to name when asking again.

Rule 1: a reply that is not exactly of the form that was asked for is malformed, and not a
        judgement. Numbers are not searched for, clamped or guessed.
Rule 2: any listed issue blocks. A critic that lists one does not approve, at any score; a remark
        that needs no change belongs in its summary.
"""

import re
from typing import Annotated, Final, TypeVar

from pydantic import Field, StringConstraints

from evals.envelope import ARRAY, Envelope
from harness.loops.revise import Judgement, Malformed
from harness.wire import NOT_BLANK, InvalidInput, parse

EMPTY_REPLY: Final = "the reply is empty"

_LONGEST_REPLY: Final = 1 << 20  # bytes; nobody reads a critique of a megabyte
_FENCED: Final = re.compile(r"```(?:json)?\s(.*)```", re.DOTALL | re.IGNORECASE)
_SCORE_LINE: Final = re.compile(r"score\s*[:=]", re.ASCII | re.IGNORECASE)
_SCORE: Final = re.compile(
    r"score[ \t]*[:=][ \t]*(0(?:\.\d+)?|1(?:\.0+)?)", re.ASCII | re.IGNORECASE
)

Issue = Annotated[str, StringConstraints(pattern=NOT_BLANK)]


class Critique(Envelope):
    """A critic's judgement: issues that must be fixed, and how far the output solves the task.

    `score` is a number from 0 to 1. `issues` is required, also when the list is empty: leaving it
    out could mean that the critic did not look for any.
    """

    issues: Annotated[tuple[Issue, ...], ARRAY]
    score: Annotated[float, Field(ge=0, le=1)]
    summary: str = ""


CritiqueForm = TypeVar("CritiqueForm", bound=Critique)


def parse_critique(text: str) -> Critique | Malformed:
    """Parse a reply that is one JSON object and nothing else, or one fenced block with it.

    Malformed are, among others: an empty reply, prose around the object, a score that is a bool, a
    string, not finite or out of range, issues that are not a list of texts, duplicate or unknown
    keys.
    """
    return parse_critique_as(Critique, text)


def parse_critique_as(form: type[CritiqueForm], text: str) -> CritiqueForm | Malformed:
    """Do the same with a critique that has more members."""
    if not text.strip():
        return Malformed(EMPTY_REPLY)
    document = remove_fence(text).encode(errors="surrogatepass")
    try:
        return parse(form, document, _LONGEST_REPLY)
    except InvalidInput as error:
        return Malformed(str(error))


def remove_fence(text: str) -> str:
    """Return the text without the code fence around all of it, if there is one."""
    bare = text.strip()
    fenced = _FENCED.fullmatch(bare)
    return fenced[1] if fenced else bare


def judge(critique: Critique, approval_threshold: float) -> Judgement[Critique]:
    """Approve from the threshold on, unless an issue is listed.

    The rank is the score first, then the fewest issues.
    """
    good = critique.score >= approval_threshold and not critique.issues
    rank = (critique.score, -len(critique.issues))
    return Judgement("approved" if good else "refused", rank, critique)


def parse_score(text: str) -> float | None:
    """Return the number on the one line `score: 0.85` or `score=0.4`, a decimal from 0 to 1.

    Return None for anything else: no such line, two lines that begin so, a percentage, a fraction,
    an exponent, a sign, a value out of range.
    """
    lines = [line.strip(" \t\r") for line in text.split("\n")]
    scores = [line for line in lines if _SCORE_LINE.match(line)]
    match = _SCORE.fullmatch(scores[0]) if len(scores) == 1 else None
    return float(match[1]) if match else None


def is_phrase(reply: str, phrase: str) -> bool:
    """Return whether the whole reply is the phrase, ignoring case and the space around it."""
    return reply.strip().casefold() == phrase.strip().casefold()
