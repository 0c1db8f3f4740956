"""The figures of the service are of whole answers, and of the share of them that they name."""

from pathlib import Path

import pytest

from tests.benchmarks.hooked import HookedSession
from tests.benchmarks.served import is_whole, percentile


def test_a_percentile_is_the_least_value_that_the_share_does_not_exceed() -> None:
    values = [float(value) for value in range(200, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.99)) == (100, 198)
    assert percentile([7.0], 0.99) == percentile([7.0], 0.5) == 7


@pytest.mark.parametrize("size", [0, 5])
def test_an_answer_is_whole_with_its_last_byte(size: int) -> None:
    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode() + b"x" * size
    assert [is_whole(answer[:end]) for end in range(len(answer) + 1)] == [
        *[False] * len(answer),
        True,
    ]


def test_a_session_of_hooks_can_be_measured(tmp_path: Path) -> None:
    session = HookedSession(tmp_path, 1)
    session.take(session.call())
