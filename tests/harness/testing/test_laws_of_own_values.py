"""The laws of evidence where the operator says a value that is the session's own.

What the operator says counts first, and only what is the session's own ties a call to the request.
So leaving the text out may ask where it was refused. It never allows, and only things that are
acted on are the session's own: no recipient is.
"""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Proposal, Refused, Verified, verify
from harness.testing._laws.authority_laws import no_clock_never_helps
from harness.testing._laws.law_context import LawBroken, LawContext, LawVerdict, Verify
from harness.testing._laws.provenance_laws import fewer_items_never_widen
from harness.wire import build
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json

Law = Any
EVERY = settings(max_examples=20, derandomize=True, database=None, deadline=None)
LAWS: tuple[Law, ...] = (fewer_items_never_widen, no_clock_never_helps)
OWN = [{"kind": "text", "value": "zeta-9914"}, {"kind": "note", "value": "corp.example/a"}]
SAYS = {"id": "operator/1", "classification": "r", "content": "see corp.example/a and zeta-9914"}


def case(role: str, value: str, mode: str, law: Law) -> Proposal:
    """Return a call of a tool that was not asked for, with a value that is the session's own.

    The law leaves out what the operator says, or the time without which it does not count.
    """
    expires = {"expires_at": "2026-06-01T10:00:00Z"} if law is no_clock_never_helps else {}
    source = {"author": "operator", "standing": "named"}
    said = {**SAYS, "source": source, **expires}
    asked = {"id": "user/1", "classification": "q", "content": "look at corp.example"}
    items = [said, {**asked, "source": {**source, "author": "user"}}]
    tool = {"adapter_id": "a", "capability_id": "send_note", "approval_mode": mode}
    kind = {"arg_kinds": {"x": "note"}} if value == "corp.example/a" else {}
    wire: Json = {
        "ctx": {
            "trace_id": "t",
            "safety_mode": "destructive",
            "as_of": "2026-05-09T10:00:00Z",
            "session": {"id": "s", "turn": 2, "own": OWN},
        },
        "compiled": {
            "manifests": {
                "tool_manifest": [{**tool, "arg_roles": {"x": role}, **kind}],
                "evidence_manifest": items,
            }
        },
        "spec": {"id": "d", "required_outputs": [], "provenance": "closed"},
        "plan": {
            "steps": [
                {
                    "kind": "tool",
                    **{name: tool[name] for name in ("adapter_id", "capability_id")},
                    "args": {"x": value},
                }
            ],
            "declared_outputs": [],
        },
    }
    return build(Proposal, wire)


def with_less(proposal: Proposal, law: Law) -> Proposal:
    wire = proposal.wire()
    if law is no_clock_never_helps:
        del wire["ctx"]["as_of"]
    else:
        del wire["compiled"]["manifests"]["evidence_manifest"][0]
    return build(Proposal, wire)


def check(law: Law, proposal: Proposal, judge: Verify) -> None:
    @EVERY
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        law(LawContext(proposal, data, judge))

    holds()


CASES = [
    ("object", "zeta-9914", "network", "ask"),
    ("object", "zeta-9914", "delegated", "ask"),
    ("object", "corp.example/a", "network", "ask"),
    ("object", "corp.example/a", "destructive", "ask"),
    ("code", "zeta-9914", "delegated", "refuse"),
    ("recipient", "zeta-9914", "network", "refuse"),
    ("recipient", "corp.example/a", "delegated", "refuse"),
]
ASKS = [one for one in CASES if one[3] == "ask"]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("role", "value", "mode", "then"), CASES)
def test_what_the_operator_says_hides_that_a_value_is_own(
    law: Law, role: str, value: str, mode: str, then: str
) -> None:
    proposal = case(role, value, mode, law)
    before, after = judge_proposal(proposal), judge_proposal(with_less(proposal, law))
    assert isinstance(before, Refused)
    assert not before.approvable
    assert ("allow" if after.ok else "ask" if after.approvable else "refuse") == then


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("role", "value", "mode", "then"), CASES)
def test_the_laws_hold_where_the_operator_hides_an_own_value(
    law: Law, role: str, value: str, mode: str, then: str
) -> None:
    check(law, case(role, value, mode, law), verify)


def allows_what_asks(*given: Any) -> LawVerdict:
    verdict = verify(*given)
    asks = isinstance(verdict, Refused) and verdict.approvable
    return Verified(reasons=("planted",)) if asks else verdict


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("role", "value", "mode", "then"), ASKS)
def test_a_judge_that_allows_it_then_breaks_the_laws(
    law: Law, role: str, value: str, mode: str, then: str
) -> None:
    with pytest.raises(LawBroken, match="widened"):
        check(law, case(role, value, mode, law), allows_what_asks)
