"""A request over HTTP is of a program on this machine, by each header that says so."""

from typing import Any

import pytest
from starlette.requests import Request

from harness.integrations.mcp.mcp_http import _problem_of

HERE = ("127.0.0.1", "127.0.0.1:8000", "localhost", "localhost:8000", "[::1]:8000")
ELSEWHERE = ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "", "@", "[")


def problem(hosts: list[str], origin: str | None = None) -> str | None:
    headers: list[Any] = [(b"host", one.encode()) for one in hosts]
    headers += [] if origin is None else [(b"origin", origin.encode())]
    return _problem_of(Request({"type": "http", "method": "POST", "headers": headers}))


@pytest.mark.parametrize("host", HERE)
def test_one_host_that_is_here_passes(host: str) -> None:
    assert problem([host]) is None
    assert problem([host], f"http://{host}") is None


@pytest.mark.parametrize("hosts", [[], *([one] for one in ELSEWHERE)])
def test_no_host_or_another_one_does_not(hosts: list[str]) -> None:
    assert problem(hosts) is not None


@pytest.mark.parametrize("first", [*HERE, *ELSEWHERE])
@pytest.mark.parametrize("second", [HERE[0], ELSEWHERE[0]])
def test_two_hosts_never_pass(first: str, second: str) -> None:
    assert problem([first, second]) is not None


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "file://", "http://["])
def test_a_page_of_another_place_does_not_pass(origin: str) -> None:
    assert problem([HERE[0]], origin) is not None
