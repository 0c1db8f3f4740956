"""What a hook tells its guard of each event, and its agent of each outcome: all of it, as it is."""

from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.guard import EventError
from harness.guard.rulings import EventFault, Ruling
from harness.integrations.hooks import hook_answer
from harness.integrations.hooks.dialect import HookEvent
from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.hook_answer import (
    HookOutcome,
    HookSettings,
    answer_event,
    hook_outcome,
)
from harness.integrations.hooks.memory import HookMemory, KnownCall, call_key
from tests.support.guarding import Json, policy_of

EMPTY = HookMemory(dialect="claude-code", session="s")
ASKED = "d" * 64
FAULT = EventError(error=EventFault(path="/user", message="no"))


class Heard:
    """A guard that notes what it is told, and answers what it is given."""

    def __init__(self, answer: Any = None, awaited: tuple[str, ...] = ()) -> None:
        self.told: list[Json] = []
        self.notes: list[str | None] = []
        self._answer, self._awaited = answer, awaited

    def handle(self, event: Any, *, note: str | None = None) -> Any:
        self.told.append(event.wire())
        self.notes.append(note)
        return self._answer

    def status(self, _session: str) -> Any:
        return SimpleNamespace(awaited=frozenset(self._awaited))


def event_of(kind: Any, **members: Any) -> HookEvent:
    return HookEvent("e", kind, "s", tool="Bash", **{"args": {"command": "ls"}, **members})


def known(name: str, **members: Any) -> KnownCall:
    return KnownCall(id=name, key=call_key(event_of("call")), **members)


def outcome(guard: Heard, memory: HookMemory, event: HookEvent, opening: Any = None) -> HookOutcome:
    stub: Any = guard
    return hook_outcome(stub, memory, event, opening)


ENDS = [*product(["completed", "failed", "unknown"], [None, {"n": 1}], [None, "no"], [None, 7])]


@pytest.mark.parametrize("is_cut", [False, True])
@pytest.mark.parametrize(("status", "output", "error", "took"), ENDS)
def test_a_guard_is_told_of_a_result_what_the_agent_said_and_the_call_is_over(
    status: str, output: Any, error: str | None, took: int | None, is_cut: bool
) -> None:
    guard, memory = Heard(), EMPTY.plus(known("c1")).plus(known("c2"))
    more = {"output": output, "error": error, "duration_ms": took, "is_cut": is_cut}
    found = outcome(guard, memory, event_of("result", call="c1", status=status, **more))
    said = {"error": error, "duration_ms": took, "output": None if is_cut else output}
    expected: Json = {"event": "result", "session": "s", "id": "c1", "status": status}
    expected |= {name: value for name, value in said.items() if value is not None}
    assert guard.told == [expected | ({"cut": True} if is_cut else {})]
    assert [one.id for one in found.memory.calls] == ["c2"]
    assert guard.notes == [found.memory.to_note()]
    assert (found.action, found.is_kept) == ("allow", True)


@pytest.mark.parametrize("folder", [None, "/work"])
@pytest.mark.parametrize(
    "strayed", [None, {"key": "f" * 64}, {"ended": True, "asked": ASKED}, {"asked": ASKED}]
)
def test_a_call_that_ran_without_a_ruling_is_told_as_it_ran(
    strayed: Json | None, folder: str | None
) -> None:
    """Nothing is told of how it ended, and what it returned is no evidence."""
    call = None if strayed is None else known("c1", folder=folder)
    memory = EMPTY if call is None else EMPTY.plus(call.change_fields(**strayed or {}))
    guard = Heard()
    ran = event_of("result", call="c1", folder=folder, output="paid", error="e", duration_ms=3)
    found = outcome(guard, memory, ran)
    args = {"command": "ls", **({} if folder is None else {"cwd": folder})}
    sent = {"tool": "Bash", "args": args}
    of_it = {"event": "result", "session": "s", "id": "c1", "status": "unknown"}
    assert guard.told == [{**of_it, "cut": True, "sent": sent}]
    assert (found.action, found.memory.calls) == ("refuse", ())


CALLS = {
    "ran": known("ran"),
    "asked": known("asked", asked=ASKED),
    "shown": known("shown", asked=ASKED, shown=True),
    "ended": known("ended", ended=True),
    "of.a": known("of.a", agent="a"),
    "of.b": known("of.b", agent="b", asked=ASKED, shown=True),
}


@pytest.mark.parametrize(
    ("name", "agent", "over"),
    [
        ("Stop", None, ["ran", "asked", "shown"]),
        ("SubagentStop", "a", ["of.a"]),
        ("SubagentStop", "b", ["of.b"]),
        ("SubagentStop", "c", []),
        ("SessionEnd", None, ["ran", "asked", "shown", "of.a", "of.b"]),
    ],
)
def test_at_an_end_a_guard_is_told_of_the_calls_of_that_agent_that_are_open(
    name: str, agent: str | None, over: list[str]
) -> None:
    guard = Heard(awaited=("ran", "of.a", "forgotten"))
    memory = EMPTY
    for call in CALLS.values():
        memory = memory.plus(call)
    found = outcome(guard, memory, event_of("end", agent=agent)._replace(name=name))
    gone = [one for one in over if CALLS[one].asked is None]
    gone += ["forgotten"] if name == "SessionEnd" else []
    told = [(one["id"], one["status"]) for one in guard.told if one["event"] == "result"]
    assert told == [(one, "unknown") for one in gone]
    answers = [one["yes"] for one in guard.told if one["event"] == "answer"]
    assert answers == [False] * sum(bool(CALLS[one].shown) for one in over)
    assert [one.id for one in found.memory.calls if one.ended] == [
        one for one in CALLS if one in {*over, "ended"}
    ]


@pytest.mark.parametrize("kind", ["call", "prompt", "result"])
def test_where_no_session_can_begin_nothing_goes_on(kind: str) -> None:
    guard = Heard(FAULT)
    opening = {"user": "emma", "scope": ["Bash"]}
    found = outcome(guard, EMPTY, event_of(kind, text="pay x", call="c1"), opening)
    opens = {"event": "open", "session": "s", "request": "pay x", **opening}
    assert (guard.told, found.action) == ([opens], "refuse")


@pytest.mark.parametrize("calls", [(), ("c1",)])
def test_each_prompt_after_the_first_is_said_to_the_guard(calls: tuple[str, ...]) -> None:
    memory = EMPTY
    for name in calls:
        memory = memory.plus(known(name))
    for answer, action in ((None, "allow"), (FAULT, "refuse")):
        guard = Heard(answer)
        assert outcome(guard, memory, event_of("prompt", text="go on")).action == action
        assert guard.told == [{"event": "said", "session": "s", "text": "go on"}]


def settings(**members: Any) -> HookSettings:
    guard = {name: members.pop(name) for name in ("shadow", "on_refusal") if name in members}
    spec = {"id": "s", "required_outputs": []}
    policy = policy_of({"guard": {"safety_mode": "network", **guard}, "spec": spec})
    return HookSettings(policy, Path("state"), **members)


@pytest.mark.parametrize(("shadow", "keeps"), [*product([True, False], repeat=2)])
def test_a_call_is_allowed_past_the_questions_of_its_agent_by_an_enforced_ruling_alone(
    shadow: bool, keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hook_answer, "_judge_and_keep", lambda *_: HookOutcome(EMPTY, "allow"))
    given = settings(shadow=shadow, keeps_prompts=keeps)
    for dialect in DIALECTS.values():
        for name, kind in dialect.kinds.items():
            if kind == "call":
                event = event_of(kind)._replace(name=name)
                said = answer_event(dialect, event, (), lambda: given)
                assert said == dialect.allow(name, quiet=shadow or keeps)


@pytest.mark.parametrize("on_refusal", ["answer", "halt"])
@pytest.mark.parametrize("reason", ["why", ""])
def test_a_refusal_always_has_a_reason_and_ends_the_run_at_a_call_alone(
    on_refusal: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = HookOutcome(EMPTY, "refuse", reason)
    monkeypatch.setattr(hook_answer, "_judge_and_keep", lambda *_: refused)
    given = settings(on_refusal=on_refusal)
    for dialect in DIALECTS.values():
        for name in filter(dialect.is_judged, dialect.kinds):
            kind = dialect.kinds[name]
            said = answer_event(dialect, event_of(kind)._replace(name=name), (), lambda: given)
            is_halt = on_refusal == "halt" and kind == "call"
            assert said == dialect.deny(name, reason or "refused", halt=is_halt)


class Judged(Exception):
    """The settings were asked for."""


def _judged() -> HookSettings:
    raise Judged


@pytest.mark.parametrize("leave", [["*"], ["Bash"], ["Ba*"], ["Bash*"]])
def test_only_calls_of_a_tool_are_left_to_others_and_none_at_its_own_events(
    leave: list[str],
) -> None:
    for dialect in DIALECTS.values():
        for name in filter(dialect.is_judged, dialect.kinds):
            kind = dialect.kinds[name]
            tool = "" if kind == "prompt" else "Bash"
            event = event_of(kind)._replace(name=name, tool=tool)
            if tool and name not in dialect.own_events:
                assert answer_event(dialect, event, leave, _judged) == dialect.allow(name)
            else:
                with pytest.raises(Judged):
                    answer_event(dialect, event, leave, _judged)
    assert DIALECTS["cursor"].own_events == {
        *("beforeShellExecution", "afterShellExecution", "beforeMCPExecution"),
        *("afterMCPExecution", "beforeReadFile"),
    }


@pytest.mark.parametrize("user", [None, "emma"])
@pytest.mark.parametrize("scope", [[], ["Bash"]])
def test_a_session_begins_for_who_is_there_and_for_the_tools_of_the_options(
    user: str | None, scope: list[str]
) -> None:
    found = hook_answer._build_opening(settings(scope=scope), event_of("prompt", user=user))
    expected: Json = {"user": user, "scope": scope}
    assert found == {name: one for name, one in expected.items() if one}


def test_a_call_that_may_run_is_remembered_as_whose_it_is_and_where() -> None:
    for action in ("allow", "ask"):
        ruling = Ruling(session="s", turn=1, action=action, plan_digest=ASKED)
        more = {"call": "c1", "agent": "a1", "folder": "/work", "can_ask": True}
        found = outcome(Heard(ruling), EMPTY, event_of("call", **more))
        asked = ASKED if action == "ask" else None
        assert found.memory.calls == (known("c1", asked=asked, folder="/work", agent="a1"),)
        assert found.action == action


@pytest.mark.parametrize("said", [None, "emma", "", "not a name"])
@pytest.mark.parametrize("configured", [None, "ada"])
def test_who_is_at_an_agent_is_who_the_options_say_and_else_a_name_that_it_gives(
    said: str | None, configured: str | None
) -> None:
    event = event_of("call", user=said)
    found = hook_answer._user_at(settings(user=configured), event)
    assert found == (configured or ("emma" if said == "emma" else None))
