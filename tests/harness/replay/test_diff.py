"""The differences of two JSON values, by pointer."""

from typing import Any

import pytest

from harness.replay.json_diff import differences

CASES: list[tuple[Any, Any, list[dict[str, Any]]]] = [
    ({"a": 1}, {"a": 1}, []),
    ({"a": 1}, {"a": 1.0}, []),
    ({"a": True}, {"a": 1}, [{"path": "/a", "recorded": True, "derived": 1}]),
    ({"a": 1}, {"b": 1}, [{"path": "/a", "recorded": 1}, {"path": "/b", "derived": 1}]),
    (
        [1, 2, 3],
        [1, 4],
        [{"path": "/1", "recorded": 2, "derived": 4}, {"path": "/2", "recorded": 3}],
    ),
    ({"a": {"b": [1]}}, {"a": {"b": {}}}, [{"path": "/a/b", "recorded": [1], "derived": {}}]),
    ({"a/b": {"~": "x"}}, {"a/b": {}}, [{"path": "/a~1b/~0", "recorded": "x"}]),
    ("x", "y", [{"path": "", "recorded": "x", "derived": "y"}]),
    ({"a": {}}, {"a": {"b": {"c": 1}}}, [{"path": "/a/b", "derived": {"c": 1}}]),
]


@pytest.mark.parametrize(("recorded", "derived", "expected"), CASES)
def test_every_difference_is_listed_with_its_path(
    recorded: Any, derived: Any, expected: list[dict[str, Any]]
) -> None:
    assert [one.wire() for one in differences(recorded, derived)] == expected
