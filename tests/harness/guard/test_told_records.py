"""What the records of a session tell, entry by entry: of which plan, by whom, and what began it.

One story is told in full. Its turns overlap and end out of order, questions lapse, are approved and
are denied, calls run that nobody ruled on, and some are left open at the end.
"""

from pathlib import Path
from typing import Any, Final

import pytest

from harness.audit.settlements import settle
from harness.guard.log_claims import id_claim
from harness.guard.session_journal import JournalPlace, claim_prefix
from harness.log import SqlDecisionLog
from harness.record import (
    BegunRecord,
    Decision,
    DecisionRecord,
    RunFacts,
    SessionClosedRecord,
    SettledRecord,
)
from harness.record.drafts import session_key
from harness.replay import replay
from tests.harness.guard.test_late_calls import (
    PAY,
    PLAN,
    READS,
    SAID,
    TURN,
    VALUES,
    answer,
    calls,
    read_both,
    ready,
)
from tests.harness.guard.test_late_calls import result as answered
from tests.harness.guard.test_late_travel import ASKED, BAD, CARRIED
from tests.harness.guard.test_recording import Kept
from tests.support.guarding import (
    NOON,
    Json,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    result,
    yes,
)
from tests.support.late_refund import ORDER, WINDOW, late_policy

DENIED: Final = "a person said no to this call in this session"
UNRULED: Final = "it ran, and no ruling allowed it"


def pay(id: str, end: int) -> Json:
    return call("transfer", id=id, iban=f"iban-4711-{end}", reason="x")


def ran(id: str) -> Json:
    return {**result("x", id=id), "sent": {"tool": "shred", "args": {"name": id}}}


MAIL: Final[Json] = {"id": "l", "tool": "list_mail", "args": {}}
STORY: Final[list[tuple[Json, list[str]]]] = [
    (open_(user="emma"), []),
    (call("read_note", id="a", name="plan.md"), ["allow a", "begun a"]),
    (call("list_mail", id="b"), ["allow b", "begun b"]),
    (result("none", id="b"), ["allow b, of begun b, completed"]),
    (result("iban-4711-22, iban-4711-23", id="a"), ["allow a, of begun a, completed"]),
    (pay("c", 22), ["ask c"]),
    (call("list_mail", id="d"), ["refuse c, lapsed", "allow d", "begun d"]),
    (call("list_mail", id="e"), ["allow e", "begun e"]),
    (pay("f", 22), ["ask f"]),
    (yes(approver="ada"), ["allow f, yes by ada", "begun f by turn/6/after/13"]),
    (result("done", id="f"), ["allow f, of begun f, completed"]),
    (result("q", id="e"), ["allow e, of begun e, completed"]),
    (ran("g"), [f"refuse g: {UNRULED}", f"refuse g, unknown: {UNRULED}"]),
    (pay("h", 23), ["ask h"]),
    (ran("i"), ["refuse h, lapsed", f"refuse i: {UNRULED}", f"refuse i, unknown: {UNRULED}"]),
    (pay("j", 23), ["ask j"]),
    ({**yes(approver="eve"), "yes": False}, ["refuse j, no by eve"]),
    (pay("k", 23), [f"refuse k: {DENIED}"]),
    ({"event": "said", "session": "s", "text": "Pay iban-4711-23 too"}, []),
    (
        {**call("list_mail", id="l"), "calls": [MAIL, pay("n", 23)["calls"][0]]},
        [f"refuse l: {DENIED}"],
    ),
    (call("list_mail", id="m"), ["allow m", "begun m"]),
    (close(), ["allow d, of begun d, unknown", "allow m, of begun m, unknown", "closed"]),
]
"""Each event, and what is recorded of it."""


class Told:
    """Says what an entry of a log tells, with plans named by their first call."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.begun: dict[str, str] = {}

    def say(self, record: Any, event: Json) -> str:
        if isinstance(record, SessionClosedRecord):
            return "closed"
        if isinstance(record, SettledRecord):
            self.begun[record.hash] = "what was settled"
            return "settled"
        plan = record.inputs.plan
        fresh = event["calls"][0]["id"] if "calls" in event else event.get("id", "?")
        name = self.names.setdefault(plan, fresh)
        if isinstance(record, BegunRecord):
            self.begun[record.hash] = f"begun {name}"
            used = "".join(f" by {one.approval_id}" for one in record.approvals or ())
            return f"begun {name}{used}"
        assert isinstance(record, DecisionRecord)
        said, answer = f"{record.action} {name}", record.answer
        if answer is not None:
            said += f", {answer.answer}" + (f" by {answer.approver}" if answer.approver else "")
        if record.begun is not None:
            said += f", of {self.begun[record.begun]}"
        if record.run is not None:
            said += "".join(f", {one.status}" for one in record.run.calls)
        return said + (f": {record.error}" if record.error else "")


@pytest.mark.parametrize(("count", "is_shortened"), [(1, False), (2, False), (2, True)])
def test_the_records_tell_the_story(
    count: int, is_shortened: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events come in at several guards in turn, and the records are the same.

    Where journals are shortened, each event is followed by the whole state of the session.
    """
    monkeypatch.setattr(JournalPlace, "is_long", is_shortened)
    told, seen = Told(), 0
    with SqlDecisionLog.open(tmp_path / "log") as log:
        guards = [guard_of(desk(max_questions=9), log=log) for _ in range(count)]
        digest = ""
        for number, (event, expected) in enumerate(STORY):
            given = {**event, "plan_digest": digest} if "plan_digest" in event else event
            answers = [*answers_to(guards[number % count], [given]).values()]
            digest = next((one["plan_digest"] for one in answers if "plan_digest" in one), digest)
            entries = [*log.entries()]
            assert [told.say(one, event) for one in entries[seen:]] == expected, event
            if len(entries) > seen and not is_shortened:
                first = len(entries) if event["event"] == "close" else seen + 1
                claims = [f"{claim_prefix(session_key('s'))}{number + 1:016}"]
                claims += [] if seen else [id_claim("s")]
                assert log.claims(claims) == dict.fromkeys(claims, first)
            seen = len(entries)
        assert {one.status for one in replay(log)} == {"same"}


def test_a_result_is_recorded_whatever_a_person_settled_and_no_knowledge_is_lost(
    tmp_path: Path,
) -> None:
    told = Told()
    with SqlDecisionLog.open(tmp_path / "log") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [open_()])
        for name in "abc":
            answers_to(guard, [call("list_mail", id=name)])
            [*_] = (told.say(one, {"id": name}) for one in log.entries())
        seen = log.head().seq
        for seq in (2, 4):
            settle(log, seq, outcome="ran", by="ada", because="the bank says so", now=NOON)
        answers_to(guard, [result("x", id="a"), close()])
        assert [told.say(one, {}) for one in [*log.entries()][seen:]] == [
            *("settled", "settled", "allow a, of what was settled, completed"),
            *("allow c, of begun c, unknown", "closed"),
        ]


def recorded(wire: Json, events: list[Json]) -> list[Decision]:
    log = Kept()
    answers_to(guard_of(wire, log=log), events)
    return log.decisions


def test_what_ran_after_a_halt_is_recorded_too() -> None:
    halted = [open_(), call("shred", id="h", name="x"), ran("g")]
    first, *more = recorded(desk(on_refusal="halt"), halted)
    assert (first.action, first.run) == ("refuse", None)
    assert [(one.action, one.error) for one in more] == [("refuse", UNRULED)] * 2
    assert [one.run is None for one in more] == [True, False]


@pytest.mark.parametrize(("asked", "sent"), [(1, True), (True, 1), (0, False), (1, 1.5), (1, "1")])
def test_a_call_that_was_sent_otherwise_is_recorded_as_it_was_sent(asked: Any, sent: Any) -> None:
    given = {"tool": "list_mail", "args": {"n": [sent]}}
    events = [open_(), call("list_mail", n=[asked]), {**result("x"), "sent": given}]
    run = recorded(desk(), events)[-1].run
    assert run is not None
    assert [(one.args, one.output, one.status) for one in run.calls] == [
        ({"n": [sent]}, None, "unknown")
    ]
    assert type(run.calls[0].args["n"][0]) is type(sent)


def late(events: list[Json], **settings: Any) -> list[Decision]:
    wire = late_policy(VALUES).wire()
    return recorded({**wire, "guard": {**wire["guard"], **settings}}, events)


def test_a_word_ends_a_plan_and_its_end_is_recorded_then() -> None:
    plan = [*CARRIED[:1], {**PLAN, "steps": [*READS, PAY]}]
    made = [calls(*READS), answered("a", ORDER), answered("b", WINDOW)]
    before, after = late([*plan, *made]), late([*plan, *made, SAID])
    assert len(after) == len(before) + 1
    run = after[-1].run
    assert run is not None
    assert [one.status for one in run.calls] == ["completed"] * 2


def test_what_went_on_after_a_refused_opening_is_no_allow() -> None:
    events = [*CARRIED[:1], TURN, *read_both(BAD), ready("c")]
    halted = late(events, on_refusal="halt")[-1]
    assert halted.run is not None
    assert len(halted.run.calls) == 2
    shadow = late([*events, answered("c", {"ok": True}), close()], shadow=True)[-1]
    assert shadow.run is not None
    assert (len(shadow.run.calls), shadow.action) == (3, "shadow")


@pytest.mark.parametrize("whom", [{}, {"user": "emma"}, {"tenant": "acme"}])
def test_a_session_is_recorded_for_those_alone_whom_it_is_opened_for(whom: Json) -> None:
    for more in ({}, {"tenant": "acme", **whom}):
        known = {**whom, **more}
        (ruled,) = recorded(desk(), [open_(**known), call("list_mail")])
        ctx = ruled.proposal.ctx
        assert (ctx.user_id, ctx.tenant_id) == (known.get("user"), known.get("tenant"))


def test_a_yes_to_an_opened_call_is_named_by_its_place_and_the_record_before_it() -> None:
    events = [*ASKED, answer(), answered("c", {"ok": True}), close()]
    for before in ([], [calls({**READS[0], "id": "z"}), answered("z", ORDER)]):
        found = late([ASKED[0], *before, *ASKED[1:], *events[len(ASKED) :]])
        turn, records = (1, 1) if not before else (2, 3)
        names = [
            given.approval_id
            for one in found
            if isinstance(one.run, RunFacts)
            for opening in one.run.openings or ()
            for given in opening.approvals or ()
        ]
        assert names == [f"turn/{turn}/step/2/after/{records}"]
