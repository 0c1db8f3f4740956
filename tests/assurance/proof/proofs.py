"""All lemmas, and whether each holds, fails or is empty."""

from typing import Final

from tests.assurance.proof.falsehoods import falsehoods
from tests.assurance.proof.laws import laws
from tests.assurance.proof.lemma import Answer, Lemma, meet_premises, prove, refute
from tests.assurance.proof.lemmas import step_lemmas
from tests.assurance.proof.worlds import World, world
from tests.assurance.proof.worth_lemmas import worth_falsehoods, worth_lemmas

LONG_ENOUGH: Final = 3
"""Steps of the plans that counterexamples are looked for in."""


def lemmas(w: World) -> tuple[Lemma, ...]:
    return (*step_lemmas(w), *laws(w), *worth_lemmas())


def all_falsehoods() -> tuple[Lemma, ...]:
    return (*falsehoods(world(LONG_ENOUGH)), *worth_falsehoods())


def proven() -> list[Answer]:
    """Return the result of each lemma; `proven` is expected."""
    return [prove(lemma) for lemma in lemmas(world())]


def possible() -> list[Answer]:
    """Return whether a plan of two steps can meet each lemma's premises; `possible` is expected."""
    return [meet_premises(lemma) for lemma in lemmas(world(2))]


def refuted() -> list[Answer]:
    """Return the result of each false lemma; `refuted` is expected."""
    return [refute(lemma) for lemma in all_falsehoods()]


def failing(answers: list[Answer], hoped: str) -> list[str]:
    """Return the names of the lemmas with another result, and that result."""
    return [f"{one.lemma.name}: {one.verdict}" for one in answers if one.verdict != hoped]
