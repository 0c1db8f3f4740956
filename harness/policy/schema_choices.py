"""Count the choices that the canonical form of a JSON Schema writes out one by one."""

from typing import Any, Final

from evals.schema_budget import Targets
from evals.schema_keywords import REFERENCES, Json, every_object, keywords_judging, parts_of

_MAX_CHOICES: Final = 1_000
"""How many choices the canonical form of a schema may have: each takes some time and memory."""

_MAX_CONDITIONS: Final = 2_000
"""How many conditions may stand beside one another: each is compared with each."""

_MAX_MULTIPLES: Final = 100
"""How many multiples may be joined: their common multiple has as many digits."""

_SAME: Final = keywords_judging("same")
_ADDED: Final = frozenset({"anyOf", "oneOf"})
_JOINING: Final = frozenset({"allOf", *REFERENCES})
_DOUBLED: Final = frozenset({"if", "dependentSchemas", "dependencies"})
_MOST: Final = 10**9


def has_many_choices(schema: Any) -> bool:
    """Return whether the canonical form of a schema would have too many choices.

    Conditions that must all hold multiply their choices, through references too. A recursive schema
    counts once.
    """
    if type(schema) is not dict:
        return False
    objects = list(every_object(schema))
    if any(
        len(one["allOf"]) > _MAX_CONDITIONS for one in objects if type(one.get("allOf")) is list
    ):
        return True
    if sum("multipleOf" in one for one in objects) > _MAX_MULTIPLES and any(
        not one.keys().isdisjoint(_JOINING) for one in objects
    ):
        return True
    if all(one.keys().isdisjoint(_CHOOSING) for one in objects):
        return False
    targets, choices = Targets(schema), dict[int, int]()
    for start in objects:
        _count(start, targets, choices)
    return max(choices.values()) > _MAX_CHOICES


_CHOOSING: Final = _ADDED | _DOUBLED | {"dependentRequired"}


def _count(start: Json, targets: Targets, choices: dict[int, int]) -> None:
    """Record the choices of a schema, and of all schemas for the same value."""
    waiting = [(start, False)]
    while waiting:
        schema, leaving = waiting.pop()
        if leaving:
            choices[id(schema)] = _product(schema, targets, choices)
        elif id(schema) not in choices:
            choices[id(schema)] = 1
            waiting.append((schema, True))
            below = [part for _, part in parts_of(schema, _SAME) if type(part) is dict]
            below += targets.targets_of(schema)
            waiting += [(part, False) for part in below if id(part) not in choices]


def _product(schema: Json, targets: Targets, choices: dict[int, int]) -> int:
    named = schema.get("dependentRequired")
    product = 2 ** min(len(named), 30) if type(named) is dict else 1
    sums: dict[str, int] = {}
    for (keyword, *_), part in parts_of(schema, _SAME):
        many = choices.get(id(part), 1)
        if keyword in _ADDED:
            sums[keyword] = sums.get(keyword, 0) + many
        else:
            product = min(product * (many + (keyword in _DOUBLED)), _MOST)
    for many in (*sums.values(), *(choices[id(one)] for one in targets.targets_of(schema))):
        product = min(product * many, _MOST)
    return product
