"""The acts and the spending of a session: facts that its plans are judged by."""

import hashlib
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from critic.session.batch_facts import Past
from critic.session.call_batch import (
    Batch,
    Call,
    CallResult,
    OtherCall,
    RunningBatch,
    same_args,
)
from critic.session.changed import change_fields
from critic.session.grown import Grown
from critic.session.sent_log import SentLog
from critic.session.session_rules import SessionRules, SessionTool
from critic.session.session_values import own_keys, things_made, values_sent
from evals.canonical_json import canonical_json
from evals.capability import ToolName, least_tokens
from evals.context import (
    ApprovedValue,
    OwnValue,
    RunContext,
    SentValues,
    SessionFacts,
    Spent,
    SpentCall,
    WaivedCall,
)
from evals.json_value import SAFE_INTEGER
from evals.timestamps import is_unexpired


class MadeCall(NamedTuple):
    """A destructive call that was allowed, and has not been shown to have failed."""

    turn: int
    step: int
    spent: SpentCall


def _call_key(made: MadeCall) -> tuple[Hashable]:
    call = made.spent
    args_digest = call.args_digest.removeprefix("sha256:")
    return ((call.adapter_id, call.capability_id, args_digest),)


def _name_key(name: ToolName) -> tuple[Hashable]:
    return ((name.adapter_id, name.capability_id),)


def made_calls(calls: Iterable[MadeCall] = ()) -> Grown[MadeCall]:
    """Return destructive calls, by adapter, capability and digest of the arguments."""
    return Grown(_call_key, calls)


def tools_ran(names: Iterable[ToolName] = ()) -> Grown[ToolName]:
    """Return the tools that ran, by adapter and capability."""
    return Grown(_name_key, names)


class MadeThing(NamedTuple):
    """A thing that a session made, told from others by its canonical form."""

    kind: str
    form: bytes
    value: Any

    @classmethod
    def of(cls, own: OwnValue) -> "MadeThing":
        """Return a thing of the wire."""
        return cls(own.kind, canonical_json(own.value), own.value)

    def __hash__(self) -> int:
        return hash((self.kind, self.form))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MadeThing) and (self.kind, self.form) == (other.kind, other.form)

    @property
    def own(self) -> OwnValue:
        """The thing as the wire has it."""
        return OwnValue(kind=self.kind, value=self.value)


def own_things(values: Iterable[OwnValue] = ()) -> Grown[MadeThing]:
    """Return the things that a session made, by kind and spelling."""
    return Grown(lambda thing: own_keys(thing.own), map(MadeThing.of, values))


class Measures(NamedTuple):
    """The sums over all calls. None once one of them was not measured."""

    tokens: int | None = 0
    duration_ms: int | None = 0
    cost_micros: int | None = 0

    def plus(self, result: CallResult) -> "Measures":
        """Return the measures with those of one more call."""
        parts = (result.tokens, result.duration_ms, result.cost_micros)
        return Measures(*(_sum(whole, part) for whole, part in zip(self, parts, strict=True)))


def _sum(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else _bound_count(whole + part)


def _bound_count(total: int) -> int:
    """Return a sum as a count of the wire. What is above it is above any budget as well.

    Where a sum was cut, what is taken off it later may be more than what it was cut to.
    """
    return max(0, min(total, SAFE_INTEGER))


@dataclass(frozen=True, slots=True)
class Ledger:
    """The spending, the tools that ran, what calls made and sent, and what a person approved."""

    steps: int = 0
    tokens: int = 0
    made: Grown[MadeCall] = field(default_factory=made_calls)
    ran: Grown[ToolName] = field(default_factory=tools_ran)
    own: Grown[MadeThing] = field(default_factory=own_things)
    sent: SentLog = field(default_factory=SentLog)
    approved: tuple[ApprovedValue, ...] = ()
    waived: tuple[WaivedCall, ...] = ()
    measures: Measures = field(default_factory=Measures)

    @classmethod
    def after_life(cls, spent: Spent, sent: Iterable[SentValues]) -> "Ledger":
        """Return the ledger of a session whose earlier life spent and sent this."""
        return cls(
            steps=spent.steps or 0,
            tokens=spent.tokens or 0,
            made=made_calls(MadeCall(0, at, call) for at, call in enumerate(spent.calls or ())),
            sent=SentLog(sent),
        )

    def facts(self, session: str, turn: int) -> SessionFacts:
        """Return what the session did before this turn. What it did not do is left out."""
        lists: dict[str, tuple[Any, ...]] = {
            "ran": tuple(self.ran),
            "own": tuple(thing.own for thing in self.own),
            "sent": tuple(self.sent),
            "approved": self.approved,
            "waived": self.waived,
        }
        known = {name: values for name, values in lists.items() if values}
        return SessionFacts(id=session, turn=turn, **known)

    def spent(self) -> Spent:
        """Return what was spent before this turn."""
        calls = tuple(made_call.spent for made_call in self.made)
        if not calls:
            return Spent(steps=self.steps, tokens=self.tokens)
        return Spent(steps=self.steps, tokens=self.tokens, calls=calls)

    def past_facts(self, as_of: datetime | None) -> Past:
        """Return all that, to look things up in."""
        return Past(self.made, self.own, self.approved_at(as_of), self.sent)

    def approved_at(self, as_of: datetime | None) -> tuple[ApprovedValue, ...]:
        """Return the approved values whose approval has not expired."""
        return tuple(one for one in self.approved if is_unexpired(one.expires_at, as_of))

    def after_approval(
        self, values: Iterable[ApprovedValue], waived: Iterable[WaivedCall]
    ) -> "Ledger":
        """Return the ledger after a person approved values, or calls outside the scope."""
        more = (one for one in values if one not in self.approved)
        calls = (one for one in waived if one not in self.waived)
        return change_fields(self, approved=(*self.approved, *more), waived=(*self.waived, *calls))

    def after_ruling(self, rules: SessionRules, batch: Batch) -> "Ledger":
        """Return the ledger after a batch was allowed: it spends and sends from now on.

        Of one whose calls wait for one another each spends when it is opened.
        """
        if batch.is_late:
            return self
        made, sent = list[MadeCall](), list[SentValues]()
        for step, call in enumerate(batch.calls):
            tool = rules.tools.get(call.tool)
            made += _destructive_calls(tool, call, batch.turn, step)
            sent += _sent_by(None if step in batch.acting else tool, call, batch.seen)
        tokens = sum(expected_tokens(rules, call) for call in batch.calls)
        return change_fields(
            self,
            steps=_bound_count(self.steps + len(batch.calls)),
            tokens=_bound_count(self.tokens + tokens),
            made=self.made.plus(made),
            sent=self.sent.plus(sent),
        )

    def after_opening(
        self, rules: SessionRules, running: RunningBatch, step: int, known: int
    ) -> "Ledger":
        """Return the ledger after a call of a batch was opened: it spends and sends from now on.

        Args:
            known: how many items its batch had seen by then, and its calls returned.
        """
        call = running.calls[step]
        tool = rules.tools.get(call.tool)
        return change_fields(
            self,
            steps=_bound_count(self.steps + 1),
            tokens=_bound_count(self.tokens + expected_tokens(rules, call)),
            made=self.made.plus(_destructive_calls(tool, call, running.turn, step)),
            sent=self.sent.plus(_sent_by(tool, call, known)),
        )

    def after_call(
        self,
        rules: SessionRules,
        running: RunningBatch,
        step: int,
        result: CallResult,
        *,
        record: Any = None,
        gives_authority: bool,
    ) -> "Ledger":
        """Return the ledger after a call ended.

        Args:
            record: what it returned, where its tool promises records.
        """
        call = running.calls[step]
        tool = rules.tools.get(call.tool)
        tokens = self.tokens
        if result.tokens is not None:
            tokens += result.tokens - expected_tokens(rules, call)
        ledger = change_fields(
            self, tokens=_bound_count(tokens), measures=self.measures.plus(result)
        )
        if result.sent is not None:
            ledger = ledger._after_other_call(rules, running, step, result.sent)
        if result.status == "failed":
            at = running.turn, step
            ledger = change_fields(ledger, made=self.made.without(lambda one: one[:2] == at))
        if tool is None or not gives_authority or result.status != "completed":
            return ledger
        name = ToolName(adapter_id=tool.pair[0], capability_id=tool.pair[1])
        made = map(MadeThing.of, things_made(tool.capability, call.args, record))
        return change_fields(ledger, ran=self.ran.plus([name]), own=self.own.plus(made))

    def _after_other_call(
        self, rules: SessionRules, running: RunningBatch, step: int, other: OtherCall
    ) -> "Ledger":
        """Return the ledger after a call was made that is not the allowed one: it sends, too.

        What was seen since the batch was ruled on may show it already.
        """
        call = running.calls[step]
        pair = other.adapter_id, other.capability_id
        made_call = call._replace(args=other.args)
        # What only the rules know of a tool, and not the record of the batch, makes it no read.
        allowed = rules.tools.get(call.tool)
        is_of_batch = allowed is not None and allowed.pair == pair
        of_batch = allowed if is_of_batch and not rules.has_commands([call.tool]) else None
        tool = next((one for one in rules.tools.values() if one.pair == pair), None)
        return change_fields(
            self,
            made=self.made.plus(_destructive_calls(tool, made_call, running.turn, step)),
            sent=self.sent.plus(_sent_by(of_batch, made_call, running.seen)),
        )


def past_of(ctx: RunContext) -> Past:
    """Return what a context says of what the session did before."""
    calls = (ctx.spent.calls if ctx.spent else None) or ()
    facts = ctx.session
    ledger = Ledger(
        made=made_calls(MadeCall(0, at, call) for at, call in enumerate(calls)),
        own=own_things((facts.own if facts else None) or ()),
        sent=SentLog((facts.sent if facts else None) or ()),
        approved=(facts.approved if facts else None) or (),
    )
    return ledger.past_facts(ctx.as_of)


def expected_tokens(rules: SessionRules, call: Call) -> int:
    """Return what a call counts until its result says what it took.

    An agent that estimates less than the least of the tool cannot spend less by it.
    """
    tool = rules.tools.get(call.tool)
    return max(call.estimated_tokens or 0, least_tokens(tool.capability if tool else None))


def tokens_of(rules: SessionRules, running: RunningBatch) -> int:
    """Return the tokens of the calls of a batch that were made: what is expected, or measured."""
    measured = {call.step: call.tokens for call in running.ended if call.tokens is not None}
    return sum(
        measured.get(step, expected_tokens(rules, running.calls[step])) for step in running.made
    )


def _destructive_calls(
    tool: SessionTool | None, call: Call, turn: int, step: int
) -> Iterable[MadeCall]:
    if tool is None or tool.capability.approval_mode != "destructive":
        return ()
    spent = SpentCall(
        adapter_id=tool.pair[0],
        capability_id=tool.pair[1],
        args_digest=hashlib.sha256(same_args(call.args)).hexdigest(),
        id=call.id,
    )
    return (MadeCall(turn, step, spent),)


def _sent_by(tool: SessionTool | None, call: Call, seen: int) -> Iterable[SentValues]:
    """Return what a call sends after so many items were seen, unless it surely only reads."""
    if tool is not None and tool.capability.approval_mode == "read_only":
        return ()
    values = values_sent(call.args)
    return (SentValues(seq=seen, values=values),) if values else ()
