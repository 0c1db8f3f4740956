"""Fixtures of the harness tests."""

import pytest

from tests.harness.console import Critic, console


@pytest.fixture
def critic(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Critic:
    """Return `critic` to run within this process."""
    return console(capsys, monkeypatch)
