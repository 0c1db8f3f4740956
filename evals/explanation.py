"""Where a value does not satisfy a JSON Schema, as far as that can be told at a bounded cost.

The compiler makes all errors of a value at once, with those of every alternative of a choice that
fails. Each error quotes the value at its place, the way to it and what the schema wants there, so
their memory is a product: a schema of a few kilobytes and a value of a hundred take gigabytes. The
product is estimated first, level by level, and what is too large is only asked for yes or no.
"""

from collections.abc import Iterable
from itertools import islice, zip_longest
from typing import Any, Final, NamedTuple

import orjson
from jsonschema_rs import Draft202012Validator

from evals.schema_budget import Targets, costs_of
from evals.schema_keywords import Json, Place, keywords_judging, parts_of, subschemas

_MOST_QUESTIONS: Final = 200_000
"""How many alternatives a value may have, all values in it together, to be explained."""

_MOST_ERRORS: Final = 10_000
"""How many errors of one value are read. Further ones are at the same few thousand places."""

# Bytes that an error takes, measured: by itself, for each character that it quotes, for each value.
_ERROR: Final = 1_500
_CHARACTER: Final = 4
_VALUE: Final = 100

_QUOTED: Final = ("const", "enum", "format", "not", "pattern")
_NAMES: Final = ("dependentRequired", "dependencies")
_SAME: Final = keywords_judging("same")
_PARTS: Final = keywords_judging("member", "element")


class _Level(NamedTuple):
    """What a schema can say of one value, so many levels below the value that it judges."""

    errors: int
    """The most errors."""
    quoted: int
    """The bytes of the schema that all these errors quote."""


_Levels = tuple[_Level, ...]
QuotedFault = tuple[Place, tuple[str, ...]]
"""A place in a value, and the keywords that fail there, sorted."""


class Explanation:
    """What says where a value is not valid. It is made once for a schema."""

    __slots__ = ("_alternatives", "_levels", "_validator")

    def __init__(self, schema: Any, validator: Draft202012Validator) -> None:
        costs = costs_of(schema)
        self._validator = validator
        self._alternatives = costs.alternatives
        self._levels = None if costs.recursive else _levels_of(schema)

    def faults(self, value: Any, most: int) -> tuple[list[QuotedFault], int]:
        """Return the places in a value that is not valid, and about how many bytes that took.

        Where it would take more than `most`, the value as a whole is named. So it is by a schema
        that refers to itself: it may judge one part of a value along two ways, and lists the errors
        of both, at every level of the value: exponentially many.
        """
        if self._levels is None:
            return _NO_PLACE, 0
        counted = _extents(value)
        size = sum(extent.values for extent in counted)
        cost = _cost(self._levels, counted)
        if cost > most or self._alternatives * size > _MOST_QUESTIONS:
            return _NO_PLACE, 0
        keywords: dict[Place, set[str]] = {}
        for error in islice(self._validator.iter_errors(_sorted_keys(value)), _MOST_ERRORS):
            keyword = str(error.schema_path[-1]) if error.schema_path else "false"
            keywords.setdefault(tuple(error.instance_path), set()).add(keyword)
        return [(path, tuple(sorted(names))) for path, names in keywords.items()], cost


_NO_PLACE: Final[list[QuotedFault]] = [((), ("$ref",))]
"""Only that the value as a whole is invalid: to say more could take forever."""


def _sorted_keys(value: Any) -> Any:
    """Return the value with its keys in order: which errors are read first must not hang on it."""
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


class _Extent(NamedTuple):
    """The values at one level of a JSON value."""

    values: int
    own: int
    """Bytes of these values by themselves: their texts and keys."""
    ways: int
    """Bytes of the keys on the way to each."""


def _extents(value: Any) -> list[_Extent]:
    found, level = [], [(value, 0)]
    while level:
        own = below = 0
        deeper: list[tuple[Any, int]] = []
        for current, way in level:
            below += way
            own += _VALUE
            if type(current) is str:
                own += _CHARACTER * len(current)
            elif type(current) is dict:
                own += _CHARACTER * sum(map(len, current))
                deeper += [(it, way + _CHARACTER * len(key)) for key, it in current.items()]
            elif type(current) is list:
                deeper += [(it, way) for it in current]
        found.append(_Extent(len(level), own, below))
        level = deeper
    return found


def _cost(levels: _Levels, extents: list[_Extent]) -> int:
    """Return about how many bytes all errors of a value take at most.

    An error quotes its value with all that is in it, so what lies on a level is quoted on each
    level above.
    """
    cost, within = 0, sum(extent.own for extent in extents)
    for level, extent in zip(levels, extents, strict=False):
        cost += level.errors * (_ERROR * extent.values + extent.ways + within)
        cost += level.quoted * extent.values
        within -= extent.own
    return cost


def _levels_of(root: Any) -> _Levels:
    """Return what a schema that does not refer to itself can say, level by level."""
    if type(root) is not dict:
        return (_Level(1, 0),)
    targets = Targets(root)
    known: dict[int, _Levels] = {}
    waiting = [(root, False)]
    while waiting:
        schema, leaving = waiting.pop()
        if leaving:
            known[id(schema)] = _join_levels(schema, known, targets)
        elif id(schema) not in known:
            waiting.append((schema, True))
            below = (*targets.targets_of(schema), *subschemas(schema, (*_SAME, *_PARTS)))
            waiting += [(part, False) for part in below]
    return known[id(root)]


def _join_levels(schema: Json, known: dict[int, _Levels], targets: Targets) -> _Levels:
    beside = (*targets.targets_of(schema), *subschemas(schema, _SAME))
    one_of_them = list[_Levels]()
    all_of_them = [known[id(part)] for part in beside]
    for (keyword, *_), part in parts_of(schema, _PARTS):
        levels = known[id(part)] if type(part) is dict else (_Level(1, 0),)
        is_one = keyword in ("properties", "prefixItems")
        (one_of_them if is_one else all_of_them).append((_Level(0, 0), *levels))
    own = (_Level(_own_errors(schema), _own_quotes(schema)),)
    most = _by_level(max, one_of_them)
    return _by_level(sum, (own, most, *all_of_them))


def _by_level(join: Any, several: Iterable[_Levels]) -> _Levels:
    """Return the sums or the maxima of several, level by level."""
    columns = zip_longest(*several, fillvalue=_Level(0, 0))
    return tuple(_Level(*(join(numbers) for numbers in zip(*at, strict=True))) for at in columns)


def _own_errors(schema: Json) -> int:
    """Return how many errors its own keywords make: one for each name that is missing."""
    required = schema.get("required")
    named = [schema[keyword] for keyword in _NAMES if type(schema.get(keyword)) is dict]
    lists = [required, *(names for each in named for names in each.values())]
    return len(schema) + sum(len(names) for names in lists if type(names) is list)


def _own_quotes(schema: Json) -> int:
    quoted = [schema[keyword] for keyword in _QUOTED if keyword in schema]
    return sum(extent.own for value in quoted for extent in _extents(value))
