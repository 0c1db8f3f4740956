"""The formulas of the lemmas, asked about concrete proposals, against the engine's answers.

Compared per instance: whether the plan is accepted, and if not, whether an approval of it would
clear that; for every check and refusal kind, the very steps that it refuses and whether it refuses
the whole; and that `facts`, which the lemmas take for granted, holds.
"""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from critic import Proposal, verify_proposal
from critic.prepared import prepare_plan
from critic.verify import found_in
from harness.testing.strategies import seeded_edge_proposal
from tests.assurance.proof.concrete import finite
from tests.assurance.proof.encoding import PER_STEP, WHOLE, accepted, approvable, facts
from tests.assurance.proof.evaluate import Compiled, compiled
from tests.assurance.proof.solver import a
from tests.assurance.proof.worlds import INT, World, world

Found = set[tuple[str, str, int | None]]
"""Check, refusal kind, and the offending step: None is the plan as a whole."""


class Answer(NamedTuple):
    """What is said of a proposal."""

    facts: bool
    accepted: bool
    approvable: bool
    found: Found


_STEP: Final = "i"


class Formulas(NamedTuple):
    accepted: Compiled
    approvable: Compiled
    facts: Compiled
    per_step: dict[tuple[str, str], Compiled]
    whole: dict[tuple[str, str], Compiled]


class Validated(NamedTuple):
    """How many were compared, the seeds that differ, and how often each answer was met."""

    tried: int
    differing: list[str]
    met: Counter[str]


def formulas(w: World) -> Formulas:
    """Return the formulas of the lemmas, compiled."""
    return Formulas(
        compiled(accepted(w)),
        compiled(approvable(w)),
        compiled(facts(w)),
        {key: compiled(says(w, a(INT, _STEP))) for key, says in PER_STEP.items()},
        {key: compiled(says(w)) for key, says in WHOLE.items()},
    )


@cache
def proven() -> Formulas:
    """Return the formulas that the lemmas are about."""
    return formulas(world())


def encoded(proposal: Proposal, said: Formulas) -> Answer:
    """Return the values of the formulas."""
    read = finite(proposal.wire())
    found: Found = {(*key, None) for key, says in said.whole.items() if not says(read, ())}
    for i in range(len(proposal.plan.steps)):
        at = read._replace(meanings={**read.meanings, _STEP: lambda i=i: i})
        found |= {(*key, i) for key, says in said.per_step.items() if not says(at, ())}
    return Answer(
        facts=said.facts(read, ()),
        accepted=said.accepted(read, ()),
        approvable=said.approvable(read, ()),
        found=found,
    )


def engine(proposal: Proposal) -> Answer:
    """Return the verdict of the engine in the same shape; `facts` is taken to hold.

    What it finds is taken before a long refusal is capped: the formulas have no cap.
    """
    verdict = verify_proposal(proposal)
    if verdict.ok:
        return Answer(facts=True, accepted=True, approvable=False, found=set())
    parts = proposal.ctx, proposal.compiled, proposal.spec, proposal.plan
    listed = [one.violation() for one in found_in(prepare_plan(*parts))]
    found: Found = {(one.check, one.kind, one.offending_step) for one in listed}
    return Answer(facts=True, accepted=False, approvable=verdict.approvable, found=found)


def validate(seeds: Iterable[int], said: Formulas | None = None) -> Validated:
    """Compare both on the proposal of each seed."""
    said = said or proven()
    tried, differing, met = 0, [], Counter[str]()
    for seed in seeds:
        proposal = seeded_edge_proposal(seed)
        expected = engine(proposal)
        tried += 1
        met.update({f"{check} {kind}" for check, kind, _ in expected.found} or {"accepted"})
        met["approvable"] += expected.approvable
        if encoded(proposal, said) != expected:
            differing.append(f"seed {seed}")
    return Validated(tried, differing, met)
