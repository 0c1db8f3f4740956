"""A step of a proposal, with the tool and the evidence that a law gives it."""

from typing import Any, Final

from critic import Refused, Violation
from harness.testing._draw.primitives import ABSENT, Json
from harness.testing._laws.law_context import (
    LawContext,
    LawVerdict,
    with_manifest,
    with_part,
    with_step,
)

_DEMANDS: Final = ("requires_evidence", "bound_args", "bound_together", "args_schema")


def pick_call(context: LawContext) -> tuple[int, int] | None:
    """Draw a step that calls a tool of the manifest: its index, and that of the tool; or None."""
    tools = context.wire["compiled"]["manifests"]["tool_manifest"]
    places = {(tool["adapter_id"], tool["capability_id"]): at for at, tool in enumerate(tools)}
    steps = context.wire["plan"]["steps"]
    pairs = [(step.get("adapter_id"), step.get("capability_id")) for step in steps]
    found = [(index, places[pair]) for index, pair in enumerate(pairs) if pair in places]
    return context.pick(found) if found else None


def with_tool(wire: Json, position: int, **changes: Any) -> Json:
    """Return the proposal with some fields of one tool set, or left out where `ABSENT`."""
    tools = list(wire["compiled"]["manifests"]["tool_manifest"])
    fields = {**tools[position], **changes}
    tools[position] = {name: value for name, value in fields.items() if value is not ABSENT}
    return with_manifest(wire, "tool_manifest", tools)


def with_items(wire: Json, **contents: Any) -> Json:
    """Return the proposal with more evidence: of the class `zz`, by id."""
    more = [
        {"id": ref, "classification": "zz", "content": content} for ref, content in contents.items()
    ]
    items = wire["compiled"]["manifests"]["evidence_manifest"]
    ids = set(contents)
    return with_manifest(
        wire, "evidence_manifest", [*(one for one in items if one["id"] not in ids), *more]
    )


def with_demands(
    wire: Json, place: tuple[int, int], args: Json, refs: list[str], **needs: Any
) -> Json:
    """Return the proposal whose step has these args and refs and whose tool has only these needs.

    Where values come from is not judged in it.
    """
    index, position = place
    bare = dict.fromkeys(_DEMANDS, ABSENT)
    altered = with_tool(wire, position, **{**bare, **needs})
    altered = with_part(altered, "spec", provenance=ABSENT)
    return with_step(altered, index, args=args, evidence_refs=refs, requires_evidence=[])


def blamed_violations(verdict: LawVerdict, index: int, check: str) -> list[Violation]:
    """Return the violations of a step that one check found."""
    violations = verdict.violations if isinstance(verdict, Refused) else ()
    return [one for one in violations if one.offending_step == index and one.check == check]
