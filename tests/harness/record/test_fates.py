"""Any records of a turn have one fate, whatever their order: the first of the contract that holds.

The fate is compared with one that is worked out here from the records themselves, not from facts.
"""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evals.kinds import FATES, SETTLED_OUTCOMES, Fate
from harness.record import fates
from harness.record.fates import CLAUSES, RecordFacts, end_known, fate
from harness.record.record_facts import facts_of_record
from tests.support.effort import examples, sampled

Json = dict[str, Any]

STEPS: Any = [
    {"kind": "tool", "adapter_id": "a", "capability_id": "one", "args": {"n": 1}},
    {"kind": "reason", "summary": "think"},
    {"kind": "tool", "adapter_id": "a", "capability_id": "two", "args": {"n": 2.5}},
]
PLAN: Json = {"steps": STEPS}
CALLS: Any = [
    *({"step": at, **{name: STEPS[at][name] for name in list(STEPS[at])[1:]}} for at in (0, 2)),
    {"step": 0, "adapter_id": "a", "capability_id": "one", "args": {"n": True}},
    {"step": 0, "adapter_id": "b", "capability_id": "one", "args": {"n": 1}},
    {"step": 1, "adapter_id": "a", "capability_id": "one", "args": {"n": 1}},
    {"step": 2, "adapter_id": "a", "capability_id": "one", "args": {"n": 2.5}},
]
STATUSES = ("completed", "failed", "timed_out", "unknown")
calls = st.builds(
    lambda call, how: {**call, "status": how}, *map(st.sampled_from, (CALLS, STATUSES))
)
whole = st.builds(
    lambda *ends: [{**call, "status": how} for call, how in zip(CALLS[:2], ends, strict=True)],
    *[st.sampled_from(("completed", *STATUSES))] * 2,
)
answers = st.sampled_from([None, "yes", "no", "lapsed"])
decisions = st.builds(
    lambda action, answer, run, ends, approved: {
        "action": action,
        **({"answer": {"answer": answer}} if answer else {}),
        **({} if run is None else {"run": {"calls": run}}),
        **({} if ends is None else {"begun": ends}),
        "inputs": {"plan": "p"},
        "approved": approved,
    },
    st.sampled_from(["allow", "ask", "refuse", "shadow"]),
    answers,
    st.none() | whole | st.lists(calls, max_size=3),
    st.none() | st.sampled_from("xyzuvw"),
    st.sampled_from([None, "p", "sha256:p", "q", "P", ""]),
)
begun = st.builds(
    lambda name, action, used: {
        "kind": "begun",
        "hash": name,
        "action": action,
        **({"approvals": [{}]} if used else {}),
    },
    st.sampled_from("xyz"),
    st.sampled_from(["allow", "shadow"]),
    st.booleans(),
)
settled = st.builds(
    lambda own, name, action, outcome: {
        "kind": "settled",
        "hash": own,
        "begun": name,
        "action": action,
        "outcome": outcome,
    },
    st.sampled_from("uvw"),
    st.sampled_from("xyz"),
    st.sampled_from(["allow", "shadow"]),
    st.sampled_from(SETTLED_OUTCOMES),
)
records = st.lists(decisions | begun | settled | st.just({"kind": "critic_error"}), max_size=4)


def facts_in(turn: list[Json]) -> list[RecordFacts]:
    ended = {one.get("begun") for one in turn}
    found = []
    for one in turn:
        given = one.get("approved")
        ctx = {} if given is None else {"approvals": [{"plan_digest": given}]}
        facts = facts_of_record(one, ctx, PLAN)
        found.append(end_known(facts) if one.get("hash") in ended else facts)
    return found


def expected(turn: list[Json]) -> Fate:  # noqa: PLR0911 - as the contract lists them
    """Return the fate as the contract says it, record by record."""
    begins = [one for one in turn if one.get("kind") == "begun"]
    ruled = [one for one in turn if "kind" not in one]
    made = [call for one in ruled for call in one.get("run", {}).get("calls", [])]
    ended = {one.get("begun") for one in turn}
    said = [one for one in turn if one.get("kind") == "settled"]
    left = {one["outcome"] for one in said if one["hash"] not in ended}
    ran = bool(made) or any(one["outcome"] == "ran" for one in said)
    may_have = ran or "unknown" in left
    actions = {one["action"] for one in (*ruled, *begins, *said)}
    given = {one["answer"]["answer"] for one in ruled if "answer" in one}
    allowed = "allow" in actions
    of_plan = ("p", "sha256:p")
    approved = any(one["approved"] in of_plan and one["action"] == "allow" for one in ruled)
    yes = "yes" in given or approved or any("approvals" in one for one in begins)
    asked_open = "ask" in actions and not (given or yes or allowed)
    asked_no = bool(given & {"no", "lapsed"}) and not may_have
    if (may_have and not actions & {"allow", "shadow"}) or not all(map(is_planned, made)):
        return "ran_although_refused"
    if {one["hash"] for one in begins} - ended:
        return "open"
    if not may_have and any(one.get("kind") == "critic_error" for one in turn):
        return "failed"
    if "shadow" in actions and (may_have or "not_run" not in left):
        return "ran_in_shadow"
    refuses = [one for one in ruled if one["action"] == "refuse"]
    by_guard = any(one.get("answer", {"answer": "yes"})["answer"] == "yes" for one in refuses)
    if not allowed and (by_guard or not (asked_open or asked_no)):
        return "refused"
    if asked_open or asked_no:
        return "asked_open" if asked_open else "asked_no"
    if not may_have:
        return "not_run"
    return "ran_in_part" if "unknown" in left else ending(ruled, made, yes=yes)


def is_planned(call: Json) -> bool:
    return {**call, "status": ""} in [{**one, "status": ""} for one in CALLS[:2]] and (
        call["args"]["n"] is not True
    )


def ending(ruled: list[Json], made: list[Json], *, yes: bool) -> Fate:
    runs = [one["run"]["calls"] for one in ruled if "run" in one]
    lacks = any({0, 2} - {call["step"] for call in run} for run in runs)
    if lacks or any(call["status"] != "completed" for call in made):
        return "ran_in_part"
    return "ran_after_yes" if yes else "ran"


def decided(calls: list[Json], **more: Any) -> Json:
    """Return a decision that allowed the plan, and what became of it."""
    ended = [{"status": "completed", **call} for call in calls]
    own = {"action": "allow", "inputs": {"plan": "p"}, "approved": None}
    return {**own, "run": {"calls": ended}, **more}


NOT_RUN: Json = {"inputs": {"plan": "p"}, "approved": None}
LEFT_UNKNOWN: Json = {"kind": "settled", "hash": "u", "begun": "x", "action": "allow"}
LEFT_UNKNOWN["outcome"] = "unknown"


@example(turn=[LEFT_UNKNOWN, decided(CALLS[:2], begun="u")])
@example(turn=[decided([CALLS[0], {**CALLS[1], "status": "failed"}])])
@example(turn=[decided([CALLS[3], CALLS[1]])])
@example(turn=[decided(CALLS[:2], approved="q")])
@example(turn=[{**NOT_RUN, "action": "refuse", "answer": {"answer": "lapsed"}}])
@settings(max_examples=examples(400))
@given(turn=records)
def test_a_turn_has_the_fate_that_the_contract_says(turn: list[Json]) -> None:
    assert fate(facts_in(turn)) == expected(turn)


@given(turn=records, chance=st.randoms())
def test_neither_order_nor_repetition_changes_a_fate(turn: list[Json], chance: Any) -> None:
    found = facts_in(turn)
    other = [*found, *found[:2]]
    chance.shuffle(other)
    assert fate(other) == fate(found)


OPENINGS = st.tuples(st.integers(0, 2), st.sampled_from([True, False, None, 1, "true"]))


@given(said=st.lists(OPENINGS, max_size=4), made=st.lists(st.sampled_from((0, 2)), max_size=2))
@example(said=[(0, True), (2, False)], made=[0, 2])
def test_of_a_late_plan_a_call_is_of_the_plan_once_its_opening_passed(
    said: list[tuple[int, Any]], made: list[int]
) -> None:
    first, thought, second = STEPS
    plan = {"steps": [first, thought, {**second, "takes": [{"arg": "/to", "step": 0, "at": ""}]}]}
    openings = [{"step": at, "verdict": {"ok": ok}} for at, ok in said]
    record = decided([CALLS[at // 2] for at in made])
    record["run"]["openings"] = openings
    passed = {at for at, ok in said if ok is True}
    strayed = RecordFacts.STRAYED in facts_of_record(record, {}, plan)
    assert strayed == (not {*made} <= passed)


def every_fact() -> list[RecordFacts]:
    return [RecordFacts(number) for number in range(2 * max(RecordFacts))]


def test_every_fate_is_of_some_facts_and_all_facts_have_one() -> None:
    assert tuple(CLAUSES) == FATES
    assert {fate([facts]) for facts in every_fact()} == {*FATES}


APART = {("asked_open", "asked_no")}
"""Fates of which no facts have both: a question is open, or it is not."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("pair", sampled(combinations(FATES, 2), one_in=8), ids="-".join)
def test_two_clauses_in_each_others_place_are_noticed(
    pair: tuple[Fate, Fate], monkeypatch: pytest.MonkeyPatch
) -> None:
    order = [{pair[0]: pair[1], pair[1]: pair[0]}.get(name, name) for name in FATES]
    before = [fate([facts]) for facts in every_fact()]
    monkeypatch.setattr(fates, "CLAUSES", {name: CLAUSES[name] for name in order})
    assert ([fate([facts]) for facts in every_fact()] == before) == (pair in APART)


def test_what_ran_unruled_is_hidden_by_nothing() -> None:
    for facts in every_fact():
        ruled = facts & (RecordFacts.ALLOWED | RecordFacts.SHADOW)
        if facts & RecordFacts.STRAYED or (facts & RecordFacts.RAN and not ruled):
            assert fate([facts]) == "ran_although_refused"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["kind", "action", "answer", "run", "calls", "step", "steps"]),
                inner,
                max_size=4,
            )
        ),
    )
)
def test_anything_has_a_fate(value: Any) -> None:
    assert fate([facts_of_record(value, value, value)]) in FATES


@pytest.mark.parametrize("opened", [True, False])
def test_a_yes_to_an_opening_is_one_of_its_turn_where_it_opened_the_call(opened: bool) -> None:
    opening = {"step": 0, "verdict": {"ok": opened}, "approvals": [{"approver": "ada"}]}
    other = {"step": 1, "verdict": {"ok": True}}
    record = {"action": "allow", "run": {"calls": [], "openings": [other, opening]}}
    assert bool(facts_of_record(record, None, None) & RecordFacts.YES) is opened
