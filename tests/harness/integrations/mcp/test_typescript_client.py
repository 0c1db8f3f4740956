"""The proxy between the official TypeScript client and the reference servers of MCP.

They are those of `.ci/agents`, at pinned versions: `npm ci --prefix .ci/agents`.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

MODULES = ROOT / ".ci" / "agents" / "node_modules"
SDK = MODULES / "@modelcontextprotocol" / "sdk"
CLIENT = Path(__file__).with_name("typescript_client.mjs")
CRITIC = str(Path(sys.executable).parent / "critic")
Json = dict[str, Any]


def server(name: str, *args: object) -> list[str]:
    program = MODULES / ".bin" / name
    if not (program.exists() and SDK.is_dir()):
        pytest.skip(f"{name} is not installed: npm ci --prefix .ci/agents")
    return [str(program), *map(str, args)]


def played(calls: list[Any], *command: str, **environment: str) -> list[Json]:
    """Return the lines that the client prints: tools, a line for each call, and what was asked."""
    done = subprocess.run(
        ["node", str(CLIENT), json.dumps(calls), *command],
        env={**os.environ, "SDK": str(SDK), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def policy_for(served: list[str], path: Path, mode: str) -> Path:
    """Write the policy that `init` derives from a server, with a mode for all of its tools."""
    words = [CRITIC, "init", str(path), "--from-mcp", " ".join(served)]
    subprocess.run(words, check=True, capture_output=True)
    text, count = re.subn(
        '^approval_mode = "[a-z_]+"',
        f'approval_mode = "{mode}"',
        path.read_text("utf-8"),
        flags=re.M,
    )
    assert count > 0
    path.write_text(text)
    return path


def proxied(policy: Path, served: list[str], *options: str) -> list[str]:
    return [CRITIC, "mcp-proxy", "--policy", str(policy), *options, "--", *served]


def text_of(line: Json) -> str:
    (part,) = line["result"]["content"]
    return str(part["text"])


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return the command of a server whose tools all have output schemas."""
    return server("mcp-server-filesystem", tmp_path)


@pytest.mark.parametrize("answer", ["yes", "no", "cancel", ""])
def test_the_user_is_asked_through_the_client_and_a_refusal_is_read(
    answer: str, files: list[str], tmp_path: Path
) -> None:
    policy, log = policy_for(files, tmp_path / "p.toml", "destructive"), tmp_path / "audit.db"
    written = tmp_path / "w.txt"
    calls = [{"name": "write_file", "arguments": {"path": str(written), "content": "notes"}}]
    request = f'Write the file {written} with "notes" in it'
    command = proxied(policy, files, "--log", str(log), "--request", request)
    _, called, asked = played(calls, *command, **({"ANSWER": answer} if answer else {}))
    assert written.exists() == (answer == "yes")
    assert len(asked["asked"]) == bool(answer)
    # A client that throws tells the model of no reason.
    assert "thrown" not in called
    assert called["result"].get("isError", False) == (answer != "yes")
    if answer != "yes":
        why = "a person said no" if answer == "no" else "it needs a person's yes"
        assert f"write_file not run: {why}" in text_of(called)
    subprocess.run([CRITIC, "replay", str(log)], check=True, capture_output=True)


CALLS: list[Any] = [
    {"name": "echo", "arguments": {"message": "hi"}},
    {"name": "get-sum", "arguments": {"a": 1, "b": 2}},
    {"name": "get-structured-content", "arguments": {"location": "New York"}},
    {"name": "get-tiny-image", "arguments": {}},
    {"name": "get-resource-links", "arguments": {"count": 2}},
    {"name": "get-annotated-message", "arguments": {"messageType": "error", "includeImage": True}},
    {
        "name": "trigger-long-running-operation",
        "arguments": {"duration": 1, "steps": 4},
        "with_progress": True,
    },
    {
        "name": "trigger-long-running-operation",
        "arguments": {"duration": 3, "steps": 3},
        "abort_after": 300,
    },
    {
        "name": "trigger-long-running-operation",
        "arguments": {"duration": 3, "steps": 3},
        "timeout": 300,
    },
    [{"name": "get-sum", "arguments": {"a": n, "b": n}} for n in range(4)],
]


def test_what_is_allowed_is_answered_as_by_the_server_itself(tmp_path: Path) -> None:
    everything = server("mcp-server-everything")
    policy = policy_for(everything, tmp_path / "p.toml", "read_only")
    direct = played(CALLS, *everything)
    assert [line for line in direct if "thrown" in line] == direct[8:10]
    guarded = played(CALLS, *proxied(policy, everything))
    for mine, its in zip(guarded[1:], direct[1:], strict=True):
        # The client counts no step that arrives behind the result.
        assert mine.pop("steps", 0) >= its.pop("steps", 0) - 1
        assert mine == its
    assert {*guarded[0]["tools"]} <= {*direct[0]["tools"]}


def test_an_unknown_tool_is_answered_by_itself(files: list[str], tmp_path: Path) -> None:
    policy = policy_for(files, tmp_path / "p.toml", "read_only")
    calls = [
        {"name": "read_everything", "arguments": {}},
        {"name": "list_directory", "arguments": {"path": str(tmp_path)}},
    ]
    _, unknown, known, _ = played(calls, *proxied(policy, files))
    assert "There is no tool" in text_of(unknown)
    assert "p.toml" in text_of(known)


ANSWERS = """
import asyncio
from mcp.server import MCPServer

app = MCPServer("large")

@app.tool()
def answer(mebibytes: int) -> str:
    "Answer at length."
    return "x" * (mebibytes * 2**20)

app.run()
"""


def test_an_answer_of_any_size_ends_its_call(tmp_path: Path) -> None:
    if not SDK.is_dir():
        pytest.skip("the TypeScript SDK is not installed: npm ci --prefix .ci/agents")
    program = tmp_path / "server.py"
    program.write_text(ANSWERS)
    served = [sys.executable, str(program)]
    policy = policy_for(served, tmp_path / "p.toml", "read_only")
    calls = [{"name": "answer", "arguments": {"mebibytes": size}} for size in (1, 40, 1)]
    _, small, large, again, _ = played(calls, *proxied(policy, served))
    assert len(text_of(small)) == len(text_of(again)) == 2**20
    assert "thrown" in large or large["result"]["isError"]
    assert "Request timed out" not in str(large)
