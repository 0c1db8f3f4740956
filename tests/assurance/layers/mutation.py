"""Layer `mutation`: a small change of `critic/` or `evals/` is noticed, or makes no difference.

A mutant meets the killers one after the other, the cheapest first: case files with engine against
model over a few hundred seeds; the tests that run its line, the nearest first, for two seconds;
more of them; then the laws, and some thousand seeds more, always the same draws. What outlives
them all is a hole in the tests, or equivalent: then `equivalent.json` lists it, with the reason
why, and from there on meets the two cheap ones only. A quick run takes the mutants in a fixed
shuffle, as far as the time goes. A full run keeps what came of each file in
`build/assurance/mutation.json`, and meets those files that have changed since; the sums are in
`fixtures/mutation.json`.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from itertools import takewhile
from random import Random
from typing import Final

from tqdm import tqdm

from tests.assurance.forked import forked
from tests.assurance.mutation.covering import Covering, measure
from tests.assurance.mutation.judged import Judged, is_equivalent, judge_files, row_of
from tests.assurance.mutation.killers import (
    corpus,
    failing_here,
    guarded,
    laws,
    limit_memory,
    load_libraries,
    score_model,
    verify_model,
)
from tests.assurance.mutation.mutants import PACKAGES, Mutant, all_mutants
from tests.assurance.mutation.overlay import overlay
from tests.assurance.row import Row
from tests.support.paths import DETAILS, FIXTURES, ROOT

_KEPT: Final = FIXTURES / "mutation.json"

_QUICK_SECONDS: Final = 20
"""For the first killers; what outlives them goes on to the others."""
_TESTS: Final = (
    *("tests/critic", "tests/evals", "tests/harness/test_schemas.py", "tests/harness/test_wire.py"),
    *("tests/harness/test_wire_faults.py", "tests/harness/test_bounded_reading.py"),
    "tests/meta/test_public_names.py",
    # The last killers run these by themselves.
    "--ignore=tests/evals/test_differential.py",
    "--ignore=tests/critic/test_differential.py",
    "--ignore=tests/critic/test_laws.py",
)
_SOON, _PATIENT = 2.0, 12.0
"""How many seconds of tests a killer runs, as they were measured without a mutation."""
_NEVER_JUDGED: Final = ("critic/repairs/", "critic/session/")
"""No case and no seed asks for advice, or for a session: the first killer says nothing of them."""
_CASES: Final = {
    "critic": ("verify", "hostile"),
    "evals": ("score", "verify"),
    "critic/consolidate.py": ("consolidate",),
    "critic/reports.py": ("consolidate",),
    "critic/verdicts.py": ("consolidate",),
}
"""Where the cases lie that are likeliest to notice a change of a file, or of its package."""


def _seeded(mutant: Mutant) -> str:
    if mutant.file.startswith(_NEVER_JUDGED):
        return ""
    limit_memory()
    overlay({mutant.file: mutant.text})
    return guarded(
        lambda: corpus(*_nearest(_CASES, mutant)) or verify_model(200) or score_model(200)
    )


def _nearest(table: Mapping[str, tuple[str, ...]], mutant: Mutant) -> tuple[str, ...]:
    return table.get(mutant.file) or table[mutant.file.partition("/")[0]]


@cache
def covering() -> Covering:
    """Return which tests run a line: measured once, before the children part ways."""
    return measure(_TESTS, PACKAGES)


def failing(covering: Covering, seconds: float, mutant: Mutant) -> str:
    """Return a test that fails, of those that run the line and take so long together."""
    tests = covering.within(seconds, mutant.file, mutant.line)
    limit_memory()
    overlay({mutant.file: mutant.text})
    return guarded(lambda: failing_here(*tests)) if tests else ""


def _near(mutant: Mutant) -> str:
    return failing(covering(), _SOON, mutant)


def _covered(mutant: Mutant) -> str:
    return failing(covering(), _PATIENT, mutant)


def _drawn(mutant: Mutant) -> str:
    limit_memory()
    overlay({mutant.file: mutant.text})
    return guarded(lambda: laws(15) or verify_model(2000) or score_model(2000))


Killers = tuple[Callable[[Mutant], str], float]
"""Some killers, and the seconds they may take: a mutant that is slower is noticed by that."""

_CHEAP: Final[tuple[Killers, ...]] = ((_seeded, 20), (_near, 30))
_DEAR: Final[tuple[Killers, ...]] = ((_covered, 150), (_drawn, 180))


def _judged(
    mutants: Iterable[Mutant], killer: Callable[[Mutant], str], seconds: float
) -> Iterator[Judged]:
    for mutant, noticed in forked(killer, mutants, timeout=seconds):
        yield Judged(mutant, noticed)


def _watched(judged: Iterator[Judged], total: int) -> Iterator[Judged]:
    quiet = not sys.stderr.isatty()
    return iter(tqdm(judged, total=total, unit="mutant", leave=False, disable=quiet))


def meet(mutants: list[Mutant], killers: Iterable[Killers]) -> list[Judged]:
    """Return every mutant with what noticed it: each killer meets the survivors of those before."""
    done: list[Judged] = []
    for killer, seconds in killers:
        met = list(_watched(_judged(mutants, killer, seconds), len(mutants)))
        done += [one for one in met if one.noticed]
        mutants = [one.mutant for one in met if not one.noticed]
    return done + [Judged(mutant, "") for mutant in mutants]


def judge(cheap: Iterable[Killers], dear: Iterable[Killers], mutants: list[Mutant]) -> list[Judged]:
    """Return every mutant with what noticed it. Equivalent mutants meet the cheap killers only."""
    left, settled = list[Mutant](), list[Judged]()
    for one in meet(mutants, cheap):
        if one.noticed or is_equivalent(one.mutant):
            settled.append(one)
        else:
            left.append(one.mutant)
    return settled + meet(left, dear)


def run(*, quick: bool) -> list[Row]:
    """Require that every mutant is killed or judged equivalent."""
    load_libraries()
    covering()
    mutants = all_mutants()
    if noticed := _noticed_without(mutants):
        said = f"without a mutation: {', '.join(noticed)}"[:200]
        return [Row("mutation", 0, "mutants", 0, False, said)]
    if quick:
        return [_row_of_sample(_sampled(mutants), len(mutants))]
    return [judge_files("mutation", mutants, partial(judge, _CHEAP, _DEAR), _KEPT, DETAILS)]


def _row_of_sample(judged: list[Judged], of: int) -> Row:
    killed = sum(1 for one in judged if one.noticed)
    return row_of("mutation", killed, 0, len(judged) - killed, f"a sample of {of:,}; ")


def _noticed_without(mutants: list[Mutant]) -> list[str]:
    """Return what the killers notice in the unchanged files: it must be nothing."""
    firsts = [next(one for one in mutants if one.file.startswith(top)) for top in PACKAGES]
    plain = [one._replace(text=(ROOT / one.file).read_text("utf-8")) for one in firsts]
    return [one.noticed for one in meet(plain, (*_CHEAP, *_DEAR)) if one.noticed]


def _sampled(mutants: list[Mutant]) -> list[Judged]:
    differing = [one for one in mutants if not is_equivalent(one)]
    Random(0).shuffle(differing)  # noqa: S311 - chance, not a secret
    until = time.monotonic() + _QUICK_SECONDS
    sample = takewhile(lambda _: time.monotonic() < until, differing)
    first = list(_judged(sample, *_CHEAP[0]))
    left = [one.mutant for one in first if not one.noticed]
    return [one for one in first if one.noticed] + meet(left, (*_CHEAP[1:], *_DEAR))
