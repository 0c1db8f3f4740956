"""Every planted bug has its place and is really planted; every hole of the seed is among them.

That each is caught is for `python -m tests.assurance planted` to show.
"""

import ast
from functools import cache

import pytest

from tests.assurance.layers.planted import files_of_tests, nearest
from tests.assurance.planted.bug import HOLES, Bug, Misplanted, planted, slip
from tests.assurance.planted.bugs import BUGS
from tests.assurance.shells.misreadings import MISREADINGS
from tests.support.paths import ROOT

PLANTED_IN = ("critic/", "evals/", "harness/")


@cache
def source(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


@cache
def dumped(file: str) -> str:
    return ast.dump(ast.parse(source(file)))


@pytest.mark.slow
@pytest.mark.parametrize("bug", MISREADINGS, ids=lambda bug: bug.name)
def test_a_misreading_has_its_place(bug: Bug) -> None:
    for file, text in planted(bug, {file: source(file) for file in bug.files}).items():
        assert ast.dump(ast.parse(text)) != dumped(file)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_bug_has_its_place(bug: Bug) -> None:
    sources = {file: source(file) for file in bug.files}
    changed = planted(bug, sources)
    assert set(changed) == set(bug.files)
    for file, text in changed.items():
        assert file.startswith(PLANTED_IN)
        assert ast.dump(ast.parse(text)) != dumped(file)
    assert all((ROOT / found).exists() for found in (*nearest(bug), *files_of_tests(bug)))
    assert bug.breaks
    assert "\n" not in bug.breaks
    assert bug.hole in {"", *HOLES}


def test_there_are_enough_and_each_has_its_own_name() -> None:
    assert len(BUGS) >= 60
    assert len({bug.name for bug in BUGS}) == len(BUGS)
    assert len({bug.edits for bug in BUGS}) == len(BUGS)


def test_every_hole_of_the_seed_is_planted_anew() -> None:
    assert {bug.hole for bug in BUGS} - {""} == set(HOLES)


def test_a_bug_without_its_place_is_reported() -> None:
    for text, old, new in (("a = 1\n", "b", "c"), ("a = a\n", "a", "b"), ("a = 1\n", "a", "a")):
        with pytest.raises(Misplanted):
            planted(slip("one", "f.py", "nothing", old, new), {"f.py": text})
    with pytest.raises(SyntaxError):
        planted(slip("one", "f.py", "all", "a", "1"), {"f.py": "a = 1\n"})
