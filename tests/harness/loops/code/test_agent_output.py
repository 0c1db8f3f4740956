"""What agents print: replies, usage, last words."""

import json
from typing import Any

import pytest

from harness.loops.code.agent_output import AgentReply, failure_text, last_words, read_reply
from harness.loops.code.session_lines import AgentRun
from tests.support.examples import HOSTILE, is_safe


def result(**fields: Any) -> str:
    return json.dumps({"type": "result", "result": "hello", **fields}) + "\n"


USAGE = {"input_tokens": 3, "output_tokens": 5, "cache_read_input_tokens": 100, "service": "x"}


def test_a_result_object_gives_its_text_and_its_usage() -> None:
    reply = read_reply(result(usage=USAGE, total_cost_usd=0.0123, session_id="x"))
    assert reply == AgentReply("hello", tokens=108, cost_micros=12300)


@pytest.mark.parametrize(
    "stdout",
    [
        "",
        "plain text",
        '{"type":"result"}',
        '{"result":"hello"}',
        '{"type":"result","result":["hello"]}',
        '{"type":"result","result":"hello","result":"bye"}',
        result() + result(),
        "first\n" + result(),
        result(is_error=True),
        "[1]",
    ],
)
def test_any_other_output_is_the_reply_itself(stdout: str) -> None:
    assert read_reply(stdout) == AgentReply(stdout)


@pytest.mark.parametrize("tokens", [-1, True, 1.5, "3", None, [3]])
def test_usage_that_is_not_a_count_is_not_measured(tokens: object) -> None:
    assert read_reply(result(usage={"input_tokens": tokens, "output_tokens": 1})).tokens is None


@pytest.mark.parametrize("cost", [-1, True, "3", None, [3]])
def test_a_cost_that_is_not_an_amount_is_not_measured(cost: object) -> None:
    assert read_reply(result(total_cost_usd=cost)).cost_micros is None


@pytest.mark.parametrize("cost", [1e308, 2**53, 10**15])
def test_a_huge_cost_stops_at_the_largest_exact_integer(cost: float) -> None:
    assert read_reply(result(total_cost_usd=cost)).cost_micros == 2**53 - 1


def run(**fields: Any) -> AgentRun:
    return AgentRun(**{"exit_code": 1, "duration_ms": 1, "stdout": "", "stderr": "", **fields})


def test_last_words_are_those_of_stderr_else_of_stdout_else_none() -> None:
    assert last_words(run(stderr="a\n\nb\n c \nd\n", stdout="x")) == "b | c | d"
    assert last_words(run(stderr=" \n", stdout="Please run /login\n")) == "Please run /login"
    assert last_words(run(stdout=result())) == "hello"
    assert failure_text(run()) == "exited with 1"
    assert failure_text(run(stderr="no login")) == "exited with 1: no login"
    assert failure_text(run(exit_code=0, stderr="a warning")) == "exited with 0"


@pytest.mark.parametrize("text", [HOSTILE, "x" * 1_000_000, "\n".join(["y" * 999] * 999)])
def test_last_words_are_one_short_safe_line(text: str) -> None:
    words = last_words(run(stderr=text))
    assert words
    assert is_safe(words)
    assert len(words) < 6 * 310
