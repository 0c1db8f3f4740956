"""Layer `mutation_harness`: a small change of the record, the log, the loops ... is noticed.

The same demand as for `critic` and `evals`, and the same list of equivalents. There is not a second
model of the harness: what notices a mutant are the tests that run its line, the fastest first, in
this process. A quick run takes a fixed sample, a full run all mutants.
"""

from functools import cache, partial
from random import Random
from typing import Final

from tests.assurance.layers.mutation import Killers, failing, judge, meet
from tests.assurance.mutation.covering import Covering, measure
from tests.assurance.mutation.judged import is_equivalent, judge_files, row_of
from tests.assurance.mutation.killers import load_libraries
from tests.assurance.mutation.mutants import Mutant, all_mutants
from tests.assurance.row import Row
from tests.support.paths import DETAILS, FIXTURES

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
_NAME: Final = "mutation of the harness"
_KEPT: Final = FIXTURES / "mutation_harness.json"
_QUICK: Final = 24
"""Mutants of a quick run: each costs seconds."""
_SOON, _PATIENT = 1.5, 15.0
"""How many seconds of tests a killer runs, as they were measured without a mutation."""


def run(*, quick: bool) -> list[Row]:
    """Require that every mutant is killed or judged equivalent."""
    load_libraries()
    covering()
    mutants = all_mutants(PLACES)
    if quick:
        sample = [one for one in mutants if not is_equivalent(one)]
        Random(0).shuffle(sample)  # noqa: S311 - chance, not a secret
        judged = meet(sample[:_QUICK], _KILLERS)
        killed = sum(1 for one in judged if one.noticed)
        note = f"a sample of {len(mutants):,}; "
        return [row_of(_NAME, killed, 0, len(judged) - killed, note)]
    return [judge_files(_NAME, mutants, partial(judge, _KILLERS[:1], _KILLERS[1:]), _KEPT, DETAILS)]


@cache
def covering() -> Covering:
    """Return which tests run a line: measured once, before the children part ways."""
    return measure(_TESTS, ["harness"])


def _fast(mutant: Mutant) -> str:
    return failing(covering(), _SOON, mutant)


def _slow(mutant: Mutant) -> str:
    return failing(covering(), _PATIENT, mutant)


_KILLERS: Final[tuple[Killers, ...]] = ((_fast, 40), (_slow, 150))
