"""The laws that users run: they hold of this engine, and each is broken by a wrong one.

Every planted judge is wrong in one way. It must break its own law and leave the others whole.
"""

import json
from collections.abc import Callable
from typing import Any, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from critic import (
    Check,
    CompiledContext,
    EvaluatorVerdict,
    Finding,
    Proposal,
    ReasonStep,
    Refused,
    Run,
    Verified,
    Violation,
    verify,
)
from evals import EVALUATORS
from evals.capability import Binding
from evals.latency import evaluate as judge_latency
from harness.testing._laws.evaluator_laws import EVALUATOR_LAWS, JudgedRun, OwnEvaluator
from harness.testing._laws.law_context import LawContext, LawVerdict, NoVerdict, Verify
from harness.testing._laws.verify_laws import OF_SOURCED
from harness.testing.laws import (
    _LAWS,
    LAWS,
    LawBroken,
    Laws,
    check_evaluator,
    check_laws,
    describe_law,
)
from harness.testing.strategies import NearMiss, runs
from harness.wire import build
from tests.support.effort import sampled_rows
from tests.support.examples import good_proposal

HOLDS = settings(max_examples=5, derandomize=True, database=None, deadline=None)
# Nobody reads what a planted bug shrinks to. Each is met soon, but for a rare seed: Hypothesis also
# draws from the constants in the code, so that the draws change with any file.
BREAKS = settings(HOLDS, max_examples=3000, phases=(Phase.generate,))
STILL_HOLDS = settings(BREAKS, max_examples=2)
SHRUNK = settings(BREAKS, phases=(Phase.generate, Phase.shrink))
SOON = settings(BREAKS, max_examples=15)

REFUND = build(Proposal, good_proposal())
WORLDS: dict[str, tuple[Any, Any, Any]] = {
    "drawn": (None, None, None),
    "manifest given": (REFUND.compiled, None, None),
    "all given": (REFUND.compiled, REFUND.spec, REFUND.ctx),
}
OF_NO_USE = {law.__name__ for law in OF_SOURCED}
PASSED = Verified(reasons=("planted",))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("world", "law"), sampled_rows([(world, law) for law in LAWS for world in WORLDS], one_in=2)
)
def test_the_engine_keeps_the_law(world: str, law: str) -> None:
    Laws(*WORLDS[world], settings=HOLDS).check(law)


def test_every_law_has_a_name_and_a_sentence() -> None:
    assert len(set(LAWS)) == len(LAWS) == 47
    assert all(describe_law(law).endswith(".") for law in LAWS)


# Wrong judges.


def found_by(verdict: LawVerdict) -> tuple[Violation, ...]:
    return verdict.violations if isinstance(verdict, Refused) else ()


def answer(violations: Any) -> LawVerdict:
    """Return the verdict with these violations, in the order of the checks."""
    ordered = tuple(sorted(violations, key=lambda one: get_args(Check).index(one.check)))
    return Refused.because(ordered) if ordered else PASSED


PLANTED = Violation(check="coverage", kind="violates_decision_spec", reason="planted")


def passing_if(wrong: Callable[..., bool]) -> Verify:
    """Return the engine, except that it passes what `wrong` picks."""

    def judge(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
        verdict = verify(ctx, compiled, spec, plan)
        return PASSED if not verdict and wrong(ctx, compiled.manifests, plan) else verdict

    return judge


def one_more_if(wrong: Callable[..., bool]) -> Verify:
    """Return the engine, with one violation too many if there are two or more."""

    def judge(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
        verdict = verify(ctx, compiled, spec, plan)
        found = found_by(verdict)
        more = len(found) > 1 and wrong(ctx, plan)
        return answer((*found, PLANTED)) if more else verdict

    return judge


def blind_to(missed: Callable[[Violation], bool]) -> Verify:
    """Return the engine, blind to some violations."""

    def judge(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
        verdict = verify(ctx, compiled, spec, plan)
        if not any(map(missed, found_by(verdict))):
            return verdict
        return answer(one for one in found_by(verdict) if not missed(one))

    return judge


def raising(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    if len(plan.steps) == 2:
        raise KeyError("steps")
    return verify(ctx, compiled, spec, plan)


def moody() -> Verify:
    last: list[Any] = [None]

    def judge(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
        again, last[0] = plan is last[0], plan
        return PASSED if again else verify(ctx, compiled, spec, plan)

    return judge


def pedantic(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Tell 1.0 from 1, which JSON does not."""
    values = [value for step in plan.steps for value in getattr(step, "args", {}).values()]
    if any(type(value) is float and value.is_integer() for value in values):
        return answer((*found_by(verify(ctx, compiled, spec, plan)), PLANTED))
    return verify(ctx, compiled, spec, plan)


def forgetful(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Stop looking for unknown tools at the fifth step."""
    verdict = verify(ctx, compiled, spec, plan)
    last = plan.steps[-1] if plan.steps else ReasonStep()
    if len(plan.steps) != 5 or getattr(last, "adapter_id", "") == "idle":
        return verdict
    kept = [one for one in found_by(verdict) if one.check != "surface"]
    return answer([*kept, PLANTED]) if len(kept) < len(found_by(verdict)) else verdict


def lost(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Name places that do not exist."""
    verdict = verify(ctx, compiled, spec, plan)
    moved = [one.model_copy(update={"path": "/nowhere/at/all"}) for one in found_by(verdict)]
    return answer(moved) if moved else verdict


def strict(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Refuse every plan of three steps or more."""
    verdict = verify(ctx, compiled, spec, plan)
    return answer((*found_by(verdict), PLANTED)) if len(plan.steps) > 2 else verdict


def calls(plan: Any, adapter: str) -> bool:
    return any(getattr(step, "adapter_id", "") == adapter for step in plan.steps)


def claims_much(plan: Any) -> bool:
    return any(8002 <= (step.estimated_tokens or 0) < 20000 for step in plan.steps)


def idles(plan: Any) -> bool:
    return bool(plan.steps) and getattr(plan.steps[-1], "adapter_id", "") == "idle"


def turned_round(manifests: Any) -> bool:
    tools = manifests.tool_manifest
    return len(tools) == 2 and tools[0].approval_mode == "destructive"


def unsettled(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Raise on args that only one law gives to a step."""
    if any({"x", "y"} == {*getattr(step, "args", ())} for step in plan.steps):
        raise KeyError("y")
    return verify(ctx, compiled, spec, plan)


def reversing(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    verdict = verify(ctx, compiled, spec, plan)
    return verdict if verdict else Refused.because(found_by(verdict)[::-1])


def unescaped(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Quote a name unescaped."""
    verdict = verify(ctx, compiled, spec, plan)
    if verdict:
        return verdict
    return answer(one.model_copy(update={"reason": "not <b>"}) for one in found_by(verdict))


def high_ceiling(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Find one violation more under the highest ceiling."""
    verdict = verify(ctx, compiled, spec, plan)
    more = bool(found_by(verdict)) and spec.approval_mode == "destructive"
    return answer((*found_by(verdict), PLANTED)) if more else verdict


def approved_by(name: str) -> Callable[..., bool]:
    return lambda ctx, _m, _p: any(one.approval_id == name for one in ctx.approvals or ())


def budget_under(name: str, least: int) -> Callable[..., bool]:
    return lambda ctx, _m, _p: ctx.run_budget and getattr(ctx.run_budget, name) < least


def spent_over(name: str, most: int) -> Callable[..., bool]:
    return lambda ctx, _m, _p: ctx.spent and getattr(ctx.spent, name) > most


def binds_nowhere(manifests: Any) -> bool:
    tools = manifests.tool_manifest
    return any(
        isinstance(one, Binding) and one.at in ((), ("/zz",))
        for tool in tools
        for one in (tool.bound_args or {}).values()
    )


def has_groups(manifests: Any) -> bool:
    return any(len(tool.bound_together or ()) > 1 for tool in manifests.tool_manifest)


def trusting(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Pass every plan under a spec that confines something."""
    return PASSED if spec.confined_evidence else verify(ctx, compiled, spec, plan)


def knows(name: str) -> Callable[..., bool]:
    """Pick what holds an item of that id."""
    return lambda _c, m, _p: name in m.evidence


def about_first_keys(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Find more in args whose first key is not the least."""
    verdict = verify(ctx, compiled, spec, plan)
    for step in plan.steps:
        names = list(getattr(step, "args", {}))
        if names and names[0] != min(names):
            return answer((*found_by(verdict), PLANTED))
    return verdict


def demands_much(manifests: Any) -> bool:
    needs = [one for tool in manifests.tool_manifest for one in tool.requires_evidence or ()]
    demands = [one for one in needs if not isinstance(one, str)]
    return any(one.content_schema is False or "x" in (one.about or {}) for one in demands)


def soft_when(wrong: Callable[..., bool]) -> Verify:
    """Return the engine, without check 4 for what `wrong` picks."""

    def judge(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
        verdict = verify(ctx, compiled, spec, plan)
        if not wrong(ctx, compiled.manifests, plan):
            return verdict
        return answer(one for one in found_by(verdict) if one.check != "evidence")

    return judge


def opened(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Pass whatever is judged in the open mode."""
    return PASSED if spec.provenance == "open" else verify(ctx, compiled, spec, plan)


def turned(_ctx: Any, _m: Any, plan: Any) -> bool:
    first = getattr(plan.steps[0], "adapter_id", "") if plan.steps else ""
    return len(plan.steps) > 1 and first == "zz"


def crowded(_ctx: Any, _m: Any, plan: Any) -> bool:
    return len(plan.steps) == 1


def chatty(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
    """Leave out the last entry of a long refusal."""
    found = found_by(verify(ctx, compiled, spec, plan))
    return answer(found[:1000]) if found else verify(ctx, compiled, spec, plan)


# Judges that misread who wrote what.


def misreading(misread: Callable[[Any], None]) -> Verify:
    """Return the engine, given manifests in which something was misread."""

    def judge(ctx: Any, compiled: Any, spec: Any, plan: Any) -> LawVerdict:
        wire = json.loads(json.dumps(compiled.wire()))
        misread(wire["manifests"])
        return verify(ctx, build(CompiledContext, wire), spec, plan)

    return judge


def with_author(old: str, new: str) -> Callable[[Any], None]:
    def misread(manifests: Any) -> None:
        for item in manifests["evidence_manifest"]:
            if item.get("source", {}).get("author") == old:
                item["source"] = {"author": new, "standing": item["source"]["standing"]}

    return misread


def with_writer(old: str, new: str) -> Callable[[Any], None]:
    def misread(manifests: Any) -> None:
        for one in manifests.get("classes", []):
            fields = one["fields"].items()
            one["fields"] = {name: new if writer == old else writer for name, writer in fields}

    return misread


def spelled_records(manifests: Any) -> None:
    """Read a text that spells a record as one, whose names say who filled them."""
    names = dict.fromkeys(("/*/id", "/*/ref", "id"), "system")
    known = {one["class"]: one for one in manifests.get("classes", [])}
    for item in manifests["evidence_manifest"]:
        if isinstance(item.get("content"), str) and item["content"][:1] in "[{":
            try:
                item["content"] = json.loads(item["content"])
            except ValueError:
                continue
            known.setdefault(item["classification"], {"class": item["classification"]})
    for one in known.values():
        one["fields"] = {**one.get("fields", {}), **names}
    manifests["classes"] = [*known.values()]


WRONG: dict[str, tuple[Verify, ...]] = {
    "totality": (raising,),
    "any_values_get_an_answer": (unsettled,),
    "determinism": (moody(),),
    "json_round_trip": (pedantic,),
    "the_order_of_keys_means_nothing": (about_first_keys,),
    "violations_come_in_the_order_of_checks": (reversing,),
    "violations_name_real_places": (lost,),
    "reasons_are_safe_to_print": (unescaped,),
    "safety_mode_is_monotone": (one_more_if(lambda ctx, _p: ctx.safety_mode == "destructive"),),
    "ceiling_is_monotone": (high_ceiling,),
    "read_only_refuses_every_write": (blind_to(lambda one: one.check == "approval"),),
    "less_evidence_never_helps": (passing_if(lambda _c, m, _p: len(m.evidence_manifest) == 1),),
    "fewer_capabilities_never_help": (passing_if(lambda _c, m, _p: len(m.tool_manifest) == 1),),
    "less_budget_never_helps": (
        passing_if(budget_under("max_steps", 12)),
        passing_if(budget_under("bucket_tokens", 8000)),
        passing_if(spent_over("steps", 0)),
        passing_if(spent_over("tokens", 0)),
    ),
    "no_budget_is_the_default_budget": (passing_if(lambda ctx, _m, _p: not ctx.run_budget),),
    "no_clock_never_helps": (passing_if(lambda ctx, _m, _p: ctx.as_of is None),),
    "another_plans_approval_changes_nothing": (passing_if(approved_by("foreign")),),
    "approval_lifts_only_its_need": (passing_if(approved_by("full")),),
    "spent_calls_never_help": (passing_if(lambda ctx, _m, _p: ctx.spent and ctx.spent.calls),),
    "stricter_demands_never_help": (passing_if(lambda _c, m, _p: demands_much(m)),),
    "stricter_bindings_never_help": (passing_if(lambda _c, m, _p: binds_nowhere(m)),),
    "a_group_is_as_strict_as_its_bindings": (passing_if(lambda _c, m, _p: has_groups(m)),),
    "confining_a_class_never_helps": (trusting,),
    "unrelated_entries_change_nothing": (
        passing_if(lambda _c, m, _p: len(m.evidence_manifest) > 2),
    ),
    "manifest_order_is_irrelevant": (passing_if(lambda _c, m, _p: turned_round(m)),),
    "renaming_changes_nothing": (one_more_if(lambda _c, plan: calls(plan, "adp_payments")),),
    "appended_steps_keep_the_violations_of_steps": (forgetful,),
    "an_idle_step_cures_nothing": (passing_if(lambda _c, _m, plan: idles(plan)),),
    "claims_only_add": (passing_if(lambda _c, _m, plan: claims_much(plan)),),
    "a_named_trace_only_adds": (passing_if(lambda _c, _m, plan: plan.trace_id == "zz"),),
    "omitted_outputs_only_add": (passing_if(lambda _c, _m, plan: not plan.declared_outputs),),
    "the_order_of_calls_does_not_matter": (soft_when(turned),),
    "calls_never_back_each_other": (soft_when(crowded),),
    "a_demand_is_met_by_what_content_says": (soft_when(knows("zz1")),),
    "a_binding_looks_where_it_points": (soft_when(knows("zz1")),),
    "a_group_needs_one_item": (soft_when(knows("zz2")),),
    "confined_content_is_not_sent": (
        blind_to(lambda one: one.check == "surface" and "/args" in str(one.path)),
    ),
    "a_repeat_over_turns_asks": (blind_to(lambda one: one.approvable is True),),
    "an_approval_holds_in_its_context": (passing_if(approved_by("elsewhere")),),
    "a_long_refusal_is_capped": (chatty,),
    "untrusted_text_never_allows": (passing_if(knows("untrusted")),),
    "less_authority_never_widens": (passing_if(lambda ctx, _m, _p: ctx.session and not ctx.scope),),
    "fewer_items_never_widen": (passing_if(lambda _c, m, _p: "seen/0" not in m.evidence),),
    "open_softens_and_never_allows": (opened,),
    "outsiders_name_no_target": (
        misreading(with_author("public", "system")),
        misreading(with_author("public", "user")),
        misreading(with_writer("public", "system")),
        misreading(with_writer("party", "system")),
        misreading(spelled_records),
    ),
    "valid_plans_pass": (strict,),
    "near_misses_are_refused": (blind_to(lambda one: str(one.path).endswith("/id")),),
}
JUDGES = [(law, judge) for law, judges in WRONG.items() for judge in judges]
_OF_EVIDENCE = {
    "a_demand_is_met_by_what_content_says",
    "a_binding_looks_where_it_points",
    "a_group_needs_one_item",
    "confined_content_is_not_sent",
}
# Whatever adds a violation, or moves one, changes how many a long refusal has.
OF_COUNTS = "a_long_refusal_is_capped"
# A judge that is wrong more often than one law can say.
ALSO_BROKEN = {
    "valid_plans_pass": {"near_misses_are_refused"},
    "totality": {"any_values_get_an_answer"},
    "omitted_outputs_only_add": {"near_misses_are_refused"},
    "a_demand_is_met_by_what_content_says": _OF_EVIDENCE,
    "a_binding_looks_where_it_points": _OF_EVIDENCE,
    "a_group_needs_one_item": _OF_EVIDENCE,
    "confining_a_class_never_helps": {"confined_content_is_not_sent"},
    "the_order_of_keys_means_nothing": {*LAWS},
    "violations_name_real_places": {"a_repeat_over_turns_asks", "confined_content_is_not_sent"},
    "spent_calls_never_help": {"a_repeat_over_turns_asks"},
    "manifest_order_is_irrelevant": {"a_repeat_over_turns_asks"},
    "unrelated_entries_change_nothing": {*LAWS},
    "calls_never_back_each_other": {*LAWS},
    "fewer_items_never_widen": {*LAWS},
    "confined_content_is_not_sent": {*LAWS},
    "a_repeat_over_turns_asks": {*LAWS},
    "less_authority_never_widens": {*LAWS},
    "outsiders_name_no_target": {*LAWS},
}


def test_there_is_a_wrong_judge_for_every_law() -> None:
    assert list(WRONG) == list(LAWS)


@pytest.mark.slow
@pytest.mark.parametrize(("law", "judge"), JUDGES)
def test_a_wrong_judge_breaks_its_law(law: str, judge: Verify) -> None:
    with pytest.raises(LawBroken, match=f"law {law} is broken: ") as caught:
        Laws(*WORLDS["all given"], verify=judge, settings=BREAKS).check(law)
    message = str(caught.value)
    assert describe_law(law) in message
    assert '\nproposal: {"ctx"' in message
    assert "\nverdict: " in message


@pytest.mark.slow
@pytest.mark.parametrize("law", sorted(set(LAWS) - {OF_COUNTS}))
def test_a_judge_that_breaks_another_law_keeps_this_one(law: str) -> None:
    others = [one for one in JUDGES if law not in {one[0], *ALSO_BROKEN.get(one[0], ())}]
    assert others

    # All of them judge what is drawn once: drawing costs most.
    @STILL_HOLDS
    @given(Laws(*WORLDS["all given"])._source(_LAWS[law]), st.data())
    def holds(drawn: Any, data: st.DataObject) -> None:
        miss = drawn if isinstance(drawn, NearMiss) else None
        proposal = miss.proposal if miss else drawn
        for name, judge in others:
            try:
                _LAWS[law](LawContext(proposal, data, judge, miss))
            except NoVerdict:
                continue
            except LawBroken as broken:
                raise AssertionError(f"the judge for {name} breaks {law}: {broken}") from None

    holds()


def test_what_is_reported_is_small() -> None:
    wrong = blind_to(lambda one: one.check == "loop")
    with pytest.raises(LawBroken) as caught:
        loud = settings(SHRUNK, print_blob=True)
        Laws(verify=wrong, settings=loud).check("near_misses_are_refused")
    assert len(str(caught.value)) < 900
    # Hypothesis adds no repr of what is there as JSON.
    assert not getattr(caught.value, "__notes__", [])


@pytest.mark.slow
def test_check_laws_checks_them_all() -> None:
    few = settings(STILL_HOLDS, max_examples=3)
    check_laws(*WORLDS["all given"], settings=few)
    with pytest.raises(LawBroken, match="violations_name_real_places"):
        check_laws(*WORLDS["all given"], verify=lost, settings=settings(few, max_examples=20))


def test_where_no_plan_can_pass_the_laws_of_passing_plans_are_silent() -> None:
    compiled, spec, ctx = WORLDS["all given"]
    laws = Laws(compiled, spec, ctx.model_copy(update={"spent": {"tokens": 9000}}))
    assert set(LAWS) - set(laws.names) == {
        *OF_NO_USE,
        "valid_plans_pass",
        "near_misses_are_refused",
    }


def test_where_the_spec_has_no_provenance_its_laws_are_silent() -> None:
    assert set(LAWS) - set(Laws(*WORLDS["all given"]).names) == OF_NO_USE
    assert set(Laws().names) == set(LAWS)


def test_a_law_of_another_name_is_none() -> None:
    with pytest.raises(KeyError):
        Laws().check("gravity")


# Evaluators.


class Loose:
    """A verdict of the right shape that promises nothing."""

    def __init__(self, score: Any = 1.0, status: Any = "pass", findings: Any = ()) -> None:
        self.score, self.status, self.findings = score, status, findings


ERROR = Finding(severity="error", message="planted")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "evaluator"), sampled_rows(EVALUATORS, one_in=2), ids=[name for name, _ in EVALUATORS]
)
def test_our_own_evaluators_keep_their_laws(name: str, evaluator: OwnEvaluator) -> None:
    check_evaluator(evaluator, settings=SOON)


def growing() -> OwnEvaluator:
    count = [0]

    def evaluate(_run: Run) -> JudgedRun:
        count[0] += 1
        return Loose(score=1 / count[0])

    return evaluate


def meddling(run: Run) -> EvaluatorVerdict:
    run.outputs["meddled"] = 1
    return judge_latency(run)


def crashing(_run: Run) -> JudgedRun:
    raise ZeroDivisionError


def lenient(evaluator: OwnEvaluator, run: Run) -> JudgedRun:
    """Return a passing verdict for a crash."""
    try:
        return evaluator(run)
    except Exception:
        return Loose()


BROKEN: dict[str, OwnEvaluator] = {
    "is_deterministic": growing(),
    "status_follows_findings": lambda _run: Loose(findings=(ERROR,)),
    "score_is_a_share": lambda _run: Loose(score=1.5),
    "run_stays_as_it_is": meddling,
    "a_crash_is_a_fail": crashing,
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("law", [law.__name__ for law in EVALUATOR_LAWS])
def test_a_broken_evaluator_breaks_its_law(law: str) -> None:
    with pytest.raises(LawBroken, match=f"law {law} is broken: ") as caught:
        check_evaluator(BROKEN[law], guard=lenient, settings=settings(SOON, print_blob=True))
    assert not getattr(caught.value, "__notes__", [])


def test_a_crash_that_the_engine_catches_is_a_fail() -> None:
    check_evaluator(crashing, runs=runs(*WORLDS["all given"]), settings=STILL_HOLDS)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("score", [True, "1", float("nan"), -0.1, None])
def test_a_score_is_a_number_from_0_to_1(score: Any) -> None:
    with pytest.raises(LawBroken, match="score_is_a_share"):
        check_evaluator(lambda _run: Loose(score=score), settings=SOON)
