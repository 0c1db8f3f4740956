"""Documents to start a test from: the refund example, read anew each time, so it can be changed."""

import json

import pytest

from critic import Proposal, Run
from evals.envelope import Envelope
from harness.wire import InvalidInput, build
from tests.support.model.facts import Json
from tests.support.paths import ROOT

REFUND = ROOT / "fixtures" / "refund"
PLAN_A, PLAN_B, PLAN_B_RUN = (
    REFUND / name for name in ("plan_a.json", "plan_b.json", "plan_b_run.json")
)

HOSTILE = "\x1b[31mred\x1b]52;c;x\x07\r\n<b>&'\"`\u202e\x9b2J\x7f\u2028"
"""Terminal escapes, line breaks, HTML, quotes, and marks that turn the writing round."""


def refused_proposal() -> Json:
    """Plan A: the refund without evidence."""
    wire: Json = json.loads(PLAN_A.read_bytes())
    return wire


def good_proposal() -> Json:
    """Plan B: the refund with evidence."""
    wire: Json = json.loads(PLAN_B.read_bytes())
    return wire


def long_proposal(tools: int, items: int) -> Proposal:
    """Return plan B in a context with that many tools and pieces of evidence."""
    wire = good_proposal()
    manifests = wire["compiled"]["manifests"]
    own_tools, own_items = manifests["tool_manifest"], manifests["evidence_manifest"]
    own_tools += [
        {"adapter_id": "adp_more", "capability_id": f"read_{number}", "approval_mode": "read_only"}
        for number in range(tools - len(own_tools))
    ]
    own_items += [
        {"id": f"more:{number}", "classification": "note", "content": {"number": number}}
        for number in range(items - len(own_items))
    ]
    return proposal_of(wire)


def good_run() -> Json:
    """Return a run of plan B that carries it out."""
    wire: Json = json.loads(PLAN_B_RUN.read_bytes())
    return wire


def proposal_of(wire: Json) -> Proposal:
    return build(Proposal, wire)


def run_of(wire: Json) -> Run:
    return build(Run, wire)


def refused_at(model: type[Envelope], value: object) -> InvalidInput:
    """Return the one error that keeps the value from becoming this envelope."""
    with pytest.raises(InvalidInput) as caught:
        build(model, value)
    return caught.value


def is_safe(text: str) -> bool:
    """Return whether it is one line of ASCII (or our dash) without terminal codes or HTML."""
    plain = text.replace("\u2014", "")
    return plain.isascii() and text.isprintable() and not set(text) & set("<&")
