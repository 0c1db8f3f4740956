"""Quotes are shown as quotes; what could control a terminal stays escaped."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import escape_text
from harness.loops.agents.agent import describe
from harness.replay.result import Difference
from harness.wire import InvalidInput, parse_json
from tests.harness.console import Critic
from tests.support.examples import HOSTILE, PLAN_B, is_safe

QUOTED = "O'Brien's \"new\".json"


@pytest.mark.parametrize(
    "command",
    [
        ("verify", QUOTED),
        ("run", PLAN_B, "--log", f"{QUOTED}/log"),
        ("replay", QUOTED),
        ("log", "list", QUOTED),
        ("loop", "task", "--actor", "true", "--critic", "true", "--dir", QUOTED),
        ("sessions", "show", QUOTED, "--sessions", "none"),
    ],
    ids=lambda command: " ".join(map(str, command[:2])),
)
def test_a_path_is_shown_as_it_was_typed(
    critic: Critic, command: tuple[str | Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = critic(*command)
    assert said.status == 2
    assert QUOTED in said.err


def test_a_key_that_appears_twice_is_quoted() -> None:
    with pytest.raises(InvalidInput, match='duplicate key "a" at line 1') as caught:
        parse_json(b'{"a":1,"a":2}')
    assert is_safe(str(caught.value))


def test_an_error_of_a_program_and_a_difference_keep_their_quotes() -> None:
    assert describe(ValueError("it's")) == "ValueError: it's"
    assert Difference(path="/a", recorded=["x"], derived="it's").line() == (
        '/a: recorded ["x"], derived it\'s'
    )


def test_an_internal_error_keeps_its_quotes(
    critic: Critic, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("it's")

    monkeypatch.setattr("harness.commands.schema.schema_command.run", broken)
    assert critic("schema").err == (
        'critic: internal error, treated as a refusal: KeyError: "it\'s"\n'
    )


@given(st.text(max_size=300) | st.just(HOSTILE * 30))
def test_a_message_is_one_safe_line_and_printable_ascii_is_unchanged(text: str) -> None:
    shown = escape_text(text)
    assert is_safe(shown)
    if len(text) <= 200 and is_safe(text):
        assert shown == text
    if len(text) > 200:
        assert shown.endswith(f"... ({len(text)} characters)")
