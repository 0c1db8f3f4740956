"""The laws of openings, on random late plans that are run with random outputs."""

from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Plan, Proposal, Refused, ToolCall, ToolStep, Verified, verify_proposal
from critic.late.opened_steps import EarlierOpening
from critic.late.openings import OpeningError, open_step, settle_step
from evals.canonical_json import canonical_json, digest
from evals.timestamps import parse_time
from harness.wire import build
from tests.support.agreement import ONE_FAILURE
from tests.support.effort import examples
from tests.support.late_plans import late_proposal
from tests.support.late_runs import OUTPUTS
from tests.support.model import openings as model
from tests.support.model.facts import Json

seeds = given(st.integers(min_value=0, max_value=2**32))


class Opening(NamedTuple):
    """One opening of a run: what it was asked with, and its answer."""

    wire: Json
    proposal: Proposal
    calls: list[Json]
    openings: list[model.Opening]
    step: int
    as_of: str | None

    @property
    def given(self) -> dict[str, Any]:
        return {
            "as_of": moment(self.as_of),
            "openings": [EarlierOpening(a, b, moment(t)) for a, b, t in self.openings],
        }

    def ask(self, proposal: Proposal | None = None) -> Verified | Refused:
        return open_step(proposal or self.proposal, self.ended, self.step, **self.given)

    @property
    def ended(self) -> list[ToolCall]:
        return [build(ToolCall, call) for call in self.calls]

    @property
    def args(self) -> Json:
        return settle_step(self.proposal, self.ended, self.step, **self.given).args


def moment(text: str | None) -> Any:
    return None if text is None else parse_time(text)


def openings_of(seed: int) -> Iterator[Opening]:
    """Yield the openings of a plan that passes, until one is refused."""
    wire, random = late_proposal(seed), Random(seed)  # noqa: S311 - to draw tests
    proposal = build(Proposal, wire)
    if not verify_proposal(proposal).ok:
        return
    calls, opened = list[Json](), list[model.Opening]()
    for index, step in enumerate(wire["plan"]["steps"]):
        if step["kind"] != "tool":
            continue
        as_of = random.choice((None, "2026-05-09T10:00:00Z"))
        asked = Opening(wire, proposal, list(calls), list(opened), index, as_of)
        yield asked
        if not asked.ask().ok:
            return
        call = {name: step[name] for name in ("adapter_id", "capability_id")}
        call |= {"step": index, "args": asked.args}
        opened.append((index, len(calls), as_of))
        failed, output = random.random() < 0.1, random.choice(OUTPUTS)
        call |= {"status": "failed", "error": "busy ord 1"} if failed else {"status": "completed"}
        calls.append(call | ({} if output is None else {"output": output}))


def places(verdict: Verified | Refused) -> list[tuple[str, str | None]]:
    if isinstance(verdict, Verified):
        return []
    return [(one.check, one.path) for one in verdict.violations]


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_an_opening_is_what_the_second_statement_says(seed: int) -> None:
    for one in openings_of(seed):
        said = model.opened(one.wire, one.calls, one.openings, one.step, one.as_of)
        assert places(one.ask()) == said


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_late_is_never_wider_than_verify_of_the_settled_plan(seed: int) -> None:
    for one in openings_of(seed):
        found = settle_step(one.proposal, one.ended, one.step, **one.given)
        settled = found.proposal
        if settled is None:
            assert not one.ask().ok
            continue
        assert found.plan_digest == digest(settled.plan)
        verdict, last = verify_proposal(settled), len(settled.plan.steps) - 1
        named = f"/steps/{last}", f"/steps/{one.step}"
        expected = [
            (violation.check, (violation.path or "").replace(*named, 1), violation.approvable)
            for violation in (() if verdict.ok else verdict.violations)
            if violation.offending_step in (last, None)
        ]
        answer = one.ask()
        violations = () if isinstance(answer, Verified) else answer.violations
        assert [(each.check, each.path, each.approvable) for each in violations] == expected


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_an_early_value_gives_the_same_opening_as_a_late_one(seed: int) -> None:
    for one in openings_of(seed):
        if settle_step(one.proposal, one.ended, one.step, **one.given).proposal is None:
            continue
        assert places(one.ask(early(one))) == places(one.ask())


def early(one: Opening) -> Proposal:
    """Return the plan with the values of the step in its arguments, in the same order as before."""
    steps = list(one.proposal.plan.steps)
    step = steps[one.step]
    assert type(step) is ToolStep
    before = [take.step for take in step.takes or ()]
    names = step.model_fields_set - {"takes"}
    fields = {name: getattr(step, name) for name in names}
    depends = [*(step.depends_on or ()), *before]
    optional = {"depends_on": depends} if depends else {}
    steps[one.step] = ToolStep(**{**fields, "args": one.args, **optional})
    plan = Plan(steps=steps, declared_outputs=one.proposal.plan.declared_outputs)
    return one.proposal.model_copy(update={"plan": plan})


@settings(ONE_FAILURE, max_examples=examples(400))
@seeds
def test_what_is_not_taken_changes_nothing(seed: int) -> None:
    """An output changes no early argument and no verdict but by what is taken, pinned or seen."""
    for one in openings_of(seed):
        step = one.wire["plan"]["steps"][one.step]
        judged = "provenance" in one.wire["spec"] or "confined_evidence" in one.wire["spec"]
        if judged or "evidence_steps" in step:
            continue
        taken = {take["step"] for take in step.get("takes", [])}
        names = [one.wire["plan"]["steps"][call["step"]].get("id") for call in one.calls]
        other = [
            call if name in taken or call["status"] != "completed" else {**call, "output": "other"}
            for call, name in zip(one.calls, names, strict=True)
        ]
        changed = one._replace(calls=other)
        try:
            answer = changed.ask()
        except OpeningError:  # a step between them took from what is other now
            continue
        assert places(answer) == places(one.ask())
        assert canonical_json(changed.args) == canonical_json(one.args)
