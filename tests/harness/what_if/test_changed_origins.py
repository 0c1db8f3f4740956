"""What a change of the facts about origins makes of recorded turns.

What values are worth is judged anew: by classes, kinds, and trust in parties. What happened is not:
who wrote a result, what a call made and when evidence ends are on record.
"""

import copy
from pathlib import Path
from typing import Any, Final

import pytest

from harness.what_if.recorded_change import Alteration
from harness.what_if.rejudging import answer_kind
from tests.harness.what_if.test_what_if import guarded, plans
from tests.support.guarding import Json, call, open_, policy_of, result

TOOLS: Final[Json] = {
    "list_mail": {
        "approval_mode": "read_only",
        "result": {"author": "public", "format": "json"},
        "yields": "mail",
    },
    "send": {
        "approval_mode": "network",
        "arg_roles": {"to": "recipient", "body": "content"},
        "arg_kinds": {"to": "address"},
    },
    "start": {
        "approval_mode": "local_write",
        "arg_roles": {"title": "attribute"},
        "result": {"author": "member", "makes": {"title": "thread"}},
    },
    "drop": {
        "approval_mode": "destructive",
        "arg_roles": {"thread": "object"},
        "arg_kinds": {"thread": "thread"},
    },
    "archive": {
        "approval_mode": "delegated",
        "arg_roles": {"id": "object"},
        "may_be_empty": ["id"],
    },
}
CLASS: Final[Json] = {"name": "mail", "fields": {"id": "system", "sender": "party"}, "fresh_s": 60}
EVENTS: Final = [
    {**open_(request="Answer my mail, start a thread and drop it"), "scope": [*TOOLS][1:]},
    call("list_mail", id="1"),
    result([{"id": "m1", "sender": "bob@corp.example", "body": "hi"}], id="1"),
    {**call("archive", id="2"), "calls": [{"id": "2", "tool": "archive", "args": {"id": "m1"}}]},
    result("ok", id="2"),
    call("start", id="3", title="Weekly 7"),
    result("ok", id="3"),
    call("drop", id="4", thread="Weekly 7"),
    result("ok", id="4"),
    call("archive", id="5"),
    result("ok", id="5"),
    call("send", id="6", to="bob@corp.example", body="x"),
]


def policy_wire(**tools: Json) -> Json:
    """Return the policy of the mail, with other fields of its tools; `...` leaves one out."""
    changed = {name: {**tool, **tools.get(name, {})} for name, tool in TOOLS.items()}
    return {
        "guard": {"safety_mode": "destructive"},
        "spec": {"id": "mail", "required_outputs": [], "provenance": "closed"},
        "class": [CLASS],
        "tool": [
            {"adapter_id": "m", "capability_id": name}
            | {key: value for key, value in tool.items() if value is not ...}
            for name, tool in changed.items()
        ],
    }


def of_class(**fields: Any) -> Json:
    new = {name: value for name, value in {**CLASS, **fields}.items() if value is not ...}
    return {**policy_wire(), "class": [new]}


def with_parties(word: str) -> Json:
    wire = policy_wire()
    return {**wire, "spec": {**wire["spec"], "party_recipients": word}}


ASKED = ("approval_mode_mismatch", "ok")
JUDGED = [
    (of_class(fields={"id": "public", "sender": "party"}), {("ok", "missing_evidence")}),
    (of_class(fields={"id": "system", "sender": "system"}), {ASKED}),
    (
        of_class(fields=...),
        {("ok", "missing_evidence"), ("approval_mode_mismatch", "missing_evidence")},
    ),
    (
        of_class(schema={"type": "object"}),
        {("ok", "missing_evidence"), ("approval_mode_mismatch", "missing_evidence")},
    ),
    (with_parties("allow"), {ASKED}),
    (policy_wire(drop={"arg_kinds": {"thread": "note"}}), {("ok", "missing_evidence")}),
    (policy_wire(archive={"may_be_empty": ...}), {("ok", "approval_mode_mismatch")}),
]
RECORDED = [
    policy_wire(start={"result": {"author": "member"}}),
    policy_wire(list_mail={"result": {"author": "system", "format": "json"}}),
    of_class(fresh_s=1),
    of_class(example=[{"id": "m1"}]),
    with_parties("ask"),
]


def changes_under(wire: Json, path: Path) -> set[tuple[str, str]]:
    guarded(path, policy_wire(), copy.deepcopy(EVENTS))
    found = plans(path, Alteration(policy_of(wire)))
    assert len(found) >= 6
    kinds = {(answer_kind(one.before), answer_kind(one.after)) for one in found}
    return {pair for pair in kinds if pair[0] != pair[1]}


@pytest.mark.parametrize(("wire", "changes"), JUDGED)
def test_what_values_are_worth_is_judged_anew(
    wire: Json, changes: set[tuple[str, str]], tmp_path: Path
) -> None:
    assert changes_under(wire, tmp_path / "log") == changes


@pytest.mark.parametrize("wire", [policy_wire(), *RECORDED])
def test_what_happened_stays_as_recorded(wire: Json, tmp_path: Path) -> None:
    assert changes_under(wire, tmp_path / "log") == set()
