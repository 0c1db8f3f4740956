"""Outputs that are not there yet: each holds one word, where a late value may come to stand.

Rule 1: a value that a step takes stands at the place that it names.
Rule 2: what a derived source makes of a place may stand in any field below it: an output holds the
        word in each. Where there is none, the word is an element of a list there.
Rule 3: that a place has a name shows nothing that was seen. A name that leads to no field is the
        word itself.

For example, of records with the fields `id` and `/lines/*/sku`, what was made of all of them may be
`[{"id": word}]` or `{"lines": [{"sku": word}]}`.
"""

from collections.abc import Container, Iterator, Sequence
from typing import Any

from evals.pointers import array_index, segments


def word_outputs(
    word: str, place: str, fields: Sequence[str], *, is_element: bool
) -> Iterator[Any]:
    """Yield outputs that hold a word at a place, or anywhere below it.

    Args:
        place: a pointer into the output. `*` and digits are elements of a list.
        fields: names of members of the output or of its elements, and pointers to deeper fields.
        is_element: whether the word stands below the place.
    """
    names = frozenset(part for one in fields for part in segments(one) or (one,))
    way = segments(place)
    if not is_element:
        yield _output_with(word, way, names, word)
        return
    pointers = [segments(one) for one in fields if one.startswith("/")]
    below = [one for one in pointers if _leads_below(one, way)]
    for one in below:
        yield _output_with(word, one, names, word)
    members = dict.fromkeys((one for one in fields if not one.startswith("/")), word)
    if members and _leads_below(("*", ""), way):
        yield [members]
    elif not below:
        yield _output_with(word, (*way, "*"), names, word)


def _output_with(held: Any, way: Sequence[str], names: Container[str], word: str) -> Any:
    for part in reversed(way):
        held = [held] if _is_in_list(part) else {part if part in names else word: held}
    return held


def _is_in_list(part: str) -> bool:
    return part == "*" or array_index(part) is not None


def _leads_below(way: Sequence[str], place: Sequence[str]) -> bool:
    """Return whether a way goes on from a place."""
    pairs = zip(way, place, strict=False)
    same = (one == two or (_is_in_list(one) and _is_in_list(two)) for one, two in pairs)
    return len(way) > len(place) and all(same)
