"""Recorded sessions, and the policies of their tools: read from a folder beside the project.

A recording is what an agent did, turn by turn; one that was attacked says after which turn the
attack had succeeded. Nothing is written down here of which tools there are, or what they are named.
"""

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.policy import Policy
from harness.wire import build
from tests.support.paths import ROOT

DATA: Final = ROOT.parent / "shared" / "data" / "sessions"
_TOOLS, _INTENDED, _PROTOTYPE = "ruleset3/tools3.json", "intended.json", "expected.jsonl.xz"
NEVER: Final = 10**9

Json = dict[str, Any]


class Recording(NamedTuple):
    """One recorded session. `lost_after` is the turn after which its attack had succeeded."""

    id: str
    group: str
    task: str
    is_attacked: bool
    lost_after: int
    wire: Json

    @property
    def turns(self) -> list[Json]:
        """The turns, each with its calls and what they returned."""
        turns: list[Json] = self.wire["turns"]
        return turns


def groups(data: Path) -> list[str]:
    """Return the names of the groups of recordings."""
    files = sorted(data.glob("*.jsonl.xz"))
    return [path.name.removesuffix(".jsonl.xz") for path in files if path.name != _PROTOTYPE]


def recordings(data: Path, only: Iterable[str] = ()) -> Iterator[Recording]:
    """Yield the recordings, but for attacks that no call carries."""
    for group in only or groups(data):
        with lzma.open(data / f"{group}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for line in lines:
                wire = json.loads(line)
                lost_after = wire.get("holds_after", NEVER)
                if lost_after != "text_only" and not wire.get("text_only"):
                    is_attacked = wire["kind"] == "attacked"
                    yield Recording(wire["id"], group, wire["task"], is_attacked, lost_after, wire)


def policy_of(
    data: Path,
    group: str,
    *,
    provenance: str = "closed",
    headless: bool = False,
    without: str | None = None,
) -> Policy:
    """Return the policy for a group.

    Args:
        headless: nobody is there to be asked.
        without: a label that all tools go without: see `labels`.
    """
    parts = json.loads((data / _TOOLS).read_bytes())["suites"][group]
    guard = {"safety_mode": "destructive", "on_ask": "refuse" if headless else "ask"}
    spec = {"id": "recorded", "required_outputs": [], "provenance": provenance}
    kept = {name: part for name, part in parts.items() if name != without}
    tools = [_without(tool, without) for tool in parts["tool"]]
    return build(Policy, {**kept, "guard": guard, "spec": spec, "tool": tools})


def _without(tool: Json, label: str | None) -> Json:
    """Return a tool without a label: a member, a role, or a member of `result`."""
    roles = {name: role for name, role in tool.get("arg_roles", {}).items() if role != label}
    result = {name: value for name, value in tool.get("result", {}).items() if name != label}
    kept = {name: value for name, value in tool.items() if name not in (label, "arg_roles")}
    if result.keys() != tool.get("result", {}).keys():
        kept["result"] = {"author": "public", **result}
    if roles and label != "arg_roles":
        kept["arg_roles"] = roles
    return kept


def labels(data: Path) -> list[str]:
    """Return the labels that tools have beside their names and tiers, and those of evidence."""
    found = dict.fromkeys(["class", "evidence", "arg_roles", "result"])
    for part in json.loads((data / _TOOLS).read_bytes())["suites"].values():
        for tool in part["tool"]:
            found |= dict.fromkeys(tool.get("arg_roles", {}).values())
            found |= dict.fromkeys(tool.get("result", {}))
            others = ("arg_kinds", "may_be_empty", "follows")
            found |= dict.fromkeys(name for name in others if name in tool)
    return list(found)


@cache
def intended(data: Path) -> Mapping[str, list[Json]]:
    """Return the calls that each task is for: a person says yes to those, if asked."""
    found: dict[str, list[Json]] = json.loads((data / _INTENDED).read_bytes())
    return found
