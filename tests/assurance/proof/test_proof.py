"""The proofs, a sample of the validation, and the smallest plans."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3", reason="the proofs need z3-solver")

from critic import Proposal
from critic.prepared import PreparedPlan, prepare_plan
from critic.provenance.call_values import CallValues
from critic.provenance.value_facts import Aim, ValueFacts, values_known
from critic.provenance.value_kinds import Sought
from critic.provenance.worth import worth_of
from harness.testing._draw.digests import settle_names
from harness.testing._draw.edge_seen import seen_case
from harness.testing._draw.primitives import seeded_pick
from harness.wire import build
from tests.assurance.proof import kept, worth_lemmas
from tests.assurance.proof.encoding import PER_STEP, WHOLE
from tests.assurance.proof.enumerate import SETTINGS, STEPS, compare
from tests.assurance.proof.kept import SOURCES, are_answered
from tests.assurance.proof.lemma import prove
from tests.assurance.proof.proofs import failing, lemmas, possible, refuted
from tests.assurance.proof.solver import z3
from tests.assurance.proof.validate import formulas, validate
from tests.assurance.proof.worlds import World, world
from tests.support.effort import rarely

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
    rarely(
        [
            *("surfaced", "known", "declares", "allows", "backs", "stands", "says", "is_about"),
            *("value_refused", "fits"),
        ],
        one_in=4,
    ),
)
def test_formulas_that_leave_something_out_are_noticed(name: str) -> None:
    assert validate(range(300), formulas(_without(name))).differing


def test_every_plan_of_at_most_two_steps_is_judged_alike() -> None:
    done = compare(2)
    assert done.differing == []
    assert done.tried == PLANS_OF_TWO * len(SETTINGS) == 21_636
    assert done.accepted > 500


# --- the lemmas of origins ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "origin", "lemma"),
    [
        ("object", "party", "outsiders allow no target"),
        ("recipient", "named_public", "outsiders allow no target"),
        ("secret", "reached_web", "outsiders allow no target"),
        ("object", "contested", "a contested field is not enough"),
        ("attribute", "field", "a mention never helps a field"),
    ],
)
def test_a_wrong_worth_breaks_a_lemma(
    role: str, origin: str, lemma: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = worth_of
    slip = 2 if origin == "field" else 0

    def wrong(asked: Any, seen: Any, spec: Any) -> int:
        return slip if (asked, seen) == (role, origin) else right(asked, seen, spec)

    monkeypatch.setattr(worth_lemmas, "worth_of", wrong)
    broken = failing([prove(one) for one in worth_lemmas.worth_lemmas()], "proven")
    assert any(one.startswith(lemma) for one in broken), broken


def test_the_engine_finds_origins_in_the_order_of_the_lemmas() -> None:
    """The lemmas take the first origin whose fact holds: the engine yields them in that order."""
    several = 0
    for seed in range(300):
        proposal = build(Proposal, settle_names(seen_case(seeded_pick(seed))))
        case = prepare_plan(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
        with values_known(case) as known:
            facts = ValueFacts(case.spec, known)
            for asked, sought in targets_of(case):
                found = [one.origin for one in facts._origins(asked, sought, facts.every)]
                places = [worth_lemmas.ORIGINS.index(one) for one in found]
                assert places == sorted(places), found
                several += len(found) > 1
    assert several > 50


def targets_of(case: PreparedPlan) -> Iterator[tuple[Aim, Sought]]:
    values = CallValues(case.surface.manifests.tools)
    for _index, entry, fields in case.steps:
        if entry.capability is not None:
            pair = entry.capability.adapter_id, entry.capability.capability_id
            for one in values.values_of(pair, fields["args"]):
                if one.content is None and one.asked.role != "time":
                    yield one.asked, one.sought
