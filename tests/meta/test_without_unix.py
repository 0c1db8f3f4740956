"""Every command starts where there is neither `fcntl` nor a socket with a path, as on Windows."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from harness.commands.table import COMMANDS
from tests.meta.documents import environment, furnish
from tests.support.paths import ROOT

HIDING: Final = ROOT / "tests" / "meta" / "without_unix"
"""A folder with a `sitecustomize` that hides both."""
EVENT: Final = '{"hook_event_name":"SessionStart","session_id":"s","cwd":"."}'

STARTS: Final[dict[str, list[str]]] = {
    "demo": ["demo"],
    "verify": ["verify plan_b.json"],
    "score": ["score plan_b_run.json"],
    "run": ["run --log audit.db plan_b_run.json"],
    "init": ["init new.toml"],
    "guard": ["guard --policy new.toml --log guard.db events.jsonl"],
    "hook": ["hook claude-code --policy new.toml --state state"],
    "import": ["import --from openai events.jsonl"],
    "mcp-proxy": ["mcp-proxy --policy new.toml -- cat"],
    "mcp": ["mcp pins list new.toml", "mcp pins accept new.toml"],
    "serve": ["serve --policy new.toml --port 0", "serve --policy new.toml --socket s"],
    "replay": ["replay audit.db"],
    "what-if": ["what-if audit.db --policy new.toml"],
    "gate": ["gate audit.db audit.db"],
    "shadow": ["shadow audit.db"],
    "try": ["try new.toml events.jsonl"],
    "log": ["log list audit.db", "log export audit.db tables", "log checkpoint audit.db"],
    "report": ["report audit.db -o page.html"],
    "policy": ["policy check new.toml"],
    "explain": ["explain tiers"],
    "loop": ["loop task"],
    "sessions": ["sessions list"],
    "schema": ["schema Plan"],
    "docs": ["docs"],
    "doctor": ["doctor"],
    "shell": ["shell explain -- git status"],
}
"""What to call of each command."""


@pytest.mark.slow
def test_no_command_dies_without_what_unix_has(tmp_path: Path) -> None:
    assert {*COMMANDS} - {*STARTS} == set(), "say here how it is called"
    folder = furnish(ROOT / ".github" / "docs" / "guard.md", tmp_path)
    opened = '{"event":"open","session":"s","request":"Look"}\n{"event":"close","session":"s"}\n'
    (folder / "events.jsonl").write_text(opened)
    called = [line for name, lines in STARTS.items() if name in COMMANDS for line in lines]
    died = {line: said for line in called if _died(said := _say(line, folder))}
    assert not died
    assert "serve on TCP" in _say("serve --policy new.toml --socket s", folder)


def _died(said: str) -> bool:
    return "Traceback" in said or "internal error" in said


def _say(line: str, folder: Path) -> str:
    """Return what a command prints; one that serves is stopped."""
    known = environment(folder)
    hiding = {**known, "PYTHONPATH": os.pathsep.join([str(HIDING), known["PYTHONPATH"]])}
    command = [str(Path(sys.executable).with_name("critic")), *line.split()]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=hiding,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as running:
        try:
            return running.communicate(EVENT if line.startswith("hook") else "", timeout=8)[0]
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGTERM)
            return running.communicate()[0]
