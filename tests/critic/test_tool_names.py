"""Provenance knows a tool by the pair of its ids, and a value by every role that it has."""

from typing import Any, Final

import pytest

from critic import Refused, Verified, verify_proposal
from tests.support.examples import proposal_of
from tests.support.model.facts import Json

TOOL: Final = {"adapter_id": "shop.eu", "capability_id": "pay"}
NAMESAKE: Final = {"adapter_id": "shop", "capability_id": "eu.pay"}
REQUEST: Final = "to UK12BARC34567890"


def judged(*, ctx: Json | None = None, args: Json | None = None, **tool: Any) -> Verified | Refused:
    """Return the verdict on one call, for a request that names the account."""
    capability = {**TOOL, "approval_mode": "delegated", "arg_roles": {"to": "recipient"}, **tool}
    request = {
        "id": "user/1",
        "classification": "request",
        "content": REQUEST,
        "source": {"author": "user", "standing": "named"},
    }
    manifests = {"tool_manifest": [capability], "evidence_manifest": [request]}
    step = {"kind": "tool", **TOOL, "args": args or {"to": "UK12BARC34567890"}}
    proposal: Json = {
        "ctx": {"trace_id": "t", "safety_mode": "delegated", **(ctx or {})},
        "compiled": {"manifests": manifests},
        "spec": {"id": "d", "required_outputs": [], "provenance": "closed"},
        "plan": {"steps": [step], "declared_outputs": []},
    }
    return verify_proposal(proposal_of(proposal))


def test_the_scope_names_pairs() -> None:
    assert judged(ctx={"scope": [TOOL]}).ok
    assert not judged(ctx={"scope": [NAMESAKE]}).ok


def test_a_tool_follows_a_pair() -> None:
    for ran, follows in ((TOOL, True), (NAMESAKE, False)):
        ctx = {"session": {"id": "s", "turn": 1, "ran": [ran]}}
        assert judged(ctx=ctx, follows=[TOOL]).ok is follows


@pytest.mark.parametrize("first", ["to", "/to"])
@pytest.mark.parametrize("strict", ["secret", "recipient"])
def test_two_roles_of_one_place_are_both_judged(first: str, strict: str) -> None:
    second = "/to" if first == "to" else "to"
    ctx, args = {"scope": [TOOL]}, {"to": "zeta-9914"}
    for roles in ({first: "attribute", second: strict}, {first: strict, second: "attribute"}):
        assert not judged(ctx=ctx, args=args, arg_roles=roles).ok
    assert judged(ctx=ctx, args=args, arg_roles={first: "attribute", second: "attribute"}).ok
