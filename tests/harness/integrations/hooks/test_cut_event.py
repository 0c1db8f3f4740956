"""The end of a call is taken in, whatever it returned: what cannot be read contests."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.integrations.hooks.cut_event import CutEvent, cut_event
from harness.wire import MAX_DOCUMENT_BYTES
from tests.harness.console import Critic
from tests.harness.integrations.hooks.agents import AGENTS, Agent

UNREADABLE = ["NaN", '{"a":1,"a":2}', '"\\ud800"', "[" * 300 + "]" * 300, "[1,]", "01", "", "tru"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\\\{}[],:\\n\\u00e9', max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
MEMBERS = st.dictionaries(st.text('ab"\\\\{,', max_size=4), VALUES, max_size=4)


@given(MEMBERS, st.lists(st.sampled_from(UNREADABLE), max_size=2), st.booleans(), st.randoms())
def test_each_member_is_read_or_named(
    members: dict[str, Any], others: list[str], spaced: bool, order: Any
) -> None:
    indent = 1 if spaced else None
    written = [f"{json.dumps(name)}:{json.dumps(members[name], indent=indent)}" for name in members]
    written += [f'"odd {at}" : {text}' for at, text in enumerate(others)]
    order.shuffle(written)
    found = cut_event(f" {{{' , '.join(written)}}} ".encode())
    if not written:
        assert found is None
    else:
        assert found == CutEvent(members, frozenset(f"odd {at}" for at in range(len(others))))


@pytest.mark.parametrize(
    "data",
    [
        *("", "{}", "[1]", "7", "{", '{"a":1', '{"a":1}}', '{"a":1} {"b":2}', 'x{"a":1}'),
        *('{"a":1]', '["a":1}', '{"a":1,"a":2}', '{"a":1,"a":NaN}', '{"a":NaN,"a":1}', "{1:2}"),
        *('{"a":1,}', '{"a" 1}', '{"a":"x}', '{"\\ud800":1}', '}{"a":1}', "{,}"),
    ],
)
def test_what_is_no_object_is_not_read(data: str) -> None:
    assert cut_event(data.encode()) is None


def cut_in(event: dict[str, Any], text: str) -> bytes:
    """Return the event of a call that ended, with a text in the place of what it returned."""
    name = next(one for one in ("tool_response", "result_json", "tool_output") if one in event)
    return json.dumps({**event, name: "<here>"}).replace('"<here>"', text).encode()


def is_cut_in(folder: Path) -> bool:
    """Return whether a session that is stored there has seen a cut item."""
    stored = b"".join(one.read_bytes() for one in folder.rglob("*") if one.is_file())
    return b'"cut":true' in stored


@pytest.mark.one_in(4)
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
@pytest.mark.parametrize("text", ["NaN", '{"a":1,"a":2}', "[" * 300 + "]" * 300])
def test_a_call_whose_result_cannot_be_read_has_ended(
    agent: Agent, text: str, critic: Critic, tmp_path: Path
) -> None:
    agent.decided(critic, tmp_path, agent.prompt("Tidy up notes.txt."))
    assert agent.decided(critic, tmp_path, agent.call(agent.read, "c1")) in ("allow", "silence")
    ended = cut_in(agent.result(agent.read, "c1", "text"), text)
    said = critic(*agent.options(tmp_path), stdin=ended)
    assert agent.reads(said) in ("allow", "silence"), said
    assert is_cut_in(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_call_whose_result_is_too_long_has_ended(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    agent.decided(critic, tmp_path, agent.prompt("Tidy up notes.txt."))
    agent.decided(critic, tmp_path, agent.call(agent.read, "c1"))
    text = json.dumps("word " * (MAX_DOCUMENT_BYTES // 5 + 1))
    ended = cut_in(agent.result(agent.read, "c1", "text"), text)
    assert agent.reads(critic(*agent.options(tmp_path), stdin=ended)) in ("allow", "silence")
    assert is_cut_in(tmp_path)


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_a_call_that_cannot_be_read_is_refused(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    agent.decided(critic, tmp_path, agent.prompt("Tidy up notes.txt."))
    asked = json.dumps({**agent.call(agent.read, "c1"), "odd": "<here>"})
    assert agent.decided(critic, tmp_path, asked.replace('"<here>"', "NaN").encode()) == "deny"
    assert not is_cut_in(tmp_path)


@pytest.mark.parametrize(
    "agent", [one for one in AGENTS if one.name != "gemini"], ids=lambda agent: agent.name
)  # Gemini CLI names no call: one with other arguments is none that was allowed
def test_the_result_of_another_call_than_was_allowed_is_cut(
    agent: Agent, critic: Critic, tmp_path: Path
) -> None:
    agent.decided(critic, tmp_path, agent.prompt("Tidy up notes.txt."))
    agent.decided(critic, tmp_path, agent.call(agent.read, "c1"))
    changed = agent.read._replace(args={"file_path": "/etc/shadow"})
    assert agent.decided(critic, tmp_path, agent.result(changed, "c1", "x")) == "deny"
    assert is_cut_in(tmp_path)
