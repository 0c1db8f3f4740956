"""Turn what a tool returns into a JSON value, or say why it cannot be one.

Rule 1: nothing is lost silently. A value that has no exact JSON form raises.
Rule 2: nothing is run. Generators, coroutines and other values that produce their content later
        are refused, not consumed.
Rule 3: equal values have equal JSON, in every process: the elements of a set are sorted.
"""

import base64
import hashlib
import json
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from numbers import Integral
from pathlib import PurePath
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from evals.json_value import MAX_DEPTH, SAFE_INTEGER
from harness.canonical import canonical_json
from harness.errors import HarnessError
from harness.failures import describe_error, type_name

_BASE64: Final = ("data", "blob", "base64")
"""The members of blocks that hold Base64."""
_EXACT_FROM: Final = 1e21  # a whole float from here on has an exponent, so it is read back as it is


class NotJson(HarnessError, ValueError):
    """A value has no JSON form. The message says why, on one line that is safe to print."""


def to_json_value(value: Any) -> Any:
    """Return `value` as JSON values: a new value that shares nothing with it.

    Models, dataclasses and named tuples become objects; sequences and sets arrays; enums their
    value; times, decimals, UUIDs, paths and UTF-8 bytes text, as pydantic writes them. A whole
    number outside +-(2^53 - 1) becomes its decimal text, since JSON readers would round it.

    Raises:
        NotJson: it, or a value in it, has no JSON form.
    """
    return _convert(value, 1)


def parsed_result(value: Any) -> Any:
    """Return a result that was read from JSON, as it is kept: its text where it is too deep."""
    try:
        return to_json_value(value)
    except NotJson:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def read_blocks(value: Any) -> Any:
    """Return the blocks of a result with Base64 as text, or as the digest of what is not text."""
    if type(value) is list:
        return [read_blocks(item) for item in value]
    if type(value) is not dict:
        return value
    return {
        name: _decode_base64(part) if name in _BASE64 and type(part) is str else read_blocks(part)
        for name, part in value.items()
    }


def _decode_base64(text: str) -> str:
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return text
    try:
        return data.decode()
    except UnicodeDecodeError:
        return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _convert(value: Any, level: int) -> Any:
    if level > MAX_DEPTH:
        raise NotJson(f"it is nested deeper than {MAX_DEPTH} levels")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _convert(value.value, level + 1)
    if isinstance(value, str | PurePath | Integral | float):
        return _plain_value(value)
    entries = _entries(value)
    return _array_or_scalar(value, level) if entries is None else _object(entries, level)


def _plain_value(value: Any) -> str | int | float:
    """Return text or a number as a value of exactly the JSON type."""
    if isinstance(value, str):
        return _text(str.__str__(value))
    if isinstance(value, PurePath):
        return _text(str(value))
    return _whole_number(int(value)) if isinstance(value, Integral) else _number(float(value))


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise NotJson("a string holds a lone surrogate") from None
    return text


def _whole_number(number: int) -> int | str:
    return number if -SAFE_INTEGER <= number <= SAFE_INTEGER else str(number)


def _number(number: float) -> float | str:
    if not math.isfinite(number):
        raise NotJson(f"{number} is not a JSON number")
    rounded_by_readers = SAFE_INTEGER < abs(number) < _EXACT_FROM
    return str(int(number)) if rounded_by_readers else number


def _entries(value: Any) -> Iterable[tuple[Any, Any]] | None:
    """Return the names and values of what becomes an object, or None."""
    if isinstance(value, BaseModel):
        value = value.model_dump(warnings=False)
        return value.items() if isinstance(value, dict) else None
    if is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    names = getattr(type(value), "_fields", None)
    if isinstance(value, tuple) and names is not None:  # a named tuple
        return zip(names, value, strict=True)
    return value.items() if isinstance(value, Mapping) else None


def _object(entries: Iterable[tuple[Any, Any]], level: int) -> dict[str, Any]:
    converted: dict[str, Any] = {}
    for key, item in entries:
        name = _convert(key, level + 1)
        name = str(name) if type(name) is int else name
        if type(name) is not str:
            raise NotJson(f"a key is of type {type_name(type(key))}, which is not text")
        if name in converted:
            raise NotJson("two keys have the same text")
        converted[name] = _convert(item, level + 1)
    return converted


def _array_or_scalar(value: Any, level: int) -> Any:
    if isinstance(value, list | tuple | deque):
        return [_convert(item, level + 1) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_convert(item, level + 1) for item in value), key=canonical_json)
    return _scalar(value, level)


def _scalar(value: Any, level: int) -> Any:
    """Return what pydantic makes of a value that is not a container."""
    if isinstance(value, BaseModel):  # one whose root is not an object
        return _convert(value.model_dump(warnings=False), level + 1)
    kind = type_name(type(value))
    if isinstance(value, Iterator | AsyncIterator | Awaitable):
        raise NotJson(f"{kind} produces its content later")
    try:
        converted = to_jsonable_python(value)
    except Exception as error:
        raise NotJson(f"{kind} has no JSON form ({describe_error(error)})") from None
    return _convert(converted, level + 1)
