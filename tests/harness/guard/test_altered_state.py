"""One field of a session's state is changed: it is refused at resume, or the session goes on."""

import json
from functools import cache
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evals.json_value import SAFE_INTEGER
from harness.wire import InvalidInput
from tests.support.altering import altered, kinds_of_places, others_than, path_of, value_at
from tests.support.effort import examples
from tests.support.guarding import (
    ASKS,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    result,
    streams,
    yes,
)
from tests.support.patience import PATIENT

Json = Any

READ: Final = call("read_note", id="r", name="plan.md")
TWO: Final[Json] = {
    "event": "calls",
    "session": "s",
    "calls": [
        {"id": "m", "tool": "list_mail", "args": {}, "estimated_tokens": 40},
        {"id": "n", "tool": "read_note", "args": {"name": "other.md"}, "estimated_tokens": 9},
    ],
}
WAITS: Final = [open_(system="Be brief"), READ, result("see x-9", id="r"), TWO, result("y", id="n")]
"""Events at whose end one call of a batch ended and one is awaited."""
PAYS: Final = [{**event, "session": "s"} for event in next(streams("refunds"))["events"][:4]]
"""Events of another policy, at whose end a call runs for which evidence is pinned."""
LATER: Final = [
    *(yes(), result("wired"), result({"x": 1}, id="m", tokens=3), result("z", id="n")),
    result("R-1", id="p"),
    {"event": "said", "session": "s", "text": "and the mail"},
    *(call("list_mail", id="k"), result("mail", id="k"), call("shred", id="q", name="plan.md")),
    *(call("transfer", id="t", iban="iban-4711-22", reason="x"), yes(), close()),
]
"""What may come next in any of them."""


STREAMS: Final[dict[str, tuple[list[Json], Json]]] = {
    "asks": (ASKS, desk()),
    "waits": (WAITS, desk()),
    "shadow": ([*WAITS, call("shred", id="g", name="plan.md")], desk(shadow=True)),
    "pays": (PAYS, next(streams("refunds"))["policy"]),
}


@cache
def state_of(name: str) -> tuple[Json, Json]:
    """Return the state of a session at the end of its events, and its policy."""
    events, policy = STREAMS[name]
    guard = guard_of(policy)
    answers_to(guard, events)
    return json.loads(guard.export("s")), policy


def failures(state: Json, policy: Json) -> list[Json]:
    """Return the answers that say that the guard failed, of a session that goes on."""
    guard = guard_of(policy)
    guard.resume(json.dumps(state).encode())
    return [one for one in answers_to(guard, LATER).values() if "critic_error" in json.dumps(one)]


@pytest.mark.parametrize("name", STREAMS)
def test_an_unchanged_state_goes_on(name: str) -> None:
    assert failures(*state_of(name)) == []


@settings(PATIENT, max_examples=examples(300))
@given(st.data())
def test_a_state_with_another_value_anywhere_is_refused_or_goes_on(data: st.DataObject) -> None:
    state, policy = state_of(data.draw(st.sampled_from([*STREAMS])))
    path = data.draw(st.sampled_from(data.draw(st.sampled_from(kinds_of_places(state)))))
    new = data.draw(st.sampled_from(others_than(value_at(state, path))))
    try:
        failed = failures(altered(state, path, new), policy)
    except InvalidInput as error:
        assert "\n" not in str(error)
    else:
        assert failed == []


@pytest.mark.parametrize(
    ("name", "path", "new"),
    [
        ("waits", "/session/running/0/calls/0/estimated_tokens", 99),
        ("waits", "/session/tokens", 0),
        ("shadow", "/session/steps", SAFE_INTEGER),
        ("shadow", "/session/tokens", SAFE_INTEGER),
    ],
)
def test_another_count_of_what_was_spent_does_not_fail_later(
    name: str, path: str, new: int
) -> None:
    state, policy = state_of(name)
    assert failures(altered(state, path_of(path), new), policy) == []


@pytest.mark.parametrize(
    ("name", "path", "new"),
    [
        ("waits", "/session/awaited/0/step", 2),
        ("waits", "/session/texts", 0),
        ("waits", "/session/running/0/turn", 9),
        ("pays", "/session/running/0/plan", None),
        ("asks", "/question/turn", 1),
        ("asks", "/question/seen", 9),
    ],
)
def test_a_contradiction_is_refused_where_it_is(name: str, path: str, new: Json) -> None:
    state, policy = state_of(name)
    place = path_of(path)
    if new is None:
        place, new = (*place, "steps", 0, "evidence_refs"), ["call/9"]
    with pytest.raises(InvalidInput, match="cannot go on from it") as caught:
        guard_of(policy).resume(json.dumps(altered(state, place, new)).encode())
    assert caught.value.path == path
