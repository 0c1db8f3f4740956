"""What a tool demands of evidence, stated a second time by plain search, and held against it."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from critic import EvidenceItem, ToolCapability
from evals.canonical_json import canonical_json
from evals.evidence import (
    EvidenceFault,
    EvidenceReview,
    MissingArgument,
    MissingClass,
    PinFault,
    UnbackedArgument,
    UnbackedGroup,
    UnmetDemand,
    list_names,
    said_of,
)
from evals.json_schemas import compile_schema
from evals.needs import Need, needs_of
from harness.wire import build
from tests.support.effort import examples
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(400))
TOOL: Json = {"adapter_id": "a", "capability_id": "c", "approval_mode": "read_only"}
ABSENT = object()


def faults(
    tool: Json,
    items: list[Json],
    args: Json,
    claims: tuple[str, ...] = (),
    refs: list[str] | None = None,
) -> list[EvidenceFault]:
    """Return what the evidence of a step lacks that pins all the items, or the refs."""
    built = [build(EvidenceItem, item) for item in items]
    review = EvidenceReview({item.id: item for item in built}, None)
    pinned = [item.id for item in built] if refs is None else refs
    return list(review.faults(build(ToolCapability, {**TOOL, **tool}), claims, pinned, args))


def told(found: list[EvidenceFault]) -> list[Any]:
    """Return the faults as plain values."""
    said: list[Any] = []
    for fault in found:
        match fault:
            case MissingClass():
                said.append(("class", fault.classification))
            case UnmetDemand():
                said.append(("demand", fault.need.classification))
            case PinFault():
                said.append(("pin", fault.ref))
            case MissingArgument():
                said.append(("missing", fault.name))
            case UnbackedArgument():
                said.append(("unbacked", fault.name))
            case UnbackedGroup():
                said.append(("group", fault.names))
    return said


# --- the second statement ---------------------------------------------------------------------


def same(one: Any, other: Any) -> bool:
    return canonical_json(one) == canonical_json(other)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, list):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the pointer of everything in a value. No key of these tests needs an escape."""
    yield path, value
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for name, part in parts:
        yield from places(part, f"{path}/{name}")


def fits(path: str, pattern: str) -> bool:
    one, other = path.split("/"), pattern.split("/")
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(want in ("*", name) for name, want in pairs)


def is_empty(value: Any) -> bool:
    return value is ABSENT or value is None or value == "" or leaves(value) == []


def backed_by(item: Json, leaf: Any, at: list[str] | None) -> bool:
    content = item.get("content")
    if content is None:
        return False
    if isinstance(content, str):
        spelled = leaf if isinstance(leaf, str) else canonical_json(leaf).decode()
        words = [content] if leaf is None or isinstance(leaf, bool) else content.split()
        return at is None and spelled in words
    if at is None:
        return any(same(one, leaf) for one in leaves(content))
    return any(
        same(value, leaf)
        for path, value in places(content)
        if any(fits(path, pattern) for pattern in at)
    )


def meets(item: Json, demand: Json, args: Json) -> bool:
    content = item.get("content")
    if "content_schema" in demand and (
        content is None or not compile_schema(demand["content_schema"]).is_valid(content)
    ):
        return False
    for name, pointer in demand.get("about", {}).items():
        value = args.get(name, ABSENT)
        if is_empty(value) or content is None or isinstance(content, str):
            return False
        found = [part for path, part in places(content) if path == pointer]
        if not found:
            return False
        there = found[0] if isinstance(found[0], list) else found
        if isinstance(value, list):
            if not all(any(same(one, part) for part in there) for one in value):
                return False
        elif not same(found[0], value):
            return False
    return True


def expected(tool: Json, items: list[Json], args: Json, claims: tuple[str, ...]) -> list[Any]:
    said: list[Any] = []
    entries = [*tool.get("requires_evidence", []), *claims]
    demands = [{"class": entry} if isinstance(entry, str) else entry for entry in entries]
    for at, demand in enumerate(demands):
        name = demand["class"]
        of_class = [item for item in items if item["classification"] == name]
        if any(meets(item, demand, args) for item in of_class) or demand in demands[:at]:
            continue
        if of_class or ("class", name) not in said:
            said.append(("demand" if of_class else "class", name))
    bindings: dict[str, Json] = {
        name: {"from": binding, "loose": True} if isinstance(binding, list) else binding
        for name, binding in tool.get("bound_args", {}).items()
    }
    given: dict[str, Any] = {}
    for name in sorted(bindings):
        binding, value = bindings[name], args.get(name, ABSENT)
        if "loose" not in binding and is_empty(value):
            said += [] if binding.get("optional") else [("missing", name)]
        elif value is not ABSENT:
            given[name] = leaves(value)
            allowed = [item for item in items if item["classification"] in binding["from"]]
            if not all(
                any(backed_by(item, leaf, binding.get("at")) for item in allowed)
                for leaf in given[name]
            ):
                said.append(("unbacked", name))
    for group in tool.get("bound_together", []):
        names = tuple(name for name in group if given.get(name))
        alone = [
            item
            for item in items
            if all(item["classification"] in bindings[name]["from"] for name in names)
            and all(
                backed_by(item, leaf, bindings[name].get("at"))
                for name in names
                for leaf in given[name]
            )
        ]
        if names and not alone:
            said.append(("group", names))
    return said


# --- the worlds -------------------------------------------------------------------------------

scalars = st.sampled_from(["o1", "o2", 1, 1.0, True, 0, False, None, ""])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", "*", "0"]), inner, max_size=3)
    ),
    max_leaves=6,
)
pointers = st.sampled_from(["", "/a", "/b", "/*", "/a/b", "/a/*", "/*/b", "/a/0", "/0", "/b/1"])
classes = st.sampled_from(["k", "m"])
contents = st.one_of(
    st.just(ABSENT),
    st.sampled_from(["o1 o2", "o1", "1"]),
    st.dictionaries(st.sampled_from(["a", "b", "*", "0"]), values, max_size=3),
    values.filter(lambda value: value is not None and type(value) is not str),
)
schemas = st.sampled_from([True, {"required": ["a"]}, {"type": "object"}, {"type": "string"}])


@st.composite
def items_of(draw: st.DrawFn) -> list[Json]:
    found = []
    for at in range(draw(st.integers(0, 3))):
        content = draw(contents)
        item = {"id": f"e{at}", "classification": draw(classes)}
        found.append(item if content is ABSENT else {**item, "content": content})
    return found


@st.composite
def entries(draw: st.DrawFn) -> Any:
    demand: Json = {"class": draw(classes)}
    if draw(st.booleans()):
        demand["content_schema"] = draw(schemas)
    if draw(st.booleans()):
        about = st.dictionaries(st.sampled_from(["x", "y"]), pointers, min_size=1)
        demand["about"] = draw(about)
    return draw(st.sampled_from([demand, demand, demand["class"]]))


@st.composite
def bindings(draw: st.DrawFn) -> Any:
    names = draw(st.lists(classes, max_size=2))
    if draw(st.booleans()):
        return names
    at = draw(st.none() | st.lists(pointers, max_size=2))
    optional = {"optional": True} if draw(st.booleans()) else {}
    return {"from": names, **({} if at is None else {"at": at}), **optional}


@st.composite
def tools(draw: st.DrawFn) -> Json:
    bound = draw(st.dictionaries(st.sampled_from(["x", "y", "z"]), bindings()))
    groups = st.lists(st.lists(st.sampled_from(sorted(bound)), max_size=3), max_size=2)
    return {
        "requires_evidence": draw(st.lists(entries(), max_size=3)),
        "bound_args": bound,
        "bound_together": draw(groups) if bound else [],
    }


arguments = st.dictionaries(st.sampled_from(["x", "y", "z"]), values)


def distinct(groups: list[list[str]]) -> list[list[str]]:
    return [group for at, group in enumerate(groups) if group not in groups[:at]]


@LAW
@given(tools(), items_of(), arguments, st.lists(classes, max_size=1).map(tuple))
def test_the_review_finds_what_plain_search_finds(
    tool: Json, items: list[Json], args: Json, claims: tuple[str, ...]
) -> None:
    tool = {**tool, "bound_together": distinct(tool["bound_together"])}
    found = told(faults(tool, items, args, claims))
    for fault in found:
        event(fault[0])
    assert found == expected(tool, items, args, claims)


@LAW
@given(tools(), items_of(), arguments, st.data())
def test_more_evidence_never_makes_a_fault(
    tool: Json, items: list[Json], args: Json, data: st.DataObject
) -> None:
    some = [item["id"] for item in items if data.draw(st.booleans())]
    fewer = told(faults(tool, items, args, refs=some))
    more = told(faults(tool, items, args))
    # A class of which nothing was pinned may turn into demands that are not met.
    allowed = {*fewer, *(("demand", name) for kind, name in fewer if kind == "class")}
    assert {*more} <= allowed


# --- what a second statement would get wrong in the same way ------------------------------------

ITEM: Json = {"id": "e", "classification": "k"}


@pytest.mark.parametrize(
    ("content", "value", "met"),
    [
        ({"n": 7}, 7.0, True),
        ({"n": 7}, "7", False),
        ({"n": 1}, True, False),
        ({"n": [7, 8]}, 7, False),
        ({"n": [7, 8]}, [8, 7], True),
        ({"n": [7, 8]}, [7, 9], False),
        ({"n": 7}, [7, 7.0], True),
        ({"n": [[7]]}, [7], False),
        ({"n": [[7]]}, [[7]], True),
        ({"n": {"b": 1, "a": 2}}, {"a": 2.0, "b": 1}, True),
        ({"n": {"b": 1}}, {"a": 2, "b": 1}, False),
        ({"n": None}, None, False),
        ({"n": []}, [], False),
        ({"n": ""}, "", False),
        ({"m": 7}, 7, False),
        ('{"n": 7}', 7, False),
    ],
)
def test_about_compares_with_the_one_value_at_the_pointer(
    content: Any, value: Any, met: bool
) -> None:
    tool = {"requires_evidence": [{"class": "k", "about": {"x": "/n"}}]}
    found = faults(tool, [{**ITEM, "content": content}], {"x": value})
    assert told(found) == ([] if met else [("demand", "k")])


def test_a_star_is_a_name_in_about_and_any_member_in_at() -> None:
    about = {"requires_evidence": [{"class": "k", "about": {"x": "/*"}}]}
    bound = {"bound_args": {"x": {"from": ["k"], "at": ["/*"]}}}
    for content, named in (({"a": 7}, False), ({"*": 7}, True)):
        items = [{**ITEM, "content": content}]
        assert told(faults(about, items, {"x": 7})) == ([] if named else [("demand", "k")])
        assert faults(bound, items, {"x": 7}) == []


def test_the_whole_content_is_at_the_empty_pointer() -> None:
    tool = {
        "requires_evidence": [{"class": "k", "about": {"x": ""}}],
        "bound_args": {"x": {"from": ["k"], "at": [""]}},
    }
    assert faults(tool, [{**ITEM, "content": 7}], {"x": 7}) == []
    assert told(faults(tool, [{**ITEM, "content": "7"}], {"x": "7"})) == [
        ("demand", "k"),
        ("unbacked", "x"),
    ]


def test_a_needless_schema_still_wants_content() -> None:
    tool = {"requires_evidence": [{"class": "k", "content_schema": True}]}
    assert told(faults(tool, [ITEM], {})) == [("demand", "k")]
    assert faults(tool, [{**ITEM, "content": "x"}], {}) == []


def test_formats_are_asserted_of_content() -> None:
    schema = {"properties": {"until": {"format": "date"}}, "required": ["until"]}
    tool = {"requires_evidence": [{"class": "k", "content_schema": schema}]}
    assert faults(tool, [{**ITEM, "content": {"until": "2026-05-09"}}], {}) == []
    assert faults(tool, [{**ITEM, "content": {"until": "always"}}], {})


def test_one_class_may_be_demanded_twice_and_by_two_items() -> None:
    demands = [{"class": "k", "content_schema": {"required": [name]}} for name in "ab"]
    items = [{"id": name, "classification": "k", "content": {name: 1}} for name in "ab"]
    tool = {"requires_evidence": [*demands, demands[0], "k"]}
    assert faults(tool, items, {}) == []
    assert told(faults(tool, items[:1], {})) == [("demand", "k")]
    assert told(faults(tool, [], {})) == [("class", "k")]


def test_an_edit_in_place_is_seen_by_the_next_review() -> None:
    demand = {"class": "k", "content_schema": {"required": ["a"]}, "about": {"x": "/a"}}
    wire = {**TOOL, "requires_evidence": [demand], "bound_args": {"x": ["k"]}}
    tool = build(ToolCapability, wire)
    item = build(EvidenceItem, {**ITEM, "content": {"a": 1, "b": [2]}})

    def found(args: Json) -> list[Any]:
        return told(list(EvidenceReview({"e": item}, None).faults(tool, None, ["e"], args)))

    (required,) = tool.requires_evidence or ()
    assert not isinstance(required, str)
    assert found({"x": 1}) == []
    (required.content_schema or {})["required"] = ["c"]
    assert found({"x": 1}) == [("demand", "k")]
    (required.content_schema or {})["required"] = ["b"]
    (required.about or {})["x"] = "/b/0"
    assert found({"x": 2}) == []
    item.content["b"][0] = 3
    assert found({"x": 2}) == [("demand", "k"), ("unbacked", "x")]
    (tool.bound_args or {})["x"] = ()
    assert found({"x": 3}) == [("unbacked", "x")]


def test_needs_are_kept_with_the_tool() -> None:
    tool = build(ToolCapability, {**TOOL, "bound_args": {"x": {"from": ["k"]}}})
    assert needs_of(tool) is needs_of(tool)
    assert needs_of(tool) is not needs_of(tool.model_copy())
    assert needs_of(tool) == needs_of(tool.model_copy())


def test_a_demand_is_the_same_in_either_order_of_its_entries() -> None:
    orders = [{"x": "/a", "y": "/b"}, {"y": "/b", "x": "/a"}]
    demands = [{"class": "k", "about": about} for about in orders]
    tool = build(ToolCapability, {**TOOL, "requires_evidence": demands})
    assert len(needs_of(tool).demands) == 1


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (["a", "b", "<c>"], "a, b and \\u003cc\\u003e"),
        (["a", "b", "c", "d", "e"], "a, b, c, d and e"),
        (["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d, e and 2 more"),
    ],
)
def test_a_few_names_are_listed_and_the_rest_is_counted(names: list[str], said: str) -> None:
    assert list_names(names) == said


def test_what_a_demand_asks_for_is_said_in_words() -> None:
    schema = compile_schema({"required": ["a"]})
    about = tuple((f"x{at}", f"/{at}") for at in range(7))
    assert said_of(Need("k", schema)) == "satisfies the content_schema"
    assert said_of(Need("k", None, (("x", ""),))) == "holds argument x at its root"
    assert said_of(Need("k", schema, about[:2])) == (
        "satisfies the content_schema and holds argument x0 at /0, argument x1 at /1"
    )
    assert said_of(Need("k", None, about)).endswith("argument x4 at /4, 2 more")


# --- time ---------------------------------------------------------------------------------------


def test_many_steps_against_one_large_item_take_linear_time() -> None:
    count = 3000
    rows = [{"id": f"o{at}", "n": at, f"p{at}": at} for at in range(count)]
    item = build(EvidenceItem, {**ITEM, "content": {"rows": rows, "all": list(range(count))}})
    review = EvidenceReview({"e": item}, None)
    for at in range(count):
        wire = {
            "requires_evidence": [{"class": "k", "about": {"list": "/all"}}],
            "bound_args": {
                "id": {"from": ["k"], "at": ["/rows/*/id"]},
                "p": {"from": ["k"], "at": [f"/rows/*/p{at}", f"/*/{at}/n"]},
            },
            "bound_together": [["id", "p"]],
        }
        tool = build(ToolCapability, {**TOOL, **wire})
        args = {"id": f"o{at}", "p": at, "list": [at]}
        assert list(review.faults(tool, None, ["e"], args)) == []


def test_many_values_against_many_items_take_linear_time() -> None:
    count = 3000
    items = [
        build(EvidenceItem, {"id": f"e{at}", "classification": "k", "content": {"n": at}})
        for at in range(count)
    ]
    wire = {
        "bound_args": {"x": {"from": ["k"], "at": ["/n"]}, "y": {"from": ["k"]}},
        "bound_together": [["x"], ["y"], ["x", "y"]],
    }
    review = EvidenceReview({item.id: item for item in items}, None)
    tool = build(ToolCapability, {**TOOL, **wire})
    args = {"x": list(range(count)), "y": list(range(count))}
    found = review.faults(tool, None, [item.id for item in items], args)
    assert told(list(found)) == [("group", ("x",)), ("group", ("y",)), ("group", ("x", "y"))]
