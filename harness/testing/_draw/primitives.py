"""The only source of randomness of the kit: a function that picks one of some options.

Hypothesis drives it where a failure should shrink, and a seed where speed and counts matter; what
is drawn is the same code. Hypothesis shrinks towards the first option, so each list of options
starts with what a person would write first.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from random import Random
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from hypothesis import strategies as st

Json = dict[str, Any]
_P = ParamSpec("_P")
_T = TypeVar("_T")

ABSENT: Final[Any] = object()
"""The option to leave a field out."""

FieldOptions = Mapping[str, Sequence[Any]]
"""Options for each field. One that occurs twice is drawn twice as often."""


class Pick(Protocol):
    """Draws one of the options, which are shared between draws: replace them, never change them."""

    def __call__(self, options: Sequence[_T], /) -> _T: ...


class HypothesisPick:
    """Picks what Hypothesis decides. It alone draws from strategies too: texts, own arguments."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw: Final = draw

    def __call__(self, options: Sequence[_T], /) -> _T:
        # A single option is drawn too: otherwise shrinking would prefer shorter lists of options.
        return options[self.draw(_below(len(options)))]


@cache
def _below(count: int) -> st.SearchStrategy[int]:
    return st.integers(0, count - 1)


def composite(
    make: Callable[Concatenate[HypothesisPick, _P], _T],
) -> Callable[_P, st.SearchStrategy[_T]]:
    """Return a function that returns a strategy, as `hypothesis.strategies.composite` does."""

    @st.composite
    @wraps(make)
    def draw_one(draw: st.DrawFn, /, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return make(HypothesisPick(draw), *args, **kwargs)

    return draw_one


def tools_in(proposal: Json) -> list[Json]:
    """Return the tools of a proposal in wire form."""
    found: list[Json] = proposal["compiled"]["manifests"]["tool_manifest"]
    return found


def items_in(proposal: Json) -> list[Json]:
    """Return the evidence of a proposal in wire form."""
    found: list[Json] = proposal["compiled"]["manifests"]["evidence_manifest"]
    return found


def name_of(tool: Json) -> Json:
    """Return the fields of a tool, a step or a call that name the tool."""
    return {"adapter_id": tool["adapter_id"], "capability_id": tool["capability_id"]}


def random_of(seed: int) -> Random:
    """Return the random numbers of that seed."""
    return Random(seed)  # noqa: S311 - chance, not a secret


def seeded_pick(seed: int) -> Pick:
    """Return the pick of that seed, which is fast and always draws the same."""
    drawn = random_of(seed).random

    def pick(options: Sequence[_T], /) -> _T:
        return options[int(drawn() * len(options))]

    return pick


def chance(pick: Pick) -> bool:
    """Return true or false; shrink towards false."""
    if isinstance(pick, HypothesisPick):
        # Hypothesis knows how to vary a boolean: of an integer below two it draws less widely.
        return pick.draw(st.booleans())
    return pick((False, True))


def one_in(pick: Pick, count: int) -> bool:
    """Return true once in so many draws; shrink towards false."""
    return pick(range(count)) == count - 1


def pick_some(pick: Pick, options: Sequence[_T]) -> list[_T]:
    """Return some of the options in their order, each at most once; shrink towards none."""
    return [option for option in options if chance(pick)]


def fields(pick: Pick, table: FieldOptions) -> Json:
    """Return one option for each field of the table, without the fields that drew `ABSENT`."""
    drawn = {name: pick(options) for name, options in table.items()}
    return {name: value for name, value in drawn.items() if value is not ABSENT}


def set_field(place: Json, name: str, value: Any) -> None:
    """Set a field of a place, or take it out where the value is `ABSENT`."""
    if value is ABSENT:
        place.pop(name, None)
    else:
        place[name] = value


def optional(name: str, value: Any) -> Json:
    """Return the field with its value, or nothing where that is `ABSENT`."""
    return {} if value is ABSENT else {name: value}
