"""Who wrote which part of an item, field by field, for each author and each writer."""

from itertools import product
from typing import Any, Final

import pytest

from critic.provenance.item_parts import FieldTables, ItemPart
from evals.manifest import EvidenceClass, EvidenceItem, Manifests, Source

AUTHORS: Final = ("system", "member", "public")
RECORD: Final = {"type": ["object", "array"], "properties": {"wrong": False}}


def tables(fields: dict[str, Any], *, shared: Any = None, schema: Any = RECORD) -> FieldTables:
    """Return the tables of one class `r`; `shared` are fields of every class."""
    one = EvidenceClass(class_="r", fields=fields, **({"schema_": schema} if schema else {}))
    more = {"record_fields": shared} if shared else {}
    return FieldTables(Manifests(tool_manifest=(), evidence_manifest=(), classes=(one,), **more))


def item(content: Any, author: Any = "public", *, name: str = "r") -> EvidenceItem:
    source = Source(author=author, standing="ambient")
    return EvidenceItem(id="e", classification=name, content=content, source=source)


def parts(content: Any, author: str = "public", **fields: Any) -> list[tuple[str, str, str]]:
    found = tables({name.replace("__", "/"): one for name, one in fields.items()})
    return [part[:3] for part in found.parts_of(item(content, author)).parts]


BESIDE: Final = {
    ("system", "system"): ("system", "system"),
    ("system", "member"): ("member", "member"),
    ("system", "party"): ("party", "public"),
    ("system", "public"): ("public", "public"),
    ("member", "system"): ("system", "member"),
    ("member", "member"): ("member", "member"),
    ("member", "party"): ("party", "member"),
    ("member", "public"): ("public", "public"),
    ("public", "system"): ("system", "public"),
    ("public", "member"): ("member", "member"),
    ("public", "party"): ("party", "public"),
    ("public", "public"): ("public", "public"),
}
"""By author and declared writer: who wrote a value of the field, and what else stands there."""


@pytest.mark.parametrize(("author", "declared"), BESIDE)
def test_a_value_of_a_field_is_its_writer_s_and_all_else_in_it_another_s(
    author: str, declared: str
) -> None:
    writer, rest = BESIDE[author, declared]
    field = "" if writer == rest else "k"
    for value in ("v", ["v"], {"v": None}):
        assert parts({"k": value}, author, k=declared) == [
            (author, "k", ""),
            (writer, "v", field),
        ]
    long = "v" * 81
    assert parts({"k": long}, author, k=declared)[1:] == [(rest, long, "")]
    assert parts({"k": {"n": {"k": "w"}}}, author, k=declared)[1:] == [
        (writer, "n", field),
        (rest, "k", ""),
        (rest, "w", ""),
    ]


SHORT: Final = [7, 7.5, "v" * 80, *(f"a{char}b" for char in "\t\x0e\x1b\x1f-\x84\x86\u2027\u202a")]
BREAKS: Final = "\n\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"
OTHER: Final = ["v" * 81, *(f"a{char}b" for char in BREAKS), ["a"], {"a": "b"}]


def test_the_values_of_a_field_are_short_and_on_one_line() -> None:
    for value in SHORT:
        expected = [("public", "k", ""), ("party", str(value), "k")]
        assert parts({"k": value}, k="party") == expected
        assert parts({"k": [value]}, k="party") == expected
    for value in OTHER:
        assert not any(field for _, _, field in parts({"k": [value]}, k="party"))
    nothing: list[Any] = [True, False, None, "", [], {}, [None, "", True]]
    for none in nothing:
        assert parts({"k": none}, k="party") == [("public", "k", "")]


def test_a_field_is_found_by_its_pointer_and_its_own_name_counts_first() -> None:
    content = {"a": {"id": "1", "note": "2", "x": "3"}, "b": [{"id": "4"}, "5"], "id": "6"}
    assert parts(content, "public", **{"__a__id": "system", "__*__note": "party"}) == [
        ("public", "a", ""),
        ("public", "b", ""),
        ("public", "id", ""),
        ("public", "id", ""),
        ("public", "note", ""),
        ("public", "x", ""),
        ("system", "1", "id"),
        ("party", "2", "note"),
        ("public", "3", ""),
        ("public", "id", ""),
        ("public", "4", ""),
        ("public", "5", ""),
        ("public", "6", ""),
    ]
    found = parts({"b": [{"id": "4"}, "5", ["6"]]}, __b__0__id="system", __b__1="party")
    assert found == [
        ("public", "b", ""),
        ("public", "id", ""),
        ("system", "4", "id"),
        ("party", "5", "b"),
        ("public", "6", ""),
    ]


def test_what_stands_where_fields_are_declared_below_is_text() -> None:
    for value in ("xy", 7):
        assert parts({"": value}, __a__b="party") == [("public", str(value), "")]
        assert parts({"a": value}, __a__b="party")[1:] == [("public", str(value), "")]
    assert parts(["v", "w"], __0="party") == [("party", "v", "/"), ("public", "w", "")]


def test_what_several_names_declare_of_one_place_holds_together() -> None:
    declared = {"__a": "party", "__a__*": "system", "__*__0": "party", "__*": "system"}
    assert parts({"a": ["1", "2"], "b": ["3", "4"]}, **declared) == [
        ("public", "a", ""),
        ("public", "b", ""),
        ("party", "1", "a"),
        ("system", "2", "a"),
        ("party", "3", "b"),
        ("system", "4", "b"),
    ]
    deep = {"a": {"k": {"x": "1", "y": "2"}}, "b": "3"}
    assert [
        part for part in parts(deep, **{"__a__k__x": "party", "__*__k__y": "system"}) if part[2]
    ] == [
        ("party", "1", "x"),
        ("system", "2", "y"),
    ]
    assert parts({"a": "1"}, **{"__a__x": "party", "__*": "system"})[1:] == [("system", "1", "a")]


def test_a_list_of_records_is_one_record_each_and_any_other_list_is_one() -> None:
    found = tables({"k": "system"}).parts_of(item([{"k": "1", "x": "2"}, {"k": ["3", "4"]}]))
    texts = [[part.text for part in record] for record in found.records]
    assert texts == [["k", "x", "1", "2"], ["k", "3", "4"]]
    assert found.parts == [*found.records[0], *found.records[1]]
    assert [part.text for part in found.parts if part.field] == ["1", "3", "4"]
    for content in ([{"k": "1"}, "2"], {"k": "1"}, ["2"]):
        found = tables({"k": "system"}).parts_of(item(content))
        assert found.records == [found.parts]
    for empty, records in (([], []), ({}, [[]])):
        found = tables({"k": "system"}).parts_of(item(empty))
        assert (found.parts, found.records) == ([], records)


def test_a_pointer_leads_from_a_list_and_from_each_element_where_it_says_less() -> None:
    ranks = ("system", "member", "party", "public")
    for author, writer in product(AUTHORS, ranks):
        says_less = ranks.index(writer) > ranks.index(author)
        for pointer, counts in (("/a/b", says_less), ("/0/a/b", True), ("/*/a/b", True)):
            found = tables({pointer: writer}).parts_of(item([{"a": {"b": "v"}}], author))
            (part,) = (part for part in found.parts if part.text == "v")
            expected = BESIDE[author, writer][0] if counts else author
            assert part.writer == expected, (author, pointer, writer)
        same = [{"a": {"x": "1", "y": "2"}}]
        said = tables({"/a": author}).parts_of(item(same, author))
        assert said == FieldTables().parts_of(item(same, author))
        said = tables({"k": "party"}).parts_of(item([{"k": "1", "x": "2"}], author))
        assert {part.text: part.writer for part in said.parts if part.text in "kx2"} == (
            dict.fromkeys("kx2", author)
        )
    # Where the two say something of one place, the way from the list counts.
    both = tables({"/a": "public", "/0/a": "party"}).parts_of(
        item([{"a": "1"}, {"a": "2"}], "member")
    )
    assert [part.writer for part in both.parts if part.text.isdigit()] == ["party", "public"]


def test_what_is_no_record_has_no_fields() -> None:
    declared = tables({"k": "system"})
    records: list[Any] = [{"k": "v"}, [{"k": "v"}], "v"]
    for author in ("user", "operator"):
        for content in records:
            found = declared.parts_of(item(content, author))
            assert {part.writer for part in found.parts} == {author}
            assert found.records == []
    for content, texts in (("k: v", ["k: v"]), (7, ["7"]), (True, []), (None, []), ("", [])):
        found = declared.parts_of(item(content, "member"))
        assert found.parts == [ItemPart("member", text) for text in texts]
        assert found.records == []
    # A text says what an outsider could have put into a record only where it has its name.
    for narrowing in (tables({"k": "public"}), tables({"k": "public"}, schema=None)):
        for text, writer in (("v", "system"), ("k: v", "public"), ("kv", "system")):
            said = narrowing.parts_of(item(text, "system"))
            assert ([part[:2] for part in said.parts], said.records) == ([(writer, text)], [])
    wrong = declared.parts_of(item({"k": "v", "wrong": [1, {"x": 2.5}]}, "system"))
    assert wrong.parts == [ItemPart("system", one) for one in ("k", "wrong", "v", "1", "x", "2.5")]
    assert wrong.records == []


WRAPPED: Final[list[tuple[Any, str]]] = [
    *(({"result": {"notes": "v"}}, "public"), ({"data": [{"notes": ["v"]}]}, "public")),
    *(({"Notes": "v"}, "public"), ({"no_tes": {"x": "v"}}, "public")),
    *(([{"record": {"notes": "v"}}], "public"), ([[{"notes": "v"}]], "public")),
    *(({"content": 'notes: "v'}, "public"), ({"a": [{"b": "- notes -"}]}, "public")),
    # Where the field is in its place, or nothing has its name, the author wrote all else.
    *(({"notes": "", "result": {"notes": "v"}}, "system"), ({"result": {"note": "v"}}, "system")),
    *(({"content": "keynotes"}, "system"), ([{"notes": ""}, {"x": "v"}], "system")),
    *(([{"notes": "x"}, {"more": {"notes": "v"}}], "public"),),
    *(([{"notes": "x"}, "t", {"more": {"notes": "v"}}], "public"),),
]


@pytest.mark.parametrize(("record", "writer"), WRAPPED)
def test_a_field_that_says_less_counts_wherever_a_tool_puts_it(record: Any, writer: str) -> None:
    for fields in ({"notes": "public"}, {"notes": "public", "id": "system"}, {"notes": "party"}):
        found = tables(fields, schema=None).parts_of(item(record, "system")).parts
        assert found[-1].writer == writer


def test_where_several_fields_are_missing_who_says_least_counts() -> None:
    fields = {"/a/notes": "member", "/b/notes": "public", "/list/*": "member"}
    record = {"x": {"notes": "1", "list": ["2"], "text": "notes of the list"}}
    found = tables(fields, schema=None).parts_of(item(record, "system")).parts
    writers = {part.text: part.writer for part in found}
    assert writers == {
        **dict.fromkeys(("x", "notes", "list", "text"), "system"),
        "1": "public",
        "2": "member",
        "notes of the list": "public",
    }
    # What every class has by its name alone is looked for in its place alone.
    shared = tables({"k": "member"}, shared=["notes"], schema=None)
    assert shared.parts_of(item({"k": "", "x": "notes"}, "system")).parts[-1].writer == "system"


@pytest.mark.parametrize("author", AUTHORS)
def test_what_misses_the_schema_of_a_class_that_narrows_is_public(author: str) -> None:
    for writer in ("system", "member", "party", "public"):
        declared = tables({"k": writer, "id": "system"})
        assert declared.narrows("r") == (writer != "system")
        found = declared.parts_of(item({"k": "v", "wrong": 1}, author)).parts
        expected = author if writer == "system" else "public"
        assert {part.writer for part in found} == {expected}


def test_fields_of_every_class_name_parties_unless_the_class_says_more() -> None:
    cases: list[tuple[Any, Any]] = [({}, "party"), ({"k": "system"}, "system")]
    for fields, writer in cases:
        declared = tables(fields, shared=["k"], schema=None)
        assert not declared.narrows("r")
        for content in ({"k": "v"}, [{"k": "v"}]):
            found = declared.parts_of(item(content)).parts
            assert found == [ItemPart("public", "k"), ItemPart(writer, "v", "k")]
            found = declared.parts_of(item(content, name="other")).parts
            assert found == [ItemPart("public", "k"), ItemPart("party", "v", "k")]
    for none in (FieldTables(), FieldTables(Manifests(tool_manifest=(), evidence_manifest=()))):
        assert none.parts_of(item({"k": "v"})).parts == [
            ItemPart("public", "k"),
            ItemPart("public", "v"),
        ]


def test_a_record_of_a_class_is_an_object_or_a_list_that_meets_its_schema() -> None:
    declared = tables({"k": "system"})
    assert (declared.declares("r"), declared.declares("other")) == (True, False)
    assert FieldTables().is_of_every_class("any") is True
    anything = tables({"k": "system"}, schema={})
    for content, is_record in (({}, True), ([], True), ({"wrong": 1}, False), ("a", False)):
        assert declared.is_record("r", content) is is_record
        assert declared.is_of_every_class(content) is is_record
    nothing: list[Any] = ["a", 7, None, True]
    for content in nothing:
        assert not anything.is_record("r", content)


def test_texts_come_in_the_order_in_which_they_stand() -> None:
    content = {"a": ["1", {"b": 2, "": "3"}], "c": {"d": [], "e": ["4", 5.5]}, "f": "6"}
    texts = ["a", "c", "f", "1", "b", "2", "3", "d", "e", "4", "5.5", "6"]
    for author in ("user", "public"):
        assert [part.text for part in FieldTables().parts_of(item(content, author)).parts] == texts
    assert [text for _, text, _ in parts(content, k="system")] == texts
