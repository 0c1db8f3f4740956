"""The evidence that a call of a tool needs: its demands, its bindings, its groups of arguments."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

import orjson

from evals.capability import Binding, Demand, ToolCapability
from evals.json_schemas import CompiledSchema, compile_schema


class Need(NamedTuple):
    """A class of evidence, and what the content of one item of it must say, if anything."""

    classification: str
    schema: CompiledSchema | None = None
    about: tuple[tuple[str, str], ...] = ()
    """Names of arguments, each with the pointer at which the content must hold its value."""

    @property
    def is_plain(self) -> bool:
        """Return whether any fresh item of the class will do."""
        return self.schema is None and not self.about


class Bound(NamedTuple):
    """How one argument is bound."""

    classes: tuple[str, ...]
    at: tuple[str, ...] | None
    empty: Literal["refused", "left out", "judged"]
    """What becomes of an argument without a value. `judged`: null and the empty text need backing
    as any scalar does; where there is no scalar, there is nothing to back."""


class Needs(NamedTuple):
    """All that a tool demands of evidence, each demand once."""

    demands: tuple[Need, ...]
    bound: Mapping[str, Bound]
    required: tuple[str, ...]
    """The bound arguments that must be there."""
    groups: tuple[tuple[str, ...], ...]
    """Names of arguments that one and the same item must back."""


NO_NEEDS = Needs((), {}, (), ())
"""The needs of a step that calls no tool."""


def bound_as(binding: tuple[str, ...] | Binding) -> Bound:
    """Return either form of a binding as one."""
    if isinstance(binding, Binding):
        empty: Literal["refused", "left out"] = "left out" if binding.optional else "refused"
        return Bound(tuple(dict.fromkeys(binding.from_)), binding.at, empty)
    return Bound(tuple(dict.fromkeys(binding)), None, "judged")


def need_of(entry: str | Demand) -> Need:
    """Return either form of a required class as one.

    Raises:
        Exception: an edit in place left a `content_schema` that is not a JSON Schema.
    """
    if isinstance(entry, str):
        return Need(entry)
    schema = None if entry.content_schema is None else compile_schema(entry.content_schema)
    return Need(entry.class_, schema, tuple(sorted((entry.about or {}).items())))


class _Kept(NamedTuple):
    """The needs of a tool, and the JSON that they were made of, as it was then."""

    needs: Needs
    demands: tuple[Demand, ...]
    written: bytes
    bound_args: Mapping[str, Any]


def needs_of(tool: ToolCapability) -> Needs:
    """Return the needs of a tool: kept with it, and made anew when its JSON was edited in place.

    Raises:
        Exception: an edit left a `content_schema` that is not a JSON Schema.
    """
    kept: _Kept | None = getattr(tool, "_needs", None)
    if (
        kept is None
        or kept.bound_args != (tool.bound_args or {})
        or (kept.demands and kept.written != _write_demands(kept.demands))
    ):
        kept = _make_needs(tool)
        object.__setattr__(tool, "_needs", kept)
    return kept.needs


def _write_demands(demands: Iterable[Demand]) -> bytes:
    """Return the parts of the demands that can be edited in place, as bytes."""
    return orjson.dumps([(demand.content_schema, demand.about) for demand in demands])


def _make_needs(tool: ToolCapability) -> _Kept:
    required = tool.requires_evidence or ()
    demands = tuple(entry for entry in required if isinstance(entry, Demand))
    bound_args = dict(tool.bound_args or {})
    bound = {name: bound_as(binding) for name, binding in bound_args.items()}
    needs = Needs(
        demands=tuple(dict.fromkeys(map(need_of, required))),
        bound=bound,
        required=tuple(name for name, each in bound.items() if each.empty == "refused"),
        groups=tuple(dict.fromkeys(tool.bound_together or ())),
    )
    return _Kept(needs, demands, _write_demands(demands), bound_args)
