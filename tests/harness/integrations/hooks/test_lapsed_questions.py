"""A question that lapsed while the user read it: their answer counts all the same."""

from typing import Any, Final

import pytest

from harness.clock import FixedClock
from harness.guard import Guard
from harness.integrations.hooks.dialect import HookEvent
from harness.integrations.hooks.hook_answer import hook_outcome
from harness.integrations.hooks.memory import HookMemory, parse_memory
from harness.policy import Policy
from tests.harness.guard.test_recording import Kept
from tests.support.guarding import NOON, Json, policy_of

PAGE: Final = "https://docs.example/x"
READ: Final = ("Read", {"path": "a.py"})
FETCH: Final = ("Fetch", {"url": PAGE, "prompt": None})
OTHER: Final = ("Fetch", {"url": PAGE, "prompt": "who wrote it?"})
BESIDE: Final = ("call", "beside", READ)
RUN: Final = ("Run", {"command": "rm -r src"})
STOP: Final[tuple[Any, ...]] = ("end", None, ("", {}))


def fetching(**guard: Any) -> Policy:
    """Return a policy that asks about a page which the user did not name, and before it runs."""
    read = {"capability_id": "Read", "approval_mode": "read_only", "result": {"author": "public"}}
    fetch = {"capability_id": "Fetch", "approval_mode": "network"}
    run = {"capability_id": "Run", "approval_mode": "destructive"}
    tools: list[Json] = [
        {**read, "arg_roles": {"path": "locator"}},
        {**fetch, "arg_roles": {"url": "locator", "prompt": "content"}},
        {**run, "arg_roles": {"command": "content", "cwd": "content"}},
    ]
    spec = {"id": "s", "required_outputs": [], "approval_required_from": "destructive"}
    spec["provenance"] = "open"
    own = {"adapter_id": "own", "args_schema": {"type": "object"}}
    return policy_of(
        {
            "guard": {"safety_mode": "destructive", **guard},
            "spec": spec,
            "tool": [{**one, **own} for one in tools],
        }
    )


class Hooks:
    """The hooks of a session in which a file names a page."""

    def __init__(self, policy: Policy | None = None) -> None:
        self.log = Kept()
        self.guard = Guard(policy or fetching(), log=self.log, clock=FixedClock(NOON))
        self.memory = HookMemory(dialect="claude-code", session="s")
        opening: Any = {"scope": ["Read", "Fetch", "Run"]}
        self.tell("prompt", text="Fix the bug in a.py", opening=opening)
        self.tell("call", "c0", READ)
        self.tell("result", "c0", READ, output=f"see {PAGE}")

    def tell(
        self,
        kind: Any,
        call: str | None = None,
        made: Any = ("", {}),
        *,
        opening: Any = None,
        **more: Any,
    ) -> str:
        """Tell of an event, and return what the agent is told to do."""
        tool, args = made
        folder = None if kind == "end" else "/a"
        event = HookEvent(
            "e", kind, "s", call=call, tool=tool, args=args, can_ask=True, folder=folder, **more
        )
        found = hook_outcome(self.guard, self.memory, event, opening)
        self.memory = parse_memory(found.memory.to_note().encode())
        return found.action

    @property
    def answers(self) -> list[tuple[str, str | None]]:
        """What was answered, and by whom."""
        said = [one.answer for one in self.log.decisions if one.answer is not None]
        return [(one.answer, one.approver) for one in said]


@pytest.mark.parametrize("made", [FETCH, RUN], ids=lambda made: made[0])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_no_to_a_question_that_lapsed_is_a_no(when: str, made: Any) -> None:
    hooks = Hooks()
    assert hooks.tell("call", "c1", made) == "ask"
    meanwhile = [BESIDE, ("shown", None, made)]
    for event in (*(meanwhile if when == "before" else meanwhile[::-1]), STOP):
        hooks.tell(*event)
    assert [one.args for one in hooks.memory.calls] == [None, None]  # they are kept no longer
    assert hooks.tell("call", "c2", made) == "refuse"
    assert ("no", "user-of-claude-code") in hooks.answers


def test_a_no_to_a_call_stands_where_the_yes_to_another_would_cover_it() -> None:
    hooks = Hooks()
    for name, made in (("c1", FETCH), ("c2", OTHER)):
        assert hooks.tell("call", name, made) == "ask"
        hooks.tell("shown", None, made)
    assert hooks.tell("result", "c2", OTHER, output="Ada") == "allow"
    assert hooks.tell(*STOP) == "allow"
    assert hooks.tell("call", "c3", FETCH) == "refuse"


@pytest.mark.parametrize("stopped", [True, False])
def test_a_question_that_was_never_shown_takes_no_yes_to_the_same_call_later(
    stopped: bool,
) -> None:
    """The user breaks off before they are asked, and the agent tells of that or does not."""
    hooks = Hooks()
    for name in ("c1", "c2"):
        assert hooks.tell("call", name, FETCH) == "ask"
        if name == "c1" and stopped:
            hooks.tell(*STOP)
    hooks.tell("shown", None, FETCH)
    assert hooks.tell("result", "c2", FETCH, output="docs") == "allow"
    assert ("yes", "user-of-claude-code") in hooks.answers
