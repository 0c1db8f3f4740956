"""The proofs, a sample of the validation, and the smallest plans."""

import pytest

pytest.importorskip("z3", reason="the proofs need z3-solver")

from tests.assurance.proof.encoding import PER_STEP, WHOLE
from tests.assurance.proof.enumerate import SETTINGS, STEPS, compare
from tests.assurance.proof.proofs import failing, possible, proven, refuted
from tests.assurance.proof.solver import z3
from tests.assurance.proof.validate import formulas, validate
from tests.assurance.proof.worlds import World, world

PLANS_OF_TWO = 1 + len(STEPS) + len(STEPS) ** 2


def test_every_lemma_is_proven_and_none_is_vacuous() -> None:
    answers = proven()
    assert failing(answers, "proven") == []
    assert failing(possible(), "possible") == []
    names = [one.lemma.name for one in answers]
    assert len(set(names)) == len(names) >= 80


def test_false_lemmas_have_counterexamples() -> None:
    answers = refuted()
    assert failing(answers, "refuted") == []
    assert all(one.example for one in answers)


def test_the_formulas_of_the_lemmas_answer_as_the_engine_does() -> None:
    done = validate(range(500))
    assert done.differing == []
    met = {f"{check} {kind}" for check, kind in (*PER_STEP, *WHOLE)} | {"accepted", "approvable"}
    assert all(done.met[kind] > 20 for kind in met)


def _without(name: str) -> World:
    return world().changed(**{name: lambda *_: z3.BoolVal(True)})


@pytest.mark.parametrize(
    "name",
    [
        *("surfaced", "known", "declares", "allows", "backs", "stands", "says", "is_about"),
        *("value_refused", "fits"),
    ],
)
def test_formulas_that_leave_something_out_are_noticed(name: str) -> None:
    assert validate(range(300), formulas(_without(name))).differing


def test_every_plan_of_at_most_two_steps_is_judged_alike() -> None:
    done = compare(2)
    assert done.differing == []
    assert done.tried == PLANS_OF_TWO * len(SETTINGS) == 21_636
    assert done.accepted > 500
