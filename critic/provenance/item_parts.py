"""Who filled which part of a piece of evidence: the policy says so, never the bytes.

Rule 1: a part is written by the author of the item, unless the item's class declares the field.
Rule 2: only a record has fields: a JSON value that satisfies the schema of its class. A text is a
        text, whatever it spells.
Rule 3: where a class narrows what its author says, a record that does not satisfy it is public:
        what an outsider writes into it could be anywhere.
Rule 4: where a field of which less is said leads nowhere in a record, its name counts wherever it
        stands, in any spelling, and in texts: a tool may wrap a record, or write it out.
Rule 5: the values of a field are its scalar, the elements of its list, or the names of its object's
        members, each as a whole, of 80 characters at most, on one line. All else is text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from critic.provenance.folding import write_scalar
from evals.capability import FieldWriter
from evals.json_schemas import compile_schema
from evals.manifest import EvidenceItem, Manifests
from evals.pointers import segments

Writer = Literal["user", "operator", "system", "member", "party", "public"]

_LINE_BREAK: Final = re.compile("[\n-\r\x1c-\x1e\x85\u2028\u2029]")
_LONGEST_FIELD: Final = 80
_WRITERS: Final[tuple[Writer, ...]] = ("system", "member", "party", "public")
"""Who fills fields, the one who says most first."""
_AUTHORS: Final[tuple[Writer, ...]] = ("system", "member", "public")
_AUTHOR_RANK: Final[Mapping[Writer, int]] = {one: at for at, one in enumerate(_AUTHORS)}


class ItemPart(NamedTuple):
    """A value in an item: who wrote it, the name of its field, if any, and if it is of a list."""

    writer: Writer
    text: str
    field: str = ""
    is_element: bool = False


class ItemParts(NamedTuple):
    """An item by its parts, and the records in it if it is a list of records."""

    parts: list[ItemPart]
    records: list[list[ItemPart]]


class _Fields:
    """The declared fields below a place, by the way that leads there."""

    __slots__ = ("inner", "writer")

    def __init__(self, writer: FieldWriter | None = None) -> None:
        self.writer = writer
        self.inner: dict[str, _Fields] = {}

    def add(self, way: tuple[str, ...], writer: FieldWriter) -> None:
        place = self
        for segment in way:
            place = place.inner.setdefault(segment, _Fields())
        place.writer = writer

    def below(self, key: str) -> "_Fields | None":
        """Return what is declared for a member or element: its own name counts first."""
        exact, any_ = self.inner.get(key), self.inner.get("*")
        return exact.with_fields_of(any_) if exact and any_ else exact or any_

    def with_fields_of(self, other: "_Fields") -> "_Fields":
        """Return these fields with those that other names of the same place declare."""
        both = _Fields(self.writer or other.writer)
        both.inner = dict(other.inner)
        for key, inner in self.inner.items():
            known = both.inner.get(key)
            both.inner[key] = inner.with_fields_of(known) if known else inner
        return both


_Unmet = Mapping[str, Writer]
"""Who fills the fields that lead nowhere in a record, by their names without case and signs."""
_NONE_UNMET: Final[_Unmet] = {}

_Below = tuple[str, Any, _Fields | None, Writer]
"""The name of a place, what stands there, the fields that are declared below, and the writer."""


class _Class(NamedTuple):
    """A class: its fields, for an item and for a list by its author, and what satisfies it.

    Attributes:
        narrows: whether it says of any field that its author did not fill it.
        names: of the fields that it declares itself, without case and signs.
    """

    of_item: _Fields
    of_list: Mapping[Writer, _Fields]
    is_valid: Callable[[Any], bool]
    narrows: bool = False
    names: frozenset[str] = frozenset()

    def unmet(self, record: Any, fields: _Fields | None, author: Writer) -> _Unmet:
        """Return the fields of this class that say less than the author and lead nowhere."""
        if not self.narrows or author == "public":
            return _NONE_UNMET
        found = _unmet_fields(record, fields, author)
        return {name: writer for name, writer in found.items() if name in self.names}


class FieldTables:
    """The fields of all classes of some manifests."""

    def __init__(self, manifests: Manifests | None = None) -> None:
        self._classes: dict[str, _Class] = {}
        keys = (manifests.record_fields if manifests else None) or ()
        self._shared: Final[Mapping[str, FieldWriter]] = dict.fromkeys(keys, "party")
        for one in (manifests.classes if manifests else None) or ():
            fields = {**self._shared, **one.fields}
            schema = one.schema_
            is_valid = _always if schema is None else compile_schema(schema).is_valid
            self._classes[one.class_] = _Class(
                _tree(fields),
                _trees_of_lists(fields),
                is_valid,
                narrows=any(writer != "system" for writer in one.fields.values()),
                names=frozenset(map(_plain_name, map(_own_name, one.fields))),
            )
        self._other = _Class(_tree(self._shared), _trees_of_lists(self._shared), _always)

    def declares(self, name: str) -> bool:
        """Return whether fields are declared for a class."""
        return name in self._classes

    def is_record(self, name: str, content: Any) -> bool:
        """Return whether content is a record of a class."""
        return type(content) in (dict, list) and self._classes[name].is_valid(content)

    def is_of_every_class(self, content: Any) -> bool:
        """Return whether content is a record whatever its class is."""
        return all(self.is_record(name, content) for name in self._classes)

    def narrows(self, name: str) -> bool:
        """Return whether a class says of any field that its author did not fill it."""
        return self._classes[name].narrows

    def parts_of(self, item: EvidenceItem) -> ItemParts:
        """Return the parts of an item with a source."""
        assert item.source is not None  # noqa: S101 - items without one show nothing
        author: Writer = item.source.author
        content = item.content
        table = self._classes.get(item.classification, self._other)
        if author in ("user", "operator"):
            return ItemParts([*_text_parts(content, author)], [])
        fields = table.of_list[author] if type(content) is list else table.of_item
        if type(content) not in (dict, list):
            unmet = table.unmet(content, fields, author)
            return ItemParts([*_text_parts(content, author, unmet)], [])
        if not table.is_valid(content):
            return ItemParts([*_text_parts(content, "public" if table.narrows else author)], [])
        if type(content) is not list or not all(type(one) is dict for one in content):
            whole = [*_parts(content, fields, author, unmet=table.unmet(content, fields, author))]
            return ItemParts(whole, [whole])
        records = []
        for at, one in enumerate(content):
            below = fields.below(str(at))
            unmet = table.unmet(one, below, author)
            records.append([*_parts(one, below, author, unmet=unmet)])
        return ItemParts([part for record in records for part in record], records)


def _always(_value: Any) -> bool:
    return True


def _tree(fields: Mapping[str, FieldWriter]) -> _Fields:
    tree = _Fields()
    for name, writer in fields.items():
        tree.add(segments(name) if name.startswith("/") else (name,), writer)
    return tree


def _trees_of_lists(fields: Mapping[str, FieldWriter]) -> Mapping[Writer, _Fields]:
    """Return the fields of a list, by its author.

    A pointer leads from the list. Where it says less than the author does, it says so of each
    element as well: who wrote it for one record did not mean less of many.
    """
    trees: dict[Writer, _Fields] = {}
    for author in _AUTHORS:
        ways: dict[tuple[str, ...], FieldWriter] = {}
        for name, writer in fields.items():
            if name.startswith("/") and _WRITERS.index(writer) > _WRITERS.index(author):
                ways["*", *segments(name)] = writer
        for name, writer in fields.items():
            ways[segments(name) if name.startswith("/") else ("*", name)] = writer
        tree = trees[author] = _Fields()
        for way, writer in ways.items():
            tree.add(way, writer)
    return trees


def _unmet_fields(value: Any, fields: _Fields | None, author: Writer) -> _Unmet:
    """Return the declared fields that say less than the author and lead nowhere in a record."""
    found: dict[str, Writer] = {}
    waiting = [("", (value,), fields)] if fields is not None and fields.inner else []
    while waiting:
        name, values, place = waiting.pop()
        for key, inner in place.inner.items():
            named = name if key == "*" else key
            below = tuple(one for value in values for one in _at_key(value, key))
            writer = _writer_beside(inner.writer or author, author)
            plain = _plain_name(named)
            if not below and plain and _AUTHOR_RANK[writer] > _AUTHOR_RANK[author]:
                found[plain] = _lesser(writer, found, plain)
            if inner.inner:
                waiting.append((named, below, inner))
    return found


def _at_key(value: Any, key: str) -> Iterator[Any]:
    """Yield what stands at a key of a value: at `*`, all that it holds."""
    if type(value) is dict:
        yield from value.values() if key == "*" else (value[key],) if key in value else ()
    elif type(value) is list:
        at = int(key) if key.isascii() and key.isdigit() and len(key) < 10 else len(value)
        yield from value if key == "*" else value[at : at + 1]


def _own_name(declared: str) -> str:
    """Return the name of a member that a bare name or a pointer ends at, "" where there is none."""
    way = segments(declared) if declared.startswith("/") else (declared,)
    return next((one for one in reversed(way) if one != "*"), "")


def _plain_name(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def _parts(
    value: Any,
    fields: _Fields | None,
    author: Writer,
    name: str = "",
    unmet: _Unmet = _NONE_UNMET,
) -> Iterator[ItemPart]:
    """Yield the parts of a record, or of what stands in one under a name, in its order."""
    open_values: list[_Below] = [(name, value, fields, author)]
    while open_values:
        name, current, place, writer = open_values.pop()
        if place is None:
            yield from _text_parts(current, writer, unmet)
        elif place.writer is not None:
            yield from _field_parts(name, current, place, writer)
        elif type(current) is dict:
            yield from (ItemPart(writer, one) for one in current if one)
            for one in reversed(current):
                below = place.below(one)
                is_field = below is not None and below.writer is not None
                inner = writer if is_field else _lesser(writer, unmet, one)
                open_values.append((one, current[one], below, inner))
        elif type(current) is list:
            elements = [
                (name, inner, place.below(str(at)), writer) for at, inner in enumerate(current)
            ]
            open_values.extend(reversed([*map(_as_element, elements)]))
        else:
            yield from _text_parts(current, writer, unmet)


def _as_element(below: _Below) -> _Below:
    """Return a text of a list in a list of its own, so that it is known to be an element."""
    name, value, place, writer = below
    is_text = type(value) is str and (place is None or place.writer is None)
    return (name, [value], None, writer) if is_text else below


def _field_parts(name: str, value: Any, place: _Fields, author: Writer) -> Iterator[ItemPart]:
    """Yield the values of a declared field, and what in it is text of the author all the same."""
    writer: Writer = place.writer or author
    rest = _writer_beside(writer, author)
    if type(value) is dict:
        for one, inner in value.items():
            yield from _field_value(name, one, writer, rest)
            yield from _parts(inner, place.below(one), rest, one)
    elif type(value) is list:
        for at, inner in enumerate(value):
            below = place.below(str(at))
            if below is None:
                yield from _field_value(name, inner, writer, rest, is_element=True)
            else:
                yield from _parts(inner, below, rest, name)
    else:
        yield from _field_value(name, value, writer, rest)


def _writer_beside(writer: Writer, author: Writer) -> Writer:
    """Return who wrote what stands in a field and is no value of it.

    A party chose what is in its field, also where a system of record shows it.
    """
    if writer == "party" and author == "system":
        return "public"
    return author if writer in ("system", "party") else writer


def _field_value(
    name: str, value: Any, writer: Writer, rest: Writer, *, is_element: bool = False
) -> Iterator[ItemPart]:
    if rest != writer and _is_short(value):
        yield from (ItemPart(writer, part.text, name or "/") for part in _text_parts(value, writer))
    else:
        yield from _text_parts([value] if is_element else value, rest)


def _is_short(value: Any) -> bool:
    if type(value) is str:
        return len(value) <= _LONGEST_FIELD and _LINE_BREAK.search(value) is None
    return type(value) in (int, float)


def _text_parts(value: Any, author: Writer, unmet: _Unmet = _NONE_UNMET) -> Iterator[ItemPart]:
    """Yield the leaves of a value, and the names of members, as text of an author."""
    open_values = [(value, False, author)]
    while open_values:
        current, is_element, writer = open_values.pop()
        if type(current) is dict:
            yield from (ItemPart(writer, name) for name in current if name)
            open_values.extend(
                (current[name], False, _lesser(writer, unmet, name)) for name in reversed(current)
            )
        elif type(current) is list:
            open_values.extend((one, type(one) is str, writer) for one in reversed(current))
        elif type(current) in (str, int, float) and current != "":
            text = write_scalar(current)
            for name in unmet:
                if _is_named_in(_plain_name(text), name):
                    writer = _lesser(writer, unmet, name)
            yield ItemPart(writer, text, is_element=is_element)


def _lesser(writer: Writer, unmet: _Unmet, name: str) -> Writer:
    """Return who says less: a writer, or whoever fills an unmet field of that name."""
    if not unmet or (other := unmet.get(_plain_name(name))) is None:
        return writer
    return max(writer, other, key=_AUTHOR_RANK.__getitem__)


def _is_named_in(text: str, name: str) -> bool:
    """Return whether a name stands in a text as a word or words of it."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False
