"""A home folder for each test: settings and options of whoever runs the tests are left alone."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the home folder of the user of a test."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable, raising=False)
    return folder
