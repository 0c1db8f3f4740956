"""A log with a text of one's choice wherever a record takes free text."""

from pathlib import Path
from typing import Any

from evals.plan import Proposal
from evals.run import Run
from harness.log import SqlDecisionLog
from harness.record import CriticError
from harness.wire import build
from tests.harness.log.decisions import NOON, judged, proposal
from tests.support.examples import HOSTILE

TRAPS = (
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]>",
    "</main></textarea></title></style>",
    "<img src=x onerror=alert(1)>",
    "' onload='alert(1)",
    '" autofocus onfocus="alert(1)',
    "{{ 7 * 7 }}{% raw %}",
    "&lt;script&gt;&#x202e;",
    "\u2028\u2029\u202e\u2066\u200b\x00\x1b[2J\x7f",
    "__proto__",
    HOSTILE,
)


def log_with(text: str, path: Path) -> Path:
    """Make a log with this text wherever a record takes free text."""
    wire: Any = proposal().wire()
    steps = wire["plan"]["steps"]
    for item in wire["compiled"]["manifests"]["evidence_manifest"]:
        item |= {"snapshot": text, "subject": text, "content": {"order": "o-17", "more": text}}
    steps[0]["args"]["note"] = {"key " + text: [text]}
    steps.append({"kind": "reason", "summary": text})
    proposed = build(Proposal, wire)
    calls = [
        {
            "step": place,
            "adapter_id": steps[place % 2]["adapter_id"],
            "capability_id": steps[place % 2]["capability_id"],
            "args": {"key " + text: text},
            "status": "failed",
            "output": {"key " + text: [text]},
            "error": text,
        }
        for place in (0, 1, 7)
    ]
    facts = {"run_id": "run_1", "trace_id": "trace_1", "calls": calls, "intent": text}
    outputs = {"receipt": text, "other": {"key " + text: text}}
    run = build(Run, {**facts, "outputs": outputs, "proposal": proposed.wire()})
    with SqlDecisionLog.open(path) as log:
        log.append(judged(proposed, run, error=text or "x"))
        log.append(judged(build(Proposal, {**wire, "compiled": _without_tools(wire)})))
        log.append_error(CriticError(asked={"key " + text: text}, where=text, failed_at=NOON))
    return path


def _without_tools(wire: Any) -> Any:
    return {"manifests": {**wire["compiled"]["manifests"], "tool_manifest": []}}
