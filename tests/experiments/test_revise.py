"""The experiment: the same at every run, all kinds in it, and the page shows its figures."""

from itertools import pairwise
from typing import Any, get_args

import pytest

from critic import RefusalKind
from tests.experiments import revise, shown
from tests.experiments.noisy import LEVELS

LOOSELY = 0.05


@pytest.fixture(scope="module")
def worlds() -> revise.Worlds:
    """Return the fixtures only, since the recorded agents are not available everywhere."""
    return {"fixtures": revise.all_worlds()["fixtures"]}


@pytest.fixture(scope="module")
def small(worlds: revise.Worlds) -> dict[str, Any]:
    return revise.run(worlds, trials=80, shares=(0.5,))


@pytest.mark.slow
def test_it_gives_the_same_figures_again(worlds: revise.Worlds, small: dict[str, Any]) -> None:
    assert revise.run(worlds, trials=80, shares=(0.5,)) == small


@pytest.mark.slow
def test_a_planner_with_more_advice_succeeds_at_least_as_often(small: dict[str, Any]) -> None:
    for found in (small, shown.kept()):
        for group in found["groups"].values():
            shares = [group["levels"][level]["approved"][-1]["share"] for level in LEVELS]
            for less, more in pairwise(shares):
                assert less <= more + LOOSELY


@pytest.mark.slow
def test_the_first_drafts_are_the_same_for_all(small: dict[str, Any]) -> None:
    for group in small["groups"].values():
        firsts = {group["levels"][level]["approved"][0]["share"] for level in LEVELS}
        assert len(firsts) == 1


def test_errors_of_all_five_kinds_are_made() -> None:
    for group in shown.kept()["groups"].values():
        assert {*group["first_faults"]} == {*get_args(RefusalKind)}
        assert all(group["first_faults"].values())


def test_an_interval_holds_its_share_and_stays_within_bounds() -> None:
    assert revise.share(0, 10) == {"share": 0.0, "low": 0.0, "high": 0.278}
    assert revise.share(10, 10) == {"share": 1.0, "low": 0.722, "high": 1.0}
    assert revise.share(50, 100) == {"share": 0.5, "low": 0.404, "high": 0.596}


def test_the_page_shows_the_kept_figures_and_the_picture() -> None:
    assert shown.shown() == shown.rendered(shown.kept())
    assert shown.PICTURE.is_file()
