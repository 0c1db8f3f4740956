"""The context of a run, of which much was read before, is read and spelled as it would be alone."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from evals.context import RunContext
from harness.canonical import canonical_bytes
from harness.guard import session_inputs
from harness.replay import known_acts
from harness.replay.known_acts import GROWING, read_run_context, spell_run_context
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


def _require_alike(wire: Any) -> None:
    data = json.dumps(wire).encode()
    alone, read = _read(lambda one: parse(RunContext, one), data), _read(read_run_context, data)
    assert read == alone
    if isinstance(alone, RunContext):
        assert canonical_bytes(read) == canonical_bytes(alone) == spell_run_context(read)


@given(_CONTEXTS)
def test_a_context_is_read_and_spelled_as_it_would_be_alone(wire: Any) -> None:
    _require_alike(wire)
    _require_alike(wire)  # of what was read before


def test_equal_to_python_is_not_the_same() -> None:
    for one in (1, True, 1.0, 1e30, 10**15, "1", [1], [True], {"\u00e9": 1.0, "z": -0.0}):
        session = {"id": "s", "turn": 1, "sent": [{"seq": 0, "values": [one]}]}
        _require_alike({"trace_id": "t", "safety_mode": "destructive", "session": session})


def test_what_was_read_before_is_the_same_object() -> None:
    def read(count: int) -> RunContext:
        sent = [{"seq": at, "values": ["x"]} for at in range(count)]
        session = {"id": "s", "turn": 1, "sent": sent}
        wire = {"trace_id": "t", "safety_mode": "destructive", "session": session}
        return read_run_context(json.dumps(wire).encode())

    first, second = (read(count).session for count in (200, 201))
    assert first is not None
    assert second is not None
    assert all(map(lambda one, other: one is other, first.sent or (), second.sent or ()))
    assert known_acts._read_act.cache_info().maxsize  # a log of many sessions takes no more


def test_the_arrays_are_those_that_a_guard_spells_once() -> None:
    assert {name: {*arrays} for name, arrays in GROWING.items()} == session_inputs._GROWING
