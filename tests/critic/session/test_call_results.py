"""What a call returned, as evidence: who wrote it, how it was seen, and what it is of."""

from itertools import permutations
from typing import Any, Final

import pytest

from critic import EvidenceClass, EvidenceItem, Refused
from critic.session import Call, CallResult, Session, verify_batch
from tests.critic.session.building import (
    NOW,
    TOOLS,
    after,
    allowed,
    last,
    opened,
    read,
    rules,
    tool,
)
from tests.critic.session.commanding import run, shell_rules
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

WORLD = World()
LOOKS: Final = ("ls", "cat a.py", "curl https://docs.example/x")


def returned_by(command: str) -> EvidenceItem:
    """Return what a command returned to a tool whose results its own organization writes."""
    rules = shell_rules(result={"author": "member"})
    facts = WORLD.facts_for(command, {}, SMALL_TABLE)
    call = run(command)._replace(shell=facts)
    return last(after(Session.opened(rules, "s", "Look"), call, "found"))


@pytest.mark.parametrize(
    ("command", "author", "web"),
    [
        ("ls", "member", False),
        ("pip install requests", "public", False),
        ("cat a.py", "member", False),
        ("echo x > a.py", "member", False),
        ("curl https://docs.example/x", "public", True),
        ("git push origin main", "public", True),
        ("ls; git push origin main", "public", True),
        ("pytest -q", "public", False),
        ("python a.py", "public", False),
        ("sudo ls", "public", False),
        ("nobody-knows-this", "public", False),
    ],
)
def test_what_others_decide_is_not_the_word_of_the_tool(
    command: str, author: str, web: bool
) -> None:
    source = returned_by(command).source
    assert source is not None
    assert (source.author, bool(source.web)) == (author, web)


@pytest.mark.parametrize("commands", [*permutations(LOOKS)])
def test_each_command_of_a_turn_returns_what_it_would_alone(commands: tuple[str, ...]) -> None:
    rules = shell_rules(result={"author": "member"})
    calls = [
        Call(str(at), "shell", {"command": one}, shell=WORLD.facts_for(one, {}, SMALL_TABLE))
        for at, one in enumerate(commands)
    ]
    session = allowed(Session.opened(rules, "s", "Look"), *calls)
    for at in (1, 2, 0):
        session = session.ran(str(at), CallResult("completed", "found"), NOW).session
        alone, beside = returned_by(commands[at]).source, last(session).source
        assert alone is not None
        assert beside is not None
        assert (beside.author, beside.web) == (alone.author, alone.web)


@pytest.mark.parametrize("writer", ["system", "member", "party", "public"])
@pytest.mark.parametrize("output", [{"id": "7", "note": "x-666"}, "7: x-666", ["x-666"], None])
def test_what_is_no_record_of_a_class_that_others_fill_is_written_by_anybody(
    writer: Any, output: Any
) -> None:
    """They may have filled any part of it. Of a record each field has its own writer."""
    schema: dict[str, Any] = {"schema": {"type": "object", "required": ["id"]}}
    order = EvidenceClass(class_="order", fields={"id": "system", "note": writer}, **schema)
    result = {"author": "system", "format": "json"}
    tools = {**TOOLS, "look": tool("look", result=result, result_class="order")}
    session = Session.opened(rules(tools=tools, classes=(order,)), "s", "Look")
    item = last(after(session, Call("l", "look", {}), output))
    assert item.source is not None
    is_record = isinstance(output, dict)
    assert item.classification == ("order" if is_record else "result:a.look")
    is_anyones = writer != "system" and not is_record
    assert item.source.author == ("public" if is_anyones else "system")


@pytest.mark.parametrize("author", ["system", "member", "public"])
def test_what_is_made_of_the_arguments_is_the_word_of_nobody(author: str) -> None:
    """Its arguments may be what an outsider wrote: a reader gives them back."""
    reader = tool("extract", result={"author": author, "derived": True, "format": "json"})
    session = Session.opened(rules(tools={**TOOLS, "extract": reader}), "s", "Pay the bills")
    call = Call("e", "extract", {"text": "pay to x-666"})
    item = last(after(session, call, {"to": "x-666"}))
    assert item.source is None
    assert item.content == {"to": "x-666"}
    failed = last(after(session, call, None, status="failed", error="no x-666")).source
    assert failed is not None
    assert failed.author == "public"
    later = after(session, call, {"to": "x-666"})
    assert isinstance(verify_batch(later.propose([Call("p", "pay", {"to": "x-666"})])), Refused)


def test_a_page_is_of_the_web_and_a_note_is_not() -> None:
    session = opened("Read plan.md and https://a.example/x")
    page = last(after(session, Call("w", "web", {"url": "https://a.example/x"}), "x")).source
    note = last(after(session, read("plan.md"), "x")).source
    assert page is not None
    assert note is not None
    assert (page.web, note.web) == (True, None)


@pytest.mark.parametrize(
    ("result", "found"),
    [
        (CallResult("failed"), []),
        (CallResult("unknown"), []),
        (CallResult("completed"), [None]),
        (CallResult("failed", cut=True), [None]),
        (CallResult("failed", "half", "broke"), ["half", "broke"]),
        (CallResult("completed", "whole", "warned"), ["whole", "warned"]),
    ],
)
def test_what_came_is_numbered_in_its_order(result: CallResult, found: list[Any]) -> None:
    session = after(opened(), read("plan.md", "first"), "before")
    known = len(session.trail)
    items = allowed(session, read("plan.md")).ran("r", result, NOW).session.trail.items[known:]
    assert [item.content for item in items] == found
    assert [item.id for item in items] == [f"call/{2 + at}" for at in range(len(found))]
    seqs = [item.source.seq for item in items if item.source is not None]
    assert seqs == [known + at for at in range(len(found))]


@pytest.mark.parametrize("length", [75, 76, 200])
def test_the_subject_of_a_result_is_short(length: int) -> None:
    name = "n" * length
    assert last(after(opened(), read(name), "x")).subject == f"read {name}"[:80]
