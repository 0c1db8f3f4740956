"""What the rules of a policy make of evidence, tools and names before any call is judged."""

from dataclasses import FrozenInstanceError
from typing import Any, Final

import pytest

from critic import EvidenceClass, EvidenceItem
from critic.session import Call, Session, SessionTool
from critic.session.batch_judging import verify_batch
from evals.manifest import Manifests
from evals.plan import ToolStep
from tests.critic.session.building import NOW, TOOLS, opened, rules
from tests.critic.session.commanding import FACTS, run, shell_rules
from tests.support.sightings import VALUE, item

CLASS: Final = EvidenceClass(class_="r", fields={"sender": "system"})


def evidence(*wire: Any) -> tuple[EvidenceItem, ...]:
    return tuple(
        EvidenceItem.model_validate({**one, "id": f"e/{at}"}) for at, one in enumerate(wire)
    )


@pytest.mark.parametrize("name", ["call/1", "user/1", "operator/1"])
def test_no_evidence_of_a_policy_is_named_as_a_session_names_its_own(name: str) -> None:
    (known,) = evidence(item("x", "system"))
    with pytest.raises(ValueError, match=f"^evidence {name}: sessions make ids that begin"):
        rules(evidence=(known.model_copy(update={"id": name}),))
    named_alike = known.model_copy(update={"id": f"x{name}"})
    assert rules(evidence=(named_alike,)).evidence[0].id == f"x{name}"


@pytest.mark.parametrize("name", ["failed_result", "result", "result:a.b"])
def test_no_class_of_a_policy_is_that_of_results_of_no_class(name: str) -> None:
    one = CLASS.model_copy(update={"class_": name})
    with pytest.raises(ValueError, match=f"^class {name}: results have it that are of no class$"):
        rules(classes=(one,))


def test_evidence_of_a_policy_was_seen_before_all_else_and_keeps_what_it_says() -> None:
    later = item("of beta-2", "system")
    later["source"]["seq"] = 9
    plain = {"id": "e", "classification": "r", "content": "x"}
    known = evidence(item(f"of {VALUE}", "system"), plain, later)
    numbered = rules(evidence=known).evidence
    assert [one.source and one.source.seq for one in numbered] == [0, None, 9]
    assert [one.content for one in numbered] == [one.content for one in known]
    assert numbered[1:] == known[1:]


def test_what_a_session_sent_is_no_echo_in_the_evidence_of_its_policy() -> None:
    session = opened("go", evidence=evidence(item(f"of {VALUE}", "system")))
    for id_ in ("1", "2"):
        batch = session.propose([Call(id_, "pay", {"to": VALUE})], NOW)
        verdict = verify_batch(batch)
        assert verdict.ok
        session = session.decided(batch, "allow", verdict, "0" * 64)


def test_a_plan_is_judged_by_the_classes_fields_and_digest_of_its_policy() -> None:
    compiled = rules(classes=(CLASS,)).compiled_for(["pay"])
    assert compiled.pack_version == "0" * 64
    expected = Manifests(
        tool_manifest=[TOOLS["pay"].capability],
        evidence_manifest=(),
        classes=(CLASS,),
        record_fields=("id", "sender"),
    )
    assert compiled.manifests.wire() == expected.wire()


def test_no_batch_has_to_bring_what_the_session_owes() -> None:
    spec = rules(spec={"required_outputs": ("report",), "party_recipients": "allow"}).batch_spec
    assert spec.required_outputs == ()
    assert (spec.id, spec.provenance, spec.party_recipients) == ("s", "closed", "allow")


def test_the_rules_of_a_session_do_not_change() -> None:
    made, one = rules(), TOOLS["pay"]
    with pytest.raises(FrozenInstanceError):
        made.digest = "x"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        one.result_class = "x"  # type: ignore[misc]


def test_a_no_is_of_the_targets_of_a_tool() -> None:
    assert TOOLS["pay"].denied_by({"to": "A-1", "note": "x"}) == {"targets": ["a-1"]}


def test_a_plan_takes_late_values_only_where_its_calls_wait() -> None:
    late = rules(spec={"late": "sources"})
    assert (late.batch_spec.late, late.late_spec.late) == (None, "sources")
    assert {*late.batch_spec.model_fields_set} == {*late.late_spec.model_fields_set} - {"late"}


def test_a_late_plan_is_judged_by_what_its_tools_promise() -> None:
    order = TOOLS["order"]
    promised = order.capability.model_copy(update={"yields": "other"})
    told = SessionTool.of(order.capability, told=promised)
    its_rules = rules(tools={"order": told})
    for names, items in ((["order"], ()), (["order"], evidence(item("x", "system")))):
        for _ in range(2):
            plain = its_rules.compiled_for(names, items)
            late = its_rules.compiled_for(names, items, is_late=True)
            assert [*plain.manifests.tool_manifest] == [order.capability]
            assert [*late.manifests.tool_manifest] == [promised]
            assert plain == its_rules.compiled_for(names, items, is_late=False)


def test_the_tools_of_a_plan_without_items_are_kept() -> None:
    its_rules = rules()
    assert its_rules.compiled_for(["read"]) is its_rules.compiled_for(["read"])


def test_only_a_plan_with_a_command_has_the_effects_of_commands() -> None:
    its_rules = shell_rules()
    assert its_rules.has_commands(["read", "shell"])
    assert not its_rules.has_commands(["read"])
    assert not rules().has_commands(["read", "shell"])
    for names, has_effects in ((["read"], False), (["read", "shell"], True)):
        tools = its_rules.compiled_for(names).manifests.tool_manifest
        assert any(one.adapter_id == "shell" for one in tools) is has_effects
    with_calls = rules().compiled_for(["read"]).manifests.tool_manifest
    assert [one.capability_id for one in with_calls] == ["read"]


@pytest.mark.parametrize(
    ("scope", "named"),
    [
        (None, ["list"]),
        ((), []),
        (("pay",), ["pay"]),
        (("shell",), ["shell", "list"]),
        (("pay", "shell"), ["pay", "shell", "list"]),
    ],
)
def test_what_a_command_does_is_in_the_scope_of_its_tool(
    scope: tuple[str, ...] | None, named: list[str]
) -> None:
    its_rules = shell_rules()
    calls = [Call("1", "read", {"name": "a"}), run("ls")]
    plan = Session.opened(its_rules, "s", "Look").propose(calls, NOW).plan
    found = its_rules.scope_for(scope, ["read", "shell"], plan)
    assert [one.capability_id for one in found or ()] == named
    plain = opened().propose(calls[:1], NOW).plan
    (known,) = rules().tool_names(("pay",))
    assert rules().scope_for(("pay",), ["read"], plain) == (known,)
    assert rules().scope_for((), ["read"], plain) == ()
    assert rules().scope_for(None, ["read"], plain) is None


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
@pytest.mark.parametrize("scope", [["shell"], ["bash"], ["bash", "shell"], []])
def test_a_command_of_a_tool_outside_the_scope_gains_nothing_from_one_inside_it(
    scope: list[str], order: tuple[int, int]
) -> None:
    its_rules = shell_rules()
    listing = run("ls")
    removal = Call("b", "bash", {"command": "rm a.py"}, shell=FACTS)
    calls = [(listing, removal)[at] for at in order]
    plan = Session.opened(its_rules, "s", "Look").propose(calls, NOW).plan
    parts = [step for step in plan.steps[2:] if isinstance(step, ToolStep)]
    found = its_rules.scope_for(tuple(scope), [call.tool for call in calls], plan)
    allowed = {one.capability_id for one in found or ()} - {"shell", "bash"}
    expected = {
        part.capability_id for part in parts if part.of is not None and calls[part.of].tool in scope
    }
    assert allowed == expected
    assert len({part.capability_id for part in parts}) == 2


def test_what_is_said_of_evidence_grows_by_further_classes() -> None:
    more = CLASS.model_copy(update={"class_": "t"})
    known = rules(classes=(CLASS,)).described_with((more,))
    assert known.classes == (CLASS, more)
    assert known.record_fields == ("id", "sender")
    assert rules(classes=(CLASS,)).described.classes == (CLASS,)
    assert rules().described_with((more,)).classes is None
