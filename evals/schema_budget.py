"""The limits of a JSON Schema: its size, its references, its alternatives and its patterns.

A schema is data from outside, and a few kilobytes of it can take minutes, gigabytes or the whole
process when it is compiled or asked. The limits are far above what real schemas need (the JSON
Schema of hundreds of models, an OpenAPI document of some hundred kilobytes), and a schema over one
of them is refused with the name of that limit.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from jsonschema_rs import Draft202012Validator, RegexOptions

from evals.schema_keywords import (
    REFERENCES,
    Json,
    every_object,
    keywords_judging,
    parts_of,
    subschemas,
)

MAX_SCHEMA_BYTES: Final = 1024 * 1024
"""The largest schema, in bytes of its canonical form."""

MAX_REFERENCE_CHAIN: Final = 500
"""How many references may follow one another before a schema that was seen already."""

MAX_IN_PLACE: Final = 64
"""How many schemas may lie within one another, by reference or not, that judge one value, where
`unevaluated...` asks all of them: the compiler calls itself for each, on a stack of any size."""

MAX_ALTERNATIVES: Final = 100_000
"""How many subschemas may have to be asked about one path of a value: nested choices multiply."""

MAX_PATTERN_BYTES: Final = 64 * 1024 * 1024
"""Memory of all compiled patterns together, in bytes."""

# A pattern is charged the first of these sizes that it compiles within.
_PATTERN_SIZES: Final = (64 * 1024, 1024 * 1024, 10 * 1024 * 1024)

_SAME: Final = keywords_judging("same")
_PARTS: Final = keywords_judging("member", "element")
_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_UNEVALUATED: Final = frozenset({"unevaluatedItems", "unevaluatedProperties"})
_NAMED: Final = ("dependentRequired", "dependentSchemas", "dependencies")
_MOST_COUNTED: Final = 1_000_000_000


class Costs(NamedTuple):
    """The costs of the references of a schema."""

    chain: int
    """The most references that follow one another before a schema that was seen already."""
    alternatives: int
    """The most subschemas that may have to be asked about one path of a value."""
    in_place: int
    """The most schemas within one another that judge one value."""
    recursive: bool
    """Whether a schema may lead back to itself, as far as its references can be followed."""
    questions: int = 1
    """The most questions, options of `enum` included, about one path of a value."""
    patterns: int = 0
    """The most patterns that read one path of a value."""


_BEING_COUNTED: Final = Costs(0, 0, 0, recursive=True)
"""The costs of a schema that is still being counted: whoever leads to it leads back."""

NO_COSTS: Final = Costs(0, 1, 1, recursive=False)
"""The costs of a schema without keywords, such as `true`."""


def pattern_memory(schema: Any, size: int) -> int:
    """Return how many bytes the compiled patterns of a schema of `size` bytes take at most.

    Raises:
        ValueError: the schema is over a budget; the message says which.
    """
    if size > MAX_SCHEMA_BYTES:
        raise ValueError(
            f"{size} bytes is over the budget of {MAX_SCHEMA_BYTES} bytes for a schema"
        )
    if type(schema) is not dict:
        return 0
    exceeded, memory = _exceeded_limit(costs_of(schema), schema), 0
    if exceeded is None:
        memory = _pattern_bytes(schema)
        if memory > MAX_PATTERN_BYTES:
            exceeded = f"{MAX_PATTERN_BYTES} bytes for compiled patterns"
    if exceeded is not None:
        raise ValueError(f"over the budget of {exceeded}")
    return memory


def _exceeded_limit(costs: Costs, schema: Json) -> str | None:
    if costs.chain > MAX_REFERENCE_CHAIN:
        return f"{MAX_REFERENCE_CHAIN} references in a chain"
    if costs.alternatives > MAX_ALTERNATIVES:
        return f"{MAX_ALTERNATIVES} alternatives for one value"
    parts = every_object(schema)
    if costs.in_place > MAX_IN_PLACE and any(not _UNEVALUATED.isdisjoint(it) for it in parts):
        return f"{MAX_IN_PLACE} schemas within one another, with unevaluated..."
    return None


class Targets:
    """Finds what a reference refers to, within the document."""

    def __init__(self, root: Json) -> None:
        self._root = root
        self._anchors: dict[str, list[Json]] = {}
        self._resources: dict[str, list[Json]] = {}
        self._known: dict[str, list[Json]] = {}
        for part in every_object(root):
            for keyword in ("$anchor", "$dynamicAnchor"):
                self._anchors.setdefault(str(part.get(keyword)), []).append(part)
            if type(part.get("$id")) is str:
                self._resources.setdefault(_last_segment(part["$id"]), []).append(part)

    def targets_of(self, schema: Json) -> Iterator[Json]:
        """Yield every schema that the references of this one may mean."""
        for keyword in REFERENCES:
            reference = schema.get(keyword)
            if type(reference) is str:
                yield from self._targets(reference)

    def may_lead_anywhere(self, schema: Json) -> bool:
        """Return whether it is not plain what a schema refers to, or by which draft it is read.

        A reference that does not begin with `#` is resolved against identifiers, in ways that are
        not followed here; one that finds nothing here may find something in the compiler.
        """
        references = [schema[keyword] for keyword in REFERENCES if keyword in schema]
        local = all(
            type(it) is str and it.startswith("#") and self._targets(it) for it in references
        )
        is_of_draft = "$schema" not in schema or (
            schema is self._root and schema["$schema"] in (_DRAFT, f"{_DRAFT}#")
        )
        return not (local and is_of_draft)

    def _targets(self, reference: str) -> list[Json]:
        if reference not in self._known:
            self._known[reference] = self._find(reference)
        return self._known[reference]

    def _find(self, reference: str) -> list[Json]:
        base, _, fragment = reference.partition("#")
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment, [])
        # A pointer counts from the resource that it is in: any of them, for a budget.
        roots = self._resources.get(_last_segment(base), []) if base else [self._root]
        inner = [] if base else [root for same in self._resources.values() for root in same]
        found = [_at_pointer(root, fragment) for root in (*roots, *inner)]
        return list({id(target): target for target in found if type(target) is dict}.values())


def _last_segment(uri: str) -> str:
    return uri.partition("#")[0].rstrip("/").rpartition("/")[2]


def _at_pointer(value: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if type(value) is list and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            value = value.get(name) if type(value) is dict else None
    return value


def costs_of(root: Any) -> Costs:
    """Return what the references of a schema amount to.

    Each schema is counted once it has been left, so a reference back to a schema that is still
    being counted adds nothing: the validator remembers what it has asked about a value there.
    """
    targets = Targets(root)
    costs: dict[int, Costs] = {}
    for start in every_object(root):
        waiting = [(start, False)]
        while waiting:
            schema, leaving = waiting.pop()
            if leaving:
                costs[id(schema)] = _cost(schema, costs, targets)
            elif id(schema) not in costs:
                costs[id(schema)] = _BEING_COUNTED
                waiting.append((schema, True))
                same = subschemas(schema, _SAME)
                parts = subschemas(schema, _PARTS)
                below = (*targets.targets_of(schema), *same, *parts)
                waiting += [(part, False) for part in below if id(part) not in costs]
    if not costs:
        return NO_COSTS
    # What nothing refers to is compiled and never asked: its recursion costs nothing.
    most = Costs(*map(max, zip(*costs.values(), strict=True)))
    return most._replace(recursive=costs[id(root)].recursive if id(root) in costs else True)


def _cost(schema: Json, costs: Mapping[int, Costs], targets: Targets) -> Costs:
    referred = [costs[id(target)] for target in targets.targets_of(schema)]
    same = [costs[id(part)] for part in subschemas(schema, _SAME)]
    parts = [costs[id(part)] for part in subschemas(schema, _PARTS)]
    chains = [1 + each.chain for each in referred] + [each.chain for each in (*same, *parts)]
    beside = sum(each.alternatives for each in (*referred, *same))
    below = max((each.alternatives for each in parts), default=0)
    within = max((each.in_place for each in (*referred, *same)), default=0)
    # Past the limits nothing needs to be exact, and whole numbers need not grow.
    alternatives = min(1 + beside + below, MAX_ALTERNATIVES + 1)
    recursive = any(each.recursive for each in (*referred, *same, *parts))
    recursive = recursive or targets.may_lead_anywhere(schema)
    same = [*referred, *same]
    questions = _own_questions(schema) + sum(each.questions for each in same)
    questions += _sum_below(schema, lambda part: costs[id(part)].questions)
    patterns = _own_patterns(schema) + sum(each.patterns for each in same)
    patterns += _sum_below(schema, lambda part: costs[id(part)].patterns)
    asked = min(questions, _MOST_COUNTED), min(patterns, _MOST_COUNTED)
    return Costs(max(chains, default=0), alternatives, 1 + within, recursive, *asked)


def _own_questions(schema: Json) -> int:
    """Return what a schema itself asks: texts and numbers of an `enum` are looked up at once."""
    options = schema.get("enum")
    options = [*options, schema.get("const")] if type(options) is list else [schema.get("const")]
    listed = sum(json_values(option) for option in options if type(option) in (dict, list))
    named = (schema.get(keyword) for keyword in _NAMED)
    return 1 + listed + sum(len(names) for names in named if type(names) is dict)


def _own_patterns(schema: Json) -> int:
    named = schema.get("patternProperties")
    return ("pattern" in schema) + (len(named) if type(named) is dict else 0)


def _sum_below(schema: Json, count: Callable[[Json], int]) -> int:
    """Return the counts for one part of a value: every pattern may name the same member."""
    most = total = 0
    for (keyword, *_), part in parts_of(schema, _PARTS):
        counted = count(part) if type(part) is dict else 0
        if keyword in ("properties", "prefixItems"):
            most = max(most, counted)
        else:
            total += counted
    return most + total


def json_values(value: Any) -> int:
    """Return how many values a JSON value holds, itself included."""
    count, waiting = 0, [value]
    while waiting:
        current = waiting.pop()
        count += 1
        if type(current) in (dict, list):
            waiting.extend(current.values() if type(current) is dict else current)
    return count


def _pattern_bytes(schema: Json) -> int:
    patterns: set[str] = set()
    for part in every_object(schema):
        if type(part.get("pattern")) is str:
            patterns.add(part["pattern"])
        if type(part.get("patternProperties")) is dict:
            patterns.update(part["patternProperties"])
    total = 0
    for pattern in patterns:
        total += _pattern_size(pattern)
        if total > MAX_PATTERN_BYTES:
            break
    return total


def _pattern_size(pattern: str) -> int:
    for size in _PATTERN_SIZES:
        options = RegexOptions(size_limit=size)
        try:
            Draft202012Validator({"pattern": pattern}, pattern_options=options)
        except Exception:  # noqa: S112 - too large for this size, or not a pattern at all
            continue
        return size
    return _PATTERN_SIZES[-1]  # the compiler refuses it
