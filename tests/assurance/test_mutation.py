"""Mutants are met when their file has changed, and survivors in every run."""

import shutil
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from textwrap import dedent

import orjson
import pytest

from tests.assurance.forked import STUCK, TOO_LONG
from tests.assurance.layers import mutation
from tests.assurance.layers.mutation import Killer, meet
from tests.assurance.mutation import judged
from tests.assurance.mutation.covering import Covering
from tests.assurance.mutation.judged import Judged, Kept, judge_files, judged_equivalent
from tests.assurance.mutation.mutants import Mutant, all_mutants
from tests.assurance.mutation.readers import lines_that_read
from tests.assurance.row import Row
from tests.support.paths import FIXTURES, ROOT

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


def judged_as(source: Path, met: list[str], *killed: str, scope: Iterable[str] = FILES) -> Row:
    kept = Kept(source / "rows.json", source / "details")
    of_scope = [one for one in mutants() if one.file in scope]
    return judge_files("mutation", of_scope, judge(met, *killed), kept)


def rows(source: Path) -> dict[str, tuple[int, ...]]:
    kept = orjson.loads((source / "rows.json").read_bytes())
    names = ("killed", "equivalent", "surviving")
    return {file: tuple(row[name] for name in names) for file, row in kept.items()}


def test_what_was_noticed_holds_until_its_file_changes(source: Path) -> None:
    met = list[str]()
    row = judged_as(source, met, "0", "1")
    assert sorted(met) == ["a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"]
    assert (row.tried, row.held, row.met) == (8, 6, False)
    met.clear()
    (source / "b.py").write_text("x = 2\n")
    row = judged_as(source, met, "0", "1", "3")
    assert sorted(met) == ["a3", "b0", "b1", "b2", "b3"]
    assert (row.tried, row.held, row.met) == (8, 8, True)
    assert rows(source) == {"a.py": (3, 1, 0), "b.py": (3, 1, 0)}


def test_on_a_fresh_checkout_only_files_that_changed_or_have_survivors_are_met(
    source: Path,
) -> None:
    judged_as(source, [], "0", "1", "3")
    shutil.rmtree(source / "details")
    judged_as(source, met := list[str](), "0", "1", "3")
    assert met == []
    (source / "b.py").write_text("x = 2\n")
    judged_as(source, met, "0", "1")
    shutil.rmtree(source / "details")
    judged_as(source, again := list[str](), "0", "1", "3")
    assert met == again == ["b0", "b1", "b2", "b3"]


def test_a_judgement_that_is_taken_back_is_met_again(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_as(source, [], "0", "1", "3")
    monkeypatch.setattr(judged, "judged_equivalent", dict)
    row = judged_as(source, met := list[str]())
    assert met == ["a2", "b2"]
    assert (row.held, row.met) == (6, False)


def test_a_row_of_another_text_is_neither_counted_nor_kept(source: Path) -> None:
    judged_as(source, [], "0", "1", "3")
    (source / "b.py").write_text("x = 2\n")
    row = judged_as(source, met := list[str](), scope=["a.py"])
    assert (met, row.tried, row.held, row.met) == ([], 4, 4, True)
    assert row.note.startswith("4 of 4 met as they are now, in 1 of 1 files; ")
    (source / "a.py").write_text("x = 3\n")
    judged_as(source, met, "0", "1", "3", scope=["a.py"])
    assert rows(source).keys() == {"a.py"}


def test_what_changes_while_it_is_met_is_not_kept(source: Path) -> None:
    def changes(those: list[Mutant]) -> list[Judged]:
        (source / those[0].file).write_text("x = 7\n")
        return [Judged(one, "a test") for one in those]

    kept = Kept(source / "rows.json", source / "details")
    row = judge_files("mutation", mutants(), changes, kept)
    assert (row.tried, row.met) == (0, False)
    assert row.note.startswith("0 of 8 met as they are now, in 0 of 2 files; ")


def test_an_interrupted_run_goes_on_where_it_was(source: Path) -> None:
    def breaks_off(those: list[Mutant]) -> list[Judged]:
        if those[0].file == "b.py":
            raise KeyboardInterrupt
        return judge([], "0", "1", "3")(those)

    kept = Kept(source / "rows.json", source / "details")
    with pytest.raises(KeyboardInterrupt):
        judge_files("mutation", mutants(), breaks_off, kept)
    row = judged_as(source, met := list[str](), "0", "1", "3")
    assert {one[0] for one in met} == {"b"}
    assert row.met


def test_a_judgement_that_no_mutant_needs_is_named(source: Path) -> None:
    judged_as(source, [], "0", "1", "2", "3")
    details = orjson.loads((source / "details" / "rows.json").read_bytes())
    assert [details[file]["judged but gone"][0][0] for file in FILES] == list(FILES)


def test_a_row_on_file_sums_up_a_file_of_today() -> None:
    kept = orjson.loads((FIXTURES / "mutation.json").read_bytes())
    assert [file for file in kept if not (ROOT / file).is_file()] == []
    assert list(kept) == sorted(kept)


@pytest.mark.slow
def test_what_computes_for_too_long_or_not_at_all_is_noticed_and_what_is_slow_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mutation, "_WALL", 4)
    monkeypatch.setattr(mutation, "_IDLE", 2)
    ways: dict[str, Callable[[], object]] = {
        "computes": _compute,
        "waits": partial(time.sleep, 60),
        "is slow": _be_slow,
        "notices": str,
    }
    killer = Killer(lambda one: str(ways[one.after]() or "noticed"), 1)
    those = [Mutant("a.py", 1, "f", "x", way, "") for way in ways]
    noticed = {one.mutant.after: one.noticed for one in meet(those, [killer])}
    assert noticed == {
        "computes": TOO_LONG,
        "waits": STUCK,
        "is slow": "",
        "notices": "noticed",
    }


def _be_slow() -> None:
    """Compute for a hundredth of the time, as on a busy machine."""
    while True:
        time.sleep(0.3)
        sum(range(300_000))


def _compute() -> None:
    while True:
        pass


def test_cheap_tests_of_a_line_come_before_dear_ones_however_near() -> None:
    dear, near, other = "tests/a/test_b.py::law", "tests/a/test_b.py::x[1]", "tests/c/test_d.py::x"
    lines = {"a/b.py": {1: {dear, near, other, "tests/a/test_b.py::x[2]"}}}
    covering = Covering(lines, {dear: 0.9, near: 0.1, "tests/a/test_b.py::x[2]": 0.2, other: 0.1})
    assert covering.within(0.5, "a/b.py", 1) == [near, "tests/a/test_b.py::x[2]", other]
    assert covering.within(2.0, "a/b.py", 1)[-1] == dear


def test_tests_that_noticed_neighbours_come_first_where_they_run_the_line() -> None:
    lines = {"a/b.py": {1: {"t::x", "t::y", "t::z"}}}
    covering = Covering(lines, dict.fromkeys(("t::x", "t::y", "t::z"), 0.4))
    assert covering.within(1.0, "a/b.py", 1, ["t::other", "t::z", "t::y"]) == ["t::z", "t::y"]


def test_of_other_files_one_case_of_each_test_comes_first() -> None:
    near = [f"tests/a/test_b.py::x[{at}]" for at in range(10)]
    far = [f"tests/c/test_d.py::{test}[{at}]" for test in "yz" for at in range(2)]
    covering = Covering({"a/b.py": {1: {*near, *far}}}, dict.fromkeys((*near, *far), 0.1))
    order = covering.tests_of("a/b.py", 1)
    assert set(order[:8]) < set(near)
    assert {test.partition("[")[0] for test in order[8:10]} == {far[0][:-3], far[2][:-3]}


def test_the_lines_that_read_a_constant_read_what_is_made_of_it() -> None:
    text = """
    A = (1,
         2)
    B = {*A, 3}
    C = 4
    def f(x):
        return x in B
    class K:
        c = A
        def g(self):
            if C:
                return A[0]
    """
    text = dedent(text)
    assert lines_that_read(text, 3) == lines_that_read(text, 2) == {7, 12}
    assert lines_that_read(text, 4) == {7}
    assert lines_that_read(text, 5) == {11}
    assert lines_that_read(text, 9) == set()


def test_what_is_judged_equivalent_is_in_a_file_of_today() -> None:
    assert {file for file, *_ in judged_equivalent() if not (ROOT / file).is_file()} == set()


@pytest.mark.slow
@pytest.mark.long
def test_what_is_judged_equivalent_is_a_mutant_of_today() -> None:
    files = sorted({file for file, *_ in judged_equivalent()})
    assert judged_equivalent().keys() - {one.key for one in all_mutants(files)} == set()
