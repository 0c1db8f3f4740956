"""The scalars in a value, with and without booleans and names, and lists that are text."""

from typing import Any, Final

import pytest

from critic.provenance.written_lists import elements, leaves, parse_list

LONG: Final = "99999999999999999999"
NESTED: Final = {"a": True, "": 3, "b": [False, None, "", {"c": "d", "e": 7.5}], "f": {}}


def test_booleans_and_names_are_values_only_where_every_value_counts() -> None:
    assert repr([*leaves(NESTED)]) == repr([3, "d", 7.5])
    every = ["a", "b", "f", True, 3, False, "c", "e", "d", 7.5]
    assert repr([*leaves(NESTED, every=True)]) == repr(every)
    for value in (True, False):
        assert ([*leaves(value)], [*leaves(value, every=True)]) == ([], [value])
        assert ([*elements(value)], [*elements(value, every=True)]) == ([], [value])
    for scalar in (7, 7.5, "a"):
        assert [*elements(scalar)] == [*elements(scalar, every=True)] == [scalar]
    for none in (None, "", [], {}, ["a"], {"a": "b"}):
        assert [*elements(none)] == [*elements(none, every=True)] == []
    listed = "[True, 1, {'a': 'b', '': None}, '']"
    assert repr([*elements(listed)]) == repr([1, "b"])
    assert repr([*elements(listed, every=True)]) == repr([True, 1, "a", "b"])


PARSED: Final[dict[str, Any]] = {
    "[]": [],
    " \t\r\n[1]\n\r\t ": [1],
    "[[1], {'a': [2]}]": [[1], {"a": [2]}],
    # An empty text between quotes hides nothing behind it.
    f'["", {LONG}]': ["", LONG],
    f"['', {LONG}]": ["", LONG],
    f"['', 'a', \"\", -{LONG}]": ["", "a", "", f"-{LONG}"],
    # Escapes of Python.
    r"['\a\v\b\f\n\r\t']": ["\a\v\b\f\n\r\t"],
    r"""['\'\"\\\/"']""": ['\'"\\\\/"'],
    "['a\\\nb']": ["ab"],
    r"['\0\7\101\x41\U00000041']": ["\0\7AAA"],
    """['say "x"', "it's"]""": ['say "x"', "it's"],
    r"['a\'b', 'c\\']": ["a'b", "c\\"],
}
UNPARSED: Final = [
    *("", "[", "]", "1", '{"a": 1}', "[1", "1]", "[1}", "[a]", "[1] [2]", "x[1]", "[1]x"),
    *("\x0b[1]", "[1]\xa0", r"['\q']", r"['\N{DASH}']", "['a", "['a]", '["a]', f"['a', {LONG}a]"),
]


def test_a_list_is_read_as_json_or_as_python_writes_it_and_nothing_else_is() -> None:
    for text, value in PARSED.items():
        assert repr(parse_list(text)) == repr(value), text
    for text in UNPARSED:
        assert parse_list(text) is None, text


@pytest.mark.parametrize("quote", "'\"")
def test_a_quote_within_a_text_ends_it_only_if_it_is_of_the_same_kind(quote: str) -> None:
    other = "'\""[quote == "'"]
    assert parse_list(f"[{quote}a{other}, {other}b{quote}, True]") == [f"a{other}, {other}b", True]
