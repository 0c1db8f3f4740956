"""Two calls that nearly are one: their ids, arguments, questions and turns are told apart."""

from contextlib import ExitStack
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.guard.session_events import ResultEvent
from harness.integrations.seam import guarded as seam
from harness.integrations.seam.guarded import (
    AskedCall,
    CallReply,
    GuardedSession,
    session_within,
)
from harness.integrations.seam.ruling_replies import BEFORE_REFUSED, GuardHalted, SeamRuling
from harness.single_use import PermitError
from tests.harness.integrations.seam.test_guarded import DROP, READ, session

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


@pytest.mark.parametrize("prefix", ["", "c/1/"])
@pytest.mark.parametrize("left", [*permutations("abc")])
def test_what_waited_for_a_call_that_was_refused_is_refused(
    left: tuple[str, ...], prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that wait no more stand refused; those that wait still, and others, do not."""
    opened, gone, waits = left
    names = frozenset(f"{prefix}{name}" for name in left)
    before = SimpleNamespace(waiting=names, has_halted=False)
    after = SimpleNamespace(waiting=frozenset([f"{prefix}{waits}"]), has_halted=False)
    statuses = iter([before, after])
    stub: Any = SimpleNamespace(status=lambda _: next(statuses), handle=lambda _: object())
    refused = SeamRuling("refuse", "provenance", ("why",), reply="no")
    monkeypatch.setattr(seam, "opening_ruling", lambda *_, **__: refused)
    here = GuardedSession(stub, "s")
    here._prefix = prefix
    assert here._open_call(opened) is refused
    assert here._standing.keys() == {opened, gone}
    assert here._standing[gone].reply == BEFORE_REFUSED
    assert here._standing[gone].action == "refuse"


TOLD: list[tuple[str, Any]] = [
    *(("system", one) for one in ("", "be kind")),
    *(("scope", one) for one in ([], ["read"], ("read", "pay"), "read")),
    *((name, one) for name in ("user", "tenant") for one in ("", "emma")),
]
GIVEN = [{}, *({name: value} for name, value in TOLD), dict(TOLD) | {"scope": ["pay"]}]


@pytest.mark.parametrize("within", ["", "own", "other"])
@pytest.mark.parametrize("given", GIVEN, ids=str)
@pytest.mark.parametrize("is_open", [False, True])
def test_a_session_begins_with_all_that_was_told_and_nothing_else(
    given: dict[str, Any], is_open: bool, within: str
) -> None:
    """What is empty was told as well: of no tool is not of any, and no name is nobody's."""
    told: list[dict[str, Any]] = []
    stub: Any = SimpleNamespace(
        status=lambda _: object() if is_open else None,
        handle=lambda event: told.append(event.wire()),
    )
    outer = GuardedSession(stub if within == "own" else session().guard, "s")
    with ExitStack() as stack:
        if within:
            stack.enter_context(outer.running("c"))
        nested = session_within(stub)
        here = GuardedSession(stub, "s") if nested is None else nested
        try:
            here.began("pay x", **given)
        except GuardHalted:  # it is no event: nothing begins
            assert told == []
            assert {"", "read"} & {given.get("user"), given.get("tenant"), str(given.get("scope"))}
            return
    request = "" if within else "pay x"
    scope = {"scope": [*given["scope"]]} if "scope" in given else {}
    opens = {"event": "open", "request": request, **given, **scope}
    expected = {"event": "said", "text": request} if is_open else opens
    assert told == ([] if within == "own" else [{"session": "s", **expected}])


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_of_calls_ruled_on_together_each_is_told_what_stands_against_itself(depth: int) -> None:
    here = session()
    with ExitStack() as stack:
        for _ in range(depth):
            stack.enter_context(here.running("c"))
            inner = session_within(here.guard)
            assert inner is not None
            here = inner
        whole = here.rule([AskedCall("u", "nope", {}), DROP, AskedCall("v", "nope", {})])
    assert not whole
    kinds = {name: one.kind for name in "udv" if (one := here.standing(name)) is not None}
    assert kinds == {"u": "unknown_tool", "v": "unknown_tool", "d": whole.kind}
    assert whole.kind == "approval_mode_mismatch"


@pytest.mark.parametrize("was", ["allowed", "made", "elsewhere"])
def test_what_is_asked_for_anew_is_on_record_as_it_was_before(
    was: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not made, as far as anybody knows; not known, if another process may have made it."""
    here, told = session(), list[Any]()
    handle = here.guard.handle
    assert here.rule([READ])
    if was == "made":
        assert here.start(READ)
    elif was == "elsewhere":
        here.guard.permit("s", "r").withdraw()  # as a process without it has it
        monkeypatch.setattr(here.guard, "permit", _no_permit)

    def heard(event: Any) -> Any:
        told.append(event)
        return handle(event)

    monkeypatch.setattr(here.guard, "handle", heard)
    again = here.rule([READ])
    results = [event.status for event in told if isinstance(event, ResultEvent)]
    assert results == {"allowed": ["failed"], "made": [], "elsewhere": ["unknown"]}[was]
    assert bool(again) is (was != "made")


def _no_permit(_session: str, _call: str) -> None:
    raise PermitError("it was allowed in another process")
