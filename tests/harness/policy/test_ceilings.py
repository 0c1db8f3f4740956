"""What a policy says of a context is a ceiling: a document may ask for less, never for more."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import Proposal, Verified, verify_proposal
from evals.kinds import MODE_RANK, MODES
from harness.policy.partial_documents import completed_proposal, completed_run
from harness.wire import InvalidInput, build
from tests.harness.serve.asking import app_of, ask
from tests.support.guarding import policy_of

LIMITS = {"max_steps": 3, "bucket_tokens": 100, "wall_ms": 50, "cost_micros": 7}
STEPS = {"max_steps": 2}


def _policy(mode: str, budget: dict[str, int] | None = None) -> dict[str, Any]:
    guard = {"safety_mode": mode, **({} if budget is None else {"budget": budget})}
    tools = [
        {"adapter_id": "a", "capability_id": tier, "approval_mode": tier, "min_tokens": 10}
        for tier in MODES
    ]
    return {"guard": guard, "spec": {"id": "s", "required_outputs": []}, "tool": tools}


def _document(tiers: list[str], ctx: dict[str, Any]) -> dict[str, Any]:
    steps = [
        {"kind": "tool", "adapter_id": "a", "capability_id": tier, "args": {"at": at}}
        for at, tier in enumerate(tiers)
    ]
    return {"ctx": {"trace_id": "t", **ctx}, "plan": {"steps": steps, "declared_outputs": []}}


def _passes(policy: dict[str, Any], document: dict[str, Any]) -> bool:
    try:
        proposal = build(Proposal, completed_proposal(policy_of(policy), document))
    except InvalidInput:
        return False
    return isinstance(verify_proposal(proposal), Verified)


_CTX = st.fixed_dictionaries(
    {},
    optional={
        "safety_mode": st.sampled_from(MODES),
        "run_budget": st.fixed_dictionaries(
            {},
            optional={name: st.integers(0, 2 * most) for name, most in LIMITS.items()},
        ),
    },
)
_BUDGETS = st.fixed_dictionaries(
    {}, optional={name: st.integers(0, 2 * most) for name, most in LIMITS.items()}
)


@given(
    mode=st.sampled_from(MODES),
    budget=st.none() | _BUDGETS,
    ctx=_CTX,
    tiers=st.lists(st.sampled_from(MODES), min_size=1, max_size=4),
)
def test_no_document_passes_that_the_policy_itself_refuses(
    mode: str, budget: dict[str, int] | None, ctx: dict[str, Any], tiers: list[str]
) -> None:
    policy = _policy(mode, budget)
    if budget is None:
        ctx.pop("run_budget", None)  # nothing of the policy's limits it
    if _passes(policy, _document(tiers, ctx)):
        assert _passes(policy, _document(tiers, {}))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("most", MODES)
def test_a_document_may_lower_the_mode_and_never_raise_it(mode: str, most: str) -> None:
    policy, document = policy_of(_policy(most)), _document(["read_only"], {"safety_mode": mode})
    if MODE_RANK[mode] > MODE_RANK[most]:
        with pytest.raises(
            InvalidInput, match=f"is above that of the policy, which is {most}"
        ) as told:
            completed_proposal(policy, document)
        assert told.value.path == "/ctx/safety_mode"
        with pytest.raises(InvalidInput) as told:
            completed_run(policy, {"proposal": document})
        assert told.value.path == "/proposal/ctx/safety_mode"
    else:
        assert completed_proposal(policy, document)["ctx"]["safety_mode"] == mode


@pytest.mark.parametrize("name", LIMITS)
def test_each_limit_of_a_budget_is_the_lower_one(name: str) -> None:
    policy = policy_of(_policy("destructive", LIMITS))
    above = {"run_budget": {name: LIMITS[name] + 1}}
    with pytest.raises(InvalidInput, match=f"which is {LIMITS[name]}: leave it out") as told:
        completed_proposal(policy, _document(["read_only"], above))
    assert told.value.path == f"/ctx/run_budget/{name}"
    for spelled in (LIMITS[name] + 1.0, LIMITS[name] + 0.5, 1e300):
        asked = _document(["read_only"], {"run_budget": {name: spelled}})
        with pytest.raises(InvalidInput, match="is above that of the policy"):
            completed_proposal(policy, asked)
    below = {"run_budget": {name: LIMITS[name] - 1}}
    completed = completed_proposal(policy, _document(["read_only"], below))
    assert completed["ctx"]["run_budget"] == {**LIMITS, name: LIMITS[name] - 1}


@pytest.mark.parametrize("spelled", [None, "4", True, [], {}, 1e300, float("inf"), -1, 3.5, 4.0])
def test_no_spelling_of_a_limit_lifts_it(spelled: Any) -> None:
    tiers = ["read_only"] * 4  # one more than the policy has
    policy = _policy("destructive", {"max_steps": 3, "bucket_tokens": 100})
    assert not _passes(policy, _document(tiers, {"run_budget": {"max_steps": spelled}}))
    assert not _passes(policy, _document(tiers, {"run_budget": spelled}))


@pytest.mark.parametrize("spelled", [None, "Destructive", "destructive ", 4, [], "all"])
def test_no_spelling_of_a_mode_lifts_it(spelled: Any) -> None:
    document = _document(["destructive"], {"safety_mode": spelled})
    assert not _passes(_policy("read_only"), document)


def test_the_service_refuses_a_document_that_raises_the_ceiling() -> None:
    app = app_of(_policy("read_only", STEPS))
    for ctx in ({"safety_mode": "destructive"}, {"run_budget": {"max_steps": 9}}):
        document = _document(["read_only"], ctx)
        assert ask(app, "/v1/verify", document).status_code == 400
        assert ask(app, "/v1/score", {"proposal": document}).status_code == 400
        assert ask(app, "/v1/data/critic/verify/ok", {"input": document}).status_code == 400


def test_no_property_of_an_access_request_raises_the_ceiling() -> None:
    raised = {"safety_mode": "destructive", "run_budget": {"max_steps": 9}}
    asked = {
        "subject": {"type": "user", "id": "u", "properties": raised},
        "action": {"name": "tools/call", "properties": raised},
        "resource": {"type": "tool", "id": "destructive", "properties": {"arguments": {}}},
        "context": raised,
    }
    app = app_of(_policy("read_only"))
    answer = ask(app, "/access/v1/evaluation", asked).json()
    assert answer["decision"] is False
    assert ask(app_of(_policy("destructive")), "/access/v1/evaluation", asked).json()["decision"]


OWN = [
    ("compiled/manifests", {"tool_manifest": []}),
    ("compiled/manifests", {"classes": []}),
    ("compiled/manifests", {"record_fields": ["note"]}),
    ("", {"spec": {"id": "own", "required_outputs": []}}),
]


@pytest.mark.parametrize("in_run", [True, False])
@pytest.mark.parametrize(("place", "own"), OWN)
def test_what_the_policy_says_no_document_says_by_itself(
    place: str, own: dict[str, Any], in_run: bool
) -> None:
    document = _document(["read_only"], {})
    if place:
        document["compiled"] = {"manifests": {"evidence_manifest": [], **own}}
    else:
        document |= own
    policy = policy_of(_policy("read_only"))
    (name,) = own
    with pytest.raises(InvalidInput, match="given here and by the policy") as caught:
        if in_run:
            completed_run(policy, {"run_id": "r", "proposal": document})
        else:
            completed_proposal(policy, document)
    assert (
        caught.value.path
        == ("/proposal" if in_run else "") + f"{'/' + place if place else ''}/{name}"
    )


def test_evidence_of_a_document_is_beside_that_of_the_policy() -> None:
    item = {"id": "own", "classification": "k", "content": 1}
    wire = _policy("read_only") | {"evidence": [{**item, "id": "rates"}]}
    document = _document(["read_only"], {})
    document["compiled"] = {"manifests": {"evidence_manifest": [item]}, "pack_version": "v7"}
    compiled = completed_proposal(policy_of(wire), document)["compiled"]
    assert compiled["pack_version"] == "v7"
    found = compiled["manifests"]
    assert [one["id"] for one in found["evidence_manifest"]] == ["rates", "own"]
    assert len(found["tool_manifest"]) == len(MODES)
