"""The proofs, a sample of the validation, and the smallest plans."""

from pathlib import Path

import pytest

pytest.importorskip("z3", reason="the proofs need z3-solver")

from tests.assurance.proof import kept
from tests.assurance.proof.encoding import PER_STEP, WHOLE
from tests.assurance.proof.enumerate import SETTINGS, STEPS, compare
from tests.assurance.proof.kept import SOURCES, are_answered
from tests.assurance.proof.lemma import prove
from tests.assurance.proof.proofs import failing, lemmas, possible, refuted
from tests.assurance.proof.solver import z3
from tests.assurance.proof.validate import formulas, validate
from tests.assurance.proof.worlds import World, world

pytestmark = pytest.mark.slow

ABOUT_THE_ENGINE = ("concrete", "enumerate", "evaluate", "validate")
"""The modules that compare the formulas with the engine, which the tests always do."""
PLANS_OF_TWO = 1 + len(STEPS) + len(STEPS) ** 2


unless_answered = pytest.mark.skipif(
    are_answered(), reason="`python -m tests.assurance.proof` has answered for these very formulas"
)


def test_every_lemma_is_proven() -> None:
    """All of them, or a sample where all were proven of these very formulas."""
    every = lemmas(world())
    share = every[::12] if are_answered() else every
    assert failing([prove(lemma) for lemma in share], "proven") == []
    names = [lemma.name for lemma in every]
    assert len(set(names)) == len(names) >= 80


@unless_answered
def test_no_lemma_is_vacuous() -> None:
    assert failing(possible(), "possible") == []


def test_what_is_kept_of_the_proofs_is_of_these_formulas_and_no_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(kept, "PROOFS", tmp_path / "proofs.json")
    assert not kept.are_answered()
    kept.keep()
    assert kept.are_answered()
    monkeypatch.setattr(kept, "SOURCES", kept.SOURCES[1:])
    assert not kept.are_answered()
    here = {path.stem for path in Path(__file__).parent.glob("*.py")}
    assert here - {"__init__", "__main__", "kept", "test_proof", *ABOUT_THE_ENGINE} == {*SOURCES}


@unless_answered
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
