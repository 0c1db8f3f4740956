"""A recorded turn under other rules: with the labels that a guard gives, and tools by name."""

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from critic import RunContext
from harness.policy.policy_rules import rules_of
from harness.what_if.changed_turns import _name_of, _rename_tools
from harness.what_if.recorded_change import Alteration
from harness.what_if.rejudging import JudgedPlan, NotJudged
from harness.wire import build
from tests.harness.what_if.test_changed_origins import (
    CLASS,
    EVENTS,
    FORMS,
    LABELS,
    evidence,
    labelling,
    policy_wire,
)
from tests.harness.what_if.test_what_if import compared, guarded
from tests.support.guarding import Json, policy_of, result

OUTPUTS: tuple[Any, ...] = ([{"id": "m1", "sender": "bob@corp.example"}], "read me", {"id": "m1"})
POLICIES = [*LABELS, labelling("member", "mail", FORMS[0]), labelling("member", ..., {}, web=True)]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[int, int], Path]:
    """Return logs of one turn behind a result, by their policy and what was returned."""
    folder, made = tmp_path_factory.mktemp("labels"), dict[tuple[int, int], Path]()
    for number, wire in enumerate(POLICIES):
        for at, output in enumerate(OUTPUTS):
            path = made[number, at] = folder / f"{number}-{at}"
            guarded(path, wire, copy.deepcopy([*EVENTS[:2], result(output, id="1"), EVENTS[3]]))
    return made


@pytest.mark.parametrize("at", range(len(OUTPUTS)))
@pytest.mark.parametrize("old", [0, 1, 2])
def test_a_result_that_is_labelled_anew_has_the_labels_that_a_guard_gives(
    logs: dict[tuple[int, int], Path], old: int, at: int
) -> None:
    for number, wire in enumerate(POLICIES):
        anew = evidence(logs[old, at], Alteration(policy_of(wire), relabels=True))
        assert anew[2] == seen_under(logs[number, at]), wire


@cache
def seen_under(log: Path) -> list[Json]:
    """Return what the turn of a log had seen."""
    return evidence(log, Alteration())[2]


def twin_of(**changed: Any) -> Json:
    """Return a policy in which another tool yields mail as well, perhaps in another form."""
    wire = policy_wire()
    mail = wire["tool"][0]
    wire["tool"].append({**mail, "capability_id": "find_mail", **changed})
    return wire


@pytest.mark.parametrize(
    ("wire", "is_known"),
    [
        (twin_of(), True),
        (twin_of(result={"author": "system", "format": "json"}), True),
        (twin_of(result={"author": "public"}), False),
        (twin_of(yields="other"), True),
    ],
)
def test_a_result_of_a_class_is_judged_where_it_has_one_form(
    wire: Json, is_known: bool, tmp_path: Path
) -> None:
    output = '[{"id": "m1", "sender": "bob@corp.example"}]'
    events = copy.deepcopy([*EVENTS[:2], result(output, id="1"), EVENTS[3]])
    guarded(tmp_path / "log", policy_wire(), events)
    (*_, last) = compared(tmp_path / "log", Alteration(policy_of(wire)))
    assert isinstance(last, JudgedPlan if is_known else NotJudged)
    if isinstance(last, NotJudged):
        assert "in more than one form" in last.reasons[0]


def renamed(*moves: tuple[str, str]) -> Json:
    """Return a policy whose tools have other adapters; each (name, adapter) beside the others."""
    wire = policy_wire()
    for name, adapter in moves:
        (tool,) = [one for one in policy_wire()["tool"] if one["capability_id"] == name]
        wire["tool"] = [
            one for one in wire["tool"] if (one["adapter_id"], one["capability_id"]) != ("m", name)
        ]
        wire["tool"].append({**tool, "adapter_id": adapter, "name": f"{adapter}_{name}"})
    return wire


@pytest.mark.parametrize(
    ("moves", "adapter"),
    [
        ((), "m"),
        ((("drop", "n"),), "n"),
        ((("drop", "n"), ("archive", "n")), "n"),
        ((("drop", "n"), ("drop", "o")), "m"),
    ],
)
def test_a_tool_is_found_again_everywhere_or_nowhere(moves: Any, adapter: str) -> None:
    """In the scope, among what ran, and among what was spent: else it could run once more."""
    rules = rules_of(policy_of(renamed(*moves)))
    tool = {"adapter_id": "m", "capability_id": "drop"}
    wire: Json = {"trace_id": "s", "safety_mode": "destructive", "scope": [tool]}
    wire["session"] = {"id": "s", "turn": 2, "ran": [tool]}
    wire["spent"] = {"steps": 1, "calls": [{**tool, "args_digest": "d" * 64}]}
    ctx = _rename_tools(rules, build(RunContext, wire))
    assert ctx.scope is not None
    assert ctx.session is not None
    assert ctx.spent is not None
    named: list[Any] = [*ctx.scope, *(ctx.session.ran or ()), *(ctx.spent.calls or ())]
    assert {(one.adapter_id, one.capability_id) for one in named} == {(adapter, "drop")}
    assert len(named) == 3
    name = _name_of(rules, ("m", "drop"))
    assert name == ("drop" if adapter == "m" else f"{adapter}_drop")
    assert CLASS["name"] == "mail"
