"""A fault planted in each rule of the columns makes the laws fail: they would see a real one."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from harness.what_if.columns import column_facts, column_judging, kernel, plan_rows
from harness.what_if.columns.kernel import Lists
from harness.what_if.plan_answers import ANSWERS
from harness.what_if.recorded_change import Alteration
from tests.harness.what_if.columns.drawn import World, a_change
from tests.harness.what_if.columns.plan_files import (
    agreement,
    judged_one_by_one,
    recorded,
    write_plans,
)
from tests.support.effort import sampled

Plant = Callable[[pytest.MonkeyPatch], None]

SEEDS = 60


def _without_bit(name: str, approvable: bool) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        real = column_facts._bit
        bits = sum(
            bit
            for (check, _, cleared), bit in column_facts._BITS.items()
            if (check, cleared) == (name, approvable)
        )
        patch.setattr(column_facts, "_bit", lambda found: real(found) & ~bits)

    return plant


def _column(name: str, value: Any) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        real = plan_rows.RowWriter._row
        patch.setattr(
            plan_rows.RowWriter, "_row", lambda self, one: real(self, one)._replace(**{name: value})
        )

    return plant


def _constant(module: Any, name: str, value: Any) -> Plant:
    return lambda patch: patch.setattr(module, name, value)


def _of_setting(name: str) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        real = column_facts.Setting.__init__

        def made(self: column_facts.Setting, *given: Any) -> None:
            real(self, *given)
            object.__setattr__(self, name, 0)

        patch.setattr(column_facts.Setting, "__init__", made)

    return plant


def _declared(patch: pytest.MonkeyPatch) -> None:
    real = kernel._mark_codes
    patch.setattr(kernel, "_mark_codes", lambda codes, _lacks: real(codes, lambda _code: False))


def _no_tokens(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(column_facts, "planned_tokens", lambda _case: 0)


def _time_before(patch: pytest.MonkeyPatch) -> None:
    real: Any = np.searchsorted

    class Shifted:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def searchsorted(self, *args: Any, **_options: Any) -> Any:
            return real(*args, side="left")

    patch.setattr(column_judging, "np", Shifted())


def _first_step_only(patch: pytest.MonkeyPatch) -> None:
    def reduced(_how: Any, table: Any, lists: Lists, _values: Any) -> Any:
        firsts = np.minimum(lists.starts[:-1], max(len(lists.values) - 1, 0))
        values = table.take(lists.values)[firsts] if len(lists.values) else 0
        return np.where(lists.lengths() != 0, values, 0)

    patch.setattr(kernel, "_reduce_steps", reduced)


def _never_asks(patch: pytest.MonkeyPatch) -> None:
    table = kernel._ANSWER_OF.copy()
    for code, answer in enumerate(ANSWERS):
        if answer.asks:
            table[table == code] = code - 1
    patch.setattr(kernel, "_ANSWER_OF", table)


PLANTED: dict[str, Plant] = {
    "a surface violation is overlooked": _without_bit("surface", approvable=False),
    "a mode that is too high is overlooked": _without_bit("approval", approvable=False),
    "a missing approval is overlooked": _without_bit("approval", approvable=True),
    "missing evidence is overlooked": _without_bit("evidence", approvable=False),
    "a repeat over turns is overlooked": _without_bit("loop", approvable=True),
    "required outputs need no step": _of_setting("outputs"),
    "required classes need no pin": _of_setting("classes"),
    "declared outputs are not looked at": _declared,
    "the order of steps is not looked at": _column("out_of_order", value=False),
    "repeated calls are not looked at": _column("repeated_calls", ()),
    "another trace is not looked at": _column("other_trace", value=False),
    "steps that were spent do not count": _column("spent_steps", None),
    "tokens that were spent do not count": _column("spent_tokens", None),
    "tokens of steps do not count": _no_tokens,
    "every repeat is destructive": _constant(kernel, "DESTRUCTIVE", -1),
    "what expires now holds": _time_before,
    "the time is not known": _column("as_of_us", None),
    "only the first step counts": _first_step_only,
    "nobody is asked": _never_asks,
}


def _differs(path: Path, seed: int, patch: pytest.MonkeyPatch, plant: Plant) -> bool:
    rng = Random(seed)  # noqa: S311 - chance, not a secret
    world = World(rng)
    change = a_change(rng, world.base) if seed % 2 else Alteration()
    records = recorded(world.proposals(40))
    one_by_one = judged_one_by_one(records, change)
    with patch.context() as planted:
        plant(planted)
        write_plans(path, records)
        found = agreement(path, one_by_one, change)
    path.unlink()
    return bool(found.differences)


@pytest.mark.parametrize("plant", sampled(PLANTED.values(), one_in=4), ids=PLANTED)
def test_a_planted_fault_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    path = tmp_path / "plans.parquet"
    assert any(_differs(path, seed, monkeypatch, plant) for seed in range(SEEDS))


def test_without_a_fault_nothing_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plans.parquet"
    assert not any(_differs(path, seed, monkeypatch, lambda _: None) for seed in range(8))
