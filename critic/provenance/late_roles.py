"""What is asked of a place in arguments where a late value will stand, and of the places below."""

from collections.abc import Iterator
from typing import NamedTuple

from critic.late.argument_places import ArgPath
from critic.provenance.roles import RoleTree
from evals.capability import Role


class PlacedRoles(NamedTuple):
    """The roles and the kind of a place in arguments, and the roles of the places below it."""

    roles: tuple[Role, ...]
    kind: str | None
    inner: tuple[Role, ...]

    @property
    def every(self) -> frozenset[Role]:
        """The roles of the place, and of the places around and below it."""
        return frozenset((*self.roles, *self.inner))


def roles_at(tree: RoleTree, path: ArgPath) -> PlacedRoles:
    """Return what is asked of a place in arguments."""
    roles, kind = tree.roles, tree.kind
    trees: tuple[RoleTree, ...] = (tree,)
    for key in path:
        trees = tuple(one for each in trees for one in each.trees_below(key))
        roles = (*roles, *(role for one in trees for role in one.roles))
        kind = next((one.kind for one in trees if one.kind), kind)
    return PlacedRoles(roles, kind, tuple(role for one in trees for role in _inner_roles(one)))


def _inner_roles(tree: RoleTree) -> Iterator[Role]:
    open_trees = [*tree.inner.values(), *([tree.any] if tree.any else [])]
    while open_trees:
        one = open_trees.pop()
        yield from one.roles
        open_trees += [*one.inner.values(), *([one.any] if one.any else [])]
