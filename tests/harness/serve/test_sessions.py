"""The events of sessions over HTTP: the rulings are those of the guard."""

import asyncio
import json
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from harness.log import SqlDecisionLog
from harness.replay import replay
from tests.harness.serve.asking import JSON, app_of, ask, event_path, over_http, serving
from tests.support.examples import HOSTILE
from tests.support.guarding import ASKS, Json, call, close, desk, differences, open_, streams, yes
from tests.support.late_refund import ORDER, SENT, WINDOW, late_policy

STREAMS = [*streams("desk"), *streams("refunds")]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("part", range(4))
def test_each_event_is_answered_as_by_a_guard(part: int) -> None:
    for case in STREAMS[part::4]:
        assert differences(case, over_http) == [], case["title"]


def test_the_session_may_be_left_to_the_path() -> None:
    app, name = app_of(desk()), f"a/b {HOSTILE} events/é"
    for event in (open_(), call("list_mail")):
        del event["session"]
        answer = ask(app, event_path(name), event)
    assert (answer.status_code, answer.json()["action"]) == (200, "allow")
    assert answer.json()["session"] == name
    assert answer.text.isascii()
    assert answer.text.isprintable()


NEAR: Final = [("s", "t"), ("s", "S"), ("s", "s "), ("st", "s"), ("s", "st"), ("\xe9", "e\u0301")]
"""Names of two sessions."""


@pytest.mark.parametrize(("named", "told"), NEAR)
def test_an_event_of_another_session_than_that_of_the_path_changes_nothing(
    named: str, told: str
) -> None:
    app = app_of(desk())
    answer = ask(app, event_path(named), open_(told))
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "/session")
    for name in (named, told):
        assert ask(app, event_path(name), call("list_mail", name)).status_code == 409


@pytest.mark.parametrize("name", ["%ff", "s%ff", "s%ffs"])
def test_a_path_that_is_not_utf8_names_no_session(name: str) -> None:
    answer = ask(app_of(desk()), f"/v1/sessions/{name}/events", {"event": "open", "request": "x"})
    assert answer.status_code == 400


def test_an_event_in_the_wrong_place_is_a_conflict_and_says_why() -> None:
    app = app_of(desk())
    ask(app, event_path("s"), open_())
    again = ask(app, event_path("s"), open_())
    assert again.status_code == 409
    assert again.json()["session"] == "s"
    assert "open already" in again.json()["error"]["message"]


def test_a_question_is_answered_over_http() -> None:
    app = app_of(desk())
    *_, asked = (ask(app, event_path("s"), event) for event in ASKS)
    ruling = asked.json()
    assert (ruling["action"], len(ruling["questions"])) == ("ask", 1)
    answered = ask(app, event_path("s"), yes(digest=ruling["plan_digest"]))
    assert answered.json()["action"] == "allow"
    report = ask(app, event_path("s"), close())
    assert (report.status_code, report.json()["status"]) == (200, "completed")


def test_without_a_policy_there_are_no_sessions() -> None:
    answer = ask(app_of(), event_path("s"), open_())
    assert answer.status_code == 404
    assert "--policy" in answer.json()["error"]["message"]


SESSIONS, CONNECTIONS = 1000, 50


def asked_in(number: int) -> list[Any]:
    """Return the events of one of many sessions. Every other asks for a value that it never saw."""
    name, named = f"s{number}", number + number % 2
    return [
        open_(name, f"Do the transfer to iban-{number}"),
        call("transfer", name, iban=f"iban-{named}", reason="x"),
        close(name),
    ]


async def all_answers(url: str) -> list[list[Any]]:
    """Send the first event of each session, then the second of each ...: all are open at once."""
    room = asyncio.Semaphore(CONNECTIONS)

    async def post(client: httpx.AsyncClient, event: Any) -> Any:
        async with room:
            path, body = event_path(event["session"]), json.dumps(event)
            answer = await client.post(path, content=body, headers=JSON)
        wire = answer.json() if answer.content else None
        assert wire is None or wire["session"] == event["session"]
        return wire and (wire.get("action") or wire["status"])

    async with httpx.AsyncClient(base_url=url, timeout=300, trust_env=False) as client:
        sessions = [asked_in(number) for number in range(SESSIONS)]
        turns = [
            await asyncio.gather(*(post(client, events[turn]) for events in sessions))
            for turn in range(len(sessions[0]))
        ]
    return [list(answers) for answers in zip(*turns, strict=True)]


@pytest.mark.long
@pytest.mark.slow
def test_a_thousand_sessions_at_once_are_each_answered_for_themselves(tmp_path: Path) -> None:
    policy = tmp_path / "critic.json"
    policy.write_text(json.dumps(desk()))
    with serving("--policy", policy, "--port", "0", folder=tmp_path) as service:
        answers = asyncio.run(all_answers(service.url))
        with service.client() as client:
            metrics = client.get("/metrics").text
        status, _, err = service.stop()
    assert (status, err) == (0, "")
    for number, shown in enumerate(answers):
        assert shown == [None, "refuse" if number % 2 else "allow", "completed"], number
    assert 'critic_rulings_total{action="allow",kind="ok"} 500.0' in metrics
    assert 'critic_rulings_total{action="refuse",kind="missing_evidence"} 500.0' in metrics
    assert "critic_open_sessions 0.0" in metrics


def test_calls_that_wait_for_one_another_are_opened_over_http(tmp_path: Path) -> None:
    read = {"tool": "lookup", "args": {"id": "ord_881"}}
    window = {"tool": "refund_window", "args": {"id": "ord_881"}}
    takes = [{"arg": "/amount_inr", "call": "a", "at": "/payment/amount_inr"}]
    pay = {"id": "c", "tool": "issue_refund", "args": {"id": "pay_8861"}, "takes": takes}
    calls = [{**read, "id": "a"}, {**window, "id": "b"}, {**pay, "after": ["a", "b"]}]
    events: list[Json] = [
        {"event": "open", "request": "Refund order ord_881"},
        {"event": "calls", "calls": calls},
        *({"event": "ready", "id": name} for name in "ab"),
        {"event": "result", "id": "a", "status": "completed", "output": ORDER},
        {"event": "result", "id": "b", "status": "completed", "output": WINDOW},
        {"event": "ready", "id": "c"},
        {"event": "result", "id": "c", "status": "completed", "output": {}},
    ]
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        app = app_of(late_policy().wire(), log=log)
        told = [ask(app, event_path("s"), event) for event in events]
        assert {one.status_code for one in told} == {200, 204}
        assert told[6].json()["args"] == SENT
        assert {one.status for one in replay(log)} == {"same"}
