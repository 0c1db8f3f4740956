"""JSON values inside an envelope: args, outputs, evidence content.

Rule 1: exact JSON types only: a subclass of str or int could give two answers to one question.
Rule 2: numbers are finite, and whole numbers stay within +-(2^53 - 1), where every reader is exact.
Rule 3: nesting is at most 64 levels deep; the value itself is level 1.
"""

import math
from typing import Annotated, Any, Final

from pydantic import Field
from pydantic_core import PydanticCustomError

from evals.field import CustomType

SAFE_INTEGER: Final = 2**53 - 1
"""The largest integer that every JSON reader keeps exact (RFC 7493 section 2.2)."""

MAX_DEPTH: Final = 64
"""How deep a JsonValue may nest."""

# RFC 8785 spells a float below 1e21 without an exponent, so a whole float between 2^53 and
# 1e21 would be read back as an unsafe integer. Such a value is refused like that integer.
_EXPONENT_FROM: Final = 1e21


def _fault(value: Any, level: int) -> str | None:
    """Return why `value` is not a JSON value at this level, or None if it is one."""
    if level > MAX_DEPTH:
        return f"JSON nested deeper than {MAX_DEPTH} levels"
    kind = type(value)
    if kind is str:
        return _text_fault(value)
    if kind is int or kind is float:
        return _number_fault(value)
    if kind is dict or kind is list:
        return _container_fault(value, level)
    return None if value is None or kind is bool else f"{kind.__name__} is no JSON type"


def _text_fault(text: str) -> str | None:
    if text.isascii():
        return None
    try:
        text.encode()
    except UnicodeEncodeError:
        return "a string holds a lone surrogate"
    return None


def _number_fault(value: int | float) -> str | None:
    if -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return None
    if type(value) is float and not math.isfinite(value):
        return "a number is not finite"
    if type(value) is float and abs(value) >= _EXPONENT_FROM:
        return None
    return "a whole number is outside +-(2^53 - 1)"


def _container_fault(value: dict[Any, Any] | list[Any], level: int) -> str | None:
    if type(value) is dict:
        for key in value:
            if type(key) is not str or _text_fault(key):
                return "an object key is no JSON string"
    for item in value.values() if type(value) is dict else value:
        if error := _fault(item, level + 1):
            return error
    return None


def detach_json(value: Any, level: int = 1) -> Any:
    """Return a copy of a JSON value that shares no object or array with it.

    What nests too deep to be a JSON value is returned as it is.
    """
    kind = type(value)
    if level > MAX_DEPTH or (kind is not dict and kind is not list):
        return value
    if kind is list:
        return [detach_json(item, level + 1) for item in value]
    return {key: detach_json(item, level + 1) for key, item in value.items()}


def _check(value: Any) -> Any:
    if type(value) is str and value.isascii():  # nearly all: accepted without the full check
        return value
    if error := _fault(value, 1):
        raise PydanticCustomError("json_value", "{fault}", {"fault": error})
    return value


def _check_present(value: Any) -> Any:
    if type(value) is str and value.isascii():
        return value
    if value is None:
        raise PydanticCustomError("json_value", "must not be null: omit the field")
    return _check(value)


def check_object(value: Any) -> Any:
    """Return the value, if it is a JSON object.

    Raises:
        PydanticCustomError: it is not one.
    """
    if type(value) is not dict:
        raise PydanticCustomError("json_value", "must be a JSON object")
    # Nearly all args are ASCII strings and small integers: accept them without the full check.
    for key, item in value.items():
        kind = type(item)
        plain = item.isascii() if kind is str else kind is int and 0 <= item <= SAFE_INTEGER
        if not plain or type(key) is not str or not key.isascii():
            return _check(value)
    return value


JsonValue = Annotated[Any, CustomType(_check, {})]
"""Any JSON value, including null."""

PresentJson = Annotated[Any, CustomType(_check_present, {"not": {"type": "null"}})]
"""Any JSON value except null, for optional fields: null would be a second way to say absent."""

JsonObject = Annotated[dict[str, Any], CustomType(check_object, {"type": "object"})]
"""A JSON object."""

PresentObject = Annotated[Any, CustomType(check_object, {"type": "object"})]
"""A JSON object, for optional fields: null would be a second way to say absent."""

# Any length is valid, but pydantic measures it in the UTF-8 form, so lone surrogates are refused.
Text = Annotated[str, Field(min_length=0)]
"""Free text that is recorded and never judged: any string that has a UTF-8 form."""
