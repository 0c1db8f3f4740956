"""The turns of sessions for a person: calls, tiers, origins of values, rulings, reasons."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from critic import Proposal, Refused
from critic.provenance.origins import Origin
from critic.session import SessionReport
from critic.session.session_values import PlacedValue, doubts_about, judged_values
from evals.escaping import escape_line, escape_name
from evals.manifest import EvidenceItem, Standing
from harness.canonical import ascii_json
from harness.guard import (
    Answer,
    AnswerEvent,
    CallsEvent,
    EventError,
    OpenEvent,
    OpeningRuling,
    RequestedCall,
    Ruling,
    SaidEvent,
    SessionEvent,
    SessionPlanEvent,
    parse_event,
)
from harness.record import Decision
from harness.wire import InvalidInput

_ORIGINS: Final[Mapping[Origin, str]] = {
    "approved": "approved by a person",
    "request": "from the request",
    "operator": "from the system prompt",
    "own": "made by this session, or on a host that the request names",
    "system": "from a system of record",
    "unreadable": "can be read in more than one way",
    "words": "only a word of the request",
    "field": "a field of",
    "designated": "a record that the request describes:",
    "contested": "a field that a text mentions too, of",
    "host": "another page of a host that the request names",
    "party": "a field that names whom the record is with, of",
    "contested_party": "a field that names whom the record is with, and a text mentions too, of",
    "named_member": "text of a member, in",
    "named_public": "public text, in",
    "named_web": "a web page,",
    "reached_member": "text of a member, in",
    "reached_public": "public text, in",
    "reached_web": "a web page,",
    "untrusted": "untrusted text, in",
    "led_field": "a field that only untrusted text led to, of",
    "new_link": "a link that was not seen anywhere",
    "unseen": "not seen anywhere",
}
_STANDINGS: Final[Mapping[Standing, str]] = {
    "named": "which the request names",
    "reached": "linked from one that the request names",
    "led": "reached only through untrusted text",
    "ambient": "not requested",
}
_NAMES_ITS_ITEM: Final = (",", ":", " of", " in")
_WIDEST: Final = 100
"""Characters of a request, or of the arguments of a call, that are shown."""


class Explainer:
    """Writes the turns. It gets each decision before its event is answered."""

    def __init__(self) -> None:
        """Start without a decision."""
        self._proposal: Proposal | None = None
        self._calls: dict[str, list[RequestedCall]] = {}

    def note(self, decision: Decision) -> None:
        """Record the decision behind a ruling."""
        if decision.run is None:
            self._proposal = decision.proposal

    def text(self, data: bytes, answer: Answer, source: str) -> str:
        """Return the text for an answered event.

        Args:
            source: the place of the event, safe to print.
        """
        try:
            event = parse_event(data)
        except InvalidInput:
            event = None
        if isinstance(event, CallsEvent | SessionPlanEvent) and isinstance(answer, Ruling):
            self._calls[event.session] = _judged_calls(event, answer)
        if isinstance(answer, EventError):
            return f"{_describe_error(answer, source)}\n"
        return "".join(f"{line}\n" for line in self._explain_answer(event, answer))

    def _explain_answer(
        self, event: SessionEvent | None, answer: Ruling | OpeningRuling | SessionReport | None
    ) -> Iterator[str]:
        match answer:
            case Ruling():
                yield from self._turn(event, answer)
            case OpeningRuling():
                yield from _describe_opening(event, answer)
            case SessionReport():
                yield f"{escape_name(answer.session)} closed: {answer.status}: {answer.rationale}"
            case None:
                yield from _describe_words(event)

    def _turn(self, event: SessionEvent | None, ruling: Ruling) -> Iterator[str]:
        yield f"{escape_name(ruling.session)} turn {ruling.turn}: {ruling.action}"
        if ruling.critic_error is not None:
            yield f"  why: the guard failed: {escape_line(ruling.critic_error)}"
            return
        yield from (f"  {escape_line(one.say)}" for one in ruling.unknown or ())
        if ruling.plan_digest is None:
            return
        if self._proposal is not None:
            yield from _calls(self._proposal, self._calls.get(ruling.session, []))
        if isinstance(event, AnswerEvent) and event.yes:
            yield f"  why: approved by {escape_name(event.approver)}"
        if ruling.note:
            yield f"  why: {escape_line(ruling.note)}"
        if isinstance(ruling.verdict, Refused):
            yield from (f"  why: {one.reason}" for one in ruling.verdict.violations)


def _describe_opening(event: SessionEvent | None, ruling: OpeningRuling) -> Iterator[str]:
    """Yield what became of a call once its values were there."""
    head = f"{escape_name(ruling.session)} turn {ruling.turn} call {escape_name(ruling.id)}"
    yield f"{head}: {ruling.action}"
    if ruling.args is not None:
        yield f"  args: {_cut(json.dumps(ruling.args, ensure_ascii=False))}"
    if isinstance(event, AnswerEvent) and event.yes:
        yield f"  why: approved by {escape_name(event.approver)}"
    if ruling.note:
        yield f"  why: {escape_line(ruling.note)}"
    if isinstance(ruling.verdict, Refused):
        yield from (f"  why: {escape_line(one.reason)}" for one in ruling.verdict.violations)


def _describe_error(answer: EventError, source: str) -> str:
    place = f" at {escape_line(answer.error.path)}" if answer.error.path else ""
    session = f"{escape_name(answer.session)}: " if answer.session else ""
    return f"{session}error in {source}{place}: {answer.error.message}"


def _describe_words(event: SessionEvent | None) -> Iterator[str]:
    """Yield the user's words, which later turns name as the source of values."""
    if isinstance(event, OpenEvent):
        yield f"{escape_name(event.session)} opened: {_cut(event.request)}"
    elif isinstance(event, SaidEvent):
        yield f"{escape_name(event.session)} user said: {_cut(event.text)}"


def _cut(text: str) -> str:
    return escape_line(text if len(text) <= _WIDEST else f"{text[:_WIDEST]}...")


def _judged_calls(event: CallsEvent | SessionPlanEvent, ruling: Ruling) -> list[RequestedCall]:
    """Return the calls that are steps of the plan: those of unknown tools are none."""
    unknown = {call.id for call in ruling.unknown or ()}
    requested = event.calls if isinstance(event, CallsEvent) else event.steps
    return [call for call in requested if call.id not in unknown]


def _calls(proposal: Proposal, calls: Sequence[RequestedCall]) -> Iterator[str]:
    case, _ = doubts_about(proposal)
    values: dict[int, list[PlacedValue]] = {}
    if proposal.spec.provenance is not None:
        for value in judged_values(case):
            values.setdefault(value.step, []).append(value)
    for index, entry, fields in case.steps:
        tier = entry.mode if entry.capability is not None else "not in the policy"
        named = calls[index] if index < len(calls) else None
        tool = escape_name(named.tool if named else fields["capability_id"])
        call = f", call {escape_name(named.id)}" if named else ""
        args = ascii_json(fields["args"])
        yield f"  step {index}{call}: {tool} {_cut(args)} ({tier})"
        yield from map(_describe_value, values.get(index, ()))


def _describe_value(value: PlacedValue) -> str:
    """Return a value with its role and its source."""
    shown = f"    {escape_name(value.path) or '/'} [{escape_name(value.value[:60])}] {value.role}"
    if value.seen is None:
        return shown
    origin = _ORIGINS[value.seen.origin]
    item = value.seen.item
    source = f" {_describe_item(item)}" if item and origin.endswith(_NAMES_ITS_ITEM) else ""
    return f"{shown}: {origin}{source}"


def _describe_item(item: EvidenceItem) -> str:
    about = "" if item.subject is None else f" [{escape_name(item.subject)}]"
    standing = "" if item.source is None else f" ({_STANDINGS[item.source.standing]})"
    return f"{item.id}{about}{standing}"
