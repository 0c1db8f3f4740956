"""The acts and the spending of a session: facts that its plans are judged by."""

import hashlib
from collections.abc import Container, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from critic.session.call_batch import Batch, Call, CallResult, Past, RunningBatch, same_args
from critic.session.changed import change_fields
from critic.session.grown import Grown
from critic.session.session_rules import SessionRules, SessionTool
from critic.session.session_values import call_hosts, files_made, hosts_of, spellings, values_made
from evals.capability import ToolName, least_tokens
from evals.context import ApprovedValue, RunContext, SessionFacts, Spent, SpentCall
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


def own_values(values: Iterable[str] = ()) -> Grown[str]:
    """Return the values that a session made, by their spellings."""
    return Grown(lambda value: spellings([value]), values)


def known_hosts(values: Iterable[str] = ()) -> Grown[str]:
    """Return where calls went, by host."""
    return Grown(lambda value: hosts_of([value]), values)


class ApprovedValues:
    """The values that a person approved, in their order, and until when each spelling is."""

    __slots__ = ("_until", "values")

    def __init__(self, values: Iterable[ApprovedValue] = ()) -> None:
        self.values: tuple[ApprovedValue, ...] = tuple(values)
        self._until = dict[str, datetime | None]()
        for value in self.values:
            for spelled in spellings([value.value]):
                self._until[spelled] = _later_expiry(
                    value.expires_at, self._until.get(spelled, _NEVER)
                )

    def plus(self, values: Iterable[ApprovedValue]) -> "ApprovedValues":
        """Return the values with those that are not among them yet."""
        new = [value for value in dict.fromkeys(values) if value not in self.values]
        return ApprovedValues((*self.values, *new)) if new else self

    def at(self, as_of: datetime | None) -> Container[str]:
        """Return the spellings whose approval has not expired."""
        return _Unexpired(self._until, as_of)


_NEVER = datetime.min.replace(tzinfo=UTC)


def _later_expiry(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the later of two expiries, of which None is the latest."""
    return None if one is None or other is None else max(one, other)


class _Unexpired(Container[str]):
    """Spellings with their expiries, at a moment."""

    def __init__(self, until: Mapping[str, datetime | None], as_of: datetime | None) -> None:
        self._until, self._as_of = until, as_of

    def __contains__(self, spelled: object) -> bool:
        return spelled in self._until and is_unexpired(self._until[spelled], self._as_of)  # type: ignore[index]


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
    """The spending, the tools that ran, the hosts of calls, the values they made, and approvals."""

    steps: int = 0
    tokens: int = 0
    made: Grown[MadeCall] = field(default_factory=made_calls)
    ran: Grown[ToolName] = field(default_factory=tools_ran)
    hosts: Grown[str] = field(default_factory=known_hosts)
    own: Grown[str] = field(default_factory=own_values)
    approved: ApprovedValues = field(default_factory=ApprovedValues)
    scope_waived: bool = False
    measures: Measures = field(default_factory=Measures)

    def facts(self, session: str, turn: int) -> SessionFacts:
        """Return what the session did before this turn. What it did not do is left out."""
        lists: dict[str, Grown[Any]] = {"ran": self.ran, "hosts": self.hosts, "own": self.own}
        known: dict[str, Any] = {name: tuple(values) for name, values in lists.items() if values}
        if self.approved.values:
            known["approved"] = self.approved.values
        if self.scope_waived:
            known["scope_waived"] = True
        return SessionFacts(id=session, turn=turn, **known)

    def spent(self) -> Spent:
        """Return what was spent before this turn."""
        calls = tuple(made_call.spent for made_call in self.made)
        if not calls:
            return Spent(steps=self.steps, tokens=self.tokens)
        return Spent(steps=self.steps, tokens=self.tokens, calls=calls)

    def past_facts(self, as_of: datetime | None) -> Past:
        """Return all that, to look things up in."""
        return Past(self.made, self.hosts, self.own, self.approved.at(as_of))

    def after_approval(self, values: Iterable[ApprovedValue], *, waives_scope: bool) -> "Ledger":
        """Return the ledger after a person approved values, or a call outside the scope."""
        return change_fields(
            self,
            approved=self.approved.plus(values),
            scope_waived=self.scope_waived or waives_scope,
        )

    def after_ruling(self, rules: SessionRules, batch: Batch, *, gives_authority: bool) -> "Ledger":
        """Return the ledger after a batch was allowed: it spends from now on."""
        hosts, own, made = list[str](), list[str](), list[MadeCall]()
        for step, call in enumerate(batch.calls):
            tool = rules.tools.get(call.tool)
            if tool is None or not gives_authority:
                made += _destructive_calls(tool, call, batch.turn, step)
                continue
            hosts += call_hosts(tool.roles, call.args)
            own += values_made(tool.roles, call.args) if tool.makes else ()
            made += _destructive_calls(tool, call, batch.turn, step)
        tokens = sum(expected_tokens(rules, call) for call in batch.calls)
        return change_fields(
            self,
            steps=_bound_count(self.steps + len(batch.calls)),
            tokens=_bound_count(self.tokens + tokens),
            made=self.made.plus(made),
            hosts=self.hosts.plus(hosts),
            own=self.own.plus(own),
        )

    def after_call(
        self,
        rules: SessionRules,
        running: RunningBatch,
        step: int,
        result: CallResult,
        *,
        gives_authority: bool,
    ) -> "Ledger":
        """Return the ledger after a call ended."""
        call = running.calls[step]
        tool = rules.tools.get(call.tool)
        tokens = self.tokens
        if result.tokens is not None:
            tokens += result.tokens - expected_tokens(rules, call)
        ledger = change_fields(
            self, tokens=_bound_count(tokens), measures=self.measures.plus(result)
        )
        if result.status == "failed":
            at = running.turn, step
            ledger = change_fields(ledger, made=self.made.without(lambda one: one[:2] == at))
        if tool is None or not gives_authority or result.status != "completed":
            return ledger
        name = ToolName(adapter_id=tool.pair[0], capability_id=tool.pair[1])
        files = files_made(result.output) if tool.makes and result.output is not None else ()
        return change_fields(ledger, ran=self.ran.plus([name]), own=self.own.plus(files))


def past_of(ctx: RunContext) -> Past:
    """Return what a context says of what the session did before."""
    calls = (ctx.spent.calls if ctx.spent else None) or ()
    facts = ctx.session
    ledger = Ledger(
        made=made_calls(MadeCall(0, at, call) for at, call in enumerate(calls)),
        hosts=known_hosts((facts.hosts if facts else None) or ()),
        own=own_values((facts.own if facts else None) or ()),
        approved=ApprovedValues((facts.approved if facts else None) or ()),
    )
    return ledger.past_facts(ctx.as_of)


def expected_tokens(rules: SessionRules, call: Call) -> int:
    """Return what a call counts until its result says what it took.

    An agent that estimates less than the least of the tool cannot spend less by it.
    """
    tool = rules.tools.get(call.tool)
    return max(call.estimated_tokens or 0, least_tokens(tool.capability if tool else None))


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
