"""The example of a guarded agent is as short as its page says, and its policy was derived."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from harness.policy import read_policy
from tests.support.paths import FIXTURES, ROOT

AGENT = FIXTURES / "examples" / "agent"
DECIDED = {
    "approval_mode",
    "arg_roles",
    "result",
    "yields",
    "expires_after_s",
    "bound_args",
    "requires_evidence",
    "arg_kinds",
}


def lines_of_functions(path: Path) -> int:
    """Return how many lines of code the functions of a module have, without docstrings."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    counted = 0
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            code = lines[node.lineno - 1 : node.body[0].lineno - 1]
            code += lines[node.body[1].lineno - 1 : node.end_lineno]
            counted += sum(bool(line.strip()) for line in code)
    return counted


def test_six_tools_are_guarded_in_fewer_than_fifteen_lines() -> None:
    counted = lines_of_functions(AGENT / "guarded.py")
    assert counted < 15
    assert f"in {counted} lines of code" in (AGENT / "README.md").read_text(encoding="utf-8")
    tools = ast.parse((AGENT / "tools.py").read_text(encoding="utf-8")).body
    assert sum(isinstance(node, ast.FunctionDef) for node in tools) == 6


def test_its_policy_is_what_init_wrote_and_every_guess_is_decided(tmp_path: Path) -> None:
    draft = tmp_path / "draft.toml"
    command = [sys.executable, "-m", "harness.cli", "init", str(draft), "--from-python"]
    subprocess.run([*command, str(AGENT / "tools.py")], check=True, cwd=ROOT, capture_output=True)
    text = (AGENT / "critic.toml").read_text(encoding="utf-8")
    written, decided = tomllib.loads(draft.read_text(encoding="utf-8")), tomllib.loads(text)
    assert read_policy(AGENT / "critic.toml").guessed is None
    assert kept_of(decided) == kept_of(written)


def kept_of(policy: dict[str, Any]) -> dict[str, Any]:
    return {tool["capability_id"]: kept(tool) for tool in policy["tool"]}


def kept(tool: dict[str, Any]) -> dict[str, Any]:
    """Return what of a tool is the function's own, and not for anybody to decide."""
    properties = tool["args_schema"]["properties"]
    types = {name: schema["type"] for name, schema in properties.items()}
    own = {name: value for name, value in tool.items() if name not in DECIDED}
    return {**own, "args_schema": {**tool["args_schema"], "properties": types}}
