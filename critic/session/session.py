"""A session: an agent that acts call by call, as a frozen value.

Rule 1: the batch of one turn is a plan, judged on what was seen before it. Calls of one batch back
        each other only where they say that they wait for one another: each is opened then, which
        judges it again, before it is made.
Rule 2: every change gives a new session. What was seen is shared and only added to, so that a turn
        costs what is new.
Rule 3: facts come from events alone: what was said, what was allowed, what was returned. A call
        that only a shadow let through spends, and what it returned was seen, but it gives no
        authority.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from critic.score import score_after
from critic.session.batch_judging import asked_about, make_approval
from critic.session.call_batch import (
    Action,
    Batch,
    Call,
    CallResult,
    EndedBatch,
    RunningBatch,
)
from critic.session.call_results import Arrival, record_of
from critic.session.changed import change_fields
from critic.session.ledger import Ledger
from critic.session.proposing import facts_in, plan_of_batch
from critic.session.session_evidence import Trail
from critic.session.session_report import (
    SessionReport,
    TurnReport,
    Worst,
    report_of,
    session_scores,
)
from critic.session.session_rules import OPERATOR_ID, USER_ID, SessionRules
from critic.session.whole_run import make_whole_run
from evals.context import RunContext, SentValues, Spent
from evals.json_value import detach_json
from evals.manifest import EvidenceItem, Source
from evals.plan_verdicts import Refused, Verified

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/#@+=~-]{0,127}")
_MADE_TRACE: Final = "session:"


class Ran(NamedTuple):
    """A session after a result, and the batch that ended with it, if one did."""

    session: "Session"
    ended: EndedBatch | None


class Closed(NamedTuple):
    """The report of a session, and the batches that ended only because it was closed."""

    report: SessionReport
    ended: tuple[EndedBatch, ...]


@dataclass(frozen=True, slots=True)
class Session:
    """The state of a session before its next batch. Open one with `Session.opened`."""

    rules: SessionRules
    id: str
    trail: Trail
    scope: tuple[str, ...] | None = None
    tenant_id: str | None = None
    user_id: str | None = None
    texts: int = 0
    results: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    running: Mapping[int, RunningBatch] = field(default_factory=lambda: MappingProxyType({}))
    open_calls: Mapping[str, tuple[int, int]] = field(default_factory=lambda: MappingProxyType({}))
    turns: tuple[TurnReport, ...] = ()
    earlier: int = 0
    policy: Worst = field(default_factory=Worst)
    safety: Worst = field(default_factory=Worst)

    @classmethod
    def opened(
        cls,
        rules: SessionRules,
        session: str,
        request: str,
        *,
        system: str | None = None,
        scope: Iterable[str] | None = None,
        tenant_id: str | None = None,
        user_id: str | None = None,
    ) -> "Session":
        """Return a session that has just begun.

        Args:
            request: the words of the user.
            system: those of the operator: the system prompt.
            scope: the tools that the request is for. Those that the policy lacks are ignored.
            tenant_id, user_id: whom it is for. They are told, and no rule reads them.
        """
        trail = Trail(rules.evidence, rules.described)
        if system is not None:
            source = Source(author="operator", standing="named")
            trail = trail.plus([_text_item(f"{OPERATOR_ID}1", "system_prompt", system, source)])
        names = None if scope is None else tuple(dict.fromkeys(scope))
        return cls(rules, session, trail, names, tenant_id, user_id).said(request)

    @property
    def trace_id(self) -> str:
        """The trace of all its plans: its id, or one made of it where that is not an identifier."""
        if _IDENTIFIER.fullmatch(self.id) and not self.id.startswith(_MADE_TRACE):
            return self.id
        return _MADE_TRACE + hashlib.sha256(self.id.encode()).hexdigest()

    @property
    def turn(self) -> int:
        """How many batches there were, with those of its earlier lives."""
        return self.earlier + len(self.turns)

    def after_life(self, turns: int, spent: Spent, sent: Iterable[SentValues] = ()) -> "Session":
        """Return a session that has just begun, as the next life of one that ended.

        What was spent stays spent, and what was sent before comes back as an echo only. Nothing
        that gave authority comes along: what was seen, made or approved.

        Args:
            turns: how many there were before: those that come next count on.
        """
        echoes = (one.model_copy(update={"seq": len(self.trail)}) for one in sent)
        ledger = Ledger.after_life(spent, echoes)
        return change_fields(self, earlier=turns, ledger=ledger)

    def said(self, text: str) -> "Session":
        """Return the session after the user said something: it is part of the request."""
        number = self.texts + 1
        source = Source(author="user", standing="named")
        item = _text_item(f"{USER_ID}{number}", "request", text, source)
        return change_fields(
            self,
            trail=self._add_items([item]),
            texts=number,
        )

    def _add_items(self, items: list[EvidenceItem]) -> Trail:
        """Return what was seen, with more: read at once where rulings look it up."""
        trail = self.trail.plus(items)
        for item in items:
            if item.classification in self.rules.backing_classes:
                _ = item.backing  # kept with the item
        if self.rules.spec.provenance is not None:
            trail.read()
        return trail

    def propose(
        self, calls: Sequence[Call], as_of: datetime | None = None, *, is_plan: bool = False
    ) -> Batch:
        """Return the next batch, with the proposal that it makes. The session does not change.

        Args:
            is_plan: the agent carries the calls out in later turns, under ids of those.

        Raises:
            ValueError: there are no calls, two with one id, or one whose id is that of a call whose
                result is awaited.
        """
        ids = {call.id for call in calls}
        is_taken = not is_plan and any(map(self.is_awaited, ids))
        if not calls or len(ids) < len(calls) or is_taken:
            raise ValueError("a batch needs calls, each with an id of its own")
        turn, rules = self.turn + 1, self.rules
        plan = plan_of_batch(rules, calls, self.trail, as_of, session=self.id, turn=turn)
        scope = rules.scope_for(self.scope, [call.tool for call in calls], plan)
        optional: dict[str, Any] = {"as_of": as_of, "scope": scope}
        optional |= {"tenant_id": self.tenant_id, "user_id": self.user_id}
        ctx = RunContext(
            trace_id=self.trace_id,
            safety_mode=rules.safety_mode,
            run_budget=rules.budget or rules.default_budget,
            spent=self.ledger.spent(),
            session=self.ledger.facts(self.id, turn),
            **{name: value for name, value in optional.items() if value is not None},
        )
        # The caller may change its calls later, and the plan may be changed: these are copies.
        own = tuple(
            call._replace(args=detach_json(dict(call.args)), shell=facts_in(step))
            for call, step in zip(calls, plan.steps, strict=False)  # then come those of commands
        )
        past = self.ledger.past_facts(as_of)
        return Batch(turn, own, ctx, plan, rules, self.trail, past, is_plan)

    def is_awaited(self, call_id: str) -> bool:
        """Return whether a call of this id runs, or waits to be opened."""
        waiting = [one for one in self.running.values() if one.waits]
        return call_id in self.open_calls or any(call_id in one.waiting_ids for one in waiting)

    def approved(
        self,
        batch: Batch,
        approver: str,
        expires_at: datetime | None = None,
        *,
        approval_id: str | None = None,
        late: bool = False,
    ) -> tuple["Session", Batch]:
        """Return what a person's yes to a batch makes of both.

        The batch has the approval, bound to its plan and its context. The session keeps the values
        that asked, and the calls outside the scope that did. The approval is named after the turn,
        unless it is given an id.

        Args:
            late: the person was shown where each value comes from that is not there yet.
        """
        name = approval_id or f"turn/{batch.turn}"
        approval = make_approval(batch, name, approver, expires_at)
        if late:
            approval = approval.model_copy(update={"late": True})
        ctx = batch.ctx.model_copy(update={"approvals": (approval,)})
        ledger = self.ledger.after_approval(*asked_about(batch).until(expires_at))
        return change_fields(self, ledger=ledger), replace(batch, ctx=ctx)

    def decided(
        self, batch: Batch, action: Action, verdict: Verified | Refused, plan_digest: str
    ) -> "Session":
        """Return the session after a batch was ruled on; for a question, after it is answered, too.

        A batch that is allowed spends from now on, and its results are awaited.
        """
        kind: dict[str, Any] = {"kind": verdict.kind} if isinstance(verdict, Refused) else {}
        turn = TurnReport(turn=batch.turn, action=action, plan_digest=plan_digest, **kind)
        turns = self._with_turn(turn)
        if action != "allow":
            return change_fields(self, turns=turns)
        running = RunningBatch.of(batch, verdict)
        begins = () if running.waits else enumerate(batch.calls)
        opened = {call.id: (batch.turn, step) for step, call in begins}
        return change_fields(
            self,
            turns=turns,
            ledger=self.ledger.after_ruling(self.rules, batch),
            open_calls=MappingProxyType({**self.open_calls, **opened}),
            running=MappingProxyType({**self.running, batch.turn: running}),
        )

    def await_result(self, call_id: str, running: RunningBatch, step: int) -> "Session":
        """Return the session after a call of a batch that waited may run."""
        opened = MappingProxyType({**self.open_calls, call_id: (running.turn, step)})
        return change_fields(self.with_running(running), open_calls=opened)

    def with_running(self, running: RunningBatch) -> "Session":
        """Return the session with another state of one of its batches."""
        return change_fields(
            self, running=MappingProxyType({**self.running, running.turn: running})
        )

    @property
    def open_plan(self) -> int | None:
        """The turn of the plan that the agent carries out, if there is one."""
        return next(
            (one.turn for one in self.running.values() if one.is_plan and one.waiting), None
        )

    def _with_turn(self, turn: TurnReport) -> tuple[TurnReport, ...]:
        at = turn.turn - self.earlier
        return (*self.turns[: at - 1], turn, *self.turns[at:])

    def ran(self, call_id: str, result: CallResult, as_of: datetime | None = None) -> Ran:
        """Return the session after a call ended.

        Raises:
            KeyError: no call of this id was allowed whose result is open.
            ValueError: what it returned is fresh for some seconds, and there is no time.
        """
        turn, step = self.open_calls[call_id]
        running, call = self.running[turn], self.running[turn].calls[step]
        arrival = Arrival(self.rules, self.trail, self.ledger, as_of)
        tool = self.rules.tools.get(call.tool)
        items = arrival.items(running, call, tool, result, self.results + 1)
        record = record_of(tool, result, self.rules.tables)
        trail = self._add_items(items)
        running = running.with_call(step, result, range(len(self.trail), len(trail)))
        ledger = self.ledger.after_call(
            *(self.rules, running, step, result),
            record=record,
            gives_authority=running.verdict.ok,
        )
        session = change_fields(
            self,
            trail=trail,
            results=self.results + len(items),
            ledger=ledger,
            open_calls=_drop_entry(self.open_calls, call_id),
            running=MappingProxyType({**self.running, turn: running}),
        )
        return session.score_batch(running) if running.is_over else Ran(session, None)

    def score_batch(self, running: RunningBatch) -> Ran:
        """Score a batch that is over: it is not kept any longer."""
        batch = running.batch(self.rules, self.trail)
        # What a call held that nobody ruled on may be any of the evidence.
        proposal = batch.proposal if running.has_strayed else batch.scored
        scored = score_after(running.run_of(proposal), batch.before)
        scores = scored.scorecard.scores
        before = self.turns[batch.turn - self.earlier - 1]
        turn = before.model_copy(
            update={"policy": scores.policy.status, "safety": scores.safety.status}
        )
        session = change_fields(
            self,
            running=_drop_entry(self.running, batch.turn),
            turns=self._with_turn(turn),
            policy=self.policy.add_verdict(batch.turn, scores.policy),
            safety=self.safety.add_verdict(batch.turn, scores.safety),
        )
        return Ran(session, EndedBatch(batch, running, scored))

    def closed(self, outputs: Mapping[str, Any], as_of: datetime | None = None) -> Closed:
        """Return the report of the session, which ends with these outputs.

        Batches with calls whose results never came are scored as they are: what became of those
        calls is not known.
        """
        session, ended = self, list[EndedBatch | None]()
        for running in self.running.values():
            session, batch = session.score_batch(running.given_up())
            ended.append(batch)
        known = session.rules, session.ledger, self.trace_id
        whole = make_whole_run(known, session.trail.items, outputs, is_measured=not ended)
        scores = session_scores(whole, session.policy, session.safety)
        report = report_of(session.turns, scores, session=self.id, whole=whole, closed_at=as_of)
        return Closed(report, tuple(filter(None, ended)))


def _text_item(ref: str, kind: str, text: str, source: Source) -> EvidenceItem:
    return EvidenceItem(id=ref, classification=kind, content=text, source=source)


def _drop_entry(entries: Mapping[Any, Any], key: Any) -> Mapping[Any, Any]:
    return MappingProxyType({name: entries[name] for name in entries if name != key})
