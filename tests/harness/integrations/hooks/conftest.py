"""A home folder for each test: settings and options of whoever runs the tests are left alone.

No hook that runs within the tests starts a service.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.integrations.hooks import hook_service, install


@pytest.fixture(autouse=True)
def home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """Yield the home folder of the user of a test. A service that was started there ends."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    for module in (hook_service, install):
        monkeypatch.setattr(module, "can_start_service", lambda: False)
    yield folder
    (folder / ".critic" / "run" / "hooks.sock").unlink(missing_ok=True)
