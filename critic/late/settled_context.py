"""What is known when a step is opened: the context of the plan, and what its calls returned.

Rule 1: each call that ended is evidence, made as a session makes it: of the class that its tool
        promises if it completed, and else `failed_result`, by anybody.
Rule 2: how the plan came to read a source is fixed by what had ended when its call was opened.
Rule 3: what expires counts from the opening of its call. Without a time there it has expired.
"""

from collections.abc import Container, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from critic.late.late_steps import OTHER_CLASS, result_class
from critic.late.opened_steps import Opened
from critic.provenance.standing import standing_of
from critic.provenance.value_facts import KnownValues, ValueFacts, approved_tiers
from critic.provenance.value_kinds import Sought
from critic.session.batch_facts import SeenBefore
from critic.session.call_batch import CallResult
from critic.session.call_results import classify_output, name_author, record_of
from critic.session.grown import Grown
from critic.session.ledger import MadeThing, own_things, past_of, tools_ran
from critic.session.sent_log import SentLog
from critic.session.session_evidence import Trail
from critic.session.session_rules import FAILED_CLASS, SessionTool
from critic.session.session_values import FieldTables, OwnKey, locators_in, things_made, values_sent
from evals.capability import Author, ToolCapability, ToolName
from evals.context import Approval, RunContext, SentValues, SessionFacts
from evals.json_value import detach_json
from evals.kinds import MODE_RANK
from evals.manifest import CompiledContext, EvidenceItem, Manifests, Source, Standing
from evals.plan import Proposal
from evals.run import ToolCall
from evals.timestamps import is_unexpired

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max
_READ_ONLY: Final = MODE_RANK["read_only"]


class KnownThen(NamedTuple):
    """What is known at some moment of a run: what was seen, ran, was made and was sent by then."""

    trail: Trail
    ran: Grown[ToolName]
    own: Grown[MadeThing]
    sent: SentLog


class SettledContext:
    """The context of a late plan as its steps are opened and its calls end.

    Attributes:
        items: what the calls returned, in the order in which it came.
        refs: the ids of the items of each step, by its index, in that order.
        past: what was done before the plan.
        now: what is known by now.
    """

    def __init__(self, proposal: Proposal, before: SeenBefore | None = None) -> None:
        """Begin with what is known before the run.

        Args:
            before: that, where it is at hand. The evidence of the proposal is not looked at then.
        """
        self._proposal = proposal
        manifests = proposal.compiled.manifests
        self._tools = manifests.tools
        self._tables = FieldTables(manifests)
        self.refs: dict[int, list[str]] = {}
        if before is None:
            trail, given = Trail(_number_evidence(proposal), manifests), None
        else:
            trail, given = before.trail.branch(), before.past
        self.past: Final = given or past_of(proposal.ctx)
        session = proposal.ctx.session
        self._approved = (session.approved if session else None) or ()
        self._first = 1 + max(trail.last_seq, self.past.sent.last_seq, 0)
        self.items: list[EvidenceItem] = []
        ran = tools_ran((session.ran if session else None) or ())
        self.now = KnownThen(trail, ran, own_things(), SentLog())
        self._at_opening: dict[int, KnownThen] = {}
        self._made_by: list[int] = []
        """How many items there are after so many calls."""

    def add_opening(self, opened: Opened) -> None:
        """Note that a step was opened, after the calls and openings that are known."""
        self._at_opening[opened.step] = self.now
        tool = opened.tool
        is_read = tool is not None and MODE_RANK[tool.approval_mode] == _READ_ONLY
        if values := () if is_read else values_sent(opened.sent.args):
            sent = SentValues(seq=self._first + len(self.items), values=values)
            self.now = self.now._replace(sent=self.now.sent.plus([sent]))

    def add_call(self, call: ToolCall, opened: Opened) -> None:
        """Add what a call returned that ended, of a step that was opened."""
        new = [*self._items_of(call, opened)]
        self.items += new
        self.refs.setdefault(call.step, []).extend(item.id for item in new)
        self.now = self.now._replace(trail=self.now.trail.plus(new))
        self._made_by.append(len(self.items))
        if call.status == "completed" and opened.tool is not None:
            made = map(MadeThing.of, self._things_made(call))
            name = ToolName(adapter_id=call.adapter_id, capability_id=call.capability_id)
            ran, own = self.now.ran.plus([name]), self.now.own.plus(made)
            self.now = self.now._replace(ran=ran, own=own)

    def count_after(self, calls: int) -> int:
        """Return how many items there are after so many calls."""
        return self._made_by[calls - 1] if calls else 0

    def _items_of(self, call: ToolCall, opened: Opened) -> Iterator[EvidenceItem]:
        tool = opened.tool
        session_tool = SessionTool.of(tool, result_class=result_class(tool)) if tool else None
        name = f"step/{call.step}/{call.attempt}"
        taken = set[str]()
        for content, kind, author, end in self._parts(session_tool, call):
            ref = f"{name}{end}"
            while ref in self.now.trail or ref in taken:
                ref += "_"
            source: dict[str, Any] = {}
            if author is not None:
                source["source"] = self._source(tool, call, author, opened, len(taken))
            taken.add(ref)
            yield EvidenceItem(
                id=ref,
                classification=kind,
                content=detach_json(content),
                **source,
                **_expiry(tool, opened.as_of),
            )

    def _parts(
        self, tool: SessionTool | None, call: ToolCall
    ) -> Iterator[tuple[Any, str, Author | None, str]]:
        """Yield what a call returned, and the text of its error: class, author, end of the id."""
        if tool is not None and call.status == "completed":
            content, kind, is_anyones = classify_output(tool, _result_of(call), self._tables)
            yield content, kind, name_author(tool, is_anyones=is_anyones), ""
        elif call.status == "completed":
            yield call.output, OTHER_CLASS, "public", ""
        elif call.output is not None:
            yield call.output, FAILED_CLASS, "public", ""
        if call.error is not None:
            yield call.error, FAILED_CLASS, "public", "/error"

    def _source(
        self,
        tool: ToolCapability | None,
        call: ToolCall,
        author: Author,
        opened: Opened,
        behind: int,
    ) -> Source:
        result = tool.result if tool else None
        web: dict[str, Any] = {"web": True} if result is not None and result.web else {}
        seq = self._first + len(self.items) + behind
        standing = self._find_standing(tool, call, opened)
        return Source(author=author, standing=standing, seq=seq, **web)

    def _find_standing(
        self, tool: ToolCapability | None, call: ToolCall, opened: Opened
    ) -> Standing:
        if self._proposal.spec.provenance is None or tool is None:
            return "ambient"
        locators = locators_in(SessionTool.of(tool).values, tool, call.args)
        if not locators:
            return "ambient"
        with self._values_at(self._at_opening[opened.step], opened.as_of) as known:
            return standing_of(locators, ValueFacts(self._proposal.spec, known))

    @contextmanager
    def values_known(self, as_of: datetime | None) -> Iterator[KnownValues]:
        """Give what is known of values by now. It holds in the `with` block only."""
        with self._values_at(self.now, as_of) as known:
            yield known

    @contextmanager
    def _values_at(self, then: KnownThen, as_of: datetime | None) -> Iterator[KnownValues]:
        held = (one for one in self._approved if is_unexpired(one.expires_at, as_of))
        past = self.past

        def first_sent(value: Sought) -> int | None:
            found = (past.sent.first_seq(value), then.sent.first_seq(value))
            return min((one for one in found if one is not None), default=None)

        with then.trail.seen_sources(as_of) as seen:
            own = _Either(past.own, then.own)
            yield KnownValues(*seen, approved=approved_tiers(held), own=own, sent=first_sent)

    def ctx(self, as_of: datetime | None, approvals: tuple[Approval, ...]) -> RunContext:
        """Return the context of the run for the checks, without what `values_known` says."""
        session = self._proposal.ctx.session
        facts: dict[str, Any] = {"id": self._proposal.ctx.trace_id, "turn": 0}
        if session is not None:
            facts = {"id": session.id, "turn": session.turn}
            facts |= {} if session.waived is None else {"waived": session.waived}
        if len(self.now.ran):
            facts["ran"] = tuple(self.now.ran)
        return self._ctx_with(as_of, approvals, SessionFacts(**facts))

    def whole_ctx(
        self, then: KnownThen, as_of: datetime | None, approvals: tuple[Approval, ...]
    ) -> RunContext:
        """Return the context of the run with all that the session did by some moment."""
        return self._ctx_with(as_of, approvals, self._session_at(then))

    def _ctx_with(
        self, as_of: datetime | None, approvals: tuple[Approval, ...], session: SessionFacts
    ) -> RunContext:
        ctx = self._proposal.ctx
        kept = ctx.model_fields_set - {"as_of", "session", "approvals"}
        fields = {name: getattr(ctx, name) for name in kept}
        given = (*(ctx.approvals or ()), *approvals)
        return RunContext(**fields, as_of=as_of, session=session, approvals=given)

    def _session_at(self, then: KnownThen) -> SessionFacts:
        """Return the facts of the session, as it has grown by then."""
        given = self._proposal.ctx.session
        facts: dict[str, Any] = {"id": self._proposal.ctx.trace_id, "turn": 0}
        if given is not None:
            facts = {name: getattr(given, name) for name in given.model_fields_set}
        grown: dict[str, tuple[Any, ...]] = {
            "ran": tuple(then.ran),
            "own": (*(facts.get("own") or ()), *(thing.own for thing in then.own)),
            "sent": (*(facts.get("sent") or ()), *then.sent),
        }
        return SessionFacts(**{**facts, **{name: more for name, more in grown.items() if more}})

    def compile_context(self, trail: Trail) -> CompiledContext:
        """Return the manifests with the evidence of a trail."""
        compiled = self._proposal.compiled
        known = compiled.manifests
        optional: dict[str, Any] = {"classes": known.classes, "record_fields": known.record_fields}
        manifests = Manifests(
            tool_manifest=known.tool_manifest, evidence_manifest=trail.items, **optional
        )
        return CompiledContext(manifests=manifests, pack_version=compiled.pack_version)

    def _things_made(self, call: ToolCall) -> Iterator[Any]:
        tool = self._tools[call.adapter_id, call.capability_id]
        session_tool = SessionTool.of(tool, result_class=result_class(tool))
        record = record_of(session_tool, _result_of(call), self._tables)
        return things_made(tool, call.args, record)


class _Either(Container[OwnKey]):
    """What any of two holds."""

    def __init__(self, *held: Container[OwnKey]) -> None:
        self._held = held

    def __contains__(self, key: object) -> bool:
        return any(key in one for one in self._held)


def count_items(call: ToolCall) -> int:
    """Return how many items a call that ended makes."""
    output = call.status == "completed" or call.output is not None
    return output + (call.error is not None)


def _number_evidence(proposal: Proposal) -> tuple[EvidenceItem, ...]:
    """Return the evidence of a plan as what was seen before all that it does."""
    items = proposal.compiled.manifests.evidence_manifest
    session = proposal.ctx.session
    if session is not None and session.sent:
        return items  # then only who computed the facts knows the order
    return tuple(_number(item) for item in items)


def _number(item: EvidenceItem) -> EvidenceItem:
    if item.source is None or item.source.seq is not None:
        return item
    return item.model_copy(update={"source": item.source.model_copy(update={"seq": 0})})


def _result_of(call: ToolCall) -> CallResult:
    return CallResult(call.status, call.output, call.error)


def _expiry(tool: ToolCapability | None, as_of: datetime | None) -> dict[str, Any]:
    if tool is None or tool.expires_after_s is None:
        return {}
    if as_of is None:
        return {"expires_at": _LONG_AGO}
    left = (_LATEST.replace(tzinfo=as_of.tzinfo) - as_of) // timedelta(seconds=1)
    return {"expires_at": as_of + timedelta(seconds=min(tool.expires_after_s, left))}
