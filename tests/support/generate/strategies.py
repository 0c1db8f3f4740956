"""Proposals and runs as envelopes: as Hypothesis strategies, and by seed for loops that count."""

from collections.abc import Callable

from hypothesis import strategies as st

from critic import Proposal, Run
from tests.support.generate.drawing import Pick, drawn_by, seeded
from tests.support.generate.proposals import make_proposal
from tests.support.generate.runs import make_run
from tests.support.model.facts import Json


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    """Draw a proposal: `make_proposal`, driven by Hypothesis."""
    return Proposal(**make_proposal(drawn_by(draw)))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Draw a run: `make_run`, driven by Hypothesis."""
    return Run(**make_run(drawn_by(draw)))


@st.composite
def cases_of(draw: st.DrawFn, make: Callable[[Pick], Json]) -> Json:
    """Draw what a function of a pick returns, driven by Hypothesis."""
    return make(drawn_by(draw))


def seeded_proposal(seed: int) -> Proposal:
    """Return the proposal of that seed."""
    return Proposal(**make_proposal(seeded(seed)))


def seeded_run(seed: int) -> Run:
    """Return the run of that seed."""
    return Run(**make_run(seeded(seed)))
