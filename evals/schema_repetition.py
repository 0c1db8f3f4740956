"""Find out whether explaining a recursive JSON Schema could repeat itself.

A recursive schema may judge one part of a value along two ways: two branches of an `allOf`, say,
that lead to the same schema. The validator remembers its answers, so yes or no stays fast, but it
lists the errors of both ways, at every level of the value: exponentially many.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from evals.schema_budget import Json, Targets, every_object, subschemas

# Keywords whose subschemas are only asked for yes or no (`not`, `if`, `contains`) add no errors.
_EITHER: Final = ("then", "else")
_EVERY: Final = ("allOf", "anyOf", "oneOf", "dependentSchemas")
_ONE_PART: Final = ("items", "additionalProperties", "unevaluatedItems", "unevaluatedProperties")
_MANY_PARTS: Final = ("prefixItems", "properties")


def repeats_itself(root: Json) -> bool:
    """Return whether some part of a value may be judged twice by what is recursive in a schema.

    True is the safe answer: it is also given for some schemas that never do.
    """
    targets = Targets(root)
    ways = {id(part): [*_ways(part, targets)] for part in every_object(root)}
    into = _reachable_from_cycles({start: set(ends) for start, ends in ways.items()})
    back: dict[int, set[int]] = {start: set() for start in ways}
    for start, ends in ways.items():
        for end in ends:
            back[end].add(start)
    recursive = into & _reachable_from_cycles(back)
    return any(
        _judges_twice(part, recursive, targets)
        for part in every_object(root)
        if id(part) in recursive
    )


def _ways(schema: Json, targets: Targets) -> Iterator[int]:
    yield from map(id, targets.of(schema))
    yield from map(id, subschemas(schema, (*_EITHER, *_ONE_PART), (*_EVERY, *_MANY_PARTS)))
    yield from map(id, subschemas(schema, (), ("patternProperties",)))


def _reachable_from_cycles(ways: dict[int, set[int]]) -> set[int]:
    """Return the nodes of a graph that are in a cycle, or that a cycle leads to."""
    entries = dict.fromkeys(ways, 0)
    for ends in ways.values():
        for end in ends:
            entries[end] += 1
    waiting = [node for node, count in entries.items() if not count]
    removed = set(waiting)
    while waiting:
        for end in ways[waiting.pop()]:
            entries[end] -= 1
            if not entries[end]:
                removed.add(end)
                waiting.append(end)
    return set(ways) - removed


def _judges_twice(schema: Json, recursive: set[int], targets: Targets) -> bool:
    def count(parts: Iterable[Json]) -> int:
        return sum(id(part) in recursive for part in parts)

    either = max(count(subschemas(schema, (keyword,), ())) for keyword in _EITHER)
    same = either + count(targets.of(schema)) + count(subschemas(schema, (), _EVERY))
    # A name may match several patterns, and be that of a property. Other parts do not overlap.
    patterns = count(subschemas(schema, (), ("patternProperties",)))
    parts = count(subschemas(schema, _ONE_PART, _MANY_PARTS))
    return same + patterns > 1 or (same + patterns == 1 and parts > 0)
