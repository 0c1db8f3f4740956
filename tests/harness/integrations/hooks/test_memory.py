"""What hooks remember of calls: which one ended, which one a question was about."""

from typing import Any

from hypothesis import given
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
def test_a_question_is_about_the_first_call_alike_that_none_was_shown_of(
    calls: list[tuple[str, Any]], tool: str, args: Any
) -> None:
    memory = memory_of(calls, asked="0" * 64)
    alike = [at for at, call in enumerate(calls) if call == (tool, args)]
    for count in range(len(alike) + 1):
        shown = [at for at, one in enumerate(memory.calls) if one.shown]
        assert shown == alike[:count]
        memory = memory.show_question(event_of(tool, args))
    assert memory_of(calls).show_question(event_of(tool, args)) == memory_of(calls)


def test_a_call_with_an_id_is_found_by_it_alone() -> None:
    call = KnownCall(id="c1", key=call_key(event_of("read", {})))
    memory = HookMemory(dialect="codex", session="s").plus(call)
    assert memory.find_call(event_of("write", {"path": "a"}, "c1")) == call
    assert memory.find_call(event_of("read", {}, "c2")) is None


def test_the_project_stays_where_the_session_began() -> None:
    memory = HookMemory(dialect="codex", session="s")
    for root in ("", "/srv/a"):
        assert memory.with_root(root).with_root("/srv/b").root == root
