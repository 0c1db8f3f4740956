"""Which calls a no to an open question applies to."""

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest

from critic import Refused, Violation
from critic.session import Call
from harness.guard.course_answers import OpenQuestion

CALLS = tuple(Call(name, "pay", {}) for name in "abc")
PARTS = {3: 0, 4: 2}
"""The calls of the steps after those of all calls, which are things that a command does."""


def question_about(*steps: int | None) -> OpenQuestion:
    def call_at(step: int) -> int:
        return PARTS.get(step, step)

    found = tuple(
        Violation(check="approval", kind="approval_mode_mismatch", reason="r", offending_step=step)
        for step in steps
    )
    batch: Any = SimpleNamespace(calls=CALLS, call_at=call_at)
    return OpenQuestion(batch, Refused.because(found), "0" * 64)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_no_applies_to_the_calls_that_are_asked_about_or_to_all(count: int) -> None:
    """A violation without a step is about the plan as a whole."""
    for steps in combinations((None, 0, 1, 2, 3, 4), count):
        named = {PARTS.get(step, step) for step in steps if step is not None}
        wanted = range(3) if None in steps else sorted(named)
        assert question_about(*steps).doubted == [CALLS[at] for at in wanted], steps
