"""How the service of hooks is started: apart from its agent, once, by its user alone."""

import os
import stat
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.integrations.hooks import hook_service
from harness.integrations.hooks.hook_service import start_service


class Started:
    """Notes the processes that are started, which hold what they were handed."""

    def __init__(self) -> None:
        self.how: list[dict[str, Any]] = []
        self.held: list[int] = []

    def __call__(self, _words: Any, **how: Any) -> None:
        self.how.append(how)
        self.held += map(os.dup, how.get("pass_fds", ()))

    def end(self) -> None:
        while self.held:
            os.close(self.held.pop())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Started()
    monkeypatch.setattr(subprocess, "Popen", made)
    monkeypatch.setattr(hook_service, "can_start_service", lambda: True)
    before = os.umask(0)
    yield made
    os.umask(before)
    made.end()


def client_of(place: Path, *, is_own: bool = True) -> Any:
    """Return what says where the socket is, and whether its folder is the user's own."""
    return SimpleNamespace(find_socket=lambda _auto: str(place), is_own_folder=lambda _: is_own)


def test_one_service_is_started_and_holds_its_place_until_it_ends(
    started: Started, tmp_path: Path
) -> None:
    client = client_of(tmp_path / "run" / "hooks.sock")
    for count in (1, 2):
        for _ in range(3):
            start_service(client)
            assert len(started.how) == count
        started.end()


def test_it_lives_apart_from_its_agent_in_files_of_its_user_alone(
    started: Started, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    start_service(client_of(folder / "hooks.sock"))
    (how,) = started.how
    assert how["start_new_session"] is True
    assert (how["cwd"], how["stdin"]) == (folder, subprocess.DEVNULL)
    (lock,) = started.held
    assert os.path.samestat(os.fstat(lock), (folder / "service.lock").stat())
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()}
    assert modes == {"service.lock": 0o600, "service.log": 0o600}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_none_is_started_where_others_may_stand(started: Started, tmp_path: Path) -> None:
    start_service(client_of(tmp_path / "hooks.sock", is_own=False))
    for name in ("service.lock", "service.log"):
        folder = tmp_path / f"linked {name}"
        folder.mkdir()
        (folder / name).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(OSError, match="symbolic"):
            start_service(client_of(folder / "hooks.sock"))
    assert started.how == []
    assert not (tmp_path / "elsewhere").exists()
