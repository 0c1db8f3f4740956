"""A session costs what is new: its log stays within three times the bytes of its events."""

import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from critic import Proposal, Run
from harness.log import SqlDecisionLog
from harness.record import Begun
from harness.replay import check_log, replay
from harness.wire import build
from tests.harness.log.decisions import NOON, judged

TURNS, RESULT = 200, 10_000


def _text(chance: random.Random, size: int) -> str:
    return "".join(chance.choices("abcdefghijklmnopqrstuvwxyz     ", k=size))


def _result(chance: random.Random, turn: int) -> dict[str, Any]:
    """Return the result of a call: a list of records, a long text, or both; some 10 kB."""
    rows = [
        {"id": f"m_{turn}_{n}", "sender": "emma@example.com", "body": _text(chance, 400)}
        for n in range(RESULT // 460 if turn % 2 else 2)
    ]
    return {"rows": rows, "text": _text(chance, 0 if turn % 2 else RESULT - 300)}


def _turn(number: int, evidence: list[Any], ran: list[Any]) -> Proposal:
    call = {"adapter_id": "mail", "capability_id": "read"}
    tools = [
        {**call, "approval_mode": "read_only", "args_schema": {"type": "object"}},
        {"adapter_id": "mail", "capability_id": "send", "approval_mode": "network"},
    ]
    value = {
        "ctx": {
            "trace_id": "s_1",
            "safety_mode": "network",
            "run_budget": {"max_steps": 1000, "bucket_tokens": 1_000_000},
            "spent": {"steps": number, "tokens": 0, "calls": ran},
            "session": {"id": "s_1", "turn": number + 1},
        },
        "compiled": {"manifests": {"tool_manifest": tools, "evidence_manifest": evidence}},
        "spec": {"id": "mail", "required_outputs": []},
        "plan": {
            "steps": [{"kind": "tool", **call, "args": {"box": f"inbox {number}"}}],
            "declared_outputs": [],
            "plan_id": f"turn_{number}",
        },
    }
    return build(Proposal, value)


def _run(proposal: Proposal, output: Any) -> Run:
    (step,) = proposal.wire()["plan"]["steps"]
    call = {name: step[name] for name in ("adapter_id", "capability_id", "args")}
    calls = [{**call, "step": 0, "status": "completed", "output": output, "tokens": 9}]
    return Run(run_id="s_1", trace_id="s_1", proposal=proposal, calls=calls, outputs={})  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.slow
def test_a_session_takes_at_most_three_times_the_bytes_of_its_events(tmp_path: Path) -> None:
    path, chance = tmp_path / "log", random.Random(1)  # noqa: S311 - texts, not secrets
    events, evidence, ran = 0, list[Any](), list[Any]()
    with SqlDecisionLog.open(path) as log:
        for number in range(TURNS):
            output = _result(chance, number)
            proposal = _turn(number, evidence, ran)
            begun = log.begin(Begun(proposal=proposal, begun_at=NOON))
            log.append(judged(proposal, _run(proposal, output), begun=begun.hash))
            call = {"id": f"c_{number}", "tool": "read", "args": {"box": f"inbox {number}"}}
            events += len(orjson.dumps({"event": "calls", "session": "s_1", "calls": [call]}))
            events += len(
                orjson.dumps(
                    {"event": "result", "session": "s_1", "id": f"c_{number}", "output": output}
                )
            )
            source = {"author": "member", "standing": "ambient"}
            item = {"id": f"call/{number}", "classification": "result:mail.read"}
            evidence.append({**item, "content": output, "source": source})
            named = {"adapter_id": "mail", "capability_id": "read"}
            ran.append({**named, "args_digest": f"{number:064x}", "id": f"c_{number}"})
    assert events > TURNS * RESULT
    assert path.stat().st_size <= 3 * events, (path.stat().st_size, events)
    with SqlDecisionLog.open_for_reading(path) as log:
        assert check_log(log).text() == ""
        assert sum(1 for answer in replay(log, judge=False) if answer) == 2 * TURNS
