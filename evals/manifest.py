"""The tools that a plan may call, and the evidence that it may pin."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar

import orjson
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from evals.binding import ContentIndex
from evals.capability import (
    Author,
    FieldWriter,
    KeywordNamed,
    ToolCapability,
    require_pointers,
)
from evals.envelope import (
    ARRAY,
    MEMBERS,
    OPTIONAL,
    RESTRICTION,
    Array,
    Count,
    Envelope,
    EvidenceRef,
    Identifier,
)
from evals.json_schemas import JsonSchema
from evals.json_value import PresentJson, Text
from evals.timestamps import Time

if TYPE_CHECKING:
    from evals.short_repr import ReprArgs, Told

_T = TypeVar("_T")

Standing = Literal["named", "reached", "led", "ambient"]
"""How the session came to read a source. `named`: the request names it. `reached`: named or
reached sources lead to it. `led`: only other text led to it. `ambient`: nothing led to it."""


class Source(Envelope):
    """Who wrote a piece of evidence, and how the session came to read it. `web`: a web page.

    `seq` says when the session saw it, beside the `seq` of what it sent. `cut`: the item is not all
    of what was seen there, and nobody can tell what the rest mentions.
    """

    author: Author
    standing: Standing
    web: Annotated[bool | None, RESTRICTION] = None
    cut: Annotated[bool | None, RESTRICTION] = None
    seq: Annotated[Count | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            author: Author,
            standing: Standing,
            web: bool = ...,
            cut: bool = ...,
            seq: int | None = None,
        ) -> None: ...


class EvidenceClass(KeywordNamed):
    """What items of a class are: who fills which field of a record.

    A name is that member of the item, or of each element of a list; a JSON pointer, in which `*`
    stands for any member or element, names a deeper one. Everything else is text by the author of
    the item. An item that does not satisfy `schema` has no fields.
    """

    class_: Identifier = Field(alias="class")
    fields: Annotated[dict[Text, FieldWriter], MEMBERS]
    schema_: Annotated[JsonSchema | None, RESTRICTION] = Field(None, alias="schema")

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            class_: str,
            fields: Mapping[str, FieldWriter],
            schema_: dict[str, Any] | bool = ...,
        ) -> None: ...

    @model_validator(mode="after")
    def _pointers_of_fields(self) -> Self:
        require_pointers("fields", self.fields)
        return self


class EvidenceItem(Envelope):
    """A piece of evidence that exists. `snapshot` and `subject` are recorded and not judged.

    `source` says where it was seen; without one, nothing was seen in it.
    """

    id: EvidenceRef
    classification: Identifier
    content: Annotated[PresentJson, OPTIONAL] = None
    expires_at: Annotated[Time | None, RESTRICTION] = None
    snapshot: Annotated[Text | None, OPTIONAL] = None
    subject: Annotated[Text | None, OPTIONAL] = None
    source: Annotated[Source | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            id: str,
            classification: str,
            content: Any = None,
            expires_at: datetime | str = ...,
            snapshot: str | None = None,
            subject: str | None = None,
            source: Source | None = None,
        ) -> None: ...

    __slots__ = ("_index",)

    @property
    def backing(self) -> ContentIndex:
        """Return an index that answers whether the content backs a value.

        It is kept, and built again when the content has been edited in place.
        """
        content = self.content
        written = content if type(content) is str else orjson.dumps(content)
        index: tuple[str | bytes, ContentIndex] | None = getattr(self, "_index", None)
        if index is None or index[0] != written:
            index = written, ContentIndex(content)
            object.__setattr__(self, "_index", index)
        return index[1]


class Manifests(Envelope):
    """The tools and the evidence. No two tools have one pair of ids; no two items have one id.

    `classes` say who fills which field of the items of a class, each once. `record_fields` are keys
    whose values are `party` fields of every item that is a record.
    """

    tool_manifest: Annotated[tuple[ToolCapability, ...], ARRAY]
    evidence_manifest: Annotated[tuple[EvidenceItem, ...], ARRAY]
    classes: Annotated[tuple[EvidenceClass, ...] | None, OPTIONAL, ARRAY] = None
    record_fields: Annotated[tuple[Text, ...] | None, OPTIONAL, ARRAY] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            tool_manifest: Array[ToolCapability],
            evidence_manifest: Array[EvidenceItem],
            classes: Array[EvidenceClass] | None = None,
            record_fields: Array[str] | None = None,
        ) -> None: ...

    __slots__ = ("_evidence", "_tools")

    @property
    def tools(self) -> Mapping[tuple[str, str], ToolCapability]:
        """Capabilities by (adapter_id, capability_id): a pair, because joined strings collide."""
        return _keep_derived(self, "_tools", lambda: _by_call(self.tool_manifest))

    @property
    def evidence(self) -> Mapping[str, EvidenceItem]:
        """Evidence items by id."""
        return _keep_derived(self, "_evidence", lambda: _by_id(self.evidence_manifest))

    def __repr_args__(self) -> "ReprArgs":
        """Return the fields, or how many tools and evidence items there are if they are many."""
        from evals.short_repr import Told  # noqa: PLC0415 - no verdict needs it

        args = [*super().__repr_args__()]
        return [(None, held_by(self))] if Told in [type(value) for _, value in args] else args

    @model_validator(mode="after")
    def _require_unique(self) -> Self:
        if len(self.tools) != len(self.tool_manifest):
            raise _duplicate("tool_manifest", "adapter_id and capability_id")
        if len(self.evidence) != len(self.evidence_manifest):
            raise _duplicate("evidence_manifest", "id")
        if len({one.class_ for one in self.classes or ()}) != len(self.classes or ()):
            raise _duplicate("classes", "class")
        return self


class CompiledContext(Envelope):
    """The context that the planner could see: the manifests that its pack was compiled to."""

    __slots__ = ("_body", "_held")  # of a context that has not been read: see `evals.unread`

    manifests: Manifests
    pack_version: Annotated[Identifier | None, OPTIONAL] = None

    def __repr_args__(self) -> "ReprArgs":
        """Return the fields, or how much the manifests hold if that is much."""
        manifests = self.__dict__.get("manifests")
        held = [*manifests.__repr_args__()] if type(manifests) is Manifests else []
        return held if held and held[0][0] is None else super().__repr_args__()


def held_by(manifests: Manifests, items: int | None = None) -> "Told":
    """Return how many tools and evidence items there are, in words; the items may be elsewhere."""
    from evals.short_repr import Told, count_in_words  # noqa: PLC0415 - no verdict needs it

    tools = count_in_words(len(manifests.tool_manifest), "tool")
    count = len(manifests.evidence_manifest) if items is None else items
    return Told(f"{tools}, {count_in_words(count, 'evidence item')}")


def _by_call(tools: tuple[ToolCapability, ...]) -> Mapping[tuple[str, str], ToolCapability]:
    return MappingProxyType({(tool.adapter_id, tool.capability_id): tool for tool in tools})


def _by_id(items: tuple[EvidenceItem, ...]) -> Mapping[str, EvidenceItem]:
    return MappingProxyType({item.id: item for item in items})


def _keep_derived(envelope: Envelope, slot: str, derive: Callable[[], _T]) -> _T:
    """Return what `derive` gives, and keep it in a slot of the envelope.

    A slot is not a field: it is not compared, copied, pickled or dumped, and setting it disturbs
    no other thread that is doing so.
    """
    value: _T | None = getattr(envelope, slot, None)
    if value is None:
        value = derive()
        object.__setattr__(envelope, slot, value)
    return value


def _duplicate(manifest: str, key: str) -> PydanticCustomError:
    return PydanticCustomError(
        "duplicate_entry",
        "two entries of {manifest} have the same {key}: keep one",
        {"manifest": manifest, "key": key},
    )
