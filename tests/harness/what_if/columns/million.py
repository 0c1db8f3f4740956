"""Compare columns with the rules on so many random plans, and say where they differ.

python -m tests.harness.what_if.columns.million 1000000
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from harness.what_if.plan_answers import answer_entry, direction_between
from harness.what_if.rejudging import JudgedPlan
from tests.harness.what_if.columns.drawn import World, a_change
from tests.harness.what_if.columns.plan_files import (
    agreement,
    judged_one_by_one,
    recorded,
    write_plans,
)

_PLANS = 2000  # of a file, under one change


def main() -> int:
    """Print the counts and the differences. Return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plans", type=int)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        seed = args.seed
        while counts["plans"] < args.plans:
            _one_file(Path(folder) / "plans.parquet", seed, counts)
            seed += 1
    for name, count in sorted(counts.items()):
        sys.stdout.write(f"{count:>10,} {name}\n")
    return 1 if counts["differences"] else 0


def _one_file(path: Path, seed: int, counts: Counter[str]) -> None:
    rng = Random(seed)  # noqa: S311 - chance, not a secret
    worlds = [World(rng) for _ in range(rng.choice((1, 1, 4)))]
    mixed = [one for world in worlds for one in world.proposals(_PLANS // len(worlds))]
    rng.shuffle(mixed)
    change, records = a_change(rng, worlds[0].base), recorded(mixed)
    write_plans(path, records)
    one_by_one = judged_one_by_one(records, change)
    found = agreement(path, one_by_one, change)
    path.unlink()
    counts["plans"] += len(records)
    counts["judged by columns"] += found.by_columns
    counts["left to the rules"] += found.left
    counts["differences"] += len(found.differences)
    for each in found.differences[:3]:
        sys.stdout.write(f"seed {seed}: {each}\n")
    for one in one_by_one:
        if isinstance(one, JudgedPlan):
            after = answer_entry(one.after)
            counts[f"after: {after.text}"] += 1
            counts[direction_between(answer_entry(one.before), after)] += 1


if __name__ == "__main__":
    sys.exit(main())
