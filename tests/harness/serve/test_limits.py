"""Limits of size, time and number, and bodies that are not what they say they are."""

import asyncio
import json
import time
from typing import Any

import pytest

from harness.serve.request_limits import ServiceLimits
from tests.harness.serve.asking import app_of, ask, event_path
from tests.support.examples import HOSTILE, good_proposal
from tests.support.guarding import close, desk, open_

SMALL = ServiceLimits(max_bytes=1000)


@pytest.mark.parametrize("path", ["/v1/verify", "/access/v1/evaluation", "/v1/data/critic/score"])
def test_a_body_that_is_too_large_is_refused(path: str) -> None:
    app = app_of(desk(), limits=SMALL)
    for size, status in ((1000, 400), (1001, 413), (100_000, 413)):
        declared = ask(app, path, b" " * size)
        assert declared.status_code == status
        parts = [b" " * min(400, size - at) for at in range(0, size, 400)]
        assert asyncio.run(sent(app, *parts, path=path))["status"] == status
        if status == 413:
            assert declared.headers["connection"] == "close"
            assert "1000 bytes" in declared.text


def test_a_body_that_comes_too_slowly_is_given_up() -> None:
    app = app_of(limits=ServiceLimits(seconds=0.05))
    answer = asyncio.run(sent(app, b"{", b'"ctx"', pause=0.04, ends=False))
    assert answer["status"] == 408
    assert json.loads(answer["body"])["error"]["message"].startswith("the body did not arrive")


def scope_of(path: str) -> dict[str, Any]:
    headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
    rest = {"raw_path": b"", "query_string": b"", "scheme": "http", "root_path": ""}
    return {"type": "http", "method": "POST", "path": path, "headers": headers, **rest}


async def sent(
    app: Any, *parts: bytes, path: str = "/v1/verify", pause: float = 0, ends: bool = True
) -> dict[str, Any]:
    """Send a body in pieces, and return the status and the body of the answer."""
    more = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
    waiting = [*more, {"type": "http.request", "body": b"", "more_body": False}] if ends else more
    answer: dict[str, Any] = {}

    async def receive() -> Any:
        await asyncio.sleep(pause if waiting else 10)
        return waiting.pop(0)

    async def send(message: Any) -> None:
        answer.update({name: message[name] for name in ("status", "body") if name in message})

    await app(scope_of(path), receive, send)
    return answer


def test_a_client_that_leaves_is_not_answered() -> None:
    answers: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        answers.append(message)

    asyncio.run(app_of()(scope_of("/v1/verify"), receive, send))
    assert answers == []


def test_too_many_at_once_are_told_to_come_again() -> None:
    app = app_of(limits=ServiceLimits(requests=2, seconds=0.3))

    async def all_at_once() -> Any:
        return await asyncio.gather(*(sent(app, b"{", pause=0.01, ends=False) for _ in range(5)))

    assert sorted(one["status"] for one in asyncio.run(all_at_once())) == [408, 408, 503, 503, 503]
    assert ask(app, "/v1/verify", good_proposal()).status_code == 200


def test_too_many_bytes_at_once_are_told_to_come_again() -> None:
    app = app_of(limits=ServiceLimits(max_bytes=1000, seconds=0.3))

    async def all_at_once() -> Any:
        return await asyncio.gather(
            *(sent(app, b" " * 999, pause=0.01, ends=False) for _ in range(20))
        )

    statuses = [one["status"] for one in asyncio.run(all_at_once())]
    assert (statuses.count(408), statuses.count(503)) == (8, 12)
    assert ask(app, "/v1/verify", b" " * 999).status_code == 400


def test_there_are_only_so_many_sessions() -> None:
    app = app_of(desk(), limits=ServiceLimits(sessions=2))
    assert ask(app, event_path("a"), open_("a")).status_code == 204
    assert ask(app, event_path("a"), open_("a")).status_code == 409
    assert ask(app, event_path("b"), open_("b")).status_code == 204
    third = ask(app, event_path("c"), open_("c"))
    assert third.status_code == 429
    assert "--max-sessions" in third.json()["error"]["message"]
    assert ask(app, event_path("a"), close("a")).status_code == 200
    assert ask(app, event_path("c"), open_("c")).status_code == 204
    assert "critic_open_sessions 2.0" in ask(app, "/metrics").text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"content-type": "application/json; charset=utf-8"}, 200),
        ({"content-type": "Application/JSON"}, 200),
        *(({"content-type": kind}, 415) for kind in ("", "text/json", "application/jsonp", "a")),
        ({"content-encoding": "gzip"}, 415),
        ({"content-encoding": "identity"}, 200),
    ],
)
def test_a_body_is_json_and_nothing_else(headers: Any, status: int) -> None:
    answer = ask(app_of(), "/v1/verify", good_proposal(), headers=headers)
    assert answer.status_code == status


DEEP = b"[" * 100_000
DOUBLED = b'{"ctx":{},"ctx":{}}'
BODIES = [
    *(b"", b" ", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf{}", b"{} {}", b"nul", b"NaN", b"1e999"),
    *(DEEP, DOUBLED, b'{"\\ud800":1}', b'"' + b"\\u0000" * 50, b'{"a":' + b"9" * 5000 + b"}"),
    json.dumps({HOSTILE: HOSTILE, "ctx": {HOSTILE: 1}, "plan": HOSTILE}).encode(),
    json.dumps({"event": HOSTILE, "session": HOSTILE, "input": {HOSTILE: HOSTILE}}).encode(),
]
PATHS = [
    *("/v1/verify", "/v1/score", "/v1/consolidate", "/v1/sessions/s/events"),
    *("/access/v1/evaluation", "/access/v1/evaluations"),
    *("/v1/data/critic/verify", "/v1/batch/data/critic/score"),
]


@pytest.mark.parametrize("path", PATHS)
def test_a_hostile_body_is_answered_by_where_it_is_wrong(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = app_of(desk())
    for body in BODIES:
        answer = ask(app, path, body)
        assert answer.status_code in (400, 409), body[:40]
        assert answer.text.isascii()
        assert answer.text.isprintable()
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-type"] == "application/json"
        assert not answer.json().get("decision")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/verify/", "/v1/verify/ok", f"/{HOSTILE[:3]}"])
def test_what_is_not_served_is_not_found(path: str) -> None:
    quoted = path.replace("\x1b", "%1b")
    for answer in (ask(app_of(), quoted), ask(app_of(), quoted, {})):
        assert answer.status_code in (404, 405)
        assert answer.text.isprintable()


def test_another_method_is_told_which_there_is() -> None:
    for path, allowed in (("/v1/verify", "POST"), ("/healthz", "GET"), ("/metrics", "GET")):
        answer = ask(app_of(), path, method="PUT")
        assert answer.status_code == 405
        assert allowed in answer.headers["allow"]
    data = ask(app_of(), "/v1/data/critic/verify", method="DELETE")
    assert {"GET", "POST"} <= set(data.headers["allow"].split(", "))


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "identity, gzip", "", "x-identity"])
def test_no_coding_of_a_body_is_read_whatever_its_name(coding: str) -> None:
    headers = {"content-encoding": coding}
    assert ask(app_of(), "/v1/verify", good_proposal(), headers=headers).status_code == 415


@pytest.mark.parametrize("declared", [b"-1", b"1e3", b"0x10", b"12 ", b"", b"1001", b"9" * 99])
def test_a_size_that_is_no_number_or_over_the_limit_is_not_waited_for(declared: bytes) -> None:
    answer: list[Any] = []

    async def receive() -> Any:
        raise AssertionError("its body is not read")

    async def send(message: Any) -> None:
        answer.append(message)

    scope = scope_of("/v1/verify")
    scope["headers"].append((b"content-length", declared))
    asyncio.run(app_of(limits=SMALL)(scope, receive, send))
    assert answer[0]["status"] == 413


def test_what_took_too_long_is_counted_as_that() -> None:
    class Slow:
        def append(self, _decision: Any) -> Any:
            time.sleep(0.03)

    app = app_of(log=Slow(), limits=ServiceLimits(seconds=0.01))
    for count in (1, 2):
        assert ask(app, "/v1/verify", good_proposal()).status_code == 503
        text = ask(app, "/metrics").text
        assert f'critic_errors_total{{kind="timeout"}} {count}.0' in text
        assert 'critic_errors_total{kind="internal"} 0.0' in text
    app.close()
