"""Layer `mutation_harness`: a small change of the record, the log, the loops ... is noticed.

The same demand as for `critic` and `evals`, and the same list of equivalents. There is not a second
model of the harness: what notices a mutant are the tests that run its line, the fastest first, in
this process. A quick run takes a fixed sample, a full run all mutants.
"""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Final

from tests.assurance.layers.mutation import Killer, Killers, judge, judge_places, meet
from tests.assurance.mutation.covering import measure
from tests.assurance.mutation.judged import is_equivalent, row_of
from tests.assurance.mutation.killers import load_libraries
from tests.assurance.mutation.mutants import all_mutants
from tests.assurance.mutation.suite import Suite, with_suite
from tests.assurance.row import Row

PLACES: Final = (
    "harness/wire.py",
    "harness/record",
    "harness/process.py",
    "harness/log",
    "harness/replay",
    "harness/runtime",
    "harness/loops",
)
_TESTS: Final = (
    "tests/harness",
    # It installs packages, and what it runs is not in this process.
    "--ignore=tests/harness/testing/test_downstream.py",
)
_NAME: Final = "mutation_harness"
_QUICK: Final = 24
"""Mutants of a quick run: each costs seconds."""
_SOON, _PATIENT = 2, 15
"""How many seconds of tests a killer runs, as they were measured without a mutation."""


def run(*, quick: bool, only: Sequence[str] = ()) -> list[Row]:
    """Require that every mutant is killed or judged equivalent. `only`: files and folders."""
    load_libraries()
    covering = measure(_TESTS, ["harness"])
    return with_suite(_TESTS, covering, partial(_run, quick=quick, only=only))


def _run(suite: Suite, *, quick: bool, only: Sequence[str]) -> list[Row]:
    cheap = Killer(partial(suite.failing, _SOON), 20 * _SOON, suite.learn)
    dear = Killer(partial(suite.failing, _PATIENT, anew=True), 10 * _PATIENT)
    if not quick:
        return [judge_places(_NAME, PLACES, only, partial(judge, Killers((cheap,), (dear,))))]
    mutants = all_mutants(only or PLACES)
    sample = [one for one in mutants if not is_equivalent(one)]
    Random(0).shuffle(sample)  # noqa: S311 - chance, not a secret
    judged = meet(sample[:_QUICK], (cheap, dear))
    killed = sum(1 for one in judged if one.noticed)
    note = f"a sample of {len(mutants):,}; "
    return [row_of(_NAME, killed, 0, len(judged) - killed, note)]
