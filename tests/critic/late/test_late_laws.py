"""Laws of late plans over what is left out, what is derived, and what a plain plan is told."""

import copy
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Proposal, ToolCall, Verified, digest, verify_proposal
from critic.late.openings import OpeningError, settle_step
from evals.capability import ToolCapability, ToolResult
from evals.context import Approval
from evals.envelope import OPTIONAL, Envelope
from evals.plan import ToolStep
from harness.wire import InvalidInput, build
from tests.critic.late.test_opening_laws import Opening, openings_of, places
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.late_plans import late_proposal
from tests.support.late_runs import OUTPUTS
from tests.support.model.facts import Json

seeds = given(st.integers(min_value=0, max_value=2**32))
ASKS_TOO: Final = {"evidence_steps", "evidence_refs"}
"""What a step pins has to be there, to be fresh, and to have come from a call that completed."""


def grants(model: type[Envelope]) -> set[str]:
    """Return the fields whose absence grants nothing, by their names on the wire."""
    marked = model.model_fields.items()
    found = {field.alias or name for name, field in marked if OPTIONAL in field.metadata}
    return found - ASKS_TOO


def grants_in(wire: Json, calls: list[Json], step: int) -> Iterator[tuple[Json, str]]:
    """Yield each envelope that an opening is judged by, with each of its fields that grants."""
    asking = {*wire["spec"].get("confined_evidence", [])}
    classes = wire["compiled"]["manifests"].get("classes", [])
    asking |= {one["class"] for one in classes if "schema" in one}
    parts: list[tuple[Json, type[Envelope]]]
    parts = [(one, ToolStep) for one in wire["plan"]["steps"][: step + 1]]
    for tool in wire["compiled"]["manifests"]["tool_manifest"]:
        parts += [(tool, ToolCapability), (tool.get("result", {}), ToolResult)]
    parts += [(call, ToolCall) for call in calls]
    parts += [(one, Approval) for one in wire["ctx"].get("approvals", [])]
    for part, model in parts:
        for name in sorted(grants(model) & part.keys()):
            if name != "yields" or part[name] not in asking:
                yield part, name


def without_grants(one: Opening) -> Iterator[tuple[str, Opening]]:
    """Yield an opening without each of the fields that grant, one at a time."""
    for number, (_, name) in enumerate(grants_in(one.wire, one.calls, one.step)):
        wire, calls = copy.deepcopy((one.wire, one.calls))
        part, _ = [*grants_in(wire, calls, one.step)][number]
        del part[name]
        try:
            proposal = build(Proposal, wire)
        except InvalidInput:
            continue
        yield name, one._replace(wire=wire, proposal=proposal, calls=calls)


def approved(wire: Json) -> Json:
    """Return a proposal whose plan a person approved, with the sources of its values."""
    plan = build(Proposal, wire).plan
    approval = {"approval_id": "a1", "plan_digest": digest(plan), "approver": "emma", "late": True}
    return {**wire, "ctx": {**wire["ctx"], "approvals": [approval]}}


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_what_grants_opens_nothing_by_being_left_out(seed: int) -> None:
    for one in openings_of(seed):
        if one.ask().ok:
            continue
        for name, changed in without_grants(one):
            try:
                assert not changed.ask().ok, (name, seed)
            except OpeningError:  # an earlier step has no values now
                continue


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_an_approval_opens_nothing_by_being_left_out(seed: int) -> None:
    for one in openings_of(seed):
        wire = approved(one.wire)
        asked = one._replace(wire=wire, proposal=build(Proposal, wire))
        if asked.ask().ok:
            continue
        assert not one.ask().ok
        for name, changed in without_grants(asked):
            assert name != "late" or not changed.ask().ok


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_what_is_taken_opens_nothing_by_being_left_out(seed: int) -> None:
    """Without the output that a step takes from it is not opened, whatever else there is."""
    for one in openings_of(seed):
        takes = one.wire["plan"]["steps"][one.step].get("takes", [])
        names = {take["step"] for take in takes}
        steps = one.wire["plan"]["steps"]
        bare = [
            {name: value for name, value in call.items() if name != "output"}
            if steps[call["step"]].get("id") in names
            else call
            for call in one.calls
        ]
        try:
            answer = one._replace(calls=bare).ask()
        except OpeningError:
            continue
        assert not takes or not answer.ok


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_a_derived_result_changes_no_class(seed: int) -> None:
    """What it returns is no source: nothing that is not taken, pinned or confined hangs on it."""
    for one in openings_of(seed):
        steps, tools = one.wire["plan"]["steps"], one.wire["compiled"]["manifests"]["tool_manifest"]
        step = steps[one.step]
        used = {take["step"] for take in step.get("takes", [])} | {*step.get("evidence_steps", [])}
        derived = {
            tool["capability_id"]
            for tool in tools
            if tool.get("result", {}).get("derived") and "output_schema" not in tool
        }
        if (
            "confined_evidence" in one.wire["spec"]
            or "classes" in one.wire["compiled"]["manifests"]
        ):
            continue
        other = [
            {**call, "output": "x ord 1 y"}
            if call["capability_id"] in derived and call["status"] == "completed"
            else call
            for call in one.calls
        ]
        if any(steps[call["step"]].get("id") in used for call in other if call not in one.calls):
            continue
        try:
            assert places(one._replace(calls=other).ask()) == places(one.ask())
        except OpeningError:  # a step between them took from what is other now
            continue


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_an_output_changes_no_early_argument_tool_or_order(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - to draw tests
    for one in openings_of(seed):
        planned = one.wire["plan"]["steps"][one.step]
        other = [{**call, "output": random.choice(OUTPUTS[:4])} for call in one.calls]
        try:
            given = one.given
            changed = one._replace(calls=other)
            settled = settle_step(one.proposal, changed.ended, one.step, **given).proposal
        except OpeningError:
            continue
        if settled is None:
            continue
        last = settled.plan.steps[-1]
        assert isinstance(last, ToolStep)
        assert (last.adapter_id, last.capability_id) == ("shop", planned["capability_id"])
        taken = {take["arg"].split("/")[1] for take in planned.get("takes", [])}
        early = {name: value for name, value in planned["args"].items() if name not in taken}
        assert {name: last.args.get(name) for name in early} == early
        assert set(last.args) - taken == set(early)


@settings(ONE_FAILURE, max_examples=examples(600))
@seeds
def test_no_verdict_on_a_plain_plan_hangs_on_a_new_field(seed: int) -> None:
    wire = late_proposal(seed)
    for step in wire["plan"]["steps"]:
        for name in ("takes", "evidence_steps"):
            step.pop(name, None)
    if seed % 2:
        wire = approved(wire)
    plain = copy.deepcopy(wire)
    plain["spec"].pop("late", None)
    for tool in plain["compiled"]["manifests"]["tool_manifest"]:
        for name in ("output_schema", "yields", "expires_after_s"):
            tool.pop(name, None)
        tool.get("result", {}).pop("derived", None)
    for approval in plain["ctx"].get("approvals", []):
        del approval["late"]
    one, other = (verify_proposal(build(Proposal, each)) for each in (wire, plain))
    assert one.wire() == other.wire()
    assert not isinstance(one, Verified) or one.conditions is None


def test_which_fields_grant() -> None:
    """Fields of later rules join the law by themselves."""
    assert grants(ToolStep) == {"id", "of", "shell"}
    found: Any = grants(ToolCapability) | grants(ToolResult) | grants(Approval)
    assert found == {"may_be_empty", "result", "follows", "yields", "format", "makes", "late"}
