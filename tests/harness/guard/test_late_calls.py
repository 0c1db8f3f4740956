"""Calls that wait for one another in a session: each is opened before it is made."""

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from critic import Refused
from harness.clock import FixedClock
from harness.guard import EventError, Guard, OpeningRuling, Ruling, recording
from harness.log import SqlDecisionLog
from harness.policy import Policy
from harness.record import DecisionRecord
from harness.replay import check_log, replay
from harness.single_use import PermitError
from harness.wire import build
from tests.support.guarding import NOON, Json, answers_to
from tests.support.late_refund import ORDER, SENT, WINDOW, late_policy

READS: list[Json] = [
    {"id": "a", "tool": "lookup", "args": {"id": "ord_881"}},
    {"id": "b", "tool": "refund_window", "args": {"id": "ord_881"}},
]
PAY: Json = {
    "id": "c",
    "tool": "issue_refund",
    "args": {"id": "pay_8861"},
    "takes": [{"arg": "/amount_inr", "call": "a", "at": "/payment/amount_inr"}],
    "after": ["a", "b"],
}
TURN: Json = {"event": "calls", "session": "s", "calls": [*READS, PAY]}
PLAN: Json = {"event": "plan", "session": "s", "steps": [*READS, PAY]}
TIME = "2026-05-09T12:00:00Z"


def guard_of(spec: Json | None = None, log: Any = None, **settings: Any) -> Guard:
    wire = late_policy(spec).wire()
    policy = build(Policy, {**wire, "guard": {**wire["guard"], **settings}})
    return Guard(policy, log=log, clock=FixedClock(NOON))  # as slow as a machine may be


def opened(request: str = "Refund order ord_881") -> Json:
    return {"event": "open", "session": "s", "request": request, "as_of": TIME}


def ready(name: str) -> Json:
    return {"event": "ready", "session": "s", "id": name}


def result(name: str, output: Any = None, **fields: Any) -> Json:
    told = {"event": "result", "session": "s", "id": name, "status": "completed", **fields}
    return told if output is None else {**told, "output": output}


def calls(*given: Json) -> Json:
    return {"event": "calls", "session": "s", "calls": list(given)}


def answer(yes: bool = True, **fields: Any) -> Json:
    told = {"event": "answer", "session": "s", "plan_digest": "$LAST", "yes": yes}
    return {**told, "approver": "emma", **fields}


def close() -> Json:
    return {"event": "close", "session": "s"}


def read_both(order: Any = ORDER, window: Any = WINDOW) -> list[Json]:
    return [ready("a"), ready("b"), result("a", order), result("b", window)]


SAID = {"event": "said", "session": "s", "text": "is that right?"}


def test_three_dependent_calls_of_one_turn_run(tmp_path: Path) -> None:
    events = [opened(), TURN, *read_both(), ready("c"), result("c", {"ok": True}), close()]
    with guard_of(log=tmp_path / "log") as guard:
        answers = answers_to(guard, events)
    assert answers[1]["action"] == "allow"
    assert {one["kind"] for one in answers[1]["verdict"]["conditions"]} >= {"value", "evidence"}
    assert (answers[6]["action"], answers[6]["args"], answers[6]["turn"]) == ("allow", SENT, 1)
    assert answers[8]["status"] == "partial"  # the outputs of the session are not given
    with SqlDecisionLog.open(tmp_path / "log") as log:
        records = list(log.records())
        assert [one.status for one in replay(log)] == ["same"] * 4
        assert check_log(log).text() == ""
    (ran,) = [one.run for one in records if getattr(one, "run", None) is not None]
    assert ran is not None
    assert [(one.step, one.after) for one in ran.openings or ()] == [(0, 0), (1, 0), (2, 2)]


def test_a_turn_in_order_needs_no_words_of_the_agent() -> None:
    plain = {name: PAY[name] for name in ("id", "tool")} | {"args": SENT}
    events = [opened(), calls(*READS, plain), *read_both(), ready("c")]
    assert answers_to(guard_of(), events)[1]["action"] == "refuse"
    answers = answers_to(guard_of(turns="ordered"), events)
    assert answers[1]["action"] == "allow"
    assert (answers[6]["action"], answers[6]["args"]) == ("allow", SENT)


def test_a_turn_that_only_reads_is_plain_in_order_too() -> None:
    events = [opened(), calls(*READS), result("a", ORDER), ready("b")]
    answers = answers_to(guard_of(turns="ordered"), events)
    assert answers[1]["action"] == "allow"
    assert answers[3]["error"]["path"] == "/id"


@pytest.mark.parametrize("name", ["a", "b", "c", "x", ""])
def test_nothing_is_made_of_what_was_not_opened(name: str) -> None:
    answers = answers_to(guard_of(), [opened(), TURN, result(name, ORDER)])
    assert "error" in answers[2]


def test_the_permit_of_a_call_comes_with_its_opening() -> None:
    guard = guard_of()
    answers_to(guard, [opened(), TURN])
    with pytest.raises(PermitError):
        guard.permit("s", "a")
    answers_to(guard, read_both())
    answer = guard.ready("s", "c")
    assert answer.args == SENT
    with pytest.raises(PermitError, match="not the call that was allowed"):
        guard.permit("s", "c").redeem("issue_refund", {**SENT, "amount_inr": 50000})


WRONG: dict[str, tuple[Any, Any]] = {
    "too much": ({"payment": {"id": "pay_8861", "amount_inr": 50001}}, WINDOW),
    "of another payment": ({"payment": {"id": "pay_1", "amount_inr": 5}}, WINDOW),
    "nothing": ({}, WINDOW),
    "no window": (ORDER, {**WINDOW, "window_open": False}),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_refused_opening_ends_its_batch(case: str, tmp_path: Path) -> None:
    events = [opened(), TURN, *read_both(*WRONG[case]), ready("c"), ready("c"), result("c", {})]
    with guard_of(log=tmp_path / "log") as guard:
        answers = answers_to(guard, [*events, calls(READS[0]), close()])
    assert answers[6]["action"] == "refuse"
    assert answers[6]["reply"].startswith(("Not run", "issue_refund not run"))
    assert "args" not in answers[6]
    assert "error" in answers[7]
    assert "error" in answers[8]
    assert answers[9]["action"] == "allow"  # the ids are free again
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}
        ended = [one for one in log.records() if getattr(one, "run", None) is not None]
    assert ended[0].report.refused_at == "open"


LACKS: dict[str, tuple[Json, str]] = {
    "nothing": ({"output": {}}, "there is no such value"),
    "null": ({"output": {"payment": {"amount_inr": None}}}, "it is null"),
    "several": ({"output": [1, 2]}, "there is more than one"),
    "failed": ({"status": "failed"}, "that call did not complete"),
    "text": ({"output": "not JSON"}, "its result does not match its schema"),
}


@pytest.mark.parametrize("case", LACKS)
def test_a_model_is_told_which_value_did_not_come_and_why(case: str) -> None:
    fields, why = LACKS[case]
    at = "/*" if case == "several" else "/payment/amount_inr"
    pay = {**PAY, "takes": [{"arg": "/amount_inr", "call": "a", "at": at}]}
    read = [ready("a"), result("a", **fields), ready("b"), result("b", WINDOW)]
    wire = late_policy().wire()
    (tool,) = (one for one in wire["tool"] if one["capability_id"] == "lookup")
    tool["output_schema"] = {"type": ["object", "array"]}
    guard = Guard(build(Policy, wire), clock=FixedClock(NOON))
    *_, refused = answers_to(guard, [opened(), calls(*READS, pay), *read, ready("c")]).values()
    assert refused["reply"] == (
        f'issue_refund not run: its "/amount_inr" was to be what lookup returned at "{at}", '
        f"and {why}."
    )


VALUES: Json = {"approval_required_from": "destructive", "late": "values"}


@pytest.mark.parametrize("way", ["alone", "in a log", "handed over", "in another process"])
def test_a_person_is_asked_with_the_values(way: str, tmp_path: Path) -> None:
    place = tmp_path / "log" if way in ("in a log", "in another process") else None
    guard = guard_of(VALUES, place)
    answers = answers_to(guard, [opened(), TURN, *read_both(), ready("c")])
    asked = answers[6]
    assert asked["action"] == "ask"
    (question,) = asked["questions"]
    assert (question["call"], question["args"]) == ("c", SENT)
    status = guard.status("s")
    assert status is not None
    assert status.question is not None
    assert status.question.plan_digest == asked["plan_digest"]
    if way == "handed over":
        data = guard.export("s")
        guard = guard_of(VALUES)
        guard.resume(data)
        assert guard.export("s") != b""
        guard = guard_of(VALUES)
        guard.resume(data)
    if way == "in another process":
        guard = guard_of(VALUES, place)
    said = answers_to(guard, [{**answer(), "plan_digest": asked["plan_digest"]}])[0]
    assert (said["action"], said["id"], said["args"]) == ("allow", "c", SENT)
    answers_to(guard, [result("c", {"ok": True})])
    assert answers_to(guard, [close()])[0]["status"] == "partial"
    if place is not None:
        with SqlDecisionLog.open(place) as log:
            assert {one.status for one in replay(log)} <= {"same", "open"}


def test_a_no_ends_the_batch_and_counts_for_later_values() -> None:
    guard = guard_of(VALUES)
    answers = answers_to(guard, [opened(), TURN, *read_both(), ready("c"), answer(yes=False)])
    assert (answers[7]["action"], answers[7]["note"]) == ("refuse", "denied by emma")
    again = answers_to(guard, [TURN, *read_both(), ready("c")])
    assert again[5]["action"] == "refuse"
    assert again[5]["note"] == "a person said no to this call in this session"
    assert again[5]["reply"] == "issue_refund not run: a person said no: do not try again."


CARRIED_OUT = [
    {"event": "plan", "session": "s", "steps": [*READS, PAY]},
    calls({**READS[0], "id": "x"}),
    result("x", ORDER),
    calls({**READS[1], "id": "y"}),
    result("y", WINDOW),
    calls({"id": "z", "tool": "issue_refund", "args": SENT}),
]
"""A plan that an agent carries out under other ids, up to the refund."""


@pytest.mark.parametrize("made", [[TURN, *read_both(), ready("c")], CARRIED_OUT])
def test_a_model_is_told_of_a_no_to_an_opened_call(made: list[Json]) -> None:
    asks, *_ = [len(made)]
    answers = answers_to(guard_of(VALUES), [opened(), *made, answer(yes=False)])
    assert answers[asks]["questions"][0]["call"] == ("z" if made is CARRIED_OUT else "c")
    denied = answers[asks + 1]
    assert (denied["action"], denied["note"]) == ("refuse", "denied by emma")
    assert denied["reply"] == "issue_refund not run: a person said no: do not try again."
    assert denied["verdict"]["violations"][0]["say"] == denied["reply"]


def no() -> Json:
    return {key: it for key, it in answer(yes=False).items() if key != "plan_digest"}


ENDS: dict[str, list[Json]] = {
    "no": [no(), close()],
    "no, and a read still runs": [no(), result("d", ORDER)],
    "no, and a read never ends": [no(), close()],
    "said": [SAID, close()],
    "close": [close()],
    "another turn": [calls({**READS[0], "id": "x"}), result("x", ORDER)],
}


@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize("case", ENDS)
def test_what_became_of_a_question_about_an_opening_is_recorded(
    case: str, elsewhere: bool, tmp_path: Path
) -> None:
    longer = calls(*READS, PAY, {**READS[0], "id": "d"})
    still = [] if "a read" in case else [result("d", ORDER)]
    with guard_of(VALUES, tmp_path / "log") as guard, guard_of(VALUES, tmp_path / "log") as other:
        made = [opened(), longer, ready("d"), *read_both(), *still, ready("c")]
        *_, asked = answers_to(guard, made).values()
        (ends, *rest) = ENDS[case]
        named = {"plan_digest": asked["plan_digest"]} if ends["event"] == "answer" else {}
        answers_to(guard, [{**ends, **named}])
        answers_to(other if elsewhere else guard, rest)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}
        runs = [one for one in log.records() if isinstance(one, DecisionRecord) and one.run]
    first = next(one for one in runs if one.run is not None and one.run.openings)
    said = {"answer": "no", "approver": "emma"} if case[:2] == "no" else {"answer": "lapsed"}
    assert first.answer is not None
    assert first.answer.wire() == said
    assert first.action == "allow"


@pytest.mark.parametrize("made", [[TURN, *read_both(), ready("c")], CARRIED_OUT])
def test_the_question_about_an_opened_call_is_shown_as_it_was_asked(made: list[Json]) -> None:
    guard = guard_of(VALUES)
    *_, asked = answers_to(guard, [opened(), *made]).values()
    status = guard.status("s")
    assert status is not None
    assert status.question is not None
    shown = status.question.ruling
    assert shown.questions is not None
    assert [one.call for one in shown.questions] == [one["call"] for one in asked["questions"]]


@pytest.mark.parametrize("between", [SAID, result("old", WINDOW)])
def test_a_question_that_can_no_longer_be_answered_lapses_with_the_yes(between: Json) -> None:
    guard = guard_of(VALUES)
    earlier = [opened(), calls({**READS[1], "id": "old"})]
    *_, asked = answers_to(guard, [*earlier, TURN, *read_both(), ready("c")]).values()
    yes = {**answer(), "plan_digest": asked["plan_digest"]}
    told = answers_to(guard, [between, yes, yes, calls(PAY | {"takes": [], "after": []})])
    assert told[1]["error"]["message"].startswith("the question has lapsed: its turn did not see")
    assert told[2]["error"]["message"].startswith("no question is open")
    status = guard.status("s")
    assert status is not None
    assert status.question is None
    assert status.waiting == frozenset()


def test_nothing_is_opened_whose_run_no_record_could_hold(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(recording, "MOST_RETURNED", 3000)
    large = {**ORDER, "more": "x" * 2000}
    with guard_of(log=tmp_path / "log") as guard:
        earlier = calls({**READS[0], "id": "old"})
        told = answers_to(guard, [opened(), earlier, TURN, *read_both(large, large), ready("c")])
        assert "tell the beginning of it" in told[6]["error"]["message"]
        assert "has not ended" in told[7]["error"]["message"]
        cut = result("b", "x", cut=True)
        assert [*answers_to(guard, [cut, close()]).values()][-1]["turns"][1]["action"] == "allow"
    assert "error" not in answers_to(guard_of(), [opened(), TURN, *read_both(large, large)])[1]


@pytest.mark.parametrize("denied", ["1", "12", "21", "123", "321"])
def test_each_no_counts_beside_every_other_one(denied: str) -> None:
    """Payments are denied one after the other, then each is asked for again, and another one."""
    budget = {"max_steps": 99, "bucket_tokens": 10**6}
    guard = guard_of(VALUES, max_questions=9, budget=budget)
    answers_to(guard, [opened()])

    def ask_for(payment: str, *then: Json) -> Json:
        order = {"payment": {**ORDER["payment"], "id": f"pay_{payment}"}}
        read = read_both(order, {**WINDOW, "payment_id": f"pay_{payment}"})
        turn = calls(*READS, {**PAY, "args": {"id": f"pay_{payment}"}})
        found: Json = answers_to(guard, [turn, *read, ready("c"), *then])[5]
        return found

    for payment in denied:
        assert ask_for(payment, answer(yes=False))["action"] == "ask"
    for payment in denied:
        again = ask_for(payment)
        assert again["note"] == "a person said no to this call in this session"
    assert ask_for("4")["action"] == "ask"


WAYS: Json = {
    "a turn": ("sources", "calls", ()),
    "a plan": ("sources", "plan", ()),
    "an opening": ("values", "calls", ("ready",)),
    "a plan that is carried out": ("values", "plan", ("calls",)),
}
"""How a person comes to be asked: the setting for late values, and the events."""


def asked_by(way: str, guard: Guard, n: int) -> Json:
    """Return the ruling that asks about a payment with the number n, with ids of its own."""
    _, event, then = WAYS[way]
    look, window = ({**one, "id": f"{one['id']}{n}"} for one in READS)
    takes = [{**PAY["takes"][0], "call": f"a{n}"}]
    pay = {**PAY, "id": f"c{n}", "args": {"id": f"pay_{n}"}, "takes": takes}
    pay["after"] = [f"a{n}", f"b{n}"]
    listed = {"calls": "calls", "plan": "steps"}[event]
    events: list[Json] = [{"event": event, "session": "s", listed: [look, window, pay]}]
    if then:
        opens = [ready(f"a{n}"), ready(f"b{n}")] if then == ("ready",) else [calls(look, window)]
        order = {"payment": {**ORDER["payment"], "id": f"pay_{n}"}}
        found = [result(f"a{n}", order), result(f"b{n}", {**WINDOW, "payment_id": f"pay_{n}"})]
        sent = {"id": f"c{n}", "tool": "issue_refund", "args": {**SENT, "id": f"pay_{n}"}}
        events += [*opens, *found, ready(f"c{n}") if then == ("ready",) else calls(sent)]
    return answers_to(guard, events)[len(events) - 1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("agrees", [True, False])
def test_questions_are_counted_since_the_last_yes_to_a_turn_or_a_plan(
    way: str, agrees: bool
) -> None:
    budget = {"max_steps": 99, "bucket_tokens": 10**6}
    guard = guard_of({**VALUES, "late": WAYS[way][0]}, max_questions=1, budget=budget)
    answers_to(guard, [opened()])
    asked = asked_by(way, guard, 1)
    assert asked["action"] == "ask"
    assert "this is the last question" in asked["note"]
    answers_to(guard, [{**answer(agrees, late=True), "plan_digest": asked["plan_digest"]}])
    begins = agrees and "ready" not in WAYS[way][2] and way != "a plan that is carried out"
    assert asked_by(way, guard, 2)["action"] == ("ask" if begins else "refuse")


@pytest.mark.parametrize("seconds", [1, 30, 10**6])
def test_a_yes_to_an_opening_counts_until_the_first_of_its_ends(seconds: int) -> None:
    """Its evidence expires, and so does the question."""
    events = [opened(), TURN, *read_both(), ready("c")]
    (plain, asked) = (
        answers_to(guard_of(VALUES, **settings), events)[6]
        for settings in ({}, {"question_expires_after_s": seconds})
    )
    end = NOON + timedelta(seconds=seconds)
    fresh = datetime.fromisoformat(plain["expires_at"])
    assert datetime.fromisoformat(asked["expires_at"]) == min(fresh, end)


def test_a_value_of_another_turn_ends_a_question_about_an_opening() -> None:
    guard = guard_of(VALUES)
    events = [opened(), TURN, *read_both(), ready("c"), calls({**READS[0], "id": "d"}), answer()]
    answers = answers_to(guard, events)
    assert answers[7]["action"] == "allow"
    assert "error" in answers[8]


def test_an_approval_names_its_sources_or_covers_no_late_value(tmp_path: Path) -> None:
    spec = {"approval_required_from": "destructive"}
    for late, action in ((None, "refuse"), (True, "allow")):
        given, place = answer() if late is None else answer(late=True), tmp_path / action
        with guard_of(spec, log=place) as guard:
            answers = answers_to(guard, [opened(), TURN, given])
        assert answers[1]["action"] == "ask"
        assert "what lookup returns" in answers[1]["questions"][0]["ask"]
        assert answers[2]["action"] == action
        assert ("late: true" in answers[2].get("note", "")) == (late is None)
        with SqlDecisionLog.open(place) as log:
            assert {one.status for one in replay(log)} <= {"same", "open"}


def test_a_person_is_shown_what_is_known_of_a_value_to_come() -> None:
    wire = late_policy({"approval_required_from": "destructive", "provenance": "closed"}).wire()
    look, _, refund = wire["tool"]
    refund["arg_roles"] = {"id": "attribute", "amount_inr": "attribute"}
    for result, written in (
        ({"author": "system"}, ", which a system of record writes"),
        ({"author": "member"}, ", which others write"),
        ({"author": "public", "derived": True}, ", which is made from what the call is given"),
    ):
        look["result"] = result
        scope = {"scope": ["lookup", "refund_window", "issue_refund"]}
        answers = answers_to(Guard(build(Policy, wire)), [{**opened(), **scope}, TURN])
        *_, shown = answers[1]["questions"][0]["ask"].split("\n")
        assert shown == (
            "/amount_inr (attribute): what lookup returns at /payment/amount_inr (call a)"
            f"{written}; a whole number, at most 50000 and at least 1; "
            "evidence of class order_record backs it"
        )


def test_who_writes_a_value_to_come_is_who_may_write_its_field() -> None:
    wire = late_policy({"approval_required_from": "destructive"}).wire()
    wire["tool"][0]["result"] = {"author": "system", "format": "json"}
    for fields, written in (
        ({"payment": "public"}, ", which anybody can write"),
        ({"payment": "party", "status": "public"}, ", which others write"),
        ({"/payment/amount_inr": "member"}, ", which others write"),
        ({"status": "public"}, ", which a system of record writes"),
    ):
        wire["class"] = [{"name": "order_record", "fields": fields}]
        ask = answers_to(Guard(build(Policy, wire)), [opened(), TURN])[1]["questions"][0]["ask"]
        assert f"(call a){written};" in ask


def test_an_agent_carries_out_its_plan(tmp_path: Path) -> None:
    spec = {"approval_required_from": "destructive"}
    events = [
        *(opened(), PLAN, answer(late=True)),
        *(calls({**READS[0], "id": "k1"}), result("k1", ORDER)),
        *(calls({**READS[1], "id": "k2"}), result("k2", WINDOW)),
        *(calls({"id": "k3", "tool": "issue_refund", "args": SENT}), result("k3", {"ok": True})),
        close(),
    ]
    with guard_of(spec, tmp_path / "log") as guard:
        answers = answers_to(guard, events)
    assert [answers[at]["action"] for at in (1, 2, 3, 5, 7)] == ["ask", *["allow"] * 4]
    assert {answers[at]["turn"] for at in (1, 2, 3, 5, 7)} == {1}
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}
        assert len(list(log.records())) == 3  # asked, answered and ended


def test_a_call_with_other_args_does_not_carry_out_a_plan() -> None:
    reads = [calls({**one, "id": f"k{at}"}) for at, one in enumerate(READS)]
    events = [opened(), PLAN, reads[0], result("k0", ORDER), reads[1], result("k1", WINDOW)]
    other = {"id": "k3", "tool": "issue_refund", "args": {**SENT, "amount_inr": 5}}
    answers = answers_to(guard_of(), [*events, calls(other)])
    assert (answers[6]["action"], answers[6]["turn"]) == ("refuse", 2)


@pytest.mark.parametrize(
    "waits", [{"after": ["k"]}, {"takes": [{"arg": "/id", "call": "k", "at": "/id"}]}]
)
def test_calls_that_wait_for_one_another_are_a_turn_of_their_own(waits: Json) -> None:
    """To carry a plan out they would run at once."""
    args = {} if "takes" in waits else READS[1]["args"]
    second = {**READS[1], "id": "l", "args": args, **waits}
    answers = answers_to(guard_of(), [opened(), PLAN, calls({**READS[0], "id": "k"}, second)])
    assert answers[2]["turn"] == 2
    apart = calls({**READS[0], "id": "k"}, {**READS[1], "id": "l"})
    assert answers_to(guard_of(), [opened(), PLAN, apart])[2]["turn"] == 1


@pytest.mark.parametrize(
    "other",
    [
        SAID,
        calls({"id": "k", "tool": "lookup", "args": {"id": "ord_9"}}),
        calls({**READS[0], "id": "k"}, {**READS[0], "id": "k2"}),
        {**PLAN, "steps": READS},
        calls({"id": "k", "tool": "no_tool", "args": {}}),
        calls({"id": "k", "tool": "issue_refund", "args": SENT}),
    ],
)
def test_a_deviation_ends_a_plan(other: Json) -> None:
    guard = guard_of()
    answers_to(guard, [opened(), PLAN, other])
    later = answers_to(guard, [calls({**READS[0], "id": "k9"})])[0]
    assert later["turn"] > 1 or other == {**PLAN, "steps": READS}
    assert later["action"] == "allow"


def test_a_plain_plan_is_carried_out_without_openings(tmp_path: Path) -> None:
    events = [
        *(opened(), {**PLAN, "steps": READS}),
        *(calls({**READS[1], "id": "k1"}, {**READS[0], "id": "k2"}), result("k1", WINDOW)),
        *(result("k2", ORDER), close()),
    ]
    with guard_of(log=tmp_path / "log") as guard:
        answers = answers_to(guard, events)
    assert (answers[2]["action"], answers[2]["turn"]) == ("allow", 1)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}


def test_a_shadow_opens_what_has_its_values_and_says_the_truth(tmp_path: Path) -> None:
    order = {"payment": {"id": "pay_8861", "amount_inr": 50001}}
    events = [opened(), TURN, *read_both(order), ready("c"), result("c", {"ok": True}), close()]
    with guard_of(log=tmp_path / "log", shadow=True) as guard:
        answers = answers_to(guard, events)
    assert answers[6]["action"] == "allow"
    assert answers[6]["args"] == {**SENT, "amount_inr": 50001}
    assert not answers[6]["verdict"]["ok"]
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}


def test_what_is_not_opened_spends_nothing() -> None:
    guard = guard_of(budget={"max_steps": 5, "bucket_tokens": 10**6})
    events = [opened(), TURN, ready("a"), result("a", ORDER), SAID]
    again = [{**one, "id": f"{one['id']}2"} for one in READS]
    answers_to(guard, [*events, calls(*again)])
    more = [{**READS[0], "id": f"x{at}"} for at in range(3)]
    answers = answers_to(guard, [calls(*more[:2]), calls(more[2])])
    assert [one["action"] for one in answers.values()] == ["allow", "refuse"]


ERRORS: dict[str, tuple[list[Json], str]] = {
    "twice": ([opened(), TURN, ready("a"), ready("a")], "/id"),
    "too early": ([opened(), TURN, ready("a"), ready("c")], "/id"),
    "plain": ([opened(), calls(*READS), ready("a")], "/id"),
    "refused": ([opened(), calls(*READS, {**PAY, "args": SENT}), ready("c")], "/id"),
    "an id that waits": ([opened(), TURN, calls(READS[0])], "/calls/0/id"),
    "of another list": ([opened(), calls(PAY)], ""),
    "no takes": ([opened(), calls({**READS[0], "takes": []})], "/calls/0/takes"),
    "after null": ([opened(), calls({**READS[0], "after": None})], "/calls/0/after"),
    "late false": ([opened(), TURN, answer(late=False)], "/late"),
    "the empty pointer": (
        [opened(), calls(*READS, {**PAY, "takes": [{**PAY["takes"][0], "arg": ""}]})],
        "/calls/2/takes/0/arg",
    ),
    "no steps": ([opened(), {**PLAN, "steps": []}], "/steps"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_an_event_out_of_place_is_an_error_and_uses_nothing_up(case: str) -> None:
    events, path = ERRORS[case]
    guard = guard_of()
    answers = answers_to(guard, events)
    assert answers[len(events) - 1]["error"]["path"] == path
    before = guard.export("s")
    assert before


def test_a_call_takes_nothing_of_a_tool_that_never_runs() -> None:
    other = {"id": "z", "tool": "no_tool", "args": {}}
    answers = answers_to(guard_of(), [opened(), calls(other, {**READS[0], "after": ["z"]})])
    assert (answers[1]["action"], answers[1]["verdict"]["kind"]) == ("refuse", "loop_guard")


def test_turns_in_order_need_late_plans() -> None:
    wire = late_policy().wire()
    wire["spec"].pop("late")
    wire["guard"]["turns"] = "ordered"
    with pytest.raises(ValueError, match="needs late"):
        build(Policy, wire)


def test_hostile_names_of_late_values_are_escaped_for_whoever_is_asked() -> None:
    spec = {"approval_required_from": "destructive"}
    bad = {**READS[0], "id": "a\u202e<b>"}
    pay = {**PAY, "takes": [{**PAY["takes"][0], "call": bad["id"]}], "after": [bad["id"], "b"]}
    answers = answers_to(guard_of(spec), [opened(), calls(bad, READS[1], pay)])
    ask = answers[1]["questions"][0]["ask"]
    assert "\u202e" not in ask
    assert "<b>" not in ask


def test_a_session_travels_between_any_two_events() -> None:
    """What is handed over between two events answers the next one as the session would."""
    events = [
        opened(),
        TURN,
        *read_both(),
        ready("c"),
        answer(),
        result("c", {"ok": True}),
        close(),
    ]
    for spec in ({}, VALUES):
        whole = answers_to(guard_of(spec), events)
        last, told = guard_of(spec), dict[int, Json]()
        for at, event in enumerate(events):
            named = event
            if event.get("plan_digest") == "$LAST":
                named = {**event, "plan_digest": told.get(6, {}).get("plan_digest", "0" * 64)}
            told |= {at + place: one for place, one in answers_to(last, [named]).items()}
            if at < len(events) - 1:
                data = last.export("s")
                last = guard_of(spec)
                last.resume(data)
        assert told == whole


def test_types_of_the_answers() -> None:
    guard = guard_of()
    guard.open("s", "Refund order ord_881", as_of=TIME)
    assert isinstance(guard.handle_line(b'{"event":"ready","session":"s","id":"a"}'), EventError)
    answers = answers_to(guard, [TURN])
    assert isinstance(build(Ruling, answers[0]), Ruling)
    opening = guard.ready("s", "a")
    assert isinstance(opening, OpeningRuling)
    assert bool(opening)
    assert not isinstance(opening.verdict, Refused)


SHELL: Json = {"id": "x", "tool": "Bash", "args": {"command": "rm -r build"}}


@pytest.mark.parametrize(
    "event", [calls(*READS, {**SHELL, "after": ["a"]}), {**PLAN, "steps": [SHELL]}]
)
def test_what_a_shell_command_does_waits_for_nothing(event: Json) -> None:
    """A command is read, and judged by what it does, when it is asked for: it is not opened."""
    answers = answers_to(shell_guard(), [opened(), event])
    assert "shell command" in answers[1]["error"]["message"]


def test_a_turn_with_a_shell_command_is_judged_as_it_stands() -> None:
    answers = answers_to(shell_guard(turns="ordered"), [opened(), calls(*READS, SHELL)])
    assert "conditions" not in answers[1]["verdict"]


def shell_guard(**settings: Any) -> Guard:
    wire = late_policy().wire()
    tool = {"adapter_id": "os", "capability_id": "bash", "name": "Bash", "shell": "command"}
    wire["tool"] = [*wire["tool"], {**tool, "approval_mode": "destructive"}]
    wire["shell"] = {"table": "common-1"}
    return Guard(build(Policy, {**wire, "guard": {**wire["guard"], **settings}}))


OTHER = {**READS[0], "id": "o"}
BESIDE: dict[str, list[Json]] = {
    "a text": [SAID],
    "a result of another turn": [calls(OTHER), result("o", ORDER)],
    "another turn that may run": [calls(OTHER)],
    "the same refund": [calls({"id": "p", "tool": "issue_refund", "args": SENT})],
}


@pytest.mark.parametrize("beside", BESIDE)
def test_a_turn_that_does_not_know_all_opens_nothing(beside: str) -> None:
    """Else one refund could be made twice: by a turn that was ruled on before the other."""
    seen = BESIDE[beside]
    answers = answers_to(guard_of(), [opened(), TURN, *read_both(), *seen, ready("c")])
    *_, last = answers.values()
    assert "did not see" in last["error"]["message"]


@pytest.mark.parametrize(("spent", "fits"), [(5000, False), (1, True)])
def test_what_a_call_of_another_turn_took_counts(spent: int, fits: bool) -> None:
    """It returned nothing, and spent more, or less, than was expected of it."""
    took = result("o", status="failed", tokens=spent)
    budget = {"budget": {"max_steps": 20, "bucket_tokens": 1000}}
    events = [opened(), calls(OTHER), TURN, *read_both(), took, ready("c")]
    *_, last = answers_to(guard_of(**budget), events).values()
    assert ("error" not in last and last["action"] == "allow") == fits
    early = [calls(*READS), result("a", ORDER), result("b", WINDOW), took]
    pay = calls({"id": "p", "tool": "issue_refund", "args": SENT})
    *_, asked = answers_to(guard_of(**budget), [opened(), calls(OTHER), *early, pay]).values()
    assert (asked["action"] == "allow") == fits


def test_what_the_calls_of_a_turn_took_ends_no_turn() -> None:
    took = [ready("a"), ready("b"), result("a", ORDER, tokens=9), result("b", WINDOW, tokens=0)]
    *_, last = answers_to(guard_of(), [opened(), TURN, *took, ready("c")]).values()
    assert last["action"] == "allow"


MAIL: list[Json] = [
    {"capability_id": "mails", "approval_mode": "read_only", "result": {"author": "public"}},
    {
        "capability_id": "extract",
        "approval_mode": "read_only",
        "result": {"author": "public", "derived": True},
    },
    {
        "capability_id": "send",
        "approval_mode": "network",
        "arg_roles": {"to": "recipient"},
        "arg_kinds": {"to": "address"},
    },
]


@pytest.mark.parametrize(
    ("tool", "args", "arg", "shown"),
    [
        ("mails", {}, "/to", "to"),
        ("extract", {"text": "x"}, "/to", "to"),
        ("mails", {"to": []}, "/to/0", "to[0]"),
        ("mails", {"to": {}}, "/to/name", "to.name"),
    ],
)
def test_a_late_value_that_is_doubted_is_named_by_where_it_comes_from(
    tool: str, args: Json, arg: str, shown: str
) -> None:
    wire = late_policy({"id": "s", "required_outputs": [], "provenance": "closed"}).wire()
    spec = {**wire["spec"], "late": "sources"}
    tools = [{"adapter_id": "app", **one} for one in MAIL]
    guard = Guard(build(Policy, {"guard": wire["guard"], "spec": spec, "tool": tools}))
    read = {"id": "m", "tool": tool, "args": {}}
    send = {"id": "x", "tool": "send", "args": args}
    take = {"arg": arg, "call": "m", "at": "/0/from"}
    begun = {**opened("Mail Bob"), "scope": ["mails", "extract", "send"]}
    answers = answers_to(guard, [begun, calls(read, {**send, "takes": [take]})])
    assert set(answers[1]["reply"].splitlines()) == {
        f'send not run: {shown} (what {tool} returns at "/0/from", call m) was not named by the '
        f"user. Ask the user for {shown}."
    }


def test_a_call_is_told_by_the_id_that_its_agent_gave_it() -> None:
    answers = answers_to(guard_of(), [opened(), calls({**READS[0], "after": ["a"]})])
    assert answers[1]["reply"] == (
        'lookup not run: it waits for "a", which does not come before it. Change the order.'
    )


def test_what_comes_of_the_values_of_a_call_is_told() -> None:
    twice = {**PAY, "id": "d", "args": {}}
    twice["takes"] = [*PAY["takes"], {"arg": "/id", "call": "a", "at": "/payment/id"}]
    turn = [opened(), calls(*READS, PAY, twice), *read_both(), ready("c"), ready("d")]
    *_, last = answers_to(guard_of(), turn).values()
    assert last["reply"] == (
        "issue_refund not run: with its values it is a call of this turn once more. Make it once."
    )
    nested: Any = "x"
    for _ in range(60):
        nested = [nested]
    deep = {**READS[1], "args": {"id": {"a": {"b": {"c": {"d": {}}}}}}, "id": "e"}
    deep["takes"] = [{"arg": "/id/a/b/c/d/e", "call": "a", "at": ""}]
    turn = [opened(), calls(READS[0], deep), ready("a"), result("a", nested), ready("e")]
    *_, last = answers_to(guard_of(), turn).values()
    assert last["reply"] == "refund_window not run: with its values its arguments nest too deep."


def test_of_two_turns_that_wait_one_makes_the_refund() -> None:
    names = {"a": "d", "b": "e", "c": "p"}
    take = {**PAY["takes"][0], "call": "d"}
    again = [{**READS[0], "id": "d"}, {**READS[1], "id": "e"}]
    pay = {**PAY, "id": "p", "takes": [take], "after": ["d", "e"]}
    for first, second in ((names.keys(), names.values()), (names.values(), names.keys())):
        order = [*map(ready, first), ready(next(iter(second)))]
        a, b, c, other = order
        outputs = [result(one["id"], out) for one, out in zip((a, b), (ORDER, WINDOW), strict=True)]
        events = [opened(), TURN, calls(*again, pay), a, b, *outputs, c, other]
        *_, made, late = answers_to(guard_of(), events).values()
        assert made["action"] == "allow"
        assert "did not see" in late["error"]["message"]


def test_a_turn_that_was_refused_changes_nothing_for_one_that_waits() -> None:
    refused = calls({"id": "p", "tool": "issue_refund", "args": {"id": "pay_1", "amount_inr": 5}})
    answers = answers_to(guard_of(), [opened(), TURN, *read_both(), refused, ready("c")])
    assert [one["action"] for one in answers.values()][-2:] == ["refuse", "allow"]


def test_a_plan_that_did_not_see_all_is_no_longer_carried_out() -> None:
    """A result of an earlier turn comes in while the plan is open: its next call is a new turn."""
    first, pay = {**READS[0], "id": "o"}, {"id": "p", "tool": "issue_refund", "args": SENT}
    lookups = [calls(READS[0]), calls(READS[1]), result("a", ORDER), result("b", WINDOW)]
    events = [opened(), calls(first), PLAN, *lookups]
    assert answers_to(guard_of(), [*events, calls(pay)])[len(events)]["action"] == "allow"
    late = answers_to(guard_of(), [*events, result("o", ORDER), calls(pay)])
    assert late[len(events) + 1]["turn"] == 3


UNLIKE: dict[str, Json] = {
    "cut": {"cut": True},
    "of another call": {"sent": {"tool": "lookup", "args": {"id": "ord_882"}}},
}


@pytest.mark.parametrize("fields", UNLIKE.values(), ids=UNLIKE)
def test_a_result_that_is_not_what_was_waited_for_ends_the_turn(fields: Json) -> None:
    events = [opened(), TURN, ready("a"), ready("b"), result("a", ORDER, **fields)]
    answers = answers_to(guard_of(), [*events, result("b", WINDOW), ready("c"), close()])
    assert "does not wait" in answers[6]["error"]["message"]
    assert answers[7]["status"] in ("partial", "refused_by_critic")


@pytest.mark.parametrize("beside", [*BESIDE, "a result that was cut"])
def test_a_shadow_stops_nothing_that_has_its_values(beside: str) -> None:
    lookups = read_both()
    if beside in BESIDE:
        lookups += BESIDE[beside]
    else:
        lookups[2] = {**lookups[2], "cut": True}
    answers = answers_to(guard_of(shadow=True), [opened(), TURN, *lookups, ready("c")])
    assert [*answers.values()][-1]["action"] == "allow"


UNKNOWN: Json = {"id": "u", "tool": "no_such_tool", "args": {"q": "x"}}


@pytest.mark.parametrize("at", range(5))
def test_a_shadow_lets_a_tool_that_the_policy_lacks_run_in_a_turn_that_waits(
    at: int, tmp_path: Path
) -> None:
    """Else a trial of a policy that lacks a tool would stop the calls beside it."""
    ran = [ready("u"), result("u", {"seen": "pay_8861"})]
    lookups = read_both()
    events = [opened(), calls(UNKNOWN, *READS, PAY), *lookups[:at], *ran, *lookups[at:], ready("c")]
    with guard_of(log=tmp_path / "log", shadow=True) as guard:
        answers = answers_to(guard, [*events, result("c", {"ok": True}), close()])
    assert [one for one in answers.values() if "error" in one] == []
    *_, pay, _ = answers.values()
    assert (pay["action"], pay["args"], pay["verdict"]["ok"]) == ("allow", SENT, True)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}
        assert check_log(log).text() == ""


def test_a_shadow_goes_on_after_another_call_than_was_opened(tmp_path: Path) -> None:
    sent = {"tool": "refund_window", "args": {"id": "ord_882"}}
    ran = [ready("o"), result("o", ORDER, sent=sent)]
    events = [opened(), calls({**READS[0], "id": "o"}, *READS, PAY), *ran, *read_both(), ready("c")]
    with guard_of(log=tmp_path / "log", shadow=True) as guard:
        answers = answers_to(guard, [*events, result("c", {"ok": True}), close()])
    assert [one for one in answers.values() if "error" in one] == []
    *_, pay, closed = answers.values()
    assert (pay["action"], pay["args"], pay["verdict"]["ok"]) == ("allow", SENT, True)
    assert closed["turns"][0]["policy"] == "fail"
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}


OTHERS: Json = {
    "of another tool": ("o", {"tool": "refund_window", "args": {"id": "ord_882"}}),
    "with other args": ("o", {"tool": "lookup", "args": {"id": "ord_882"}}),
    "of no tool": ("o", {"tool": "no_such_tool", "args": {"id": "ord_882"}}),
    "of another refund": ("c", {"tool": "issue_refund", "args": {**SENT, "amount_inr": 1}}),
    "of a refund": ("o", {"tool": "issue_refund", "args": SENT}),
}


@pytest.mark.parametrize("shadow", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_what_another_call_sent_and_spent_follows_from_its_record(
    name: str, shadow: bool, tmp_path: Path
) -> None:
    of, sent = OTHERS[name]
    events = [opened(), calls({**READS[0], "id": "o"}, *READS, PAY), ready("o"), *read_both()]
    ends = {one: result(one, {"ok": True}, **({"sent": sent} if one == of else {})) for one in "oc"}
    with guard_of(log=tmp_path / "log", shadow=shadow) as guard:
        answers_to(guard, [*events, ready("c"), *ends.values(), calls(READS[0]), close()])
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}
        assert check_log(log).text() == ""


@pytest.mark.parametrize("turn", [TURN, PLAN], ids=["in one turn", "carried out"])
def test_an_opened_call_told_as_what_was_sent_is_the_opened_call(
    turn: Json, tmp_path: Path
) -> None:
    """With the values that it took: its turn goes on, and its record replays."""
    pay = {"id": "c", "tool": "issue_refund", "args": SENT}
    opens = [ready("a"), ready("b"), ready("c")] if turn is TURN else [*map(calls, [*READS, pay])]

    def events(*made: Json) -> list[Json]:
        told = [{"sent": {name: one[name] for name in ("tool", "args")}} for one in made]
        given = zip("abc", (ORDER, WINDOW, {"ok": True}), told or [{}] * 3, strict=True)
        ends = [result(one, output, **more) for one, output, more in given]
        steps = [one for pair in zip(opens, ends, strict=True) for one in pair]
        return [opened(), turn, *steps, calls(READS[0]), close()]

    with guard_of(log=tmp_path / "log") as guard:
        answers = answers_to(
            guard, events(*READS, {**pay, "args": {**SENT, "amount_inr": 24500.0}})
        )
    assert answers == answers_to(guard_of(), events())
    with SqlDecisionLog.open(tmp_path / "log") as log:
        assert {one.status for one in replay(log)} == {"same"}
        assert check_log(log).text() == ""


def test_a_shadow_takes_nothing_from_another_call_than_was_opened() -> None:
    sent = {"tool": "refund_window", "args": {"id": "ord_881"}}
    ran = [ready("a"), ready("b"), result("a", ORDER, sent=sent), result("b", WINDOW)]
    *_, last = answers_to(guard_of(shadow=True), [opened(), TURN, *ran, ready("c")]).values()
    assert (last["action"], "args" in last) == ("refuse", False)
    assert last["verdict"]["violations"][0]["path"] == "/steps/2/takes/0"


def test_a_shadow_sends_nothing_that_takes_from_a_tool_that_the_policy_lacks() -> None:
    pay = {**PAY, "takes": [{**PAY["takes"][0], "call": "u"}], "after": ["u"]}
    events = [opened(), calls(UNKNOWN, pay), ready("u"), result("u", ORDER), ready("c")]
    *_, last = answers_to(guard_of(shadow=True), events).values()
    assert (last["action"], "args" in last) == ("refuse", False)
    assert last["verdict"]["violations"][0]["path"] == "/steps/1/takes/0"


@pytest.mark.parametrize("kind", ["calls", "plan"])
def test_effects_wait_for_the_reads_before_them_in_a_turn_and_in_a_plan(kind: str) -> None:
    plain = {name: PAY[name] for name in ("id", "tool")} | {"args": SENT}
    steps = [*READS, plain]
    asked = calls(*steps) if kind == "calls" else {**PLAN, "steps": steps}
    ways: list[tuple[Json, str]] = [({}, "refuse"), ({"turns": "ordered"}, "allow")]
    for turns, action in ways:
        assert answers_to(guard_of(**turns), [opened(), asked])[1]["action"] == action


def test_each_answer_to_an_opening_goes_along_while_its_turn_still_runs() -> None:
    guard = guard_of(VALUES)
    answers_to(guard, [opened()])
    for name, payment in (("1", "pay_1"), ("2", "pay_2")):
        ids = {one: f"{one}{name}" for one in "abcd"}
        pay = {**PAY, "id": ids["c"], "args": {"id": payment}, "after": [ids["a"], ids["b"]]}
        pay["takes"] = [{**PAY["takes"][0], "call": ids["a"]}]
        reads = [{**READS[0], "id": ids["a"]}, {**READS[1], "id": ids["b"]}]
        order = {"payment": {"id": payment, "amount_inr": 5}}
        events = [
            *(calls(*reads, pay, {**READS[0], "id": ids["d"]}), ready(ids["d"])),
            *(ready(ids["a"]), ready(ids["b"]), result(ids["a"], order)),
            *(result(ids["b"], {**WINDOW, "payment_id": payment}), ready(ids["c"]), answer(False)),
        ]
        *_, told = answers_to(guard, events).values()
        assert told["note"] == "denied by emma"
    state = json.loads(guard.export("s"))
    assert [one["turn"] for one in state["answered"]] == [1, 2]
    assert {one["answer"]["approver"] for one in state["answered"]} == {"emma"}
