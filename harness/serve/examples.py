"""What the OpenAPI document shows: one request for each endpoint, as it can be sent."""

from collections.abc import Mapping
from typing import Any, Final

from critic import Proposal, verify_proposal
from harness.cases import ConsolidateInput
from harness.wire import build

Json = dict[str, Any]

_TOOL: Final[Json] = {
    "adapter_id": "mail",
    "capability_id": "send_mail",
    "approval_mode": "network",
    "args_schema": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
        "required": ["to", "text"],
        "additionalProperties": False,
    },
    "requires_evidence": ["consent"],
}
_CONSENT: Final[Json] = {"id": "consent/17", "classification": "consent"}
_STEP: Final[Json] = {
    "kind": "tool",
    "adapter_id": "mail",
    "capability_id": "send_mail",
    "args": {"to": "ada@example.org", "text": "Your parcel has arrived."},
}


def _proposal(*refs: str) -> Json:
    pinned = {"evidence_refs": list(refs)} if refs else {}
    return {
        "ctx": {"trace_id": "t1", "safety_mode": "network"},
        "compiled": {"manifests": {"tool_manifest": [_TOOL], "evidence_manifest": [_CONSENT]}},
        "spec": {"id": "notify", "required_outputs": []},
        "plan": {"steps": [{**_STEP, **pinned}], "declared_outputs": []},
    }


_GOOD, _UNBACKED = _proposal("consent/17"), _proposal()


def _run() -> Json:
    names = ("adapter_id", "capability_id", "args")
    call = {"step": 0, **{name: _STEP[name] for name in names}, "status": "completed"}
    return {"run_id": "r1", "trace_id": "t1", "proposal": _GOOD, "calls": [call], "outputs": {}}


def _verdicts() -> Json:
    verdict = verify_proposal(build(Proposal, _UNBACKED))
    given = {
        "trace_id": "t1",
        "decision_key": "notify",
        "verify": verdict.wire(),
        "decided_at": "2026-05-09T12:00:00Z",
    }
    return build(ConsolidateInput, given).wire()


_USER: Final = {"type": "identity", "id": "ada@example.org"}
_MAIL: Final = {
    "type": "tool",
    "id": "send_mail",
    "properties": {"arguments": _STEP["args"]},
}
_CALL: Final = {"name": "tools/call"}


def request_examples() -> Mapping[str, Mapping[str, Json]]:
    """Return requests by path and by what they show."""
    question = {"subject": _USER, "action": _CALL, "resource": _MAIL}
    batch = {"subject": _USER, "action": _CALL, "evaluations": [{"resource": _MAIL}]}
    calls = [{"id": "c1", "tool": "read_file", "args": {"path": "bill.txt"}}]
    return {
        "/v1/verify": {"backed by evidence": _GOOD, "refused": _UNBACKED},
        "/v1/score": {"a run": _run()},
        "/v1/consolidate": {"a refusal": _verdicts()},
        "/v1/sessions/{session}/events": {
            "open": {"event": "open", "session": "s1", "request": "Pay the bill in bill.txt"},
            "calls": {"event": "calls", "session": "s1", "calls": calls},
            "close": {"event": "close", "session": "s1"},
        },
        "/access/v1/evaluation": {"a call of a tool": question},
        "/access/v1/evaluations": {
            "each alone": batch,
            "a plan": {**batch, "options": {"evaluations_semantic": "deny_on_first_deny"}},
        },
        "/v1/data/critic/verify": {"a plan": {"input": _GOOD}},
        "/v1/data/critic/verify/ok": {"a plan": {"input": _UNBACKED}},
        "/v1/data/critic/score": {"a run": {"input": _run()}},
        "/v1/data/critic/score/ok": {"a run": {"input": _run()}},
        "/v1/batch/data/critic/verify": {"two plans": {"inputs": {"a": _GOOD, "b": _UNBACKED}}},
        "/v1/batch/data/critic/verify/ok": {"a plan": {"inputs": {"a": _GOOD}}},
        "/v1/batch/data/critic/score": {"a run": {"inputs": {"a": _run()}}},
        "/v1/batch/data/critic/score/ok": {"a run": {"inputs": {"a": _run()}}},
    }
