"""Mutants are met when their file has changed, and survivors in every run."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.assurance.mutation import judged
from tests.assurance.mutation.covering import Covering
from tests.assurance.mutation.judged import Judged, judge_files, judged_equivalent
from tests.assurance.mutation.mutants import Mutant, all_mutants
from tests.support.paths import ROOT

FILES = ("a.py", "b.py")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with two files, of which the third mutant of each is equivalent."""
    for name in FILES:
        (tmp_path / name).write_text("x = 1\n")
    equivalent = {(file, "f", "x", "2"): "It makes no difference." for file in FILES}
    monkeypatch.setattr(judged, "ROOT", tmp_path)
    monkeypatch.setattr(judged, "judged_equivalent", lambda: equivalent)
    return tmp_path


def mutants() -> list[Mutant]:
    return [Mutant(file, 1, "f", "x", str(at), "") for file in FILES for at in range(4)]


def judge(met: list[str], *killed: str) -> Callable[[list[Mutant]], list[Judged]]:
    """Return a judge that notices some mutants, and says in `met` which it has met."""

    def judging(those: list[Mutant]) -> list[Judged]:
        met.extend(one.file[0] + one.after for one in those)
        return [Judged(one, "a test" if one.after in killed else "") for one in those]

    return judging


def totals(killed: int, equivalent: int, surviving: int) -> dict[str, int]:
    counts = {"killed": killed, "equivalent": equivalent, "surviving": surviving}
    return {"mutants": sum(counts.values()), **counts}


def test_what_was_noticed_holds_until_its_file_changes(source: Path) -> None:
    path, met = source / "sums.json", list[str]()
    row = judge_files("mutation", mutants(), judge(met, "0", "1"), path, source / "details")
    assert sorted(met) == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"]
    assert (row.tried, row.held, row.met) == (8, 6, False)
    met.clear()
    (source / "b.py").write_text("x = 2\n")
    row = judge_files("mutation", mutants(), judge(met, "0", "1", "3"), path, source / "details")
    assert sorted(met) == ["a3", "b0", "b1", "b2", "b3"]
    assert (row.tried, row.held, row.met) == (8, 8, True)
    kept = orjson.loads(path.read_bytes())
    assert kept == {
        "mutants": 8,
        "killed": 6,
        "equivalent": 2,
        "surviving": 0,
        "judged but gone": [],
    }


def test_an_interrupted_run_goes_on_where_it_was(source: Path) -> None:
    path, met = source / "sums.json", list[str]()

    def breaks_off(those: list[Mutant]) -> list[Judged]:
        if those[0].file == "b.py":
            raise KeyboardInterrupt
        return judge(met, "0", "1", "3")(those)

    with pytest.raises(KeyboardInterrupt):
        judge_files("mutation", mutants(), breaks_off, path, source / "details")
    met.clear()
    row = judge_files("mutation", mutants(), judge(met, "0", "1", "3"), path, source / "details")
    assert {one[0] for one in met} == {"b"}
    assert row.met


def test_a_judgement_that_no_mutant_needs_is_named(source: Path) -> None:
    path = source / "sums.json"
    judge_files("mutation", mutants(), judge([], "0", "1", "2", "3"), path, source / "details")
    gone = orjson.loads(path.read_bytes())["judged but gone"]
    assert [one[0] for one in gone] == list(FILES)


def test_cheap_tests_of_a_line_come_before_dear_ones_however_near() -> None:
    dear, near, other = "tests/a/test_b.py::law", "tests/a/test_b.py::x[1]", "tests/c/test_d.py::x"
    lines = {"a/b.py": {1: {dear, near, other, "tests/a/test_b.py::x[2]"}}}
    covering = Covering(lines, {dear: 0.9, near: 0.1, "tests/a/test_b.py::x[2]": 0.2, other: 0.1})
    assert covering.within(0.5, "a/b.py", 1) == [near, other, "tests/a/test_b.py::x[2]"]
    assert covering.within(2.0, "a/b.py", 1)[-1] == dear


def test_what_is_judged_equivalent_is_in_a_file_of_today() -> None:
    assert {file for file, *_ in judged_equivalent() if not (ROOT / file).is_file()} == set()


@pytest.mark.slow
def test_what_is_judged_equivalent_is_a_mutant_of_today() -> None:
    files = sorted({file for file, *_ in judged_equivalent()})
    assert judged_equivalent().keys() - {one.key for one in all_mutants(files)} == set()
