"""The shop agent of the guide: its sessions are what its tools return, and it is in the wheel."""

import json
import runpy
import zipfile
from pathlib import Path
from typing import Any

import pytest
from pydantic_core import to_jsonable_python

from tests.support.paths import FIXTURES

SHOP = FIXTURES / "examples" / "shop_agent"


def events(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (SHOP / name).read_text(encoding="utf-8").splitlines()]


def test_there_are_ten_tasks_and_five_attacks() -> None:
    opened = {
        name: {one["session"] for one in events(name)} for name in ("tasks.jsonl", "attacks.jsonl")
    }
    assert opened["tasks.jsonl"] == {f"t{number:02}" for number in range(1, 11)}
    assert opened["attacks.jsonl"] == {f"a{number:02}" for number in range(1, 6)}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tasks.jsonl", "attacks.jsonl"])
def test_each_recorded_result_is_what_the_tool_returns(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(SHOP))  # it imports the script beside it
    tools = {tool.__name__: tool for tool in runpy.run_path(str(SHOP / "shop.py"))["TOOLS"]}
    calls: dict[tuple[str, str], Any] = {}
    for event in events(name):
        for call in event.get("calls", ()):
            calls[event["session"], call["id"]] = call
        if event["event"] == "result":
            call = calls[event["session"], event["id"]]
            returned = to_jsonable_python(tools[call["tool"]](**call["args"]))
            assert event["output"] == returned, event


@pytest.mark.slow
def test_the_files_of_the_shop_are_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if name.startswith("harness/_shop/")}
    assert inside == {f"harness/_shop/{file.name}" for file in SHOP.iterdir() if file.is_file()}
