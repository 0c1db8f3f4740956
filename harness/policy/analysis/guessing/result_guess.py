"""Guess who writes what a tool returns, and who fills which field of its records.

The author of a result is never guessed to be anybody but the public, where a sentence may stand
in it. What no table knows is nobody's field, so it counts as text of the public.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from harness.policy.analysis.guessing.guess_tables import (
    OUTSIDE,
    PARTY_FIELD,
    SYSTEM_FIELD,
    TIER_OF,
    WEB,
)
from harness.policy.analysis.guessing.tier_guess import snake_case, words_of

FieldOwner = Literal["system", "party"]

_MOST_LEVELS: Final = 6
_CLOSED_FORMATS: Final = frozenset({"date", "date-time", "uuid"})
_CLOSED_TYPES: Final = frozenset({"integer", "number", "boolean"})


class ResultGuess(NamedTuple):
    """What is guessed of a result.

    Attributes:
        author: `system` only where nobody can write a sentence into it.
        web: whether it comes from the web.
        is_record: whether it is an object or a list, so that it may have fields.
        fields: who fills which field, by its name in a record, or by its place.
        free: all other fields: what stands there is text of whoever wrote the record.
    """

    author: Literal["system", "public"] = "public"
    web: bool = False
    is_record: bool = False
    fields: Mapping[str, FieldOwner] = {}
    free: tuple[str, ...] = ()


def is_web(name: str, description: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a tool deals with the web, by its name, description or arguments."""
    said = f"{' '.join(words_of(name))} {name.replace('_', ' ')} {description}"
    return WEB.search(said) is not None or any(
        OUTSIDE.fullmatch(snake_case(one)) for one in arguments
    )


def guess_result(name: str, returns: Any, *, deals_with_web: bool) -> ResultGuess:
    """Return what is guessed of a result by its JSON Schema; None if it has none."""
    verb = next(iter(words_of(name)), "")
    web = deals_with_web and TIER_OF.get(verb) not in ("network", "destructive")
    if not isinstance(returns, dict):
        return ResultGuess(web=web)
    leaves = list(_leaves(returns, returns.get("$defs", {})))
    is_record = any(leaf.path for leaf in leaves)
    if web:
        return ResultGuess(web=True, is_record=is_record)
    if not is_record:
        closed = bool(leaves) and all(_is_closed(leaf.schema) for leaf in leaves)
        return ResultGuess("system" if closed else "public")
    fields = {_place(leaf.path): owner for leaf in leaves if (owner := _owner_of(leaf))}
    others = [leaf.path[:-1] if leaf.path[-1:] == ("",) else leaf.path for leaf in leaves]
    free = dict.fromkeys(_place(path) for path in others if path and _place(path) not in fields)
    return ResultGuess(is_record=True, fields=fields, free=tuple(free))


class _Leaf(NamedTuple):
    """A part of a result without parts: its way, `*` for elements and free names, its schema."""

    path: tuple[str, ...]
    schema: Mapping[str, Any]


def _leaves(
    schema: Any, defs: Any, path: tuple[str, ...] = (), levels: int = _MOST_LEVELS
) -> Iterator[_Leaf]:
    if levels < 0 or not isinstance(schema, dict):
        return
    if isinstance(schema.get("$ref"), str):
        schema = defs.get(schema["$ref"].rpartition("/")[2]) or {}
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    inner: list[tuple[tuple[str, ...], Any]] = [(path, one) for one in choices]
    if schema.get("type") == "array":
        inner.append(((*path, "*"), schema.get("items", {})))
    properties = schema.get("properties")
    if isinstance(properties, dict):
        inner += [((*path, name), one) for name, one in properties.items()]
    elif isinstance(schema.get("additionalProperties"), dict):
        inner.append(((*path, "*"), schema["additionalProperties"]))
    for way, part in inner:
        yield from _leaves(part, defs, way, levels - 1)
    if not inner and schema.get("type") != "null":
        yield _Leaf((*path, "") if schema.get("type") == "object" else path, schema)


def _is_closed(schema: Mapping[str, Any]) -> bool:
    """Return whether nobody can write a sentence into a value."""
    return (
        schema.get("type") in _CLOSED_TYPES
        or "enum" in schema
        or "const" in schema
        or schema.get("format") in _CLOSED_FORMATS
    )


def _owner_of(leaf: _Leaf) -> FieldOwner | None:
    """Return who fills a field. One that may hold objects or lists of any kind is nobody's."""
    if _is_closed(leaf.schema):
        return "system"
    names = [snake_case(one) for one in leaf.path if one != "*"]
    if not names or leaf.schema.get("type", "string") != "string":
        return None
    if SYSTEM_FIELD.fullmatch(names[-1]):
        return "system"
    is_party = leaf.schema.get("format") == "email" or PARTY_FIELD.fullmatch(names[-1])
    return "party" if is_party else None


def _place(path: tuple[str, ...]) -> str:
    """Return the name of a field in a record, or a JSON pointer where it stands deeper.

    A name counts for a record and for each of a list.
    """
    way = path[1:] if path[:1] == ("*",) else path
    if len(way) == 1 and way[0] != "*" and not way[0].startswith("/"):
        return way[0]
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)
