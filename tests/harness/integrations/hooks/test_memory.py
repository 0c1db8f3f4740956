"""What hooks remember of calls: which one ended, which one a question was about."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from harness.integrations.hooks.dialect import HookEvent
from harness.integrations.hooks.memory import HookMemory, KnownCall, call_key

TOOLS = st.sampled_from(["read", "write"])
ARGS = st.sampled_from([{}, {"path": "a"}, {"path": "b"}])
CALLS = st.lists(st.tuples(TOOLS, ARGS), max_size=6)


def event_of(tool: str, args: Any, call: str | None = None, **more: Any) -> HookEvent:
    return HookEvent("e", "call", "s", tool=tool, args=args, call=call, **more)


def memory_of(calls: list[tuple[str, Any]], **known: Any) -> HookMemory:
    memory = HookMemory(dialect="gemini", session="s")
    for tool, args in calls:
        memory, name = memory.name_call(event_of(tool, args))
        memory = memory.plus(KnownCall(id=name, key=call_key(event_of(tool, args)), **known))
    return memory


@given(CALLS, TOOLS, ARGS)
def test_of_calls_without_ids_the_first_that_is_alike_ended(
    calls: list[tuple[str, Any]], tool: str, args: Any
) -> None:
    memory, ended = memory_of(calls), list[str]()
    while (found := memory.find_call(event_of(tool, args))) is not None:
        ended.append(found.id)
        memory = memory.minus(found.id)
    alike = [at for at, call in enumerate(calls, 1) if call == (tool, args)]
    assert ended == [f"hook/{at}" for at in alike]


@given(CALLS, TOOLS, ARGS)
def test_a_question_is_about_the_last_call_alike_that_none_was_shown_of(
    calls: list[tuple[str, Any]], tool: str, args: Any
) -> None:
    memory = memory_of(calls, asked="0" * 64)
    alike = [at for at, call in enumerate(calls) if call == (tool, args)]
    for count in range(len(alike) + 1):
        shown = [at for at, one in enumerate(memory.calls) if one.shown]
        assert shown == alike[len(alike) - count :]
        memory = memory.show_question(event_of(tool, args))
    assert memory_of(calls).show_question(event_of(tool, args)) == memory_of(calls)


def test_a_question_is_not_about_a_call_that_was_given_up() -> None:
    memory = memory_of([("read", {}), ("read", {})], asked="0" * 64)
    old, new = memory.calls
    assert memory.give_up(new).show_question(event_of("read", {})).calls[0].shown
    memory = memory.give_up(old).give_up(new)
    assert memory.show_question(event_of("read", {})) == memory


def test_a_call_with_an_id_is_found_by_it_alone() -> None:
    call = KnownCall(id="c1", key=call_key(event_of("read", {})))
    memory = HookMemory(dialect="codex", session="s").plus(call)
    assert memory.find_call(event_of("write", {"path": "a"}, "c1")) == call
    assert memory.find_call(event_of("read", {}, "c2")) is None


def test_the_project_stays_where_the_session_began() -> None:
    memory = HookMemory(dialect="codex", session="s")
    for root in ("", "/srv/a"):
        assert memory.with_root(root).with_root("/srv/b").root == root


NAMES = st.sampled_from(["c", "c1", "c10", "C1", None])


@given(st.lists(st.tuples(NAMES, st.booleans(), ARGS), max_size=8))
@example([(None, False, {}), (None, True, {}), (None, False, {})])
@example([("c", False, {}), ("c1", False, {}), ("c", True, {})])
@example([("c1", False, {}), ("c1", False, {"path": "a"})])
def test_each_call_is_remembered_once_as_it_was_last_and_forgotten_alone(
    steps: list[tuple[str | None, bool, Any]],
) -> None:
    """A name that was made is never made again, whatever has ended meanwhile."""
    memory, expected, made = HookMemory(dialect="gemini", session="s"), dict[str, str](), 0
    for call, is_over, args in steps:
        memory, name = memory.name_call(event_of("read", args, call))
        made += call is None
        assert name == (call or f"hook/{made}")
        expected.pop(name, None)
        memory = memory.plus(KnownCall(id=name, key=call_key(event_of("read", args))))
        if is_over:
            memory = memory.minus(name)
        else:
            expected[name] = call_key(event_of("read", args))
        assert [(one.id, one.key) for one in memory.calls] == [*expected.items()]


def test_the_last_calls_are_remembered() -> None:
    call = KnownCall(id="c", key="0" * 64)
    full = tuple(call.change_fields(id=f"c{at}") for at in range(1000))
    memory = HookMemory(dialect="gemini", session="s", calls=full).plus(call)
    assert [one.id for one in memory.calls] == [*(f"c{at}" for at in range(1, 1000)), "c"]


def test_no_two_calls_have_one_key() -> None:
    calls = [
        (tool, args) for tool in ("read", "Read", "read ") for args in ({}, {"a": 1}, {"A": 1})
    ]
    more = [("read", {"a": one}) for one in (True, "1", 1.5, None, [1])]
    keys = {call_key(event_of(tool, args)) for tool, args in (*calls, *more)}
    assert len(keys) == len(calls) + len(more)
