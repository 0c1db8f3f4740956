"""What one value is: spellings, lists in text, hosts, addresses, days, fields."""

import hashlib
import json
import sys
import time
import unicodedata

import pytest
from critic.provenance.value_forms import (
    Day,
    addresses_in,
    canonical,
    content_of,
    days_in,
    elements,
    host_of,
    is_short_number,
    iso_days,
    leaves,
    spelling,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.support.json_values import values as json_values

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@pytest.mark.parametrize(
    "same",
    [
        (7, 7.0, "7"),
        (98.7, "98.7"),
        ("https://Shop.example/pay/", "http://shop.example/pay", "SHOP.EXAMPLE/pay/."),
        ("\uff36alue", "value", " 'Value' ", '"value"', "\u201cvalue\u201d", "value."),
        ("Stra\xdfe", "STRASSE"),
        ("Bob  \t Smith", "bob\xa0smith", "bob\nsmith"),
        ("\u03a3\u03c2", "\u03c3\u03c3"),
    ],
)
def test_what_does_not_count_in_a_value(same: tuple[str | float, ...]) -> None:
    assert len({spelling(value) for value in same}) == 1


@pytest.mark.parametrize("value", ["zet\u0430", "zeta\u200b", "\u200bzeta", "zeta\xad"])
def test_look_alikes_and_invisible_characters_are_other_characters(value: str) -> None:
    assert spelling(value) != "zeta"


@given(TEXTS)
def test_a_spelling_is_canonical_text(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text) or "http" in canonical(text)
    assert spelling(text) in canonical(text)


def test_the_folding_of_case_is_the_same_in_every_python() -> None:
    """The digest of all foldings, over every character that Unicode 3.2 has."""
    known = (
        char
        for char in map(chr, range(0x80, sys.maxunicode + 1))
        if unicodedata.ucd_3_2_0.category(char) not in ("Cn", "Cs", "Co")
    )
    folded = "".join(f"{char}{canonical(char)}" for char in known)
    found = hashlib.sha256(folded.encode()).hexdigest()
    assert found == "93049b333ba13f2effcc7e07363da33920010e74c0f18970640137b9457cc8f4"


@pytest.mark.parametrize("char", ["\u1e9e", "\u2c00", "\U00016e40", "\u1c90", "\ua640"])
def test_characters_after_unicode_3_2_stay_as_they_are(char: str) -> None:
    assert canonical(char) == char


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
    for written in (repr, json.dumps, str, long_escaped):
        assert list(elements(written(texts))) == expected


def long_escaped(texts: list[str]) -> str:
    """Return the list as Python may write it too: with every character as its longest escape."""
    return str(["".join(f"\\U{ord(char):08x}" for char in text) for text in texts]).replace(
        "\\\\", "\\"
    )


@given(st.lists(st.integers(), max_size=5))
def test_whole_numbers_in_a_list_keep_all_their_digits(numbers: list[int]) -> None:
    read = elements(json.dumps(numbers))
    assert [spelling(one) for one in read] == [str(number) for number in numbers]
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
    ("value", "host"),
    [
        ("https://shop.example/b", "shop.example"),
        ("shop.example", "shop.example"),
        ("shop.example:80", "shop.example"),
        ("shop.example?x", "shop.example"),
        ("shop.example#x", "shop.example"),
        ("my-shop.co.example/", "my-shop.co.example"),
        ("mia@shop.example", None),
        ("https://good.example@evil.example", None),
        ("https://good.example:pw@evil.example", None),
        ("shop.example evil.example", None),
        ("shop.example/x evil.example", None),
        ("shop.example\\x", None),
        ("shop.example%2e", None),
        ("shop", None),
        ("10.0.0.1", None),
        (".example", None),
        ("plan.md", None),
        ("Plan.ZIP", None),
        ("report.final.pdf", "report.final.pdf"),
        ("docs.rs", "docs.rs"),
        ("https://plan.md/", None),
        ("https://plan.md/x", "plan.md"),
        ("plan.md:80", "plan.md"),
        ("plan.md?x=a.md", "plan.md"),
        ("shop.example?x=a.md", "shop.example"),
        ("www.plan.md", "www.plan.md"),
        ("md.example", "md.example"),
    ],
)
def test_the_host_of_a_value(value: str, host: str | None) -> None:
    assert host_of(spelling(value)) == host


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mail mia@corp.example.", ["mia@corp.example"]),
        ("<mia.b+c@corp.co.example>", ["mia.b+c@corp.co.example"]),
        ("- -mia@corp.example- x", ["mia@corp.example"]),
        ("see (https://a.example/x?y=1)!", ["https://a.example/x?y=1"]),
        ("[x](HTTP://a.example/x), b", ["HTTP://a.example/x"]),
        ("at www.a.example/x, or awww.b", ["www.a.example/x"]),
        ("https://a.example/x\u3002", ["https://a.example/x"]),
        ("pay DE89370400440532013000 now", ["DE89370400440532013000"]),
        ("pay de89370400440532013000", []),
        ("XDE89370400440532013000 DE8937040", []),
        ("\uff24\uff25\uff18\uff19370400440532013000", ["DE89370400440532013000"]),
        ("a.example/x and 12345678", []),
        ("mia@corp and @b", []),
    ],
)
def test_addresses_links_and_account_numbers_in_content(text: str, found: list[str]) -> None:
    assert list(addresses_in(text)) == found


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 2026-05-09T10:00", [Day(2026, 5, 9)]),
        ("12026-05-091", []),
        ("5/9/2026", [Day(2026, 5, 9)]),
        ("1/5/9/2026", []),
        ("May 9th, and Dec. 24", [Day(None, 5, 9), Day(None, 12, 24)]),
        ("the 9th of May", [Day(None, 5, 9)]),
        ("3 June 2026", [Day(None, 6, 3)]),
        ("June, 3; June ,3; June3", [Day(None, 6, 3)]),
        ("maybe 9, 9 mayors", []),
        ("may 123", []),
    ],
)
def test_days_are_read_in_four_forms(text: str, days: list[Day]) -> None:
    assert list(days_in(canonical(text))) == days


def test_iso_days_are_read_alone() -> None:
    assert iso_days("2026-05-09 to 2026-05-10, May 11") == [Day(2026, 5, 9), Day(2026, 5, 10)]


def test_short_numbers_have_three_digits_or_fewer() -> None:
    assert [is_short_number(one) for one in ("7", "777", "7777", "7a", "", "7.5")] == [
        *(True, True),
        *(False, False, False, False),
    ]


@pytest.mark.parametrize(
    ("content", "fields", "texts"),
    [
        ("sender: bob", [], ["sender: bob"]),
        (7, [], [7]),
        (None, [], []),
        ({"sender": "bob", "body": "x", "n": 1}, ["bob"], [1, "x"]),
        ({"sender": {"bob": "rw", "to": {"deep": 1}}}, ["bob", "to", "rw", 1], []),
        ({"sender": [{"k": "v"}]}, ["v"], []),
        ({"a": {"sender": ["b", ["c d"]]}}, ["b", "c d"], []),
        ({"sender": True, "x": None, "y": ""}, [], []),
        ({"sender": "x" * 80}, ["x" * 80], []),
        ({"sender": "x" * 81}, [], ["x" * 81]),
        ({"sender": {"x" * 81: 1}}, [1], ["x" * 81]),
        ({"sender": "a\nb"}, [], ["a\nb"]),
        ({"sender": "a\u2028b"}, [], ["a\u2028b"]),
        (["one", "a.b@c-d", "two words", 7], ["one", "a.b@c-d", 7], ["two words"]),
        (["x" * 40, "y" * 41], ["x" * 40], ["y" * 41]),
        ([{"x": "one"}], [], ["one"]),
        ([["one"]], ["one"], []),
    ],
)
def test_a_structured_result_is_fields_and_free_text(
    content: object, fields: list[object], texts: list[object]
) -> None:
    found = content_of(content, frozenset({"sender"}))
    assert sorted(found.fields, key=str) == sorted(fields, key=str)
    assert sorted(found.texts, key=str) == sorted(texts, key=str)


@given(json_values)
def test_every_leaf_is_a_field_or_free_text(value: object) -> None:
    found = content_of(value, frozenset())
    assert sorted(map(str, [*found.fields, *found.texts])) == sorted(map(str, leaves(value)))


def test_of_a_run_of_combining_marks_the_first_thirty_count() -> None:
    assert canonical("a" + "\u0301\u0327" * 50_000) == canonical("a" + "\u0301\u0327" * 15)
    assert canonical("a" + "\u0327" * 30) != canonical("a" + "\u0327" * 29)
    marks = [char for char in map(chr, range(sys.maxunicode + 1)) if begins_with_a_mark(char)]
    for mark in marks:
        text = f"{mark}\u0327" * 20
        assert canonical(text) == canonical(text[:30])


def begins_with_a_mark(char: str) -> bool:
    if unicodedata.ucd_3_2_0.category(char) == "Cs":
        return False
    first = unicodedata.ucd_3_2_0.normalize("NFKD", char)[0]
    return unicodedata.ucd_3_2_0.combining(first) > 0


@pytest.mark.parametrize("unit", ["\u0301\u0327", "\u0f73", "\uff9e\u0301", "\ufdfa", "http://"])
def test_a_long_text_is_spelled_in_linear_time(unit: str) -> None:
    text = unit * 200_000
    started = time.process_time()
    canonical(text)
    list(addresses_in(text))
    assert time.process_time() - started < 20
