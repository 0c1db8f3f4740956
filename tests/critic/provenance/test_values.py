"""What one value is: spellings, lists in text, hosts, addresses, fields."""

import hashlib
import json
import sys
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic.provenance.content_values import content_values
from critic.provenance.folding import narrow, small, wide, write_scalar
from critic.provenance.item_parts import FieldTables
from critic.provenance.links import link_of, links_in
from critic.provenance.value_kinds import read_value, wide_form
from critic.provenance.written_lists import elements, leaves
from evals.manifest import EvidenceClass, EvidenceItem, Manifests
from tests.support.effort import sampled
from tests.support.json_values import values as json_values

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.parametrize(
    ("kind", "same"),
    [
        (None, (7, 7.0, "7")),
        (None, (98.7, "98.7")),
        ("note", ("#General", "@general", "general", " GENERAL ", "General\n")),
        ("note", ("Bob  \t Smith", "bob\xa0smith", "bob\nsmith")),
        ("url", ("https://Shop.example/pay/", "http://shop.example/pay", "//www.SHOP.example/pay")),
        ("path", ("/srv/data", "/srv/data/")),
        ("address", ("Mia@corp.example", "mia@CORP.example")),
        ("account", ("GB29 NWBK 6016", "gb29-nwbk-6016", "GB29NWBK6016")),
        ("note", ("\u03a3", "\u03c3")),
    ],
)
def test_what_does_not_count_in_a_value(kind: str | None, same: tuple[str | float, ...]) -> None:
    assert len({read_value(value, kind).narrow for value in same}) == 1
    assert all(read_value(value, kind).is_readable for value in same)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("note", "value", "\uff36alue"),
        ("note", "stra\xdfe", "strasse"),
        ("note", "kelvin", "\u212aelvin"),
        ("note", "zeta", "zeta\u200b"),
        ("note", "zeta", "zeta."),
        ("path", "/srv/data", "/srv/DATA"),
        ("path", "/srv/data", "srv/data"),
        ("url", "https://a.example/x", "https://a.example/X"),
        ("url", "https://a.example/x", "https://a.example/x?y"),
        ("url", "https://a.example/x", "https://a.example/x#y"),
        ("url", "https://a.example/x", "https://a.example:8443/x"),
    ],
)
def test_what_counts_in_a_value(kind: str, one: str, other: str) -> None:
    assert read_value(one, kind).narrow != read_value(other, kind).narrow


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *(("path", value) for value in ("a/../b", "./a", "/a/./b", "a//b", "a\\b", "a\nb", "..")),
        *(("url", f"https://a.example/{rest}") for rest in ("../b", "./b", "b//c", "%2e%2E/b")),
        *(("url", value) for value in ("ftp://a.example/", "https://u@a.example", "a b.example")),
        *(("url", value) for value in ("https:\\\\a.example", "https://a.example\\b", "")),
        *(("address", value) for value in ("corp.example", "a@b@c", "Mia <m@corp.example>", "@b")),
        (None, "/srv/data/../.."),
        (None, "https://a.example/x/../y"),
    ],
)
def test_what_programs_may_read_in_two_ways_is_not_readable(kind: str | None, value: str) -> None:
    assert not read_value(value, kind).is_readable


@pytest.mark.parametrize(
    ("value", "form"),
    [
        ("mia@corp.example", "address"),
        ("https://x", "url"),
        ("www.corp.example", "url"),
        ("shop.example/pay", "url"),
        ("shop.example", "url"),
        ("report.pdf", "text"),
        ("plan.md", "text"),
        ("GB29 NWBK 6016 1331", "account"),
        ("/srv/data", "path"),
        ("docs/plan.md", "path"),
        ("and / or", "text"),
        ("zeta-9914", "text"),
        ("7", "text"),
    ],
)
def test_the_shape_of_a_value_says_how_it_is_compared(value: str, form: str) -> None:
    assert read_value(value, None).form == form


@pytest.mark.parametrize(
    "same",
    [
        ("https://Shop.example/pay/", "SHOP.EXAMPLE/pay/.", "shop.example\\pay"),
        (
            "\uff36alue",
            "value",
            " 'Value' ",
            '"value"',
            "\u201cvalue\u201d",
            "value.",
            "val\u200bue",
        ),
        ("Stra\xdfe", "STRASSE"),
        ("\u03a3\u03c2", "\u03c3\u03c3"),
    ],
)
def test_what_a_reader_takes_for_the_same(same: tuple[str, ...]) -> None:
    assert len({wide_form(value) for value in same}) == 1


def test_look_alikes_are_other_characters() -> None:
    assert wide_form("zet\u0430") != "zeta"


@given(TEXTS)
def test_the_narrow_form_of_a_text_is_one_and_as_long(text: str) -> None:
    assert narrow(narrow(text)) == narrow(text)
    assert len(small(text)) == len(text)


@pytest.mark.slow
def test_the_folding_of_case_is_the_same_in_every_python() -> None:
    """The digest of all foldings, over every character that Unicode 3.2 has."""
    known = (
        char
        for char in map(chr, range(0x80, sys.maxunicode + 1))
        if unicodedata.ucd_3_2_0.category(char) not in ("Cn", "Cs", "Co")
    )
    folded = "".join(f"{char}{wide(char)}{small(char)}" for char in known)
    found = hashlib.sha256(folded.encode()).hexdigest()
    assert found == "6aeb09d39e76b8af7853bf81cb90f9e047b677cdd1288c6ea51418425fc0e0ee"


@pytest.mark.parametrize("char", ["\u1e9e", "\u2c00", "\U00016e40", "\u1c90", "\ua640"])
def test_characters_after_unicode_3_2_stay_as_they_are(char: str) -> None:
    assert wide(char) == small(char) == char


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("['a', 'b']", ["a", "b"]),
        ('["a", 1, 2.5, true, null, ""]', ["a", 1, 2.5]),
        ("['it\\'s', \"q'r\", 'say \"x\"', True, None, False, 7,]", ["it's", "q'r", 'say "x"', 7]),
        (" [['a'], {'k': 'b'}] ", ["a", "b"]),
        ("[]", []),
        ("['']", []),
        ("['a", ["['a"]),
        ("['a]", ["['a]"]),
        ("['a\\q']", ["['a\\q']"]),
        ("[a]", ["[a]"]),
        ("[1e999]", ["[1e999]"]),
        ("[1], [2]", ["[1], [2]"]),
        ("[1](2)", ["[1](2)"]),
        ("", []),
        ("a", ["a"]),
        (7, [7]),
        (True, []),
        (None, []),
    ],
)
def test_a_list_written_as_a_string_is_a_list(value: object, expected: list[object]) -> None:
    assert list(elements(value)) == expected


@given(st.lists(st.text() | st.text("\\\\\"'/ax0\n\x85\u2028\U0001d165"), max_size=5))
def test_any_list_of_texts_is_read_as_python_or_json_writes_it(texts: list[str]) -> None:
    expected = [text for text in texts if text]
    for write in (repr, json.dumps, str, long_escaped):
        assert list(elements(write(texts))) == expected


def long_escaped(texts: list[str]) -> str:
    """Return the list as Python may write it too: with every character as its longest escape."""
    return str(["".join(f"\\U{ord(char):08x}" for char in text) for text in texts]).replace(
        "\\\\", "\\"
    )


@given(st.lists(st.integers(), max_size=5))
def test_whole_numbers_in_a_list_keep_all_their_digits(numbers: list[int]) -> None:
    read = elements(json.dumps(numbers))
    assert [write_scalar(one) for one in read] == [str(number) for number in numbers]
    assert list(elements(json.dumps([json.dumps(number) for number in numbers]))) == [
        *map(str, numbers)
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (r"['\101\a\v\0']", ["A\a\v\0"]),
        ("['a\\\nb']", ["ab"]),
        ("['" + r'\\", "evil' + "']", [r'\", "evil']),
        (r"['\/']", ["\\/"]),
        (r'["\/"]', ["/"]),
        ("[-99999999999999999999]", ["-99999999999999999999"]),
        ("['99999999999999999999', -99999999999999999999,]", ["9" * 20, "-" + "9" * 20]),
    ],
)
def test_escapes_and_numbers_are_read_as_python_and_json_read_them(
    written: str, expected: list[str]
) -> None:
    assert list(elements(written)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *(r"['\ud800']", r"['\U00110000']", r"['\N{BULLET}']", r"['\q']", "[1.5e, 2]"),
        *("[099999999999999999999]", "[+99999999999999999999]", "[99999999999999999999a]"),
    ],
)
def test_what_neither_json_nor_python_reads_alike_is_one_text(text: str) -> None:
    assert list(elements(text)) == [text]


@given(json_values)
def test_leaves_are_texts_and_numbers(value: object) -> None:
    assert all(type(one) in (str, int, float) and one != "" for one in leaves(value))


def test_leaves_come_in_order() -> None:
    assert list(leaves({"a": [1, {"b": "x"}], "c": [None, True, "y"]})) == [1, "x", "y"]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("see https://Shop.example/x, www.b.example.", ["shop.example/x", "b.example"]),
        ("(shop.example)?x=1", ["shop.example"]),
        ("mia@shop.example or user:pass@shop.example", []),
        ("shop.example.They sent it", ["shop.example"]),
        ("24/7 and/or", []),
        ("ftp://shop.example/x", []),
        ("http://1.2.3.4:80/x?y=1", ["1.2.3.4:80/x?y=1"]),
    ],
)
def test_links_that_a_text_names(text: str, keys: list[str]) -> None:
    assert [link.key for link, _ in links_in(text)] == keys


def test_a_file_or_a_number_is_told_from_a_link() -> None:
    text = "plan.md https://plan.md www.plan.md //plan.md plan.md/x shop.example"
    assert [no_host for _, no_host in links_in(text)] == [True, False, False, False, True, False]
    text = "3.5 10.0.0.1:80 https://10.0.0.1 10.0.0.1/x www.ord_7"
    assert [no_host for _, no_host in links_in(text)] == [True, True, False, False, False]


def test_the_pages_that_a_page_is_below() -> None:
    link = link_of("https://shop.example/a/b/c?x")
    assert link is not None
    assert list(link.parents()) == ["shop.example/a/b", "shop.example/a"]
    assert list((link_of("shop.example/a") or link).parents()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mail mia@corp.example.", ["mia@corp.example"]),
        ("<mia.b+c@corp.co.example>", ["mia.b+c@corp.co.example"]),
        ("- -mia@corp.example- x", ["mia@corp.example"]),
        ("see (https://a.example/x?y=1)!", ["a.example/x?y=1"]),
        ("[x](HTTP://a.example/x), b", ["a.example/x"]),
        ("at www.a.example/x, or awww.b", ["a.example/x"]),
        ("//a.example/x", ["a.example/x"]),
        ("https:a.example/x", ["a.example/x"]),
        ("ftp://a.example", ["a.example"]),
        ("h\u200bttps://a.example/x", ["a.example/x"]),
        ("https:\\\\a.example\\x", ["a.example/x"]),
        ("see:\\nwww.a.example", ["a.example"]),
        ("a.example/x and 12345678", ["a.example/x"]),
        ("the report.txt and/or 24/7, good work. Fun", []),
        ("mia@corp and @b", []),
        ("pay DE89370400440532013000 now", ["de89370400440532013000now"]),
        ("pay de89-3704-0044-0532-0130-00.", ["de893704004405320130 00".replace(" ", "")]),
        ("XDE89370400440532013000 DE8937040", []),
        ("\uff24\uff25\uff18\uff19370400440532013000", ["de89370400440532013000"]),
    ],
)
def test_addresses_links_and_account_numbers_in_content(text: str, found: list[str]) -> None:
    assert [one.shown for one in content_values(text) if one.link is None or one.is_link_alone] == (
        found
    )


def test_a_word_behind_a_number_or_an_address_hides_nothing() -> None:
    (account,) = content_values("pay DE89 3704 0044 0532 0130 00 now")
    assert "de89370400440532013000" in [part.narrow for part in account.parts]
    (address, *_) = content_values("ask mia@corp.example.thanks")
    assert [part.wide for part in address.parts] == [
        "mia@corp.example.thanks",
        "mia@corp.example",
    ]


def test_short_numbers_have_three_digits_or_fewer() -> None:
    shorts = [
        read_value(one, None).is_short_number for one in ("7", "777", "7777", "7a", "", "7.5")
    ]
    assert shorts == [True, True, False, False, False, False]


TABLE = EvidenceClass(
    class_="r",
    fields={"sender": "party", "id": "system", "/a/b": "system", "note": "public", "/l/*": "party"},
    schema_={"type": ["object", "array"], "properties": {"wrong": False}},
)


def test_all_that_is_declared_of_a_place_holds_of_it() -> None:
    fields = {"/a/id": "party", "/*/note": "public", "/*/id": "system", "/a/*": "member"}
    table = EvidenceClass.model_validate({"class": "r", "fields": fields})
    described = Manifests(tool_manifest=(), evidence_manifest=(), classes=(table,))
    source = {"author": "system", "standing": "ambient"}
    content = {"a": {"id": "1", "note": "2", "x": "3"}, "b": {"id": "4", "note": "5", "x": "6"}}
    wire = {"id": "e", "classification": "r", "content": content, "source": source}
    found = FieldTables(described).parts_of(EvidenceItem.model_validate(wire)).parts
    writers = [part.writer for part in found if part.text.isdigit()]
    assert writers == ["party", "public", "member", "system", "public", "system"]


def parts_of(content: object, author: str) -> list[tuple[str, str, str]]:
    described = Manifests(tool_manifest=(), evidence_manifest=(), classes=(TABLE,))
    source = {"author": author, "standing": "ambient"}
    wire = {"id": "e", "classification": "r", "content": content, "source": source}
    found = FieldTables(described).parts_of(EvidenceItem.model_validate(wire))
    return [(part.writer, part.text, part.field) for part in found.parts]


@pytest.mark.parametrize(
    ("content", "fields", "texts"),
    [
        ("sender: bob", [], ["sender: bob"]),
        (7, [], ["7"]),
        ({"sender": "bob", "body": "x", "n": 1}, ["bob"], ["sender", "body", "n", "x", "1"]),
        ([{"sender": "bob"}, {"id": 7}], ["bob", "7"], ["sender", "id"]),
        (
            {"sender": {"bob": "rw", "to": {"deep": 1}}},
            ["bob", "to"],
            ["sender", "rw", "deep", "1"],
        ),
        ({"sender": ["b", ["c"], {"k": "v"}]}, ["b"], ["sender", "c", "k", "v"]),
        ({"a": {"sender": "b"}}, [], ["a", "sender", "b"]),
        ({"a": {"b": "c"}}, ["c"], ["a", "b"]),
        ({"l": ["x", "y"]}, ["x", "y"], ["l"]),
        ({"sender": True, "x": None, "y": ""}, [], ["sender", "x", "y"]),
        ({"sender": "x" * 80}, ["x" * 80], ["sender"]),
        ({"sender": "x" * 81}, [], ["sender", "x" * 81]),
        ({"sender": "a\nb"}, [], ["sender", "a\nb"]),
        ({"note": "n"}, [], ["note", "n"]),
        (["one"], [], ["one"]),
        ({"sender": "bob", "wrong": 1}, [], ["sender", "wrong", "bob", "1"]),
    ],
)
def test_a_record_is_fields_and_text_by_the_word_of_its_class(
    content: object, fields: list[str], texts: list[str]
) -> None:
    found = parts_of(content, "public")
    assert sorted(text for _, text, field in found if field) == sorted(fields)
    assert sorted(text for _, text, field in found if not field) == sorted(texts)
    assert not any(field for _, _, field in parts_of(content, "user"))


def test_a_class_narrows_what_its_author_says() -> None:
    said = parts_of({"id": "i", "sender": "s", "note": "n", "x": "t"}, "system")
    writers = {text: writer for writer, text, _ in said}
    assert [writers[text] for text in "isnt"] == ["system", "party", "public", "system"]
    # What is no record of the class may hold what an outsider wrote anywhere.
    wrong = parts_of({"id": "i", "note": "n", "wrong": 1}, "system")
    assert {writer for writer, _, _ in wrong} == {"public"}
    assert {writer for writer, _, _ in parts_of("text", "system")} == {"system"}


@given(json_values)
def test_every_leaf_is_part_of_an_item(value: object) -> None:
    texts = [text for _, text, _ in parts_of({"v": value}, "public")]
    assert not [leaf for leaf in leaves(value) if write_scalar(leaf) not in texts]


def test_of_a_run_of_combining_marks_the_first_thirty_count() -> None:
    assert wide("a" + "\u0301\u0327" * 50_000) == wide("a" + "\u0301\u0327" * 15)
    assert wide("a" + "\u0327" * 30) != wide("a" + "\u0327" * 29)
    marks = [char for char in map(chr, range(sys.maxunicode + 1)) if begins_with_a_mark(char)]
    for mark in marks:
        text = f"{mark}\u0327" * 20
        assert wide(text) == wide(text[:30])


def begins_with_a_mark(char: str) -> bool:
    if unicodedata.ucd_3_2_0.category(char) == "Cs":
        return False
    first = unicodedata.ucd_3_2_0.normalize("NFKD", char)[0]
    return unicodedata.ucd_3_2_0.combining(first) > 0


UNITS = ["\ufdfa", "\u0301\u0327", "http://", "\u0f73", "\uff9e\u0301"]


@pytest.mark.parametrize("unit", sampled(UNITS, one_in=2))
def test_a_long_text_is_spelled_in_linear_time(unit: str) -> None:
    text = unit * 100_000
    started = time.process_time()
    wide(text)
    list(content_values(text[:100_000]))
    assert time.process_time() - started < 10
