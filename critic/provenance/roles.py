"""The values in the arguments of a call, each with the roles that the manifest gives it.

Rule 1: a role of an argument is that of every scalar in it; a role at a JSON pointer is that of
        every scalar below the place, where the segment `*` stands for any member or element.
Rule 2: a scalar with several roles is judged in each of them.
Rule 3: where a tool has no roles at all, every scalar is a recipient.
Rule 4: keys of objects have no order, those of the arguments and those of the roles.
Rule 5: the name of a member is a value, too, where the call is aimed at what holds it or sends it,
        unless the manifest names the member itself.
Rule 6: the kind of a value is that of the nearest place around it that has one.
Rule 7: a member whose name the manifest has in other letters, as `To` is `to`, is that member too:
        some programs read it so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final, NamedTuple, get_args

from evals.capability import Role, ToolCapability
from evals.pointers import segments

_ORDER: Final[tuple[Role, ...]] = get_args(Role)
AIMED_AT: Final = frozenset[Role]({"recipient", "object", "locator", "secret"})
"""The roles of what a call is aimed at."""
_WITH_NAMES: Final = AIMED_AT | {"content"}


class Placed(NamedTuple):
    """A scalar in the arguments: where it is, what it is, its roles, each once, and its kind.

    `is_name`: whether it is the name of the member that stands there. `spelled`: the names on the
    way to it that are those of the argument, or spelled in the manifest: an agent chooses others.
    """

    path: tuple[str | int, ...]
    value: Any
    roles: tuple[Role, ...]
    kind: str | None = None
    is_name: bool = False
    spelled: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class RoleTree:
    """The roles and kinds of one tool, by the way that leads to their places."""

    roles: tuple[Role, ...] = ()
    kind: str | None = None
    inner: dict[str, "RoleTree"] = field(default_factory=dict)
    any: "RoleTree | None" = None
    alike: dict[str, tuple["RoleTree", ...]] | None = None
    """What applies to members in other letters, once one was asked for."""

    def trees_below(self, key: str | int) -> tuple["RoleTree", ...]:
        """Return what applies to a member or element."""
        inner = self.inner.get(str(key))
        own = (inner,) if inner is not None else self._trees_alike(key) if self.inner else ()
        return own if self.any is None else (*own, self.any)

    def _trees_alike(self, key: str | int) -> tuple["RoleTree", ...]:
        if type(key) is int:
            return ()
        from critic.provenance.field_trees import plain_name  # noqa: PLC0415 - seldom asked for

        if self.alike is None:  # whole at once: other threads read it
            found: dict[str, tuple[RoleTree, ...]] = {}
            for name, tree in self.inner.items():
                plain = plain_name(name)
                found[plain] = (*found.get(plain, ()), tree)
            self.alike = found
        return self.alike.get(plain_name(str(key)), ())


def tool_roles(tool: ToolCapability) -> RoleTree:
    """Return the roles and kinds of a tool as a tree."""
    tree = roles_tree(tool.arg_roles)
    for name, kind in (tool.arg_kinds or {}).items():
        _place_of(tree, name).kind = kind
    return tree


def roles_tree(arg_roles: Mapping[str, Role] | None) -> RoleTree:
    """Return roles as a tree."""
    tree = RoleTree()
    for name, role in (arg_roles or {}).items():
        place = _place_of(tree, name)
        place.roles = (*place.roles, role)
    if not arg_roles:
        tree.roles = ("recipient",)
    return tree


def _place_of(tree: RoleTree, name: str) -> RoleTree:
    if not name.startswith("/"):
        return tree.inner.setdefault(name, RoleTree())
    for segment in segments(name):
        tree = _grow_branch(tree, segment)
    return tree


def _grow_branch(place: RoleTree, segment: str) -> RoleTree:
    if segment != "*":
        return place.inner.setdefault(segment, RoleTree())
    if place.any is None:
        place.any = RoleTree()
    return place.any


def placed_values(tree: RoleTree, args: Mapping[str, Any]) -> Iterator[Placed]:
    """Yield every scalar of the arguments, by name and position; those without a role, too."""
    open_values: list[tuple[Placed, tuple[RoleTree, ...]]]
    open_values = [(Placed((), args, tree.roles), (tree,))]
    while open_values:
        place, trees = open_values.pop()
        path, value, roles, kind, _, spelled = place
        if type(value) is dict:
            members: list[tuple[str | int, Any]] = sorted(value.items(), key=itemgetter(0))
            yield from _names(place, trees)
        elif type(value) is list:
            members = list(enumerate(value))
        else:
            yield place
            continue
        for key, inner in reversed(members):
            below = trees[0].trees_below(key) if len(trees) == 1 else _all_below(trees, key)
            given = _with_roles(roles, below) if below else roles
            inner_kind = _kind_in(below) or kind
            names = (
                (*spelled, key) if type(key) is str and _is_spelled(path, key, trees) else spelled
            )
            open_values.append(
                (Placed((*path, key), inner, given, inner_kind, spelled=names), below)
            )


def _is_spelled(path: tuple[str | int, ...], name: str, trees: tuple[RoleTree, ...]) -> bool:
    return not path or any(name in tree.inner for tree in trees)


def _all_below(trees: tuple[RoleTree, ...], key: str | int) -> tuple[RoleTree, ...]:
    return tuple([one for tree in trees for one in tree.trees_below(key)])


def _kind_in(trees: tuple[RoleTree, ...]) -> str | None:
    for one in trees:
        if one.kind:
            return one.kind
    return None


def _names(place: Placed, trees: tuple[RoleTree, ...]) -> Iterator[Placed]:
    """Yield the names of members, where the call is aimed at what holds them, or sends it."""
    path, members, roles, kind, _, spelled = place
    named = tuple(role for role in roles if role in _WITH_NAMES)
    for name in sorted(members) if named and path else ():
        if name and not any(name in tree.inner for tree in trees):
            yield Placed((*path, name), name, named, kind, is_name=True, spelled=spelled)


def _with_roles(roles: tuple[Role, ...], trees: tuple[RoleTree, ...]) -> tuple[Role, ...]:
    """Return roles and those of some trees, each once, in one order."""
    more = trees[0].roles if len(trees) == 1 else tuple(one for tree in trees for one in tree.roles)
    if not roles and len(more) <= 1:
        return more
    return tuple(sorted({*roles, *more}, key=_ORDER.index))


def without_role(tree: RoleTree, args: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the arguments that hold a scalar without a role, each once."""
    names = (str(one.path[0]) for one in placed_values(tree, args) if not one.roles)
    return iter(dict.fromkeys(names))
