"""Whatever an agent sends, the answer is in words that it understands, and leaves nothing open."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.harness.console import Critic
from tests.harness.integrations.hooks.agents import AGENTS, Agent
from tests.support.examples import is_safe

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
a_fixture_for_all = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)


def events(agent: Agent) -> list[dict[str, Any]]:
    return [
        agent.prompt("Tidy up."),
        *(agent.call(tool, "c1") for tool in (agent.read, agent.foreign, agent.shell)),
        agent.result(agent.read, "c1", "text"),
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
@a_fixture_for_all
@given(data=st.data())
def test_an_event_with_any_value_in_the_place_of_another_is_answered(
    agent: Agent, critic: Critic, tmp_path: Path, data: st.DataObject
) -> None:
    event = dict(data.draw(st.sampled_from(events(agent))))
    member = data.draw(st.sampled_from([*event, "more"]))
    odd = data.draw(JSON_VALUES)
    said = critic(*agent.options(tmp_path), stdin=json.dumps({**event, member: odd}).encode())
    decided = agent.reads(said)
    assert decided in ("allow", "ask", "deny", "silence")
    if event == agent.call(agent.foreign, "c1") and member not in ("tool_name", "hook_event_name"):
        assert decided == "deny"
    assert said.out.isascii()
    assert is_safe(said.err.removesuffix("\n"))
    assert said.out.count("\n") <= 1


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
@a_fixture_for_all
@given(data=st.binary(max_size=60))
def test_any_bytes_block(agent: Agent, critic: Critic, tmp_path: Path, data: bytes) -> None:
    assert agent.decided(critic, tmp_path, data) == "deny"


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
@a_fixture_for_all
@given(data=st.data())
def test_a_cut_event_blocks(
    agent: Agent, critic: Critic, tmp_path: Path, data: st.DataObject
) -> None:
    whole = json.dumps(agent.call(agent.read, "c1")).encode()
    size = data.draw(st.integers(0, len(whole) - 1))
    assert agent.decided(critic, tmp_path, whole[:size]) == "deny"
