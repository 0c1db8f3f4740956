"""The engine against the second statement of `verify`, `score` and `consolidate`, case by case."""

import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple, get_args

from critic import Proposal, Run, consolidate, verify_proposal
from evals import score_run
from evals.plan_verdicts import ConditionKind
from harness.cases import ConsolidateInput
from harness.testing._draw.edge_proposals import make_proposal
from harness.testing._draw.edge_runs import make_run
from harness.testing._draw.primitives import Pick, seeded_pick
from harness.wire import InvalidInput, build
from tests.assurance.features import FEATURES, features
from tests.assurance.row import Row
from tests.assurance.shrink import smallest
from tests.assurance.table import close_modules, closed_modules
from tests.support.late_runs import engine_says, late_case, model_says, read_case
from tests.support.model.facts import Json
from tests.support.model.report import INVALID, consolidate_model
from tests.support.model.score import score_model
from tests.support.model.verify import is_approvable, verify_model
from tests.support.verdict_draws import make_verdicts

LEAD: Final[tuple[str, ...]] = ("ok", "kind", "offending_step")
FIELDS: Final[tuple[str, ...]] = ("check", "kind", "offending_step", "path", "approvable")
CHUNK: Final = 500
LATE: Final = "late plans"
"""Verified, and opened step by step, by calls that end in any way."""
QUICK: Final = {"verify": 25_000, "score": 15_000, "consolidate": 20_000}
FULL: Final = {"verify": 450_000, "score": 250_000, "consolidate": 300_000}
_NEAR: Final = 1e-12  # what two orders of adding the same few floats may differ by


class Side(NamedTuple):
    """One of the three functions: how a case is made, and what each statement says of it."""

    make: Callable[[int], Json]
    """Makes the case of a seed."""
    read: Callable[[Json], Any]
    engine: Callable[[Any], Json]
    model: Callable[[Json], Json]
    met: Callable[[Json, Json], Iterator[str]]
    """What a case and its answer show, each of which must occur often enough."""


class Told(NamedTuple):
    """What a chunk of cases gave."""

    name: str
    met: Counter[str]
    failed: list[int]
    seconds: tuple[float, float, float]
    """Making the cases, the engine, the model."""


def _verified(proposal: Proposal) -> Json:
    verdict = verify_proposal(proposal).wire()
    kept = {name: verdict[name] for name in LEAD if name in verdict}
    if verdict["ok"]:
        return {**kept, "reasons": verdict["reasons"]}
    violations = [
        {name: one[name] for name in FIELDS if name in one} for one in verdict["violations"]
    ]
    return {**kept, "violations": violations}


def _scored(run: Run) -> Json:
    scores = score_run(run).scores
    return {name: {"status": one.status, "score": one.score} for name, one in scores}


def _read_verdicts(case: Json) -> ConsolidateInput | None:
    """Return the verdicts, or None where they contradict one another."""
    try:
        return build(ConsolidateInput, case)
    except InvalidInput:
        return None


def _consolidated(given: ConsolidateInput | None) -> Json:
    if given is None:
        return INVALID
    return consolidate(
        trace_id=given.trace_id,
        decision_key=given.decision_key,
        verify=given.verify,
        score=given.score,
        decided_at=given.decided_at,
    ).wire()


def _kind(proposal: Json, verdict: Json) -> Iterator[str]:
    yield verdict.get("kind", "ok")
    if not verdict["ok"] and is_approvable(verdict):
        yield "asks a person"
    yield from features(proposal)


def _statuses(_run: Json, scores: Json) -> Iterator[str]:
    for name, one in scores.items():
        yield f"{name} {one['status']}"


def _outcome(_verdicts: Json, report: Json) -> Iterator[str]:
    yield " at ".join(
        (report["status"], *([report["refused_at"]] if "refused_at" in report else ()))
    )


def _ends(_case: Json, told: Json) -> Iterator[str]:
    openings = told.get("openings", [])
    yield told.get("kind", "ok")
    yield from {f"asks for {one['kind']}" for one in told.get("conditions", [])}
    yield from {f"opening {'refused' if found else 'passed'}" for found in openings}


def _drawn(make: Callable[[Pick], Json]) -> Callable[[int], Json]:
    return lambda seed: make(seeded_pick(seed))


_READERS: Final = partial(build, Proposal), partial(build, Run), _read_verdicts
SIDES: Final = {
    "verify": Side(_drawn(make_proposal), _READERS[0], _verified, verify_model, _kind),
    "score": Side(_drawn(make_run), _READERS[1], _scored, score_model, _statuses),
    "consolidate": Side(
        *(_drawn(make_verdicts), _READERS[2], _consolidated, consolidate_model, _outcome)
    ),
    LATE: Side(late_case, read_case, engine_says, model_says, _ends),
}

_EVERY: Final = ("pass", "warn", "fail")
BOUNDS: Final[dict[str, dict[str, tuple[float, float]]]] = {
    "verify": {
        "ok": (0.35, 0.50),
        "missing_evidence": (0.04, 1),
        "approval_mode_mismatch": (0.04, 1),
        "violates_decision_spec": (0.04, 1),
        "loop_guard": (0.04, 1),
        "budget_exceeded": (0.04, 1),
        "asks a person": (0.04, 1),
        **dict.fromkeys(FEATURES, (0.01, 1)),
    },
    "score": {
        **{f"policy {status}": (0.04, 1) for status in ("pass", "fail")},
        **{
            f"{name} {status}": (0.04, 1)
            for name in ("utility", "latency", "safety", "cost")
            for status in _EVERY
        },
    },
    "consolidate": {
        "completed": (0.04, 1),
        "partial": (0.04, 1),
        "refused_by_critic at verify": (0.04, 1),
        "refused_by_critic at score": (0.04, 1),
        "invalid": (0.02, 0.20),
    },
    LATE: {
        "ok": (0.15, 0.40),
        "missing_evidence": (0.02, 1),
        "approval_mode_mismatch": (0.02, 1),
        "violates_decision_spec": (0.02, 1),
        "loop_guard": (0.002, 1),
        **{f"asks for {kind}": (0.002, 1) for kind in get_args(ConditionKind)},
        "asks for binding": (0, 1),
        "opening passed": (0.1, 1),
        "opening refused": (0.03, 1),
    },
}
"""The least and the largest share of each answer. Policy never warns."""


def agree(name: str, said: Json, meant: Json) -> bool:
    """Return whether both results are the same; scores may differ in their last few bits."""
    if name != "score" or said.keys() != meant.keys():
        return said == meant
    return all(
        one["status"] == meant[place]["status"]
        and abs(one["score"] - meant[place]["score"]) < _NEAR
        for place, one in said.items()
    )


def judge_chunk(job: tuple[str, int, int]) -> Told:
    """Both statements over the cases of the seeds from `start` on."""
    name, start, count = job
    side, met = SIDES[name], Counter[str]()
    began = time.perf_counter()
    cases = [side.make(seed) for seed in range(start, start + count)]
    made = time.perf_counter()
    said = [side.engine(side.read(case)) for case in cases]
    judged = time.perf_counter()
    failed = []
    for seed, case, answer in zip(range(start, start + count), cases, said, strict=True):
        meant = side.model(case)
        met.update(side.met(case, meant))
        if not agree(name, answer, meant):
            failed.append(seed)
    seconds = (made - began, judged - made, time.perf_counter() - judged)
    return Told(name, met, failed, seconds)


def differs(name: str, case: Json) -> bool:
    """Return whether the implementations differ on a case; on invalid input they do not."""
    side = SIDES[name]
    try:
        envelope = side.read(case)
        return not agree(name, side.engine(envelope), side.model(envelope.wire()))
    except (InvalidInput, LookupError, TypeError, AttributeError):
        return False


def _jobs(counts: dict[str, int]) -> list[tuple[str, int, int]]:
    return [
        (name, start, min(CHUNK, count - start))
        for name, count in counts.items()
        for start in range(0, count, CHUNK)
    ]


def judge_all(counts: dict[str, int], workers: int) -> list[Told]:
    """Judge every chunk of the given size for each function."""
    jobs = _jobs(counts)
    if workers == 1:
        return list(map(judge_chunk, jobs))
    closed = closed_modules()
    with multiprocessing.get_context("spawn").Pool(workers, close_modules, (closed,)) as pool:
        return pool.map(judge_chunk, jobs, chunksize=1)


def run(*, quick: bool) -> list[Row]:
    """Return the rows of this layer: one for each function, one for all."""
    return rows_of(QUICK if quick else FULL)


def rows_of(counts: dict[str, int]) -> list[Row]:
    """Judge so many cases of each side, and return a row for each and one for all."""
    began = time.perf_counter()
    told = judge_all(counts, os.cpu_count() or 1)
    passed = time.perf_counter() - began
    rows = [
        row_of(name, count, [one for one in told if one.name == name])
        for name, count in counts.items()
    ]
    made, engine, model = (sum(one.seconds[at] for one in told) for at in range(3))
    total = sum(counts.values())
    whole = made + engine + model
    pace = f"{total / passed:,.0f} cases a second: {made / whole:.0%} making them, "
    pace += f"{engine / whole:.0%} reading and judging them, {model / whole:.0%} the model"
    held = total - sum(len(one.failed) for one in told)
    return [
        *rows,
        Row("engine against model, all", total, "cases", held, held == total, pace, total=True),
    ]


def row_of(name: str, count: int, told: list[Told]) -> Row:
    """Return the row of one function, from the shares it must meet and the differences."""
    met: Counter[str] = sum((one.met for one in told), Counter())
    failed = [seed for one in told for seed in one.failed]
    for seed in failed[:3]:
        _show(name, seed)
    note, met_all = shares(name, met, count)
    return Row(
        f"engine against model, {name}",
        count,
        "cases",
        count - len(failed),
        met_all and not failed,
        note,
    )


def shares(name: str, met: Counter[str], count: int) -> tuple[str, bool]:
    """Return the share of every answer, and whether all lie within their bounds."""
    told, within = [], set(met) <= set(BOUNDS[name])
    for answer, (least, most) in BOUNDS[name].items():
        share = met[answer] / count
        outside = not least <= share <= most
        within = within and not outside
        told.append(f"{answer} {share:.1%}{' OUT OF BOUNDS' if outside else ''}")
    return ", ".join(told), within


def _show(name: str, seed: int) -> None:
    side = SIDES[name]
    case = smallest(side.make(seed), partial(differs, name))
    sys.stdout.write(f"DIFFER {name} seed {seed}: {json.dumps(case)}\n")
    envelope = side.read(case)
    sys.stdout.write(f"  engine {json.dumps(side.engine(envelope))}\n")
    meant = side.model(case if envelope is None else envelope.wire())
    sys.stdout.write(f"  model  {json.dumps(meant)}\n")
