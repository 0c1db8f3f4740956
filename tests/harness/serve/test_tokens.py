"""Who may ask: bearer tokens from a file, and without any those on this machine."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.serve.bearer_tokens import BearerTokens, read_tokens
from tests.harness.serve.asking import app_of, ask
from tests.support.examples import HOSTILE, good_proposal, is_safe
from tests.support.guarding import desk

TOKENS = b"# of the team\n\nalpha-token==\r\n  beta.token_2  \n"
CLOSED = ("/v1/verify", "/access/v1/evaluation", "/v1/data/critic/verify/ok", "/metrics", "/none")
OPEN = ("/healthz", "/readyz", "/openapi.json", "/.well-known/authzen-configuration")


@pytest.fixture
def tokens(tmp_path: Path) -> BearerTokens:
    return read_tokens(str(file_of(tmp_path, TOKENS)))


def file_of(folder: Path, data: bytes, mode: int = 0o600) -> Path:
    path = folder / "tokens"
    path.write_bytes(data)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    "header",
    ["Bearer alpha-token==", "bearer beta.token_2", "BEARER   alpha-token== "],
)
def test_each_token_of_the_file_may_ask(tokens: BearerTokens, header: str) -> None:
    app = app_of(tokens=tokens, loopback_only=False)
    headers = {"authorization": header, "host": "critic.example.org"}
    assert ask(app, "/v1/verify", good_proposal(), headers=headers).status_code == 200


@pytest.mark.parametrize(
    "given",
    [
        *([], [b""], [b"Bearer"], [b"Bearer "], [b"Bearer x"], [b"alpha-token=="]),
        *([b"Basic alpha-token=="], [b"Bearer alpha-token"], [b"Bearer alpha-token== x"]),
        *([b"Bearer # of the team"], [b"Bearer alpha-token==\xff"]),
        [b"Bearer alpha-token==", b"Bearer alpha-token=="],
    ],
)
def test_nobody_else_may(tokens: BearerTokens, given: list[bytes]) -> None:
    assert not tokens.accept([(b"authorization", value) for value in given])


def test_without_a_token_nothing_is_answered_but_what_decides_nothing(
    tokens: BearerTokens,
) -> None:
    app = app_of(desk(), tokens=tokens)
    for path in CLOSED:
        answer = ask(app, path, good_proposal())
        assert answer.status_code == 401, path
        assert answer.headers["www-authenticate"] == "Bearer"
        assert not answer.json().get("decision")
        assert not answer.json().get("result")
    assert [ask(app, path).status_code for path in OPEN] == [200] * len(OPEN)


@pytest.mark.parametrize(
    ("data", "mode", "words"),
    [
        (b"", 0o600, "no token in it"),
        (b"# none\n \n", 0o600, "no token in it"),
        (b"two words\n", 0o600, "line 1: not a bearer token"),
        ("\n\nprivé\n".encode(), 0o600, "line 3: not a bearer token"),
        (b"x" * (1024 * 1024 + 1), 0o600, "over 1 MiB"),
        *((TOKENS, mode, "chmod 600") for mode in (0o644, 0o604, 0o602, 0o601, 0o620)),
    ],
)
def test_a_file_that_grants_too_much_or_nothing_is_an_error(
    tmp_path: Path, data: bytes, mode: int, words: str
) -> None:
    path = file_of(tmp_path, data, mode)
    with pytest.raises(UsageError, match=words) as caught:
        read_tokens(str(path))
    assert is_safe(str(caught.value))
    assert "two words" not in str(caught.value)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    for name in (tmp_path / "none", tmp_path / HOSTILE.replace("/", ""), tmp_path, os.devnull):
        with pytest.raises(UsageError) as caught:
            read_tokens(str(name))
        assert is_safe(str(caught.value))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("127.0.0.1:8470", 200), ("127.0.0.9", 200), ("localhost:1", 200), ("[::1]:8470", 200)),
        *(("critic.example.org", 421), ("127.0.0.1.example.org", 421), ("10.0.0.1", 421)),
        *(("", 421), ("[", 421), ("localhost.example.org:8470", 421)),
    ],
)
def test_a_name_that_somebody_points_to_this_machine_is_not_answered(
    host: str, status: int
) -> None:
    answer: Any = ask(app_of(), "/v1/verify", good_proposal(), headers={"host": host})
    assert answer.status_code == status


def test_a_request_that_names_two_hosts_is_not_answered() -> None:
    async def status_of(*hosts: bytes) -> int:
        answer: list[Any] = []

        async def send(message: Any) -> None:
            answer.append(message)

        async def receive() -> Any:
            raise AssertionError

        headers = [(b"host", host) for host in hosts]
        scope = {"type": "http", "method": "GET", "path": "/healthz", "headers": headers}
        await app_of()({**scope, "query_string": b"", "root_path": ""}, receive, send)
        return int(answer[0]["status"])

    assert asyncio.run(status_of(b"localhost")) == 200
    assert asyncio.run(status_of(b"localhost", b"evil.example.org")) == 421
    assert asyncio.run(status_of()) == 421
