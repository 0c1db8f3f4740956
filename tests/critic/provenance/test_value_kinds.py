"""How a value is read by its kind, and which values a text holds: each sign and each length."""

import re
from typing import Final

import pytest

from critic.provenance.folding import QUOTES, WORD
from critic.provenance.value_kinds import (
    Sought,
    address_parts,
    addresses_in,
    holds_no_word,
    is_only_words,
    plain_form,
    read_value,
    same_values,
    text_form,
    wide_addresses_in,
    wide_form,
)

CHARS: Final = [*map(chr, range(0x100)), *map(chr, range(0x2000, 0x2060)), "\u2212"]
IS_WORD: Final = re.compile(WORD)


def is_word(char: str) -> bool:
    return IS_WORD.fullmatch(char) is not None


READ = [
    # The policy says what it is.
    *(("a/b", "path", "path"), ("a.b", "url", "url"), ("a@b", "address", "address")),
    *(("ab12", "account", "account"), ("ab12", "folder", "text"), ("/a", "text", "text")),
    # Its shape does.
    *((f"GB29{'A' * 8}", None, "account"), (f"GB29{'A' * 7}", None, "text")),
    *((f"GB29{'A' * 30}", None, "account"), (f"GB29{'A' * 31}", None, "text")),
    *(("GB29 NWBK-6016 13", None, "account"), (f"G129{'A' * 8}", None, "text")),
    *((f"GBA9{'A' * 8}", None, "text"), (f"gb29{'a' * 8}", None, "account")),
    *(("/a b", None, "path"), ("~/a b", None, "path"), ("~~/a b", None, "path")),
    *(("~~~/a b", None, "text"), ("a/b", None, "path"), ("a b/c", None, "text")),
    *(
        ("C:/a b", None, "path"),
        ("m:/a b", None, "path"),
        ("M:/a", None, "path"),
        ("1:/a b", None, "text"),
    ),
    *(("o'neil@x.example", None, "address"), ("a@b", None, "address"), ("a@b.", None, "text")),
    # What cannot be read is a text.
    *(("a//b", "path", "text"), ("a b", "url", "text"), ("a", "address", "text")),
    *(("abc", "account", "text"), ("a1b", "account", "text"), ("a1bc", "account", "account")),
    *(("a1" * 31, "account", "account"), ("a1" * 31 + "a", "account", "text")),
    *(("ab_12", "account", "text"), ("ab.12", "account", "text"), ("abcd", "account", "text")),
    *(("a1-" * 11 + "a", "account", "account"), ("a1-" * 12 + "a", "account", "text")),
]


def test_a_value_is_read_by_its_kind_or_its_shape() -> None:
    for value, kind, form in READ:
        assert read_value(value, kind).form == form, (value, kind)


def test_a_value_is_read_once_for_all_calls_and_as_what_it_is() -> None:
    assert read_value("x-1", None) is read_value("x-1", None)
    assert read_value("a/b", None) != read_value("a/b", "path-like") != read_value("a/b", "path")
    numbers = [read_value(one, None).exact for one in (1, 1.0, True, "1", "true")]
    assert numbers == ["1", "1", "true", "1", "true"]
    long = "x" * 2000
    assert read_value(long, None) == read_value(long, None)
    assert read_value(long, None) is not read_value(long, None)  # it is not kept


def test_what_cannot_be_read_by_its_kind_is_no_target_but_for_texts_and_numbers() -> None:
    for value, kind, is_readable in (
        *(("bob", "account", True), ("bob", "folder", True), ("bob", "address", False)),
        *(("a//b", "path", False), ("a b", "url", False), ("C:\\a b", None, False)),
        *(("../a b", None, False), ("./a b", None, False), ("/a/", None, True)),
        *(("/", "path", True), ("//", "path", False), ("", "path", True), ("a/", "path", True)),
        *(("a/b/", "path", True), ("a//", "path", False), ("//a", "path", False)),
        *(("a\x07", "path", False), ("a\\b", "path", False), ("/a/../b", "path", False)),
    ):
        assert read_value(value, kind).is_readable == is_readable, (value, kind)


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        ("/Srv/Data/", "path", Sought("path", "/Srv/Data", "/srv/data")),
        ("/", "path", Sought("path", "/", "", is_words=True)),
        ("Notes/", "path", Sought("path", "Notes", "notes", is_words=True)),
        ("Mia@Corp.Example", "address", Sought("address", "mia@corp.example", "mia@corp.example")),
        ("GB29 a-1", "account", Sought("account", "gb29a1", "gb29a1")),
        ("\uff27B29 a-1", "account", Sought("account", "\uff47b29a1", "gb29a1")),
        ("#Living  Room", "x", Sought("text", "living room", "living room", is_words=True)),
        ("Room 7", "x", Sought("text", "room 7", "room 7")),
        ("a b", "url", Sought("text", "a b", "a b", is_readable=False, is_words=True)),
    ],
)
def test_a_value_is_looked_for_in_two_forms(value: str, kind: str, found: Sought) -> None:
    exact = found.narrow if found.form == "path" else value
    assert read_value(value, kind) == found._replace(exact=exact)


def test_a_link_is_looked_for_by_its_key() -> None:
    page = read_value("HTTPS://Shop.Example/Pay/", None)
    assert (page.form, page.narrow, page.wide) == ("url", "shop.example/Pay", "shop.example/pay")
    assert page.link is not None
    assert (page.is_readable, page.is_words, page.names_no_host) == (True, False, False)
    assert read_value("shop.example/a.", "url").wide == "shop.example/a"
    assert read_value("plan.md", "url").names_no_host
    for value in ("shop.example", "a@b.de", "GB29 a-1", "/a", "ab"):
        assert not read_value(value, None).names_no_host


def test_one_value_is_compared_in_all_the_ways_in_which_it_can_be_read() -> None:
    assert [*same_values("A1.De/")] == [("text", "a1.de/"), ("path", "A1.De"), ("url", "a1.de")]
    expected = [("text", "a1 b2"), ("path", "A1 b2"), ("account", "a1b2")]
    assert [*same_values("A1 b2")] == expected
    expected = [("text", "a@b.de"), ("path", "a@b.de"), ("address", "a@b.de")]
    assert [*same_values("a@b.de")] == expected
    assert [*same_values(7)] == [("text", "7"), ("path", "7"), ("url", "7")]


def test_what_does_not_count_at_the_ends_of_a_text() -> None:
    for text, narrow, wide in (
        *(("#Ab", "ab", "ab"), ("@ab", "ab", "ab"), ("##ab", "#ab", "ab"), ("#a", "a", "a")),
        *(("# ab", "# ab", "ab"), ("#", "#", ""), (" ab ", "ab", "ab"), ("ab#", "ab#", "ab")),
        *(("'ab'", "'ab'", "ab"), ("'#ab'", "'#ab'", "ab")),
        *(("ab/.", "ab/.", "ab"), ("/.ab", "/.ab", "/.ab"), ("ab ./", "ab ./", "ab")),
        *(("ab.'", "ab.'", "ab"), ("ab@.", "ab@.", "ab@"), ("a  b", "a b", "a b"), ("", "", "")),
    ):
        assert (text_form(text), wide_form(text)) == (narrow, wide), text
    for quote in QUOTES:
        assert wide_form(f"{quote} ab {quote}") == "ab", ascii(quote)


def test_words_and_signs_are_what_any_text_may_hold() -> None:
    for text, only_words, no_word in (
        *(("ab", True, False), ("ab cd", True, False), ("ab  cd", False, False)),
        *(("ab1", False, False), ("1", False, False), ("a_b", False, False), ("_", False, False)),
        *(("ab-cd-e", True, False), ("ab-", False, False), ("-ab", False, False)),
        *(("-", True, True), ("(...)", True, True), ("", False, False), ("- a", False, False)),
    ):
        assert (is_only_words(text), holds_no_word(text)) == (only_words, no_word), text
    for char in CHARS:
        joins = char in " '\u2019-" or (is_word(char) and char not in "0123456789_")
        assert is_only_words(f"ab{char}cd") == joins, ascii(char)
        assert holds_no_word(f"-{char}-") != is_word(char), ascii(char)


def test_of_which_characters_an_address_is() -> None:
    for char in CHARS:
        name, host = f"a{char}b@x.example", f"ab@x{char}y.example"
        in_name = is_word(char) or char in "&+-.'\u2019"
        in_host = is_word(char) or char in "-."
        assert (read_value(name, "address").form == "address") == in_name, ascii(char)
        assert (read_value(host, "address").form == "address") == in_host, ascii(char)
    for text in ("a", "@b", "a@", "a@.b", "a@b.", "a@b..c", "'a@b", "a'@b", "a@b@c", "a''c@b"):
        assert read_value(text, "address").form == "text", text


ADDRESSES = [
    ("ask a@b.c, d@e.f", ["a@b.c", "d@e.f"]),
    ("-a@b.c- +a@b.c -+a@b.c -d@e.f.", ["a@b.c", "d@e.f"]),
    *(("a@b.c@d.e", []), ("@a@b.c", []), ("x@ a@b.c", ["a@b.c"]), ("a@b@c@d", [])),
    *(("<a@b.c>", ["a@b.c"]), ("'a@b.c'", ["a@b.c"]), ("o'neil@b.c", ["o'neil@b.c"])),
    *(("it's a@b.c", ["a@b.c"]), ("a@b", ["a@b"]), ("a @b", []), ("a@ b", [])),
    *(("d'o'n@b.c", ["d'o'n@b.c"]), ("d\u2019o@b.c", ["d\u2019o@b.c"]), ("x/a@b.c", ["a@b.c"])),
    *(("a'+b@c", []), ("+'b@c", ["b@c"])),
]


def test_the_addresses_in_a_text() -> None:
    for text, found in ADDRESSES:
        assert [*addresses_in(text)] == found, text


def test_what_may_be_an_address_in_a_wide_text() -> None:
    """Behind an apostrophe one may begin."""
    for text, found in (
        *(("-a@b.c.", ["a@b.c"]), ("d'o'n@b.c", ["d'o'n@b.c", "o'n@b.c", "n@b.c"])),
        *(("d\u2019o@b.c", ["d\u2019o@b.c", "o@b.c"]), ("a@b.c x@y", ["a@b.c", "x@y"])),
    ):
        assert [*wide_addresses_in(text)] == found, text
    many = "'".join("a" * 20) + "@b.c"
    assert len([*wide_addresses_in(many)]) == 13


def test_an_address_has_the_parts_that_end_at_a_dot_of_its_host() -> None:
    for text, parts in (
        *(("a@b.c.d", [("a@b.c.d", "a@b.c")]), ("a@b.c", [("a@b.c",)]), ("a@b", [])),
        *(("-a@b.c- e@f.g", [("a@b.c",), ("e@f.g",)]),),
        ("d'a@b.c.e", [("d'a@b.c.e", "d'a@b.c", "a@b.c.e", "a@b.c")]),
        *(("a@[1.2.3.4].", [("a@[1.2.3.4]",)]), ("a@[1 2]", [])),
    ):
        assert [*address_parts(text)] == parts, text
    for labels, count in ((12, 11), (13, 12), (14, 12), (500, 12), (501, 1)):
        (longest,) = address_parts("a@" + ".".join("b" * labels))
        assert len(longest) == count


def test_a_short_number_has_three_digits_at_most() -> None:
    shorts = {one: read_value(one, None).is_short_number for one in ("7", "777", "7777", "a7", "")}
    assert [one for one, is_short in shorts.items() if is_short] == ["7", "777"]


def test_spellings_of_one_account_number_are_one_text() -> None:
    for text in ("GB29 NWBK 6016", "gb29-nwbk-6016", "gb29/nwbk.6016", "\uff27B29NWBK6016"):
        assert plain_form(read_value(text, "note")) == "gb29nwbk6016", text
    for text in ("gb29 nwbk 601", "bob smith", "GB29 NWBK, 6016", f"gb29 {'a' * 31}"):
        assert plain_form(read_value(text, "note")) == wide_form(text) == text.lower(), text
