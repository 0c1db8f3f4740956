"""The worlds to plan for: passing proposals of the fixtures and of recorded agents.

Each gives the manifest, the spec and the context, at the least safety mode that will do, and the
plan that the scripted planner has in mind.
"""

import json
import lzma
from collections.abc import Iterable, Iterator
from typing import Any

from critic import MODE_RANK, Proposal, verify_proposal
from harness.wire import InvalidInput, build
from tests.assurance.test_real_data import DATA
from tests.support.paths import CASES

RECORDED = DATA / "proposals.jsonl.xz"


def groups() -> dict[str, list[Proposal]]:
    """Return the worlds by source; recorded agents only if their data is available."""
    found = {"fixtures": list(_fit(_fixtures()))}
    if RECORDED.is_file():
        found["recorded agents"] = list(_fit(_recorded()))
    return found


def _fixtures() -> Iterator[Any]:
    for path in sorted(CASES.rglob("*.json")):
        given = json.loads(path.read_bytes()).get("input")
        if isinstance(given, dict):
            yield given.get("proposal", given)


def _recorded() -> Iterator[Any]:
    with lzma.open(RECORDED) as lines:
        for line in lines:
            record = json.loads(line)
            if record["kind"] == "benign":
                yield record["proposal"]


def _fit(wires: Iterable[Any]) -> Iterator[Proposal]:
    """Yield each proposal whose plan passes, calls a tool and needs no approval, each plan once."""
    seen: set[str] = set()
    for wire in wires:
        proposal = _at_least_privilege(wire)
        plan = "" if proposal is None else json.dumps([proposal.plan.wire(), proposal.spec.id])
        if proposal is not None and plan not in seen:
            seen.add(plan)
            yield proposal


def _at_least_privilege(wire: Any) -> Proposal | None:
    try:
        one = build(Proposal, wire)
    except InvalidInput:
        return None
    tools = one.compiled.manifests.tools
    calls = [step for step in one.plan.steps if step.kind == "tool"]
    if not calls or one.spec.approval_required_from or not _passes(one):
        return None
    modes = [tools[step.adapter_id, step.capability_id].approval_mode for step in calls]
    ctx = one.ctx.model_copy(update={"safety_mode": max(modes, key=MODE_RANK.__getitem__)})
    return one.model_copy(update={"ctx": ctx})


def _passes(one: Proposal) -> bool:
    return bool(verify_proposal(one))
