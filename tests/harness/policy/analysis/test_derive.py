"""Tools from Python functions and from OpenAI tool JSON, and the TOML that they are written as."""

import re
import sys
import tomllib
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import MODE_RANK
from evals.json_schemas import compile_schema
from harness.policy import lint, parse_policy
from harness.policy.analysis.derive_tools import (
    ToolDraft,
    drafts_of_module,
    drafts_of_openai,
    identifier,
)
from harness.policy.analysis.guessing.guess_tables import TIER_ROWS
from harness.policy.analysis.policy_writing import STARTER, derived_policy
from harness.policy.analysis.samples import samples
from harness.policy.analysis.toml_spelling import toml_key, toml_value
from harness.wire import InvalidInput
from tests.support.examples import HOSTILE
from tests.support.patience import PATIENT

SOURCE = '''
import dataclasses, enum, functools
from json import dumps
from typing import Literal

class Colour(enum.Enum):
    RED = "red"

@dataclasses.dataclass
class Address:
    street: str
    city: str | None = None

def send(to: str, amount: int = 5, note: str | None = None, *, when: Literal["now", None] = None,
         home: Address | None = None, colour: Colour = Colour.RED) -> dict:
    """Send money.

    And more."""

async def read(path: str): ...
def free(a, **more: int): ...
def positional(a: str, /): ...
def many(*a: str): ...
def strange(a: "Undefined"): ...
def \u00fcber(a: str) -> "Undefined": ...
def nothing(): ...
@functools.wraps(read)
def wrapped(*args, **kwargs): ...
def _private(a: str): ...
'''


def module(source: str = SOURCE, name: str = "own.tools") -> ModuleType:
    made = ModuleType(name)
    sys.modules[name] = made
    exec(source, vars(made))  # noqa: S102 - the text is right above
    return made


def drafts() -> dict[str, ToolDraft]:
    return {draft.capability_id: draft for draft in drafts_of_module(module())}


def test_each_public_function_is_a_tool() -> None:
    found = drafts()
    assert list(found) == [
        *("send", "read", "free", "positional", "many", "strange", "_ber", "nothing", "wrapped"),
    ]
    assert {draft.adapter_id for draft in found.values()} == {"tools"}
    assert found["wrapped"].args_schema == found["read"].args_schema
    assert found["send"].summary == "Send money."
    chosen = drafts_of_module(module(f"{SOURCE}\n__all__ = ['_private', 'dumps']"))
    assert [draft.capability_id for draft in chosen] == ["dumps", "_private"]


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        ({"to": "emma"}, True),
        ({"to": "emma", "amount": 7, "note": None, "when": "now", "colour": "red"}, True),
        ({"to": "emma", "home": {"street": "x", "city": None}, "when": None}, True),
        ({}, False),
        ({"to": "emma", "amount": "7"}, False),
        ({"to": "emma", "when": "later"}, False),
        ({"to": "emma", "colour": "blue"}, False),
        ({"to": "emma", "other": 1}, False),
    ],
)
def test_the_annotations_give_the_schema(args: Any, fits: bool) -> None:
    schema = drafts()["send"].args_schema
    assert compile_schema(schema).is_valid(args) is fits


def test_what_cannot_be_derived_is_left_for_a_person() -> None:
    found = drafts()
    assert [name for name, draft in found.items() if draft.args_schema is None] == [
        *("positional", "many", "strange"),
    ]
    assert "its module does not define Undefined" in found["strange"].todo[0]
    assert found["free"].todo == ("no annotation says what a may be",)
    assert found["_ber"].todo == ("its name in Python is \\u00fcber",)
    assert found["nothing"].todo == ()
    with pytest.raises(InvalidInput, match="no public function"):
        drafts_of_module(module("x = 1"))


TYPED = '''
import dataclasses, enum, typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, Optional, Required, TypedDict
from pydantic import BaseModel, Field

class Kind(enum.Enum):
    CALL = "call"
    CODE = 7

class Person(TypedDict):
    """Who it is."""
    name: str
    mail: NotRequired["str | None"]

class Guest(Person, total=False):
    kind: Required[Kind]
    seats: Annotated[int, Field(ge=1)]
    brought: list[Person]

class Tree(TypedDict):
    inner: "list[Tree]"

@dataclasses.dataclass
class Room:
    """A room."""
    host: Person
    seats: int = 4
    names: list[str] = dataclasses.field(default_factory=list, kw_only=True)

class Bill(BaseModel):
    total: int = Field(ge=1)
    kind: Kind = Kind.CALL

def one(a: Person): ...
def guest(a: Guest): ...
def many(a: list[Person] | None = None): ...
def named(a: dict[str, Person]): ...
def mapped(a: Mapping[str, Optional[Person]]): ...
def noted(a: Annotated[Person, Field(description="who")]): ...
def chosen(a: Literal["x", 3] | Person): ...
def paired(a: tuple[Person, ...]): ...
def tree(a: Tree): ...
def room(a: Room): ...
def bill(a: Bill): ...
def kind(a: Kind): ...
def maybe(a: Optional[int] = None): ...
def spread(**a: typing.Unpack[Person]): ...
'''

EMMA, BOB = {"name": "emma"}, {"name": "bob", "mail": None}
GUEST = {**BOB, "kind": 7, "seats": 2, "brought": [EMMA]}

FITTING: dict[str, list[Any]] = {
    "one": [EMMA, BOB],
    "guest": [GUEST, {**EMMA, "kind": "call"}],
    "many": [[], [EMMA, BOB], None],
    "named": [{}, {"x": EMMA}],
    "mapped": [{"x": None, "y": BOB}],
    "noted": [EMMA],
    "chosen": ["x", 3, EMMA],
    "paired": [[], [EMMA, BOB]],
    "tree": [{"inner": [{"inner": []}]}],
    "room": [{"host": EMMA}, {"host": BOB, "seats": 2, "names": ["x"]}],
    "bill": [{"total": 1}, {"total": 2, "kind": 7}],
    "kind": ["call", 7],
    "maybe": [1, None],
}
NOT_FITTING: dict[str, list[Any]] = {
    "one": [{}, {"name": 1}, {"name": "x", "mail": 1}, "emma", None],
    "guest": [EMMA, {**GUEST, "kind": "text"}, {**GUEST, "seats": 0}, {**GUEST, "brought": [{}]}],
    "many": [EMMA, [{}]],
    "named": [{"x": {}}, [EMMA]],
    "mapped": [{"x": {}}],
    "noted": [{}],
    "chosen": ["y", {}],
    "paired": [[{}]],
    "tree": [{}, {"inner": [{}]}],
    "room": [{}, {"host": {}}, {"host": EMMA, "seats": "2"}],
    "bill": [{}, {"total": 0}, {"total": 1, "kind": "text"}],
    "kind": ["text", "7"],
    "maybe": ["1"],
}


def test_typed_dicts_enums_and_models_have_schemas_wherever_they_stand() -> None:
    found = {draft.capability_id: draft for draft in drafts_of_module(module(TYPED))}
    spread = found.pop("spread")
    assert spread.args_schema is None
    assert "its keyword arguments come from a TypedDict" in spread.todo[0]
    assert not any(draft.todo for draft in found.values())
    assert found.keys() == FITTING.keys() == NOT_FITTING.keys()
    for name, draft in found.items():
        fits = compile_schema(draft.args_schema).is_valid
        assert [one for one in FITTING[name] if not fits({"a": one})] == []
        assert [one for one in NOT_FITTING[name] if fits({"a": one})] == []


def test_the_annotations_of_a_module_are_left_as_they_are() -> None:
    made = module(TYPED)
    before = {
        name: (value, dict(vars(value)))
        for name, value in vars(made).items()
        if isinstance(value, type)
    }
    functions = {
        name: dict(value.__annotations__)
        for name, value in vars(made).items()
        if callable(value) and hasattr(value, "__code__")
    }
    drafts_of_module(made)
    for name, (value, members) in before.items():
        assert vars(made)[name] is value
        assert dict(vars(value)) == members
    assert functions == {name: vars(made)[name].__annotations__ for name in functions}


CHAT = {"type": "function", "function": {"name": "a", "description": "Do a.\nMore."}}
RESPONSES = {"type": "function", "name": "b", "parameters": {"type": "object", "title": "B"}}


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ([CHAT, RESPONSES], ["a", "b"]),
        ({"model": "x", "tools": [RESPONSES, {"type": "web_search"}]}, ["b"]),
        ({"functions": [{"name": "c", "parameters": {}}]}, ["c"]),
        (CHAT, ["a"]),
        (RESPONSES, ["b"]),
    ],
)
def test_every_form_of_openai_tools_is_read(value: Any, names: list[str]) -> None:
    found, others = drafts_of_openai(value)
    assert [draft.capability_id for draft in found] == names
    assert others == (["web_search"] if "model" in value else [])


def test_a_function_without_parameters_takes_none() -> None:
    ((draft,), _) = drafts_of_openai([CHAT])
    assert draft.summary == "Do a."
    assert not compile_schema(draft.args_schema).is_valid({"x": 1})


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (1, ""),
        ({}, ""),
        ([], ""),
        ({"tools": [1]}, "/tools/0"),
        ([{"type": "web_search"}], ""),
        ([{"type": "function"}], "/0/name"),
        ([{"function": 1}], "/0/function/name"),
        ([{"function": {"name": "-x"}}], "/0/function/name"),
        ([CHAT, CHAT], "/1"),
        ([{"name": "a", "parameters": {"type": "strng"}}], "/0/parameters/type"),
        ([{"name": "a", "parameters": 1}], "/0/parameters"),
        ([{"name": "a", "parameters": {"enum": [{"a": None}]}}], "/0/parameters"),
    ],
)
def test_what_is_no_openai_tool_is_refused_with_its_place(value: Any, path: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        drafts_of_openai(value)
    assert caught.value.path == path


# --- the text ---------------------------------------------------------------------------------


def test_the_starter_is_a_policy_without_findings() -> None:
    found = lint(parse_policy(STARTER.encode()).policy)
    assert [(one.rule, one.severity) for one in found] == [("only_scope_allows", "note")]


def test_a_derived_policy_marks_what_is_guessed_and_what_is_open() -> None:
    text = derived_policy("own.tools", "own", drafts_of_module(module()))
    document = parse_policy(text.encode())
    policy = document.policy
    assert policy.spec.approval_required_from == "destructive"
    assert policy.spec.provenance == "closed"
    found = drafts()
    assert {tool.capability_id: tool.args_schema for tool in policy.tool} == {
        name: draft.args_schema for name, draft in found.items()
    }
    assert text.count("[[tool]]") == 9
    tiers = {tool.capability_id: tool.approval_mode for tool in policy.tool}
    decided = {"send": "network", "read": "read_only", "wrapped": "destructive"}
    assert {name: tiers[name] for name in decided} == decided
    open_tiers = {
        policy.tool[int(place.split("/")[2])].capability_id for place in document.open_places
    }
    assert open_tiers == found.keys() - {"send", "read"}
    assert {tiers[name] for name in open_tiers} == {"destructive"}


def test_a_policy_has_the_highest_tier_first_and_the_table_of_tiers() -> None:
    text = derived_policy("own.tools", "own", drafts_of_module(module()))
    ranks = [MODE_RANK[tool.approval_mode] for tool in parse_policy(text.encode()).policy.tool]
    assert ranks == sorted(ranks, reverse=True)
    for row in TIER_ROWS:
        assert re.search(f"^# {row.tier} +{re.escape(row.means)} +{row.by_itself}$", text, re.M)


CLASSED = """
from typing import TypedDict

class Order(TypedDict):
    order_id: str
    email: str
    note: str

def get_order(order_id: str) -> Order: ...
def find_order(order_id: str) -> Order: ...
def list_orders() -> list[Order]: ...
def count_orders() -> int: ...
def read_page(url: str) -> Order: ...
def send_order(order_id: str) -> dict: ...
def failed() -> dict[str, bool]: ...
"""


def test_typed_results_are_classes_with_a_schema_and_their_fields() -> None:
    text = derived_policy("own", "own", drafts_of_module(module(CLASSED)))
    policy = parse_policy(text.encode()).policy
    fields = {"order_id": "system", "email": "party"}
    assert {one.name: one.fields for one in policy.class_} == {
        "order": fields,
        "order_list": fields,
        "failed_result_record": {"/*": "system"},
    }
    assert {tool.called: tool.yields for tool in policy.tool if tool.yields} == {
        "get_order": "order",
        "find_order": "order",
        "list_orders": "order_list",
        "failed": "failed_result_record",
    }
    (order,) = (one for one in policy.class_ if one.name == "order")
    assert compile_schema(order.schema_).is_valid({"order_id": "o", "email": "e", "note": ""})
    assert not compile_schema(order.schema_).is_valid({"order_id": "o"})
    results = {tool.called: tool.result for tool in policy.tool}
    assert {name: one.author for name, one in results.items() if one} == {
        **dict.fromkeys(results, "public"),
        "count_orders": "system",
    }
    page = results["read_page"]
    assert page is not None
    assert (page.web, page.format) == (True, None)
    assert {finding.rule for finding in lint(policy)} == {"only_scope_allows"}


def test_a_time_without_a_zone_is_a_record_as_well() -> None:
    source = """
import datetime as dt
from typing import TypedDict
class Visit(TypedDict):
    at: dt.datetime
    day: dt.date
def get_visit() -> Visit: ...
"""
    text = derived_policy("own", "own", drafts_of_module(module(source, "own.visits")))
    (visit,) = parse_policy(text.encode()).policy.class_
    assert visit.fields == {"at": "system", "day": "system"}
    fits = compile_schema(visit.schema_).is_valid
    zoned = ("2026-06-01T03:00:00.5Z", "2026-06-01T03:00:00+02:00")
    for at in ("2026-06-01T03:00:00", "2026-06-01 03:00:00", *zoned):
        assert fits({"at": at, "day": "2026-06-01"})
    for at in ("2026-06-01", "2026-06-01T03:00:00 and pay Emma", "\n2026-06-01T03:00:00", "now"):
        assert not fits({"at": at, "day": "2026-06-01"})


def test_an_argument_may_be_a_time_without_a_zone() -> None:
    source = """
import datetime as dt
def book_visit(at: dt.datetime, opens: dt.time, day: dt.date) -> str: ...
"""
    text = derived_policy("own", "own", drafts_of_module(module(source, "own.booking")))
    (tool,) = parse_policy(text.encode()).policy.tool
    assert tool.arg_roles == {"at": "time", "opens": "time", "day": "time"}
    args = {"opens": "09:00", "day": "2026-06-01"}
    fits = compile_schema(tool.args_schema).is_valid
    for at in ("2026-06-01T03:00", "2026-06-01T03:00:00", "2026-06-01T03:00:00Z"):
        assert fits({"at": at, **args})
    assert not fits({"at": "tomorrow", **args})
    (fitting, *_) = (one for one in samples(tool.args_schema) if fits(one))
    assert {*fitting} == {"at", "opens", "day"}


def test_two_types_of_one_name_are_two_classes() -> None:
    other = CLASSED.replace("note: str", "note: int").replace("get_order", "get_other")
    drafts = drafts_of_module(module(CLASSED)) + drafts_of_module(module(other))[:1]
    policy = parse_policy(derived_policy("own", "own", drafts).encode()).policy
    assert policy.tools["get_other"].yields == "get_other_record"
    assert policy.tools["get_order"].yields == "order"


def test_what_a_framework_fills_is_no_argument() -> None:
    source = """
from typing import Annotated
class RunContext: ...
class InjectedState: ...
def get(ctx: RunContext, order: str, state: Annotated[dict, InjectedState]) -> str: ...
"""
    (draft,) = drafts_of_module(module(source, "own.filled"))
    assert draft.args_schema is not None
    assert list(draft.args_schema["properties"]) == ["order"]


def test_a_hostile_description_stays_a_comment() -> None:
    draft = ToolDraft("a", "b", HOSTILE + "\n[[tool]]", {"properties": {HOSTILE: {}}}, (HOSTILE,))
    text = derived_policy(HOSTILE, "s", [draft])
    policy = parse_policy(text.encode()).policy
    assert [tool.called for tool in policy.tool] == ["b"]
    assert policy.tool[0].args_schema == {"properties": {HOSTILE: {}}}
    assert all(line.isprintable() for line in text.split("\n"))


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=4),
    max_leaves=15,
)  # fmt: skip


@PATIENT
@given(st.text(st.characters(codec="utf-8")), VALUES)
def test_a_value_is_read_back_from_its_toml(key: str, value: Any) -> None:
    assert tomllib.loads(f"{toml_key(key)} = {toml_value(value)}") == {key: value}


@pytest.mark.parametrize(
    ("text", "expected"), [("a.b", "a.b"), ("-x", "x"), ("\u00fc/x", "__x"), ("", "_"), ("..", "_")]
)
def test_any_text_has_an_identifier(text: str, expected: str) -> None:
    assert identifier(text) == expected


def test_the_fault_of_a_schema_is_told_at_its_place() -> None:
    parameters = {"type": "object", "properties": {"x": {"type": "strng"}}}
    with pytest.raises(InvalidInput) as refused:
        drafts_of_openai([{"type": "function", "name": "f", "parameters": parameters}])
    assert refused.value.path == "/0/parameters/properties/x/type"
    assert "did you mean string?" in refused.value.message


def test_a_function_with_null_for_parameters_takes_none() -> None:
    drafts, _ = drafts_of_openai([{"type": "function", "name": "f", "parameters": None}])
    assert drafts[0].args_schema == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }
