"""What a late step takes and waits for, found the slow way: each rule once, over plain JSON."""

import copy
from typing import Any

from tests.support.model.evidence import (
    backs_argument,
    is_demanded,
    is_empty,
    meets,
    pinned_fresh,
    values_to_back,
)
from tests.support.model.facts import (
    RANKS,
    Json,
    distinct,
    find_class,
    find_tool,
    joined,
    json_type,
    same_pair,
    spelled,
    wrong_places,
)

Take = tuple[int, Json, int]
"""A take that can be judged: its position, itself, the index of its source."""

ROOT_WORDS = {
    *("type", "properties", "required", "additionalProperties", "minProperties", "maxProperties"),
    *("propertyNames", "$schema", "$id", "$comment", "title", "description", "default"),
    *("examples", "deprecated"),
}
OPEN_WORDS = {
    *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if"),
    *("patternProperties", "dependentSchemas", "prefixItems"),
}


def is_late(p: Json, index: int) -> bool:
    step = p["plan"]["steps"][index]
    return "takes" in step or "evidence_steps" in step


def source_named(p: Json, index: int, name: str) -> int | None:
    """Return the first earlier step of that id, if it is a tool step."""
    for at, step in enumerate(p["plan"]["steps"][:index]):
        if step.get("id") == name:
            return at if step["kind"] == "tool" else None
    return None


def is_known(p: Json, index: int | None) -> bool:
    return index is not None and find_tool(p, p["plan"]["steps"][index]) is not None


# --- places in arguments ------------------------------------------------------------------------


def split(pointer: str) -> list[str]:
    return [one.replace("~1", "/").replace("~0", "~") for one in pointer.split("/")[1:]]


def put(args: Any, pointer: str, value: Any) -> list[str | int] | None:
    """Put a value at a free place; return the place, or None where it is not free."""
    way, place = split(pointer), list[str | int]()
    for name in way[:-1]:
        key = key_in(args, name)
        if key is None:
            return None
        place.append(key)
        args = args[key]
    if isinstance(args, dict) and way[-1] not in args:
        args[way[-1]] = value
        return [*place, way[-1]]
    if isinstance(args, list) and way[-1] == str(len(args)):
        args.append(value)
        return [*place, len(args) - 1]
    return None


def key_in(args: Any, name: str) -> str | int | None:
    if isinstance(args, dict) and name in args:
        return name
    if isinstance(args, list) and name in map(str, range(len(args))):
        return int(name)
    return None


def takes_of(p: Json, index: int) -> list[Take]:
    """Return the takes of a step that are not faulty."""
    step, found = p["plan"]["steps"][index], []
    args = copy.deepcopy(step.get("args", {}))
    for position, take in enumerate(step.get("takes", [])):
        source = source_named(p, index, take["step"])
        if source is None or not is_known(p, source):
            continue
        if put(args, take["arg"], 0) is not None:
            found.append((position, take, source))
    return found


def occupied(p: Json, index: int) -> list[int]:
    """Return the positions of takes whose place is not free after those before them."""
    step, good = p["plan"]["steps"][index], takes_of(p, index)
    found = []
    for position, take in enumerate(step.get("takes", [])):
        args = copy.deepcopy(step["args"])
        for _, earlier, _ in [one for one in good if one[0] < position]:
            put(args, earlier["arg"], 0)
        if put(args, take["arg"], 0) is None:
            found.append(position)
    return found


def late_names(p: Json, index: int) -> list[str]:
    return distinct([split(take["arg"])[0] for _, take, _ in takes_of(p, index)])


def unknown_sources(p: Json, index: int) -> list[str]:
    """Return the places of what names no earlier tool step."""
    step, found = p["plan"]["steps"][index], []
    for position, take in enumerate(step.get("takes", [])):
        if source_named(p, index, take["step"]) is None:
            found.append(joined("takes", position, "step"))
    names = step.get("evidence_steps", [])
    unknown = [name for name in distinct(names) if source_named(p, index, name) is None]
    return found + [joined("evidence_steps", names.index(name)) for name in unknown]


# --- schemas ------------------------------------------------------------------------------------


def output_schema(p: Json, source: int) -> Any:
    tool = find_tool(p, p["plan"]["steps"][source]) or {}
    if "output_schema" in tool:
        return tool["output_schema"]
    return find_class(p, tool.get("yields", "")).get("schema", True)


def walk(schema: Any, pointer: str, *, star: bool) -> Any:
    """Return the schema at a place: True where it may be anything."""
    if not pointer:
        return True if is_anything(schema) else schema
    if is_anything(schema) or schema is False:
        return schema is not False
    name, rest = split(pointer)[0], joined(*split(pointer)[1:])
    wild = star and name == "*"
    digits = name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")
    if (wild or digits) and schema.get("type") in ("array", ["array"]):
        below = schema.get("items", True)
    elif wild or (digits and schema.get("type") not in ("object", ["object"])):
        below = True
    else:
        others = schema.get("additionalProperties", True)
        below = schema.get("properties", {}).get(name, others)
    return False if below is False else walk(below, rest, star=star)


def is_anything(schema: Any) -> bool:
    return schema is True or (isinstance(schema, dict) and any(w in schema for w in OPEN_WORDS))


def types(schema: Any) -> list[str]:
    """Return the types that a schema names; none where it names none."""
    if not isinstance(schema, dict):
        return []
    if "type" in schema:
        said = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    else:
        values = [schema["const"]] if "const" in schema else schema.get("enum", [])
        said = [type_of(one) for one in values]
    return [*said, "integer"] if "number" in said else said


def type_of(value: Any) -> str:
    if json_type(value) == "container":
        return "array" if isinstance(value, list) else "object"
    if json_type(value) == "number":
        return "integer" if value == int(value) else "number"
    return json_type(value)


def misfits(p: Json, index: int) -> list[int]:
    """Return the positions of takes that can be seen never to fit."""
    tool = find_tool(p, p["plan"]["steps"][index]) or {}
    found = []
    for position, take, source in takes_of(p, index):
        given = walk(output_schema(p, source), take["at"], star=True)
        wanted = walk(tool.get("args_schema", True), take["arg"], star=False)
        apart = not any(one in types(wanted) for one in types(given))
        if given is False or (types(given) and types(wanted) and apart):
            found.append(position)
    return found


def early_places(p: Json, index: int, schema: Any) -> list[list[str | int]]:
    """Return the places of the early arguments that do not fit, each late name being there."""
    step, names = p["plan"]["steps"][index], late_names(p, index)
    if "takes" not in step:
        return wrong_places(schema, step["args"])
    args = {**step["args"], **dict.fromkeys(names)}
    if isinstance(schema, bool):
        return wrong_places(schema, args)
    if any(word not in ROOT_WORDS for word in schema):
        return []
    known = dict(schema.get("properties", {}))
    for name in names:
        if name in known or schema.get("additionalProperties") is not False:
            known[name] = True
    return wrong_places({**schema, "properties": known}, args)


# --- evidence to come ---------------------------------------------------------------------------


def promised(p: Json, index: int) -> list[str]:
    """Return the classes that the steps which this one pins will yield."""
    step = p["plan"]["steps"][index]
    sources = [source_named(p, index, name) for name in step.get("evidence_steps", [])]
    tools = [
        find_tool(p, p["plan"]["steps"][at]) for at in sources if at is not None and is_known(p, at)
    ]
    return [yielded(tool) for tool in tools if tool is not None]


def yielded(tool: Json) -> str:
    made = f"result:{tool['adapter_id']}.{tool['capability_id']}"
    return str(tool.get("yields", made if len(made) <= 128 else "result"))


def demands(p: Json, index: int, tool: Json) -> list[str]:
    """Return `missing` or `waits` for each class or Demand that does not stand now."""
    step, late, coming = p["plan"]["steps"][index], late_names(p, index), promised(p, index)
    items, answers = pinned_fresh(p, step), dict[str, str]()
    for one in tool.get("requires_evidence", []) + step.get("requires_evidence", []):
        name = one if isinstance(one, str) else one["class"]
        pinned = [item for item in items if item["classification"] == name]
        plain = isinstance(one, str) or not {"content_schema", "about"} & one.keys()
        if not pinned and name not in coming:
            answers[f"class {name}"] = "missing"
        elif plain and not pinned:
            answers[f"class {name}"] = "waits"
        elif not plain:
            answers[spelled(one)] = demanded(step["args"], late, pinned, one, name in coming)
    return [one for one in answers.values() if one]


def demanded(args: Json, late: list[str], items: list[Json], demand: Json, coming: bool) -> str:
    about = demand.get("about", {})
    early = {name: about[name] for name in about if name not in late}
    if any(is_empty(args.get(name)) for name in early):
        return "missing"
    met = any(meets(item, {**demand, "about": early}, args) for item in items)
    if met and len(early) == len(about):
        return ""
    return "waits" if met or coming else "missing"


def may_come(p: Json, index: int, bound: Any, *, late: bool) -> bool:
    """Return whether a result may still back an argument, or a pinned item a late one."""
    allowed = bound["from"] if isinstance(bound, dict) else bound
    there = [item["classification"] for item in pinned_fresh(p, p["plan"]["steps"][index])]
    return any(one in promised(p, index) or (late and one in there) for one in allowed)


def bindings(p: Json, index: int, tool: Json) -> list[tuple[str, str]]:
    """Return the place of each binding that does not stand now, and `missing` or `waits`."""
    step, late = p["plan"]["steps"][index], late_names(p, index)
    items, args, found = pinned_fresh(p, step), step["args"], list[tuple[str, str]]()
    for name in sorted(tool.get("bound_args", {})):
        bound = tool["bound_args"][name]
        waits = may_come(p, index, bound, late=name in late)
        values = [] if name in late else values_to_back(tool, name, args)
        if name not in late and not values and is_demanded(tool, name):
            found.append((joined("args", *([name] if name in args else [])), "missing"))
        elif name in late or not all(
            any(backs_argument(item, bound, value) for item in items) for value in values
        ):
            found.append((joined("args", name), "waits" if waits else "missing"))
    return found


def groups(p: Json, index: int, tool: Json) -> list[str]:
    """Return `missing` or `waits` for each group that does not stand now."""
    step, late, found = p["plan"]["steps"][index], late_names(p, index), []
    for group in distinct(tool.get("bound_together", [])):
        early = [name for name in group if name not in late]
        wanted = [
            (tool["bound_args"][name], value)
            for name in early
            for value in values_to_back(tool, name, step["args"])
        ]
        names = [n for n in group if n in late or values_to_back(tool, n, step["args"])]
        together = any(
            all(backs_argument(item, bound, value) for bound, value in wanted)
            for item in pinned_fresh(p, step)
        )
        if not names or (together and not any(name in late for name in group)):
            continue
        bound_args = tool["bound_args"]
        waits = any(may_come(p, index, bound_args[name], late=name in late) for name in names)
        found.append("waits" if waits else "missing")
    return found


def first_promise(p: Json, name: str) -> int | None:
    """Return the first step that waits for a class."""
    late = [at for at, _ in enumerate(p["plan"]["steps"]) if is_late(p, at)]
    return next((at for at in late if name in promised(p, at)), None)


# --- conditions ---------------------------------------------------------------------------------


def conditions(p: Json, asking: list[tuple[int, int]], judged: list[tuple[int, int]]) -> list[Json]:
    """Return what the openings of a plan that passes judge.

    Args:
        asking: late values, by step and position, whose places make a person asked.
        judged: those that have a role which provenance judges.
    """
    found: list[tuple[str, int, str]] = []
    for index, step in enumerate(p["plan"]["steps"]):
        tool, takes = find_tool(p, step) or {}, takes_of(p, index)
        late = is_late(p, index)
        found += [("value", index, f"/takes/{position}") for position, _, _ in takes]
        if takes and "args_schema" in tool:
            found.append(("args_schema", index, ""))
        if takes and may_leave(tool) and p["spec"].get("confined_evidence"):
            found.append(("confinement", index, ""))
        if takes and waits_for_a_person(p, tool):
            found.append(("approval", index, ""))
        places = [(index, position) for position, _, _ in takes]
        found += [("approval", at, f"/takes/{one}") for at, one in places if (at, one) in asking]
        waiting = [one for one in demands(p, index, tool) if one == "waits"] if late else []
        waiting += [
            name
            for name in distinct(p["spec"].get("required_evidence", []))
            if first_promise(p, name) == index and not is_pinned(p, name)
        ]
        found += [("evidence", index, "") for _ in waiting]
        if late:
            torn = [one for one in groups(p, index, tool) if one == "waits"]
            found += [("binding", index, "") for _ in torn]
            bound = bindings(p, index, tool)
            found += [("binding", index, place) for place, one in bound if one == "waits"]
        rest = [one for one in places if one in judged and one not in asking]
        found += [("provenance", at, f"/takes/{one}") for at, one in rest]
        if may_repeat(p, index):
            found.append(("repeat", index, ""))
    return [{"kind": kind, "step": index, "path": path} for kind, index, path in found]


def is_pinned(p: Json, name: str) -> bool:
    steps = p["plan"]["steps"]
    return any(one["classification"] == name for step in steps for one in pinned_fresh(p, step))


def may_leave(tool: Json) -> bool:
    return bool(RANKS.index(tool["approval_mode"]) >= RANKS.index("network"))


def waits_for_a_person(p: Json, tool: Json) -> bool:
    """Return whether a person sees the values of a step because of its mode."""
    tier = p["spec"].get("approval_required_from")
    if tier is None or p["spec"].get("late") != "values":
        return False
    return bool(RANKS.index(tool["approval_mode"]) >= RANKS.index(tier))


def may_repeat(p: Json, index: int) -> bool:
    """Return whether a destructive call may turn out to repeat another one."""
    steps, step = p["plan"]["steps"], p["plan"]["steps"][index]
    if (find_tool(p, step) or {}).get("approval_mode") != "destructive":
        return False
    others = [one for at, one in enumerate(steps) if at != index and same_pair(one, step)]
    spent = [one for one in p["ctx"].get("spent", {}).get("calls", []) if same_pair(one, step)]
    late = "takes" in step
    return bool((late and spent) or (others and (late or any("takes" in one for one in others))))


def equal_takes(one: Json, other: Json) -> bool:
    both = [{*map(spelled, step.get("takes", []))} for step in (one, other)]
    return both[0] == both[1]
