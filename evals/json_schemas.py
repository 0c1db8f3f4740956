"""JSON Schemas that a user brings, for args, evidence and outputs, compiled by jsonschema-rs.

Draft 2020-12. No reference leaves the document, patterns run in linear time (a pattern that
cannot is refused with its schema), `format` is asserted where the compiler knows the format, and
what a schema may cost is limited by `evals.schema_budget`.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import orjson
from jsonschema_rs import Draft202012Validator, RegexOptions
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from evals.canonical_json import canonical_json
from evals.json_value import JsonValue
from evals.recent_results import RecentResults
from evals.schema_budget import (
    MAX_SCHEMA_BYTES,
    NO_COSTS,
    Costs,
    costs_of,
    json_values,
    pattern_memory,
)
from evals.schema_effect import accepts_every_object

if TYPE_CHECKING:
    from evals.explanation import Explanation

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

_PLAIN: Final = 1024
"""Bytes. A schema without references or patterns that is no longer asks few questions."""

_FEW: Final = 60
_FEW_PATTERNS: Final = 20
"""What may be asked of every value of a megabyte."""

_MOST_ASKED: Final = 30_000_000
"""How many questions all values of one document may be asked. It takes a few seconds."""

_MOST_EXPLAINED: Final = 200_000_000
"""About how many bytes the errors of all values of one document may take, at most, while they are
read. It takes a few seconds."""

_TOO_LARGE: Final = "too large to be judged by this schema: send less, or ask less of each value"


class SchemaFault(NamedTuple):
    """One place in a value that does not satisfy a schema."""

    path: tuple[str | int, ...]
    """Object keys and array positions, outermost first."""
    keywords: tuple[str, ...]
    """The schema keywords that fail there, such as `maximum`, sorted."""


class CompiledSchema:
    """A schema ready to be asked: `is_valid(value)`."""

    __slots__ = (
        *("_accepts_every_object", "_costs", "_explanation", "_schema", "_validator"),
        *("is_valid", "is_wide"),
    )

    is_valid: Callable[[Any], bool]
    """Return whether the schema accepts a value; a value that is too large for it is refused."""

    is_wide: bool
    """Whether it asks so much of one value that a large document could take minutes."""

    def __init__(self, schema: bytes, costs: Costs) -> None:
        self._schema = schema
        self._costs = costs
        self._accepts_every_object: bool | None = None
        self._explanation: Explanation | None = None
        self._validator = _validator(orjson.loads(schema))
        self.is_wide = costs.questions > _FEW or costs.patterns > _FEW_PATTERNS
        self.is_valid = self._accepts_alone if self.is_wide else self._validator.is_valid

    @property
    def accepts_every_object(self) -> bool:
        """Return whether the schema constrains nothing in an object of arguments."""
        if self._accepts_every_object is None:
            self._accepts_every_object = accepts_every_object(orjson.loads(self._schema))
        return self._accepts_every_object

    def questions(self, value: Any) -> int:
        """Return how many questions it asks about a value; a pattern asks each character."""
        asked = self._costs.questions * json_values(value)
        patterns = self._costs.patterns
        return asked + (patterns * len(orjson.dumps(value)) if patterns else 0)

    def _accepts_alone(self, value: Any) -> bool:
        return not Effort().faults(self, value)

    def accepts(self, value: Any) -> bool:
        """Return whether the schema accepts a value, however long that takes."""
        return self._validator.is_valid(value)

    def explanation(self) -> "Explanation":
        """Return what says where a value is not valid."""
        if self._explanation is None:
            from evals.explanation import Explanation  # noqa: PLC0415 - only a refusal needs it

            self._explanation = Explanation(orjson.loads(self._schema), self._validator)
        return self._explanation


def _validator(schema: Any) -> Draft202012Validator:
    return Draft202012Validator(
        schema,
        retriever=_no_retrieval,
        validate_formats=True,
        pattern_options=RegexOptions(),
    )


def _no_retrieval(uri: str) -> Any:
    raise ValueError(f"{uri} lies outside the schema")


class Effort:
    """What it may still cost to judge the values of one document by their schemas.

    The values of a document share it: what a single one may cost, a thousand of them may not.
    """

    __slots__ = ("explained", "questions")

    def __init__(self) -> None:
        self.questions = _MOST_ASKED
        self.explained = _MOST_EXPLAINED

    def faults(self, schema: CompiledSchema, value: Any) -> list[SchemaFault]:
        """Return every place in `value` that does not satisfy it, each once, in fixed order.

        A value that is too large for the schema is refused as a whole; one with too many errors to
        be listed is only said to be invalid.
        """
        if schema.is_wide:
            asked = schema.questions(value)
            if asked > self.questions:
                return [SchemaFault((), (_TOO_LARGE,))]
            self.questions -= asked
        if schema.accepts(value):
            return []
        places, cost = schema.explanation().faults(value, self.explained)
        self.explained -= cost
        faults = [SchemaFault(*place) for place in places]
        return sorted(faults, key=lambda fault: [(type(part) is str, part) for part in fault.path])


def _compile_schema(schema: bytes) -> tuple[CompiledSchema, int]:
    """Return the compiled form, and about how many bytes of memory it takes."""
    many = schema.count(b"{") > _MOST_OBJECTS
    if many and _UNEVALUATED.search(schema) and _REFERENCE.search(schema):
        raise ValueError(f"$ref and unevaluated... in a schema of over {_MOST_OBJECTS} objects")
    memory, costs = _MEMORY_OF_BYTE * len(schema), NO_COSTS
    if len(schema) > MAX_SCHEMA_BYTES or _COSTLY.search(schema):
        memory += pattern_memory(orjson.loads(schema), len(schema))
        costs = costs_of(orjson.loads(schema))
    elif len(schema) > _PLAIN:
        costs = costs_of(orjson.loads(schema))
    return CompiledSchema(schema, costs), memory


_KEPT: Final = RecentResults(_compile_schema, most=_MOST_MEMORY)


def compile_schema(schema: Any) -> CompiledSchema:
    """Return the compiled form of a JSON Schema. Equal schemas share one.

    Raises:
        Exception: it is not a schema, or is over a budget (jsonschema-rs has no common base for
            its errors).
    """
    return _KEPT(canonical_json(schema))


def schema_faults(schema: CompiledSchema, value: Any) -> list[SchemaFault]:
    """Return every place in a value, alone in its document, that does not satisfy the schema."""
    return Effort().faults(schema, value)


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
