"""The fields that a class declares, as a tree, and those that lead nowhere in a record.

Rule 1: a bare name is a member of the item, or of each element of a list; a pointer leads from the
        item.
Rule 2: a field that leads nowhere may stand elsewhere, under its name: in any case, without `_`
        and `-`, or as a word of a text.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from evals.capability import FieldWriter
from evals.pointers import segments

Writer = Literal["user", "operator", "system", "member", "party", "public"]

_WRITERS: Final[tuple[Writer, ...]] = ("system", "member", "party", "public")
"""Who fills fields, the one who says most first."""
_AUTHORS: Final[tuple[Writer, ...]] = ("system", "member", "public")
_AUTHOR_RANK: Final[Mapping[Writer, int]] = {one: at for at, one in enumerate(_AUTHORS)}


Unmet = Mapping[str, Writer]
"""Who fills the fields that lead nowhere in a record, by their names without case and signs."""
NONE_UNMET: Final[Unmet] = {}


class FieldTree:
    """The declared fields below a place, by the way that leads there."""

    __slots__ = ("inner", "writer")

    def __init__(self, writer: FieldWriter | None = None) -> None:
        """Begin without fields. `writer` is who fills the place itself, if it is a field."""
        self.writer = writer
        self.inner: dict[str, FieldTree] = {}

    def add(self, way: tuple[str, ...], writer: FieldWriter) -> None:
        """Declare the field that a way leads to."""
        place = self
        for segment in way:
            place = place.inner.setdefault(segment, FieldTree())
        place.writer = writer

    def below(self, key: str) -> "FieldTree | None":
        """Return what is declared for a member or element: its own name counts first."""
        exact, any_ = self.inner.get(key), self.inner.get("*")
        return exact.with_fields_of(any_) if exact and any_ else exact or any_

    def with_fields_of(self, other: "FieldTree") -> "FieldTree":
        """Return these fields with those that other names of the same place declare."""
        both = FieldTree(self.writer or other.writer)
        both.inner = dict(other.inner)
        for key, inner in self.inner.items():
            known = both.inner.get(key)
            both.inner[key] = inner.with_fields_of(known) if known else inner
        return both


def tree_of(fields: Mapping[str, FieldWriter]) -> FieldTree:
    """Return the fields of an item."""
    tree = FieldTree()
    for name, writer in fields.items():
        tree.add(segments(name) if name.startswith("/") else (name,), writer)
    return tree


def trees_of_lists(fields: Mapping[str, FieldWriter]) -> Mapping[Writer, FieldTree]:
    """Return the fields of a list, by its author.

    A pointer leads from the list. Where it says less than the author does, it says so of each
    element as well: who wrote it for one record did not mean less of many.
    """
    trees: dict[Writer, FieldTree] = {}
    for author in _AUTHORS:
        ways: dict[tuple[str, ...], FieldWriter] = {}
        for name, writer in fields.items():
            if name.startswith("/") and _WRITERS.index(writer) > _WRITERS.index(author):
                ways["*", *segments(name)] = writer
        for name, writer in fields.items():
            ways[segments(name) if name.startswith("/") else ("*", name)] = writer
        tree = trees[author] = FieldTree()
        for way, writer in ways.items():
            tree.add(way, writer)
    return trees


def unmet_fields(value: Any, fields: FieldTree | None, author: Writer) -> Unmet:
    """Return the declared fields that say less than the author and lead nowhere in a record."""
    found: dict[str, Writer] = {}
    waiting = [("", (value,), fields)] if fields is not None and fields.inner else []
    while waiting:
        name, values, place = waiting.pop()
        for key, inner in place.inner.items():
            named = name if key == "*" else key
            below = tuple(one for value in values for one in _at_key(value, key))
            writer = writer_beside(inner.writer or author, author)
            plain = plain_name(named)
            if not below and plain and _AUTHOR_RANK[writer] > _AUTHOR_RANK[author]:
                found[plain] = lesser_writer(writer, found, plain)
            if inner.inner:
                waiting.append((named, below, inner))
    return found


def _at_key(value: Any, key: str) -> Iterator[Any]:
    """Yield what stands at a key of a value: at `*`, all that it holds. A null is nothing."""
    found: Iterable[Any] = ()
    if type(value) is dict:
        found = value.values() if key == "*" else (value.get(key),)
    elif type(value) is list:
        at = int(key) if key.isascii() and key.isdigit() and len(key) < 10 else len(value)
        found = value if key == "*" else value[at : at + 1]
    yield from (one for one in found if one is not None)


def own_name(declared: str) -> str:
    """Return the name of a member that a bare name or a pointer ends at, "" where there is none."""
    way = segments(declared) if declared.startswith("/") else (declared,)
    return next((one for one in reversed(way) if one != "*"), "")


def plain_name(name: str) -> str:
    """Return a name without case, `_` and `-`."""
    return name.casefold().replace("_", "").replace("-", "")


def writer_beside(writer: Writer, author: Writer) -> Writer:
    """Return who wrote what stands in a field and is no value of it.

    A party chose what is in its field, also where a system of record shows it.
    """
    if writer == "party" and author == "system":
        return "public"
    return author if writer in ("system", "party") else writer


def lesser_writer(writer: Writer, unmet: Unmet, name: str) -> Writer:
    """Return who says less: a writer, or whoever fills an unmet field of that name."""
    if not unmet or (other := unmet.get(plain_name(name))) is None:
        return writer
    return max(writer, other, key=_AUTHOR_RANK.__getitem__)


def names_field(text: str, name: str) -> bool:
    """Return whether a name stands in a text as a word or words of it."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False
