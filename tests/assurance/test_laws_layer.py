"""The layer `laws` tries all that it reports, and names a law that breaks."""

from typing import Any

import pytest

from critic import Run
from harness.testing._laws.evaluator_laws import JudgedRun
from harness.testing._laws.verify_laws import OF_SOURCED
from harness.testing.laws import GUARD_LAWS, LAWS
from tests.assurance.layers import laws
from tests.assurance.layers.laws import (
    EVALUATED,
    GUARDED,
    GuardTask,
    Task,
    World,
    broken,
    guard_tasks,
    tasks,
    tasks_in_turn,
    worlds,
    worlds_of_cases,
)


def test_every_law_is_tried_in_every_world_that_it_is_about() -> None:
    """The laws of provenance are about worlds whose spec judges it, or is drawn."""
    found = list(tasks(worlds(), 1, 1))
    sourced = {law.__name__ for law in OF_SOURCED}
    for world in worlds():
        here = [task.name for task in found if task.world.name == world.name]
        is_sourced = world.spec is None or world.spec.provenance is not None
        laws_here = [name for name in LAWS if is_sourced or name not in sourced]
        assert here == [*laws_here, *EVALUATED]
    assert {task.name for task in found} == {*LAWS, *EVALUATED}


def test_a_part_of_the_laws_of_guards_meets_each_policy_and_each_law() -> None:
    whole, part = list(guard_tasks(1)), list(guard_tasks(1, one_in=2))
    assert len(part) * 2 == len(whole)
    assert {task.policy for task in part} == {*GUARDED}
    assert {task.name for task in part} == {task.name for task in whole}


def test_every_law_of_guards_is_tried() -> None:
    found = list(guard_tasks(1))
    assert {task.name for task in found} == {*GUARD_LAWS}
    task = GuardTask("that halts", GUARD_LAWS[0], 1)
    assert task.told == f"{GUARD_LAWS[0]} of a guard that halts"
    assert "says nothing here" in broken(task)


def test_the_worlds_of_the_cases_are_many_and_each_another() -> None:
    found = worlds_of_cases()
    manifests = [world.compiled.manifests for world in found if world.compiled is not None]
    assert len(manifests) == len(found) >= 100
    assert all(one not in manifests[:at] for at, one in enumerate(manifests))


def test_a_law_that_breaks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def beyond(_run: Run) -> Any:
        return Loose()

    class Loose:
        score, status, findings = 2.0, "pass", ()

    wrong: dict[str, Any] = {"beyond": beyond}
    monkeypatch.setattr(laws, "EVALUATED", wrong)
    task = Task(World("drawn"), "beyond", 5, of_evaluator=True)
    assert task.told == "beyond of drawn"
    assert broken(task).startswith("LawBroken: law score_is_a_share is broken: ")


def test_a_law_that_holds_is_silent() -> None:
    assert broken(Task(World("drawn"), "totality", 5)) == ""
    assert broken(Task(World("drawn"), "latency", 5, of_evaluator=True)) == ""


def test_an_exception_of_any_kind_counts_as_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_given: Any) -> JudgedRun:
        raise KeyError("nowhere")

    monkeypatch.setattr(laws, "_laws", lost)
    assert broken(Task(World("drawn"), "totality", 5)) == "KeyError: 'nowhere'"


def test_in_turn_each_world_keeps_some_laws_and_each_law_is_met() -> None:
    found = [worlds()[0]] * 8
    met = [task.name for task in tasks_in_turn(found, 1)]
    assert sorted(met) == sorted(task.name for task in tasks(found[:1], 1))
