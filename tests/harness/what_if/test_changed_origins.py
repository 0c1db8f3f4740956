"""What a change of the facts about origins makes of recorded turns.

What values are worth is judged anew: by classes, kinds, and trust in parties. What happened is not:
who wrote a result, what a call made and when evidence ends are on record.
"""

import copy
import json
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

from critic import Proposal
from evals.manifest import EvidenceItem, Source
from harness.log import SqlDecisionLog
from harness.policy.policy_rules import rules_of
from harness.what_if.changed_turns import _item_under
from harness.what_if.recorded_change import Alteration, changed_inputs
from harness.what_if.rejudging import (
    JudgedPlan,
    RecordedPlan,
    RecordedPlans,
    answer_kind,
    recorded_plans,
    session_turn,
)
from harness.wire import build
from tests.harness.console import Critic
from tests.harness.what_if.test_what_if import compared, guarded, plans
from tests.support.effort import sampled_rows
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
    own = copy.deepcopy(TOOLS)
    changed = {name: {**tool, **tools.get(name, {})} for name, tool in own.items()}
    return {
        "guard": {"safety_mode": "destructive"},
        "spec": {"id": "mail", "required_outputs": [], "provenance": "closed"},
        "class": [copy.deepcopy(CLASS)],
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
    (
        policy_wire(list_mail={"result": {"author": "public"}}),
        {("ok", "missing_evidence"), ("approval_mode_mismatch", "missing_evidence")},
    ),
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


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("wire", "changes"), JUDGED)
def test_what_values_are_worth_is_judged_anew(
    wire: Json, changes: set[tuple[str, str]], tmp_path: Path
) -> None:
    assert changes_under(wire, tmp_path / "log") == changes


@pytest.mark.one_in(3)
@pytest.mark.parametrize("wire", [policy_wire(), *RECORDED])
def test_what_happened_stays_as_recorded(wire: Json, tmp_path: Path) -> None:
    assert changes_under(wire, tmp_path / "log") == set()


FORMS: Final[list[Json]] = [{"format": "json"}, {}]
MAIL: Final = [{"id": "m1", "sender": "bob@corp.example", "body": "hi"}]
OUTPUTS: Final[list[Any]] = [json.dumps(MAIL), MAIL, {"no": "record m1"}, "see m1"]
STRICT: Final = {"ok": 0, "approval_mode_mismatch": 1, "missing_evidence": 2}


def policies_of(author: str) -> list[Json]:
    """Return policies that promise the results of one author as records, in part or not at all."""
    wires = [
        policy_wire(list_mail={"result": {"author": author, **form}, "yields": kind})
        for form in FORMS
        for kind in ("mail", ...)
    ]
    return [{**wire, "class": [{**CLASS, "schema": {"type": "array"}}]} for wire in wires]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("author", "output"), sampled_rows(product(("public", "system"), OUTPUTS), one_in=4)
)
def test_a_result_is_a_record_where_a_guard_would_take_it_for_one(
    author: str, output: object, tmp_path: Path
) -> None:
    """A guard under the new policy answers alike, or less strictly where it trusts the author."""
    events = [*EVENTS[:2], result(output, id="1"), EVENTS[3]]
    judged = 0
    for number, new in enumerate(policies_of(author)):
        guarded(tmp_path / f"new{number}", new, copy.deepcopy(events))
        lived = [answer_kind(one.before) for one in plans(tmp_path / f"new{number}", Alteration())]
        for at, old in enumerate(policies_of(author)):
            path = tmp_path / f"{number}-{at}"
            guarded(path, old, copy.deepcopy(events))
            found = compared(path, Alteration(policy_of(new)))
            told = [answer_kind(one.after) for one in found if isinstance(one, JudgedPlan)]
            if len(told) < len(found):
                continue  # nothing yields the class any more
            judged += 1
            # A call that begins is on record once more, so that one log may have one plan more.
            pairs = list(zip(told, lived, strict=False))
            assert len(pairs) > 2
            assert author == "system" or all(one == other for one, other in pairs), (old, new)
            assert all(STRICT[one] >= STRICT[other] for one, other in pairs), (old, new)
    assert judged > len(FORMS)


# --- labels anew -------------------------------------------------------------------------------


def labelling(author: str, kind: Any, form: Json, web: bool = False) -> Json:
    """Return a policy that labels mail in its own way."""
    result = {"author": author, **form, **({"web": True} if web else {})}
    wire = policy_wire(list_mail={"result": result, "yields": kind})
    return {**wire, "class": [{**CLASS, "schema": {"type": "array"}}]}


LABELS: Final = [
    labelling("public", "mail", FORMS[0]),
    labelling("public", "mail", FORMS[0], web=True),
    labelling("system", "mail", FORMS[0]),
    labelling("member", ..., FORMS[0]),
    labelling("system", ..., FORMS[1]),
    policy_wire(list_mail={"result": ..., "yields": ...}),
]


MADE: Final = labelling("public", "mail", {**FORMS[0], "derived": True})
"""What it says of results is that nobody wrote them: who did under other labels is unknown then."""


def evidence(path: Path, change: Alteration) -> dict[int | None, list[Json]]:
    """Return what each turn had seen after a change, but for when it expires."""
    changed, found = changed_inputs(change), dict[int | None, list[Json]]()
    with SqlDecisionLog.open_for_reading(path) as log:
        for record in recorded_plans(log):
            for one in record.plans if isinstance(record, RecordedPlans) else ():
                assert isinstance(one, RecordedPlan)
                made = changed.proposal(one.proposal, one.compiled)
                assert isinstance(made, Proposal)
                items = [item.wire() for item in made.compiled.manifests.evidence_manifest]
                told = [{**item, "expires_at": None} for item in items]
                found[session_turn(one.proposal.ctx)] = told
    return found


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("old", "output"),
    sampled_rows(product(range(len(LABELS)), OUTPUTS[1:]), one_in=3),
)
def test_what_was_seen_and_labelled_anew_is_judged_as_a_guard_with_these_labels_would(
    old: int, output: object, tmp_path: Path
) -> None:
    events = [*EVENTS[:2], result(output, id="1"), EVENTS[3]]
    guarded(tmp_path / "old", LABELS[old], copy.deepcopy(events))
    seen = set[tuple[str, ...]]()
    for number, new in enumerate([*LABELS, MADE]):
        guarded(tmp_path / f"new{number}", new, copy.deepcopy(events))
        lived = {
            (one.turn, answer_kind(one.before))
            for one in plans(tmp_path / f"new{number}", Alteration())
        }
        found = plans(tmp_path / "old", Alteration(policy_of(new), relabels=True))
        told = {(one.turn, answer_kind(one.after)) for one in found}
        assert told == lived, new
        seen_then = evidence(tmp_path / f"new{number}", Alteration())
        relabelled = evidence(tmp_path / "old", Alteration(policy_of(new), relabels=True))
        assert relabelled.items() <= seen_then.items() or seen_then.items() <= relabelled.items()
        seen.add(tuple(kind for _, kind in sorted(lived, key=str)))
    assert len(seen) > 1, "labels make a difference here"


def test_labels_are_those_of_the_tool_that_returned_it(tmp_path: Path) -> None:
    """Not of one whose class it has; and what no tool of the policy returns is anybody's."""
    guarded(tmp_path / "log", policy_wire(), copy.deepcopy(EVENTS[:4]))
    twin = policy_wire()
    plain = {"approval_mode": "read_only", "result": {"author": "public"}}
    twin["tool"].append({"adapter_id": "m", "capability_id": "list_mail_of", **plain})
    gone = policy_wire()
    gone["tool"] = [one for one in twin["tool"] if one["capability_id"] != "list_mail"]
    for wire, kinds in ((twin, {"ok"}), (gone, {"missing_evidence"})):
        found = plans(tmp_path / "log", Alteration(policy_of(wire), relabels=True))
        assert {answer_kind(one.after) for one in found if one.turn == 2} == kinds, wire


@pytest.mark.parametrize("length", [79, 80, 81, 120])
def test_a_name_that_was_cut_is_of_one_tool_or_is_not_known(length: int, tmp_path: Path) -> None:
    long = "l" * length
    wire = json.loads(json.dumps(policy_wire()).replace("list_mail", long))
    events = json.loads(json.dumps(EVENTS[:4]).replace("list_mail", long))
    guarded(tmp_path / "log", wire, events)
    (*_, alone) = compared(tmp_path / "log", Alteration(policy_of(wire), relabels=True))
    assert isinstance(alone, JudgedPlan)
    assert alone.direction == "unchanged"
    wire["tool"].append({**wire["tool"][0], "capability_id": f"{long}l"})
    (*_, doubtful) = compared(tmp_path / "log", Alteration(policy_of(wire), relabels=True))
    assert isinstance(doubtful, JudgedPlan) == (length < 80)


def test_labels_anew_in_a_log_of_two_specs_and_from_an_export(
    critic: Critic, tmp_path: Path
) -> None:
    other = policy_wire()
    other["spec"] = {**other["spec"], "id": "post"}
    log, files = tmp_path / "log.db", []
    for wire, name in ((policy_wire(), "one"), (other, "two")):
        guarded(log, wire, [{**event, "session": name} for event in copy.deepcopy(EVENTS[:4])])
        wire["tool"][0]["result"]["author"] = "system"
        wire["class"][0]["fields"] = {"id": "system", "sender": "system"}
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(wire))
    policies = [part for file in files for part in ("--policy", file)]
    plain, anew = (critic("what-if", log, *policies, *more) for more in ((), ("--relabel",)))
    assert plain.status == 0
    assert critic("log", "export", log, "--to", "parquet", "--plans", "-o", f"{log}.parquet")
    assert critic("what-if", f"{log}.parquet", *policies, "--relabel") == anew
    assert critic("what-if", log, *policies, "--relabel", "--jobs", "2") == anew
    said = critic("what-if", log, "--relabel", "--safety-mode", "network")
    assert (said.status, "--relabel goes with --policy" in said.err) == (2, True)


@pytest.mark.parametrize("author", ["member", "system", "operator"])
def test_what_is_no_record_of_its_class_may_be_anybody_s(author: str) -> None:
    """As the session says of it, where the class says of a field that others fill it."""
    records = {"author": author, "format": "json"}
    rules = rules_of(policy_of(policy_wire(list_mail={"result": records})))
    source, anybody = (
        build(Source, {"author": one, "standing": "named"}) for one in (author, "public")
    )
    kind = rules.tools["list_mail"].default_class
    for content, is_record in (
        ("all is well", False),
        ([{"id": "m", "sender": "a@b.example"}], True),
    ):
        item = EvidenceItem(id="call/1", classification=kind, content=content, source=source)
        found = _item_under(rules, item)
        assert isinstance(found, EvidenceItem)
        assert found.source == (source if is_record else anybody)
        assert found.classification == ("mail" if is_record else kind)
