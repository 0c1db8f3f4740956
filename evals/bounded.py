"""Read the arrays and objects of the wire, and stop at the first hundred faults.

An invalid document can have a fault in every third byte, and pydantic keeps all of them. So a long
array is read in pieces; once the pieces read so far have enough faults, the rest of it is not read,
and something that is never valid stands in its place. Nothing is valid because of that: what the
pieces became is validated as a whole.
"""

from functools import cached_property
from itertools import islice
from typing import Any, Final

from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic_core import CoreSchema, core_schema

MOST_FAULTS: Final = 100
"""After so many faults in an array or an object, the rest of it is not read."""

_SHORT: Final = 128  # elements that are read at once
_PIECE: Final = 32  # the most elements of a piece; the first has one, since it may be all faults


class RestNotRead:
    """Stands for what is not read of an invalid array or object. No field takes it."""

    def __repr__(self) -> str:
        return "the rest, which was not read"


REST_NOT_READ: Final = RestNotRead()
"""The input of the fault that says that reading stopped."""


class _Reader:
    """Reads long values of one field in pieces."""

    def __init__(self, source: Any) -> None:
        self._source = source

    @cached_property
    def _adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self._source, config=ConfigDict(strict=True, allow_inf_nan=False))

    def array(self, value: list[Any]) -> tuple[Any, ...]:
        """Return a long array as it was read. Where it is invalid it is as written, and may end."""
        read: list[Any] = []
        faults, size = 0, 1
        while len(read) < len(value):
            piece = tuple(value[len(read) : len(read) + size])
            try:
                read += self._adapter.validate_python(piece)
            except ValidationError as error:
                read += piece
                faults += error.error_count()
            if faults >= MOST_FAULTS:
                return (*read, REST_NOT_READ)
            size = size if faults else min(2 * size, _PIECE)
        return tuple(read)

    def members(self, value: dict[Any, Any]) -> dict[Any, Any]:
        """Return a long object as it is written, or its beginning if it is invalid."""
        faults, seen = 0, 0
        items = iter(value.items())
        while piece := dict(islice(items, _PIECE)):
            seen += len(piece)
            try:
                self._adapter.validate_python(piece)
            except ValidationError as error:
                faults += error.error_count()
            if faults >= MOST_FAULTS:
                return {**dict(islice(value.items(), seen)), REST_NOT_READ: None}
        return value


class WireArray:
    """Marks a tuple field that also takes the array of the wire, which Python reads as a list.

    It takes nothing else: the order of a set differs from process to process, and with it every
    digest.
    """

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        long = _Reader(source).array

        def read(value: Any) -> Any:
            if type(value) is not list:
                return value
            return tuple(value) if len(value) <= _SHORT else long(value)

        return core_schema.no_info_before_validator_function(read, handler(source))


class WireMembers:
    """Marks a dict field: a long object of the wire is read in pieces."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        long = _Reader(source).members

        def read(value: Any) -> Any:
            return long(value) if type(value) is dict and len(value) > _SHORT else value

        return core_schema.no_info_before_validator_function(read, handler(source))
