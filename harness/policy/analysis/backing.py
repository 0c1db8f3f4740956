"""Build the evidence that a call of a tool needs for its arguments."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from critic import Binding, Demand
from evals.json_schemas import compile_schema
from evals.pointers import segments
from harness.policy.analysis.samples import samples, smallest_first
from harness.policy.envelopes import PolicyTool
from harness.policy.schema_parts import AnySchema

Json = dict[str, Any]
ToolPair = tuple[str, str]

_MOST_CONTENTS: Final = 6
"""How many contents of one item are tried."""


def named_arguments(tool: PolicyTool) -> Iterator[str]:
    """Yield the arguments that a tool names outside its schema."""
    yield from tool.bound_args or ()
    yield from (name for name in tool.arg_roles or () if not name.startswith("/"))
    for demand in tool.requires_evidence or ():
        yield from (demand.about if isinstance(demand, Demand) else None) or ()


class _Need(NamedTuple):
    """One piece of evidence that a call needs.

    `contents` are contents that its schema accepts, `places` the values that they must hold.
    """

    name: str
    contents: list[Any]
    places: list[tuple[str, Any]]


def backed_steps(
    tool: PolicyTool, arguments: Iterable[Json], other: PolicyTool | None
) -> Iterator[tuple[Json, tuple[Json, ...]]]:
    """Yield steps that call the tool, each with its pinned evidence, the smallest first.

    One item meets all demands on its class, or each demand has its own item.

    Args:
        arguments: the arguments of each call.
        other: the tool in another policy, whose demands should not be met by accident.
    """
    contents = [_contents(demand, other) for demand in _demands(tool)]
    for args in arguments:
        needs = [*_list_needs(tool, args, contents), *_bindings(tool, args, other)]
        yield from _back_call(tool, args, needs)


def sampled_schemas(tool: PolicyTool, other: PolicyTool | None) -> Iterator[tuple[AnySchema, int]]:
    """Yield each schema of a demand, with how often `backed_steps` makes values of it."""
    own = Counter(demand.class_ for demand in _demands(tool))
    for demand, often in (
        *((demand, 1) for demand in _demands(tool)),
        *((demand, own[demand.class_]) for demand in _demands(other)),
    ):
        if often and demand.content_schema is not None:
            yield demand.content_schema, often


def _back_call(
    tool: PolicyTool, args: Json, apart: list[_Need]
) -> Iterator[tuple[Json, tuple[Json, ...]]]:
    step = {"kind": "tool", "adapter_id": tool.adapter_id, "capability_id": tool.capability_id}
    called = {**step, "args": args} if args else step
    together = _merge_needs(apart)
    for needs in (together, apart) if len(apart) > len(together) else (apart,):
        for choice in range(max([1, *(len(need.contents) for need in needs)])):
            evidence = tuple(_items(needs, choice))
            yield pin_evidence(called, [item["id"] for item in evidence]), evidence


def _items(needs: list[_Need], choice: int) -> Iterator[Json]:
    seen: dict[str, int] = {}
    for need in needs:
        seen[need.name] = seen.get(need.name, 0) + 1
        number = f"/{seen[need.name]}" if seen[need.name] > 1 else ""
        content = need.contents[min(choice, len(need.contents) - 1)]
        item = item_of(need.name, _with_values(content, need.places))
        yield {**item, "id": f"{item['id']}{number}"}


def _merge_needs(needs: list[_Need]) -> list[_Need]:
    by_class: dict[str, _Need] = {}
    for need in needs:
        known = by_class.get(need.name, _Need(need.name, [{}], []))
        contents = known.contents if known.contents != [{}] else need.contents
        by_class[need.name] = _Need(need.name, contents, [*known.places, *need.places])
    return list(by_class.values())


def pin_evidence(step: Json, refs: list[str]) -> Json:
    """Return the step with more evidence pinned."""
    pinned = [*step.get("evidence_refs", ()), *refs]
    return {**step, "evidence_refs": pinned} if pinned else step


def _demands(tool: PolicyTool | None) -> list[Demand]:
    """Return the demands of a tool on the content of evidence."""
    wanted = (tool.requires_evidence if tool else None) or ()
    return [one for one in wanted if isinstance(one, Demand)]


def _list_needs(tool: PolicyTool, args: Json, contents: list[list[Any]]) -> Iterator[_Need]:
    yield from (
        _Need(one, [{}], []) for one in tool.requires_evidence or () if isinstance(one, str)
    )
    for demand, fitting in zip(_demands(tool), contents, strict=True):
        about = (demand.about or {}).items()
        places = [(place, args[argument]) for argument, place in about if argument in args]
        yield _Need(demand.class_, fitting, places)


def _contents(demand: Demand, other: PolicyTool | None) -> list[Any]:
    """Return contents that meet the demand; some of them do not meet the other tool's."""
    others = [one.content_schema for one in _demands(other) if one.class_ == demand.class_]
    schemas = [schema for schema in (demand.content_schema, *others) if schema is not None]
    found = smallest_first(value for schema in schemas for value in samples(schema))
    fits = compile_schema(True if demand.content_schema is None else demand.content_schema).is_valid
    return list(islice(filter(fits, found), _MOST_CONTENTS)) or [{}]


def _bindings(tool: PolicyTool, args: Json, other: PolicyTool | None) -> Iterator[_Need]:
    """Yield a need for each group of given arguments."""
    left = [name for name in tool.bound_args or () if name in args]
    while left:
        group = _group(tool, left[0])
        members = [name for name in left if name in group]
        left = [name for name in left if name not in group]
        places = [place for name in members for place in _places(tool, args, name, other)]
        yield _Need(_class_of(tool, members, other), [{}], places)


def _group(tool: PolicyTool, name: str) -> set[str]:
    """Return the arguments that one item backs together with this one."""
    group = {name}
    for _ in tool.bound_together or ():
        for names in tool.bound_together or ():
            group |= set(names) if not group.isdisjoint(names) else set()
    return group


def _class_of(tool: PolicyTool, members: list[str], other: PolicyTool | None) -> str:
    """Return a class that may back all of these arguments, preferably not one of the other tool."""
    bound, others = tool.bound_args or {}, (other.bound_args if other else None) or {}
    allowed = [_classes_from(bound[name]) for name in members]
    common = [one for one in allowed[0] if all(one in more for more in allowed)]
    taken = {one for name in members if name in others for one in _classes_from(others[name])}
    return min(common or ["none"], key=lambda one: one in taken)


def _classes_from(binding: tuple[str, ...] | Binding) -> tuple[str, ...]:
    return binding.from_ if isinstance(binding, Binding) else binding


def _places(
    tool: PolicyTool, args: Json, name: str, other: PolicyTool | None
) -> Iterator[tuple[str, Any]]:
    """Yield the values that an item must hold to back an argument, with their places."""
    binding = (tool.bound_args or {})[name]
    known = ((other.bound_args if other else None) or {}).get(name)
    taken = (known.at if isinstance(known, Binding) else None) or ()
    at = (binding.at if isinstance(binding, Binding) else None) or (f"/{name}",)
    at = tuple(sorted(at, key=lambda place: place in taken))
    for index, scalar in enumerate(scalars_of(args[name])):
        place = at[min(index, len(at) - 1)]
        yield place.replace("*", str(index) if len(at) == 1 else "0"), scalar


def scalars_of(value: Any) -> Iterator[Any]:
    """Yield the scalars of a JSON value."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from scalars_of(inner)
    else:
        yield value


def _with_values(content: Any, places: Iterable[tuple[str, Any]]) -> Any:
    """Return the content with a value at each of the JSON pointers."""
    for place, value in places:
        content = _with_value(content, segments(place), value)
    return content


def _with_value(content: Any, parts: tuple[str, ...], value: Any) -> Any:
    if not parts:
        return value
    first, rest = parts[0], parts[1:]
    if first.isdecimal() and (isinstance(content, list) or not content):
        listed = list(content) if isinstance(content, list) else []
        listed += [None] * (min(int(first), 100) + 1 - len(listed))
        listed[min(int(first), 100)] = _with_value(listed[min(int(first), 100)], rest, value)
        return listed
    known = content if isinstance(content, dict) else {}
    return {**known, first: _with_value(known.get(first), rest, value)}


def item_of(name: str, content: Any, prefix: str = "witness") -> Json:
    """Return an item of evidence of a class."""
    return {"id": f"{prefix}/{name}", "classification": name, "content": content}
