"""Policy files of a megabyte: each list, table, name and schema of a policy, grown."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count, pairwise
from typing import Any, Final

import orjson

MOST: Final = 1_000_000

Json = dict[str, Any]
_HEAD: Final = '[guard]\nsafety_mode = "destructive"\n[spec]\nid = "s"\nrequired_outputs = []\n'


def numbered(pattern: str, size: int) -> str:
    """Return a pattern with numbers of its own again and again, in so many bytes."""
    made, length = [], 0
    for number in count():
        made.append(pattern.format(number))
        length += len(made[-1].encode())
        if length > size:
            return "".join(made[:-1])
    raise AssertionError


def tool(name: str = "t", mode: str = "destructive", /, **more: Any) -> Json:
    """Return a tool in JSON."""
    return {"adapter_id": "a", "capability_id": name, "approval_mode": mode, **more}


def policy(tools: list[Json], spec: Json | None = None, **more: Any) -> Json:
    """Return a policy in JSON."""
    own = {"id": "s", "required_outputs": [], "provenance": "closed", **(spec or {})}
    return {"guard": {"safety_mode": "destructive"}, "spec": own, "tool": tools, **more}


def _names(many: int) -> list[str]:
    return [f"n{at:x}" for at in range(many)]


def _schema(names: list[str], **more: Any) -> Json:
    return {"properties": {name: {"type": "string"} for name in names}, **more}


def _roles(names: list[str]) -> Json:
    return dict.fromkeys(names, "recipient")


def _deep(levels: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"x": schema}}
    return schema


def _fill(make: Callable[[str], Json], **more: Any) -> Json:
    """Return a policy with as many of these tools as there is room for, each under its name."""
    size = len(orjson.dumps(make("t0000")))
    many = min(9_999, (MOST - len(orjson.dumps(more)) - 1_000) // (size + 3))
    return policy([make(f"t{at:04}") for at in range(many)], **more)


def _class(name: str, writer: str, many: int, **more: Any) -> Json:
    return {"name": name, "fields": dict.fromkeys(_names(many), writer), **more}


_N: Final = _names(1_000)
_M: Final = [f"m{at:x}" for at in range(1_000)]
_OTHERS: Final = {"anyOf": [{"required": ["n0"]}, {"required": ["n1"]}]}
_JSON: Final = {"author": "system", "format": "json"}
_PLACES: Final = [f"/{name}" for name in _N]


_TOOLS: Final[Mapping[str, Callable[[str], Json]]] = {
    "bare": tool,
    "free": lambda name: tool(name, arg_roles={"x": "content"}, result={"author": "system"}),
    "following": lambda name: tool(
        name, follows=[{"adapter_id": "a", "capability_id": f"u{name}"}]
    ),
    "of unknown classes": lambda name: tool(name, requires_evidence=[f"c{name}"]),
    "with arguments": lambda name: tool(
        name, args_schema=_schema(_N[:10]), arg_roles=_roles(_N[:10])
    ),
    "with choices": lambda name: tool(
        name, args_schema={**_schema(_N[:10]), **_OTHERS}, arg_roles=_roles(_N[:10])
    ),
    "of long names": lambda name: tool(name, name=name * 20),
    "with outputs": lambda name: tool(name, produces=_N),
    "with roles": lambda name: tool(name, args_schema=_schema(_N), arg_roles=_roles(_N)),
    "with roles and choices": lambda name: tool(
        name, args_schema={**_schema(_N), **_OTHERS}, arg_roles=_roles(_N)
    ),
    "with unknown roles": lambda name: tool(name, args_schema=_schema(_N), arg_roles=_roles(_M)),
    "without roles": lambda name: tool(name, args_schema=_schema(_N), arg_roles={"x": "object"}),
    "with roles at places": lambda name: tool(
        name, args_schema=_schema(_N), arg_roles={f"/{one}/*/id": "object" for one in _N}
    ),
    "with roles at any place": lambda name: tool(
        name, arg_roles={f"/{'*/' * at}x": "object" for at in range(60)}
    ),
    "with kinds": lambda name: tool(
        name, arg_roles=_roles(_N), arg_kinds=dict.fromkeys(_N[::-1], "order")
    ),
    "with misspelt kinds": lambda name: tool(
        name, arg_roles=_roles(_N), arg_kinds=dict.fromkeys(_N, "emial")
    ),
    "with bindings": lambda name: tool(name, bound_args={one: ["c"] for one in _N}),
    "with bindings to many": lambda name: tool(name, bound_args={"x": _N}),
    "with groups": lambda name: tool(
        name,
        bound_args={one: ["c"] for one in _N},
        bound_together=[list(pair) for pair in pairwise(_N)],
    ),
    "with demands": lambda name: tool(name, requires_evidence=_N),
    "with demands about": lambda name: tool(
        name, requires_evidence=[{"class": "c", "about": {one: f"/{one}" for one in _N}}]
    ),
    "with schemas of demands": lambda name: tool(
        name,
        requires_evidence=[{"class": "c", "content_schema": {"required": [one]}} for one in _N],
    ),
    "that follow": lambda name: tool(
        name, follows=[{"adapter_id": "a", "capability_id": one} for one in _N]
    ),
    "that may be empty": lambda name: tool(name, arg_roles=_roles(_N), may_be_empty=_M),
    "that make": lambda name: tool(
        name, result={"author": "public", "makes": dict.fromkeys(_N, "emial")}
    ),
    "of deep schemas": lambda name: tool(name, args_schema=_deep(30)),
    "that lead back": lambda name: tool(
        name,
        args_schema={
            "$defs": {"n": {"properties": {name: {"$ref": "#/$defs/n"} for name in "cd"}}},
            "$ref": "#/$defs/n",
        },
    ),
    "of wrong modes": lambda name: tool(name, f"x{name}"),
    "of unknown keys": lambda name: tool(name, aproval_mod=1, zz=2),
    "of one name": lambda name: tool(),  # noqa: ARG005
}
"""Tools by what they have much of."""

_SCHEMAS: Final[Mapping[str, Callable[[], Json]]] = {
    "pattern": lambda: {"properties": {"x": {"pattern": "a" * 900_000}}},
    "pattern of counts": lambda: {"properties": {"x": {"pattern": "(a{1,900})" * 900}}},
    "patterns": lambda: {"properties": {name: {"pattern": name} for name in _names(25_000)}},
    "some patterns": lambda: {"properties": {name: {"pattern": f"{name}\\w{{9}}"} for name in _N}},
    "enum": lambda: {"properties": {"x": {"enum": _names(100_000)}}},
    "choices": lambda: {"anyOf": [{"required": [name]} for name in _names(30_000)]},
    "choices of choices": lambda: {
        "allOf": [{"anyOf": [{"required": [f"{name}{at}"]} for at in range(9)]} for name in _N]
    },
    "one of": lambda: {"properties": {"x": {"oneOf": [{"const": one} for one in _names(40_000)]}}},
    "misspelt": lambda: dict.fromkeys(_names(90_000), 1),
    "formats": lambda: {"properties": {name: {"format": name} for name in _names(30_000)}},
    "required": lambda: {"required": _names(90_000), **_schema(["x"])},
    "references": lambda: {
        "$defs": {name: {"$ref": f"#/$defs/{name}0"} for name in _names(20_000)},
        **_schema(_names(5_000)),
    },
    "false parts": lambda: {
        "properties": {name: {"type": "string", "enum": [1]} for name in _names(20_000)}
    },
    "not": lambda: {"allOf": [{"not": {"required": [name]}} for name in _names(25_000)]},
    "some not": lambda: {"allOf": [{"not": {"required": [name]}} for name in _names(1_900)]},
    "if": lambda: {
        "allOf": [{"if": {"required": [name]}, "then": {"required": ["x"]}} for name in _N]
    },
    "dependent": lambda: {"dependentRequired": {name: [f"m{name}"] for name in _names(40_000)}},
    "some dependent": lambda: {"dependentRequired": {name: ["x"] for name in _names(9)}},
    "multiples": lambda: {"allOf": [{"multipleOf": at + 2} for at in range(1_900)]},
    "patterns of names": lambda: {
        "patternProperties": {f"^{name}": {"type": "string"} for name in _N}
    },
    "contains": lambda: {"allOf": [{"contains": {"const": name}} for name in _N]},
    "properties": lambda: _schema(_names(28_000)),
}
"""Schemas by what they have much of: of arguments, of a demand, of a class and of an output."""


def _with_schema(make: Callable[[], Json]) -> Json:
    schema = make()
    demand = {"class": "c", "content_schema": schema}
    roles = _roles(_N[:50])
    held = [{"id": f"e{at}", "classification": "c", "content": {"x": "1"}} for at in range(9)]
    size = len(orjson.dumps(schema))
    if size < MOST // 4:
        of_class = {"name": "c", "fields": {"x": "system"}, "schema": schema}
        tools = [tool(args_schema=schema, arg_roles=roles), tool("u", requires_evidence=[demand])]
        spec = {"output_schemas": {"o": schema}}
        return policy(tools, spec, evidence=held, **{"class": [of_class]})
    return policy([tool(args_schema=schema, arg_roles=roles)], evidence=held)


def _many_classes() -> list[Json]:
    return [_class(f"c{at:x}", "party", 2) for at in range(4_000)]


POLICIES: Final[Mapping[str, Callable[[], Json]]] = {
    **{f"tools {name}": partial(_fill, make) for name, make in _TOOLS.items()},
    **{f"schema: {name}": partial(_with_schema, make) for name, make in _SCHEMAS.items()},
    "too many tools": lambda: policy([tool(f"t{at:x}") for at in range(12_000)]),
    "too many bindings": lambda: policy(
        [tool(bound_args={name: ["c"] for name in _names(50_000)})]
    ),
    "too many numbers": lambda: policy([tool(min_tokens=[1] * 450_000)]),
    "a long name": lambda: policy([tool("t" * 900_000)]),
    "a long role": lambda: policy([tool(arg_roles={"x" * 900_000: "object"})]),
    "a long place": lambda: policy([tool(arg_roles={"/x" * 450_000: "object"})]),
    "outputs that nobody makes": lambda: policy(
        [tool(produces=_N) for _ in range(1)], {"required_outputs": _M}
    ),
    "bindings by places": lambda: _fill(
        lambda name: tool(name, bound_args={"x": {"from": ["c"], "at": _PLACES}}),
        evidence=[
            {"id": f"e{at}", "classification": "c", "content": {"x": 1}} for at in range(3_000)
        ],
    ),
    "demands over contents": lambda: _fill(
        _TOOLS["with schemas of demands"],
        evidence=[
            {"id": f"e{at}", "classification": "c", "content": {"x": 1}} for at in range(3_000)
        ],
    ),
    "bindings over fields": lambda: _fill(
        lambda name: tool(
            name,
            bound_args={"x": {"from": _N[:90], "at": _PLACES}},
            yields=_N[int(name[1:]) % 90],
            result=_JSON,
        ),
        **{"class": [_class(name, "system", 300) for name in _N[:90]]},
    ),
    "bindings over tools": lambda: _fill(
        lambda name: tool(
            name,
            bound_args={f"a{at}": _N[at::7][:20] for at in range(5)},
            yields=_N[int(name[1:]) % 1_000],
            result=_JSON,
        )
    ),
    "tools over classes": lambda: _fill(
        lambda name: tool(name, yields=f"c{int(name[1:]) % 4_000:x}", result=_JSON),
        **{"class": _many_classes()},
    ),
    "classes of no schema": lambda: policy(
        [],
        None,
        **{
            "class": [
                _class(f"c{at}", "party", 1_000, schema={**_schema(_M), **_OTHERS})
                for at in range(18)
            ]
        },
    ),
    "an example of a class": lambda: policy(
        [], None, **{"class": [_class("c", "system", 1_000, example=[{"m": 1}] * 100_000)]}
    ),
    "classes wanted": lambda: policy([], {"required_evidence": _N, "confined_evidence": _N}),
    "evidence": lambda: policy(
        [tool()],
        evidence=[
            {"id": f"e{at:x}", "classification": f"c{at:x}", "content": f"confidential {at}"}
            for at in range(10_000)
        ],
    ),
    "evidence confined": lambda: policy(
        [tool("u", "network")],
        {"confined_evidence": ["c"]},
        evidence=[
            {"id": f"e{at:x}", "classification": "c", "content": f"confidential {at}"}
            for at in range(10_000)
        ],
    ),
    "a large item": lambda: policy(
        [tool("u", "network")],
        {"confined_evidence": ["c"]},
        evidence=[
            {
                "id": "e",
                "classification": "c",
                "content": [f"confidential {at}" for at in range(45_000)],
            }
        ],
    ),
    "evidence that expires": lambda: policy(
        [tool(requires_evidence=["x"])],
        evidence=[
            {
                "id": f"e{at:x}",
                "classification": "x",
                "expires_at": f"2026-01-01T00:00:{at % 60:02}Z",
            }
            for at in range(10_000)
        ],
    ),
    "schemas of outputs": lambda: policy(
        [], {"output_schemas": {name: _schema(_N[:50]) for name in _N[:850]}}
    ),
}
"""Policies in JSON."""


def _nested(opening: str, closing: str) -> str:
    half = 450_000 // len(opening)
    return f"{_HEAD}x = {opening * half}{closing * half}"


TEXTS: Final[Mapping[str, Callable[[], str]]] = {
    "a key of many parts": lambda: "a." * 500_000 + "a = 1",
    "a header of many parts": lambda: "[" + "a." * 400_000 + "a]",
    "a header of many parts in quotes": lambda: "[" + '"a" . ' * 150_000 + "a]",
    "keys of some parts": lambda: numbered("a{0:x}" + ".b" * 19 + " = 1\n", MOST),
    "keys of one table": lambda: numbered("a.b.c{0} = 1\n", MOST),
    "headers": lambda: numbered("[a{0}]\n", MOST),
    "headers of arrays": lambda: "[[tool]]\n" * 110_000,
    "headers of arrays in arrays": lambda: (
        "[[a]]\n" + "[[a.b]]\n" * 60_000 + "[[a.b.c]]\n" * 50_000
    ),
    "headers below": lambda: numbered("[a.b.c{0}.d.e]\n", MOST),
    "arrays": lambda: _nested("[", "]"),
    "tables": lambda: _nested("{a=", "}"),
    "numbers": lambda: f"{_HEAD}x = [{'1,' * 480_000}]",
    "digits": lambda: f"{_HEAD}x = {'9' * 900_000}",
    "dates": lambda: f"{_HEAD}x = [{'2026-01-01,' * 80_000}]",
    "quotes": lambda: _HEAD + 'x = """' + '\\"""' * 200_000,
    "open quotes": lambda: _HEAD + "x = '''" + "''\n" * 300_000,
    "comments": lambda: "#\n" * 490_000 + _HEAD,
    "escapes": lambda: _HEAD + 'x = "' + "\\u0041" * 160_000 + '"',
    "blanks": lambda: _HEAD + " " * 900_000 + "x",
    "lines": lambda: _HEAD + "\n" * 900_000 + "x",
    "line breaks of Windows": lambda: _HEAD + "\r\n" * 450_000,
    "a text of dots": lambda: _HEAD + 'y = "' + "a." * 480_000 + '"',
    "a broken key": lambda: numbered('"a{0}" . \n', MOST),
}
"""Policies in TOML."""


def policy_documents() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield each document with its name."""
    for name, make in POLICIES.items():
        yield f"{name}", partial(_spelled, make)
    for name, text in TEXTS.items():
        yield f"TOML: {name}", partial(_encoded, text)


def _spelled(make: Callable[[], Json]) -> bytes:
    return orjson.dumps(make())


def _encoded(text: Callable[[], str]) -> bytes:
    return text().encode()
