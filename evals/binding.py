"""Decide whether a piece of evidence holds a value: the content must hold it as a whole.

Rule 1: in JSON content a value is backed by an equal leaf. Numbers are compared as numbers; a
        number, a string, a boolean and null never equal one another.
Rule 2: in text a string is backed where it appears without cutting a token in two (see
        `evals.tokens`), and a number where its canonical JSON spelling does. A boolean and null are
        backed only where they stand as a value, after a colon or an equals sign, or alone: prose
        says "it is true that" about anything.
Rule 3: text has no pointers. Absent content holds nothing and satisfies no schema.
"""

import re
from collections.abc import Hashable, Iterator, Sequence
from itertools import filterfalse
from typing import Any, Final, NamedTuple

from evals.canonical_json import canonical_json
from evals.json_schemas import CompiledSchema
from evals.phrases import Phrases
from evals.pointers import Places, value_at
from evals.tokens import EDGE, has_token, mark_tokens, tokens

# Stands between two texts. Another lone surrogate, which no valid JSON string can hold.
_GAP: Final = "\ud801"

# What stands as a value in a marked text.
_LITERAL: Final = re.compile(rf"[:=]{EDGE}[ \t]*+{EDGE}(true|false|null){EDGE}")


def _leaf_key(value: Any) -> Hashable:
    """Return a key that is equal exactly for equal scalars: 1 and 1.0, but not 1 and true."""
    return value if type(value) is str else (type(value) is bool, value)


def _value_key(value: Any) -> Hashable:
    """Return a key that is equal exactly for equal JSON values."""
    return canonical_json(value) if type(value) in (dict, list) else _leaf_key(value)


def scalars(value: Any) -> Iterator[Any]:
    """Yield every value in a JsonValue that is not an object or an array. Keys are not values."""
    open_values = [value]
    while open_values:
        current = open_values.pop()
        if type(current) is dict:
            open_values.extend(current.values())
        elif type(current) is list:
            open_values.extend(current)
        else:
            yield current


def is_empty(value: Any) -> bool:
    """Return whether a JsonValue is null, the empty text, or holds no scalar at all."""
    if type(value) in (dict, list):
        return not any(True for _ in scalars(value))
    return value is None or value == ""


class Subject(NamedTuple):
    """An argument as an `about` entry asks for it: the keys of its elements, or its own."""

    is_array: bool
    keys: frozenset[Hashable]

    @classmethod
    def of(cls, value: Any) -> "Subject":
        """Return the form in which a JsonValue is looked for."""
        is_array = type(value) is list
        return cls(is_array, frozenset(map(_value_key, value if is_array else [value])))


class BoundValues:
    """The scalars of a bound argument, each once, and at which pointers they must stand, if any."""

    __slots__ = ("_keys", "at", "values")

    def __init__(self, argument: Any, at: tuple[str, ...] | None) -> None:
        self.values: list[Any] = [*{_leaf_key(one): one for one in scalars(argument)}.values()]
        self.at: tuple[str, ...] | None = at
        self._keys: frozenset[Hashable] | None = None

    @property
    def keys(self) -> frozenset[Hashable]:
        """Return the keys of the scalars: only groups of arguments ask for them."""
        if self._keys is None:
            self._keys = frozenset(map(_leaf_key, self.values))
        return self._keys


class ContentIndex:
    """A content of evidence, indexed once for look-ups in constant time."""

    __slots__ = (
        *("_about", "_at", "_content", "_leaves", "_literals"),
        *("_phrases", "_places", "_satisfied", "_texts", "_tokens"),
    )

    def __init__(self, content: Any) -> None:
        is_text = type(content) is str
        self._content = content
        self._texts = frozenset([content] if is_text else ())
        self._phrases = Phrases(mark_tokens(content) if is_text else "")
        self._tokens = frozenset(tokens(content) if is_text else ())
        self._literals = frozenset(_LITERAL.findall(self._phrases.marked))
        # Absent content is None, as null is; neither has a leaf that could back anything.
        leaves = () if content is None else scalars(content)
        self._leaves = frozenset(map(_leaf_key, leaves))
        self._places = Places(() if is_text or content is None else (content,))
        self._at: dict[str, frozenset[Hashable]] = {}
        self._about: dict[str, tuple[bool, frozenset[Hashable]]] = {}
        self._satisfied: dict[CompiledSchema, bool] = {}

    @classmethod
    def of_all(cls, backings: Sequence["ContentIndex"]) -> "ContentIndex":
        """Return an index that backs each value that one of these backs anywhere."""
        joined = cls(None)
        joined._texts = frozenset().union(*(index._texts for index in backings))
        joined._phrases = Phrases(_GAP.join(index._phrases.marked for index in backings))
        joined._tokens = frozenset().union(*(index._tokens for index in backings))
        joined._literals = frozenset().union(*(index._literals for index in backings))
        joined._leaves = frozenset().union(*(index._leaves for index in backings))
        return joined

    @property
    def size(self) -> int:
        """Return how many entries the index has."""
        return len(self._leaves) + len(self._tokens)

    def backs(self, value: Any) -> bool:
        """Return whether the scalar `value` is in the content."""
        if _leaf_key(value) in self._leaves:
            return True
        if not self._texts:
            return False
        spelled = value if type(value) is str else canonical_json(value).decode()
        if type(value) is bool or value is None:
            return spelled in self._literals or spelled in self._texts
        if spelled in self._tokens:
            return True
        return (
            mark_tokens(spelled) in self._phrases if has_token(spelled) else spelled in self._texts
        )

    def leaves_at(self, pointer: str) -> frozenset[Hashable]:
        """Return the keys of the scalars at a pointer, in which `*` is any member or element."""
        if pointer not in self._at:
            values = self._places.at(pointer).values
            leaves = (value for value in values if type(value) not in (dict, list))
            self._at[pointer] = frozenset(map(_leaf_key, leaves))
        return self._at[pointer]

    def backs_all(self, bound: BoundValues) -> bool:
        """Return whether this content alone backs every scalar of a bound argument."""
        if bound.at is None:
            return all(map(self.backs, bound.values)) if self._texts else bound.keys <= self._leaves
        held = [self.leaves_at(pointer) for pointer in bound.at]
        if len(held) == 1:
            return bound.keys <= held[0]
        # An item with fewer leaves than there are values is not looked through.
        enough = len(bound.keys) <= sum(map(len, held))
        return enough and bound.keys <= frozenset().union(*held)

    def is_about(self, subject: Subject, pointer: str) -> bool:
        """Return whether the content holds the argument at a pointer, in which `*` is a name.

        The value there is equal to the argument. Of an array, each element is equal to it or, where
        it is an array, to one of its elements.
        """
        if pointer not in self._about:
            self._about[pointer] = self._held_at(pointer)
        is_array, keys = self._about[pointer]
        return (subject.is_array or not is_array) and subject.keys <= keys

    def _held_at(self, pointer: str) -> tuple[bool, frozenset[Hashable]]:
        found = [] if self._texts else value_at(self._content, pointer)
        is_array = bool(found) and type(found[0]) is list
        return is_array, frozenset(map(_value_key, found[0] if is_array else found))

    def satisfies(self, schema: CompiledSchema) -> bool:
        """Return whether there is content, and the schema accepts it."""
        if schema not in self._satisfied:
            content = self._content
            self._satisfied[schema] = content is not None and schema.is_valid(content)
        return self._satisfied[schema]


def unbacked_values(
    values: Sequence[Any], backings: Sequence[ContentIndex], at: Sequence[str] | None = None
) -> Sequence[Any]:
    """Return those scalars that none of the indexes backs, at one of the pointers if given."""
    if at is not None:
        held = [index.leaves_at(pointer) for index in backings for pointer in at]
        return _values_not_held(values, held)
    # For many values and many indexes, joining the indexes first is faster.
    if len(backings) > 1 and len(values) * len(backings) > sum(index.size for index in backings):
        backings = [ContentIndex.of_all(backings)]
    for index in backings:
        values = [*filterfalse(index.backs, values)]
    return values


def _values_not_held(values: Sequence[Any], held: Sequence[frozenset[Hashable]]) -> Sequence[Any]:
    if len(held) > 1 and len(values) * len(held) > sum(map(len, held)):
        held = [frozenset().union(*held)]
    for keys in held:
        values = [value for value in values if _leaf_key(value) not in keys]
    return values
