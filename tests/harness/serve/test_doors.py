"""Beside each door of a service: names near it, strangers before it, and answers that break off."""

import asyncio
import json
import socket
import threading
from typing import Any, Final

import pytest

from harness.record import Decision
from harness.serve import app as app_module
from harness.serve.app import CriticApp, serve
from harness.serve.bearer_tokens import BearerTokens
from harness.serve.request_limits import ServiceLimits
from harness.serve.service import ServiceSettings
from tests.harness.serve.asking import app_of, ask, event_path
from tests.harness.serve.test_failures import ASKED
from tests.harness.serve.test_limits import scope_of
from tests.harness.serve.test_tokens import OPEN
from tests.support.examples import good_proposal, good_run, refused_proposal
from tests.support.guarding import Json, call, close, desk, open_, policy_of, result

TOKENS: Final = BearerTokens([b"agent"])
TOLD: Final = {"authorization": "Bearer agent"}
DATA: Final = "/v1/data/critic"


class Kept:
    """Keeps decisions, and the threads that they came in."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.threads: list[threading.Thread] = []

    def append(self, decision: Decision) -> Any:
        self.decisions.append(decision)
        self.threads.append(threading.current_thread())
        return type("Record", (), {"seq": len(self.decisions)})


@pytest.mark.parametrize("path", OPEN)
def test_only_the_open_doors_themselves_are_open(path: str) -> None:
    app = app_of(desk(), tokens=TOKENS)
    assert ask(app, path).status_code == 200
    for near in (f"{path}/", f"{path}x", f"{path}/x", path[:-2], path.upper(), f"/{path}"):
        assert ask(app, near).status_code == 401, near


def test_a_stranger_takes_no_room_and_learns_of_none() -> None:
    app = app_of(desk(), tokens=TOKENS, limits=ServiceLimits(requests=0))
    assert ask(app, "/v1/verify", good_proposal()).status_code == 401
    assert ask(app, "/v1/verify", good_proposal(), headers=TOLD).status_code == 503
    assert "critic_requests_in_progress 0.0" in app._context.metrics.text().decode()


IDS: Final = (b"r-17", b"a b", b"~", b"x" * 256)
STRANGE: Final = (b"", b"x" * 257, b"a\x1b[2J", b"\x7f", b"a\tb", b"\xe9", b"\x85")


def headers_of(app: CriticApp, *ids: bytes) -> list[bytes]:
    """Return the ids that come back with an answer to a request that has some."""
    found: list[Any] = []

    async def send(message: Any) -> None:
        found.extend(message.get("headers", ()))

    async def receive() -> Any:
        raise AssertionError

    given = [(b"host", b"localhost"), *((b"x-request-id", one) for one in ids)]
    scope = {**scope_of("/healthz"), "method": "GET", "headers": given}
    asyncio.run(app(scope, receive, send))
    return [value for name, value in found if name == b"x-request-id"]


def test_the_id_of_a_request_comes_back_if_it_has_one_that_can_be_printed() -> None:
    app = app_of()
    for one in IDS:
        assert headers_of(app, one) == [one]
        assert headers_of(app, one, one) == []
        assert headers_of(app, one, b"other") == []
    assert [headers_of(app, one) for one in STRANGE] == [[]] * len(STRANGE)


def test_an_answer_that_broke_off_is_not_followed_by_another() -> None:
    sent: list[str] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])
        if message["type"] == "http.response.body":
            raise RuntimeError("the connection is gone")

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    app = app_of()
    with pytest.raises(RuntimeError, match="is gone"):
        asyncio.run(app({**scope_of("/healthz"), "method": "GET"}, receive, send))
    assert sent == ["http.response.start", "http.response.body"]
    assert ask(app, "/healthz").status_code == 200


def test_what_failed_is_told_by_its_route_and_not_by_what_was_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("oh")

    app = app_of(desk())
    monkeypatch.setattr(app._sessions._guard, "status", fail)
    assert ask(app, event_path("s"), open_()).status_code == 204
    assert ask(app, "/v1/sessions/s/status").status_code == 500
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("critic: /v1/sessions/{session:any_text}/status: ")


def test_requests_are_counted_by_the_first_name_of_their_door() -> None:
    app = app_of()
    doors = {"/health": "/health", "/health/live": "/health", "/healthz": "/healthz"}
    for path in doors:
        ask(app, path)
    ask(app, "/none")
    text = app._context.metrics.text().decode()
    counts = {"/health": 2, "/healthz": 1}
    for route, count in counts.items():
        assert f'critic_requests_total{{route="{route}",status="200"}} {count}.0' in text
    assert 'critic_requests_total{route="none",status="404"} 1.0' in text
    assert 'route="/health/live"' not in text


@pytest.mark.parametrize(
    ("tokens", "approvers"), [(None, None), (TOKENS, None), (TOKENS, BearerTokens([b"person"]))]
)
def test_a_service_says_that_every_token_may_approve_where_that_is_so(
    tokens: Any, approvers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []

    def run(*_: Any, note: str, **_how: Any) -> int:
        notes.append(note)
        return 0

    monkeypatch.setattr(app_module, "run_app", run)
    settings = ServiceSettings(policy=policy_of(desk()), tokens=tokens, approvers=approvers)
    with socket.socket() as bound:
        assert serve(settings, bound) == 0
    assert ["every token may approve" in one for one in notes] == [
        tokens is not None and approvers is None
    ]


def test_a_query_of_two_inputs_decides_nothing_whatever_they_are() -> None:
    good, bad = (json.dumps(one) for one in (good_proposal(), refused_proposal()))
    for inputs in ([good, good], [good, bad], [bad, good]):
        for path, no in (("verify", {"ok": False}), ("verify/ok", False)):
            answer = ask(app_of(), f"{DATA}/{path}", params={"input": inputs})
            assert (answer.status_code, answer.json()["result"]) == (400, no)


def test_what_is_recorded_is_judged_beside_the_loop_that_answers_all_others() -> None:
    """A disk may be slow: nobody else waits for it."""
    log = Kept()
    app = app_of(desk(), log=log)
    query = {"params": {"input": json.dumps(good_proposal())}}
    doors: list[tuple[str, Any, Json]] = [*((path, body, {}) for path, body in ASKED)]
    doors += [(f"{DATA}/verify", None, query)]
    doors += [(event_path("s"), event, {}) for event in (open_(), call("list_mail"))]
    doors += [(event_path("s"), event, {}) for event in (result("x"), close())]
    silent = []
    for path, body, how in doors:
        before = len(log.threads)
        assert ask(app, path, body, **how).status_code in (200, 204), path
        if len(log.threads) == before:
            silent.append(path)
    assert silent == [event_path("s")] * 2  # an opening, and the end of nothing
    assert threading.main_thread() not in log.threads
    app.close()


def test_verdicts_are_counted_by_what_they_are_of_and_their_kind() -> None:
    app = app_of()
    verdict = ask(app, "/v1/verify", refused_proposal()).json()
    for path, body in (("verify", good_proposal()), ("verify", refused_proposal())):
        ask(app, f"/v1/{path}", body)
        ask(app, f"{DATA}/{path}", {"input": body})
    ask(app, "/v1/score", good_run())
    text = app._context.metrics.text().decode()
    counts = {("verify", "ok"): 2, ("verify", verdict["kind"]): 3, ("score", "ok"): 1}
    found = [one for one in text.splitlines() if one.startswith("critic_verdicts_total")]
    assert sorted(found) == sorted(
        f'critic_verdicts_total{{of="{of}",verdict="{kind}"}} {count}.0'
        for (of, kind), count in counts.items()
    )
