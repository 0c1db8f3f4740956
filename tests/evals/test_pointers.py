"""Where JSON pointers lead, one by one and from an index of what lies below."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from evals.capability import Binding
from evals.pointers import Places, is_pointer, segments, value_at, values_at
from tests.support import json_values
from tests.support.effort import examples
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(300))
DOCUMENT = {
    "": 0,
    "a/b": 1,
    "a": {"b": 2, "~1": 3},
    "*": {"b": 4},
    "list": [10, [11, {"b": 12}], {"0": 13}],
    "0": {"0": 14},
}


@pytest.mark.parametrize(
    ("pointer", "found", "all_found"),
    [
        ("", [DOCUMENT], [DOCUMENT]),
        ("/", [0], [0]),
        ("/a~1b", [1], [1]),
        ("/a/b", [2], [2]),
        ("/a/~01", [3], [3]),
        ("/*/b", [4], [2, 4]),
        ("/list/0", [10], [10]),
        ("/list/1/1/b", [12], [12]),
        ("/list/2/0", [13], [13]),
        ("/list/*/0", [], [11, 13]),
        ("/list/00", [], []),
        ("/list/-", [], []),
        ("/list/3", [], []),
        ("/list/9999999999", [], []),
        ("/list/\u0661", [], []),
        ("/*/0", [], [10, 14]),
        ("/*/*/*", [], [11, {"b": 12}, 13]),
        ("/a/b/c", [], []),
        ("/a/b/*", [], []),
        ("/none", [], []),
    ],
)
def test_a_pointer_leads_to_these_values(
    pointer: str, found: list[Any], all_found: list[Any]
) -> None:
    assert value_at(DOCUMENT, pointer) == found
    assert list(values_at(DOCUMENT, pointer, wildcard=True)) == all_found
    places = Places([DOCUMENT]).at(pointer).values
    assert sorted(map(repr, places)) == sorted(map(repr, all_found))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        *((text, True) for text in ("", "/", "//", "/a", "/a/b", "/~0", "/~1x", "/*", "/\u00e9\n")),
        *((text, False) for text in ("a", "a/b", "/~", "/~2", "/a~", "#/a", " /a", "*")),
    ],
)
def test_the_grammar_of_pointers(text: str, right: bool) -> None:
    assert is_pointer(text) is right


@pytest.mark.parametrize(
    ("pointer", "said"),
    [
        ("a", "not a JSON pointer: begin each part with a slash"),
        ("/~2", "write ~1 for / and ~0 for ~"),
        (7, "valid string"),
        (None, "valid string"),
        ("/\ud800", "valid string"),
    ],
)
def test_what_is_no_pointer_is_explained(pointer: Any, said: str) -> None:
    for at in ([pointer], ["", pointer]):
        with pytest.raises(ValidationError, match=said) as caught:
            Binding(from_=["k"], at=at)
        assert all(error["type"] for error in caught.value.errors())
    assert Binding(from_=["k"], at=["/\u00e9"]).at == ("/\u00e9",)


def test_segments_are_unescaped_once() -> None:
    assert segments("/a~1b/~01/") == ("a/b", "~1", "")
    assert segments("") == ()


names = st.sampled_from(["*", "a", "b", "0", "1"])
documents = st.recursive(
    st.sampled_from([1, "x", None]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)
pointers = st.lists(names, max_size=4).map(lambda parts: "".join(f"/{part}" for part in parts))


@LAW
@given(documents, st.lists(pointers, max_size=5))
def test_places_are_those_of_plain_search_in_any_order_of_asking(
    document: Any, asked: list[str]
) -> None:
    places = Places([document])
    for pointer in [*asked, *asked]:
        found = list(places.at(pointer).values)
        plain = list(values_at(document, pointer, wildcard=True))
        assert sorted(map(repr, found)) == sorted(map(repr, plain))


@LAW
@given(json_values.values)
def test_every_member_is_where_its_pointer_leads(value: Any) -> None:
    members = value.items() if isinstance(value, dict) else ()
    for name, member in members:
        pointer = "/" + name.replace("~", "~0").replace("/", "~1")
        assert is_pointer(pointer)
        assert value_at(value, pointer) == [member]
