"""Two calls that nearly are one: their ids, arguments, questions and turns are told apart."""

from itertools import permutations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.integrations.seam import guarded as seam
from harness.integrations.seam.guarded import (
    AskedCall,
    CallReply,
    GuardedSession,
    session_within,
)
from harness.integrations.seam.ruling_replies import BEFORE_REFUSED, SeamRuling
from tests.harness.integrations.seam.test_guarded import session

PAY = AskedCall("p", "pay", {"to": "x", "n": 1})
NEAR = [
    [PAY._replace(id="q")],
    [PAY._replace(args={"to": "y", "n": 1})],
    [PAY._replace(args={"to": "x"})],
    [PAY._replace(args={"to": "x", "n": True})],
    [PAY._replace(args={"to": "x", "n": "1"})],
    [PAY, PAY._replace(id="q")],
]


@pytest.mark.parametrize("other", NEAR)
def test_a_question_stands_for_the_very_calls_that_it_is_about(other: list[AskedCall]) -> None:
    here = session()
    first, again = here.rule([PAY]), here.rule([PAY])
    assert first.ruling is not None
    assert again.ruling is not None
    assert again.ruling.plan_digest == first.ruling.plan_digest
    anew = here.rule(other)
    assert (anew.action, anew.ruling is None) == ("ask", False)
    assert anew.ruling is not None
    assert anew.ruling.turn == first.ruling.turn + 1
    asked = here.question
    assert asked is not None
    assert [(one.id, dict(one.args)) for one in asked.calls] == [
        (one.id, dict(one.args)) for one in other if not isinstance(one.args, str)
    ]
    here.answer({one.id: CallReply(yes=True) for one in other}, approver="ada")
    assert here.start(other[-1]).args == other[-1].args


NAMES = st.text("ab/1", max_size=3) | st.sampled_from(["a" * 256, "a" * 257, "a" * 256 + "b"])


@given(names=st.lists(NAMES, min_size=2, max_size=4, unique=True), depth=st.integers(0, 2))
def test_two_calls_of_any_agents_have_two_ids(names: list[str], depth: int) -> None:
    """Of one agent by their names, and of two that one call runs whatever their names are."""
    here = session()
    agents = [here]
    for _ in range(depth):
        more = []
        for one in agents[-2:]:
            with one.running("c"):
                found = [session_within(here.guard), session_within(here.guard)]
            more += [each for each in found if each is not None]
        agents += more
    ids = [agent._id(name) for agent in agents for name in names]
    assert len({*ids}) == len(ids)
    assert max(map(len, ids)) <= 256


def test_a_session_within_another_guard_is_none_of_its_own() -> None:
    here, other = session(), session()
    with here.running("c"):
        assert session_within(other.guard) is None
        assert session_within(here.guard) is not None
    assert session_within(here.guard) is None


@pytest.mark.parametrize("left", [*permutations("abc")])
def test_what_waited_for_a_call_that_was_refused_is_refused(
    left: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that wait no more stand refused; those that wait still, and others, do not."""
    opened, gone, waits = left
    before = SimpleNamespace(waiting=frozenset("abc"), has_halted=False)
    after = SimpleNamespace(waiting=frozenset(waits), has_halted=False)
    statuses = iter([before, after])
    stub: Any = SimpleNamespace(status=lambda _: next(statuses), handle=lambda _: object())
    refused = SeamRuling("refuse", "provenance", ("why",), reply="no")
    monkeypatch.setattr(seam, "opening_ruling", lambda *_, **__: refused)
    here = GuardedSession(stub, "s")
    assert here._open_call(opened) is refused
    assert here._standing.keys() == {opened, gone}
    assert here._standing[gone].reply == BEFORE_REFUSED
    assert here._standing[gone].action == "refuse"
