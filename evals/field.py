"""Make a pydantic field type of plain functions that check, describe and dump a value."""

from collections.abc import Callable
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


class CustomType:
    """An annotation: `check` returns the value to keep, or raises a PydanticCustomError.

    `schema` is the JSON Schema of what is accepted. `dump` returns the string on the wire.
    """

    def __init__(
        self,
        check: Callable[[Any], Any],
        schema: JsonSchemaValue,
        dump: Callable[[Any], str] | None = None,
    ) -> None:
        self._check, self._schema, self._dump = check, schema, dump

    def __get_pydantic_core_schema__(
        self, _type: Any, _handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        if self._dump is None:
            return core_schema.no_info_plain_validator_function(self._check)
        written = core_schema.plain_serializer_function_ser_schema(self._dump)
        return core_schema.no_info_plain_validator_function(self._check, serialization=written)

    def __get_pydantic_json_schema__(
        self, _schema: CoreSchema, _handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return dict(self._schema)
