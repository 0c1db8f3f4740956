"""`critic init --from-mcp`: a policy from a real server, and its pins."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.integrations.mcp.mcp_pins import PinFile, pin_of
from harness.policy import read_policy
from harness.policy.analysis.derive_mcp import drafts_of_mcp
from harness.policy.analysis.policy_writing import derived_policy
from harness.wire import InvalidInput
from tests.harness.console import Critic
from tests.harness.integrations.mcp import mcp_server

SERVER = [sys.executable, str(Path(mcp_server.__file__))]
NAMES = ["lookup", "issue_refund", "mystery", "slow", "broken", "gift"]


def raw_tools() -> list[dict[str, Any]]:
    """Return the tools as the server spells them in the older protocol."""
    said = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": said},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    popen: Any = subprocess.Popen
    with popen(SERVER, **pipes) as process:
        process.stdin.write("".join(f"{json.dumps(line)}\n" for line in lines))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
    found: list[dict[str, Any]] = answers[-1]["result"]["tools"]
    return found


@pytest.mark.slow
def test_a_policy_of_a_real_server_is_safe_and_its_tools_are_pinned(
    critic: Critic, tmp_path: Path
) -> None:
    path = tmp_path / "shop.toml"
    said = critic("init", path, "--from-mcp", shlex.join(SERVER))
    assert (said.status, said.err) == (0, "")
    policy = read_policy(path)
    assert sorted(tool.called for tool in policy.tool) == sorted(NAMES)
    assert policy.tools["lookup"].approval_mode == "read_only"
    others = {tool.approval_mode for tool in policy.tool if tool.called != "lookup"}
    assert others == {"destructive"}
    assert policy.spec.approval_required_from == "destructive"
    assert "The server hints at read_only" in path.read_text()
    pins = PinFile(tmp_path / "shop.pins.json")
    tools = raw_tools()
    assert [pins.check(tool["name"], tool) for tool in tools] == [None] * len(NAMES)
    assert {name: pin.digest for name, pin in pins.read().pinned.items()} == {
        tool["name"]: pin_of(tool).digest for tool in tools
    }


@pytest.mark.parametrize(
    ("server", "says"),
    [
        ("/no/such/program", "server: No such file or directory: check its command or URL\n"),
        (shlex.join([sys.executable, "-c", "pass"]), "cannot list the tools"),
        ("", "name the command"),
        ("'", "not a command line"),
        ("http://127.0.0.1:1/mcp", "cannot list the tools"),
    ],
)
def test_a_server_that_cannot_be_asked_leaves_no_file(
    server: str, says: str, critic: Critic, tmp_path: Path
) -> None:
    said = critic("init", tmp_path / "x.toml", "--from-mcp", server)
    assert (said.status, said.out) == (2, "")
    assert says in said.err
    assert said.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("hints", "tier"),
    [
        ({"readOnlyHint": True}, "network"),
        ({"readOnlyHint": True, "openWorldHint": False}, "read_only"),
        ({"destructiveHint": False}, "network"),
        ({"destructiveHint": False, "openWorldHint": False}, "local_write"),
        ({"idempotentHint": True}, "destructive"),
        ({"readOnlyHint": "true", "destructiveHint": "false"}, "destructive"),
    ],
    ids=str,
)
def test_a_hint_is_a_comment_and_never_lowers_the_tier(hints: dict[str, Any], tier: str) -> None:
    drafts, _ = drafts_of_mcp("s", [{"name": "t", "inputSchema": {}, "annotations": hints}])
    text = derived_policy("s", "s", drafts)
    assert f"hints at {tier}:" in text
    assert 'approval_mode = "destructive"' in text


@pytest.mark.parametrize(
    ("hints", "tier"),
    [
        ({"destructiveHint": True}, "destructive"),
        ({"destructiveHint": True, "readOnlyHint": True}, "network"),
        ({"readOnlyHint": True}, "network"),
        ({"destructiveHint": "true"}, "network"),
        ({}, "network"),
    ],
    ids=str,
)
def test_a_hint_raises_the_tier_of_an_effect(hints: dict[str, Any], tier: str) -> None:
    drafts, _ = drafts_of_mcp("s", [{"name": "send", "inputSchema": {}, "annotations": hints}])
    assert f'approval_mode = "{tier}"' in derived_policy("s", "s", drafts)


def test_what_cannot_be_derived_is_left_out_and_said() -> None:
    tools: list[dict[str, Any]] = [
        {"name": "get issue", "inputSchema": {}},
        {"name": "odd", "inputSchema": {"type": "object", "properties": 7}},
        {"name": "none"},
    ]
    drafts, left = drafts_of_mcp("My server", tools, ["resources", "prompts"])
    assert [draft.capability_id for draft in drafts] == [
        "odd",
        "none",
        "resources/read",
        "prompts/get",
    ]
    assert [draft.args_schema for draft in drafts[:2]] == [None, None]
    assert {draft.adapter_id for draft in drafts} == {"My_server"}
    assert len(left) == 1
    with pytest.raises(InvalidInput, match="two tools are called a"):
        drafts_of_mcp("s", [{"name": "a", "inputSchema": {}}] * 2)
    with pytest.raises(InvalidInput, match="no tool"):
        drafts_of_mcp("s", [])
