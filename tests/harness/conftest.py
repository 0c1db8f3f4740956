"""Fixtures of the harness tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.console import Critic, console
from tests.support.postgres import PostgresServer


@pytest.fixture
def critic(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Critic:
    """Return `critic` to run within this process."""
    return console(capsys, monkeypatch)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | str]:
    """Return where a log may be made: a file that is not there yet, or the URL of a new schema."""
    if request.param == "sqlite":
        yield tmp_path / "log"
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    yield server.url()
    server.disconnect_logs()
