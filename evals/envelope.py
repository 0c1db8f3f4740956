"""The base of every envelope: frozen, strict, closed, and the scalar types on the wire.

Rule 1: an envelope that exists has been validated. Pydantic's ways around validation
        (`model_construct`, `copy`, its lenient mode, its JSON reader) are disabled here.
Rule 2: an optional field is left out. On the wire, null is never a second way to say so.
Rule 3: one value has one spelling, so equal envelopes have equal digests.
Rule 4: a Python constructor takes None for "absent" where absence grants nothing (a field marked
        `OPTIONAL`: `as_of`, `approvals`, `content`, ids, measures). Where absence permits more than
        some value would (a field marked `RESTRICTION`: an expiry, a budget, a schema, a required
        class), an explicit None is refused, by the type checker too: a None that slips in from a
        failed look-up never lifts a restriction.
"""

import re
from collections.abc import Mapping
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Final,
    Literal,
    NoReturn,
    Self,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
)

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    ValidationError,
)
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError

from evals.bounded import WireArray, WireMembers
from evals.json_value import SAFE_INTEGER
from evals.strictness import keep_strict

if TYPE_CHECKING:
    from evals.short_repr import ReprArgs

T = TypeVar("T")
Array: TypeAlias = list[T] | tuple[T, ...]
"""What a constructor takes for an array. The envelope holds a tuple."""


class Envelope(BaseModel):
    """Base of every envelope. Frozen, strict, no unknown fields, finite numbers.

    In Python, call the class: `Plan(steps=[...], declared_outputs=[...])`. Bytes are read with
    `harness.wire.parse`, and a parsed JSON value with `harness.wire.build`.

    An envelope may be a field of your own pydantic model or the type of a `TypeAdapter`. It is
    strict there too, and it refuses pydantic's JSON reader (`model_validate_json`), which keeps
    the last of two equal keys. A web framework that parses the body before validation has dropped
    duplicate keys already, and nothing here can see it: take the raw bytes of the request and give
    them to `harness.wire.parse`. Give `exclude_none=True` when you dump a model of your own that
    holds an envelope. `TypeAdapter.validate_python(..., extra="ignore")` drops unknown fields.

    Raises:
        pydantic.ValidationError: the values do not form this envelope.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        revalidate_instances="subclass-instances",
        hide_input_in_errors=True,
    )

    def __init__(self, **fields: Any) -> None:
        """Build the envelope from values. None stands for "absent" in an `OPTIONAL` field.

        Raises:
            pydantic.ValidationError: the values do not form this envelope.
        """
        if NoneType in map(type, fields.values()):
            fields = _without_absent(type(self), fields)
        super().__init__(**fields)

    # Without this mark pydantic would call `__init__` for every envelope that it finds in another.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @classmethod
    def __get_pydantic_core_schema__(
        cls, _source: Any, handler: GetCoreSchemaHandler, /
    ) -> CoreSchema:
        return keep_strict(handler(cls), handler)

    @classmethod
    def model_construct(  # type: ignore[override] # the pydantic plugin rewrites the other one
        cls, _fields_set: set[str] | None = None, **_values: Any
    ) -> Self:
        """Refuse: it would make an envelope that was not validated.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{cls.__name__} is always validated: call {cls.__name__}(...) instead")

    @classmethod
    def model_validate(cls, obj: Any, **settings: Any) -> Self:
        """Validate an envelope or the dict of its fields, strictly. Null fields are refused.

        Raises:
            TypeError: a setting that would loosen validation was given.
            pydantic.ValidationError: the value is not this envelope.
        """
        for name, value in settings.items():
            if name != "context" and value is not None:
                raise TypeError(f"{cls.__name__} is strict and closed: leave {name} out")
        return super().model_validate(obj)

    @classmethod
    def model_validate_json(cls, *_args: Any, **_settings: Any) -> NoReturn:
        """Refuse: pydantic's reader keeps the last of two equal keys. Use `harness.wire.parse`.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{cls.__name__} is read from JSON by harness.wire.parse only")

    @classmethod
    def parse_raw(cls, *_args: Any, **_settings: Any) -> NoReturn:
        """Refuse, as `model_validate_json` does: this is its old name in pydantic.

        Raises:
            TypeError: always.
        """
        cls.model_validate_json()

    @classmethod
    def parse_file(cls, *_args: Any, **_settings: Any) -> NoReturn:
        """Refuse, as `model_validate_json` does: this is the same for a file.

        Raises:
            TypeError: always.
        """
        cls.model_validate_json()

    @classmethod
    def model_validate_strings(cls, *_args: Any, **_settings: Any) -> NoReturn:
        """Refuse: it takes "1" for 1.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{cls.__name__} is strict: give values of their own types")

    def copy(self, **_changes: Any) -> NoReturn:
        """Refuse: pydantic's old copy does not validate. Use `model_copy`.

        Raises:
            TypeError: always.
        """
        raise TypeError(f"{type(self).__name__} is copied by model_copy only")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy, with `update` applied and the whole validated again.

        None removes an `OPTIONAL` field, as in the constructor.

        Raises:
            pydantic.ValidationError: the updated values do not form this envelope.
        """
        if not update:
            return super().model_copy(deep=deep)
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**{**fields, **update})

    def model_dump(self, **settings: Any) -> dict[str, Any]:
        """Return the fields as pydantic dumps them, without those that are absent."""
        return super().model_dump(**{**settings, "exclude_none": True})

    def model_dump_json(self, **settings: Any) -> str:
        """Return the envelope as JSON text, as on the wire: absent fields omitted."""
        return super().model_dump_json(**{**settings, "exclude_none": True})

    def __getstate__(self) -> dict[Any, Any]:
        """Return the fields only: values that are cached on an envelope stay with it."""
        state = super().__getstate__()
        return {**state, "__dict__": self._own_fields()}

    def __copy__(self) -> Self:
        copied = super().__copy__()
        copied.__dict__.clear()
        copied.__dict__.update(self._own_fields())
        return copied

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        # Cached values are dropped before they are copied: some of them cannot be.
        return BaseModel.__deepcopy__(self.__copy__(), memo)

    def _own_fields(self) -> dict[str, Any]:
        names = type(self).model_fields
        return {name: value for name, value in self.__dict__.items() if name in names}

    def __repr_args__(self) -> "ReprArgs":
        """Return the fields that the wire shows, each whole or, where it is long, by its size."""
        from evals.short_repr import shorten_value  # noqa: PLC0415 - no verdict needs it

        args = super().__repr_args__()
        return [(name, shorten_value(value)) for name, value in args if value is not None]

    def wire(self) -> dict[str, Any]:
        """Return the envelope as JSON values: absent fields omitted, defaults written."""
        # What `model_dump` does, without naming each of its settings.
        values: dict[str, Any] = self.__pydantic_serializer__.to_python(
            self, mode="json", exclude_none=True
        )
        return values


class _Absence:
    """Marks a `T | None` field as "T, or left out": null is not a value on the wire."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        present = tuple(part for part in get_args(source) if part is not type(None))
        return handler(Union[present] if present else source)  # noqa: UP007 - built at run time


OPTIONAL: Final = _Absence("OPTIONAL")
"""Marks an optional field whose absence grants nothing: a constructor takes None for "absent"."""

RESTRICTION: Final = _Absence("RESTRICTION")
"""Marks an optional field whose absence permits more: a constructor refuses an explicit None."""

ARRAY: Final = WireArray()
"""Marks a tuple field that takes a list, too, and nothing else."""

MEMBERS: Final = WireMembers()
"""Marks a dict field. A document stops at the first hundred faults of one."""


def _without_absent(model: type[Envelope], fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields without the optional ones that are None.

    Raises:
        pydantic.ValidationError: a restriction is None.
    """
    present: dict[str, Any] = {}
    errors: list[InitErrorDetails] = []
    for name, value in fields.items():
        marks = _marks_of(model, name)
        if value is None and RESTRICTION in (marks or ()):
            errors.append(InitErrorDetails(type=_LIFTED, loc=(name,), input=None))
        elif value is not None or marks is None or OPTIONAL not in marks:
            present[name] = value
    if errors:
        raise ValidationError.from_exception_data(model.__name__, errors, hide_input=True)
    return present


def _marks_of(model: type[BaseModel], name: str) -> list[Any] | None:
    """Return how a field is marked that has a name, in Python or on the wire; None without one."""
    fields = model.model_fields
    if name in fields:
        return fields[name].metadata
    return next((field.metadata for field in fields.values() if field.alias == name), None)


_LIFTED: Final = PydanticCustomError(
    "none_for_restriction", "None would lift this restriction: leave the field out"
)

_IDENTIFIER = r"^[A-Za-z0-9_][A-Za-z0-9_.:/#@+=~-]{0,127}$"
_EVIDENCE_REF = r"^[A-Za-z0-9_][A-Za-z0-9_.:/#@+=~-]{0,511}$"

Identifier = Annotated[str, Field(pattern=_IDENTIFIER)]
"""Every id, output name and evidence class. ASCII by grammar: nothing to normalise or confuse."""


def is_identifier(text: str) -> bool:
    """Return whether a text is an identifier."""
    return re.fullmatch(_IDENTIFIER, text) is not None


EvidenceRef = Annotated[str, Field(pattern=_EVIDENCE_REF)]
"""The id of an evidence item: the same grammar, up to 512 characters."""

Count = Annotated[int, Field(ge=0, le=SAFE_INTEGER)]
"""Tokens, steps, milliseconds or micros of a currency: 0 to 2^53 - 1, never a float or a bool."""


def _check_true(value: Any) -> Any:
    # To Python, 1 equals True, and a Literal would take it.
    if value is not True:
        raise PydanticCustomError("only_true", "must be true: leave it out otherwise")
    return value


OnlyTrue = Annotated[Literal[True], BeforeValidator(_check_true)]
"""A mark: `true`, or the field is left out."""
