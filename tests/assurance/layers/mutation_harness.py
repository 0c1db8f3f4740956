"""Layer `mutation_harness`: a small change of the record, the log, the loops ... is noticed.

The same demand as for `critic` and `evals`, and the same list of equivalents. There is not a second
model of the harness: what notices a mutant are the tests nearest to its file, then all tests of
its folder, in this process. A quick run takes a fixed sample, a full run all mutants.
"""

from random import Random
from typing import Final

from tests.assurance.layers.mutation import Killers, is_equivalent, keep, meet, row_of
from tests.assurance.mutation.killers import failing_here, guarded, load_libraries
from tests.assurance.mutation.mutants import Mutant, all_mutants
from tests.assurance.mutation.overlay import overlay
from tests.assurance.row import Row
from tests.support.paths import FIXTURES

PLACES: Final = (
    "harness/wire.py",
    "harness/record.py",
    "harness/process.py",
    "harness/log",
    "harness/replay",
    "harness/runtime",
    "harness/loops",
)
_KEPT: Final = FIXTURES / "mutation_harness.json"
_QUICK: Final = 24
"""Mutants of a quick run: each costs seconds."""

_NEAREST: Final = {
    "harness/wire.py": ("harness/test_wire.py", "harness/test_wire_faults.py"),
    "harness/record.py": ("harness/test_record.py", "harness/log/test_appending.py"),
    "harness/process.py": ("harness/test_process.py",),
    "harness/log": ("harness/log/test_appending.py", "harness/log/test_opening.py"),
    "harness/replay": ("harness/replay/test_replay.py", "harness/replay/test_diff.py"),
    "harness/runtime": ("harness/runtime",),
    "harness/loops": ("harness/loops",),
}
"""The tests, under `tests`, that are likeliest to notice a change of a file or of its folder."""
_ALL: Final = {
    "harness/wire.py": ("harness/test_verify_bytes.py", "harness/test_cases.py"),
    "harness/record.py": ("harness/log", "harness/replay"),
    "harness/process.py": ("harness/codeloop", "harness/agents"),
    "harness/log": ("harness/log", "harness/commands/test_log.py", "harness/replay"),
    "harness/replay": ("harness/replay", "harness/commands/test_recording.py"),
    "harness/runtime": ("harness/commands", "harness/loops"),
    "harness/loops": ("harness/runtime", "harness/agents"),
}


def run(*, quick: bool) -> list[Row]:
    """Check that every mutant is killed or judged equivalent."""
    load_libraries()
    mutants = all_mutants(PLACES)
    if quick:
        sample = [one for one in mutants if not is_equivalent(one)]
        Random(0).shuffle(sample)  # noqa: S311 - chance, not a secret
        note = f"a sample of {len(mutants):,}; "
        return [row_of("mutation of the harness", meet(sample[:_QUICK], _KILLERS), note)]
    judged = meet(mutants, _KILLERS[:1])
    left = [one.mutant for one in judged if not one.noticed and not is_equivalent(one.mutant)]
    settled = [one for one in judged if one.noticed or is_equivalent(one.mutant)]
    judged = [*settled, *meet(left, _KILLERS[1:])]
    keep(judged, _KEPT)
    return [row_of("mutation of the harness", judged, "")]


def _tests(table: dict[str, tuple[str, ...]], mutant: Mutant) -> list[str]:
    place = next(place for place in PLACES if mutant.file.startswith(place))
    return [f"tests/{name}" for name in table[place]]


def _near(mutant: Mutant) -> str:
    overlay({mutant.file: mutant.text})
    return guarded(lambda: failing_here(*_tests(_NEAREST, mutant), "-m", "not hypothesis"))


def _far(mutant: Mutant) -> str:
    overlay({mutant.file: mutant.text})
    return guarded(lambda: failing_here(*_tests(_NEAREST, mutant), *_tests(_ALL, mutant)))


_KILLERS: Final[tuple[Killers, ...]] = ((_near, 60), (_far, 180))
