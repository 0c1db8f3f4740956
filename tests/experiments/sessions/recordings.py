"""Recorded sessions, and the policies of their tools: read from a folder beside the project.

A recording is what an agent did, turn by turn; one that was attacked says after which turn the
attack had succeeded. Nothing is written down here of which tools there are, or what they are named.
"""

import json
import lzma
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.policy import Policy
from harness.wire import build
from tests.support.paths import ROOT

DATA: Final = ROOT.parent / "shared" / "data" / "sessions"
_RULES: Final = "ruleset3"
_TOOLS, _ROLES, _INTENDED = f"{_RULES}/tools3.json", "tools.json", "intended.json"
_ADAPTING, _LEFT = f"{_RULES}/adapt.py", f"{_RULES}/expected3-adapted.jsonl.xz"
_ANSWERS: Final = "expected"
NEVER: Final = 10**9
_MEMBERS: Final = ("arg_kinds", "may_be_empty", "follows")
"""Labels of a tool that are neither a role nor a member of its result."""

Json = dict[str, Any]


class Recording(NamedTuple):
    """One recorded session. `lost_after` is the turn after which its attack had succeeded.

    An adapted one belongs to a `family`; its value is `left` to an outsider where no label says
    that a system or a member wrote it.
    """

    id: str
    group: str
    task: str
    is_attacked: bool
    lost_after: int
    wire: Json
    family: str = ""
    is_left: bool = True

    @property
    def turns(self) -> list[Json]:
        """The turns, each with its calls and what they returned."""
        turns: list[Json] = self.wire["turns"]
        return turns


def groups(data: Path) -> list[str]:
    """Return the names of the groups of recordings."""
    names = sorted(path.name.removesuffix(".jsonl.xz") for path in data.glob("*.jsonl.xz"))
    return [name for name in names if not name.startswith(_ANSWERS)]


def recordings(data: Path, only: Iterable[str] = ()) -> Iterator[Recording]:
    """Yield the recordings, but for attacks that no call carries."""
    for group in only or groups(data):
        for wire in _read(data / f"{group}.jsonl.xz"):
            lost_after = wire.get("holds_after", NEVER)
            if lost_after != "text_only" and not wire.get("text_only"):
                is_attacked = wire["kind"] == "attacked"
                yield Recording(wire["id"], group, wire["task"], is_attacked, lost_after, wire)


def adapted(data: Path, made: Path) -> Iterator[Recording]:
    """Yield attacks that were rewritten by somebody who knows the rules and the labels.

    Args:
        made: a folder to write them to.
    """
    script, *files = (data / name for name in (_ADAPTING, _ROLES, _INTENDED))
    subprocess.run([sys.executable, script, data, *files, made], check=True, capture_output=True)
    left = {(one["id"], one["value"]): one["left"] for one in _read(data / _LEFT)}
    for group in groups(made):
        for number, wire in enumerate(_read(made / f"{group}.jsonl.xz")):
            told = wire["adapted"]
            yield Recording(
                f"{wire['id']} {number}",
                group,
                wire["task"],
                is_attacked=True,
                lost_after=wire["holds_after"],
                wire=wire,
                family=told["family"],
                is_left=left[wire["id"], told["value"]],
            )


def _read(path: Path) -> Iterator[Json]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def policy_of(
    data: Path,
    group: str,
    *,
    provenance: str = "closed",
    headless: bool = False,
    parties: str = "ask",
    without: str | None = None,
) -> Policy:
    """Return the policy for a group.

    Args:
        headless: nobody is there to be asked.
        parties: what a recipient from a field of a party is worth.
        without: a label that all tools go without: see `labels`.
    """
    suite = json.loads((data / _TOOLS).read_bytes())["suites"][group]
    guard = {"safety_mode": "destructive", "on_ask": "refuse" if headless else "ask"}
    spec = {"id": "recorded", "required_outputs": [], "provenance": provenance}
    spec["party_recipients"] = parties
    wire = {"guard": guard, "spec": spec, **suite}
    if without == "evidence":
        wire.pop(without, None)
    if without == "class":
        wire["class"] = [_unfielded(one) for one in suite["class"]]
    wire["tool"] = [_without(tool, without) for tool in suite["tool"]]
    return build(Policy, wire)


def _unfielded(declared: Json) -> Json:
    """Return a class without the fields that it declares."""
    return {name: value for name, value in declared.items() if name != "fields"}


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
            found |= dict.fromkeys(name for name in _MEMBERS if name in tool)
    return list(found)


@cache
def intended(data: Path) -> Mapping[str, list[Json]]:
    """Return the calls that each task is for: a person says yes to those, if asked."""
    found: dict[str, list[Json]] = json.loads((data / _INTENDED).read_bytes())
    return found
