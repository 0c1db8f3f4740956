"""A session as JSON, to go on in another process, and back.

Rule 1: it says all that the session knows, but for the policy, of which it has the digest.
Rule 2: changing it can grant authority. Keep it where no agent can write.
"""

from collections.abc import Iterable
from types import MappingProxyType
from typing import Annotated

from critic.session.call_batch import Batch, Call, RunningBatch
from critic.session.contradictions import (
    ContradictoryState,
    require_consistent,
    require_consistent_batch,
)
from critic.session.ledger import (
    Ledger,
    MadeCall,
    Measures,
    made_calls,
    own_things,
    tools_ran,
)
from critic.session.proposing import facts_in, restore_call
from critic.session.sent_log import SentLog
from critic.session.session import Session
from critic.session.session_evidence import Trail
from critic.session.session_report import TurnReport, Worst
from critic.session.session_rules import SessionRules
from evals.context import CallId, RunContext, SessionFacts, SpentCall
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.escaping import pointer
from evals.json_value import JsonObject, Text, detach_json
from evals.manifest import EvidenceItem
from evals.plan import Plan, ToolStep
from evals.plan_verdicts import Refused, Verified, VerifyVerdict
from evals.run import Opening, ToolCall
from evals.verdict import Finding, Share


class CallState(Envelope):
    """A call of a batch. Its arguments are those of its step, or those that it was opened with."""

    id: CallId
    tool: Identifier
    estimated_tokens: Annotated[Count | None, OPTIONAL] = None
    args: Annotated[JsonObject | None, OPTIONAL] = None


class BatchState(Envelope):
    """A batch that waits for results or for an answer. It has the first `seen` pieces of evidence.

    `ended` and `results` are those of a batch that runs. Where its calls wait for one another, or
    the agent carries them out as a plan, `made` are the steps that may run, or ran.
    """

    turn: Count
    seen: Count
    calls: Annotated[tuple[CallState, ...], ARRAY]
    ctx: RunContext
    plan: Plan
    verdict: VerifyVerdict
    ended: Annotated[tuple[ToolCall, ...], ARRAY] = ()
    results: Annotated[tuple[Count, ...], ARRAY] = ()
    openings: Annotated[tuple[Opening, ...], ARRAY] = ()
    made: Annotated[tuple[Count, ...], ARRAY] = ()
    is_plan: bool = False
    is_stopped: bool = False


class AwaitedState(Envelope):
    """A call whose result is awaited: its batch and its step."""

    id: CallId
    turn: Count
    step: Count


class MadeState(Envelope):
    """A destructive call that counts as made."""

    turn: Count
    step: Count
    call: SpentCall


class WorstState(Envelope):
    """The worst that an evaluator said of any batch."""

    score: Share
    findings: Annotated[tuple[Finding, ...], ARRAY]


class MeasuresState(Envelope):
    """The sums over the calls. A member is absent if one of them was not measured."""

    tokens: Annotated[Count | None, OPTIONAL] = None
    duration_ms: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None


class SessionState(Envelope):
    """All that a session knows. `evidence` is what it saw itself, without that of the policy.

    `earlier` is how many turns its earlier lives had.
    """

    policy_digest: Identifier
    evidence: Annotated[tuple[EvidenceItem, ...], ARRAY]
    scope: Annotated[tuple[Text, ...] | None, OPTIONAL, ARRAY] = None
    tenant_id: Annotated[Identifier | None, OPTIONAL] = None
    user_id: Annotated[Identifier | None, OPTIONAL] = None
    texts: Count
    results: Count
    facts: SessionFacts
    steps: Count
    tokens: Count
    made: Annotated[tuple[MadeState, ...], ARRAY]
    measures: MeasuresState
    running: Annotated[tuple[BatchState, ...], ARRAY]
    awaited: Annotated[tuple[AwaitedState, ...], ARRAY]
    turns: Annotated[tuple[TurnReport, ...], ARRAY]
    earlier: Count = 0
    policy: WorstState
    safety: WorstState


def state_of(session: Session) -> SessionState:
    """Return a session as an envelope."""
    ledger = session.ledger
    return SessionState(
        policy_digest=session.rules.digest,
        evidence=session.trail.items[len(session.rules.evidence) :],
        scope=session.scope,
        tenant_id=session.tenant_id,
        user_id=session.user_id,
        texts=session.texts,
        results=session.results,
        facts=ledger.facts(session.id, session.turn),
        steps=ledger.steps,
        tokens=ledger.tokens,
        made=tuple(MadeState(turn=one.turn, step=one.step, call=one.spent) for one in ledger.made),
        measures=MeasuresState(**ledger.measures._asdict()),
        running=tuple(map(running_state, session.running.values())),
        awaited=tuple(
            AwaitedState(id=name, turn=turn, step=step)
            for name, (turn, step) in session.open_calls.items()
        ),
        turns=session.turns,
        earlier=session.earlier,
        policy=WorstState(score=session.policy.score, findings=session.policy.findings),
        safety=WorstState(score=session.safety.score, findings=session.safety.findings),
    )


def running_state(running: RunningBatch) -> BatchState:
    """Return a batch as an envelope."""
    calls = tuple(_call_state(running, step) for step in range(len(running.calls)))
    return BatchState(
        turn=running.turn,
        seen=running.seen,
        calls=calls,
        ctx=running.ctx,
        plan=running.plan,
        verdict=running.verdict,
        ended=running.ended,
        results=running.results,
        openings=running.openings,
        made=running.made,
        is_plan=running.is_plan,
        is_stopped=running.is_stopped,
    )


def _call_state(running: RunningBatch, step: int) -> CallState:
    call = running.calls[step]
    is_opened = running.is_late and step in running.made
    args = detach_json(dict(call.args)) if is_opened else None
    return CallState(id=call.id, tool=call.tool, estimated_tokens=call.estimated_tokens, args=args)


def session_of(rules: SessionRules, state: SessionState) -> Session:
    """Return the session that a state describes.

    Raises:
        ContradictoryState: it is of another policy, or contradicts itself.
        ValueError: its evidence contradicts that of the policy.
    """
    if state.policy_digest != rules.digest:
        raise ContradictoryState("/policy_digest", "the session is of another policy")
    first, last = state.earlier + 1, state.earlier + len(state.turns)
    if [turn.turn for turn in state.turns] != [*range(first, last + 1)]:
        raise ContradictoryState("/turns", f"the turns do not count on from {first}")
    if state.facts.turn != last:
        raise ContradictoryState("/facts/turn", f"there were {last} turns")
    _require_once((one.turn for one in state.running), "running", "turn")
    _require_once((one.id for one in state.awaited), "awaited", "id")
    running = [running_of(one, pointer("running", at)) for at, one in enumerate(state.running)]
    awaited = {one.id: (one.turn, one.step) for one in state.awaited}
    session = Session(
        rules=rules,
        id=state.facts.id,
        trail=Trail(rules.evidence, rules.described).plus(state.evidence),
        scope=state.scope,
        tenant_id=state.tenant_id,
        user_id=state.user_id,
        texts=state.texts,
        results=state.results,
        ledger=_ledger(state),
        running=MappingProxyType({one.turn: one for one in running}),
        open_calls=MappingProxyType(awaited),
        turns=state.turns,
        earlier=state.earlier,
        policy=Worst(state.policy.score, state.policy.findings),
        safety=Worst(state.safety.score, state.safety.findings),
    )
    _require_texts(state.evidence)
    require_consistent(session)
    return session


def _require_texts(evidence: Iterable[EvidenceItem]) -> None:
    """Require that what the user said is text.

    Raises:
        ContradictoryState: something is not.
    """
    for at, item in enumerate(evidence):
        is_said = item.source is not None and item.source.author == "user"
        if is_said and not isinstance(item.content, str):
            path = pointer("evidence", at, "content")
            raise ContradictoryState(path, "what the user said is a text")


def _require_once(names: Iterable[object], field: str, key: str) -> None:
    known = set[object]()
    for at, name in enumerate(names):
        if name in known:
            raise ContradictoryState(pointer(field, at, key), "an earlier one is the same")
        known.add(name)


def running_of(state: BatchState, path: str) -> RunningBatch:
    """Return the batch that a state describes.

    Args:
        path: a JSON pointer to the batch.

    Raises:
        ContradictoryState: it does not have one tool step for each call.
    """
    steps = [step for step in state.plan.steps if isinstance(step, ToolStep)]
    of_calls = steps[: len(state.calls)]
    is_whole = len(steps) == len(state.plan.steps) and len(of_calls) == len(state.calls)
    if not is_whole or [step for step in steps if step.of is None] != of_calls:
        raise ContradictoryState(f"{path}/calls", "a batch has one tool step for each call")
    names = {step.id: call.id for call, step in zip(state.calls, of_calls, strict=True) if step.id}
    calls = tuple(
        restore_call(_call_of(call, step), step, names)
        for call, step in zip(state.calls, of_calls, strict=True)
    )
    return RunningBatch(
        turn=state.turn,
        calls=calls,
        seen=state.seen,
        ctx=state.ctx,
        plan=state.plan,
        verdict=state.verdict,
        ended=state.ended,
        results=state.results,
        openings=state.openings,
        made=state.made,
        is_plan=state.is_plan,
        is_stopped=state.is_stopped,
    )


def _call_of(state: CallState, step: ToolStep) -> Call:
    args = step.args if state.args is None else state.args
    return Call(state.id, state.tool, args, state.estimated_tokens, facts_in(step))


def asked_of(session: Session, state: BatchState, path: str) -> tuple[Batch, Refused]:
    """Return the batch that waits for a person's answer, with the proposal that it had.

    Args:
        path: a JSON pointer to the batch.

    Raises:
        ContradictoryState: it contradicts itself or the session.
    """
    waiting = running_of(state, path)
    if isinstance(waiting.verdict, Verified):
        raise ContradictoryState(f"{path}/verdict", "a question is about a batch that is refused")
    if [one.turn for one in session.turns[-1:] if one.action == "ask"] != [waiting.turn]:
        raise ContradictoryState(f"{path}/turn", "the last batch of the session did not ask")
    if any((waiting.ended, waiting.results, waiting.openings, waiting.made, waiting.is_stopped)):
        raise ContradictoryState(path, "a batch that is asked about has not run")
    require_consistent_batch(waiting, session.trail, path)
    return waiting.batch(session.rules, session.trail), waiting.verdict


def _ledger(state: SessionState) -> Ledger:
    facts, measures = state.facts, state.measures
    return Ledger(
        steps=state.steps,
        tokens=state.tokens,
        made=made_calls(MadeCall(one.turn, one.step, one.call) for one in state.made),
        ran=tools_ran(facts.ran or ()),
        own=own_things(facts.own or ()),
        sent=SentLog(facts.sent or ()),
        approved=facts.approved or (),
        waived=facts.waived or (),
        measures=Measures(measures.tokens, measures.duration_ms, measures.cost_micros),
    )
