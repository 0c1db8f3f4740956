"""Outputs of plans of real tasks, each text replaced by one that asks for another value.

Nothing runs because of it but what the same session would let run if it was asked for early. The
plans and the tools are beside the project, as `test_late_plans` says, and are read there.
"""

import json
from collections import Counter
from random import Random
from typing import Any, Final

import pytest

from harness.policy import Policy
from harness.wire import build
from tests.experiments.test_late_plans import PLANS, READER, plans
from tests.support.effort import examples
from tests.support.injected_outputs import (
    Place,
    first_action,
    injections,
    run_late,
    text_places,
    widened_by,
)
from tests.support.paths import ROOT

TOOLS: Final = ROOT.parent / "shared" / "data" / "sessions" / "ruleset3" / "tools3.json"
_MOST: Final = 2000
"""More than there are texts in the outputs."""


def policies() -> dict[str, Policy]:
    """Return the policy of each suite, with a reader."""
    pair = {"name": READER, "adapter_id": "app", "capability_id": READER}
    result = {"author": "public", "derived": True}
    reader = {**pair, "approval_mode": "read_only", "result": result}
    spec = {"id": "s", "required_outputs": [], "provenance": "closed", "late": "sources"}
    guard = {"safety_mode": "destructive", "budget": {"max_steps": 100, "bucket_tokens": 0}}
    suites = json.loads(TOOLS.read_bytes())["suites"]
    return {
        name: build(
            Policy, {"guard": guard, "spec": spec, **suite, "tool": [*suite["tool"], reader]}
        )
        for name, suite in suites.items()
    }


def places() -> list[tuple[dict[str, Any], str, Place]]:
    """Return each text in an output: its plan, the step that returns it, and where it is."""
    return [
        (plan, step, place)
        for plan in plans()
        for step, output in plan["outputs"].items()
        for place in text_places(output)
    ]


def suite_of(plan: dict[str, Any]) -> str:
    return str(plan["id"]).partition("/")[0]


@pytest.mark.slow
def test_most_plans_run_to_their_end() -> None:
    late, known = [plan for plan in plans() if plan["outputs"]], policies()
    whole = [
        plan
        for plan in late
        if len(run_late(known[suite_of(plan)], plan, plan["outputs"])) == len(plan["steps"])
    ]
    assert (len(late), len(whole)) == (53, 45)


@pytest.mark.slow
def test_no_plan_is_refused_before_it_runs() -> None:
    """Of a reader nobody knows yet which field it will find: that is judged at the opening."""
    known = policies()
    actions = Counter(
        first_action(known[suite_of(plan)], plan) for plan in plans() if plan["outputs"]
    )
    assert actions == {"allow": 51, "ask": 2}  # two payees are plain words of the request


@pytest.mark.slow
def test_an_injected_text_changes_nothing_that_runs_but_what_would_run_early() -> None:
    known, chance, every = policies(), Random(7), places()  # noqa: S311 - to draw tests
    assert 1500 < len(every) < _MOST, PLANS
    drawn = chance.sample(every, min(len(every), examples(_MOST) // 2))
    for plan, step, place in drawn:
        text = chance.choice([*injections(plan, step)])
        wrong = widened_by(known[suite_of(plan)], plan, step, place, text)
        assert wrong == [], (plan["id"], step, place, text)
