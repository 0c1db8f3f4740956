"""Where reading stops: at the hundredth fault of an array or an object, and nowhere before."""

from typing import Any

import pytest

from evals.bounded import MOST_FAULTS, REST_NOT_READ, _Reader
from evals.envelope import Identifier

IDS = _Reader(tuple[Identifier, ...])
MEMBERS = _Reader(dict[Identifier, int])


@pytest.mark.parametrize("between", [0, 4, 50])
def test_an_array_is_read_to_its_hundredth_fault(between: int) -> None:
    few = [*["e"] * 100, *["", *["e"] * between] * (MOST_FAULTS - 1)]
    assert IDS.array(few) == tuple(few)
    many = [*few, "", *["e"] * 500]
    *read, rest = IDS.array(many)
    assert rest is REST_NOT_READ
    assert read == many[: len(read)]
    assert len(few) < len(read) < len(many)


def test_an_array_of_faults_ends_with_the_hundredth() -> None:
    assert IDS.array([""] * 500) == (*[""] * MOST_FAULTS, REST_NOT_READ)


def test_an_object_is_read_to_its_hundredth_fault() -> None:
    valid: dict[Any, Any] = {f"k{at}": 1 for at in range(200)}
    for faults in (0, 1, MOST_FAULTS - 1):
        value = valid | {f"k{at}": "x" for at in range(faults)}
        assert MEMBERS.members(value) is value
    value = valid | {f"k{at}": "x" for at in range(MOST_FAULTS)}
    read = MEMBERS.members(value)
    assert read.pop(REST_NOT_READ, "nothing") is None
    assert MOST_FAULTS <= len(read) < len(value)
    assert [*read.items()] == [*value.items()][: len(read)]


def test_what_was_not_read_says_so() -> None:
    assert repr(REST_NOT_READ) == "the rest, which was not read"
