"""What a late value may be, before it is there: no more than what it will be when it is opened."""

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


@pytest.mark.parametrize("place", ["nowhere", "before", "beside", "behind"])
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
    assert (conditions(wire) is not None) is (place == "before")


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
