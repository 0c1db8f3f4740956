"""Rename every id, class and output of a proposal, but none of its contents."""

from collections.abc import Iterator
from typing import Any, Final

from critic import Plan, digest
from harness.testing._draw.primitives import Json
from harness.wire import build

# Fields that hold one name, or a list of them, wherever in a proposal they occur.
_NAMED: Final = frozenset(
    {
        *("trace_id", "run_id", "tenant_id", "user_id", "plan_id"),
        *("adapter_id", "capability_id", "id"),
        *("classification", "requires_evidence", "produces", "required_outputs", "evidence_refs"),
        *("required_evidence", "confined_evidence", "depends_on", "declared_outputs"),
        "class",
    }
)
_CLASSES: Final = ("class", "from")
_CONTENTS: Final = frozenset(
    {
        *("args", "args_schema", "content", "snapshot", "subject", "approvals"),
        *("arg_roles", "arg_kinds", "own", "value", "values", "targets", "fields", "schema"),
    }
)


def rename_all(wire: Json) -> tuple[Json, dict[str, str]]:
    """Return the proposal in new names, and the old name of each new one.

    Approvals of the plan become approvals of the renamed plan. New names sort as the old ones do,
    since a reason names the first of several items. Where provenance is judged, the words of a
    capability count, so it keeps its name.
    """
    names = _new_names(wire)
    altered = _walk(wire, names)
    before, after = (digest(build(Plan, form["plan"])) for form in (wire, altered))
    approvals = wire["ctx"].get("approvals")
    if approvals:
        signed = [
            {**approval, "plan_digest": approval["plan_digest"].replace(before, after)}
            for approval in approvals
        ]
        altered["ctx"] = {**altered["ctx"], "approvals": signed}
    return altered, {new: old for old, new in names.items() if new != old}


def _new_names(wire: Json) -> dict[str, str]:
    """Return the new name of each old one. All new ones are as long, and look like nothing else."""
    found: dict[str, str] = {}
    _walk(wire, found)
    kept = set()
    if "provenance" in wire["spec"]:
        named = [*wire["compiled"]["manifests"]["tool_manifest"], *wire["plan"]["steps"]]
        kept = {one["capability_id"] for one in named if "capability_id" in one}
        kept |= {one["capability_id"] for one in _tools_ran(wire["ctx"])}
    ordered = sorted(found, key=lambda old: (len(old), old))
    return {old: old if old in kept else f"Zq{place:05}qZ" for place, old in enumerate(ordered)}


def _tools_ran(ctx: Json) -> list[Json]:
    session = ctx.get("session", {})
    acts = [*session.get("approved", ()), *session.get("waived", ())]
    return [*ctx.get("scope", ()), *session.get("ran", ()), *(act["tool"] for act in acts)]


def named_back(value: Any, names: dict[str, str]) -> Any:
    """Return a JSON value with the new names in its strings replaced by the old ones."""
    if isinstance(value, dict):
        return {name: named_back(part, names) for name, part in value.items()}
    if isinstance(value, list):
        return [named_back(part, names) for part in value]
    if isinstance(value, str):
        for new in sorted(names):
            value = value.replace(new, names[new])
    return value


def _walk(value: Json, names: dict[str, str]) -> Json:
    return dict(_fields(value, names))


def _fields(value: Json, names: dict[str, str]) -> Iterator[tuple[str, Any]]:
    for name, part in value.items():
        if name in _CONTENTS:
            yield name, part
        elif name in _NAMED:
            yield name, _rename_part(part, names)
        elif name == "bound_args":
            yield name, {argument: _rename_part(bound, names) for argument, bound in part.items()}
        elif name == "output_schemas":
            yield name, {_rename_part(output, names): schema for output, schema in part.items()}
        elif isinstance(part, dict):
            yield name, _walk(part, names)
        elif isinstance(part, list):
            # A list of other names than ids, such as those of arguments, stays as it is.
            yield name, [_walk(item, names) if isinstance(item, dict) else item for item in part]
        else:
            yield name, part


def _rename_part(old: Any, names: dict[str, str]) -> Any:
    if isinstance(old, list):
        return [_rename_part(name, names) for name in old]
    if isinstance(old, dict):  # a demand or a binding
        return {
            key: _rename_part(part, names) if key in _CLASSES else part for key, part in old.items()
        }
    return names.setdefault(old, old)
