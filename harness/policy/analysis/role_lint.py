"""Find roles at JSON pointers that miss their argument, because the schema allows other shapes.

A role at `/to/x` covers the member `x` of an object. If `to` may be a text or an array, such a
value has no role, and its source is not judged.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from critic.provenance import RoleTree, roles_tree
from evals.capability import Role
from evals.escaping import escape_name, pointer
from evals.pointers import segments
from harness.policy.schema_lint import admits, property_names
from harness.policy.schema_parts import AnySchema

_TEXT: Final = {"type": "string", "minLength": 1}
_NUMBER: Final = {"type": "number"}
_ARRAY: Final = {
    "type": "array",
    "minItems": 1,
    "items": {"type": ["string", "number", "array", "object"]},
}
_SHAPES: Final[tuple[tuple[str, AnySchema, str], ...]] = (
    ("a string", _TEXT, '"x"'),
    ("a number", _NUMBER, "7"),
    ("an array", _ARRAY, '["x"]'),
)
"""What holds a value and no members, with an example. Objects have members that a pointer names."""

_MOST_PLACES: Final = 1_000
"""How many places are looked at, of roles that meet in many ways."""


class MissedRole(NamedTuple):
    """A place at which a value of another shape has no role.

    Attributes:
        role: the first JSON pointer of the roles below the place.
        message: the other shapes and the fix; one line, safe to print.
    """

    role: str
    message: str


def missed_roles(schema: AnySchema, arg_roles: Mapping[str, Role]) -> Iterator[MissedRole]:
    """Yield each place above a role whose value may be no object (or array), by the schema.

    Args:
        schema: the schema of a tool's arguments; true without one.
    """
    open_places: list[tuple[tuple[str, ...], tuple[RoleTree, ...]]]
    open_places = [((), (roles_tree(arg_roles),))]
    for _ in range(_MOST_PLACES):
        if not open_places:
            return
        path, trees = open_places.pop()
        if any(tree.roles for tree in trees):
            continue
        names = list(dict.fromkeys(name for tree in trees for name in tree.inner))
        if any(tree.any is not None for tree in trees):
            names += ["*"] if path else ["*", *sorted({*property_names(schema)} - {*names})]
        if path:
            yield from _missed_at(schema, path, names, arg_roles)
        for key in reversed(names):
            below = tuple(one for tree in trees for one in tree.trees_below(key))
            open_places.append(((*path, key), below))


def _missed_at(
    schema: AnySchema, path: tuple[str, ...], names: list[str], arg_roles: Mapping[str, Role]
) -> Iterator[MissedRole]:
    """Yield the other shapes at a place whose roles are for members of these names."""
    lists = any(name == "*" or name.isdecimal() for name in names)
    shapes = _SHAPES[:-1] if lists else _SHAPES
    found = [one for one in shapes if admits(schema, schema_with_value(path, one[1]))]
    if not found:
        return
    kinds = " or ".join(kind for kind, _, _ in found)
    role = next(name for name in arg_roles if _is_below(name, path))
    place, wanted = escape_name(pointer(*path)), "array" if lists else "object"
    yield MissedRole(
        role,
        f"{place} may be {kinds}, such as {found[-1][2]}, whose origin the role at "
        f'{escape_name(role)} does not judge: write type = "{wanted}" for it in args_schema, '
        f"or give {place} a role",
    )


def _is_below(role: str, path: tuple[str, ...]) -> bool:
    place = segments(role) if role.startswith("/") else ()
    return len(place) > len(path) and all(
        part in ("*", key) for part, key in zip(place, path, strict=False)
    )


def schema_with_value(path: tuple[str, ...], value: AnySchema) -> AnySchema:
    """Return a schema for arguments or evidence with such a value at a place.

    `*` is some element of an array, or all members of an object.
    """
    for part in reversed(path):
        value = _schema_holding(part, value)
    return value


def _schema_holding(part: str, value: AnySchema) -> dict[str, Any]:
    if part == "*":
        elements = {"type": "array", "contains": value}
        members = {"type": "object", "minProperties": 1, "additionalProperties": value}
        return {"anyOf": [elements, members]}
    return {"type": "object", "required": [part], "properties": {part: value}}
