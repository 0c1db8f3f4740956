"""The laws of what tools demand: a tool or a spec that demands more never lets more pass."""

from typing import Final

from harness.testing._draw.primitives import Json
from harness.testing._laws.law_context import LawContext, with_manifest, with_part

_ABOUT_X: Final = {"x": "/id"}


def stricter_bindings_never_help(context: LawContext) -> None:
    """A binding that names places, or must have a value, never takes a violation away."""
    tools = context.loose["compiled"]["manifests"]["tool_manifest"]
    before = context.judge(context.loose)
    for position, tool in enumerate(tools):
        for name, binding in tool.get("bound_args", {}).items():
            classes = binding["from"] if isinstance(binding, dict) else binding
            places = binding.get("at") if isinstance(binding, dict) else None
            fewer = context.pick((["/zz"], [])) if places is None else places[1:]
            stricter = {**tool["bound_args"], name: {"from": classes, "at": fewer}}
            altered = _with_tool(context, position, bound_args=stricter)
            what = f"a stricter binding of {name} of tool {position}"
            context.require_refused(before, altered, what)
            if isinstance(binding, dict):
                context.require_kept(before, altered, what)


def a_group_is_as_strict_as_its_bindings(context: LawContext) -> None:
    """Binding arguments together never takes a violation away."""
    tools = context.loose["compiled"]["manifests"]["tool_manifest"]
    before = context.judge(context.loose)
    for position, tool in enumerate(tools):
        names = sorted(tool.get("bound_args", ()))
        groups = [*tool.get("bound_together", ()), names]
        if names:
            altered = _with_tool(context, position, bound_together=groups)
            context.require_kept(before, altered, f"a group in tool {position}")


def confining_a_class_never_helps(context: LawContext) -> None:
    """Confining one more class of evidence never takes a violation away."""
    items = context.loose["compiled"]["manifests"]["evidence_manifest"]
    name = context.pick(["zz", *(item["classification"] for item in items)])
    confined = [*context.loose["spec"].get("confined_evidence", ()), name]
    altered = with_part(context.loose, "spec", confined_evidence=confined)
    context.require_kept(context.judge(context.loose), altered, f"confining {name}")


def stricter_demands_never_help(context: LawContext) -> None:
    """Demanding more of what evidence says never lets a refused plan pass."""
    tools = context.loose["compiled"]["manifests"]["tool_manifest"]
    before = context.judge(context.loose)
    for position, tool in enumerate(tools):
        stricter = [_asking_more(context, one) for one in tool.get("requires_evidence", ())]
        if stricter:
            altered = _with_tool(context, position, requires_evidence=stricter)
            context.require_refused(before, altered, f"a demand of tool {position}")


def _asking_more(context: LawContext, need: str | Json) -> Json:
    """Return the demand, with one condition more or with a schema that no content satisfies."""
    demand: Json = {"class": need} if isinstance(need, str) else need
    about = {"about": {**_ABOUT_X, **demand.get("about", {})}}
    schemas = [False] if "content_schema" in demand else [{"type": "object"}, False]
    asked: list[Json] = [about, *({"content_schema": schema} for schema in schemas)]
    return {**demand, **context.pick(asked)}


def _with_tool(context: LawContext, position: int, **changes: object) -> Json:
    tools = list(context.loose["compiled"]["manifests"]["tool_manifest"])
    tools[position] = {**tools[position], **changes}
    return with_manifest(context.loose, "tool_manifest", tools)
