"""Fixtures of the harness tests."""

import pytest

from tests.harness.console import Critic, console


@pytest.fixture
def critic(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Critic:
    """`critic` within this process."""
    return console(capsys, monkeypatch)
