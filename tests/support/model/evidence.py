"""What the evidence that a step pins must say, found the slow way."""

from typing import Any

from tests.support.model.facts import (
    Json,
    backs,
    distinct,
    find_evidence,
    pointed,
    same_json,
    same_scalar,
    scalars,
    spelled,
    unexpired,
    wrong_places,
)


def pinned_fresh(p: Json, step: Json) -> list[Json]:
    """Return the items that the step pins, that exist, and that have not expired."""
    items = [find_evidence(p, ref) for ref in step.get("evidence_refs", [])]
    return [item for item in items if item is not None and unexpired(p, item)]


def has_class(p: Json, step: Json, name: str) -> bool:
    return any(item["classification"] == name for item in pinned_fresh(p, step))


def bad_refs(p: Json, step: Json) -> list[str]:
    good = [item["id"] for item in pinned_fresh(p, step)]
    return [ref for ref in distinct(step.get("evidence_refs", [])) if ref not in good]


# --- demands ----------------------------------------------------------------------------------


def unmet(p: Json, tool: Json, step: Json, args: Json) -> list[Any]:
    """Return each class of which nothing is pinned, and each demand that no item of it meets."""
    required = tool.get("requires_evidence", []) + step.get("requires_evidence", [])
    classes = distinct([one if isinstance(one, str) else one["class"] for one in required])
    missing = [name for name in classes if not has_class(p, step, name)]
    demands = {spelled(one): one for one in required if isinstance(one, dict)}
    items = pinned_fresh(p, step)
    return missing + [
        demand
        for demand in demands.values()
        if demand["class"] not in missing and not any(meets(item, demand, args) for item in items)
    ]


def meets(item: Json, demand: Json, args: Json) -> bool:
    """Return whether one item is of the class, satisfies the schema and is about the arguments."""
    if item["classification"] != demand["class"]:
        return False
    if "content_schema" in demand and "content" not in item:
        return False
    if "content_schema" in demand and wrong_places(demand["content_schema"], item["content"]):
        return False
    about = demand.get("about", {})
    return all(name in args and is_about(item, about[name], args[name]) for name in about)


def is_about(item: Json, at: str, value: Any) -> bool:
    """Return whether the content holds the value at the pointer, or each element of an array."""
    if is_empty(value) or "content" not in item or isinstance(item["content"], str):
        return False
    found = [one for _, one in pointed(item["content"], at, star=False)]
    if any(same_json(one, value) for one in found):
        return True
    if not isinstance(value, list):
        return False
    there = found + [element for one in found if isinstance(one, list) for element in one]
    return all(any(same_json(one, element) for one in there) for element in value)


# --- bindings ---------------------------------------------------------------------------------


def is_empty(value: Any) -> bool:
    return value is None or value == "" or not scalars(value)


def values_to_back(tool: Json, name: str, args: Json) -> list[Any]:
    """Return the scalars of a bound argument. A Binding sees nothing in an empty one."""
    named = isinstance(tool["bound_args"][name], dict)
    if name not in args or (named and is_empty(args[name])):
        return []
    return scalars(args[name])


def is_demanded(tool: Json, name: str) -> bool:
    bound = tool["bound_args"][name]
    return isinstance(bound, dict) and not bound.get("optional", False)


def backs_argument(item: Json, bound: Any, value: Any) -> bool:
    """Return whether the item is of an allowed class and holds the value where it must stand."""
    binding = bound if isinstance(bound, dict) else {"from": bound}
    if item["classification"] not in binding["from"] or "content" not in item:
        return False
    if "at" not in binding:
        return backs(item["content"], value)
    if isinstance(item["content"], str):
        return False
    found = [one for at in binding["at"] for _, one in pointed(item["content"], at, star=True)]
    return any(same_scalar(one, value) for one in found)


def unbacked_args(p: Json, tool: Json, step: Json, args: Json) -> list[str]:
    """Return the bound arguments, in order of name, that lack evidence or that are left out."""
    unbacked, items = [], pinned_fresh(p, step)
    for name in sorted(tool.get("bound_args", {})):
        values = values_to_back(tool, name, args)
        bound = tool["bound_args"][name]
        backed = all(any(backs_argument(one, bound, value) for one in items) for value in values)
        if not backed or (not values and is_demanded(tool, name)):
            unbacked.append(name)
    return unbacked


def torn_groups(p: Json, tool: Json, step: Json, args: Json) -> list[list[str]]:
    """Return the groups of arguments that no single item backs altogether."""
    torn = []
    for group in distinct(tool.get("bound_together", [])):
        wanted = [
            (tool["bound_args"][name], value)
            for name in group
            for value in values_to_back(tool, name, args)
        ]
        together = [
            item
            for item in pinned_fresh(p, step)
            if all(backs_argument(item, bound, value) for bound, value in wanted)
        ]
        if wanted and not together:
            torn.append(group)
    return torn


def evidence_is_good(p: Json, tool: Json, step: Json, args: Json) -> bool:
    """Return whether a call with these args has all the evidence that its step must pin."""
    found = (
        unmet(p, tool, step, args),
        bad_refs(p, step),
        unbacked_args(p, tool, step, args),
        torn_groups(p, tool, step, args),
    )
    return not any(found)
