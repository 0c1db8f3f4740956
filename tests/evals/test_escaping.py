"""Text from a plan made safe to print, and the JSON pointers that name a place in it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.escaping import escape_line, escape_name, pointer
from tests.support.effort import examples
from tests.support.examples import HOSTILE
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(300))
any_text = st.text(st.characters(codec=None), max_size=30)  # lone surrogates among them
short = st.text(st.characters(codec=None) | st.sampled_from("\\u0<x"), max_size=40)


@LAW
@given(any_text)
def test_what_is_printable_means_nothing_to_a_terminal_or_html(text: str) -> None:
    shown = escape_name(text)
    assert shown.isascii()
    assert shown.isprintable()
    assert not set(shown) & set("<>&\"'`")


@LAW
@given(short, short)
def test_different_texts_look_different(one: str, other: str) -> None:
    assert (escape_name(one) == escape_name(other)) is (one == other)


@LAW
@given(st.text(st.sampled_from("abc XYZ 019 .,:;!?()[]{}/_-+=~@#$%^*|")))
def test_plain_text_is_shown_as_it_is(text: str) -> None:
    assert escape_name(text)[:200] == text[:200]
    assert escape_line(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("\x1b[2J", "\\u001b[2J"),
        ("a\nb\r\tc\x00", "a\\u000ab\\u000d\\u0009c\\u0000"),
        ("<b>&\"'`\\", "\\u003cb\\u003e\\u0026\\u0022\\u0027\\u0060\\u005c"),
        ("\x7f\x9b\u202e\u2028", "\\u007f\\u009b\\u202e\\u2028"),
        ("\u00e9\uffff\U0001f600\U0010ffff", "\\u00e9\\uffff\\U0001f600\\U0010ffff"),
        ("\ud800", "\\ud800"),
        ("{0.__class__} %s%n", "{0.__class__} %s%n"),
    ],
)
def test_control_characters_and_quotes_are_escaped(text: str, shown: str) -> None:
    assert escape_name(text) == shown


@pytest.mark.parametrize("length", [199, 200])
def test_up_to_200_characters_are_shown_whole(length: int) -> None:
    assert escape_name("x" * length) == "x" * length


@pytest.mark.parametrize("length", [201, 10_000])
def test_a_longer_text_is_cut_and_says_so(length: int) -> None:
    assert escape_name("x" * length) == f"{'x' * 200}... ({length} characters)"
    assert escape_name("\n" * length) == "\\u000a" * 200 + f"... ({length} characters)"


@LAW
@given(any_text)
def test_one_line_is_one_line_whatever_is_in_it(text: str) -> None:
    shown = escape_line(text)
    assert len(shown.splitlines()) <= 1
    assert shown.isprintable()
    assert shown.replace("\u2014", "").isascii()
    assert not set(shown) & set("<&")


def test_one_line_keeps_our_own_reasons_as_they_stand() -> None:
    reason = "verify failed: loop_guard \u2014 step 1 mode destructive > safety_mode local_write"
    assert escape_line(reason) == reason
    assert escape_line(HOSTILE).startswith("\\u001b[31mred\\u001b]52;c;x\\u0007\\u000d\\u000a")


def place_of(text: str) -> list[str]:
    """RFC 6901, read backwards."""
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


@LAW
@given(st.lists(st.text(st.sampled_from("~/01ab \x1b") | st.characters(), max_size=5)))
def test_a_pointer_is_read_back_as_the_place(parts: list[str]) -> None:
    assert place_of(pointer(*parts)) == parts


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((), ""),
        (("",), "/"),
        (("a/b", "m~n", 0), "/a~1b/m~0n/0"),
        (("~1", "/0"), "/~01/~10"),
        (("steps", 3, "args", "\x1b"), "/steps/3/args/\x1b"),
    ],
)
def test_pointers_are_escaped_as_rfc_6901_says(parts: tuple[str | int, ...], text: str) -> None:
    assert pointer(*parts) == text
