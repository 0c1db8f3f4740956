"""Layer `mutation`: a small change of `critic/` or `evals/` is noticed, or makes no difference.

A mutant meets the killers one after the other, the cheapest first: four seconds of the tests that
run its line, the nearest first; case files, with engine against model over a few hundred seeds;
more tests, with every example; then the laws, and some thousand seeds more, always the same draws.
What outlives them all is a hole in the tests, or equivalent: then `equivalent.json` lists it, with
the reason why, and from there on meets the two cheap ones only. A killer may compute for so long;
what a busy machine keeps waiting is tried again, and is not noticed by that.

A quick run takes the mutants in a fixed shuffle, as far as the time goes. A full run keeps one row
of each file in `fixtures/mutation.json`, and meets those files that have changed since, or of which
mutants survive: these are listed in `build/assurance/mutation.json`.
"""

import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile
from random import Random
from typing import Final, NamedTuple

from tqdm import tqdm

from tests.assurance.forked import TIMED_OUT, forked
from tests.assurance.mutation.covering import measure
from tests.assurance.mutation.judged import Judge, Judged, Kept, is_equivalent, judge_files, row_of
from tests.assurance.mutation.killers import (
    call_model,
    corpus,
    draw_calls,
    guarded,
    laws,
    limit,
    load_killers,
    load_libraries,
    score_model,
    verify_model,
)
from tests.assurance.mutation.mutants import PACKAGES, Mutant, all_mutants, each_mutant, sources
from tests.assurance.mutation.suite import Suite, with_suite
from tests.assurance.row import Row
from tests.support.paths import DETAILS, FIXTURES, ROOT

_QUICK_SECONDS: Final = 20
"""For the first killers; what outlives them goes on to the others."""
_TESTS: Final = (
    *("tests/critic", "tests/evals", "tests/harness/test_schemas.py", "tests/harness/test_wire.py"),
    *("tests/harness/test_wire_faults.py", "tests/harness/test_bounded_reading.py"),
    *("tests/meta/test_public_names.py", "tests/harness/guard"),
    # The last killers run these by themselves.
    "--ignore=tests/evals/test_differential.py",
    "--ignore=tests/critic/test_differential.py",
    "--ignore=tests/critic/test_laws.py",
)
_SOON, _PATIENT = 4, 12
"""How many seconds of tests a killer runs, as they were measured without a mutation."""
_WALL: Final = 30
"""How much longer than it computes a killer may take, on a machine that has other work."""
_IDLE: Final = 30
"""Seconds in which a killer that runs computes something. One that does not is stuck: a lock."""
_NEVER_JUDGED: Final = ("critic/repairs/", "critic/session/")
"""No case and no seed asks for advice, or for a session: cases and seeds say nothing of them."""
_OF_CALLS: Final = ("critic/provenance/",)
"""Drawn sessions say more of these files than cases, runs and laws do."""
_CASES: Final = {
    "critic": ("verify", "hostile"),
    "evals": ("score", "verify"),
    "critic/consolidate.py": ("consolidate",),
    "critic/reports.py": ("consolidate",),
    "evals/plan_verdicts.py": ("consolidate",),
}
"""Where the cases lie that are likeliest to notice a change of a file, or of its package."""


class Killer(NamedTuple):
    """What may notice a mutant, and the seconds that it may compute."""

    notice: Callable[[Mutant], str]
    seconds: int
    """A mutant that takes longer is noticed by that."""
    learn: Callable[[str], object] = len
    """Is told what noticed a mutant, before the next one."""


class Killers(NamedTuple):
    """What each mutant meets, and what those meet that are left and not judged equivalent."""

    cheap: tuple[Killer, ...]
    dear: tuple[Killer, ...]


def killers_of(suite: Suite) -> Killers:
    """Return the killers of `critic` and `evals`."""
    cheap = (
        Killer(partial(suite.failing, _SOON), 4 * _SOON, suite.learn),
        Killer(partial(_seeded, suite), 20),
    )
    dear = (
        Killer(partial(suite.failing, _PATIENT, anew=True), 10 * _PATIENT, suite.learn),
        Killer(partial(_drawn, suite), 180),
    )
    return Killers(cheap, dear)


def _seeded(suite: Suite, mutant: Mutant) -> str:
    if mutant.file.startswith(_NEVER_JUDGED):
        return ""
    suite.load(mutant)
    if mutant.file.startswith(_OF_CALLS):
        return guarded(lambda: call_model(slice(300)) or verify_model(200))
    return guarded(
        lambda: corpus(*_nearest(_CASES, mutant)) or verify_model(200) or score_model(200)
    )


def _nearest(table: Mapping[str, tuple[str, ...]], mutant: Mutant) -> tuple[str, ...]:
    return table.get(mutant.file) or table[mutant.file.partition("/")[0]]


def _drawn(suite: Suite, mutant: Mutant) -> str:
    if mutant.file.startswith(_NEVER_JUDGED):
        return ""
    suite.load(mutant)
    if mutant.file.startswith(_OF_CALLS):
        return guarded(lambda: call_model(slice(300, None)) or verify_model(2000))
    return guarded(lambda: laws(15) or verify_model(2000) or score_model(2000))


def _judged(mutants: Iterable[Mutant], killer: Killer) -> Iterator[Judged]:
    waited = list[Mutant]()
    work, wall = partial(_noticed, killer), _WALL * killer.seconds
    for mutant, noticed in forked(work, mutants, timeout=wall, idle=_IDLE):
        if noticed == TIMED_OUT:
            waited.append(mutant)
        else:
            killer.learn(noticed)
            yield Judged(mutant, noticed)
    for mutant, noticed in forked(work, waited, timeout=wall, idle=_IDLE):
        yield Judged(mutant, "" if noticed == TIMED_OUT else noticed)


def _noticed(killer: Killer, mutant: Mutant) -> str:
    limit(killer.seconds)
    return killer.notice(mutant)


def _watched(judged: Iterator[Judged], total: int) -> Iterator[Judged]:
    quiet = not sys.stderr.isatty()
    return iter(tqdm(judged, total=total, unit="mutant", leave=False, disable=quiet))


def meet(mutants: list[Mutant], killers: Iterable[Killer]) -> list[Judged]:
    """Return every mutant with what noticed it: each killer meets the survivors of those before."""
    done: list[Judged] = []
    for killer in killers:
        met = list(_watched(_judged(mutants, killer), len(mutants)))
        done += [one for one in met if one.noticed]
        mutants = [one.mutant for one in met if not one.noticed]
    return done + [Judged(mutant, "") for mutant in mutants]


def judge(killers: Killers, mutants: list[Mutant]) -> list[Judged]:
    """Return every mutant with what noticed it. Equivalent mutants meet the cheap killers only."""
    began = _computed()
    left, settled = list[Mutant](), list[Judged]()
    for one in meet(mutants, killers.cheap):
        if one.noticed or is_equivalent(one.mutant):
            settled.append(one)
        else:
            left.append(one.mutant)
    cheap = _computed()
    settled += meet(left, killers.dear)
    _say(settled, len(left), cheap - began, _computed() - cheap)
    return settled


def _computed() -> float:
    """Return the seconds that the children have computed."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _say(judged: list[Judged], outlived: int, cheap: float, dear: float) -> None:
    """Say on the error stream how a file went."""
    if judged:
        unnoticed = sum(1 for one in judged if not one.noticed)
        sys.stderr.write(
            f"{judged[0].mutant.file}: {len(judged)} met in {cheap:.1f} s of CPU,"
            f" {outlived} of them for {dear:.1f} s more; {unnoticed} unnoticed\n"
        )


def run(*, quick: bool, only: Sequence[str] = ()) -> list[Row]:
    """Require that every mutant is killed or judged equivalent. `only`: files and folders."""
    load_libraries()
    covering = measure(_TESTS, PACKAGES)
    return with_suite(_TESTS, covering, partial(_run, quick=quick, only=only))


def _run(suite: Suite, *, quick: bool, only: Sequence[str]) -> list[Row]:
    load_killers()
    draw_calls()
    killers = killers_of(suite)
    if noticed := _noticed_without(killers):
        said = f"without a mutation: {', '.join(noticed)}"[:200]
        return [Row("mutation", 0, "mutants", 0, False, said)]
    if quick:
        mutants = all_mutants(only or PACKAGES)
        return [_row_of_sample(_sampled(killers, mutants), len(mutants))]
    return [judge_places("mutation", PACKAGES, only, partial(judge, killers))]


def judge_places(layer: str, places: Iterable[str], only: Sequence[str], judge: Judge) -> Row:
    """Judge the mutants of some places, or of those of them that are named."""
    every = sources(places)
    named = [file for file in sources(only) if file in every] if only else every
    return judge_files(layer, each_mutant(named), judge, Kept(FIXTURES / f"{layer}.json", DETAILS))


def _row_of_sample(judged: list[Judged], of: int) -> Row:
    killed = sum(1 for one in judged if one.noticed)
    return row_of("mutation", killed, 0, len(judged) - killed, f"a sample of {of:,}; ")


def _noticed_without(killers: Killers) -> list[str]:
    """Return what the killers notice in the unchanged files: it must be nothing."""
    firsts = [next(iter(each_mutant([place]))) for place in PACKAGES]
    plain = [one._replace(text=(ROOT / one.file).read_text("utf-8")) for one in firsts]
    met = meet(plain, (*killers.cheap, *killers.dear))
    return [one.noticed for one in met if one.noticed]


def _sampled(killers: Killers, mutants: list[Mutant]) -> list[Judged]:
    differing = [one for one in mutants if not is_equivalent(one)]
    Random(0).shuffle(differing)  # noqa: S311 - chance, not a secret
    until = time.monotonic() + _QUICK_SECONDS
    sample = takewhile(lambda _: time.monotonic() < until, differing)
    first = list(_judged(sample, killers.cheap[0]))
    left = [one.mutant for one in first if not one.noticed]
    return [one for one in first if one.noticed] + meet(left, (*killers.cheap[1:], *killers.dear))
