"""Advice on the wire: every repair in full, and what none of them may hold."""

import pytest

from critic import Advice
from critic.repairs.violation_places import parse_place
from evals.canonical_json import canonical_bytes
from harness.wire import build, parse
from tests.support.examples import refused_at
from tests.support.model.facts import Json

CALL: Json = {"adapter_id": "a", "capability_id": "c"}
REFS = ["e1", "e2", "e3"]

PLANNERS: dict[str, Json] = {
    "drop_step": {"step": 0},
    "correct_args": {"step": 1, "path": "/steps/1/args"},
    "pin_evidence": {"step": 2, "classification": "k", "candidates": REFS},
    "back_argument": {"step": 3, "argument": "x y", "candidates": REFS},
    "unpin_evidence": {"step": 4, "ref": "e"},
    "drop_claim": {"step": 5, "classification": "k"},
    "drop_id": {"step": 6},
    "drop_dependency": {"step": 7, "dependency": "d"},
    "declare_output": {"output": "o"},
    "produce_output": {"output": "o", "candidates": [CALL, CALL, CALL]},
    "set_trace": {"trace_id": "t"},
    "shorten": {"steps": 1},
    "save_tokens": {"tokens": 1, "steps": [0, 1, 2]},
}
OTHERS: dict[str, tuple[str, Json]] = {
    "allow_tool": ("operator", {"output": "o", "candidates": [CALL]}),
    "ask_approval": ("approver", {"tier": "network", "steps": [0, 1, 2]}),
    "obtain_evidence": ("operator", {"step": 8, "classifications": ["k", "l", "m"]}),
    "grant_budget": ("operator", {"of": "tokens", "by_how_much": 1}),
}
POWERS = {**dict.fromkeys(PLANNERS, "planner"), **{kind: by for kind, (by, _) in OTHERS.items()}}
FIELDS = {**PLANNERS, **{kind: fields for kind, (_, fields) in OTHERS.items()}}
OPTIONAL = {"pin_evidence": "step", "obtain_evidence": "step", "produce_output": "candidates"}
NEVER_EMPTY = {
    "pin_evidence": "candidates",
    "back_argument": "candidates",
    "ask_approval": "steps",
    "obtain_evidence": "classifications",
    "allow_tool": "candidates",
}
NEVER_ZERO = {"shorten": "steps", "save_tokens": "tokens", "grant_budget": "by_how_much"}

every_kind = pytest.mark.parametrize("kind", FIELDS)


def advice(*repairs: Json) -> Json:
    return {"disposition": "reject", "repairs": list(repairs)}


def repair(kind: str, **changes: object) -> Json:
    return {"kind": kind, "by": POWERS[kind], **FIELDS[kind], **changes}


def test_advice_is_read_back_as_it_was_written() -> None:
    wire = advice(*map(repair, FIELDS))
    read = build(Advice, wire)
    assert read.wire() == wire
    assert [one.kind for one in read.repairs] == list(FIELDS)
    assert parse(Advice, canonical_bytes(read)) == read


@every_kind
def test_a_kind_of_repair_says_by_itself_whose_it_is(kind: str) -> None:
    said = repair(kind)
    del said["by"]
    assert build(Advice, advice(said)).wire() == advice(repair(kind))
    for other in {"planner", "approver", "operator", "", None} - {POWERS[kind]}:
        assert refused_at(Advice, advice(repair(kind, by=other))).path == "/repairs/0/by"


@every_kind
def test_a_violation_is_reported_at_its_place(kind: str) -> None:
    """And there only: the kind says which repair it was to be."""
    for name in FIELDS[kind]:
        wire = advice(repair("drop_id"), repair(kind, **{name: None}))
        assert refused_at(Advice, wire).path == f"/repairs/1/{name}"
    assert refused_at(Advice, advice(repair(kind, more=1))).path == "/repairs/0/more"


@every_kind
def test_only_what_is_optional_may_be_left_out(kind: str) -> None:
    for name in FIELDS[kind]:
        said = repair(kind)
        del said[name]
        if OPTIONAL.get(kind) != name:
            assert refused_at(Advice, advice(said)).path == f"/repairs/0/{name}"
            continue
        (read,) = build(Advice, advice(said)).repairs
        assert read.wire() == ({**said, name: []} if name == "candidates" else said)


@pytest.mark.parametrize(("kind", "name"), NEVER_EMPTY.items())
def test_one_of_many_is_named_at_least(kind: str, name: str) -> None:
    assert refused_at(Advice, advice(repair(kind, **{name: []}))).path == f"/repairs/0/{name}"
    one = advice(repair(kind, **{name: FIELDS[kind][name][:1]}))
    assert build(Advice, one).wire() == one


@pytest.mark.parametrize(("kind", "name"), NEVER_ZERO.items())
def test_nothing_is_not_an_amount_to_save_or_to_grant(kind: str, name: str) -> None:
    assert refused_at(Advice, advice(repair(kind, **{name: 0}))).path == f"/repairs/0/{name}"


@pytest.mark.parametrize("kind", ["", "planner", "nothing_such", None])
def test_no_other_kind_of_repair_exists(kind: object) -> None:
    wire = advice({"kind": kind, "by": "planner", "step": 0})
    assert refused_at(Advice, wire).path.startswith("/repairs/0")


def test_a_repair_without_its_kind_is_none() -> None:
    assert refused_at(Advice, advice({"by": "planner", "step": 0})).path.startswith("/repairs/0")


@pytest.mark.parametrize("path", ["", "/", "/plan", "/steps/0/args_schema", "/steps/0/id/x"])
def test_a_path_that_no_check_names_is_an_error(path: str) -> None:
    """The last entry of a capped refusal has the path "", and is never advised on."""
    with pytest.raises(ValueError, match="no check names the path"):
        parse_place(path)
