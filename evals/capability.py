"""The rights of a tool, what a step that calls it must provide, and what its arguments mean."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from evals.envelope import (
    ARRAY,
    MEMBERS,
    OPTIONAL,
    RESTRICTION,
    Array,
    Count,
    Envelope,
    Identifier,
    OnlyTrue,
)
from evals.escaping import escape_name
from evals.json_schemas import JsonSchema
from evals.json_value import Text
from evals.kinds import ApprovalMode
from evals.pointers import Pointer, is_pointer

Author = Literal["user", "operator", "system", "member", "public"]
"""Who wrote something. `user`: the request. `operator`: the system prompt. `system`: a system of
record. `member`: a person in the user's own organisation. `public`: anyone."""

Role = Literal["recipient", "object", "attribute", "locator", "secret", "code", "content", "time"]
"""What an argument is to its call. `recipient`: who gets it. `object`: which existing thing is
acted on. `attribute`: a detail of something bound otherwise. `locator`: what is read next.
`code`: a one-time code. `content`: text to send. `time`: a day."""


FieldWriter = Literal["system", "member", "party", "public"]
"""Who fills a field of a record. `party` names whom the record is with: the system checked that it
is theirs, but anybody can open such a record."""

ArgKind = Annotated[Text, Field(min_length=1, max_length=80)]
"""What an argument names. `path`, `url`, `address` and `account` are compared as such; `text` and
every other noun (`order`, `channel`, `file`) as text."""


class ToolName(Envelope):
    """A tool by the pair of its ids."""

    adapter_id: Identifier
    capability_id: Identifier

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            adapter_id: str,
            capability_id: str,
        ) -> None: ...


class KeywordNamed(Envelope):
    """Base of the envelopes with a wire name that Python reserves: `class_` is `class` there.

    In Python the name takes the underscore, and on the wire it never does.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(serialize_by_alias=True)

    def __init__(self, **fields: Any) -> None:
        reserved = {f"{field.alias}_": field.alias for field in type(self).model_fields.values()}
        super().__init__(**{reserved.get(name) or name: fields[name] for name in fields})

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]


class Demand(KeywordNamed):
    """A class of evidence that is required, and what the evidence must say.

    One pinned, fresh item of the class meets it whose content satisfies `content_schema` and holds,
    for each entry of `about`, the value of that argument at that JSON pointer.
    """

    class_: Identifier = Field(alias="class")
    content_schema: Annotated[JsonSchema | None, RESTRICTION] = None
    about: Annotated[dict[Text, Pointer] | None, RESTRICTION, MEMBERS] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            class_: str,
            content_schema: dict[str, Any] | bool = ...,
            about: dict[str, str] = ...,
        ) -> None: ...


class Binding(KeywordNamed):
    """An argument whose every scalar must occur in pinned evidence of one of these classes.

    With `at` it must occur at one of these JSON pointers, where the segment `*` stands for any
    member or element. Unless `optional`, the argument must be there and not be empty.
    """

    from_: Annotated[tuple[Identifier, ...], ARRAY] = Field(alias="from")
    at: Annotated[tuple[Pointer, ...] | None, RESTRICTION, ARRAY] = None
    optional: bool = False

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            from_: Array[str],
            at: Array[str] = ...,
            optional: bool = ...,
        ) -> None: ...


class ToolResult(Envelope):
    """The source of a tool's results: who writes them, and whether they are web pages.

    `format` is what the tool promises: only a result that is promised as `json` has fields.
    `makes` names arguments, or JSON pointers into the result, with the kind of what is made there:
    once a call completed, these values become the session's own. It promises that the call fails
    where the thing exists. `derived`: what it returns was made from its arguments, by a model or by
    code: it was not read anywhere.
    """

    author: Author
    web: Annotated[bool | None, RESTRICTION] = None
    format: Annotated[Literal["text", "json"] | None, OPTIONAL] = None
    makes: Annotated[dict[Text, ArgKind] | None, OPTIONAL, MEMBERS] = None
    derived: Annotated[OnlyTrue | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            author: Author,
            web: bool = ...,
            format: Literal["text", "json"] | None = None,
            makes: dict[str, str] | None = None,
            derived: Literal[True] = ...,
        ) -> None: ...

    @model_validator(mode="after")
    def _pointers_of_made(self) -> Self:
        require_pointers("makes", self.makes or ())
        return self


def _demand_form(value: Any) -> str:
    return "demand" if isinstance(value, dict | Demand) else "class"


def _binding_form(value: Any) -> str:
    return "binding" if isinstance(value, dict | Binding) else "classes"


# Each form is told by its shape, so that a mistake in it is explained as one in that form.
_Required = Annotated[
    Annotated[Identifier, Tag("class")] | Annotated[Demand, Tag("demand")],
    Discriminator(_demand_form),
]
_Bound = Annotated[
    Annotated[tuple[Identifier, ...], ARRAY, Tag("classes")] | Annotated[Binding, Tag("binding")],
    Discriminator(_binding_form),
]


class ToolCapability(Envelope):
    """One tool of the manifest: what it may do, and what a step that calls it must provide.

    The arguments of one `bound_together` group are backed by one and the same item. `arg_roles`
    says by argument name, or by JSON pointer into the arguments, what a value is to the call, and
    `arg_kinds` what it names; without a kind its shape says so. Arguments of `may_be_empty` may
    hold nothing. `follows` are tools after which this one is expected. Late plans (`critic.late`)
    are judged by what it returns: `output_schema`, its class as evidence (`yields`), and for how
    many seconds that is fresh.
    """

    __slots__ = ("_needs",)  # what `evals.needs` keeps with the tool

    adapter_id: Identifier
    capability_id: Identifier
    approval_mode: ApprovalMode
    requires_evidence: Annotated[tuple[_Required, ...] | None, RESTRICTION, ARRAY] = None
    bound_args: Annotated[dict[Text, _Bound] | None, RESTRICTION, MEMBERS] = None
    bound_together: Annotated[
        tuple[Annotated[tuple[Text, ...], ARRAY], ...] | None, RESTRICTION, ARRAY
    ] = None
    args_schema: Annotated[JsonSchema | None, RESTRICTION] = None
    produces: Annotated[tuple[Identifier, ...] | None, RESTRICTION, ARRAY] = None
    min_tokens: Annotated[Count | None, RESTRICTION] = None
    arg_roles: Annotated[dict[Text, Role] | None, RESTRICTION, MEMBERS] = None
    arg_kinds: Annotated[dict[Text, ArgKind] | None, RESTRICTION, MEMBERS] = None
    may_be_empty: Annotated[tuple[Text, ...] | None, OPTIONAL, ARRAY] = None
    result: Annotated[ToolResult | None, OPTIONAL] = None
    follows: Annotated[tuple[ToolName, ...] | None, OPTIONAL, ARRAY] = None
    output_schema: Annotated[JsonSchema | None, RESTRICTION] = None
    yields: Annotated[Identifier | None, OPTIONAL] = None
    expires_after_s: Annotated[Count | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            adapter_id: str,
            capability_id: str,
            approval_mode: ApprovalMode,
            requires_evidence: Array[str] | Array[Demand] | Array[str | Demand] = ...,
            bound_args: Mapping[str, Array[str] | Binding] = ...,
            bound_together: Array[list[str]] | Array[tuple[str, ...]] = ...,
            args_schema: dict[str, Any] | bool = ...,
            produces: Array[str] = ...,
            min_tokens: int = ...,
            arg_roles: dict[str, Role] = ...,
            arg_kinds: dict[str, str] = ...,
            may_be_empty: Array[str] | None = None,
            result: ToolResult | None = None,
            follows: Array[ToolName] | None = None,
            output_schema: dict[str, Any] | bool = ...,
            yields: str | None = None,
            expires_after_s: int = ...,
        ) -> None: ...

    @model_validator(mode="after")
    def _only_bound_together(self) -> Self:
        bound = self.bound_args or {}
        for name in (name for group in self.bound_together or () for name in group):
            if name not in bound:
                raise PydanticCustomError(
                    "not_bound",
                    "bound_together names {name}, which bound_args does not bind: bind it too",
                    {"name": escape_name(name)},
                )
        return self

    @model_validator(mode="after")
    def _pointers_of_roles(self) -> Self:
        require_pointers("arg_roles", self.arg_roles or ())
        require_pointers("arg_kinds", self.arg_kinds or ())
        require_pointers("may_be_empty", self.may_be_empty or ())
        return self


def require_pointers(field: str, names: Iterable[str]) -> None:
    """Refuse a name that begins as a JSON pointer and is none.

    Raises:
        PydanticCustomError: one does.
    """
    for name in names:
        if name.startswith("/") and not is_pointer(name):
            raise PydanticCustomError(
                "json_pointer",
                "{field} names {name}, not a JSON pointer: write ~1 for a slash, ~0 for ~",
                {"field": field, "name": escape_name(name)},
            )


def least_tokens(tool: ToolCapability | None) -> int:
    """Return the tokens that a call counts at least, whatever the plan estimates."""
    return (tool.min_tokens or 0) if tool else 0
