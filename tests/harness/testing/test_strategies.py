"""The shipped strategies: what they promise holds, everything is reached, and they shrink well."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from critic import (
    Check,
    CompiledContext,
    DecisionSpec,
    Plan,
    Proposal,
    RefusalKind,
    Refused,
    RunContext,
    ToolStep,
    score,
    verify,
)
from evals.json_schemas import compile_schema
from harness.cases import read_case
from harness.record import GENESIS, record_hash
from harness.testing import strategies
from harness.testing._draw.json_values import NoValue, value_for
from harness.testing._draw.near_misses import NEAR_MISSES
from harness.testing._draw.primitives import HypothesisPick, composite
from harness.testing.strategies import NearMiss, NoPlan
from harness.wire import build, parse
from tests.support.effort import sampled
from tests.support.examples import good_proposal
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json
from tests.support.paths import ROOT

# With a new seed for each run of the suite, a quality test would be a matter of luck.
QUALITY = settings(max_examples=200, derandomize=True, database=None, deadline=None)
SOME = settings(QUALITY, max_examples=60)
FEW = settings(QUALITY, max_examples=25)
EACH = settings(QUALITY, max_examples=8)
# The first draw that says so is enough: a smaller one says the same.
IMPOSSIBLE = settings(FEW, phases=(Phase.generate,), report_multiple_bugs=False)
# Without the phase that explains: it tries other values and `find` would take one for the answer.
SHRUNK = settings(QUALITY, max_examples=1000, phases=(Phase.generate, Phase.shrink))

REFUND = build(Proposal, good_proposal())
FIXED = (REFUND.compiled, REFUND.spec, REFUND.ctx)
WORLDS: dict[str, tuple[Any, Any, Any]] = {
    "drawn": (None, None, None),
    "manifest given": (REFUND.compiled, None, None),
    "all given": FIXED,
}
WAYS = [miss.name for miss in NEAR_MISSES]
IMPOSSIBLE_IN_REFUND = {
    "unproducible_output",
    "toolless_output",
    "confined_content",
    "over_safety_mode",
    "over_ceiling",
    "unapproved",
    "approved_elsewhere",
    "expired_ref",
    "unbacked_argument",
    "demand_unmet",
    "demand_about_another",
    "wrong_place",
    "missing_argument",
    "divided_group",
    "unpinned_spec_class",
}
# No argument that leaves accepts text of the evidence, so no spec or context makes it possible.
# What its one demanding tool binds is bound together and required, and each class has one item: an
# argument without evidence breaks the group as well, and no other item can be pinned.
IMPOSSIBLE_WITH_ITS_TOOLS = {
    "confined_content",
    "unbacked_argument",
    "demand_unmet",
    "demand_about_another",
    "wrong_place",
    "missing_argument",
    "divided_group",
}
every_world = pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)


def drawn_from(strategy: st.SearchStrategy[Any], how: settings = QUALITY) -> list[Any]:
    """Return what one run of Hypothesis draws, with its health checks."""
    found: list[Any] = []

    @how
    @given(strategy)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


def passes(proposal: Proposal) -> bool:
    return bool(judge_proposal(proposal))


# What is promised.


@every_world
def test_valid_proposals_pass(world: Any) -> None:
    found = drawn_from(strategies.valid_proposals(*world), SOME)
    assert len(found) == SOME.max_examples
    assert all(map(passes, found))
    assert {len(one.plan.steps) for one in found} >= {1, 2, 3}


@pytest.mark.slow
def test_valid_plans_are_found_where_the_evidence_of_one_order_says_no() -> None:
    case = read_case(ROOT / "fixtures" / "cases" / "refund" / "plan-c-verify.json")
    closed = parse(Proposal, case.document())

    @QUALITY
    @given(strategies.valid_proposals(closed.compiled, closed.spec, closed.ctx))
    def passes(proposal: Proposal) -> None:
        assert judge_proposal(proposal).ok

    passes()


def test_plans_pass_in_the_very_context_that_was_given() -> None:
    compiled, spec, ctx = FIXED
    found = drawn_from(strategies.plans(compiled, spec, ctx), SOME)
    assert all(verify(ctx, compiled, spec, plan) for plan in found)
    refunds = [plan for plan in found if any(map(is_refund, plan.steps))]
    assert len(refunds) > SOME.max_examples // 10, (
        "the tool with bound args and a schema is used as well"
    )


def is_refund(step: Any) -> bool:
    return isinstance(step, ToolStep) and step.capability_id == "issue_refund"


@pytest.mark.one_in(4)
@every_world
@pytest.mark.parametrize("way", sampled(WAYS, one_in=3))
def test_a_near_miss_has_the_one_violation_that_it_says(world: Any, way: str) -> None:
    if world == WORLDS["manifest given"] and way in IMPOSSIBLE_WITH_ITS_TOOLS:
        return
    near = strategies.labelled_near_misses(*world, way=way)
    if world is FIXED and way in IMPOSSIBLE_IN_REFUND:
        with pytest.raises(NoPlan, match=way):
            drawn_from(near, IMPOSSIBLE)
        return
    for found in drawn_from(near, EACH):
        verdict = judge_proposal(found.proposal)
        assert isinstance(verdict, Refused), found
        (violation,) = verdict.violations
        assert (found.way, found.check, found.kind) == (way, violation.check, violation.kind)
        assert found.repaired is None or passes(found.repaired)


@pytest.mark.parametrize("kind", get_args(RefusalKind))
def test_near_misses_of_a_kind(kind: RefusalKind) -> None:
    for proposal in drawn_from(strategies.near_misses(kind=kind), EACH):
        assert [one.kind for one in violations(proposal)] == [kind]


@pytest.mark.parametrize("check", get_args(Check))
def test_near_misses_of_a_check(check: Check) -> None:
    for proposal in drawn_from(strategies.near_misses(check=check), EACH):
        assert [one.check for one in violations(proposal)] == [check]


def violations(proposal: Proposal) -> Any:
    verdict = judge_proposal(proposal)
    return verdict.violations if isinstance(verdict, Refused) else ()


# What is reached.


@pytest.mark.slow
def test_near_misses_of_all_kinds_are_drawn() -> None:
    found: list[NearMiss] = drawn_from(strategies.labelled_near_misses())
    groups = {(one.check, one.kind) for one in found}
    assert groups == {(miss.check, miss.kind) for miss in NEAR_MISSES}
    # Hypothesis repeats itself on purpose, so not each of the ways is met in so few.
    assert len({one.way for one in found}) > len(WAYS) // 2


@pytest.mark.slow
def test_every_kind_and_check_is_reached_and_neither_answer_is_rare() -> None:
    found = drawn_from(strategies.proposals())
    met = {(one.check, one.kind) for proposal in found for one in violations(proposal)}
    assert {check for check, _ in met} == set(get_args(Check))
    assert {kind for _, kind in met} == set(get_args(RefusalKind))
    passing = sum(map(passes, found))
    assert 20 <= passing <= 180


def test_hostile_plans_meet_every_check_of_a_given_manifest() -> None:
    compiled, spec, ctx = FIXED
    lower = ctx.model_copy(update={"safety_mode": "read_only"})
    found = drawn_from(strategies.hostile_plans(compiled, spec, lower), SOME)
    verdicts = [verify(lower, compiled, spec, plan) for plan in found]
    refused = [verdict for verdict in verdicts if isinstance(verdict, Refused)]
    assert {one.check for each in refused for one in each.violations} == set(get_args(Check))


def test_proposals_on_the_edge_reach_every_kind_and_check() -> None:
    found = [strategies.seeded_edge_proposal(seed) for seed in range(200)]
    met = {(one.check, one.kind) for proposal in found for one in violations(proposal)}
    assert {check for check, _ in met} == set(get_args(Check))
    assert {kind for _, kind in met} == set(get_args(RefusalKind))
    assert 60 <= sum(map(passes, found)) <= 140


@pytest.mark.slow
def test_proposals_on_the_edge_reach_every_check_where_they_can_be_shrunk() -> None:
    found = drawn_from(strategies.edge_proposals())
    met = {one.check for proposal in found for one in violations(proposal)}
    assert met == set(get_args(Check))
    assert 20 <= sum(map(passes, found)) <= 180


def test_what_a_seed_draws_is_always_the_same() -> None:
    draws = (strategies.seeded_edge_proposal, strategies.seeded_edge_run)
    for draw in draws:
        assert [draw(seed) for seed in range(20)] == [draw(seed) for seed in range(20)]
        assert draw(1) != draw(2)


def test_runs_on_the_edge_reach_every_status() -> None:
    cards = [score(strategies.seeded_edge_run(seed)).scorecard.scores for seed in range(200)]
    for name in ("utility", "latency", "safety", "cost"):
        assert {getattr(card, name).status for card in cards} == {"pass", "warn", "fail"}
    assert {card.policy.status for card in cards} == {"pass", "fail"}


@pytest.mark.slow
def test_runs_reach_every_status_of_the_hard_evaluators() -> None:
    cards = [score(run).scorecard.scores for run in drawn_from(strategies.runs(), SOME)]
    assert {card.policy.status for card in cards} == {"pass", "fail"}
    assert {card.safety.status for card in cards} >= {"pass", "fail"}


def test_faithful_runs_are_clean() -> None:
    for run in drawn_from(strategies.runs(*FIXED, faithful=True), FEW):
        scores = score(run).scorecard.scores
        assert {scores.policy.status, scores.safety.status, scores.utility.status} == {"pass"}


def test_records_are_whole_and_follow_what_they_are_told() -> None:
    found = drawn_from(strategies.records(before=(6, "a" * 64)), FEW)
    assert {record.report.status for record in found} >= {"completed", "refused_by_critic"}
    for record in found:
        assert (record.seq, record.prev_hash) == (7, "a" * 64)
        assert record.hash == record_hash(record.wire())


def test_contexts_specs_and_manifests_stand_alone() -> None:
    found = drawn_from(
        st.tuples(strategies.contexts(), strategies.specs(), strategies.manifests()), FEW
    )
    kinds = {tuple(map(type, one)) for one in found}
    assert kinds == {(RunContext, DecisionSpec, CompiledContext)}


def test_contexts_of_a_manifest_know_when_its_evidence_expires() -> None:
    expiry = REFUND.compiled.manifests.evidence_manifest[0].expires_at
    found = [one.as_of for one in drawn_from(strategies.contexts(REFUND.compiled), FEW)]
    assert expiry is not None
    assert {moment is None or moment < expiry for moment in found} == {True, False}


# What it shrinks to.


def smallest(strategy: st.SearchStrategy[Any], test: Callable[[Any], bool]) -> Json:
    wire: Json = find(strategy, test, settings=SHRUNK).wire()
    return wire


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_near_miss_shrinks_to_one_step(way: str) -> None:
    plan = smallest(strategies.near_misses(way=way), lambda _: True)["plan"]
    twofold = way in ("repeated_id", "repeated_call", "too_many_steps")
    assert len(plan["steps"]) == 1 + twofold
    assert set(plan) - {"steps", "declared_outputs"} <= {"trace_id"}
    needed = {"kind", "adapter_id", "capability_id", "args"}
    optional = {"id", "depends_on", "requires_evidence", "evidence_refs", "estimated_tokens"}
    assert all(len(set(step) - needed) <= 1 for step in plan["steps"])
    assert all(set(step) <= needed | optional for step in plan["steps"])


def test_a_valid_plan_shrinks_to_what_a_person_would_write() -> None:
    shrunk = smallest(strategies.valid_proposals(), lambda _: True)
    assert shrunk["plan"] == {
        "steps": [{"kind": "tool", "adapter_id": "a", "capability_id": "b", "args": {}}],
        "declared_outputs": [],
    }
    assert shrunk["ctx"] == {"trace_id": "t", "safety_mode": "read_only"}


def test_a_refund_shrinks_to_the_step_that_pays() -> None:
    def pays(plan: Plan) -> bool:
        return any(map(is_refund, plan.steps))

    (step,) = smallest(strategies.plans(*FIXED), pays)["steps"]
    assert step["args"] == {"id": "pay_8861", "amount_inr": 24500}
    assert set(step) == {"kind", "adapter_id", "capability_id", "args", "evidence_refs"}


def test_a_proposal_on_the_edge_shrinks_to_nothing_but_its_manifest() -> None:
    shrunk = smallest(strategies.edge_proposals(), lambda _: True)
    assert shrunk["plan"] == {"steps": [], "declared_outputs": []}


# What cannot be had.


def test_where_nothing_can_pass_it_says_why() -> None:
    compiled, spec, ctx = FIXED
    spent = ctx.model_copy(update={"spent": {"tokens": 9000}})
    with pytest.raises(NoPlan, match="more tokens are spent"):
        drawn_from(strategies.plans(compiled, spec, spent), FEW)
    with pytest.raises(NoPlan, match="more tokens are spent"):
        drawn_from(strategies.near_misses(compiled, spec, spent), FEW)
    assert not any(map(passes, drawn_from(strategies.proposals(compiled, spec, spent), FEW)))


def test_a_kind_and_a_check_that_exclude_each_other_are_refused() -> None:
    with pytest.raises(NoPlan, match="at once"):
        drawn_from(strategies.near_misses(kind="loop_guard", check="surface"), FEW)


def test_args_may_be_given() -> None:
    pair = ("adp_orders", "lookup")
    own = {pair: st.just({"id": "ord_7"})}
    plans = drawn_from(strategies.plans(*FIXED, args=own), FEW)
    steps = [step for plan in plans for step in plan.steps if isinstance(step, ToolStep)]
    looked_up = [step.args for step in steps if step.capability_id == pair[1]]
    assert {"id": "ord_7"} in looked_up
    assert all(args == {"id": "ord_7"} for args in looked_up)


@pytest.mark.parametrize("schema", [True, {}, {"x-note": 1}, {"type": ["object", "null"]}], ids=str)
def test_args_are_objects_whatever_their_schema_leaves_open(schema: Any) -> None:
    compiled, spec, ctx = FIXED
    wire = compiled.wire()
    for tool in wire["manifests"]["tool_manifest"]:
        tool["args_schema"] = schema
    loose = build(CompiledContext, wire)
    plans = drawn_from(strategies.plans(loose, spec, ctx), FEW)
    assert plans
    assert all(verify(ctx, loose, spec, plan) for plan in plans)


# Values of a schema.

SCHEMAS: tuple[Any, ...] = (
    True,
    {},
    {"const": [1]},
    {"type": ["null", "string"], "minLength": 3},
    {"type": "integer", "minimum": 5, "exclusiveMaximum": 8},
    {"type": "integer", "multipleOf": 7, "minimum": 8},
    {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
    {"maximum": -3},
    {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$", "maxLength": 7},
    {"pattern": "b+"},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2},
    {"type": "array", "prefixItems": [{"const": 1}, {"type": "null"}], "items": False},
    {"required": ["a", "b"], "properties": {"a": {"type": "integer"}}},
    {"type": "object", "additionalProperties": {"type": "null"}, "minProperties": 2},
    {"allOf": [{"required": ["a"]}, {"properties": {"a": {"enum": ["x"]}}}, True]},
    {"anyOf": [False, {"type": "integer"}]},
    {"oneOf": [{"type": "integer", "minimum": 3}, {"type": "string"}]},
    {"$ref": "#/$defs/x~1y", "$defs": {"x/y": {"type": "integer", "maximum": 4}}},
    {"type": "object", "properties": {"next": {"$ref": "#"}}},
    {"if": {"const": 1}, "then": {"type": "integer"}, "else": True},
)


@composite
def maybe_value(pick: HypothesisPick, schema: Any) -> tuple[bool, Any]:
    try:
        return True, value_for(pick, schema)
    except NoValue:
        return False, None


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_values_satisfy_their_schema(schema: Any) -> None:
    drawn = drawn_from(maybe_value(schema), FEW)
    assert any(made for made, _ in drawn)
    assert all(compile_schema(schema).is_valid(value) for made, value in drawn if made)


@pytest.mark.parametrize(
    "schema", [False, {"not": {}}, {"type": "integer", "minimum": 2, "maximum": 1}], ids=str
)
def test_a_schema_without_a_value_gives_none(schema: Any) -> None:
    assert set(drawn_from(maybe_value(schema), FEW)) == {(False, None)}


def test_nothing_here_needs_a_health_check_suppressed() -> None:
    # Nothing beyond what the profile in force suppresses: in CI that is slowness.
    in_force = settings().suppress_health_check
    assert QUALITY.suppress_health_check == in_force
    assert SHRUNK.suppress_health_check == in_force


def test_the_first_record_follows_nothing() -> None:
    record = find(strategies.records(), lambda _: True, settings=SHRUNK)
    assert (record.seq, record.prev_hash) == (1, GENESIS)
