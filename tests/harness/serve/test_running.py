"""A service that runs: whose its socket is, when it ends by itself, and which signal ended it."""

import asyncio
import os
import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import uvicorn

from harness.errors import UsageError
from harness.serve import running
from harness.serve.running import IdleLimit, bind_unix, release_unix, run_app

LIMIT_S: Final = 10.0


class Watch:
    """A clock that is set by hand."""

    seconds = 5.0

    def __call__(self) -> float:
        return self.seconds


LOOKS: Final[list[tuple[float, int, bool]]] = [
    *((9, 0, False), (1, 1, False), (9, 1, False), (0, 2, False), (9, 2, False)),
    *((0.5, 2, False), (0.5, 2, True), (1, 2, True), (0, 3, False), (9, 3, False), (1, 3, True)),
]
"""After so many seconds, how many requests there were, and whether it is over."""


def test_a_service_ends_when_no_request_came_for_its_time(tmp_path: Path) -> None:
    (tmp_path / "socket").touch()
    watch = Watch()
    limit = IdleLimit(LIMIT_S, str(tmp_path / "socket"), lambda: False, watch)
    for number, (seconds, requests, is_over) in enumerate(LOOKS):
        watch.seconds += seconds
        assert limit.is_over(requests) is is_over, number


@pytest.mark.parametrize("change", ["gone", "another", "the same"])
def test_a_service_that_cannot_be_found_ends(change: str, tmp_path: Path) -> None:
    place = tmp_path / "socket"
    place.touch()
    limit = IdleLimit(LIMIT_S, str(place), lambda: False, Watch())
    assert not limit.is_over(0)
    if change != "the same":
        place.rename(tmp_path / "kept")  # so that no other file has its number
    if change == "another":
        place.touch()
    assert limit.is_over(0) is (change != "the same")
    assert IdleLimit(LIMIT_S, str(place), lambda: True, Watch()).is_over(0)


class Asked(IdleLimit):
    """Says that it is over, and notes with how many requests it was asked."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def is_over(self, requests: int) -> bool:
        self.asked.append(requests)
        return True


async def nothing(*_: Any) -> None:
    return None


def test_a_service_ends_by_itself_only_where_nothing_is_being_answered() -> None:
    limit = Asked()
    server = running._AnnouncedServer(running._config(nothing, 1, "off"), [], limit)
    server.server_state.total_requests = 7
    answer: Any = object()
    server.server_state.tasks.add(answer)
    assert [asyncio.run(server.on_tick(tick)) for tick in (0, 5, 10)] == [False] * 3
    server.server_state.tasks.clear()
    assert [asyncio.run(server.on_tick(tick)) for tick in (10, 15, 20)] == [True, False, True]
    assert limit.asked == [7, 7]
    endless = running._AnnouncedServer(running._config(nothing, 1, "off"), [], None)
    assert not asyncio.run(endless.on_tick(10))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """Name places from a folder, as the path of a socket is short; no mask takes a mode away."""
    monkeypatch.chdir(tmp_path)
    before = os.umask(0)
    yield tmp_path
    os.umask(before)


def mask() -> int:
    found = os.umask(0)
    os.umask(found)
    return found


def test_only_its_owner_can_use_a_socket_and_other_files_are_made_as_before(short: Path) -> None:
    for before in (0, 0o022):
        os.umask(before)
        with bind_unix("s") as bound:
            assert stat.S_IMODE(Path("s").lstat().st_mode) == 0o600
            assert bound.family == socket.AF_UNIX
        assert mask() == before
        Path("s").unlink()
        with pytest.raises(UsageError, match="cannot listen"):
            bind_unix("no folder/s")
        assert mask() == before
    assert [*short.iterdir()] == []


def test_what_took_the_place_of_a_socket_is_left_there(short: Path) -> None:
    with bind_unix("s"):
        was = Path("s").lstat()
    os.utime("s", ns=(was.st_atime_ns, was.st_mtime_ns + 1))  # the number of a file is used again
    release_unix("s", was)
    assert Path("s").exists()
    os.utime("s", ns=(was.st_atime_ns, was.st_mtime_ns))
    Path("s").rename("other")
    Path("s").touch()
    os.utime("s", ns=(was.st_atime_ns, was.st_mtime_ns))
    release_unix("s", was)
    assert Path("s").exists()
    release_unix("other", was)
    release_unix("nothing", was)
    assert [one.name for one in short.iterdir()] == ["s"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, None])
def test_the_signal_that_ended_it_is_returned_and_others_are_handled_as_before(
    number: signal.Signals | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def serve(_server: Any, sockets: Any) -> None:
        assert [*sockets] == [bound]
        if number is not None:
            signal.raise_signal(number)
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(uvicorn.Server, "serve", serve)
    before = [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)]
    with socket.socket() as bound:
        assert run_app(nothing, bound, 1) == (number or 0)
    assert [signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGINT)] == before
