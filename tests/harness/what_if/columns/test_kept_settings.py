"""What a what-if keeps of contexts and of the facts of steps, group of rows after group."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import Proposal, RunContext
from harness.testing._draw.edge_proposals import make_proposal
from harness.testing._draw.primitives import seeded_pick
from harness.what_if.changed_turns import Unjudgeable
from harness.what_if.columns import column_facts
from harness.what_if.columns.column_facts import ChangedSettings, Setting, StepTables
from harness.what_if.recorded_change import Alteration, ChangedInputs
from harness.wire import build
from tests.harness.log.decisions import proposal

CONTEXTS = 300
SPENT = {"adapter_id": "orders", "capability_id": "read", "args_digest": "0" * 64}


class Counting(ChangedInputs):
    """Changes nothing, and counts the contexts that it is asked for."""

    asked = 0

    def proposal(self, recorded: Proposal, key: str) -> Proposal | Unjudgeable:
        self.asked += 1
        return super().proposal(recorded, key)


def texts_of(number: int) -> tuple[str, str, str]:
    wire = proposal().wire()
    ctx = {**wire["ctx"], "run_budget": {"bucket_tokens": 1_000 + number}}
    ctx.pop("trace_id")
    return json.dumps(ctx), json.dumps(wire["compiled"]), json.dumps(wire["spec"])


def step() -> str:
    return json.dumps(proposal().wire()["plan"]["steps"][0])


def test_the_settings_of_hundreds_of_contexts_are_made_once() -> None:
    changed = Counting(Alteration())
    settings = ChangedSettings(changed)
    every = [texts_of(number) for number in range(CONTEXTS)]
    first = [settings.settings_of(*one) for one in every]
    again = [settings.settings_of(*one) for one in every]
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert changed.asked == CONTEXTS


def test_settings_that_were_not_used_for_longest_go_when_they_hold_too_much() -> None:
    changed = Counting(Alteration())
    one, other, third = map(texts_of, range(3))
    settings = ChangedSettings(changed, most=40 * len("".join(one)))
    kept = settings.settings_of(*one)
    settings.settings_of(*other)
    assert settings.settings_of(*one) is kept
    for number in range(2, CONTEXTS):
        settings.settings_of(*texts_of(number))
    assert settings.settings_of(*one) is not kept, "forgotten"
    assert changed.asked == CONTEXTS + 1
    assert settings.settings_of(*third) is not None


def test_the_facts_of_steps_are_found_once_where_only_limits_differ() -> None:
    settings = ChangedSettings(Counting(Alteration()))
    one, other = (settings.settings_of(*texts_of(number)).setting_at(-1) for number in range(2))
    assert one is not other
    assert one.facts(step()) is other.facts(step())
    ctx, compiled, spec = texts_of(0)
    for changed in ({"safety_mode": "local_write"}, {"spent": {"calls": [SPENT]}}):
        told = json.dumps({**json.loads(ctx), **changed})
        third = settings.settings_of(told, compiled, spec).setting_at(-1)
        assert third.facts(step()) is not one.facts(step()), "a step is judged by it"


@given(seed=st.integers(0, 2**40), limit=st.integers(1, 50), spent=st.integers(0, 50))
def test_no_limit_changes_the_facts_of_a_step(seed: int, limit: int, spent: int) -> None:
    proposal = Proposal(**make_proposal(seeded_pick(seed)))
    ctx = proposal.ctx.wire()
    ctx["run_budget"] = {"max_steps": limit, "bucket_tokens": limit}
    ctx["spent"] = {**ctx.get("spent", {}), "steps": spent, "tokens": spent}
    limited = Proposal(
        ctx=build(RunContext, ctx),
        compiled=proposal.compiled,
        spec=proposal.spec,
        plan=proposal.plan,
    )
    settings = [Setting(each, StepTables()) for each in (proposal, limited)]
    for each in proposal.plan.wire()["steps"]:
        given, changed = (setting.facts(json.dumps(each)) for setting in settings)
        assert given == changed


def test_too_many_facts_are_forgotten_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_facts, "_MOST_FACTS", 3)
    tables = StepTables()
    wire = proposal().wire()
    other = {**wire, "ctx": {**wire["ctx"], "safety_mode": "read_only"}}
    one, second = (Setting(build(Proposal, each), tables) for each in (wire, other))
    found = [one.facts(step()), second.facts(step()), one.facts(" " + step())]
    assert one.facts(step()) is found[0], "kept"
    assert one.facts("  " + step()) == found[2]
    assert one.facts(step()) is not found[0], "forgotten"
    assert [one.facts(step()), second.facts(step())] == found[:2]
