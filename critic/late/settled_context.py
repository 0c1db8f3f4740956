"""What is known when a step is opened: the context of the plan, and what its calls returned.

Rule 1: each call that ended is evidence, made as a session makes it: of the class that its tool
        promises if it completed, and else `failed_result`, by anybody.
Rule 2: how the plan came to read a source is fixed by what had ended when its call was opened.
Rule 3: what expires counts from the opening of its call. Without a time there it has expired.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final

from critic.late.late_steps import result_class
from critic.late.opened_steps import Opened
from critic.prepared import PreparedPlan
from critic.provenance.standing import standing_of
from critic.provenance.value_facts import ValueFacts, values_known
from critic.session.call_batch import CallResult
from critic.session.call_results import classify_output, record_of
from critic.session.session_rules import FAILED_CLASS, SessionTool
from critic.session.session_values import FieldTables, locators_in, things_made, values_sent
from critic.surface import kept_surface
from evals.capability import Author, ToolCapability, ToolName
from evals.context import OwnValue, RunContext, SentValues, SessionFacts
from evals.json_value import detach_json
from evals.kinds import MODE_RANK
from evals.manifest import CompiledContext, EvidenceItem, Manifests, Source, Standing
from evals.plan import Plan, Proposal
from evals.run import ToolCall

_LONG_AGO: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max
_READ_ONLY: Final = MODE_RANK["read_only"]
_NO_STEPS: Final = Plan(steps=(), declared_outputs=())


class SettledContext:
    """The context of a late plan as its steps are opened and its calls end.

    Attributes:
        items: what the calls returned, in the order in which it came.
        refs: the ids of the items of each step, by its index, in that order.
    """

    def __init__(self, proposal: Proposal) -> None:
        self._proposal = proposal
        self._calls: list[ToolCall] = []
        self._opened: list[Opened] = []
        manifests = proposal.compiled.manifests
        self._tools = manifests.tools
        self._tables = FieldTables(manifests)
        self.refs: dict[int, list[str]] = {}
        self._base = _number_evidence(proposal)
        self._first = 1 + max((one.source.seq or 0 for one in self._base if one.source), default=0)
        self.items: list[EvidenceItem] = []
        self._taken = {item.id for item in self._base}
        self._made_by: list[int] = []
        """How many items there are after so many calls."""

    def add_opening(self, opened: Opened) -> None:
        """Note that a step was opened, after the calls and openings that are known."""
        self._opened.append(opened)

    def add_call(self, call: ToolCall, opened: Opened) -> None:
        """Add what a call returned that ended, of a step that was opened."""
        for item in self._items_of(call, opened):
            self._taken.add(item.id)
            self.items.append(item)
            self.refs.setdefault(call.step, []).append(item.id)
        self._calls.append(call)
        self._made_by.append(len(self.items))

    def count_after(self, calls: int) -> int:
        """Return how many items there are after so many calls."""
        return self._made_by[calls - 1] if calls else 0

    def _items_of(self, call: ToolCall, opened: Opened) -> Iterator[EvidenceItem]:
        tool = self._tools[call.adapter_id, call.capability_id]
        session_tool = SessionTool.of(tool, result_class=result_class(tool))
        name = f"step/{call.step}/{call.attempt}"
        for content, kind, author, end in self._parts(session_tool, call):
            ref = f"{name}{end}"
            while ref in self._taken:
                ref += "_"
            source: dict[str, Any] = {}
            if author is not None:
                source["source"] = self._source(tool, call, author, opened, len(end) > 0)
            yield EvidenceItem(
                id=ref,
                classification=kind,
                content=detach_json(content),
                **source,
                **_expiry(tool, opened.as_of),
            )

    def _parts(
        self, tool: SessionTool, call: ToolCall
    ) -> Iterator[tuple[Any, str, Author | None, str]]:
        """Yield what a call returned, and the text of its error: class, author, end of the id."""
        promised, result = tool.capability.result, _result_of(call)
        if call.status == "completed":
            content, kind, is_anyones = classify_output(tool, result, self._tables)
            author: Author | None = "public" if promised is None else promised.author
            author = "public" if is_anyones else author
            is_derived = promised is not None and promised.derived is True
            yield content, kind, None if is_derived else author, ""
        elif call.output is not None:
            yield call.output, FAILED_CLASS, "public", ""
        if call.error is not None:
            yield call.error, FAILED_CLASS, "public", "/error"

    def _source(
        self, tool: ToolCapability, call: ToolCall, author: Author, opened: Opened, is_error: bool
    ) -> Source:
        web: dict[str, Any] = {"web": True} if tool.result is not None and tool.result.web else {}
        count = len(self.items) + is_error
        standing = self._find_standing(tool, call, opened)
        return Source(author=author, standing=standing, seq=self._first + count, **web)

    def _find_standing(self, tool: ToolCapability, call: ToolCall, opened: Opened) -> Standing:
        session_tool = SessionTool.of(tool)
        locators = locators_in(session_tool.values, tool, call.args)
        if self._proposal.spec.provenance is None or not locators:
            return "ambient"
        known = self.items[: self.count_after(opened.after)]
        compiled = self._compile(known)
        ctx = self._ctx_at(opened.after, opened.as_of, opened.position)
        surface = kept_surface(compiled)
        case = PreparedPlan(ctx, surface, self._proposal.spec, _NO_STEPS, (), 0)
        with values_known(case) as facts:
            return standing_of(locators, ValueFacts(self._proposal.spec, facts))

    def _compile(self, items: Sequence[EvidenceItem]) -> CompiledContext:
        compiled = self._proposal.compiled
        known = compiled.manifests
        optional: dict[str, Any] = {"classes": known.classes, "record_fields": known.record_fields}
        manifests = Manifests(
            tool_manifest=known.tool_manifest,
            evidence_manifest=(*self._base, *items),
            **optional,
        )
        return CompiledContext(manifests=manifests, pack_version=compiled.pack_version)

    @property
    def compiled(self) -> CompiledContext:
        """The manifests, with what all calls returned."""
        return self._compile(self.items)

    def ctx(self, as_of: datetime | None) -> RunContext:
        """Return the context of the run, as the session of its calls has grown."""
        return self._ctx_at(len(self._calls), as_of, len(self._opened))

    def _ctx_at(self, calls: int, as_of: datetime | None, openings: int) -> RunContext:
        ctx = self._proposal.ctx
        kept = ctx.model_fields_set - {"as_of", "session"}
        fields = {name: getattr(ctx, name) for name in kept}
        return RunContext(**fields, as_of=as_of, session=self._session_at(calls, openings))

    def _session_at(self, calls: int, openings: int) -> SessionFacts:
        given = self._proposal.ctx.session
        facts: dict[str, Any] = {"id": self._proposal.ctx.trace_id, "turn": 0}
        if given is not None:
            facts = {name: getattr(given, name) for name in given.model_fields_set}
        completed = [call for call in self._calls[:calls] if call.status == "completed"]
        grown: dict[str, list[Any]] = {
            "ran": list(map(_name_of, completed)),
            "own": list(chain.from_iterable(map(self._made_things, completed))),
            "sent": list(self._sent_values(openings)),
        }
        for name, more in grown.items():
            if more:
                facts[name] = (*(facts.get(name) or ()), *more)
        return SessionFacts(**facts)

    def _made_things(self, call: ToolCall) -> Iterator[OwnValue]:
        tool = self._tools[call.adapter_id, call.capability_id]
        session_tool = SessionTool.of(tool, result_class=result_class(tool))
        record = record_of(session_tool, _result_of(call), self._tables)
        return things_made(tool, call.args, record)

    def _sent_values(self, openings: int) -> Iterator[SentValues]:
        """Yield what the steps send that were opened so far, above `read_only`."""
        for opened in self._opened[:openings]:
            tool = opened.tool
            values = values_sent(opened.args) if MODE_RANK[tool.approval_mode] > _READ_ONLY else ()
            if values:
                seq = self._first + self.count_after(opened.after)
                yield SentValues(seq=seq, values=values)


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


def _name_of(call: ToolCall) -> ToolName:
    return ToolName(adapter_id=call.adapter_id, capability_id=call.capability_id)


def _expiry(tool: ToolCapability, as_of: datetime | None) -> dict[str, Any]:
    if tool.expires_after_s is None:
        return {}
    if as_of is None:
        return {"expires_at": _LONG_AGO}
    left = (_LATEST.replace(tzinfo=as_of.tzinfo) - as_of) // timedelta(seconds=1)
    return {"expires_at": as_of + timedelta(seconds=min(tool.expires_after_s, left))}
