"""Layer `laws`: every law of the testing kit, against the manifests of the fixtures.

A world is a manifest, a spec and a context. The refund, the parcels of the downstream example and
a world drawn anew for each example keep every law of `verify`, and their runs every law of
evaluators. A guard keeps its laws on drawn streams of events, answering, halting or in shadow. A
full run tries far more examples, and some on the manifests of the case files too: each of these
keeps one law in eight, so that each law meets one manifest in eight.
"""

import sys
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from hypothesis import HealthCheck, Phase, settings
from tqdm import tqdm

from critic import (
    CompiledContext,
    DecisionSpec,
    EvaluatorVerdict,
    Proposal,
    Run,
    RunContext,
    digest,
    verify_proposal,
)
from evals import EVALUATORS
from harness.cases import Case, case_files, read_case
from harness.testing._laws.evaluator_laws import EVALUATOR_LAWS, OwnEvaluator
from harness.testing.laws import GUARD_LAWS, Laws, check_evaluator, check_guard
from harness.testing.strategies import runs
from harness.wire import InvalidInput, parse
from tests.assurance.forked import forked
from tests.assurance.row import Row, all_held
from tests.support.guarding import SELDOM, Json, asking_desk, asking_refunds, policy_of
from tests.support.paths import ROOT

_FIXTURES: Final = ROOT / "fixtures"
_SECONDS: Final = 1_200
_TURNS: Final = 8
"""Of the laws, one in so many meets a case; of the cases, one in so many meets a law."""


class Effort(NamedTuple):
    """Examples for each law: of `verify`, of evaluators, of `verify` in cases, and of guards."""

    of_verify: int
    of_evaluators: int
    of_cases: int
    of_guards: int


_QUICK: Final = Effort(of_verify=20, of_evaluators=20, of_cases=0, of_guards=60)
_FULL: Final = Effort(of_verify=500, of_evaluators=500, of_cases=10, of_guards=500)


class World(NamedTuple):
    """What `verify` is given beside a plan; None is drawn."""

    name: str
    compiled: CompiledContext | None = None
    spec: DecisionSpec | None = None
    ctx: RunContext | None = None


class Task(NamedTuple):
    """One law of `verify`, or all those of an evaluator, in one world."""

    world: World
    name: str
    examples: int
    of_evaluator: bool = False

    @property
    def told(self) -> str:
        """Return the task on one line."""
        return f"{self.name} of {self.world.name}"


class GuardTask(NamedTuple):
    """One law of guards, under one policy."""

    policy: str
    name: str
    examples: int

    @property
    def told(self) -> str:
        """Return the task on one line."""
        return f"{self.name} of a guard {self.policy}"


_SHOP: Final = "of a shop"
GUARDED: Final[dict[str, Json]] = {
    "that answers": asking_desk(),
    "that halts": asking_desk(on_refusal="halt"),
    "in shadow": asking_desk(shadow=True),
    _SHOP: asking_refunds(),
}
"""The policies of the guards."""
_SELDOM: Final = {_SHOP: SELDOM, "that halts": ("permit ended by the close",)}
"""What few streams meet: a session that halts is seldom closed while a call may be made."""


def _crashing(_run: Run) -> EvaluatorVerdict:
    raise ZeroDivisionError


EVALUATED: Final[dict[str, OwnEvaluator]] = {**dict(EVALUATORS), "crashing": _crashing}
"""The evaluators, and one that always crashes: the others never do, so that law would be idle."""


def examples(count: int) -> settings:
    """So many examples, always the same ones."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        # A machine that is busy makes no law break.
        suppress_health_check=[HealthCheck.too_slow],
    )


def worlds() -> list[World]:
    """Return the refund, the parcels, and one drawn world."""
    refund = parse(Proposal, (_FIXTURES / "refund" / "plan_b.json").read_bytes())
    parcels = _FIXTURES / "examples" / "parcels" / "parcels"
    return [
        World("refund", refund.compiled, refund.spec, refund.ctx),
        World(
            "parcels",
            parse(CompiledContext, (parcels / "manifest.json").read_bytes()),
            parse(DecisionSpec, (parcels / "spec.json").read_bytes()),
            parse(RunContext, (parcels / "context.json").read_bytes()),
        ),
        World("drawn"),
    ]


def worlds_of_cases() -> list[World]:
    """Return a world for each manifest of the case files, with a plan that passes if possible."""
    found: dict[str, World] = {}
    passing: dict[str, World] = {}
    for path in case_files(_FIXTURES / "cases"):
        if (given := _proposal(read_case(path))) is None:
            continue
        key = digest(given.compiled.manifests)
        world = World(path.stem, given.compiled, given.spec, given.ctx)
        found.setdefault(key, world)
        if verify_proposal(given):
            passing.setdefault(key, world)
    return list((found | passing).values())


def _proposal(case: Case) -> Proposal | None:
    try:
        if case.command == "score":
            return parse(Run, case.document()).proposal
        return parse(Proposal, case.document()) if case.command == "verify" else None
    except InvalidInput:
        return None


def _laws(world: World, count: int) -> Laws:
    return Laws(*world[1:], settings=examples(count))


def tasks(found: list[World], of_verify: int, of_evaluators: int = 0) -> Iterator[Task]:
    """Yield every law that applies to these worlds, with a number of examples of each kind."""
    for world in found:
        for name in _laws(world, of_verify).names:
            yield Task(world, name, of_verify)
        for name in EVALUATED if of_evaluators else ():
            yield Task(world, name, of_evaluators, of_evaluator=True)


def tasks_in_turn(found: list[World], of_verify: int) -> Iterator[Task]:
    """Yield one law in eight for each world, and one world in eight for each law."""
    for at, world in enumerate(found):
        yield from list(tasks([world], of_verify))[at % _TURNS :: _TURNS]


def guard_tasks(count: int, *, one_in: int = 1) -> Iterator[GuardTask]:
    """Yield every law of guards, with a number of examples, under one in so many policies."""
    for at, policy in enumerate(GUARDED):
        for number, name in enumerate(GUARD_LAWS):
            if (at + number) % one_in == 0:
                yield GuardTask(policy, name, count)


def broken(task: Task | GuardTask) -> str:
    """Return the first line of the reason why it does not hold, or an empty text."""
    try:
        _check(task)
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0]
    return ""


def _check(task: Task | GuardTask) -> None:
    if isinstance(task, GuardTask):
        policy = policy_of(GUARDED[task.policy])
        quick = settings(examples(task.examples), phases=[Phase.generate])
        check_guard(policy, task.name, cannot=_SELDOM.get(task.policy, ()), settings=quick)
        return
    world, name, count, of_evaluator = task
    if of_evaluator:
        check_evaluator(EVALUATED[name], runs=runs(*world[1:]), settings=examples(count))
    else:
        _laws(world, count).check(name)


def run(*, quick: bool) -> list[Row]:
    """Return a row for the laws of `verify`, one for those of evaluators, and one of guards."""
    effort = _QUICK if quick else _FULL
    of_cases = worlds_of_cases() if effort.of_cases else []
    work: list[Task | GuardTask] = [
        *tasks(worlds(), effort.of_verify, effort.of_evaluators),
        *tasks_in_turn(of_cases, effort.of_cases),
        *guard_tasks(effort.of_guards, one_in=2 if quick else 1),
    ]
    watched = _with_progress(forked(broken, work, timeout=_SECONDS), len(work))
    tried = list(watched)
    of_guards = [one for one in tried if isinstance(one[0], GuardTask)]
    others = [one for one in tried if isinstance(one[0], Task)]
    of_verify = [one for one in others if not one[0].of_evaluator]
    of_evaluators = [one for one in others if one[0].of_evaluator]
    note = f"{effort.of_verify:,} examples each on refund, parcels and drawn worlds"
    if of_cases:
        note += f", {effort.of_cases} on {len(of_cases)} cases, one law in {_TURNS} each"
    each = f"{len(EVALUATOR_LAWS)} laws, {effort.of_evaluators:,} examples each"
    return [
        _row("laws of verify", "laws", note, of_verify),
        _row("laws of evaluators", "evaluators", each, of_evaluators),
        _row("laws of guards", "laws", f"{effort.of_guards:,} streams each", of_guards),
    ]


def _row(layer: str, unit: str, note: str, tried: list[tuple[Any, str]]) -> Row:
    named = [f"{task.told} ({problem})" for task, problem in tried if problem]
    said = f"{note}; broken: {', '.join(named[:3])}" if named else note
    return all_held(layer, len(tried), unit, len(named), said)


def _with_progress(done: Iterator[Any], total: int) -> Iterator[Any]:
    return iter(tqdm(done, total=total, unit="law", leave=False, disable=not sys.stderr.isatty()))
