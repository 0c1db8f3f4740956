"""Parse the critic's decision strictly: a reply ends with one decision and contains no other.

Rule 1: remarks may come before the decision, but nothing after it. So a critic that quotes what the
        actor wrote and then comments on it approves nothing. A decision that only repeats what the
        critic was shown is an echo; see `decision_was_shown`.
Rule 2: the words that open a decision appear in a reply once. A second opening, in either form, in
        a quote or in a stray tag, makes the reply malformed. So does one inside a code fence.
Rule 3: a decision has the fields of its kind and no others. `done` with remaining issues is
        malformed.
"""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from evals.envelope import ARRAY, OPTIONAL, Envelope
from harness.errors import HarnessError, escape_text
from harness.wire import NOT_BLANK, InvalidInput, build, parse_json

NonBlankText = Annotated[str, Field(pattern=NOT_BLANK)]
"""Text that is not blank."""

Confidence = Annotated[float, Field(ge=0, le=1)]


class Done(Envelope):
    """The task is complete. The confidence is recorded; it does not affect the outcome."""

    type: Literal["done"] = "done"
    summary: NonBlankText
    confidence: Confidence


class Continue(Envelope):
    """More work is needed."""

    type: Literal["continue"] = "continue"
    feedback: NonBlankText
    remaining_issues: Annotated[tuple[NonBlankText, ...], ARRAY] = ()
    confidence: Annotated[Confidence | None, OPTIONAL] = None


class Error(Envelope):
    """Something went wrong; `recovery` says how to recover."""

    type: Literal["error"] = "error"
    analysis: NonBlankText
    recovery: NonBlankText
    confidence: Annotated[Confidence | None, OPTIONAL] = None


CodeDecision = Annotated[Done | Continue | Error, Field(discriminator="type")]

KINDS: Final[dict[str, type[Done] | type[Continue] | type[Error]]] = {
    "done": Done,
    "continue": Continue,
    "error": Error,
}

REPLY_FORMAT: Final = """\
DECISION: DONE
SUMMARY: what was accomplished
CONFIDENCE: a number from 0 to 1

DECISION: CONTINUE
FEEDBACK: what is missing or wrong, and what to do next
REMAINING ISSUES: one a line (optional)

DECISION: ERROR
ANALYSIS: what went wrong
RECOVERY: how the actor can recover
"""
"""The text form: one of the three, with its parts in this order. CONFIDENCE may end any."""

_FIELDS: Final = {
    "SUMMARY": "summary",
    "FEEDBACK": "feedback",
    "REMAINING ISSUES": "remaining_issues",
    "ANALYSIS": "analysis",
    "RECOVERY": "recovery",
    "CONFIDENCE": "confidence",
}
_LABEL = re.compile(rf"^({'|'.join(['DECISION', *_FIELDS])}):", re.MULTILINE)
_BLOCK = re.compile(r"^<decision>(.*)</decision>\Z", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^\s*(```|~~~)", re.MULTILINE)
_NUMBER = re.compile(r"0(\.[0-9]{1,17})?|1(\.0{1,17})?")

# Everything that a person could take for the opening of a decision: the exact spelling anywhere,
# other spellings at the beginning of a line, and any tag of that name.
_TAG = re.compile(r"<\s*/?\s*decision", re.IGNORECASE)
_OPENING = re.compile(r"^[^\w\n]*(?i:decision)[^\w\n]*:|DECISION\s*:", re.MULTILINE)


class MalformedReply(HarnessError, ValueError):
    """A reply that is not a decision. The message is one line, safe to print, and says why."""


def parse_decision(reply: str) -> Done | Continue | Error:
    """Return the one decision that the reply ends with.

    Raises:
        MalformedReply: the reply does not end with exactly one well-formed decision.
    """
    text = _text_of(reply)
    tags, openings = len(_TAG.findall(text)), len(_OPENING.findall(text))
    if tags + openings == 0:
        raise MalformedReply("no decision in the reply")
    if tags > 2 or openings > 1 or (tags and openings):
        raise MalformedReply("more than one decision, a quoted one, or a stray tag in the reply")
    remarks, decision = _split_remarks(text)
    if len(_FENCE.findall(remarks)) % 2:
        raise MalformedReply("the decision is in a code fence")
    block = _BLOCK.fullmatch(decision)
    if tags and not block:
        raise MalformedReply(
            "the decision block is not alone at the end of the reply, on lines of its own"
        )
    return _decision(_from_json(block[1]) if block else _from_text(decision))


def decision_was_shown(reply: str, shown: Sequence[str]) -> bool:
    """Return whether the decision appears word for word in a text that the critic was shown."""
    decision = " ".join(_split_remarks(_text_of(reply))[1].split())
    return any(decision in " ".join(text.split()) for text in shown)


def _text_of(reply: str) -> str:
    return reply.replace("\r\n", "\n").strip()


def _split_remarks(text: str) -> tuple[str, str]:
    """Return the remarks, and the rest from the line in which a decision opens."""
    opened = _TAG.search(text) or _OPENING.search(text)
    start = 0 if opened is None else text.rfind("\n", 0, opened.start() + 1) + 1
    return text[:start], text[start:]


def _from_json(content: str) -> dict[str, Any]:
    try:
        value = parse_json(content.encode("utf-8", "replace"))
    except InvalidInput as error:
        raise MalformedReply(f"the decision block: {error.message}") from None
    if not isinstance(value, dict):
        raise MalformedReply("the decision block is not a JSON object")
    return value


def _from_text(text: str) -> dict[str, Any]:
    before, *parts = _LABEL.split(text)
    if before or parts[0] != "DECISION":
        raise MalformedReply(
            "the decision is not at the beginning of its line: write DECISION: in capitals, with "
            "no mark before it"
        )
    values: dict[str, Any] = {}
    for label, value in zip(parts[2::2], parts[3::2], strict=True):
        field = _FIELDS[label]
        if field in values:
            raise MalformedReply(f"{label} appears in the reply twice")
        values[field] = _read_value(field, value.strip())
    # In a `DONE` the number comes last, so that no remark can follow a decision that was quoted.
    if list(values) != [field for field in _FIELDS.values() if field in values]:
        raise MalformedReply("the parts of the decision are not in the required order")
    kind = parts[1].strip()
    if kind not in ("DONE", "CONTINUE", "ERROR"):
        raise MalformedReply(f"DECISION is {escape_text(kind)}: it must be DONE, CONTINUE or ERROR")
    return {"type": kind.lower(), **values}


def _read_value(field: str, text: str) -> Any:
    match field:
        case "confidence" if _NUMBER.fullmatch(text):
            return float(text)
        case "confidence":
            raise MalformedReply(
                f"CONFIDENCE is {escape_text(text)}: it must be a number from 0 to 1"
            )
        case "remaining_issues":
            return [line.strip().removeprefix("- ") for line in text.splitlines() if line.strip()]
        case _:
            return text


def _decision(value: dict[str, Any]) -> Done | Continue | Error:
    kind = value.get("type")
    model = KINDS.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise MalformedReply("the type of a decision must be done, continue or error")
    if model is Done and "remaining_issues" in value:
        if value["remaining_issues"] != []:
            raise MalformedReply("done with remaining issues is a contradiction: use continue")
        value = {name: part for name, part in value.items() if name != "remaining_issues"}
    try:
        return build(model, value)
    except InvalidInput as error:
        raise MalformedReply(f"the decision {kind}: {error}") from None
