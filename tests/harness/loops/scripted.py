"""Agents that follow a script, and the cases of `fixtures/loops.jsonl`."""

import json
from collections.abc import AsyncGenerator, Sequence
from typing import Any, NamedTuple

import pytest

from harness.loops.agents.agent import AgentResult, Event
from harness.loops.agents.usage import UNLIMITED, Budget, Usage
from tests.support.paths import ROOT

CASES = ROOT / "fixtures" / "loops.jsonl"


class Call(NamedTuple):
    session_id: str
    prompt: str
    budget: Budget
    text_only: bool


class Scripted:
    """Replies in order. `raise` raises, `interrupt` gives up half way, `hang` never replies."""

    def __init__(
        self, *replies: str, name: str = "scripted", tokens: int = 10, cost: int | None = 2
    ) -> None:
        self.name = name
        self.replies: Sequence[str] = replies
        self.calls: list[Call] = []
        self.closed = 0
        money = {} if cost is None else {"cost_micros": cost}
        self.usage = Usage(tokens_in=tokens - 1, tokens_out=1, **money)

    async def stream(
        self,
        prompt: str,
        *,
        session_id: str,
        budget: Budget = UNLIMITED,
        text_only: bool = False,
    ) -> AsyncGenerator[Event, None]:
        self.calls.append(Call(session_id, prompt, budget, text_only))
        reply = self.replies[len(self.calls) - 1]
        try:
            yield Event(kind="started", session_id=session_id)
            yield Event(kind="model_chunk", session_id=session_id, data={"text": reply})
            if reply == "raise":
                raise RuntimeError("it broke")
            yield Event(kind="completed", session_id=session_id, result=self.result(reply))
        finally:
            self.closed += 1

    def result(self, reply: str) -> AgentResult:
        if reply != "interrupt":
            return AgentResult(output=reply, usage=self.usage)
        return AgentResult(
            output="half", usage=self.usage, interrupted=True, interruption_reason="max_turns"
        )

    @property
    def sessions(self) -> list[str]:
        return [call.session_id for call in self.calls]


def verdict(score: float, *issues: str) -> str:
    """Return a reply of a critic."""
    return json.dumps({"issues": issues, "score": score})


def cases(kind: str) -> list[Any]:
    """Return the cases of one kind, by their ids."""
    lines = CASES.read_text("utf-8").splitlines()
    found: list[dict[str, Any]] = [case for case in map(json.loads, lines) if case["kind"] == kind]
    assert found
    return [pytest.param(case, id=case["id"]) for case in found]
