"""Schemas that would end the process that compiles them, and those that would not."""

import json
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator, RegexOptions
from pydantic import BaseModel, TypeAdapter, ValidationError

from evals import explanation, json_schemas
from evals.json_schemas import Effort, JsonSchema, SchemaFault, compile_schema, schema_faults
from evals.schema_budget import Costs, costs_of
from evals.schema_effect import KNOWN_FORMATS
from evals.schema_keywords import Json
from tests.support.effort import examples, sampled
from tests.support.patience import PATIENT
from tests.support.preloaded import preloaded

SCHEMA: TypeAdapter[Any] = TypeAdapter(JsonSchema)


def chain(length: int, each: dict[str, Any], last: dict[str, Any], ref: str = "$ref") -> Any:
    """Return a schema of `length` + 2 objects (and one for each of those in `each`)."""
    links = {f"a{at}": {ref: f"#/$defs/a{at + 1}", **each} for at in range(length)}
    return {"$defs": {**links, f"a{length}": last}, "$ref": "#/$defs/a0"}


@pytest.mark.parametrize("keyword", ["unevaluatedProperties", "unevaluatedItems"])
@pytest.mark.parametrize("ref", ["$ref", "$dynamicRef"])
def test_a_chain_of_references_with_unevaluated_values_is_refused(keyword: str, ref: str) -> None:
    for schema in (chain(3_000, {keyword: False}, {}, ref), chain(598, {}, {keyword: False}, ref)):
        with pytest.raises(ValidationError, match="schema of over 600 objects"):
            SCHEMA.validate_python(schema)


@pytest.mark.parametrize(
    "schema",
    [
        chain(60, {}, {"unevaluatedItems": False}),
        chain(60, {"unevaluatedProperties": False}, {}),
        chain(497, {}, {"items": False}),
        {"properties": {f"p{at}": {} for at in range(1_000)}, "unevaluatedProperties": False},
        {"properties": {f"p{at}": {} for at in range(1_000)}, "not": {"$ref": "#/properties/p1"}},
    ],
)
def test_what_is_shorter_or_does_not_follow_references_is_compiled(schema: Any) -> None:
    assert SCHEMA.validate_python(schema) == schema


ON_A_SMALL_STACK = """
import sys, threading, orjson
from evals.json_schemas import compile_schema, schema_faults

def ask():
    try:
        compiled = compile_schema(orjson.loads(sys.argv[1]))
    except ValueError as error:
        print(error)
    else:
        print(schema_faults(compiled, {"x": 1}))

threading.stack_size(512 * 1024)
thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""


def wrapped(length: int, depth: int, each: dict[str, Any], last: dict[str, Any]) -> Any:
    """Return a chain whose references each lie within others, so many deep."""
    links = chain(length, each, last)
    for at in range(length):
        for _ in range(depth):
            links["$defs"][f"a{at}"] = {"allOf": [links["$defs"][f"a{at}"]], **each}
    return links


CLOSED = {"unevaluatedProperties": False}


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        (chain(61, CLOSED, {"type": "string"}), "SchemaFault"),
        (wrapped(31, 1, CLOSED, {"type": "string"}), "SchemaFault"),
        (wrapped(12, 4, CLOSED, {"type": "string"}), "SchemaFault"),
        (chain(200, CLOSED, {}), "over the budget of 64 schemas within one another"),
        (chain(200, {}, CLOSED), "over the budget of 64 schemas within one another"),
        (wrapped(60, 1, CLOSED, {}), "over the budget of 64 schemas within one another"),
        (wrapped(10, 20, CLOSED, {}), "over the budget of 64 schemas within one another"),
    ],
)
def test_unevaluated_values_need_no_more_than_the_stack_of_a_thread(
    schema: Any, answer: str
) -> None:
    done = preloaded("evals.json_schemas", "orjson")(ON_A_SMALL_STACK, json.dumps(schema))
    assert done.returncode == 0
    assert answer in done.stdout


def refusal(schema: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        SCHEMA.validate_python(schema)
    return str(caught.value.errors()[0]["msg"])


N = {"$ref": "#/$defs/N"}
NODE: Any = {
    "$defs": {
        "N": {
            "anyOf": [
                {"type": "object", "properties": {"x": {"$ref": "#/$defs/N"}}, "required": ["x"]},
                {"properties": {"x": {"$ref": "#/$defs/N"}, "y": {}}, "type": "object"},
                {"type": "integer"},
            ]
        }
    },
    "$ref": "#/$defs/N",
}


def nested(levels: int) -> Any:
    value: Any = "neither"
    for _ in range(levels):
        value = {"x": value}
    return value


# Run on its own, so that a schema that takes too much ends that process and not the tests.
LIMITED = """
import json, resource, sys
for kind, most in (resource.RLIMIT_AS, 2**30), (resource.RLIMIT_CPU, 20):
    hard = resource.getrlimit(kind)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (least, least))
from evals.json_schemas import compile_schema, schema_faults
schema, value = json.load(sys.stdin)
try:
    compiled = compile_schema(schema)
except Exception as error:
    print(json.dumps(str(error)))
else:
    print(json.dumps(schema_faults(compiled, value)))
"""


def asked(schema: Any, value: Any) -> Any:
    """Return the result for the value, in the form of JSON."""
    return json.loads(json.dumps(schema_faults(compile_schema(schema), value)))


def asked_apart(schema: Any, value: Any) -> Any:
    """Return the result for the value, from a process with a gigabyte and twenty seconds."""
    run = preloaded("evals.json_schemas", "orjson")
    done = run(LIMITED, text=json.dumps([schema, value]))
    assert done.returncode == 0, done.stderr[-300:]
    return json.loads(done.stdout)


TOO_LARGE = "too large to be judged by this schema: send less, or ask less of each value"
UNEXPLAINED = [SchemaFault((), ("$ref",))]


@pytest.mark.parametrize("choice", ["anyOf", "oneOf"])
def test_a_recursive_choice_is_refused_as_a_whole(choice: str) -> None:
    schema = json.loads(json.dumps(NODE).replace("anyOf", choice))
    assert asked(schema, nested(6)) == [[[], ["$ref"]]]
    assert asked_apart(schema, nested(60)) == [[[], ["$ref"]]]


@pytest.mark.parametrize("choice", ["anyOf", "oneOf"])
def test_a_choice_without_recursion_is_explained_without_its_alternatives(choice: str) -> None:
    part: Any = {"type": "integer"}
    for _ in range(6):
        part = {choice: [part, part]}
    assert asked_apart({"items": part}, ["x"] * 99) == [[[at], [choice]] for at in range(99)]


@pytest.mark.parametrize("keyword", ["unevaluatedItems", "unevaluatedProperties"])
def test_a_recursive_schema_of_unevaluated_values_is_refused_as_a_whole(keyword: str) -> None:
    schema = {**NODE, keyword: True}
    assert asked(schema, nested(6)) == [[[], ["$ref"]]]


def test_recursion_to_the_deepest_level_stays_within_time_and_memory() -> None:
    assert asked_apart({**NODE, "unevaluatedItems": False}, nested(40)) == [[[], ["$ref"]]]
    twice = {"$defs": {"N": {"properties": {"x": {"allOf": [N, N]}}, "type": "object"}}, **N}
    assert asked_apart(twice, nested(40)) == [[[], ["$ref"]]]


X = {"properties": {"x": N}}
TWO_WAYS = {
    "both branches": {"properties": {"x": {"allOf": [N, N]}}},
    "two branches with one property": {"allOf": [X, X]},
    "a reference and a branch": {"properties": {"x": {**N, "allOf": [N]}}},
    "a property and a pattern": {**X, "patternProperties": {"^x": N}},
    "two patterns": {"patternProperties": {"^x": N, "x$": N}},
    "a property and then": {**X, "if": {"minProperties": 0}, "then": X},
    "a property and a dependent schema": {**X, "dependentSchemas": {"x": X}},
    "a dependency": {"dependencies": {"x": {"properties": {"x": {"allOf": [N, N]}}}}},
    "an escaped reference": {"allOf": [X, {"properties": {"x": {"$ref": "#/%24defs/%4e"}}}]},
    "two dynamic references": {
        "$dynamicAnchor": "n",
        "properties": {"x": {"allOf": [{"$dynamicRef": "#n"}, {"$dynamicRef": "#n"}]}},
    },
    "two anchors": {"$anchor": "n", "properties": {"x": {"allOf": [{"$ref": "#n"}, N]}}},
    "by way of another schema": {"properties": {"x": {"$ref": "#/$defs/M"}}},
}


ONE_WAY = {
    "properties": {"properties": {"x": N, "y": N}, "additionalProperties": N},
    "then and else": {"properties": {"x": {"if": {"type": "object"}, "then": N, "else": N}}},
    "another schema": {"properties": {"x": {"$ref": "#/$defs/M"}}, "allOf": [{"minLength": 0}]},
    "a pattern": {"patternProperties": {"^x": N}},
    "not": {"not": {"required": ["x"], "properties": {"x": {"not": N}}}},
}


@pytest.mark.parametrize("ways", [*TWO_WAYS.values(), *ONE_WAY.values()], ids=[*TWO_WAYS, *ONE_WAY])
def test_what_refers_to_itself_is_only_asked_for_yes_or_no(ways: Any) -> None:
    """However many ways there are to a part: to explain it takes no longer than to refuse it."""
    schema = {"$defs": {"N": {"type": "object", **ways}, "M": {"allOf": [N, N]}}, **N}
    plain = Draft202012Validator(schema)
    for levels in (0, 1, 6):
        assert not plain.is_valid(nested(levels))
        assert asked(schema, nested(levels)) == [[[], ["$ref"]]]
    assert plain.is_valid({})
    assert asked(schema, {}) == []
    assert asked_apart(schema, nested(60)) == [[[], ["$ref"]]]


def test_an_explanation_of_very_many_errors_is_not_attempted() -> None:
    doubled = {f"a{at}": {"allOf": [{"$ref": f"#/$defs/a{at + 1}"}] * 2} for at in range(13)}
    schema = {"$defs": {**doubled, "a13": {"type": "integer"}}, "items": {"$ref": "#/$defs/a0"}}
    assert asked_apart(schema, ["x"] * 900) == [[[], ["$ref"]]]
    assert asked(schema, ["x"] * 24) == [[[], ["$ref"]]]
    assert asked(schema, ["x"]) == [[[0], ["type"]]]


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ({"x": 1}, 104 + 100),
        ({"x": {"abc": [1, 2]}, "abcd": 1}, 120 + 112 + 100 + 100 + 200),
        ({"k": "abcdef"}, 104 + 124),
        ({"abc": {}}, 112 + 100),
        ({}, 100),
    ],
)
def test_an_explanation_quotes_so_much_at_most(
    value: Any, quoted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each error: itself, all that is in the value at its place, and what the schema wants."""
    compiled = compile_schema({"minProperties": 9, "not": {"minLength": 1}})
    most = 3 * (1_500 + quoted) + 100 + 4 * len("minLength") + 100
    for less, said in ((0, ["minProperties", "not"]), (1, ["$ref"])):
        monkeypatch.setattr(json_schemas, "_MOST_EXPLAINED", most - less)
        assert schema_faults(compiled, value) == [SchemaFault((), tuple(said))]


def names(many: int) -> list[str]:
    return [f"country-{at}" for at in range(many)]


PRODUCTS: Final[dict[str, tuple[Any, Any]]] = {
    "options of an enum": ({"items": {"enum": names(250)}}, ["z"] * 65_000),
    "what must not be": ({"items": {"not": {"enum": names(1_000)}}}, ["country-1"] * 20_000),
    "a long constant": ({"items": {"const": "k" * 20_000}}, ["z"] * 20_000),
    "names that are missing": ({"items": {"required": names(1_000)}}, [{}] * 1_000),
    "names that others need": ({"dependentRequired": {"a": names(2_000)}}, {"a": "x" * 500_000}),
    "a text, for each name": ({"required": names(2_000)}, {"a": "x" * 1_000_000}),
    "a text, for each level": (
        {"properties": {"k": {"required": names(990)}}},
        {"k": {"k": "x" * 10**6}},
    ),
    "two patterns of one name": (
        {"patternProperties": {f"a|{at}": {"maxLength": 1} for at in range(400)}},
        {"a": "x" * 500_000},
    ),
    "alternatives of a choice": (
        {"items": {"anyOf": [{"const": at} for at in range(300)]}},
        [0.5] * 2_000,
    ),
}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=[*PRODUCTS])
def test_a_product_of_errors_and_what_they_quote_is_not_asked_for(product: Any) -> None:
    """Planted: the errors are made, and only the first ten thousand are read."""
    ((path, keywords),) = asked_apart(*product)
    assert (path, len(keywords)) == ([], 1)


QUESTIONS: Final[dict[str, tuple[Any, Any]]] = {
    "objects of an enum": (
        {"items": {"enum": [{"a": at} for at in range(9_000)]}},
        [{"a": 8_999}] * 20_000,
    ),
    "one of many": ({"items": {"oneOf": [{"minimum": at} for at in range(9_000)]}}, [0.5] * 90_000),
    "all of many": ({"items": {"allOf": [{"minimum": -at} for at in range(9_000)]}}, [0] * 200_000),
    "dependent names": (
        {"items": {"dependentRequired": {f"k{at}": [] for at in range(20_000)}}},
        [{}] * 90_000,
    ),
    "dependent schemas": (
        {"items": {"dependentSchemas": {f"k{at}": True for at in range(20_000)}}},
        [{}] * 90_000,
    ),
    "patterns of names": (
        {"patternProperties": {f"[a-q][^u-z]{{13}}x{at}": False for at in range(400)}},
        {"abcdefgh" * 60_000: 0},
    ),
    "patterns of a text": (
        {"allOf": [{"pattern": f"[a-q][^u-z]{{13}}x{at}|b"} for at in range(400)]},
        "abcdefgh" * 60_000,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("product", sampled(QUESTIONS.values(), one_in=3), ids=[*QUESTIONS])
def test_a_value_that_is_too_large_for_its_schema_is_refused(product: Any) -> None:
    """Planted: yes or no is asked however long it takes. What cannot be judged is not accepted."""
    ((path, (why,)),) = asked_apart(*product)
    assert (path, why) == ([], TOO_LARGE)
    assert not compile_schema(product[0]).is_valid(product[1])


def test_a_wide_schema_judges_what_is_not_too_large() -> None:
    options = [{"a": at} for at in range(9_000)]
    schema = compile_schema({"items": {"enum": options}})
    assert schema.is_wide
    assert schema.is_valid(options[:500])
    assert schema_faults(schema, [*options[:100], {"a": -1}]) == [SchemaFault((100,), ("enum",))]
    texts = compile_schema({"enum": names(9_000)})
    assert not texts.is_wide  # they are looked up


@pytest.mark.slow
def test_the_values_of_one_document_share_what_they_may_cost() -> None:
    """Planted: each value may cost as much as the largest document."""
    effort = Effort()
    wide = compile_schema({"items": {"enum": [{"a": at} for at in range(9_000)]}})
    answers = [effort.faults(wide, [{"a": 1}] * 300) for _ in range(10)]
    assert answers[:2] == [[]] * 2
    assert answers[-1] == [SchemaFault((), (TOO_LARGE,))]
    effort = Effort()
    schema = compile_schema({"items": {"required": names(1_000)}})
    explained = [effort.faults(schema, [{}] * 10) for _ in range(30)]
    assert len(explained[0]) == 10
    assert explained[-1] == UNEXPLAINED
    assert schema_faults(schema, [{}] * 10) == explained[0]


@pytest.mark.slow
@pytest.mark.parametrize("every", ["allOf", "anyOf", "oneOf"])
def test_many_alternatives_below_a_long_key_are_one_fault_of_the_whole(every: str) -> None:
    """Each would spell the key: together, more than memory holds."""
    schema = {"additionalProperties": {every: [{"type": "integer"}] * 2_000}}
    assert asked_apart(schema, {"k" * 500_000: "x"}) == [[[], ["$ref"]]]
    assert asked(schema, {"k": "x"}) == [[["k"], ["type" if every == "allOf" else every]]]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "keyword"), [({"maxItems": 1, "maxProperties": 1}, "max"), (False, "false")]
)
def test_an_explanation_asks_at_most_two_hundred_thousand_questions(
    schema: Any, keyword: str
) -> None:
    compiled = compile_schema(schema)
    for most in ([1] * 199_999, {str(at): 1 for at in range(199_999)}, [[1] * 199_998]):
        explained = schema_faults(compiled, most)
        assert all(fault.keywords[0].startswith(keyword) for fault in explained)
    for more in ([1] * 200_000, {str(at): 1 for at in range(200_000)}):
        assert schema_faults(compiled, more) == UNEXPLAINED


def test_alternatives_multiply_the_questions() -> None:
    compiled = compile_schema({"items": {"type": "integer"}})
    assert schema_faults(compiled, ["x", *[1] * 99_998]) == [SchemaFault((0,), ("type",))]
    assert schema_faults(compiled, ["x", *[1] * 99_999]) == UNEXPLAINED


def test_ten_thousand_errors_of_one_value_are_read() -> None:
    compiled = compile_schema({"items": {"type": "integer"}})
    assert len(schema_faults(compiled, ["x"] * 10_001)) == 10_000


def test_the_costs_of_a_schema_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[Any] = []

    def count(schema: Any) -> Costs:
        counted.append(schema)
        return costs_of(schema)

    monkeypatch.setattr(explanation, "costs_of", count)
    compiled = compile_schema({"maximum": 41.5})
    for value in (42, 43, 41):
        schema_faults(compiled, value)
    assert counted == [{"maximum": 41.5}]


@pytest.mark.parametrize("keyword", ["allOf", "properties", "prefixItems", "dependentSchemas"])
def test_names_that_look_like_keywords_are_not_taken_for_them(keyword: str) -> None:
    named = {"properties": {keyword: True, "a": {"pattern": "a"}}}
    constant = {"const": {keyword: 5}, "pattern": "a"}
    for schema in (named, constant, {"enum": [constant], **named}):
        assert SCHEMA.validate_python(schema) == schema


def test_choices_that_double_are_over_the_budget() -> None:
    def link(at: int) -> Any:
        below = {"$ref": f"#/$defs/a{at + 1}"}
        return {"anyOf": [below, below]}

    def doubled(levels: int) -> Any:
        links = {f"a{at}": link(at) for at in range(levels)}
        return {"$defs": {**links, f"a{levels}": {"type": "integer"}}, "$ref": "#/$defs/a0"}

    assert asked_apart(doubled(40), "x").startswith("over the budget of 100000 alternatives")
    assert asked(doubled(8), "x") == [[[], ["anyOf"]]]


def test_a_chain_of_references_is_limited() -> None:
    assert SCHEMA.validate_python(chain(499, {}, {})) == chain(499, {}, {})
    assert "over the budget of 500 references in a chain" in refusal(chain(500, {}, {}))
    in_600_objects = chain(597, {}, {"unevaluatedItems": False})
    assert "over the budget of 500 references in a chain" in refusal(in_600_objects)
    assert asked_apart(chain(30_000, {"minLength": 1}, {"type": "integer"}), "x").startswith(
        ("over the budget", "1")
    )


def test_patterns_are_limited_by_the_memory_they_compile_to() -> None:
    patterns = {f"p{at}": {"pattern": rf"(?:\p{{L}}{{1,8}}){{1,8}}{at}"} for at in range(80)}
    answer = asked_apart({"properties": patterns}, {})
    assert answer == "over the budget of 67108864 bytes for compiled patterns"
    assert SCHEMA.validate_python({"properties": {"p": patterns["p0"]}})


def test_a_schema_is_limited_in_bytes() -> None:
    assert "bytes is over the budget of 1048576 bytes for a schema" in refusal(
        {"enum": ["x" * 1_048_576]}
    )


@pytest.mark.slow
def test_large_schemas_of_real_size_pass() -> None:
    # As pydantic writes them for hundreds of models that refer to one another and to themselves.
    kinds = [{"$ref": f"#/$defs/M{at}"} for at in range(300)]
    models: dict[str, Any] = {}
    for at in range(300):
        fields: dict[str, Any] = {
            f"field_{name}": {
                "anyOf": [{"type": "string", "pattern": "^[a-z]{1,64}$"}, {"type": "null"}]
            }
            for name in range(10)
        }
        fields["next"] = {"$ref": f"#/$defs/M{(at + 1) % 300}"}
        fields["others"] = {"type": "array", "items": {"$ref": f"#/$defs/M{at * 7 % 300}"}}
        models[f"M{at}"] = {"type": "object", "properties": fields, "additionalProperties": False}
    models["Any"] = {"oneOf": kinds}
    schema = {"$defs": models, "type": "object", "properties": {"it": {"$ref": "#/$defs/Any"}}}
    assert len(json.dumps(schema)) > 300_000
    assert asked_apart(schema, {"it": {"field_0": 1}}) == [[[], ["$ref"]]]
    assert asked_apart(schema, {}) == []


class Tree(BaseModel):
    """A recursive union, as pydantic describes it."""

    children: "list[Tree | Leaf]"
    label: str | None = None


class Leaf(BaseModel):
    """The end of a branch."""

    value: int | str


def test_the_schema_of_a_recursive_model_passes() -> None:
    schema = Tree.model_json_schema()
    value: Any = {"value": 1.5}
    for _ in range(20):
        value = {"children": [value]}
    assert asked_apart(schema, value) == [[[], ["$ref"]]]
    assert asked(schema, {"children": [{"value": 1}]}) == []


def plainly(schema: Any, value: Any) -> list[SchemaFault]:
    """Return the violations as the compiler lists them."""
    validator = Draft202012Validator(schema, pattern_options=RegexOptions())
    keywords: dict[tuple[str | int, ...], set[str]] = {}
    for error in validator.iter_errors(value):
        keyword = str(error.schema_path[-1]) if error.schema_path else "false"
        keywords.setdefault(tuple(error.instance_path), set()).add(keyword)
    faults = [SchemaFault(path, tuple(sorted(names))) for path, names in keywords.items()]
    return sorted(faults, key=lambda fault: [(type(part) is str, part) for part in fault.path])


SIMPLE: Any = st.sampled_from(
    [
        *({"type": "integer"}, {"type": "string"}, {"minimum": 2}, {"maxLength": 1}, {"const": 1}),
        *(
            {"enum": [1, "a"]},
            True,
            False,
            {"$ref": "#/$defs/A"},
            {"$ref": "#b"},
            {"pattern": "^a"},
        ),
        {"required": ["x"]},
    ]
)


def combined(part: Any) -> Any:
    """Return schemas made of smaller ones, by every keyword that has subschemas."""
    lists = [st.fixed_dictionaries({key: st.lists(part, min_size=1, max_size=3)}) for key in LISTS]
    ones = [st.fixed_dictionaries({key: part}) for key in ONES]
    maps = [
        st.fixed_dictionaries({key: st.dictionaries(st.sampled_from("xy"), part)}) for key in MAPS
    ]
    parts = st.lists(st.one_of(*lists, *ones, *maps), min_size=1, max_size=3)
    return parts.map(lambda each: {name: value for one in each for name, value in one.items()})


LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
ONES = ("not", "items", "contains", "additionalProperties", "propertyNames", "if", "then", "else")
MAPS = ("properties", "patternProperties", "dependentSchemas")
SCHEMAS = st.recursive(SIMPLE, combined, max_leaves=6)
VALUES = st.recursive(
    st.sampled_from([1, 2, "a", "bb", None, True, 1.5]),
    lambda part: st.lists(part, max_size=2) | st.dictionaries(st.sampled_from("xyz"), part),
    max_leaves=5,
)


@settings(PATIENT, max_examples=examples(400))
@given(SCHEMAS, SCHEMAS, SCHEMAS, VALUES)
def test_a_value_is_refused_as_the_compiler_refuses_it(
    a: Any, b: Any, whole: Any, value: Any
) -> None:
    anchored = {**b, "$anchor": "b"} if isinstance(b, dict) else {"$anchor": "b", "allOf": [b]}
    schema = {"$defs": {"A": a, "B": anchored}, "properties": {"x": whole}, "items": whole}
    expected = plainly(schema, value)
    if expected and costs_of(schema).recursive:  # then only the value as a whole is named
        expected = UNEXPLAINED
    assert schema_faults(compile_schema(schema), value) == expected


def test_many_faults_below_a_long_key_are_one_fault_of_the_whole() -> None:
    """Each fault would spell the key: together, far more than the value."""
    schema = compile_schema({"additionalProperties": {"items": {"type": "string"}}})
    few = {"k" * 20_000: [1] * 100}
    assert len(schema_faults(schema, few)) == 100
    many = {"k" * 20_000: [1] * 5000}
    assert schema_faults(schema, many) == [SchemaFault((), ("$ref",))]


@pytest.mark.parametrize("name", sorted(KNOWN_FORMATS))
def test_a_listed_format_is_asserted(name: str) -> None:
    schema = compile_schema({"format": name})
    assert not all(map(schema.is_valid, ["", " ", "(", "{", "~2"]))


@given(st.text())
def test_a_format_that_is_not_listed_refuses_nothing(text: str) -> None:
    assert compile_schema({"format": "int32"}).is_valid(text)


def test_compiled_schemas_take_a_limited_memory() -> None:
    costly = [{"pattern": f"[a-z{n}]{{1000}}"} for n in range(300)]
    first = compile_schema(costly[0])
    assert compile_schema(costly[0]) is first
    for schema in costly:
        compile_schema(schema)
    assert compile_schema(costly[-1]) is compile_schema(costly[-1])
    assert compile_schema(costly[0]) is not first


_META: Final = "https://json-schema.org/draft/2020-12/schema"
_DRAFT_7: Final = "http://json-schema.org/draft-07/schema#"
_BACK: Final = {"properties": {"a": {"$ref": "#"}}}


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"properties": {"a": {"$ref": "."}}}, {"properties": {"a": {"$ref": "/"}}}]},
        {"properties": {"a": {"$ref": "json-schema:///"}}},
        {"$id": "http://x/a/", "properties": {"a": {"$ref": "./"}}},
        {"$id": "http://example.com/r", "properties": {"a": {"$ref": "http://EXAMPLE.com/r"}}},
        {
            "$id": "http://x/a/",
            "$defs": {"q": {"$id": "http://y/."}},
            "properties": {"a": {"$ref": "."}},
        },
        {"properties": {"a": {"$ref": _META}}},
        {"allOf": [{"$schema": _DRAFT_7, "$id": "http://x/b", "type": "object", **_BACK}]},
        {"$schema": _DRAFT_7, "type": "object"},
        {"properties": {"a": _BACK}},
    ],
)
def test_what_may_lead_anywhere_is_only_asked_for_yes_or_no(schema: Json) -> None:
    """Planted: a reference that is not followed is taken for one that leads nowhere."""
    assert costs_of(schema).recursive


@pytest.mark.parametrize(
    "beside",
    [
        {"$defs": {"unused": {"items": {"$ref": "#/$defs/unused"}}}},
        {"examples": [{"properties": {"x": {"$ref": "#/examples/0"}}}]},
        {"default": {"$schema": "x", "$ref": "elsewhere"}},
        {"$schema": _META},
    ],
)
def test_what_nothing_refers_to_hides_no_place(beside: Json) -> None:
    """Planted: the recursion of a definition that is not used costs the places of the others."""
    compiled = compile_schema({"properties": {"n": {"type": "integer"}}, **beside})
    assert schema_faults(compiled, {"n": "x"}) == [SchemaFault(("n",), ("type",))]


def test_a_long_text_is_not_spelled_once_for_each_alternative() -> None:
    """Planted: of what an error spells, only the way to its place is counted."""
    choice = {"anyOf": [{"const": f"k{number}"} for number in range(100)]}
    compiled = compile_schema({"properties": {"kind": choice}})
    for length, place in ((1_000, ("kind",)), (1_000_000, ())):
        (fault,) = schema_faults(compiled, {"kind": "x" * length})
        assert fault.path == place
