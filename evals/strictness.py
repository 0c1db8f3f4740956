"""Keep the fields of an envelope strict wherever pydantic validates it.

An envelope can be a field of another project's model or the type of a `TypeAdapter`. Pydantic would
then follow the settings of that caller: its lenient mode takes `"1"` for `1`, and its JSON reader
keeps the last of two equal keys. Both are refused here, in the core schema of each field.
"""

from typing import Any, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

_DONE: Final = "plan_critic_strict"


def _refuse_json(_value: Any) -> Any:
    raise PydanticCustomError(
        "json_reader",
        "pydantic's JSON reader keeps the last of two equal keys: read with harness.wire.parse",
    )


def _refuse_lenient(_value: Any) -> Any:
    raise PydanticCustomError("strict_only", "envelopes are strict: leave strict=False out")


def keep_strict(schema: CoreSchema, handler: GetCoreSchemaHandler) -> CoreSchema:
    """Return the model's schema with each of its fields made strict."""
    model: Any = schema
    while model["type"] != "model-fields":
        reference = model["type"] == "definition-ref"
        model = handler.resolve_ref_schema(model) if reference else model["schema"]
    for field in model["fields"].values():
        metadata = field.setdefault("metadata", {})
        if not metadata.get(_DONE):
            metadata[_DONE] = True
            _make_strict(field)
    return schema


def _make_strict(field: Any) -> None:
    holder = field["schema"]
    if holder["type"] != "default":
        holder = field
    value = holder["schema"]
    if value["type"] == "literal":  # it names a kind of step
        return
    python = core_schema.json_or_python_schema(
        core_schema.no_info_before_validator_function(_refuse_json, value), value
    )
    lenient = core_schema.no_info_before_validator_function(_refuse_lenient, value)
    holder["schema"] = core_schema.lax_or_strict_schema(lenient, python, strict=True)
