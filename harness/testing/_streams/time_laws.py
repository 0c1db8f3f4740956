"""The law of time: what a session rules is what `verify` says at the moment that the events name.

The moments are those before, at and after whatever expires: evidence, results and approvals.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from critic import Proposal, Refused, verify_proposal
from evals.timestamps import parse_time
from harness.record import Decision
from harness.testing._draw.drawn_streams import NOON
from harness.testing._draw.primitives import Json
from harness.testing._streams.guard_trial import is_error, known_calls
from harness.testing._streams.stream_trial import StreamTrial
from harness.wire import build


@dataclass
class _Asked:
    """A batch that a person is asked about, as it was when they were: when, and on what results."""

    calls: list[Json]
    plan_digest: str
    at: datetime
    expiries: list[datetime | None]
    until: datetime | None


@dataclass
class SessionModel:
    """What the events of a session say, kept without any code of the guard."""

    expires_after: dict[str, int]
    question_after: int | None = None
    named: datetime | None = None
    question: _Asked | None = None
    awaited: dict[str, str] = field(default_factory=dict)
    expiries: list[datetime | None] = field(default_factory=list)
    approved_until: list[datetime | None] = field(default_factory=list)
    steps: int = 0

    def now(self, event: Json) -> datetime:
        """Return the time of an event."""
        given = event.get("as_of")
        return parse_time(given) if given else self.named or NOON

    def goes_back(self, event: Json) -> bool:
        """Return whether an event tells an earlier time than one before it."""
        return self.named is not None and self.now(event) < self.named

    def note(self, event: Json, answer: Json | None, pinned: Sequence[datetime]) -> None:
        """Take in an event that was taken in, whose plan is pinned to what expires then."""
        now = self.now(event)
        self.named = now if "as_of" in event else self.named
        kind = event["event"]
        if kind == "result":
            self._note_end(event, now)
        if kind in ("calls", "answer"):
            self._note_ruling(event, answer or {}, now, pinned)

    def _note_end(self, event: Json, now: datetime) -> None:
        kept = [event[name] for name in ("output", "error") if event.get(name) is not None]
        count = max(len(kept), event["status"] == "completed")
        seconds = self.expires_after.get(self.awaited.pop(event["id"]))
        until = None if seconds is None else now + timedelta(seconds=seconds)
        self.expiries += [until] * count

    def _note_ruling(
        self, event: Json, answer: Json, now: datetime, pinned: Sequence[datetime]
    ) -> None:
        asked = None
        if "calls" in event and "plan_digest" not in answer:  # of unknown tools alone
            return
        if "calls" in event:
            after = self.question_after
            ends = [*pinned, *([] if after is None else [now + timedelta(seconds=after)])]
            until = min(ends, default=None)
            digest = answer["plan_digest"]
            asked = _Asked(known_calls(event, answer), digest, now, [*self.expiries], until)
        batch = asked or self.question
        if answer["action"] == "allow" and batch is not None:
            self.steps += len(batch.calls)
            self.awaited |= {call["id"]: call["tool"] for call in batch.calls}
            if asked is None:
                until = event.get("expires_at")
                self.approved_until.append(parse_time(until) if until else None)
        self.question = asked if answer["action"] == "ask" else None

    def refuses_answer(self, event: Json) -> bool:
        """Return whether an answer comes to no question, or has expired."""
        asked, until = self.question, event.get("expires_at")
        if asked is None or asked.plan_digest != event["plan_digest"]:
            return True
        if event["yes"] and asked.until is not None and asked.until <= self.now(event):
            return True
        return until is not None and parse_time(until) <= max(self.now(event), asked.at)


def each_ruling_is_that_of_verify_at_its_time(trial: StreamTrial) -> None:
    """Each ruling is the verdict of `verify` on what the session saw, at the time of its event."""
    stream = trial.stream(most=14)
    played = trial.play(stream)
    ruled = [one for one in played.decisions if one.run is None and not _has_lapsed(one)]
    expiries = trial.policy.expiries()
    seconds = {
        tool.called: expiries[tool.pair] for tool in trial.policy.tool if tool.pair in expiries
    }
    model = SessionModel(seconds, trial.policy.guard.question_expires_after_s)
    is_open = False
    for event, answer in zip(played.events, played.answers, strict=True):
        if is_open and model.goes_back(event):
            trial.require(is_error(answer), "time goes back", played)
            trial.met["an earlier time"] += 1
            continue
        if event["event"] == "answer" and is_open and "action" not in (answer or {}):
            trial.require(model.refuses_answer(event), "an answer is not taken in", played)
        if is_error(answer):
            continue
        if event["event"] == "answer":
            trial.require(not model.refuses_answer(event), "an answer comes too late", played)
        if event["event"] == "open":
            model = SessionModel(seconds, trial.policy.guard.question_expires_after_s)
            is_open = True
        pinned: list[datetime] = []
        if answer is not None and "plan_digest" in answer:
            trial.require(bool(ruled), "a ruling is not recorded", played)
            pinned = _pinned_until(ruled[0].proposal)
            for why in _faults(trial, model, event, answer, ruled.pop(0)):
                trial.require(False, why, played)
        is_open = is_open and event["event"] != "close"
        model.note(event, answer, pinned)
    trial.require(not ruled, "more is recorded than was ruled", played)


def _as_recorded(verdict: Json) -> Json:
    """Return a verdict without what it tells a model: that stands outside of what is derived."""
    return verdict if verdict["ok"] else build(Refused, verdict).bare.wire()


def _has_lapsed(decision: Decision) -> bool:
    return decision.answer is not None and decision.answer.answer == "lapsed"


def _faults(
    trial: StreamTrial, model: SessionModel, event: Json, answer: Json, decision: Decision
) -> Iterator[str]:
    """Yield what is wrong with a ruling."""
    proposal = decision.proposal
    verdict = verify_proposal(build(Proposal, proposal.wire()))
    if decision.report.verify != verdict:
        yield f"verify says {verdict.wire()}, the session {decision.report.verify.wire()}"
    if decision.error is None and _as_recorded(answer["verdict"]) != verdict.wire():
        yield f"verify says {verdict.wire()}, the answer is another"
    if answer["action"] == "allow" and not verdict and not trial.policy.guard.shadow:
        yield "what verify refuses is allowed"
    asked = model.question if event["event"] == "answer" else None
    at = model.now(event) if asked is None else asked.at
    if proposal.ctx.as_of != at:
        yield f"it is judged as of {proposal.ctx.as_of}, not {at}"
    made = [item for item in proposal.compiled.manifests.evidence_manifest if _is_result(item)]
    expiries = model.expiries if asked is None else asked.expiries
    if [item.expires_at for item in made] != expiries:
        yield f"results expire at {[item.expires_at for item in made]}, not {expiries}"
    if proposal.ctx.spent is None or proposal.ctx.spent.steps != model.steps:
        yield f"{proposal.ctx.spent} was spent, not {model.steps} steps"
    yield from _of_approvals(model, event, proposal)
    _count(trial, proposal, at)


def _pinned_until(proposal: Proposal) -> list[datetime]:
    """Return when the evidence expires that a plan is pinned to."""
    refs = {ref for step in proposal.plan.steps for ref in step.evidence_refs or ()}
    items = proposal.compiled.manifests.evidence_manifest
    return [one.expires_at for one in items if one.id in refs and one.expires_at is not None]


def _is_result(item: Any) -> bool:
    return str(item.id).startswith("call/")


def _of_approvals(model: SessionModel, event: Json, proposal: Proposal) -> Iterator[str]:
    """Yield how the approvals differ from what people said."""
    facts = proposal.ctx.session
    held = [] if facts is None or facts.approved is None else facts.approved
    if any(one.expires_at not in model.approved_until for one in held):
        yield "a value is approved until another moment than a person said"
    given = [
        (one.approver, one.plan_digest, one.expires_at) for one in proposal.ctx.approvals or ()
    ]
    expected = []
    if event["event"] == "answer" and event["yes"]:
        until = event.get("expires_at")
        expected = [(event["approver"], event["plan_digest"], parse_time(until) if until else None)]
    if given != expected:
        yield f"it is approved by {given}, not {expected}"


def _count(trial: StreamTrial, proposal: Proposal, at: datetime) -> None:
    """Count on which side of an expiry the ruling is."""
    near = timedelta(microseconds=1)
    items = proposal.compiled.manifests.evidence_manifest
    facts = proposal.ctx.session
    approved = () if facts is None else facts.approved or ()
    for until in (*(item.expires_at for item in items), *(one.expires_at for one in approved)):
        if until is not None and abs(until - at) <= near:
            side = "before" if at < until else "at" if at == until else "after"
            trial.met[f"{side} an expiry"] += 1
