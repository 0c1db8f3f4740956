"""verify_many: the verdicts of verify, one by one, in the order of the plans."""

from collections.abc import Iterator
from typing import Any

import pytest

from critic import Plan, Proposal, verify, verify_many
from evals.canonical_json import canonical_bytes
from tests.harness.log.decisions import proposal


def _plans(given: Proposal) -> list[Plan]:
    """Return plans of which some pass and some do not."""
    steps, declared = given.plan.steps, given.plan.declared_outputs
    cut = [Plan(steps=steps[:count], declared_outputs=declared) for count in range(len(steps))]
    return [given.plan, *cut, Plan(steps=steps * 9, declared_outputs=()), given.plan]


def test_the_verdicts_are_those_of_verify_byte_for_byte_and_in_order() -> None:
    given = proposal()
    context, spec, ctx, plans = given.compiled, given.spec, given.ctx, _plans(given)
    alone = [canonical_bytes(verify(ctx, context, spec, plan)) for plan in plans]
    assert len({*alone}) > 1
    assert [*map(canonical_bytes, verify_many(context, spec, ctx, plans))] == alone
    assert [*map(canonical_bytes, verify_many(context, spec, ctx, iter(plans[::-1])))] == alone[
        ::-1
    ]


def test_verdicts_are_objects_of_their_own() -> None:
    given = proposal()
    same = [given.plan] * 2
    one, other = verify_many(given.compiled, given.spec, given.ctx, same)
    assert one == other
    assert one is not other


def test_a_plan_is_taken_when_its_verdict_is_asked_for() -> None:
    given, taken = proposal(), 0

    def endless() -> Iterator[Plan]:
        nonlocal taken
        while True:
            taken += 1
            yield given.plan

    verdicts = verify_many(given.compiled, given.spec, given.ctx, endless())
    assert taken == 0
    next(verdicts)
    next(verdicts)
    assert taken == 2


def test_what_is_not_a_plan_raises_at_its_turn_and_does_not_end_the_batch() -> None:
    given = proposal()
    plans: list[Any] = [given.plan, {"steps": []}, given.plan]
    verdicts = verify_many(given.compiled, given.spec, given.ctx, plans)
    first = next(verdicts)
    with pytest.raises(TypeError, match="verify needs a Plan, not dict"):
        next(verdicts)
    assert [*verdicts] == [first]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_what_is_not_a_context_raises_before_a_plan_is_taken(place: int) -> None:
    given = proposal()
    parts: list[Any] = [given.compiled, given.spec, given.ctx]
    parts[place] = given.plan
    with pytest.raises(TypeError, match=r"verify_many needs a \w+, not Plan"):
        verify_many(parts[0], parts[1], parts[2], [])
