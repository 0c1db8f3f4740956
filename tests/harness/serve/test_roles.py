"""Two kinds of token: an agent's opens sessions and speaks in its own, a person's says yes."""

import asyncio
import json
import threading
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest

from harness.clock import FixedClock
from harness.errors import UsageError
from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.serve import endpoints
from harness.serve.app import CriticApp
from harness.serve.bearer_tokens import BearerTokens
from harness.serve.endpoints import HOOK_TYPE, HOOKS
from harness.serve.openapi import request_examples
from harness.serve.request_limits import ServiceLimits
from tests.harness.console import Critic
from tests.harness.serve.asking import JSON, app_of, ask, event_path, serving
from tests.support.examples import good_proposal, is_safe
from tests.support.guarding import (
    ASKS,
    NO_PLAN,
    NOON,
    Json,
    answers_to,
    call,
    close,
    desk,
    open_,
    policy_of,
    result,
    yes,
)

AGENTS: Final = BearerTokens([b"agent", b"other"])
PEOPLE: Final = BearerTokens([b"person", b"second"])
EVENTS: Final = [
    call("list_mail"),
    result("x"),
    {"event": "said", "session": "s", "text": "pay iban-4712"},
    close(),
]
"""What an agent may send in a session of its own."""


def service(**settings: Any) -> CriticApp:
    """Return a service that tells people from agents."""
    given = {"tokens": AGENTS, "approvers": PEOPLE, "loopback_only": False, **settings}
    return app_of(desk(), **given)


def said(app: CriticApp, token: str, event: Json) -> Any:
    """Return the answer to an event that is sent with a token."""
    headers = {"authorization": f"Bearer {token}"}
    return ask(app, event_path(event["session"]), event, headers=headers)


def status_of(app: CriticApp, token: str, session: str = "s") -> Any:
    path = event_path(session).removesuffix("events") + "status"
    return ask(app, path, headers={"authorization": f"Bearer {token}"})


def asked(app: CriticApp) -> str:
    """Have an agent end up at a question, and return the digest of its plan."""
    *_, ruling = (said(app, "agent", event) for event in ASKS)
    assert ruling.json()["action"] == "ask"
    return str(ruling.json()["plan_digest"])


@pytest.mark.parametrize("agrees", [True, False])
def test_a_question_is_answered_by_people_alone(agrees: bool) -> None:
    app = service()
    digest = asked(app)
    answer = yes(digest=digest) | {"yes": agrees}
    for token in ("agent", "other"):
        refused = said(app, token, answer)
        assert refused.status_code == 403
        assert "--approvers" in refused.json()["error"]["message"]
        assert "action" not in refused.json()
    answered = said(app, "second", answer)
    assert answered.json()["action"] == ("allow" if agrees else "refuse")


def test_people_do_nothing_but_answer() -> None:
    app = service()
    asked(app)
    for event in (open_("t"), ASKS[-1], *EVENTS):
        refused = said(app, "person", event)
        assert (refused.status_code, refused.json()["error"]["path"]) == (403, "/event")
    assert status_of(app, "agent").json()["question"]


def without_name(answer: Any, name: str) -> tuple[int, Any, str]:
    headers = {key: value for key, value in answer.headers.items() if key != "content-length"}
    return answer.status_code, headers, answer.text.replace(name, "s")


@pytest.mark.parametrize("approvers", [PEOPLE, None])
def test_a_session_of_another_agent_is_like_none_at_all(approvers: BearerTokens | None) -> None:
    app = service(approvers=approvers)
    digest = asked(app)
    for event in (*EVENTS, ASKS[-1], yes(digest=digest), yes(digest=NO_PLAN)):
        foreign = said(app, "other", event)
        absent = said(app, "other", {**event, "session": "none"})
        assert without_name(foreign, "s") == without_name(absent, "none"), event
        assert foreign.status_code in (403, 409)
    foreign, absent = status_of(app, "other"), status_of(app, "other", "none")
    assert without_name(foreign, "s") == without_name(absent, "none")
    assert foreign.status_code == 404
    own = status_of(app, "agent").json()
    assert (own["turn"], own["question"]["plan_digest"]) == (2, digest)


def test_an_id_that_is_taken_cannot_be_opened_by_another_agent() -> None:
    app = service()
    assert said(app, "agent", open_()).status_code == 204
    own, foreign = said(app, "agent", open_()), said(app, "other", open_())
    assert (foreign.status_code, foreign.content) == (own.status_code, own.content)
    assert foreign.status_code == 409
    said(app, "agent", close())
    assert said(app, "other", open_()).status_code == 204
    assert said(app, "agent", EVENTS[0]).status_code == 409
    assert said(app, "other", EVENTS[0]).json()["action"] == "allow"


def test_that_a_session_ended_is_told_to_its_agent_and_to_people() -> None:
    now = [0.0]
    limits = ServiceLimits(idle_seconds=100)
    app = service(limits=limits, monotonic=lambda: now[0])
    digest = asked(app)
    now[0] += 100
    assert "is not open" in said(app, "other", EVENTS[0]).text
    assert "has ended" in said(app, "agent", EVENTS[0]).text
    assert "has ended" in said(app, "person", yes(digest=digest)).text
    assert status_of(app, "agent").status_code == 404
    assert said(app, "other", open_()).status_code == 204
    assert "is not open" in said(app, "agent", EVENTS[0]).text


def test_without_approvers_an_agent_answers_in_its_own_sessions() -> None:
    app = service(approvers=None)
    answer = yes(digest=asked(app))
    assert said(app, "other", answer).status_code == 409
    assert said(app, "person", answer).status_code == 401
    assert said(app, "agent", answer).json()["action"] == "allow"


def test_the_status_shows_people_the_question_and_the_agent_what_may_run() -> None:
    app = service()
    digest = asked(app)
    for token in ("person", "agent"):
        question = status_of(app, token).json()["question"]
        assert question["plan_digest"] == digest
        assert question["questions"][0]["args"] == {"iban": "iban-4711-22", "reason": "x"}
    assert status_of(app, "person").json().keys() == {"session", "question"}
    assert status_of(app, "agent").json()["awaited"] == []
    said(app, "person", yes(digest=digest))
    assert status_of(app, "person").json() == {"session": "s"}
    own = {"session": "s", "turn": 2, "has_halted": False, "awaited": ["c"]}
    assert status_of(app, "agent").json() == own
    assert ask(app, "/v1/sessions/s/status").status_code == 401


def approved_in(place: str) -> Json:
    """Return the context of a proposal that says that a person approved something."""
    value = {"value": "x", "role": "recipient", "tool": {}, "approval_mode": "network"}
    facts: dict[str, Json] = {
        "/approvals": {"approvals": [{"plan_digest": NO_PLAN}]},
        "/session/approved": {"session": {"id": "s", "turn": 1, "approved": [value]}},
        "/session/waived": {"session": {"id": "s", "turn": 1, "waived": [{}]}},
    }
    return {**good_proposal()["ctx"], **facts[place]}


@pytest.mark.parametrize("place", ["/approvals", "/session/approved", "/session/waived"])
def test_what_a_person_approved_is_not_taken_from_an_agent_in_a_document(place: str) -> None:
    app = service()
    proposal = {**good_proposal(), "ctx": approved_in(place)}
    run = {**request_examples()["/v1/score"]["a run"], "proposal": proposal}
    asked_of: list[tuple[str, Any, str]] = [
        ("/v1/verify", proposal, ""),
        ("/v1/score", run, "/proposal"),
        ("/v1/data/critic/verify", {"input": proposal}, ""),
        ("/v1/data/critic/score/ok", {"input": run}, "/proposal"),
        ("/v1/batch/data/critic/verify/ok", {"inputs": {"a": proposal}}, ""),
        (f"/v1/data/critic/verify/ok?input={quote(json.dumps(proposal))}", None, ""),
    ]
    for path, body, _ in asked_of:
        refused = ask(app, path, body, headers={"authorization": "Bearer agent"})
        told = refused.json().get("responses", {"": refused.json()}).popitem()[1]
        assert refused.status_code in (403, 207), path
        assert "--approvers" in json.dumps(told), path
        assert told.get("result") in (None, False, {"ok": False}), path
        assert "ok" not in told
        read = ask(app, path, body, headers={"authorization": "Bearer person"})
        assert "--approvers" not in read.text, path
        assert read.status_code in (200, 207, 400), path
    for path, body, at in asked_of[:2]:
        refused = ask(app, path, body, headers={"authorization": "Bearer agent"})
        assert refused.json()["error"]["path"] == f"{at}/ctx{place}"


def test_a_yes_to_an_opening_is_not_taken_from_an_agent_in_a_document() -> None:
    opening = {"step": 0, "after": 0, "verdict": {"ok": True, "reasons": [], "caveats": []}}
    run = {**request_examples()["/v1/score"]["a run"], "openings": [opening]}
    headers = {"authorization": "Bearer agent"}
    assert ask(service(), "/v1/score", run, headers=headers).status_code == 200
    given = {**opening, "approvals": [{"plan_digest": NO_PLAN}]}
    refused = ask(service(), "/v1/score", {**run, "openings": [given]}, headers=headers)
    assert (refused.status_code, refused.json()["error"]["path"]) == (403, "/openings/0/approvals")


def test_a_document_without_a_yes_is_judged_for_both() -> None:
    app = service()
    for token in ("agent", "person"):
        headers = {"authorization": f"Bearer {token}"}
        allowed: list[Json] = [{}, {"approvals": []}]
        for ctx in allowed:
            proposal = {**good_proposal(), "ctx": {**good_proposal()["ctx"], **ctx}}
            assert ask(app, "/v1/verify", proposal, headers=headers).json()["ok"] is True
        invalid: list[Any] = [None, 1, [], {"ctx": 1}, {"ctx": {"session": 1}}, {"proposal": []}]
        for body in invalid:
            answer = ask(app, "/v1/verify", json.dumps(body).encode(), headers=headers)
            assert answer.status_code == 400


def test_a_hook_is_not_answered_where_people_have_tokens_of_their_own() -> None:
    headers = {"authorization": "Bearer agent", "content-type": HOOK_TYPE}
    for approvers, status in ((None, 200), (PEOPLE, 404)):
        app = service(approvers=approvers, hooks=lambda data: data)
        assert ask(app, HOOKS, b"x", headers=headers).status_code == status


def test_a_session_goes_on_in_another_service_for_its_agent_alone(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        first, second = service(log=log), service(log=log)
        assert said(first, "agent", open_()).status_code == 204
        for other, one in ((second, "a"), (first, "b")):
            foreign = said(other, "other", call("list_mail", id=one))
            assert (foreign.status_code, foreign.json()["error"]["path"]) == (409, "/session")
            assert said(other, "agent", call("list_mail", id=one)).json()["action"] == "allow"
            assert status_of(other, "other").status_code == 404
            assert said(other, "other", open_()).status_code == 409


def test_a_session_stays_its_agents_whoever_answers_in_it(tmp_path: Path) -> None:
    """A service that finds it later knows it by who opened it, and not by who spoke last."""
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        first = service(log=log)
        agreed = said(first, "person", yes(digest=asked(first)))
        assert agreed.json()["action"] == "allow"
        later = service(log=log)
        assert status_of(later, "other").status_code == 404
        assert status_of(later, "agent").status_code == 200


@pytest.mark.parametrize("note", [None, '{"dialect":"codex"}', "abc", "A" * 64, " "])
def test_a_session_that_no_service_opened_is_nobodys(note: str | None, tmp_path: Path) -> None:
    """A program that holds a guard may keep its sessions in the same log, as hooks do."""
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        guard = Guard(policy_of(desk()), log=log, clock=FixedClock(NOON))
        answers_to(guard, ASKS)
        if note is not None:
            guard.keep_note("s", note)
        for token in ("agent", "person"):
            assert status_of(service(log=log), token).status_code == 404
        plain = app_of(desk(), log=log)
        assert ask(plain, event_path("s"), call("list_mail", id="m")).status_code == 409


def test_nobody_takes_a_session_over_by_opening_it_in_another_service(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        first, second = service(log=log), service(log=log)
        assert said(first, "agent", open_()).status_code == 204
        assert said(second, "other", open_()).status_code == 409
        words = {"event": "said", "session": "s", "text": "pay mallory@attacker.example"}
        assert said(second, "other", words).status_code == 409
        assert status_of(second, "other").status_code == 404
        assert status_of(second, "agent").status_code == 200


def test_nobody_speaks_in_a_session_that_another_service_opens_meanwhile(tmp_path: Path) -> None:
    """The open event of another agent finds no session yet, and then is the second one."""
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        first, second = service(log=log), service(log=log)

        events = iter([open_()])

        def look_too_early(*_: Any) -> None:
            for event in events:
                assert said(first, "agent", event).status_code == 204

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(endpoints, "_opener", look_too_early)
            assert said(second, "other", open_()).status_code == 409
        assert status_of(second, "other").status_code == 404
        assert status_of(second, "agent").status_code == 200


def test_an_answer_that_comes_too_late_leaves_the_session_with_its_agent() -> None:
    """The clock of the guard holds an event up until nobody waits for its answer any more."""
    go_on = threading.Event()

    class Held(FixedClock):
        def now(self) -> datetime:
            assert go_on.wait(30)
            return super().now()

    app = service(clock=Held(NOON), limits=ServiceLimits(seconds=0.05))

    async def answers() -> list[tuple[int, str]]:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:

            async def post(token: str, event: Json) -> tuple[int, str]:
                headers = {**JSON, "authorization": f"Bearer {token}"}
                answer = await client.post(event_path("s"), json=event, headers=headers)
                return answer.status_code, answer.text

            late = await post("agent", {**open_(), "as_of": "2026-05-09T12:00:00Z"})
            foreign = await post("other", open_())
            go_on.set()
            for _ in range(200):
                own = await post("agent", EVENTS[0])
                if own[0] != 409:
                    break
                await asyncio.sleep(0.01)
            return [late, foreign, await post("other", EVENTS[0]), own]

    late, foreign_open, foreign, own = asyncio.run(answers())
    assert (late[0], foreign_open[0], foreign[0], own[0]) == (503, 409, 409, 200)
    assert "is not open" in foreign[1]


@pytest.mark.parametrize(
    ("agents", "people", "words"),
    [
        (b"alpha\nbeta\n", b"# people\ngamma\nbeta\n", "give those who approve their own"),
        (None, b"gamma\n", "--approvers needs --tokens"),
        (b"alpha\n", b"", "no token in it"),
        (b"alpha\n", b"two words\n", "line 1: not a bearer token"),
        (b"alpha\n", None, "cannot read the tokens"),
    ],
)
def test_files_that_do_not_tell_people_from_agents_are_an_error(
    critic: Critic, tmp_path: Path, agents: bytes | None, people: bytes | None, words: str
) -> None:
    args: list[Any] = ["--approvers", tmp_path / "people", "--log", tmp_path / "log"]
    args += ["--socket", tmp_path / "none" / "socket"]  # it could not serve in any case
    for name, data in (("agents", agents), ("people", people)):
        if data is not None:
            (tmp_path / name).write_bytes(data)
            (tmp_path / name).chmod(0o600)
    if agents is not None:
        args += ["--tokens", tmp_path / "agents"]
    told = critic("serve", *args)
    assert (told.status, told.out) == (2, "")
    assert words in told.err
    assert is_safe(told.err.removesuffix("\n"))
    assert "beta" not in told.err
    assert not (tmp_path / "log").exists()


def test_a_program_that_mixes_them_up_is_told_so() -> None:
    for tokens, approvers in ((None, PEOPLE), (AGENTS, BearerTokens([b"x", b"other"]))):
        with pytest.raises(UsageError):
            app_of(desk(), tokens=tokens, approvers=approvers)


@pytest.mark.slow
def test_a_real_service_reads_its_files_once_and_says_whom_it_believes(tmp_path: Path) -> None:
    (tmp_path / "critic.json").write_text(json.dumps(desk()))
    for name in ("agents", "people"):
        (tmp_path / name).write_text(f"{name}-token\n")
        (tmp_path / name).chmod(0o600)
    args = ["--policy", "critic.json", "--port", "0", "--tokens", "agents"]
    with serving(*args, folder=tmp_path) as alike:
        assert alike.process.stdout is not None
        alike.process.terminate()
        line = alike.process.stdout.read()
    assert line.startswith("every token may approve: ")
    assert line.endswith("--approvers\n")
    with serving(*args, "--approvers", "people", folder=tmp_path) as apart, apart.client() as web:
        for name in ("agents", "people"):
            (tmp_path / name).replace(tmp_path / f"old-{name}")
            (tmp_path / name).write_text("later-token\n")

        def told(token: str, event: Json) -> Any:
            headers = {**JSON, "authorization": f"Bearer {token}"}
            body = json.dumps(event)
            return web.post(event_path("s"), content=body, headers=headers)

        *_, ruling = (told("agents-token", event) for event in ASKS)
        answer = yes(digest=ruling.json()["plan_digest"])
        seen = [told(token, answer).status_code for token in ("later-token", "agents-token")]
        assert seen == [401, 403]
        assert told("people-token", answer).json()["action"] == "allow"
        assert apart.stop() == (0, "", "")
