"""Columns answer as the rules do: on every fixture, and on plans that are drawn."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic import Proposal, Run
from harness.testing.strategies import edge_proposals
from harness.what_if.recorded_change import Alteration
from harness.wire import InvalidInput, parse
from tests.harness.what_if.columns.drawn import World, a_change
from tests.harness.what_if.columns.plan_files import Agreement, checked
from tests.support.effort import examples, sampled
from tests.support.large_cases import every_case
from tests.support.patience import PATIENT

EXAMPLES = examples(int(os.environ.get("COLUMNAR_EXAMPLES", "15")))
"""Worlds that are drawn; many more in a long run."""


def _fixtures() -> Iterator[Proposal]:
    """Yield the proposals of every case there is."""
    for case in every_case().values():
        document = case.document()
        with suppress(InvalidInput):
            yield parse(Proposal, document)
        with suppress(InvalidInput):
            yield parse(Run, document).proposal


CHANGES = {
    "nothing": Alteration(),
    "the mode": Alteration(safety_mode="network"),
    "the budget": Alteration(budget={"max_steps": 1, "bucket_tokens": 40}),
    **{f"policy {seed}": a_change(Random(seed)) for seed in range(4)},  # noqa: S311
}


@pytest.fixture(scope="module")
def fixtures() -> list[Proposal]:
    return list(_fixtures())


@pytest.mark.slow
@pytest.mark.parametrize("change", sampled(CHANGES.values(), one_in=9), ids=CHANGES)
def test_every_case_is_answered_as_the_rules_do(
    tmp_path: Path, fixtures: list[Proposal], change: Alteration
) -> None:
    assert len(fixtures) > 400
    found = checked(tmp_path, fixtures, change)
    assert found.differences == []
    assert found.by_columns > 0.8 * len(fixtures)


def _agreed(folder: Path, seed: int, worlds: int = 3, plans: int = 40) -> Agreement:
    rng = Random(seed)  # noqa: S311 - chance, not a secret
    drawn = [World(rng) for _ in range(worlds)]
    mixed = [one for world in drawn for one in world.proposals(plans)]
    rng.shuffle(mixed)
    return checked(folder, mixed, a_change(rng, drawn[0].base))


@pytest.mark.slow
@settings(PATIENT, max_examples=EXAMPLES)
@given(st.integers(0, 2**40))
def test_plans_that_repeat_their_steps_are_answered_as_the_rules_do(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    assert _agreed(tmp_path_factory.getbasetemp(), seed).differences == []


@settings(PATIENT, max_examples=EXAMPLES)
@given(st.lists(edge_proposals(), min_size=1, max_size=3), st.integers(0, 2**40))
def test_drawn_proposals_are_answered_as_the_rules_do(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[Proposal], seed: int
) -> None:
    change = a_change(Random(seed), drawn[0])  # noqa: S311
    assert checked(tmp_path_factory.getbasetemp(), drawn, change).differences == []
