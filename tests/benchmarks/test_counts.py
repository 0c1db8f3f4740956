"""The gate opens for what costs no more than before, and for nothing else."""

from typing import Any

import pytest

from tests.benchmarks import counts
from tests.benchmarks.counts import compared, conditions, differing
from tests.benchmarks.kept import kept
from tests.benchmarks.works import WORKS
from tests.support.paths import ROOT

KNOWN = {"score": 1_000_000, "verify": 500_000}


@pytest.mark.parametrize("now", [{}, {"score": 1_029_999}, {"score": 400_000}])
def test_the_gate_opens_for_what_costs_no_more(now: dict[str, int]) -> None:
    assert compared(KNOWN, {**KNOWN, **now}) == []


def test_what_costs_more_is_named_with_both_counts() -> None:
    (problem,) = compared(KNOWN, {**KNOWN, "score": 1_031_000})
    assert problem == ("score: 1,000,000 instructions before, 1,031,000 now, +3.10%, at most +3%")


def test_the_gate_is_shut_where_work_and_counts_do_not_match() -> None:
    assert compared(KNOWN, {"score": 1_000_000}) == ["verify: is not counted any more"]
    assert compared({}, {"score": 1}) == ["score: has no count on file"]


def test_counts_of_other_conditions_are_told_apart() -> None:
    assert differing({"conditions": conditions()}) == []
    other = {**conditions(), "python": "CPython 3.99.0"}
    (line,) = differing({"conditions": other})
    assert line.startswith("python: CPython 3.99.0 was recorded, this is ")
    assert len(differing({})) == len(conditions())


def report(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *flags: str, **on_file: Any
) -> tuple[int, str]:
    """Return what the gate says and its exit status, where one work takes 100 instructions."""
    monkeypatch.setattr("sys.argv", ["counts", *flags])
    monkeypatch.setattr(counts, "count_all", lambda: {"a work": 100})
    monkeypatch.setattr(counts, "kept", lambda: {"counts": on_file})
    status = counts.main()
    return status, capsys.readouterr().out


@pytest.mark.parametrize(("before", "status"), [(100, 0), (98, 0), (97, 1), (10, 1)])
def test_the_gate_says_how_to_record_anew(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    before: int,
    status: int,
) -> None:
    on_file = {"conditions": conditions(), "instructions": {"a work": before}}
    found, said = report(capsys, monkeypatch, "--strict", **on_file)
    assert found == status
    assert f"a work: {before:,} instructions before, 100 now" in said
    assert (counts.RECORD in said) is bool(status)


@pytest.mark.parametrize(("flags", "status"), [(("--strict",), 1), ((), 0)])
def test_another_python_is_not_comparable_and_shuts_the_strict_gate(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flags: tuple[str, ...],
    status: int,
) -> None:
    conditions_then = {**conditions(), "python": "CPython 3.99.0"}
    on_file = {"conditions": conditions_then, "instructions": {"a work": 1}}
    found, said = report(capsys, monkeypatch, *flags, **on_file)
    assert found == status
    assert "not comparable: python: CPython 3.99.0 was recorded" in said


@pytest.mark.parametrize(("flags", "status"), [(("--strict",), 1), ((), 0)])
def test_without_valgrind_the_strict_gate_is_shut(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    flags: tuple[str, ...],
    status: int,
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    monkeypatch.setattr("sys.argv", ["counts", *flags])
    monkeypatch.setattr(counts, "kept", lambda: {"counts": {"conditions": conditions()}})
    assert counts.main() == status
    assert "apt-get install valgrind" in capsys.readouterr().out


def test_every_work_has_its_count_on_file() -> None:
    on_file = kept()["counts"]
    assert list(on_file["instructions"]) == [work.name for work in WORKS]
    assert on_file["conditions"].keys() == conditions().keys()


def test_the_wheels_of_the_gate_are_those_of_the_counts() -> None:
    lines = (ROOT / ".ci" / "wheels.txt").read_text("utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    on_file = dict(kept()["counts"]["conditions"])
    del on_file["python"], on_file["machine"]
    assert {name.replace("-", "_"): number for name, number in pinned.items()} == on_file


def test_the_gate_runs_strictly_in_ci() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert "set -euo pipefail" in script
    assert ".venv/bin/python -m tests.benchmarks.counts --strict" in script
