"""What expires holds up to its moment, and no longer: a microsecond before, at it and after it."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from evals.timestamps import format_time
from harness.guard import Guard
from harness.record import Decision
from tests.support.guarding import ASKS, answers_to, call, desk, guard_of, result, yes
from tests.support.late_refund import ORDER, SENT, WINDOW, late_policy

Json = dict[str, Any]

NOON: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)
END: Final = NOON + timedelta(seconds=60)
TICK: Final = timedelta(microseconds=1)
SIDES: Final = [
    pytest.param(END - TICK, True, id="before"),
    pytest.param(END, False, id="at"),
    pytest.param(END + TICK, False, id="after"),
]


def at(moment: datetime, event: Json) -> Json:
    return {**event, "as_of": format_time(moment)}


@pytest.mark.parametrize(("moment", "holds"), SIDES)
def test_an_approved_value_is_approved_until_its_moment(moment: datetime, holds: bool) -> None:
    """The value was read in a note of the public, so that a person is asked, and asked again."""
    guard = guard_of(desk(max_questions=9))
    said = {**yes(), "expires_at": format_time(END)}
    again = call("transfer", id="d", iban="iban-4711-22", reason="y")
    answers = answers_to(guard, [*ASKS, said, result({"ok": True}), at(moment, again)])
    assert [answers[3]["action"], answers[4]["action"]] == ["ask", "allow"]
    assert answers[6]["action"] == ("allow" if holds else "ask")


@pytest.mark.parametrize(("moment", "holds"), SIDES)
def test_a_value_that_is_approved_again_is_approved_until_the_later_moment(
    moment: datetime, holds: bool
) -> None:
    """It is asked about again once the first approval ended, here in another spelling."""
    lapsed = END - TICK * 2
    first, second = ({**yes(), "expires_at": format_time(until)} for until in (lapsed, END))
    pays = {"iban": "IBAN-4711-22", "reason": "y"}
    events = [
        *(*ASKS, first, result({"ok": True})),
        *(at(lapsed, call("transfer", **pays)), second, result({"ok": True})),
        at(moment, call("transfer", id="d", **pays)),
    ]
    answers = answers_to(guard_of(desk(max_questions=9)), events)
    assert [answers[number]["action"] for number in (3, 4, 6, 7)] == ["ask", "allow"] * 2
    assert answers[9]["action"] == ("allow" if holds else "ask")


@pytest.mark.parametrize(("moment", "holds"), SIDES)
def test_an_answer_is_taken_in_before_its_moment(moment: datetime, holds: bool) -> None:
    said = at(moment, {**yes(), "expires_at": format_time(END)})
    answers = answers_to(guard_of(desk(max_questions=9)), [*ASKS, said])
    assert answers[4].get("action") == ("allow" if holds else None)
    assert ("error" in answers[4]) is not holds


def orders() -> Json:
    """Return a shop whose refunds need the order, which is known for a minute, and the terms."""
    looked = {"adapter_id": "shop", "capability_id": "look", "approval_mode": "read_only"}
    refund = {"adapter_id": "shop", "capability_id": "refund", "approval_mode": "network"}
    return {
        "guard": {"safety_mode": "network"},
        "spec": {"id": "shop", "required_outputs": []},
        "tool": [
            {**looked, "yields": "order", "expires_after_s": 60},
            {**refund, "requires_evidence": ["order", "terms"]},
        ],
        "evidence": [{"id": "terms", "classification": "terms", "content": "30 days"}],
    }


class Log:
    """Keeps decisions."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> Any:
        self.decisions.append(decision)
        return type("Record", (), {"seq": len(self.decisions)})


def refunded(wire: Json, moment: datetime) -> tuple[Json, tuple[str, ...]]:
    """Return the ruling on a refund at a moment, and what it was pinned to."""
    log = Log()
    guard: Guard = guard_of(wire, log=log)
    opened = {"event": "open", "session": "s", "request": "Refund it"}
    events = [at(NOON, opened), call("look"), result({"id": "o-1"}), at(moment, call("refund"))]
    answers = answers_to(guard, events)
    step = log.decisions[-1].proposal.plan.steps[0]
    return answers[3], tuple(step.evidence_refs or ())


@pytest.mark.parametrize(("moment", "holds"), SIDES)
def test_a_result_is_pinned_until_its_moment(moment: datetime, holds: bool) -> None:
    ruling, refs = refunded(orders(), moment)
    assert ruling["action"] == ("allow" if holds else "refuse")
    assert refs == (("call/1", "terms") if holds else ("terms",))


@pytest.mark.parametrize(("moment", "holds"), SIDES)
def test_evidence_of_the_policy_is_pinned_until_its_moment(moment: datetime, holds: bool) -> None:
    wire = orders()
    wire["tool"][0].pop("expires_after_s")
    wire["evidence"][0]["expires_at"] = format_time(END)
    ruling, refs = refunded(wire, moment)
    assert ruling["action"] == ("allow" if holds else "refuse")
    assert (("terms" in refs), len(refs)) == (holds, 1 + holds)


class TestPlanThatIsCarriedOut:
    """A plan is carried out for as long as all that it was allowed by holds."""

    READS: Final[list[Json]] = [
        {"id": "a", "tool": "lookup", "args": {"id": "ord_881"}},
        {"id": "b", "tool": "refund_window", "args": {"id": "ord_881"}},
    ]
    PAY: Final[Json] = {"id": "c", "tool": "issue_refund", "args": SENT}
    FRESH: Final = NOON + timedelta(seconds=43_200)

    def carried_out(self, spec: Json, answer: Json | None, moment: datetime) -> Json:
        """Return the ruling on the refund, as the last call of a plan that was allowed at noon."""
        event: Json = {"session": "s"}
        calls = {**event, "event": "calls"}
        ended = {**event, "event": "result", "status": "completed"}
        events: list[Json] = [
            {**event, "event": "open", "request": "Refund order ord_881"},
            {**calls, "calls": self.READS},
            *({**ended, "id": "a", "output": ORDER}, {**ended, "id": "b", "output": WINDOW}),
            {**event, "event": "plan", "steps": [self.READS[0], self.PAY]},
            *(() if answer is None else ({**event, **answer},)),
            *(
                {**calls, "calls": [{**self.READS[0], "id": "d"}]},
                {**ended, "id": "d", "output": ORDER},
            ),
        ]
        last = at(moment, {**calls, "calls": [{**self.PAY, "id": "e"}]})
        at_noon = [at(NOON, one) for one in events]
        answers = answers_to(guard_of(late_policy(spec).wire()), [*at_noon, last])
        assert answers[len(events) - 2]["turn"] == 2, "the plan is carried out"
        return answers[len(events)]

    @pytest.mark.parametrize("side", [-TICK, TICK * 0, TICK])
    def test_no_longer_than_its_evidence_is_fresh(self, side: timedelta) -> None:
        answer = self.carried_out({}, None, self.FRESH + side)
        holds = side < TICK * 0
        assert (answer["turn"], answer["action"]) == ((2, "allow") if holds else (3, "refuse"))

    @pytest.mark.parametrize(("moment", "holds"), SIDES)
    def test_no_longer_than_somebody_said_yes_to_it(self, moment: datetime, holds: bool) -> None:
        yes_until = {"event": "answer", "plan_digest": "$LAST", "yes": True, "approver": "emma"}
        said = {**yes_until, "expires_at": format_time(END)}
        answer = self.carried_out({"approval_required_from": "destructive"}, said, moment)
        assert (answer["turn"], answer["action"]) == ((2, "allow") if holds else (3, "ask"))

    def test_a_result_that_expires_while_it_is_carried_out_ends_no_plan(self) -> None:
        """What was read after the plan was allowed gave it nothing."""
        event: Json = {"session": "s"}
        calls = {**event, "event": "calls"}
        ended = {**event, "event": "result", "status": "completed"}
        events: list[Json] = [
            {**event, "event": "open", "request": "Look order ord_881 up"},
            {**event, "event": "plan", "steps": self.READS},
            {**calls, "calls": [{**self.READS[0], "id": "d"}]},
            {**ended, "id": "d", "output": ORDER},
        ]
        last = at(self.FRESH, {**calls, "calls": [{**self.READS[1], "id": "e"}]})
        answers = answers_to(
            guard_of(late_policy().wire()), [*(at(NOON, one) for one in events), last]
        )
        assert answers[4]["turn"] == 1
