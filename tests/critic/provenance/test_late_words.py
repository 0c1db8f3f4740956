"""What a late value may be, before it is there: no more than what it will be when it is opened."""

from itertools import permutations
from typing import Any, get_args

import pytest

from critic import Proposal, Verified, verify_proposal
from critic.provenance import late_words
from evals.capability import FieldWriter
from harness.wire import build
from tests.critic.late.test_late_verify import LOOK, take
from tests.critic.late.test_openings import looked, opened, sending
from tests.support.model.facts import Json

IBAN = {"iban": "DE89370400440532013000"}


def conditions(wire: Json) -> list[str] | None:
    """Return the kinds of conditions under which a plan passes; None where it is refused."""
    verdict = verify_proposal(build(Proposal, wire))
    return [one.kind for one in verdict.conditions or ()] if isinstance(verdict, Verified) else None


def manifests(wire: Json) -> Json:
    found: Json = wire["compiled"]["manifests"]
    return found


@pytest.mark.parametrize("form", [{}, {"format": "json"}])
@pytest.mark.parametrize("writer", get_args(FieldWriter))
def test_a_plan_passes_where_what_its_source_will_return_is_enough(writer: str, form: Json) -> None:
    """A text of a class whose fields others write may be written by anybody."""
    wire = sending("system")
    manifests(wire)["classes"] = [{"class": "bill", "fields": {"id": writer}}]
    manifests(wire)["tool_manifest"][0] |= {
        "yields": "bill",
        "result": {"author": "system", **form},
    }
    is_enough = writer == "system" or form != {}
    assert (conditions(wire) is not None) is is_enough
    assert opened(wire, looked(IBAN)).ok is is_enough


@pytest.mark.parametrize("place", ["nowhere", "before", "through", "beside", "behind"])
def test_a_tool_is_followed_where_the_plan_runs_it_before_for_sure(place: str) -> None:
    wire = sending("system")
    audit = {"adapter_id": "shop", "capability_id": "audit"}
    manifests(wire)["tool_manifest"] += [{**audit, "approval_mode": "read_only"}]
    manifests(wire)["tool_manifest"][1]["follows"] = [audit]
    wire["ctx"]["scope"] = []
    steps: list[Any] = wire["plan"]["steps"]
    if place != "nowhere":
        at = len(steps) if place == "behind" else 1
        steps.insert(at, {**LOOK, **audit, "id": "audit", "args": {}})
    if place == "before":
        steps[-1]["depends_on"] = ["audit"]
    if place == "through":  # what the value is taken from waits for it
        steps.insert(0, steps.pop(1))
        steps[1]["depends_on"] = ["audit"]
    assert (conditions(wire) is not None) is (place in ("before", "through"))


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_what_ran_before_one_step_for_sure_did_not_run_before_another(
    order: tuple[int, ...],
) -> None:
    """Neither the step that follows it, nor one that does not, says anything of the next."""
    wire = sending("system")
    audit = {"adapter_id": "shop", "capability_id": "audit"}
    manifests(wire)["tool_manifest"] += [{**audit, "approval_mode": "read_only"}]
    manifests(wire)["tool_manifest"][1]["follows"] = [audit]
    said = {"id": "u", "classification": "request", "content": f"the bill of {IBAN['iban']}"}
    source = {"author": "user", "standing": "named"}
    manifests(wire)["evidence_manifest"] = [{**said, "source": source}]
    wire["ctx"]["scope"] = []
    look, late = wire["plan"]["steps"]
    early = {name: one for name, one in late.items() if name != "takes"}
    pays = [
        {**late, "depends_on": ["audit"], "id": "followed", "args": {"note": "1"}},
        {**late, "id": "late", "args": {"note": "2"}},
        {**early, "id": "early", "args": {"note": "3", "to": IBAN["iban"]}},
    ]
    audited = {**LOOK, **audit, "id": "audit", "args": {}}
    wire["plan"]["steps"] = [audited, look, *(pays[at] for at in order)]
    verdict = verify_proposal(build(Proposal, wire))
    assert not isinstance(verdict, Verified)
    doubted = {one.offending_step for one in verdict.violations}
    assert doubted == {2 + at for at, pay in enumerate(order) if pay != 0}


@pytest.mark.parametrize("has_schema", [True, False])
def test_what_is_made_of_what_may_be_a_list_may_be_of_any_field_in_it(has_schema: bool) -> None:
    wire = sending("system")
    look, pay = wire["plan"]["steps"]
    copy = {"adapter_id": "shop", "capability_id": "copy"}
    look_tool = manifests(wire)["tool_manifest"][0]
    look_tool |= {"yields": "bill", "result": {"author": "system", "format": "json"}}
    if has_schema:
        look_tool["output_schema"] = {"properties": {"lines": {"type": "string"}}}
    manifests(wire)["classes"] = [{"class": "bill", "fields": {"/lines/*/payer": "public"}}]
    derived = {"approval_mode": "read_only", "result": {"author": "system", "derived": True}}
    manifests(wire)["tool_manifest"] += [{**copy, **derived}]
    made = {**LOOK, **copy, "id": "copy", "args": {}, "takes": [take("/x", at="/lines")]}
    wire["plan"]["steps"] = [look, made, {**pay, "takes": [take("/to", "copy", "")]}]
    assert (conditions(wire) is not None) is has_schema


@pytest.mark.parametrize("web", [False, True])
@pytest.mark.parametrize("role", ["attribute", "locator"])
@pytest.mark.parametrize("author", ["member", "public"])
def test_a_page_of_the_web_is_one_before_it_is_read(author: str, role: str, web: bool) -> None:
    """It is judged as it will be when the step is opened."""
    wire = sending("public")
    manifests(wire)["tool_manifest"][0] |= {
        "arg_roles": {"file": "locator"},
        "result": {"author": author, **({"web": True} if web else {})},
    }
    manifests(wire)["tool_manifest"][1]["arg_roles"] = {"to": role}
    said = {"id": "u", "classification": "request", "content": "pay as list.txt says"}
    source = {"author": "user", "standing": "named"}
    manifests(wire)["evidence_manifest"] = [{**said, "source": source}]
    wire["plan"]["steps"][0]["args"] = {"file": "list.txt"}
    found = conditions(wire)
    has_opened = opened(wire, looked(IBAN, args={"file": "list.txt"})).ok
    assert (found is not None and "approval" not in found) == has_opened


@pytest.mark.parametrize("author", ["member", "public"])
def test_of_sources_that_are_reached_late_those_beyond_the_limit_are_led_to(
    author: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = sending("system")
    read = {"adapter_id": "shop", "capability_id": "read"}
    tool = {**read, "approval_mode": "read_only", "arg_roles": {"file": "locator"}}
    result = {"yields": "bill", "result": {"author": author, "format": "json"}}
    manifests(wire)["tool_manifest"] += [{**tool, **result}]
    manifests(wire)["classes"] = [{"class": "bill", "fields": {"iban": "system"}}]
    takes = [take("/file", "look", "/file")]
    wire["plan"]["steps"].insert(1, {**LOOK, **read, "id": "read", "args": {}, "takes": takes})
    wire["plan"]["steps"][-1]["takes"] = [take("/to", "read", "/iban")]
    assert conditions(wire) == ["value", "value", "provenance"]
    monkeypatch.setattr(late_words, "_MOST_MOVED", 0)
    assert conditions(wire) == ["value", "value", "approval"]
