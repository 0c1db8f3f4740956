"""Two implementations of one function that must agree: report where they do not."""

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import Phase, Verbosity, settings

from evals.envelope import Envelope
from harness.wire import InvalidInput
from tests.assurance.shrink import smallest
from tests.support.late_runs import LateCase
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

_NO_INPUT: Final = (InvalidInput, LookupError, TypeError, ValueError, AttributeError)


class Statements(NamedTuple):
    """One function, stated twice."""

    law: str
    read: Callable[[Json], Any]
    """From wire form to what the engine judges."""
    engine: Callable[[Any], Any]
    model: Callable[[Json], Any]

    def differ(self, wire: Json) -> bool:
        """Return whether they differ on a case; on invalid input they do not."""
        try:
            envelope = self.read(wire)
            return bool(self.engine(envelope) != self.model(envelope.wire()))
        except _NO_INPUT:
            return False

    def require_agreement(self, envelope: Envelope | LateCase, model: Any = None) -> None:
        """Fail unless they agree on a case; `model` is what the model says, if that is known.

        The failure shows the law, the smallest case as JSON and what each side says of it.
        """
        wire = envelope.wire()
        if self.engine(envelope) == (self.model(wire) if model is None else model):
            return
        envelope = self.read(smallest(wire, self.differ))
        lines = (
            f"broken: {self.law}",
            f"case:   {json.dumps(envelope.wire())}",
            f"engine: {json.dumps(self.engine(envelope), default=str)}",
            f"model:  {json.dumps(self.model(envelope.wire()), default=str)}",
        )
        pytest.fail("\n".join(lines), pytrace=False)


# `require_agreement` makes a case small and shows it as JSON; Hypothesis need do neither.
ONE_FAILURE: Final = settings(
    PATIENT,
    verbosity=Verbosity.quiet,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    report_multiple_bugs=False,
    print_blob=False,
)
