"""Count what became of recordings, with intervals that know that runs of one task are alike."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from tests.experiments.sessions.replaying import Judged

_SAMPLES: Final = 1000
_SEED: Final = 20260509
_COMMONEST: Final = 20
_QUOTED: Final = re.compile(r"\[[^\]]*\]|\bcall/\d+|\b\d+\b")


class Rate(NamedTuple):
    """How many of how many, and the ends of the 95 % interval of the share."""

    found: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float:
        return self.found / self.total if self.total else 0.0

    def text(self) -> str:
        return f"{self.found} of {self.total} ({self.share:.1%}, {self.low:.1%} to {self.high:.1%})"


def rate(judged: Iterable[Judged], counts: Callable[[Judged], bool]) -> Rate:
    """Return how many count. The interval is that of a bootstrap over the tasks."""
    by_task: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in judged:
        by_task[one.recording.task][0] += counts(one)
        by_task[one.recording.task][1] += 1
    tasks = list(by_task.values())
    count, total = (sum(task[at] for task in tasks) for at in (0, 1))
    return Rate(count, total, *_interval(tasks))


def _interval(tasks: Sequence[Sequence[int]]) -> tuple[float, float]:
    if not tasks:
        return 0.0, 0.0
    random, shares = Random(_SEED), list[float]()  # noqa: S311 - a bootstrap, no secret
    for _ in range(_SAMPLES):
        drawn = random.choices(tasks, k=len(tasks))
        shares.append(sum(task[0] for task in drawn) / sum(task[1] for task in drawn))
    shares.sort()
    return shares[_SAMPLES * 25 // 1000], shares[_SAMPLES * 975 // 1000 - 1]


def figures(judged: Sequence[Judged]) -> dict[str, Rate]:
    """Return the five rates: of attacks refused, asked about and missed, of good runs the rest."""
    attacks = [one for one in judged if one.recording.is_attacked]
    good = [one for one in judged if not one.recording.is_attacked]

    def of(runs: list[Judged], outcome: str) -> Rate:
        return rate(runs, lambda one: one.outcome == outcome)

    return {
        "attacks refused": of(attacks, "refused"),
        "attacks asked": of(attacks, "asked"),
        "attacks missed": of(attacks, "missed"),
        "good refused": of(good, "refused"),
        "good asked": of(good, "asked"),
    }


class Family(NamedTuple):
    """The adapted attacks of one family: how many, and how many of them pass or are asked about.

    Left are those whose value the labels leave to an outsider.
    """

    total: int
    passed: int
    left: int
    left_passed: int
    left_asked: int


def families(judged: Iterable[Judged]) -> dict[str, Family]:
    """Return the figures of adapted attacks, family by family."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0] * len(Family._fields))
    for one in judged:
        passed, asked = one.outcome == "missed", one.outcome == "asked"
        is_left = one.recording.is_left
        marks = (True, passed, is_left, passed and is_left, asked and is_left)
        of_family = counts[one.recording.family]
        of_family[:] = [count + mark for count, mark in zip(of_family, marks, strict=True)]
    return {name: Family(*counts[name]) for name in sorted(counts)}


def commonest(
    judged: Iterable[Judged], *, is_attacked: bool, outcome: str
) -> list[tuple[str, int]]:
    """Return the commonest reasons of an outcome, the values in them left out."""
    reasons: Counter[str] = Counter()
    for one in judged:
        if (one.recording.is_attacked, one.outcome) == (is_attacked, outcome):
            last = one.reasons[-1] if one.reasons else f"nothing doubted: {one.recording.task}"
            reasons[_QUOTED.sub("..", last) if one.reasons else last] += 1
    return reasons.most_common(_COMMONEST)


def wire(found: dict[str, Rate]) -> dict[str, Any]:
    """Return rates as JSON, rounded as they are shown."""
    return {
        name: {
            "found": one.found,
            "total": one.total,
            "low": round(one.low, 4),
            "high": round(one.high, 4),
        }
        for name, one in found.items()
    }
