"""What one record says of its turn: where near things count as the same, and where they do not."""

from itertools import permutations, product
from typing import Any

import pytest

from harness.record import RecordFacts
from harness.record.record_facts import approvals_of, facts_of_record, planned_step

Json = dict[str, Any]
A, B = ({"adapter_id": name, "capability_id": "one"} for name in "ab")
RAN, STRAYED, IN_PART = RecordFacts.RAN, RecordFacts.STRAYED, RecordFacts.IN_PART
CTX: Json = {}


def call(step: Any, args: Any, **more: Any) -> Json:
    return {**A, "step": step, "args": args, "status": "completed", **more}


def facts_of(calls: Any, *steps: Json, **more: Any) -> RecordFacts:
    """Return what a decision says that had such calls, besides that it was allowed."""
    run = {"calls": calls, **more}
    plan = {"steps": [{"kind": "tool", **one} for one in steps]}
    said = facts_of_record({"action": "allow", "run": run}, CTX, plan)
    assert said & RecordFacts.ALLOWED
    return said & ~RecordFacts.ALLOWED


ALIKE: list[tuple[Any, ...]] = [
    (1, 1.0),
    (True,),
    (0, -0.0),
    (False,),
    ("",),
    (None,),
    ([],),
    ({},),
]
"""Values by their canonical spelling: in the same tuple they are the same."""


@pytest.mark.parametrize("nested", [lambda one: one, lambda one: {"a": [one]}])
def test_a_call_is_the_planned_one_if_its_args_are_spelled_alike(nested: Any) -> None:
    for (at, some), (other, more) in product(enumerate(ALIKE), repeat=2):
        for planned, sent in product(some, more):
            step = {**A, "args": {"n": nested(planned)}}
            said = facts_of([call(0, {"n": nested(sent)})], step)
            assert bool(said & STRAYED) == (at != other), (planned, sent)


@pytest.mark.parametrize("at", [-1, 2, True, False, "0", 0.0, None])
def test_a_step_is_named_by_its_number_and_by_nothing_that_is_nearly_it(at: Any) -> None:
    steps = [{**A, "args": {}}, {**A, "args": {}}]
    assert planned_step(call(at, {}), steps) is None
    assert planned_step(call(1, {}), steps) == 1


@pytest.mark.parametrize("other", [B, {**A, "capability_id": "One"}, {**A, "adapter_id": None}])
def test_a_call_of_another_tool_is_not_planned(other: Json) -> None:
    assert facts_of([call(0, {}, **other)], {**A, "args": {}}) == RAN | STRAYED | IN_PART


TAKING: list[tuple[Json, list[str], Json]] = [
    ({"to": "x"}, ["/to"], {}),
    ({"to": {"iban": "x", "name": "n"}}, ["/to/iban"], {"to": {"name": "n"}}),
    ({"rows": ["x", "y"]}, ["/rows/0", "/rows/1"], {"rows": []}),
    ({"rows": ["n", "x", "y"]}, ["/rows/1", "/rows/2"], {"rows": ["n"]}),
    ({"rows": [{"a": "x"}, {"a": "y", "b": 1}]}, ["/rows/1/a"], {"rows": [{"a": "x"}, {"b": 1}]}),
    ({"a": "x", "b": "y"}, ["/b", "/a"], {}),
]
"""What is sent, the places that are taken from results, and what the plan says without them."""


@pytest.mark.parametrize(("sent", "taken", "planned"), TAKING)
def test_of_a_late_call_what_is_not_taken_is_as_planned(
    sent: Json, taken: list[str], planned: Json
) -> None:
    step = {**A, "args": planned, "takes": [{"arg": one} for one in taken]}
    opened = [{"step": 0, "verdict": {"ok": True}}]
    assert facts_of([call(0, sent)], step, openings=opened) == RAN
    for other in ({**sent, "more": 1}, {**sent, "rows": [*sent.get("rows", ()), "z"]}):
        assert facts_of([call(0, other)], step, openings=opened) & STRAYED, other


@pytest.mark.parametrize("late", [{"takes": [{"arg": "/to"}]}, {"evidence_steps": [1]}])
@pytest.mark.parametrize("ok", [True, False, None, 1, "true"])
@pytest.mark.parametrize("which", [0, 1, None])
def test_a_late_call_is_of_the_plan_where_its_own_opening_passed(
    late: Json, ok: Any, which: int | None
) -> None:
    steps = [{**A, "args": {}, **late}, {**B, "args": {}}]
    openings = [] if which is None else [{"step": which, "verdict": {"ok": ok}}]
    run = {"calls": [call(0, {})], "openings": openings}
    for action in ("allow", "shadow"):
        said = facts_of_record({"action": action, "run": run}, CTX, {"steps": steps})
        is_opened = which == 0 and (action == "shadow" or ok is True)
        assert bool(said & STRAYED) == (not is_opened), action


def test_of_an_array_only_its_end_is_taken() -> None:
    """A place that is not the last one of its array is the plan's: nothing moves up into it."""
    step = {**A, "args": {"rows": ["x"]}, "takes": [{"arg": "/rows/0"}]}
    opened = [{"step": 0, "verdict": {"ok": True}}]
    assert facts_of([call(0, {"rows": ["x", "y"]})], step, openings=opened) & STRAYED


@pytest.mark.parametrize("session", [None, {"id": "s"}])
def test_what_a_command_does_is_called_where_no_guard_makes_the_command(session: Any) -> None:
    """In a session the command is the call, and its effects are not called beside it."""
    plan = {
        "steps": [{"kind": "tool", **A, "args": {}}, {"kind": "tool", **B, "args": {}, "of": 0}]
    }
    record = {"action": "allow", "run": {"calls": [call(0, {})]}}
    ctx = {} if session is None else {"session": session}
    said = facts_of_record(record, ctx, plan)
    assert bool(said & IN_PART) == (session is None)
    assert not facts_of_record(record, None, plan) & IN_PART


def test_calls_that_were_taken_out_of_the_log_were_made() -> None:
    for calls in (None, "redacted", 7):
        assert facts_of(calls, A) == RAN
    assert facts_of([], A) == IN_PART
    gone = facts_of_record({"action": "refuse", "run": None}, CTX, {"steps": [A]})
    assert gone == RecordFacts.REFUSED | RAN
    assert facts_of_record({"action": "refuse"}, CTX, {"steps": [A]}) == RecordFacts.REFUSED


@pytest.mark.parametrize(
    ("digests", "count"),
    [
        ([], 0),
        (["p"], 1),
        (["sha256:p"], 1),
        (["p", "sha256:p", "q"], 2),
        (["P", "sha256:", "", "pp", "sha256:sha256:p", "sha512:p", None, ["p"]], 0),
    ],
)
def test_an_approval_is_of_the_plan_that_it_names(digests: list[Any], count: int) -> None:
    record = {"action": "allow", "inputs": {"plan": "p"}}
    ctx = {"approvals": [{"plan_digest": one} for one in digests]}
    assert approvals_of(ctx, record) == count
    assert bool(facts_of_record(record, ctx, None) & RecordFacts.YES) == bool(count)


@pytest.mark.parametrize("answer", ["yes", "no", "lapsed", None, "Yes"])
@pytest.mark.parametrize("action", ["allow", "refuse", "ask", "shadow"])
def test_a_person_who_does_not_say_yes_is_not_a_refusal_of_the_rules(
    action: str, answer: Any
) -> None:
    said = facts_of_record({"action": action, "answer": {"answer": answer}}, {}, None)
    is_refused = action == "refuse" and answer not in ("no", "lapsed")
    assert bool(said & RecordFacts.REFUSED) == is_refused
    given = {"yes": RecordFacts.YES, "no": RecordFacts.NO, "lapsed": RecordFacts.LAPSED}
    for name, one in given.items():
        assert bool(said & one) == (name == answer)


def test_the_order_of_calls_and_openings_says_nothing() -> None:
    steps: list[Json] = [{**A, "args": {}, "takes": [{"arg": "/n"}]}, {**B, "args": {}}]
    calls = [call(0, {"n": 1}), call(1, {}, **B)]
    openings = [{"step": at, "verdict": {"ok": True}} for at in (0, 1)]
    said = {
        facts_of(some, *steps, openings=[*more])
        for some, more in product(permutations(calls), permutations(openings))
    }
    assert said == {RAN}
