"""JSON Schemas that a user brings (`args_schema`, `output_schemas`), compiled by jsonschema-rs.

Draft 2020-12. No reference leaves the document, patterns run in linear time (a pattern that
cannot is refused with its schema), and `format` is an annotation, as the draft says.
"""

import re
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple

import orjson
from jsonschema_rs import Draft202012Validator, RegexOptions
from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from evals.canonical import canonical_json
from evals.json_value import JsonValue

# The compiler follows references anew for each `unevaluated...` keyword, one call within another:
# a chain of a thousand ends the process, and the time grows with its square. No path is longer than
# the schema has objects.
_UNEVALUATED: Final = re.compile(rb'"unevaluated(?:Items|Properties)":')
_REFERENCE: Final = re.compile(rb'"\$(?:dynamicRef|ref)":')
_MOST_OBJECTS: Final = 600


class SchemaFault(NamedTuple):
    """One place in a value that does not satisfy a schema."""

    path: tuple[str | int, ...]
    """Object keys and array positions, outermost first."""
    keywords: tuple[str, ...]
    """The schema keywords that fail there, such as `maximum`, sorted."""


def _no_retrieval(uri: str) -> Any:
    raise ValueError(f"{uri} lies outside the schema")


@lru_cache(maxsize=1024)
def _compiled(schema: bytes) -> Draft202012Validator:
    many = schema.count(b"{") > _MOST_OBJECTS
    if many and _UNEVALUATED.search(schema) and _REFERENCE.search(schema):
        raise ValueError(f"$ref and unevaluated... in a schema of over {_MOST_OBJECTS} objects")
    return Draft202012Validator(
        orjson.loads(schema), retriever=_no_retrieval, pattern_options=RegexOptions()
    )


def compile_schema(schema: Any) -> Draft202012Validator:
    """The compiled validator of a JSON Schema. Equal schemas share one.

    Raises:
        Exception: it is no schema (jsonschema-rs has no common base for its errors).
    """
    return _compiled(canonical_json(schema))


def schema_faults(validator: Draft202012Validator, value: Any) -> list[SchemaFault]:
    """Every place in `value` that does not satisfy the schema, each once, in a fixed order."""
    if validator.is_valid(value):
        return []
    keywords: dict[tuple[str | int, ...], set[str]] = {}
    for error in validator.iter_errors(value):
        keyword = str(error.schema_path[-1]) if error.schema_path else "false"
        keywords.setdefault(tuple(error.instance_path), set()).add(keyword)
    faults = [SchemaFault(path, tuple(sorted(found))) for path, found in keywords.items()]
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
