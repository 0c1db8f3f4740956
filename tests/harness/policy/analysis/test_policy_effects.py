"""Which side of a change may let more pass: of each setting and condition, both ways."""

from collections import ChainMap
from itertools import combinations, permutations, product
from typing import Any

import pytest

from critic import MODE_RANK
from evals.kinds import MODES
from harness.policy.analysis.evidence_effects import (
    EvidenceUse,
    item_changes,
    may_be_looser,
    may_be_tighter,
)
from harness.policy.analysis.policy_diff import diff_policies
from harness.policy.analysis.policy_effects import (
    effects_on_plans,
    effects_on_sessions,
    effects_on_tool,
    highest_rank,
    sides_of,
)
from harness.policy.analysis.result_effects import Effect
from harness.policy.analysis.role_effects import may_tighten
from harness.policy.envelopes import SESSION_BUDGET
from tests.harness.policy.test_envelopes import policy_with
from tests.support.guarding import Json, policy_of

PAIR = ("a", "x")


def on_tool(old: Json, new: Json, name: str, **more: Any) -> Effect | None:
    spec = {"spec": {"provenance": "closed"}, **more}
    sides = sides_of(*(policy_of(policy_with(tool, **spec)) for tool in (old, new)))
    return next((one for one in effects_on_tool(sides, PAIR) if one.what == name), None)


def ways(effect: Effect | None) -> tuple[bool, bool]:
    return (False, False) if effect is None else (effect.looser, effect.tighter)


def check_order(name: str, tools: list[Json], **more: Any) -> None:
    """Check that of tools, the strictest first, each change of one for another goes its way."""
    for (first, one), (second, other) in permutations(enumerate(tools), 2):
        effect = on_tool(one, other, name, **more)
        assert ways(effect) == (first < second, second < first), (one, other)


CONDITIONS: dict[str, list[Any]] = {
    "bound_args": [
        {"n": {"from": ["k"], "at": ["/a"]}},
        {"n": {"from": ["k"], "at": ["/a", "/b"]}},
        {"n": {"from": ["k"], "at": ["/a", "/b"], "optional": True}},
        {"n": {"from": ["k"], "optional": True}},
        {"n": ["k", "l"]},
        {},
    ],
    "requires_evidence": [
        [{"class": "k", "about": {"n": "/n", "m": "/m"}}],
        [{"class": "k", "about": {"n": "/n"}}],
        ["k"],
        [],
    ],
    "may_be_empty": [[], ["n"], ["n", "m"]],
    "follows": [
        [],
        [{"adapter_id": "a", "capability_id": "y"}],
        [{"adapter_id": "a", "capability_id": name} for name in "yz"],
    ],
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_that_asks_for_less_is_looser_and_the_reverse_is_tighter(name: str) -> None:
    base = {"approval_mode": "network", "arg_roles": {"n": "object", "m": "object"}}
    more = [{}, {"capability_id": "y"}, {"capability_id": "z"}]
    tools = [{**base, name: one} if one else base for one in CONDITIONS[name]]
    assert len(more) == 3
    check_order(name, tools)


APART: dict[str, list[Any]] = {
    "bound_args": [
        {"n": {"from": ["k"], "at": ["/a"]}},
        {"n": {"from": ["k"], "at": ["/b"]}},
        {"n": {"from": ["l"], "at": ["/a"]}},
        {"m": {"from": ["k"], "at": ["/a"]}},
    ],
    "requires_evidence": [
        [{"class": "k", "about": {"n": "/n"}}],
        [{"class": "k", "about": {"n": "/m"}}],
        [{"class": "k", "about": {"m": "/n"}}],
        [{"class": "l", "about": {"n": "/n"}}],
    ],
    "may_be_empty": [["n"], ["m"]],
}


@pytest.mark.parametrize("name", APART)
def test_a_condition_that_asks_for_something_else_is_both(name: str) -> None:
    base = {"approval_mode": "network", "arg_roles": {"n": "object", "m": "object"}}
    for one, other in permutations(APART[name], 2):
        effect = on_tool({**base, name: one}, {**base, name: other}, name)
        assert ways(effect) == (True, True), (one, other)


RESULTS: dict[str, list[Json]] = {
    "result.author": [{"author": one} for one in ("public", "member", "system", "operator")],
    "result.web": [{"author": "public", "web": True}, {"author": "public"}],
    "result.makes": [
        {"author": "public"},
        {"author": "public", "makes": {"n": "order"}},
        {"author": "public", "makes": {"n": "order", "m": "order"}},
    ],
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_is_believed_more_is_looser(name: str) -> None:
    tools = [{"result": one, "approval_mode": "local_write"} for one in RESULTS[name]]
    check_order(name, tools)


SETTINGS: dict[str, list[Json]] = {
    "guard.on_ask": [{"on_ask": "refuse"}, {"on_ask": "ask"}],
    "guard.on_refusal": [{"on_refusal": "halt"}, {"on_refusal": "answer"}],
    "guard.shadow": [{}, {"shadow": True}],
    "guard.max_questions": [{"max_questions": one} for one in (0, 1, 9)],
    "guard.question_expires_after_s": [
        *({"question_expires_after_s": one} for one in (0, 1, 60)),
        {},
    ],
}


def test_what_a_reader_returns_may_go_either_way() -> None:
    """It neither vouches for a value nor makes one doubtful, whoever is named as its author."""
    told, made = ({"author": "public", **more} for more in ({}, {"derived": True}))
    for one, other in ((told, made), (made, told)):
        assert ways(on_tool({"result": one}, {"result": other}, "result.derived")) == (True, True)


def test_the_order_of_a_turn_may_go_either_way() -> None:
    spec = {"spec": {"late": "sources"}}
    plain, ordered = (
        policy_of(policy_with({}, guard=one, **spec)) for one in ({}, {"turns": "ordered"})
    )
    for one, other in ((plain, ordered), (ordered, plain)):
        (effect,) = effects_on_sessions(one, other)
        assert (effect.what, *ways(effect)) == ("guard.turns", True, True)


def test_late_plans_are_looser_than_none() -> None:
    none, some = (policy_of(policy_with({}, spec=one)) for one in ({}, {"late": "sources"}))
    for one, other, change in ((none, some, "looser"), (some, none, "tighter")):
        found = {each.subject: each.change for each in diff_policies(one, other)}
        assert found["plans"] == change


@pytest.mark.parametrize("name", SETTINGS)
def test_each_setting_of_the_guard_has_its_direction(name: str) -> None:
    policies = [policy_of(policy_with({}, guard=one)) for one in SETTINGS[name]]
    for (first, one), (second, other) in permutations(enumerate(policies), 2):
        (effect,) = effects_on_sessions(one, other)
        assert (effect.what, *ways(effect)) == (name, first < second, second < first)


@pytest.mark.parametrize(("one", "other"), [*combinations(SETTINGS, 2)])
def test_the_guard_is_tighter_or_looser_only_if_all_its_settings_agree(
    one: str, other: str
) -> None:
    for first, second in product(
        permutations(SETTINGS[one][:2], 2), permutations(SETTINGS[other][:2], 2)
    ):
        sides = [
            policy_of(policy_with({}, guard=dict(ChainMap(*each))))
            for each in zip(first, second, strict=True)
        ]
        known = {
            "looser" if named[name].index(pair[0]) < named[name].index(pair[1]) else "tighter"
            for named, name, pair in ((SETTINGS, one, first), (SETTINGS, other, second))
        }
        assert diff_policies(*sides)[-1].change == (known.pop() if len(known) == 1 else "both")


ACTING: list[Json] = [{}, {"shell": "c"}, {"writes": ["c"]}, {"writes": ["d"]}, {"patches": "c"}]


def test_what_acts_on_this_machine_may_go_either_way() -> None:
    """Whichever side has the tool, and whether it acts by an argument there or by none."""
    shell = {"shell": {"table": "common-1"}}
    tools = [[], *([{"arg_roles": {"c": "content", "d": "content"}, **one}] for one in ACTING)]
    for (first, one), (second, other) in permutations(enumerate(tools), 2):
        old, new = (policy_of(policy_with(*listed, **shell)) for listed in (one, other))
        found = {effect.what: ways(effect) for effect in effects_on_sessions(old, new)}
        assert found == ({} if max(first, second) == 1 else {"shell": (True, True)})


@pytest.mark.parametrize("changed", [{"name": "n"}, {"yields": "k"}, {"expires_after_s": 9}])
def test_what_only_sessions_show_is_no_equal_policy(changed: Json) -> None:
    sides = [policy_of(policy_with(tool)) for tool in ({}, changed)]
    for old, new in permutations(sides, 2):
        change = diff_policies(old, new)[0]
        (effect,) = effects_on_tool(sides_of(old, new), PAIR)
        if effect.by_order:
            assert change.change == ("looser" if effect.looser else "tighter")
        else:
            assert (change.change, {*change.undecided}) == ("not decided", {"looser", "tighter"})
        assert change.changed == (f"{effect.what} (no plan shows it)",)


ON_PLANS: dict[str, list[Json]] = {
    "spec.required_outputs": [
        {"spec": {"required_outputs": one}} for one in (["o", "p"], ["o"], [])
    ],
    "spec.required_evidence": [
        {"spec": {"required_evidence": one}} for one in (["k", "l"], ["k"], [])
    ],
    **{
        f"guard.budget.{name}": [{"guard": {"budget": {name: most}}} for most in (0, 1, 9)]
        for name in ("max_steps", "bucket_tokens")
    },
}


@pytest.mark.parametrize("name", ON_PLANS)
def test_each_demand_on_whole_plans_has_its_direction(name: str) -> None:
    policies = [policy_of(policy_with({}, **one)) for one in ON_PLANS[name]]
    for (first, one), (second, other) in permutations(enumerate(policies), 2):
        (effect,) = effects_on_plans(one, other)
        assert (effect.what, *ways(effect)) == (name, first < second, second < first)


def on_spec(tool: Json, name: str, *sides: Json) -> tuple[bool, bool]:
    """Return the ways of an effect on one tool whose policies differ by the rest."""
    policies = (policy_of(policy_with(tool, **side)) for side in sides)
    found = effects_on_tool(sides_of(*policies), PAIR)
    return ways(next((one for one in found if one.what == name), None))


@pytest.mark.parametrize("tier", MODES)
def test_a_tool_is_asked_about_from_its_tier_on(tier: Any) -> None:
    for froms in permutations([None, *MODES], 2):
        asked = [one is not None and MODE_RANK[tier] >= MODE_RANK[one] for one in froms]
        sides = [{"spec": {} if one is None else {"approval_required_from": one}} for one in froms]
        found = on_spec({"approval_mode": tier}, "spec.approval_required_from", *sides)
        assert found == (asked[0] > asked[1], asked[1] > asked[0]), froms


@pytest.mark.parametrize("tier", MODES)
def test_what_is_confined_counts_for_each_tool_that_sends(tier: Any) -> None:
    sends = MODE_RANK[tier] >= MODE_RANK["network"]
    orders = [["k", "l"], ["k"], []]
    for (first, one), (second, other) in permutations(enumerate(orders), 2):
        sides = [{"spec": {"confined_evidence": classes}} for classes in (one, other)]
        found = on_spec({"approval_mode": tier}, "spec.confined_evidence", *sides)
        assert found == (sends and first < second, sends and second < first)


def test_a_session_has_its_own_budget_where_the_policy_has_none() -> None:
    """What a plan alone may cost without one says nothing of a session."""
    for name in ("max_steps", "bucket_tokens"):
        most = getattr(SESSION_BUDGET, name)
        for limit in (most - 1, most, most + 1):
            given = policy_of(
                policy_with({}, guard={"budget": {**SESSION_BUDGET.wire(), name: limit}})
            )
            none = policy_of(policy_with({}))
            what = f"guard.budget.{name} of a session"
            for one, other, sign in ((given, none, 1), (none, given, -1)):
                found = {e.what: ways(e) for e in effects_on_sessions(one, other)}
                more = sign * (most - limit)
                assert found.pop(what, (False, False)) == (more > 0, more < 0)
                assert not found


@pytest.mark.parametrize("ceiling", [None, *MODES])
@pytest.mark.parametrize("mode", MODES)
def test_what_runs_is_below_both_the_mode_and_the_ceiling_of_the_spec(
    mode: str, ceiling: Any
) -> None:
    spec = {} if ceiling is None else {"approval_mode": ceiling}
    policy = policy_of(policy_with({}, guard={"safety_mode": mode}, spec=spec))
    limits = [MODE_RANK[one] for one in (mode, ceiling) if one is not None]
    assert highest_rank(policy) == min(limits)


ITEM: Json = {"id": "i", "classification": "k", "content": {"a": 1}}


def changes(old: Json | None, new: Json | None) -> Any:
    items = [[] if one is None else [one] for one in (old, new)]
    return item_changes(*(policy_of(policy_with({}, evidence=one)) for one in items))


def test_evidence_that_may_be_sent_now_is_looser() -> None:
    """What is confined may not stand in a call: rewritten or gone, it confines something else."""
    other = {**ITEM, "content": {"a": 2}}
    confines = EvidenceUse(demanded=(), confined=("k",), sourced=False)
    for old, new, looser, tighter in (
        (ITEM, other, True, True),
        (ITEM, None, True, False),
        (None, ITEM, False, True),
        (ITEM, {**ITEM, "subject": "s"}, False, False),
        (ITEM, {**ITEM, "expires_at": "2025-03-01T12:00:00Z"}, False, False),
    ):
        found = changes(old, new)
        assert (may_be_looser(found, confines), may_be_tighter(found, confines)) == (
            looser,
            tighter,
        )


def test_evidence_that_backs_calls_for_longer_is_looser() -> None:
    times = ["2025-03-01T12:00:00Z", "2025-03-01T12:00:01Z", None]
    items: list[Json | None] = [
        None,
        *({**ITEM, **({} if one is None else {"expires_at": one})} for one in times),
    ]
    backs = EvidenceUse(demanded=("k",), confined=(), sourced=False)
    for (first, one), (second, other) in permutations(enumerate(items), 2):
        found = changes(one, other)
        ways_of = may_be_looser(found, backs), may_be_tighter(found, backs)
        assert ways_of == (first < second, second < first), (one, other)


ROLES: tuple[Any, ...] = (
    "recipient",
    "object",
    "attribute",
    "locator",
    "content",
    "time",
    "secret",
    "code",
)


@pytest.mark.parametrize("changed", ["a", "b", "c"])
def test_each_argument_whose_role_changed_is_compared(changed: str) -> None:
    """Whether a change counts hangs neither on its place nor on what else was eased."""
    spec = policy_of(policy_with({}, spec={"provenance": "closed"})).spec
    for before, after in combinations(ROLES, 2):
        rest: Any = {name: "object" for name in "abcz" if name != changed}
        one, other = {**rest, changed: before}, {**rest, changed: after}
        roles: list[Any] = [{"z": "object", "a": role} for role in (before, after)]
        alone = may_tighten(*roles, **IN)
        assert may_tighten(one, other, spec, sends=False) == alone
        eased = [{**rest, name: role} for name in rest for role in ("recipient",)]
        for more in eased:
            assert may_tighten({**more, changed: before}, other, spec, sends=False) >= alone


IN: dict[str, Any] = {
    "spec": policy_of(policy_with({}, spec={"provenance": "closed"})).spec,
    "sends": False,
}
