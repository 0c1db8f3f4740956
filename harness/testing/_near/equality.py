"""One equality that decides, and the check that it decides by whole values."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.errors import HarnessError
from harness.testing._near.near_equals import near_digests, near_texts, near_values

_FEWEST: Final = 10
"""Near misses that an equality has to be tried with: fewer show nothing."""

_TABLES: Final[Mapping[str, Callable[[Any], Mapping[str, Any]]]] = {
    "text": near_texts,
    "digest": near_digests,
    "json": near_values,
}


class NearMissTaken(HarnessError, AssertionError):
    """A near miss counts where only the exact value may, or the exact value does not."""


@dataclass(frozen=True)
class Equality:
    """A value that something is compared with, before it counts.

    Attributes:
        name: what is compared, such as `the plan digest of an answer`.
        exact: the value that is matched.
        matches: tries a value in a world of its own, and returns whether it counted. One that
            cannot be built at all is refused: `matches` returns False or raises ValueError.
        kind: the table of near misses: `text`, `digest` or `json`.
        also: further near misses, such as the name of another adapter, by what they are.
        same: near misses of the table that are other spellings of the very value.
    """

    name: str
    exact: Any
    matches: Callable[[Any], bool]
    kind: str = "text"
    also: Mapping[str, Any] = field(default_factory=dict)
    same: Collection[str] = ()

    def __str__(self) -> str:
        return self.name


def check_equality(equality: Equality) -> int:
    """Check that the exact value is matched and no near miss is. Return how many were tried.

    Raises:
        NearMissTaken: it is not so, or too few were tried.
    """
    if not equality.matches(equality.exact):
        raise NearMissTaken(f"{equality.name}: the exact value {equality.exact!a} is not matched")
    table = {**_TABLES[equality.kind](equality.exact), **equality.also}
    if unknown := sorted({*equality.same} - {*table}):
        raise NearMissTaken(f"{equality.name}: no near miss is called {', '.join(unknown)}")
    tried = {what: near for what, near in table.items() if what not in equality.same}
    taken = [what for what, near in tried.items() if _is_matched(equality, near)]
    if taken:
        shown = "; ".join(f"{what}: {tried[what]!a}" for what in taken[:5])
        raise NearMissTaken(f"{equality.name}: {equality.exact!a} is matched by {shown}")
    if len(tried) < _FEWEST:
        raise NearMissTaken(f"{equality.name}: only {len(tried)} near misses were tried")
    return len(tried)


def _is_matched(equality: Equality, near: Any) -> bool:
    try:
        return equality.matches(near)
    except (ValueError, HarnessError):
        return False
