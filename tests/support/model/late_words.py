"""A late value before it is there: a word that stands at its place and nowhere else."""

import copy
from typing import Any

from tests.support.model.facts import Json, find_class, find_tool, joined
from tests.support.model.late import (
    is_late,
    output_schema,
    put,
    source_named,
    split,
    takes_of,
    types,
    walk,
    yielded,
)
from tests.support.model.provenance import (
    Judged,
    is_beyond,
    is_empty_call,
    judged_items,
    titles,
    tool_answer,
)
from tests.support.model.values import roles_at, values_of


def worded(p: Json, index: int) -> tuple[Json, dict[str, int]]:
    """Return the plan with words for all late values, as the step sees it, and their places."""
    q, places = copy.deepcopy(p), dict[str, int]()
    manifests = q["compiled"]["manifests"]
    classes = manifests.get("classes", [])
    plain = [{**one, "class": f"zz/{one['class']}"[:128]} for one in classes]
    for one in plain:
        one.pop("schema", None)
    for at, _ in enumerate(q["plan"]["steps"]):
        for position, take, source in takes_of(p, at):
            word = f"zq{'abcdefghij'[at % 10]}{'klmnopqrst'[at // 10]}{'uvwxyzabcd'[position]}qz"
            step = q["plan"]["steps"][at]
            way = [str(one) for one in put(step["args"], take["arg"], word) or []]
            if at == index:
                places[joined("args", *way)] = position
            for origin, place, listed in origins(p, source, take["at"]):
                for content in contents(q, origin, (place, listed), word):
                    item = item_with(q, origin, content, plain)
                    manifests["evidence_manifest"].append(item)
    if plain:
        manifests["classes"] = [*classes, *plain]
    before = [find_tool(p, p["plan"]["steps"][one]) for one in sources(p, index)]
    ran = [{k: t[k] for k in ("adapter_id", "capability_id")} for t in before if t is not None]
    session = {"id": "s", "turn": 0, **q["ctx"].get("session", {})}
    q["ctx"]["session"] = {**session, "ran": [*session.get("ran", []), *ran]}
    return q, places


def sources(p: Json, index: int) -> list[int]:
    """Return the steps that come before one for sure."""
    step, found = p["plan"]["steps"][index], list[int]()
    ids = [one.get("id") for one in p["plan"]["steps"][:index]]
    named = [ids.index(name) for name in step.get("depends_on", []) if name in ids]
    named += [source for _, _, source in takes_of(p, index)]
    pinned = [source_named(p, index, name) for name in step.get("evidence_steps", [])]
    for one in [*named, *(at for at in pinned if at is not None)]:
        found += [one, *sources(p, one)]
    return found


def origins(p: Json, source: int, at: str, *, listed: bool = False) -> list[tuple[int, str, bool]]:
    """Return where a word stands: for what is derived, where that was taken from."""
    tool = find_tool(p, p["plan"]["steps"][source]) or {}
    if not tool.get("result", {}).get("derived"):
        return [(source, at, listed)]
    found = []
    for _, take, inner in takes_of(p, source):
        for one, place, among in origins(p, inner, take["at"]):
            text = types(walk(output_schema(p, one), place, star=True)) == ["string"]
            found.append((one, place, among or not text))
    return sorted(set(found))


def contents(q: Json, source: int, placed: tuple[str, bool], word: str) -> list[Any]:
    """Return the outputs that hold the word: at the place, or in each field below it."""
    tool = find_tool(q, q["plan"]["steps"][source]) or {}
    fields = [*q["compiled"]["manifests"].get("record_fields", [])]
    fields += find_class(q, tool.get("yields", "")).get("fields", {})
    names = [part for one in fields for part in (split(one) if one.startswith("/") else [one])]
    (at, listed), found = placed, list[Any]()
    if not listed:
        return [nested(split(at), word, names, word)]
    for one in fields:
        if one.startswith("/") and is_below(split(one), split(at)):
            found.append(nested(split(one), word, names, word))
    members = {one: word for one in fields if not one.startswith("/")}
    if members and (at == "" or (len(split(at)) == 1 and is_listed(split(at)[0]))):
        found.append([members])
    return found or [nested([*split(at), "*"], word, names, word)]


def is_below(way: list[str], place: list[str]) -> bool:
    same = [
        one == other or (is_listed(one) and is_listed(other))
        for one, other in zip(way, place, strict=False)
    ]
    return len(way) > len(place) and all(same)


def is_listed(part: str) -> bool:
    return part == "*" or (part.isdigit() and (part == "0" or part[0] != "0"))


def nested(way: list[str], content: Any, names: list[str], word: str) -> Any:
    """Return content that holds a value at the end of a way."""
    for part in reversed(way):
        content = [content] if is_listed(part) else {part if part in names else word: content}
    return content


def item_with(q: Json, source: int, content: Any, plain: list[Json]) -> Json:
    tool = find_tool(q, step := q["plan"]["steps"][source]) or {}
    label, name = tool.get("result", {}), yielded(tool)
    author, table = label.get("author", "public"), find_class(q, tool.get("yields", ""))
    if table and label.get("format") == "json":
        name = f"zz/{name}"[:128]
    elif table:
        others = [one for one in table["fields"].values() if one != "system"]
        name, author = f"result:{tool['adapter_id']}.zz", "public" if others else author
    source_of = {"author": author, "standing": standing(q, tool, step, plain)}
    source_of |= {"web": True} if label.get("web") else {}
    count = len(q["compiled"]["manifests"]["evidence_manifest"])
    return {"id": f"zz/{count}", "classification": name, "content": content, "source": source_of}


def standing(q: Json, tool: Json, step: Json, plain: list[Json]) -> str:
    from tests.support.model.sessions import standing_by  # noqa: PLC0415 - it judges plans, too

    q = copy.deepcopy(q)
    manifests = q["compiled"]["manifests"]
    if plain:
        manifests["classes"] = [*manifests.get("classes", []), *plain]
    locators = [one for one in values_of(tool, step["args"]) if one.role == "locator"]
    found = [standing_by(q, tool, one) for one in locators]
    return min(found, key=("named", "reached", "ambient", "led").index, default="ambient")


# --- what provenance says of a late step --------------------------------------------------------


class LateDoubts:
    """The doubts about a step: its tool, and the places in it, by what becomes of each."""

    def __init__(self, p: Json, index: int) -> None:
        q, places = worded(p, index)
        step = q["plan"]["steps"][index]
        self.tool = tool_answer(q, step)
        self.beyond = is_beyond(q, step)
        self.refused, self.asked, self.late_asked = list[str](), list[str](), list[int]()
        for value, (_, answer) in judged_items(q, step):
            late = None if value.value == value.place[-1] else places.get(value.path)
            one = Judged(value.role, value.path, "", answer)
            if late is None or one.role not in ("content", "time"):
                where = one.place if late is None else f"/takes/{late}"
                if one.answer == "refuse":
                    self.refused.append(where)
                elif one.answer == "ask":
                    self.late_asked += [] if late is None else [late]
                    self.asked.append(where)
        tool = find_tool(q, step) or {}
        self.asked += ["/args"] if is_empty_call(q, tool, step) else []
        self.asked += [place for place in titles(q, tool, step) if place not in places]
        doubted = self.refused or self.asked
        self.both = self.tool != "allow" and bool(doubted)
        self.clearable = not self.both or p["spec"].get("provenance") == "open"

    @property
    def tool_is_refused(self) -> bool:
        return self.tool == "refuse" and not self.beyond

    @property
    def refused_places(self) -> list[str]:
        return ["/args"] if self.beyond else self.refused


def judged_takes(p: Json) -> list[tuple[int, int]]:
    """Return the late values, by step and position, with a role that provenance judges."""
    found = []
    for index, step in enumerate(p["plan"]["steps"]):
        tool = find_tool(p, step)
        if "provenance" not in p["spec"] or tool is None or tool["approval_mode"] == "read_only":
            continue
        for position, take, _ in takes_of(p, index):
            if has_role(tool, split(take["arg"])):
                found.append((index, position))
    return found


def has_role(tool: Json, way: list[str]) -> bool:
    """Return whether a place, or one around or below it, has a role."""
    roles = tool.get("arg_roles", {})
    if not roles or roles_at(tool, way):
        return True
    for name in roles:
        parts = split(name) if name.startswith("/") else [name]
        head = parts[: len(way)]
        same = all(one in (other, "*") for one, other in zip(head, way, strict=False))
        if len(parts) > len(way) and same:
            return True
    return False


def late_doubts(p: Json) -> dict[int, LateDoubts]:
    """Return the doubts about each late step that provenance judges."""
    found = dict[int, LateDoubts]()
    for index, step in enumerate(p["plan"]["steps"]):
        tool = find_tool(p, step)
        judged = "provenance" in p["spec"] and tool is not None
        if judged and tool is not None and tool["approval_mode"] != "read_only":
            found |= {index: LateDoubts(p, index)} if is_late(p, index) else {}
    return found
