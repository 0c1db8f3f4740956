"""A mutant that is put in place does what its text says; one that cannot be is left alone."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from tests.assurance.mutation import patched
from tests.assurance.mutation.mutants import Mutant, mutants_of
from tests.assurance.mutation.patched import put_in_place

FILE = "critic/patched_here.py"
NAME = "critic.patched_here"
TEXT = dedent(
    """
    import re
    from dataclasses import dataclass
    from functools import cached_property, lru_cache

    _MOST = 3
    _WORDS = frozenset(("a", "aa", *("b", "c")))
    _PATTERN = re.compile("[ab]+")
    _SIZE = 8
    SHARED = "shared text"
    LOOK = {"f": lambda: _MOST}


    @lru_cache(maxsize=_SIZE)
    def double(value):
        return value + value


    def reads(word, most=_SIZE):
        return word in _WORDS and len(word) < _MOST and _PATTERN.fullmatch(word) is not None


    @dataclass
    class Point:
        x: int = 1

        @property
        def left(self):
            return self.x < 2

        @cached_property
        def right(self):
            return [one for one in range(3) if one > self.x]

        @staticmethod
        def twice(value):
            def inner():
                return value * 2
            return inner()
    """
)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    path = tmp_path / FILE
    path.parent.mkdir()
    path.write_text(TEXT)
    monkeypatch.setattr(patched, "ROOT", tmp_path)
    made = ModuleType(NAME)
    made.__file__ = str(path)
    sys.modules[NAME] = made
    exec(compile(TEXT, str(path), "exec"), vars(made))  # noqa: S102 - a text of ours
    yield made
    del sys.modules[NAME]


def mutant(before: str, after: str) -> Mutant:
    found = [one for one in mutants_of(FILE, TEXT) if before in one.before and after in one.after]
    assert len(found) == 1, [(one.before, one.after) for one in found]
    return found[0]


def test_the_body_of_a_function_is_put_under_what_wraps_it(module: ModuleType) -> None:
    for before, after in (
        ("return value + value", "value - value"),
        ("return self.x < 2", "self.x >= 2"),
        ("return [one for one in range(3) if one > self.x]", "one >= self.x"),
        ("return value * 2", "value + 2"),
    ):
        assert put_in_place(mutant(before, after), set()), after
    point = module.Point()
    assert (module.double(4), point.left, point.right, point.twice(5)) == (0, False, [1, 2], 7)


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [("_MOST = 3", "_MOST = 2", "aa"), ("('b', 'c')", "('c',)", "b"), ("[ab]", "[b]", "a")],
)
def test_a_private_constant_is_set(module: ModuleType, before: str, after: str, word: str) -> None:
    assert module.reads(word)
    assert put_in_place(mutant(before, after), set())
    assert not module.reads(word)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("_SIZE = 8", "_SIZE = 9"),  # a decorator and a default have read it
        ("x: int = 1", "x: int = 2"),
        ("@dataclass class", "class Point"),
        ("@lru_cache", "def double"),
        ("LOOK = ", "LOOK = {}"),  # it held a function, which reads other constants
    ],
)
def test_what_left_traces_at_the_import_is_not_put_in_place(
    module: ModuleType, before: str, after: str
) -> None:
    found = [one for one in mutants_of(FILE, TEXT) if before in one.before and after in one.after]
    assert found
    kept = dict(vars(module))
    assert not any(put_in_place(one, set()) for one in found)
    assert vars(module) == kept


def test_a_line_that_ran_at_an_import_is_not_put_in_place(module: ModuleType) -> None:
    changed = mutant("return value + value", "value - value")
    assert not put_in_place(changed, {changed.line})
    assert module.double(4) == 8
    assert not put_in_place(mutant("_MOST = 3", "_MOST = 2"), {changed.line})


def test_a_constant_that_another_module_holds_is_not_put_in_place(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ModuleType("critic.patched_there")
    monkeypatch.setitem(sys.modules, other.__name__, other)
    changed = mutant("SHARED = ", "SHARED = ''")
    vars(other)["SHARED"] = module.SHARED
    assert not put_in_place(changed, set())
    vars(other)["SHARED"] = "another"
    assert put_in_place(changed, set())
    assert module.SHARED == ""
