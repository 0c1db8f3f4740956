"""When a session sent a value first."""

from typing import Any

import pytest

from critic.provenance.sent_values import SentIndex
from critic.provenance.value_kinds import read_value
from evals.context import SentValues


def index(*sent: tuple[int, Any]) -> SentIndex:
    made = SentIndex()
    for seq, value in sent:
        made.add(SentValues(seq=seq, values=(value,)))
    return made


@pytest.mark.parametrize("value", ["x-77", 7, "7", True, 7.5])
def test_a_value_that_was_sent_is_found_short_or_not(value: Any) -> None:
    made = index((3, "first"), (4, value), (5, value))
    assert made.first_seq(read_value(value, None)) == 4
    assert made.first_seq(read_value(value, None), 1) is None
    assert made.first_seq(read_value("other-1", None)) is None
    assert SentIndex().first_seq(read_value(value, None)) is None


def test_the_first_of_a_text_and_a_field_that_hold_it_counts() -> None:
    for sent in (((4, "see x-77 there"), (5, "x-77")), ((4, "x-77"), (5, "see x-77 there"))):
        assert index(*sent).first_seq(read_value("x-77", None)) == 4


@pytest.mark.parametrize(
    ("first", "second", "value", "kind"),
    [
        # Only in the narrow form, since folding makes a mark of the accent.
        ("\xb4US64SVBKUS6S3300958879", "US64SVBKUS6S3300958879", "US64SVBKUS6S3300958879", None),
        ("\uff27o-1 it is", "go-1", "go-1", None),
        ("a\n7", "7", 7, None),
        ("intranet", "http://intranet/", "intranet", "url"),
    ],
)
def test_what_was_sent_first_is_found_in_whichever_form(
    first: str, second: str, value: Any, kind: str | None
) -> None:
    made = index((4, first), (5, second))
    assert made.first_seq(read_value(value, kind)) == 4
