"""What a person said: a yes is the tick of whoever accepts; and each state is good once."""

from itertools import product
from typing import Any

import pytest

from harness.integrations.mcp.mcp_asking import RepeatedRequests, read_consent

TICKS: list[Any] = [True, False, None, 1, 0, "true", "yes", [True], {"a": True}]
ACTIONS: list[Any] = [
    "accept",
    "decline",
    "cancel",
    "Accept",
    "accepted",
    "",
    None,
    True,
    ["accept"],
]


@pytest.mark.parametrize(("action", "tick"), [*product(ACTIONS, TICKS)])
def test_a_yes_is_a_tick_that_was_accepted(action: Any, tick: Any) -> None:
    said = read_consent({"action": action, "content": {"approve": tick}})
    if action == "decline":
        assert said is False
    elif action == "accept" and tick in (True, False) and type(tick) is bool:
        assert said is tick
    else:
        assert said is None


@pytest.mark.parametrize(
    "answer", [None, True, "accept", [], {}, {"action": "accept"}, {"content": {"approve": True}}]
)
def test_what_is_no_answer_is_neither_yes_nor_no(answer: Any) -> None:
    assert read_consent(answer) is None


def test_a_state_is_good_once_and_for_what_was_kept_under_it() -> None:
    repeated = RepeatedRequests()
    kept: list[Any] = [object() for _ in range(3)]
    states = [repeated.keep(one) for one in kept]
    for other in (None, "", states[0][:-1], states[0].upper() + "x", 0, [states[0]], True):
        assert repeated.take(other) is None
    for at in (1, 0, 2):
        assert repeated.take(states[at]) is kept[at]
        assert repeated.take(states[at]) is None
