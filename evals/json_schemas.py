"""JSON Schemas that a user brings, for args, evidence and outputs, compiled by jsonschema-rs.

Draft 2020-12. No reference leaves the document, patterns run in linear time (a pattern that
cannot is refused with its schema), `format` is asserted where the compiler knows the format, and
what a schema may cost is limited by `evals.schema_budget`.
"""

import re
from collections.abc import Callable
from itertools import islice
from typing import Annotated, Any, Final, NamedTuple

import orjson
from jsonschema_rs import Draft202012Validator, RegexOptions
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from evals.canonical_json import canonical_json
from evals.json_value import JsonValue
from evals.recent_results import RecentResults
from evals.schema_budget import MAX_SCHEMA_BYTES, costs_of, pattern_memory
from evals.schema_effect import accepts_every_object

# The compiler follows references anew for each `unevaluated...` keyword, one call within another:
# a chain of a thousand ends the process, and the time grows with its square. No path is longer than
# the schema has objects.
_UNEVALUATED: Final = re.compile(rb'"unevaluated(?:Items|Properties)":')
_REFERENCE: Final = re.compile(rb'"\$(?:dynamicRef|ref)":')
_MOST_OBJECTS: Final = 600

# Without a reference or a pattern a schema costs no more than its size.
_COSTLY: Final = re.compile(rb'[Rr]ef":|"pattern')

_MEMORY_OF_BYTE: Final = 64
"""About how many bytes of memory a byte of a schema takes once it is compiled."""

_MOST_MEMORY: Final = 256 * 1024 * 1024
"""About how many bytes all compiled schemas take that are kept."""

_MOST_QUESTIONS: Final = 200_000
"""How many alternatives a value may have, all values in it together, to be explained."""

_MOST_ERRORS: Final = 10_000
"""How many errors of one value are read. Further ones are at the same few thousand places."""

_MOST_SPELLED: Final = 100_000_000
"""Characters. Each error spells the keys on the way to its place, and the value that is there with
all that is in it; texts and keys can have any length."""

_SCALAR: Final = 8
"""Characters that a value is taken to have beside those of its text."""


class SchemaFault(NamedTuple):
    """One place in a value that does not satisfy a schema."""

    path: tuple[str | int, ...]
    """Object keys and array positions, outermost first."""
    keywords: tuple[str, ...]
    """The schema keywords that fail there, such as `maximum`, sorted."""


class CompiledSchema:
    """A schema ready to be asked: `is_valid(value)`."""

    __slots__ = ("_accepts_every_object", "_errors", "_schema", "_validator", "is_valid")

    is_valid: Callable[[Any], bool]

    def __init__(self, schema: bytes) -> None:
        self._schema = schema
        self._accepts_every_object: bool | None = None
        self._errors: Callable[[Any], list[SchemaFault]] | None = None
        self._validator = _validator(orjson.loads(schema))
        self.is_valid = self._validator.is_valid

    @property
    def accepts_every_object(self) -> bool:
        """Return whether the schema constrains nothing in an object of arguments."""
        if self._accepts_every_object is None:
            self._accepts_every_object = accepts_every_object(orjson.loads(self._schema))
        return self._accepts_every_object

    def faults(self, value: Any) -> list[SchemaFault]:
        """Return every place in the value that does not satisfy the schema."""
        if self._errors is None:
            self._errors = _error_reader(orjson.loads(self._schema), self._validator)
        return self._errors(value)


def _validator(schema: Any) -> Draft202012Validator:
    return Draft202012Validator(
        schema,
        retriever=_no_retrieval,
        validate_formats=True,
        pattern_options=RegexOptions(),
    )


def _no_retrieval(uri: str) -> Any:
    raise ValueError(f"{uri} lies outside the schema")


def _error_reader(
    schema: Any, validator: Draft202012Validator
) -> Callable[[Any], list[SchemaFault]]:
    """Return what lists the violations of a value.

    All errors of a value are in memory at once, with those of every alternative of a choice that
    fails, so the schema and the value must not have too many. What refers to itself is only asked
    for yes or no: it may judge one part of a value along two ways, and lists the errors of both, at
    every level of the value: exponentially many.
    """
    costs = costs_of(schema)
    if costs.recursive:
        return _name_no_place

    def read(value: Any) -> list[SchemaFault]:
        size, spelled = _extent(value)
        is_long = costs.alternatives * spelled > _MOST_SPELLED
        if is_long or costs.alternatives * size > _MOST_QUESTIONS:
            return _name_no_place(value)
        keywords: dict[tuple[str | int, ...], set[str]] = {}
        for error in islice(validator.iter_errors(_sorted_keys(value)), _MOST_ERRORS):
            keyword = str(error.schema_path[-1]) if error.schema_path else "false"
            keywords.setdefault(tuple(error.instance_path), set()).add(keyword)
        return [SchemaFault(path, tuple(sorted(names))) for path, names in keywords.items()]

    return read


def _sorted_keys(value: Any) -> Any:
    """Return the value with its keys in order: which errors are read first must not hang on it."""
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


def _extent(value: Any) -> tuple[int, int]:
    """Return how many values a JSON value holds, itself included, and what an error at each spells.

    An error spells the keys on its way, and its value: so a text is spelled once for each value
    that it is in.
    """
    size, spelled, waiting = 0, 0, [(value, 1, 0)]
    while waiting:
        current, level, way = waiting.pop()
        size += 1
        own = len(current) if type(current) is str else 0
        if type(current) is dict:
            own = sum(map(len, current))
            waiting.extend((it, level + 1, way + len(key)) for key, it in current.items())
        elif type(current) is list:
            waiting.extend((it, level + 1, way) for it in current)
        spelled += way + level * (own + _SCALAR)
    return size, spelled


def _name_no_place(_value: Any) -> list[SchemaFault]:
    """Say only that the value as a whole is invalid: to say more could take forever."""
    return [SchemaFault((), ("$ref",))]


def _compile_schema(schema: bytes) -> tuple[CompiledSchema, int]:
    """Return the compiled form, and about how many bytes of memory it takes."""
    many = schema.count(b"{") > _MOST_OBJECTS
    if many and _UNEVALUATED.search(schema) and _REFERENCE.search(schema):
        raise ValueError(f"$ref and unevaluated... in a schema of over {_MOST_OBJECTS} objects")
    memory = _MEMORY_OF_BYTE * len(schema)
    if len(schema) > MAX_SCHEMA_BYTES or _COSTLY.search(schema):
        memory += pattern_memory(orjson.loads(schema), len(schema))
    return CompiledSchema(schema), memory


_KEPT: Final = RecentResults(_compile_schema, most=_MOST_MEMORY)


def compile_schema(schema: Any) -> CompiledSchema:
    """Return the compiled form of a JSON Schema. Equal schemas share one.

    Raises:
        Exception: it is not a schema, or is over a budget (jsonschema-rs has no common base for
            its errors).
    """
    return _KEPT(canonical_json(schema))


def schema_faults(schema: CompiledSchema, value: Any) -> list[SchemaFault]:
    """Return every place in `value` that does not satisfy the schema, each once, in fixed order."""
    if schema.is_valid(value):
        return []
    faults = schema.faults(value)
    return sorted(faults, key=lambda fault: [(type(part) is str, part) for part in fault.path])


def _check_schema(value: Any) -> Any:
    # The compiler would take a string for the text of a schema.
    if type(value) not in (dict, bool):
        raise PydanticCustomError("json_schema", "a JSON Schema is an object or a boolean")
    try:
        compile_schema(value)
    except Exception as error:
        fault = str(error).partition("\n")[0]
        raise PydanticCustomError(
            "json_schema", "no JSON Schema (draft 2020-12): {fault}", {"fault": fault}
        ) from None
    return value


JsonSchema = Annotated[JsonValue, AfterValidator(_check_schema)]
"""A JSON Schema, draft 2020-12, self-contained."""
