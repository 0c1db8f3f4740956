"""Do reasons help a planner to revise? `python -m tests.experiments.revise`

A scripted planner (`tests.experiments.noisy`) makes plans for the worlds of
`tests.experiments.worlds` and has them judged by the plan loop, which gives it three rounds. It is
told one of four things of a refusal: nothing, its kind, all violations, or the repairs as well.
The first drafts are the same for all four. Writes `fixtures/experiment_revise.json`, a picture of
it, and the table in the page on loops.
"""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt
from random import Random
from typing import Any, Final

from harness.loops.plan_loop import revise_plan
from tests.experiments.noisy import LEVELS, Level, Nature, NoisyPlanner
from tests.experiments.shown import KEPT, kept, rendered, rewrite
from tests.experiments.slips import World, world_of
from tests.experiments.worlds import groups
from tests.support.folded import write_folded

ROUNDS: Final = 3
TRIALS: Final = 1000
SEED: Final = 20260509
SHARES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
"""How much of what goes wrong is a mistake: the one chance that decides most, so all are shown."""

Worlds = dict[str, list[World]]


@dataclass(slots=True)
class Tally:
    """What came of the trials of one level."""

    trials: int = 0
    approved_in: list[int] = field(default_factory=lambda: [0] * ROUNDS)
    kept: float = 0.0
    ends: Counter[str] = field(default_factory=Counter)
    slips: Counter[str] = field(default_factory=Counter)

    def figures(self) -> dict[str, Any]:
        """Return shares with their 95 % intervals, rounded as they are shown."""
        within = [sum(self.approved_in[: at + 1]) for at in range(ROUNDS)]
        return {
            "approved": [share(count, self.trials) for count in within],
            "steps_kept": round(self.kept / max(within[-1], 1), 3),
            "ends": dict(sorted(self.ends.items())),
        }


def share(count: int, trials: int) -> dict[str, float]:
    """Return a share with its Wilson interval, which is sound near 0 and 1 too."""
    z = 1.96
    middle = (count + z * z / 2) / (trials + z * z)
    half = z / (trials + z * z) * sqrt(count * (trials - count) / trials + z * z / 4)
    low, high = max(middle - half, 0.0), min(middle + half, 1.0)
    return {"share": round(count / trials, 3), "low": round(low, 3), "high": round(high, 3)}


def all_worlds() -> Worlds:
    """Return the worlds to plan for, by their source."""
    return {name: [world_of(one) for one in found] for name, found in groups().items()}


def run(worlds: Worlds, trials: int = TRIALS, shares: tuple[float, ...] = SHARES) -> dict[str, Any]:
    """Return all figures, the same at every run over the same worlds."""
    tallies = {
        name: asyncio.run(_tallies(found, trials, Nature())) for name, found in worlds.items()
    }
    swept = {str(one): _swept(worlds, trials // 2, Nature(mistaken=one)) for one in shares}
    return {
        "seed": SEED,
        "trials": trials,
        "nature": {name: round(chance, 3) for name, chance in Nature()._asdict().items()},
        "groups": {
            name: {
                "plans": len(worlds[name]),
                "first_faults": dict(sorted(found["nothing"].slips.items())),
                "levels": {level: tally.figures() for level, tally in found.items()},
            }
            for name, found in tallies.items()
        },
        "by_share_of_mistakes": swept,
    }


def _swept(worlds: Worlds, trials: int, nature: Nature) -> dict[str, Any]:
    """Approved in all rounds, over all worlds, by level."""
    every = [asyncio.run(_tallies(found, trials, nature)) for found in worlds.values()]
    return {
        level: share(sum(sum(one[level].approved_in) for one in every), trials * len(every))
        for level in LEVELS
    }


async def _tallies(worlds: list[World], trials: int, nature: Nature) -> dict[Level, Tally]:
    tallies = {level: Tally() for level in LEVELS}
    for trial in range(trials):
        world = worlds[trial % len(worlds)]
        for level in LEVELS:
            await _try(world, level, nature, trial, tallies[level])
    return tallies


async def _try(world: World, level: Level, nature: Nature, trial: int, tally: Tally) -> None:
    first, then = _random(trial), _random(trial, level)
    planner = NoisyPlanner(world, level, nature, first, then)
    tally.trials += 1
    tally.slips.update(planner.slips)
    given = world.proposal
    revision = await revise_plan(
        ctx=given.ctx,
        compiled=given.compiled,
        spec=given.spec,
        planner=planner,
        max_rounds=ROUNDS,
    )
    tally.ends[str(revision.stop_reason)] += 1
    if revision.plan is not None:
        tally.approved_in[len(revision.attempts) - 1] += 1
        tally.kept += planner.kept()


def _random(*names: object) -> Random:
    """Return a random generator for each name, the same in every process."""
    return Random(repr((SEED, *names)))  # noqa: S311 - nothing here is a secret


def main(draw: Callable[[dict[str, Any]], None]) -> None:
    """Run it, keep the figures, draw the picture, and show the table."""
    write_folded(KEPT, run(all_worlds()))
    draw(kept())
    rewrite()
    sys.stdout.write(rendered(kept()))


if __name__ == "__main__":
    from tests.experiments.picture import draw  # needs an extra that the figures do not

    main(draw)
