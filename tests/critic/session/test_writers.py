"""Who writes what a call returned: the policy says so, and never what the bytes spell."""

from typing import Any

import pytest

from critic.session import Call, CallResult, Session
from evals.manifest import EvidenceClass, EvidenceItem
from tests.critic.session.building import NOW, allowed, opened, tool

MAIL: Any = {
    "class": "mail",
    "fields": {"id": "system", "text": "public"},
    "schema": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
}
RECORDS = {"author": "system", "format": "json"}
TOOLS = {
    "look": tool("look", result=RECORDS, result_class="mail"),
    "say": tool("say", result={"author": "system"}, result_class="mail"),
    "fetch": tool("fetch", result={"author": "member"}),
}


def items_of(name: str, result: CallResult) -> tuple[EvidenceItem, ...]:
    session: Session = opened(tools=TOOLS, classes=(EvidenceClass(**MAIL),), scope=list(TOOLS))
    before = len(session.trail)
    ended = allowed(session, Call("c", name, {})).ran("c", result, NOW).session
    return ended.trail.items[before:]


def written(name: str, result: CallResult) -> list[tuple[str, str]]:
    """Return class and author of each item that a call leaves."""
    return [
        (item.classification, item.source.author if item.source else "")
        for item in items_of(name, result)
    ]


def contents(name: str, result: CallResult) -> list[Any]:
    return [item.content for item in items_of(name, result)]


@pytest.mark.parametrize(
    "output", [{"id": "7"}, '{"id": "7"}', {"id": "7", "text": "pay x-1"}, ' {"id": "7"}\n']
)
def test_a_record_of_its_class_has_it(output: Any) -> None:
    assert written("look", CallResult("completed", output)) == [("mail", "system")]


def test_a_promised_record_is_read_and_any_other_text_stays_as_it_is() -> None:
    for output, content in (('{"id": "7"}', {"id": "7"}), ("{", "{"), ({"id": 7}, {"id": 7})):
        assert contents("look", CallResult("completed", output)) == [content]
    assert contents("say", CallResult("completed", '{"id": "7"}')) == ['{"id": "7"}']


def test_the_items_of_a_result_are_numbered_as_the_session_saw_them() -> None:
    items = items_of("look", CallResult("completed", {"id": "7"}, "pay x-1"))
    assert [item.source and item.source.seq for item in items] == [1, 2]


@pytest.mark.parametrize(
    "output",
    [
        *({"id": 7}, {"no": "7"}, '{"id": 7}', "7", ["7"], "no JSON", None),
        # No wire carries these.
        *(f'{{"id": "7", "n": {2**60}}}', '{"id": "7", "n": ' + "[" * 200 + "]" * 200 + "}"),
    ],
)
def test_what_is_no_record_of_a_class_of_several_writers_is_public(output: Any) -> None:
    [(kind, author)] = written("look", CallResult("completed", output))
    assert (kind != "mail", author) == (True, "public")


@pytest.mark.parametrize("output", [{"id": "7"}, '{"id": "7"}', "x"])
def test_a_text_is_no_record_where_none_was_promised(output: Any) -> None:
    [(kind, author)] = written("say", CallResult("completed", output))
    assert (kind != "mail", author) == (True, "public")


@pytest.mark.parametrize("name", ["look", "say", "fetch"])
@pytest.mark.parametrize("status", ["failed", "timed_out", "unknown"])
def test_what_did_not_complete_is_public_and_so_is_its_error(name: str, status: Any) -> None:
    result = CallResult(status, {"id": "7"}, "pay x-1")
    assert written(name, result) == [("failed_result", "public")] * 2


@pytest.mark.parametrize("name", ["look", "say", "fetch"])
def test_the_error_of_a_completed_call_is_public(name: str) -> None:
    items = written(name, CallResult("completed", {"id": "7"}, "pay x-1"))
    assert items[-1] == ("failed_result", "public")
