"""The context of a run, of which much was read before, is read and spelled as it would be alone."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evals.context import RunContext
from harness.canonical import canonical_bytes, canonical_json
from harness.guard import session_inputs
from harness.replay.known_acts import GROWING, KnownActs
from harness.wire import InvalidInput, parse
from tests.support.json_values import values

_SHA: st.SearchStrategy[Any] = st.sampled_from(["a" * 64, "sha256:" + "b" * 64, "c"])
_OWN = st.fixed_dictionaries({"kind": st.sampled_from(["file", "no such"]), "value": values})
_SENT = st.fixed_dictionaries({"seq": st.integers(-1, 3), "values": st.lists(values, max_size=3)})
_SPENT = st.fixed_dictionaries(
    {"adapter_id": st.sampled_from(["a", "no id"]), "capability_id": st.just("c")},
    optional={"args_digest": _SHA, "id": values},
)


def _arrays(elements: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(elements, max_size=3), st.lists(st.one_of(elements, values)), values)


_CONTEXTS = st.fixed_dictionaries(
    {"trace_id": st.just("t"), "safety_mode": st.just("destructive")},
    optional={
        "session": st.one_of(
            st.fixed_dictionaries(
                {"id": st.just("s"), "turn": st.just(1)},
                optional={"own": _arrays(_OWN), "sent": _arrays(_SENT)},
            ),
            values,
        ),
        "spent": st.one_of(st.fixed_dictionaries({}, optional={"calls": _arrays(_SPENT)}), values),
    },
)


def _read(read: Any, data: bytes) -> Any:
    try:
        return read(data)
    except InvalidInput as error:
        return error.path, error.message, error.problems


def _require_alike(acts: KnownActs, wire: Any) -> None:
    for data in {json.dumps(wire).encode(), _canonical(wire)}:
        alone, read = _read(lambda one: parse(RunContext, one), data), _read(acts.read, data)
        if isinstance(alone, RunContext):
            assert read[0] == alone
            assert read[1] == canonical_bytes(alone) == canonical_bytes(read[0])
        else:
            assert read == alone


def _canonical(wire: Any) -> bytes:
    try:
        return canonical_json(wire)
    except ValueError:
        return b"{}"


@given(st.lists(_CONTEXTS, min_size=2, max_size=4))
def test_a_context_is_read_and_spelled_as_it_would_be_alone(wires: list[Any]) -> None:
    acts = KnownActs()
    for wire in (*wires, *wires):
        _require_alike(acts, wire)


def _sent(*values: Any) -> Any:
    session = {"id": "s", "turn": 1, "sent": [{"seq": 0, "values": [one]} for one in values]}
    return {"trace_id": "t", "safety_mode": "destructive", "session": session}


def test_what_python_takes_for_equal_is_not_the_same() -> None:
    acts = KnownActs()
    alike: Any = (1, True, 1.0, 1e30, 10**15, "1", [1], [True], {"\u00e9": 1.0, "z": -0.0}, 0)
    for one in alike:
        for other in alike:
            _require_alike(acts, _sent(one))
            _require_alike(acts, _sent(other, one))


def test_what_was_read_before_is_not_read_again() -> None:
    acts = KnownActs()
    first, second = (acts.read(_canonical(_sent(*range(count))))[0] for count in (200, 201))
    assert first.session is not None
    assert second.session is not None
    early, late = first.session.sent or (), second.session.sent or ()
    assert len(late) == 201
    assert all(one is other for one, other in zip(early, late, strict=False))


def test_only_the_last_sessions_are_known() -> None:
    acts = KnownActs()
    for number in range(99):
        wire = _sent(1)
        wire["session"]["id"] = str(number)
        acts.read(_canonical(wire))
    assert len(acts._last) == 48


def test_the_arrays_are_those_that_a_guard_spells_once() -> None:
    assert {name: {*arrays} for name, arrays in GROWING.items()} == session_inputs._GROWING
