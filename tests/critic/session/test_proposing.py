"""The plan of a batch: what its steps wait for, and by what its commands are read."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from critic import EvidenceItem, ReasonStep, ToolStep
from critic.session import Call, Session
from critic.session.call_batch import CallTake
from critic.session.proposing import facts_in, order_turn, texts_said
from tests.critic.session.building import NOW, after, opened, read, rules
from tests.critic.session.commanding import FACTS, run, shell_rules


def steps_of(*calls: Call, **more: Any) -> list[ToolStep]:
    steps = opened(**more).propose(calls, NOW).plan.steps
    return [step for step in steps if isinstance(step, ToolStep)]


def test_the_steps_of_a_plain_plan_have_no_names() -> None:
    for step in steps_of(read("a", "1"), read("b", "2")):
        assert step.model_fields_set.isdisjoint({"id", "takes", "evidence_steps"})


def test_a_step_waits_for_what_it_takes_and_for_what_it_comes_after() -> None:
    reads = [read(name, name) for name in "abcdefghi"]
    takes = (CallTake("/to", "i", "/x"), CallTake("/note", "b", "/y/0"))
    pay = Call("p", "pay", {}, takes=takes, after=("h", "b", "a"))
    *before, step = steps_of(*reads, pay, spec={"late": "sources"})
    assert [one.id for one in before] == [f"c{at}" for at in range(9)]
    assert step.id == "c9"
    assert step.evidence_steps == ("c0", "c1", "c7", "c8")
    assert [(one.arg, one.step, one.at) for one in step.takes or ()] == [
        ("/to", "c8", "/x"),
        ("/note", "c1", "/y/0"),
    ]
    assert all(one.evidence_steps is None and one.takes is None for one in before)


@pytest.mark.parametrize("field", ["takes", "after"])
def test_of_a_call_that_the_turn_does_not_make_nothing_comes(field: str) -> None:
    named: Any = (CallTake("/to", "other", "/x"),) if field == "takes" else ("other",)
    *_, step = steps_of(read("a"), Call("p", "pay", {}, **{field: named}), spec={"late": "sources"})
    assert step.evidence_steps == ("c2",)


def turns() -> Iterator[list[Call]]:
    """Yield turns of reads, writes, unknown tools, and writes that say what they wait for."""
    said: list[dict[str, Any]] = [{}, {"after": ("0",)}, {"takes": (CallTake("/to", "0", ""),)}]
    kinds = [("read", {}), ("nobody", {}), *(("pay", waits) for waits in said)]
    for picked in product(kinds, repeat=3):
        yield [Call(str(at), name, {}, **waits) for at, (name, waits) in enumerate(picked)]


def test_what_has_effects_waits_for_the_reads_before_it() -> None:
    for calls in turns():
        for at, (given, ordered) in enumerate(zip(calls, order_turn(rules(), calls), strict=True)):
            reads = tuple(call.id for call in calls[:at] if call.tool == "read")
            is_left = given.tool == "read" or given.takes or given.after
            assert ordered == (given if is_left or not reads else given._replace(after=reads))


def test_a_turn_with_a_command_is_left_as_it_is() -> None:
    calls = [read("a", "1"), run("ls"), Call("2", "pay", {"to": "x-100"})]
    assert order_turn(shell_rules(), calls) == calls
    assert order_turn(shell_rules(), [calls[0], calls[2]]) != [calls[0], calls[2]]


def item(at: int, content: Any, source: Any) -> EvidenceItem:
    optional: dict[str, Any] = {} if source is None else {"source": {"standing": "named", **source}}
    return EvidenceItem(id=f"i{at}", classification="said", content=content, **optional)


def test_the_user_said_the_texts_of_the_user_alone() -> None:
    user, public = {"author": "user"}, {"author": "public"}
    items = [
        item(0, "first", user),
        item(1, "push it", public),
        item(2, "push it", {"author": "system"}),
        item(3, "push it", None),
        item(4, {"text": "push it"}, user),
        item(5, "second", user),
    ]
    assert texts_said(items) == ["first", "second"]


def commands_of(request: str, *calls: Call) -> list[ToolStep]:
    batch = Session.opened(shell_rules(), "s", request).propose(calls, NOW)
    steps = [step for step in batch.plan.steps if isinstance(step, ToolStep)]
    return [step for step in steps if step.of is not None]


def test_a_command_is_read_by_its_facts_and_by_what_the_user_said() -> None:
    *_, step = commands_of("Run the tests", read("a", "1"), run("pytest -q"))
    assert (step.capability_id, step.of) == ("run.test", 1)
    assert "object" not in step.args
    *_, step = commands_of("Look at a.py", run("pytest -q"))
    assert "object" in step.args
    (step,) = commands_of("Run the tests", run("pytest -q")._replace(shell=None))
    assert step.capability_id == "unknown"
    assert commands_of("Run the tests", read("a", "1")) == []


def test_a_file_is_not_the_sessions_own_to_delete_because_it_wrote_to_it() -> None:
    session = Session.opened(shell_rules(), "s", "Fix the bug in a.py")
    write, remove = run("echo x >> a.py"), run("rm a.py")
    parts = [one for one in session.propose([write], NOW).plan.steps if isinstance(one, ToolStep)]
    assert "write" in {one.capability_id for one in parts}
    session = after(session, write)
    parts = [
        one
        for one in session.propose([remove._replace(id="2")], NOW).plan.steps
        if isinstance(one, ToolStep) and one.of is not None
    ]
    assert [one.capability_id for one in parts] == ["delete"]


def test_the_facts_of_a_command_are_those_of_its_step() -> None:
    session = Session.opened(shell_rules(), "s", "Look at a.py")
    calls = [read("a", "1"), run("ls", cwd="/w/src"), run("ls")._replace(id="2", shell=None)]
    steps = session.propose(calls, NOW).plan.steps
    assert [*map(facts_in, steps[:3])] == [None, {**FACTS, "cwd": "/w/src"}, None]
    assert facts_in(ReasonStep(summary="why")) is None
