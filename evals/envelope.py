"""The base of every envelope: frozen, strict, closed, and the scalar types on the wire.

Rule 1: an envelope that exists has been validated. The doors that pydantic leaves open
        (`model_construct`, `copy`, its lenient JSON reader) are shut here.
Rule 2: an optional field is left out, never null.
Rule 3: one value has one spelling, so equal envelopes have equal digests.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NoReturn, Self, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from evals.json_value import SAFE_INTEGER

ApprovalMode = Literal["read_only", "local_write", "network", "delegated", "destructive"]

MODE_RANK: Final[Mapping[str, int]] = MappingProxyType(
    {"read_only": 0, "local_write": 1, "network": 2, "delegated": 3, "destructive": 4}
)
"""Approval modes in order. Compare modes by rank only: as strings, `destructive` sorts lowest."""


class Envelope(BaseModel):
    """Base of every envelope. Frozen, strict, no unknown fields, finite numbers.

    Raises:
        pydantic.ValidationError: the values do not form this envelope.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        revalidate_instances="subclass-instances",
        hide_input_in_errors=True,
    )

    @classmethod
    def model_construct(  # type: ignore[override] # the pydantic plugin rewrites the other one
        cls, _fields_set: set[str] | None = None, **_values: Any
    ) -> Self:
        """Refused: it would make an envelope that nobody validated.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{cls.__name__} is always validated: call {cls.__name__}(...) instead")

    @classmethod
    def model_validate_json(cls, *_args: Any, **_settings: Any) -> NoReturn:
        """Refused: pydantic's reader lets the last of two equal keys win. Use `harness.wire.parse`.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{cls.__name__} is read from JSON by harness.wire.parse only")

    @classmethod
    def model_validate_strings(cls, *_args: Any, **_settings: Any) -> NoReturn:
        """Refused: it takes "1" for 1.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{cls.__name__} is strict: give values of their own types")

    def copy(self, **_changes: Any) -> NoReturn:
        """Refused: pydantic's old copy does not validate. Use `model_copy`.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{type(self).__name__} is copied by model_copy only")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy, with `update` applied and the whole validated again.

        Raises:
            pydantic.ValidationError: the updated values do not form this envelope.
        """
        if not update:
            return super().model_copy(deep=deep)
        kept = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**kept, **update})

    def __getstate__(self) -> dict[Any, Any]:
        """State without derived values: what is cached on an envelope never travels with it."""
        state = super().__getstate__()
        return {**state, "__dict__": self._said()}

    def __copy__(self) -> Self:
        copied = super().__copy__()
        copied.__dict__.clear()
        copied.__dict__.update(self._said())
        return copied

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # Derived values are dropped before they are copied: some of them cannot be.
        return BaseModel.__deepcopy__(self.__copy__(), memo)

    def _said(self) -> dict[str, Any]:
        fields = type(self).model_fields
        return {name: value for name, value in self.__dict__.items() if name in fields}

    def wire(self) -> dict[str, Any]:
        """The envelope as JSON values: absent fields omitted, defaults written."""
        return self.model_dump(mode="json", exclude_none=True)


class _NeverNull:
    """Marks `T | None` as "T, or left out": None stands for absent and is no value on the wire."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        present = tuple(part for part in get_args(source) if part is not type(None))
        return handler(Union[present])  # noqa: UP007 - built at run time from a tuple


class _WireArray:
    """Marks a tuple field that also takes the array of the wire, which Python reads as a list.

    Nothing else: the order of a set differs from process to process, and with it every digest.
    """

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(_list_as_tuple, handler(source))


def _list_as_tuple(value: Any) -> Any:
    return tuple(value) if type(value) is list else value


OPTIONAL: Final = _NeverNull()
ARRAY: Final = _WireArray()

_IDENTIFIER = r"^[A-Za-z0-9_][A-Za-z0-9_.:/#@+=~-]{0,127}$"
_EVIDENCE_REF = r"^[A-Za-z0-9_][A-Za-z0-9_.:/#@+=~-]{0,511}$"

Identifier = Annotated[str, Field(pattern=_IDENTIFIER)]
"""Every id, output name and evidence class. ASCII by grammar: nothing to normalise or confuse."""

EvidenceRef = Annotated[str, Field(pattern=_EVIDENCE_REF)]
"""The id of an evidence item: the same grammar, up to 512 characters."""

Count = Annotated[int, Field(ge=0, le=SAFE_INTEGER)]
"""Tokens, steps, milliseconds or micros of a currency: 0 to 2^53 - 1, never a float or a bool."""
