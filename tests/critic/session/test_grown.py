"""An ordered set that only grows answers as a list of its values does."""

from hypothesis import given
from hypothesis import strategies as st

from critic.session.grown import Grown

values = st.lists(st.sampled_from(["a1", "b1", "a2", "c"]), max_size=5)


def grown(known: list[str]) -> Grown[str]:
    return Grown(lambda value: value[:1], known)


@given(values, values, values)
def test_two_sets_that_go_on_from_one_do_not_see_each_other(
    first: list[str], one: list[str], other: list[str]
) -> None:
    start = grown(first)
    for added in (one, other, one):
        after, expected = start.plus(added), dict.fromkeys((*first, *added))
        assert list(after) == list(expected)
        assert len(after) == len(expected)
        for key in "abc":
            assert (key in after) == any(value.startswith(key) for value in expected)
    assert list(start) == list(dict.fromkeys(first))


@given(values, st.sampled_from("abc"))
def test_a_set_without_some_values_has_the_others(first: list[str], key: str) -> None:
    left = grown(first).without(lambda value: value.startswith(key))
    assert list(left) == [value for value in dict.fromkeys(first) if value[:1] != key]
    assert key not in left


def test_adding_what_is_there_changes_nothing() -> None:
    start = grown(["a1"])
    assert start.plus(["a1"]) is start
