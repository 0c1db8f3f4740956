"""What a session did and spent: the facts that its plans are judged by, beside the evidence."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from critic.session.batch import Batch, Call, CallResult, RunningBatch, same_args
from critic.session.rules import SessionRules, SessionTool
from critic.session.values import call_hosts, files_made, values_made
from evals.capability import ToolName
from evals.context import ApprovedValue, SessionFacts, Spent, SpentCall
from evals.json_value import SAFE_INTEGER

_T = TypeVar("_T")


class MadeCall(NamedTuple):
    """A destructive call that was allowed, and has not been shown to have failed."""

    turn: int
    step: int
    spent: SpentCall


class Measures(NamedTuple):
    """What all the calls took, together. None once one of them was not measured."""

    tokens: int | None = 0
    duration_ms: int | None = 0
    cost_micros: int | None = 0

    def plus(self, result: CallResult) -> "Measures":
        """Return the measures with those of one more call."""
        parts = (result.tokens, result.duration_ms, result.cost_micros)
        return Measures(*(_sum(whole, part) for whole, part in zip(self, parts, strict=True)))


def _sum(whole: int | None, part: int | None) -> int | None:
    return None if whole is None or part is None else _count(whole + part)


def _count(total: int) -> int:
    """Return a sum as a count of the wire. What is above it is above any budget as well."""
    return min(total, SAFE_INTEGER)


@dataclass(frozen=True, slots=True)
class Ledger:
    """What was spent, which tools ran, where calls went, what they made, what was approved."""

    steps: int = 0
    tokens: int = 0
    made: tuple[MadeCall, ...] = ()
    ran: tuple[ToolName, ...] = ()
    hosts: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    approved: tuple[ApprovedValue, ...] = ()
    scope_waived: bool = False
    measures: Measures = field(default_factory=Measures)

    def facts(self, session: str, turn: int) -> SessionFacts:
        """Return what the session did before this turn. What it did not do is left out."""
        return SessionFacts(
            id=session,
            turn=turn,
            ran=self.ran or None,
            hosts=self.hosts or None,
            own=self.own or None,
            approved=self.approved or None,
            scope_waived=True if self.scope_waived else None,
        )

    def spent(self) -> Spent:
        """Return what was spent before this turn."""
        calls = tuple(one.spent for one in self.made)
        if not calls:
            return Spent(steps=self.steps, tokens=self.tokens)
        return Spent(steps=self.steps, tokens=self.tokens, calls=calls)

    def after_approval(self, values: Iterable[ApprovedValue], *, waives_scope: bool) -> "Ledger":
        """Return the ledger after a person approved values, or a call outside the scope."""
        return replace(
            self,
            approved=with_new(self.approved, values),
            scope_waived=self.scope_waived or waives_scope,
        )

    def after_ruling(self, rules: SessionRules, batch: Batch, *, gives_authority: bool) -> "Ledger":
        """Return the ledger after a batch was allowed: it spends from now on."""
        hosts, own, made = list[str](), list[str](), list[MadeCall]()
        for step, call in enumerate(batch.calls):
            tool = rules.tools.get(call.tool)
            if tool is None or not gives_authority:
                made += _destructive(tool, call, batch.turn, step)
                continue
            hosts += call_hosts(tool.roles, call.args)
            own += values_made(tool.roles, call.args) if tool.makes else ()
            made += _destructive(tool, call, batch.turn, step)
        tokens = sum(expected_tokens(rules, call) for call in batch.calls)
        return replace(
            self,
            steps=self.steps + len(batch.calls),
            tokens=_count(self.tokens + tokens),
            made=(*self.made, *made) if made else self.made,
            hosts=with_new(self.hosts, hosts),
            own=with_new(self.own, own),
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
        changed = replace(self, tokens=_count(tokens), measures=self.measures.plus(result))
        if result.status == "failed":
            made = (one for one in self.made if (one.turn, one.step) != (running.turn, step))
            changed = replace(changed, made=tuple(made))
        if tool is None or not gives_authority or result.status != "completed":
            return changed
        name = ToolName(adapter_id=tool.pair[0], capability_id=tool.pair[1])
        files = files_made(result.output) if tool.makes and result.output is not None else ()
        return replace(changed, ran=with_new(self.ran, [name]), own=with_new(self.own, files))


def with_new(known: tuple[_T, ...], more: Iterable[_T]) -> tuple[_T, ...]:
    """Return the values with those that are not among them yet: the same object if none is."""
    added: list[_T] = []
    for value in more:
        if value not in known and value not in added:
            added.append(value)
    return (*known, *added) if added else known


def expected_tokens(rules: SessionRules, call: Call) -> int:
    """Return what a call counts until its result says what it took.

    An agent that estimates less than the least of the tool cannot spend less by it.
    """
    tool = rules.tools.get(call.tool)
    least = 0 if tool is None else tool.capability.min_tokens or 0
    return max(call.estimated_tokens or 0, least)


def _destructive(tool: SessionTool | None, call: Call, turn: int, step: int) -> Iterable[MadeCall]:
    if tool is None or tool.capability.approval_mode != "destructive":
        return ()
    spent = SpentCall(
        adapter_id=tool.pair[0],
        capability_id=tool.pair[1],
        args_digest=hashlib.sha256(same_args(call.args)).hexdigest(),
        id=call.id,
    )
    return (MadeCall(turn, step, spent),)
