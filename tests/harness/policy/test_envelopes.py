"""What a policy says in one place and another, and which policies are none."""

from itertools import product
from typing import Any

import pytest

from harness.policy import Policy
from harness.wire import InvalidInput, build
from tests.support.altering import GONE, altered, others_than, paths_in, value_at
from tests.support.guarding import Json, desk, policy_of

TOOL: Json = {"adapter_id": "a", "capability_id": "x", "approval_mode": "read_only"}


def policy_with(*tools: Json, **more: Any) -> Json:
    guard = {"safety_mode": "destructive", **more.pop("guard", {})}
    spec = {"id": "s", "required_outputs": [], **more.pop("spec", {})}
    return {"guard": guard, "spec": spec, "tool": [{**TOOL, **tool} for tool in tools], **more}


LIMITS = (None, 0, 1, 60, 600)


@pytest.mark.parametrize(("own", "of_class"), [*product(LIMITS, repeat=2)])
def test_results_are_fresh_for_the_shorter_of_two_limits(
    own: int | None, of_class: int | None
) -> None:
    wire = policy_with({"yields": "k"} | ({} if own is None else {"expires_after_s": own}))
    wire["class"] = [{"name": "k", **({} if of_class is None else {"fresh_s": of_class})}]
    wire["class"].append({"name": "other", "fresh_s": 3})
    known = [one for one in (own, of_class) if one is not None]
    assert policy_of(wire).expiries() == ({("a", "x"): min(known)} if known else {})


def test_every_member_that_decides_is_in_the_digest() -> None:
    wire = desk()
    wire["evidence"] = [{"id": "rates", "classification": "rates", "content": {"eur": 1}}]
    own, met = policy_of(wire), set[str]()
    for path in paths_in(wire):
        old = value_at(wire, path)
        for other in [*others_than(old), GONE]:
            try:
                policy = build(Policy, altered(wire, path, other))
            except (InvalidInput, ValueError):
                continue
            if policy == own:
                continue
            assert policy.digest() != own.digest(), path
            met.add(str(path[0]))
            break
    assert met >= {"spec", "tool", "evidence"}


def test_guesses_and_accepted_findings_are_in_no_digest() -> None:
    accepted = [{"finding": "x", "reason": "known"}]
    more = {**desk(), "guessed": ["/guard/safety_mode"], "accept": accepted}
    assert policy_of(more).digest() == policy_of(desk()).digest()


@pytest.mark.parametrize(
    ("tools", "is_clear"),
    [
        ([{}, {"capability_id": "y"}], True),
        ([{}, {"adapter_id": "b"}], False),
        ([{}, {"adapter_id": "b", "name": "bx"}], True),
        ([{"name": "y"}, {"capability_id": "y"}], False),
        ([{"name": "n"}, {"capability_id": "y", "name": "n"}], False),
        ([{"name": "n"}, {"name": "m"}], False),
        ([{"name": "y"}, {"capability_id": "y", "name": "x"}], True),
        ([{}, {"adapter_id": "b", "name": "X"}], True),
    ],
)
def test_each_tool_has_a_name_and_ids_of_its_own(tools: list[Json], is_clear: bool) -> None:
    if is_clear:
        assert len(policy_of(policy_with(*tools)).tools) == len(tools)
        return
    with pytest.raises(InvalidInput, match=r"two tools have the (name|ids)"):
        policy_of(policy_with(*tools))


@pytest.mark.parametrize("listed", [None, "all", [], ["x"], ["y"], ["x", "y"]])
@pytest.mark.parametrize("always", [(), ("y",), ("x", "y")])
def test_what_is_always_requested_is_in_every_scope(listed: Any, always: tuple[str, ...]) -> None:
    tools = [
        {"capability_id": name, **({"requested": "always"} if name in always else {})}
        for name in ("x", "y", "z")
    ]
    guard = {} if listed is None else {"scope": listed}
    scope = policy_of(policy_with(*tools, guard=guard)).scope
    if listed is None and not always:
        assert scope is None
        return
    names = {"x", "y", "z"} if listed == "all" else {*(listed or ()), *always}
    assert scope is not None
    assert ({*scope}, len(scope)) == (names, len(names))
    told = policy_of(policy_with(*tools, guard=guard)).context("t").scope
    assert told is not None
    assert {one.capability_id for one in told} == names


@pytest.mark.parametrize("late", [None, "sources", "values"])
def test_only_late_plans_are_judged_by_what_results_are(late: str | None) -> None:
    promised = {"yields": "k", "expires_after_s": 9, "output_schema": {"type": "object"}}
    derived = {"result": {"author": "member", "derived": True}}
    spec = {} if late is None else {"late": late}
    (entry,) = (
        policy_of(policy_with(promised | derived, spec=spec)).compiled().manifests.tool_manifest
    )
    told = entry.wire()
    known = {name: told[name] for name in promised if name in told}
    assert known == ({} if late is None else promised)
    assert told["result"] == (
        {"author": "member"} if late is None else {"author": "member", "derived": True}
    )


@pytest.mark.parametrize("late", [None, "sources", "values"])
@pytest.mark.parametrize("shadow", [True, False])
def test_turns_are_ordered_where_plans_may_be_late(late: str | None, shadow: bool) -> None:
    spec = {} if late is None else {"late": late}
    wire = policy_with({}, guard={"turns": "ordered", "shadow": shadow}, spec=spec)
    if late is not None:
        assert policy_of(wire).guard.turns == "ordered"
        return
    with pytest.raises(InvalidInput, match="needs late in the spec"):
        policy_of(wire)
