"""A lemma, and the answer of the solver."""

from time import perf_counter
from typing import Final, NamedTuple

from tests.assurance.proof.solver import Term, z3

_PATIENCE_MS: Final = 60_000  # for a machine that does much beside it

# Proofs need quantifiers instantiated at the terms that occur, and examples need a model built:
# z3 by default spends its time on the second. Tried in this order.
_BY_TERMS: Final[dict[str, bool]] = {"mbqi": False, "auto_config": False}
_MANNERS: Final[tuple[dict[str, bool], ...]] = (
    _BY_TERMS | {"pull_nested_quantifiers": True},
    _BY_TERMS,
    {},
)


class Lemma(NamedTuple):
    """`given` implies every one of `goals`, for every meaning of the symbols in them.

    With `split`, proven apart for when that holds and for when it does not. `enough` has, for each
    goal, premises that are instances or parts of those in `given`: they are tried first, since a
    proof that has less to look through is found sooner.
    """

    name: str
    says: str
    given: tuple[Term, ...]
    goals: tuple[Term, ...]
    split: Term = None
    enough: tuple[tuple[Term, ...], ...] = ()


class Answer(NamedTuple):
    """What came of the search for a world; `example` is the one found, if any."""

    lemma: Lemma
    verdict: str
    seconds: float
    example: str = ""


def prove(lemma: Lemma) -> Answer:
    """Return `proven` if no world satisfies all of `given` and violates a goal."""
    began = perf_counter()
    cases = ((),) if lemma.split is None else ((lemma.split,), (z3.Not(lemma.split),))
    for at, goal in enumerate(lemma.goals):
        premises = [*lemma.enough[at : at + 1], lemma.given]
        for case in cases:
            attempts = [
                ((*given, z3.Not(goal), *case), how) for given in premises for how in _MANNERS
            ]
            if not any(_search(*attempt)[0] == "unsat" for attempt in attempts):
                return Answer(lemma, f"not proven, goal {at}", perf_counter() - began)
    return Answer(lemma, "proven", perf_counter() - began)


def refute(lemma: Lemma) -> Answer:
    """Return `refuted` if the lemma fails in some world, given as the example."""
    return _exists(lemma, (*lemma.given, z3.Not(z3.And(*lemma.goals))), "refuted")


def meet_premises(lemma: Lemma) -> Answer:
    """Return `possible` if some world satisfies all of `given`: else the lemma would be empty."""
    return _exists(lemma, lemma.given, "possible")


def _exists(lemma: Lemma, terms: tuple[Term, ...], found: str) -> Answer:
    began = perf_counter()
    result, model = _search(terms, {})
    verdict = found if result == "sat" else f"not {found}"
    return Answer(lemma, verdict, perf_counter() - began, model)


def _search(terms: tuple[Term, ...], how: dict[str, bool]) -> tuple[str, str]:
    """Return `sat`, `unsat` or `unknown`, and the model if there is one."""
    solver = z3.Solver()
    solver.set(timeout=_PATIENCE_MS, random_seed=0, **how)
    solver.add(*terms)
    result = str(solver.check())
    return result, str(solver.model()) if result == "sat" else ""
