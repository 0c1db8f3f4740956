"""The parts of a proposal that a violation is put into."""

from collections.abc import Callable

from tests.support.generate.drawing import Pick
from tests.support.model.facts import Json

Fault = Callable[[Pick, Json], None]
"""Puts a violation into a proposal, in place."""


def some_step(pick: Pick, p: Json) -> Json:
    """Return a step of the plan, which is added to an empty plan."""
    if not p["plan"]["steps"]:
        p["plan"]["steps"] = [{"kind": "reason"}]
    found: Json = pick(p["plan"]["steps"])
    return found


def tool_step(pick: Pick, p: Json) -> Json:
    steps = [step for step in p["plan"]["steps"] if step["kind"] == "tool"]
    return pick(steps) if steps else some_step(pick, p)


def tools(p: Json) -> list[Json]:
    found: list[Json] = p["compiled"]["manifests"]["tool_manifest"]
    return found


def items(p: Json) -> list[Json]:
    found: list[Json] = p["compiled"]["manifests"]["evidence_manifest"]
    return found
