"""The values in calls that a session keeps or looks up.

It is the one door of the session to how provenance reads values, roles and texts.
"""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from critic.doubts import Doubts
from critic.prepared import PreparedPlan, prepare_plan
from critic.provenance import doubts_of
from critic.provenance.call_values import CallValues, JudgedValue
from critic.provenance.content_values import MOST_VALUES
from critic.provenance.folding import write_scalar
from critic.provenance.item_parts import FieldTables
from critic.provenance.origin_judge import needs_judging
from critic.provenance.origins import Limits, Sighting
from critic.provenance.roles import AIMED_AT
from critic.provenance.seen_items import SeenItems
from critic.provenance.seen_sources import Seen, both_seen
from critic.provenance.sent_values import SentIndex
from critic.provenance.value_facts import (
    Aim,
    KnownValues,
    OwnKey,
    ValueFacts,
    approved_tiers,
    own_keys,
    values_known,
)
from critic.provenance.value_kinds import Sought, plain_form
from critic.provenance.worth import ASK
from critic.provenance.written_lists import Scalar, leaves
from evals.capability import Role, ToolCapability, ToolName
from evals.context import ApprovedValue, OwnValue, WaivedCall
from evals.escaping import pointer
from evals.kinds import MODE_RANK, ApprovalMode
from evals.plan import Proposal
from evals.pointers import values_at

__all__ = [
    "Aim",
    "CallValues",
    "Doubts",
    "FieldTables",
    "JudgedValue",
    "KnownValues",
    "Limits",
    "OwnKey",
    "PlacedValue",
    "Seen",
    "SeenItems",
    "SentIndex",
    "Sighting",
    "Sought",
    "ValueFacts",
    "YesAbout",
    "approved_tiers",
    "both_seen",
    "denied_by",
    "doubts_about",
    "doubts_of",
    "judged_values",
    "locators_in",
    "needs_judging",
    "own_keys",
    "things_made",
    "values_sent",
    "yes_about",
]


class ApprovedSubject(NamedTuple):
    """A value that a yes is about: its role, and the tool and tier that it is approved for."""

    value: Scalar
    role: Role
    tool: ToolName
    approval_mode: ApprovalMode


class WaivedSubject(NamedTuple):
    """A call whose tool a yes is about: the tool, and the target values."""

    tool: ToolName
    targets: tuple[Scalar, ...]


class YesAbout(NamedTuple):
    """What a yes is about: the values that ask, and the calls whose tools are doubted."""

    values: tuple[ApprovedSubject, ...]
    waived: tuple[WaivedSubject, ...]

    def until(
        self, expires_at: datetime | None
    ) -> tuple[tuple[ApprovedValue, ...], tuple[WaivedCall, ...]]:
        """Return what a yes until some time gives to its session; without one, for good."""
        more: dict[str, Any] = {} if expires_at is None else {"expires_at": expires_at}
        values = tuple(ApprovedValue(**one._asdict(), **more) for one in self.values)
        return values, tuple(WaivedCall(**one._asdict(), **more) for one in self.waived)


def locators_in(
    values: CallValues, capability: ToolCapability, args: Mapping[str, Any]
) -> list[JudgedValue]:
    """Return what a call reads: nothing for a tool that says of no argument what it is.

    Of very many the first ones count, which can make a result no better.
    """
    pair = capability.adapter_id, capability.capability_id
    found = (one for one in values.values_of(pair, args) if one.asked.role == "locator")
    return [*islice(found, MOST_VALUES)]


def values_sent(args: Mapping[str, Any]) -> tuple[Scalar, ...]:
    """Return what a call sends, each value once, however its arguments are ordered."""
    values = [one for value in args.values() for one in leaves(value, every=True)]
    values.sort(key=lambda one: (write_scalar(one), type(one) is str))
    return tuple({write_scalar(one): one for one in values}.values())


def things_made(
    capability: ToolCapability, args: Mapping[str, Any], record: Any
) -> Iterator[OwnValue]:
    """Yield the things that a completed call made.

    Args:
        record: what it returned, if the tool promises records.
    """
    makes = (capability.result.makes if capability.result else None) or {}
    for name, kind in makes.items():
        held = values_at(record, name, wildcard=True) if name.startswith("/") else (args.get(name),)
        for value in held:
            # A text that spells a list is one name: that the call succeeded says nothing of others.
            yield from (OwnValue(kind=kind, value=one) for one in leaves(value))


def denied_by(
    values: CallValues, capability: ToolCapability, args: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a no is of: the targets of a call, as a person reads them, or all of it."""
    pair = capability.adapter_id, capability.capability_id
    # The kind by which a value is read hangs on its spelling, and a no holds for any.
    aims = (one for one in values.values_of(pair, args) if one.asked.role in AIMED_AT)
    targets = sorted({plain_form(one.sought) for one in aims})
    return {"targets": targets} if targets else {"args": dict(args)}


def doubts_about(proposal: Proposal) -> tuple[PreparedPlan, Doubts]:
    """Return what provenance doubts about a proposal."""
    case = prepare_plan(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
    return case, doubts_of(case)


def yes_about(case: PreparedPlan, doubts: Doubts, known: KnownValues | None = None) -> YesAbout:
    """Return what a person is asked about.

    Args:
        known: what is known of values, if it is at hand. It is what the context says.
    """
    with nullcontext(known) if known else values_known(case) as given:
        return _yes_by(ValueFacts(case.spec, given), case, doubts)


def _yes_by(facts: ValueFacts, case: PreparedPlan, doubts: Doubts) -> YesAbout:
    paths = {(doubt.step, doubt.path) for doubt in doubts.asks}
    values = CallValues(case.surface.manifests.tools)
    found: dict[ApprovedSubject, None] = {}
    waived: list[WaivedSubject] = []
    for index, entry, fields in case.steps:
        tool = entry.capability
        if tool is None:
            continue
        pair = tool.adapter_id, tool.capability_id
        name = ToolName(adapter_id=pair[0], capability_id=pair[1])
        judged = list(values.values_of(pair, fields["args"]))
        if (index, pointer("steps", index)) in paths:
            targets = (one.written for one in judged if one.asked.role in AIMED_AT)
            waived.append(WaivedSubject(name, tuple(dict.fromkeys(targets))))
        asked = (
            one for one in judged if (index, pointer("steps", index, "args", *one.path)) in paths
        )
        for one in asked:
            for value in _values_to_approve(facts, one):
                found[ApprovedSubject(value, one.asked.role, name, tool.approval_mode)] = None
    return YesAbout(tuple(found), tuple(waived))


def _values_to_approve(facts: ValueFacts, value: JudgedValue) -> Iterator[Scalar]:
    """Yield what a yes is of, where a value asks: of content, what was shown to the person."""
    if value.asked.role == "time":
        yield value.written
    elif value.content is None:
        if facts.judge_value(value.asked, value.sought)[0] == ASK:
            yield value.written
    elif facts.judge_content(value.asked, value.content)[0] == ASK:
        parts = value.content.parts
        # What stands there in no narrow form is asked about each time: no value is the same. The
        # shorter parts of an address or account are another's.
        shown = parts if value.content.link else parts[:1]
        yield from (part.narrow for part in shown if part.narrow)


class PlacedValue(NamedTuple):
    """A value that is judged: its step, its place in the args, its role, where it comes from.

    A day has no such origin.
    """

    step: int
    path: str
    role: Role
    value: str
    seen: Sighting | None


def judged_values(case: PreparedPlan) -> list[PlacedValue]:
    """Return each value of a plan that is judged by its role."""
    with values_known(case) as known:
        return [*_placed_by(ValueFacts(case.spec, known), case)]


def _placed_by(facts: ValueFacts, case: PreparedPlan) -> Iterator[PlacedValue]:
    values = CallValues(case.surface.manifests.tools)
    for index, entry, fields in case.steps:
        tool = entry.capability
        if tool is None or entry.rank <= MODE_RANK["read_only"]:
            continue
        for one in values.values_of((tool.adapter_id, tool.capability_id), fields["args"]):
            where, role = pointer(*one.path), one.asked.role
            seen = None if role == "time" else _origin_of(facts, one)
            yield PlacedValue(index, where, role, write_scalar(one.written), seen)


def _origin_of(facts: ValueFacts, value: JudgedValue) -> Sighting:
    if value.content is None:
        return facts.judge_value(value.asked, value.sought)[1]
    return facts.judge_content(value.asked, value.content)[1]
