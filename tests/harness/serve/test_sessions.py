"""The events of sessions over HTTP: the rulings are those of the guard."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.serve.asking import JSON, app_of, ask, event_path, over_http, serving
from tests.support.examples import HOSTILE
from tests.support.guarding import ASKS, call, close, desk, differences, open_, result, streams, yes

STREAMS = [*streams("desk"), *streams("refunds")]


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


def test_an_event_of_another_session_than_that_of_the_path_changes_nothing() -> None:
    app = app_of(desk())
    answer = ask(app, event_path("t"), open_())
    assert (answer.status_code, answer.json()["error"]["path"]) == (400, "/session")
    assert ask(app, event_path("s"), call("list_mail")).status_code == 409
    assert ask(app, event_path("t"), call("list_mail", "t")).status_code == 409


def test_a_path_that_is_not_utf8_names_no_session() -> None:
    answer = ask(app_of(desk()), "/v1/sessions/%ff/events", {"event": "open", "request": "x"})
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


SESSIONS = 1000


async def _one_session(client: httpx.AsyncClient, number: int) -> list[Any]:
    name = f"s{number}"
    good = number % 2 == 0
    events = [
        open_(name),
        call("read_note", name, name="plan.md"),
        result(f"wire it to iban-{number}", name),
        call("transfer", name, iban=f"iban-{number if good else number + 1}", reason="x"),
        close(name),
    ]
    answers = []
    for event in events:
        answer = await client.post(event_path(name), content=json.dumps(event), headers=JSON)
        answers.append(answer.json() if answer.content else None)
    shown = [one and (one.get("action") or one["status"]) for one in answers]
    assert {one["session"] for one in answers if one} == {name}
    return [number, *shown]


async def _many(url: str) -> list[list[Any]]:
    limits = httpx.Limits(max_connections=200)
    async with httpx.AsyncClient(
        base_url=url, limits=limits, timeout=300, trust_env=False
    ) as client:
        return await asyncio.gather(*(_one_session(client, one) for one in range(SESSIONS)))


def test_a_thousand_sessions_at_once_are_each_answered_for_themselves(tmp_path: Path) -> None:
    policy = tmp_path / "critic.json"
    policy.write_text(json.dumps(desk()))
    with serving("--policy", policy, "--port", "0", folder=tmp_path) as service:
        answers = asyncio.run(_many(service.url))
        with service.client() as client:
            metrics = client.get("/metrics").text
        status, _, err = service.stop()
    assert (status, err) == (0, "")
    for number, *shown in answers:
        last = "ask" if number % 2 == 0 else "refuse"
        assert shown == [None, "allow", None, last, "completed"], number
    assert 'critic_rulings_total{action="allow"} 1000.0' in metrics
    assert "critic_open_sessions 0.0" in metrics
