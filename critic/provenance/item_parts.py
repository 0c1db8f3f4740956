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
from typing import Any, Final, NamedTuple

from critic.provenance.field_trees import (
    NONE_UNMET,
    FieldTree,
    Unmet,
    Writer,
    lesser_writer,
    names_field,
    own_name,
    plain_name,
    tree_of,
    trees_of_lists,
    unmet_fields,
    writer_beside,
)
from critic.provenance.folding import write_scalar
from evals.capability import FieldWriter
from evals.json_schemas import compile_schema
from evals.manifest import EvidenceItem, Manifests

_LINE_BREAK: Final = re.compile("[\n-\r\x1c-\x1e\x85\u2028\u2029]")
_LONGEST_FIELD: Final = 80


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


_Below = tuple[str, Any, FieldTree | None, Writer]
"""The name of a place, what stands there, the fields that are declared below, and the writer."""


class _Class(NamedTuple):
    """A class: its fields, for an item and for a list by its author, and what satisfies it.

    Attributes:
        narrows: whether it says of any field that its author did not fill it.
        names: of the fields that it declares itself, without case and signs.
    """

    of_item: FieldTree
    of_list: Mapping[Writer, FieldTree]
    is_valid: Callable[[Any], bool]
    narrows: bool = False
    names: frozenset[str] = frozenset()

    def find_unmet(self, record: Any, fields: FieldTree | None, author: Writer) -> Unmet:
        """Return the fields of this class that say less than the author and lead nowhere."""
        if not self.narrows or author == "public":
            return NONE_UNMET
        found = dict(unmet_fields(record, fields, author))
        if type(record) is list and fields is not None:
            # A field that leads somewhere in one element says nothing of another.
            for at, one in enumerate(record):
                below = fields.below(str(at)) if type(one) is dict else None
                for name, writer in unmet_fields(one, below, author).items():
                    found[name] = lesser_writer(writer, found, name)
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
                tree_of(fields),
                trees_of_lists(fields),
                is_valid,
                narrows=any(writer != "system" for writer in one.fields.values()),
                names=frozenset(map(plain_name, map(own_name, one.fields))),
            )
        self._other = _Class(tree_of(self._shared), trees_of_lists(self._shared), _always)

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
            unmet = table.find_unmet(content, fields, author)
            return ItemParts([*_text_parts(content, author, unmet)], [])
        if not table.is_valid(content):
            return ItemParts([*_text_parts(content, "public" if table.narrows else author)], [])
        if type(content) is not list or not all(type(one) is dict for one in content):
            whole = [
                *_parts(content, fields, author, unmet=table.find_unmet(content, fields, author))
            ]
            return ItemParts(whole, [whole])
        records = []
        for at, one in enumerate(content):
            below = fields.below(str(at))
            unmet = table.find_unmet(one, below, author)
            records.append([*_parts(one, below, author, unmet=unmet)])
        return ItemParts([part for record in records for part in record], records)


def _always(_value: Any) -> bool:
    return True


def _parts(
    value: Any,
    fields: FieldTree | None,
    author: Writer,
    name: str = "",
    unmet: Unmet = NONE_UNMET,
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
                inner = writer if is_field else lesser_writer(writer, unmet, one)
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


def _field_parts(name: str, value: Any, place: FieldTree, author: Writer) -> Iterator[ItemPart]:
    """Yield the values of a declared field, and what in it is text of the author all the same."""
    writer: Writer = place.writer or author
    rest = writer_beside(writer, author)
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


def _text_parts(value: Any, author: Writer, unmet: Unmet = NONE_UNMET) -> Iterator[ItemPart]:
    """Yield the leaves of a value, and the names of members, as text of an author."""
    open_values = [(value, False, author)]
    while open_values:
        current, is_element, writer = open_values.pop()
        if type(current) is dict:
            yield from (ItemPart(writer, name) for name in current if name)
            open_values.extend(
                (current[name], False, lesser_writer(writer, unmet, name))
                for name in reversed(current)
            )
        elif type(current) is list:
            open_values.extend((one, type(one) is str, writer) for one in reversed(current))
        elif type(current) in (str, int, float) and current != "":
            text = write_scalar(current)
            yield ItemPart(_writer_of_text(writer, unmet, text), text, is_element=is_element)


def _writer_of_text(writer: Writer, unmet: Unmet, text: str) -> Writer:
    """Return who says least: a writer, or whoever fills an unmet field that a text names."""
    for name in unmet:
        if names_field(plain_name(text), name):
            writer = lesser_writer(writer, unmet, name)
    return writer
