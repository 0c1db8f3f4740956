"""What is left of many names is what is left of few."""

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.log.log_errors import LogUnavailable
from harness.log.remainder import Remainder

NAMES = st.lists(st.text(max_size=3) | st.sampled_from(["a", "b", "\ufb33", "\U0001f600", "a\0"]))
TAKEN = st.lists(NAMES, max_size=4)


@given(names=NAMES, taken=TAKEN, few=st.integers(0, 5), most=st.integers(0, 4))
def test_what_is_taken_out_is_not_left(
    names: list[str], taken: list[list[str]], few: int, most: int
) -> None:
    remainder = Remainder(names, few)
    for some in taken:
        remainder.discard(some)
    left = sorted(set(names).difference(*taken))
    assert remainder.left(most) == (len(left), left[:most])
    assert remainder.left(0) == (len(left), []), "it can be asked again"


def test_a_temporary_file_that_cannot_be_written_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __getattr__(self, _name: str) -> Any:
            raise sqlite3.OperationalError("database or disk is full")

        def close(self) -> None:
            pass

    monkeypatch.setattr("harness.log.remainder.sqlite3.connect", lambda *_args, **_more: Full())
    Remainder("ab", few=2).discard("a")
    with pytest.raises(LogUnavailable, match=r"temporary .* free space"):
        Remainder("abc", few=2)
