"""Which tests run a line, and how long each takes: those that may notice a mutant of it."""

import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from sys import intern
from tempfile import TemporaryDirectory
from typing import Final

from coverage import CoverageData

from tests.assurance.mutation.readers import lines_that_read
from tests.support.effort import EVERY_TEST
from tests.support.paths import ROOT

_DURATION: Final = re.compile(r"^([\d.]+)s (?:setup|call|teardown) +(.+)$", re.MULTILINE)


Lines = dict[int, set[str]]
"""The node ids of the tests that run a line; `""` where it runs outside of a test as well."""
_OUTSIDE: Final = ""
_SLOW: Final = 1.0
"""Seconds: such a test starts another program, which reads the files and not the mutant."""
_DEAR: Final = 0.3
"""Seconds: such a test draws examples. In its time, dozens of others say more, one by one."""
_AT_ONCE: Final = 8
"""Cases of one test that come in a round, of the file that mirrors the mutant's."""


class Covering:
    """The tests of each line, measured in one run of the tests."""

    def __init__(self, lines: dict[str, Lines], seconds: dict[str, float]) -> None:
        self._lines = lines
        self._seconds = seconds

    def tests_of(self, file: str, line: int) -> list[str]:
        """Return the node ids of the tests that run the line, one case of each test function first.

        Of each round of cases come the nearest first, then the fastest; dear tests come last.
        A line that runs at the import, such as a field, may be noticed by a test that runs no line
        of its file: for it, all tests of its folder and all that run a line of the file, but first
        those of lines that read its constant.
        """
        lines = self._lines.get(file, {})
        tests = soon = lines.get(line, {_OUTSIDE})
        if _OUTSIDE in tests:
            text = (ROOT / file).read_text("utf-8")
            soon = set[str]().union(*(lines.get(one, ()) for one in lines_that_read(text, line)))
            tests = set[str]().union(*lines.values(), self._of_folder(file)) - {_OUTSIDE}
        nearest = sorted(tests, key=lambda test: (_distance(file, test), self.seconds(test)))
        rounds = defaultdict[str, Iterator[int]](count)
        round_of = {test: next(rounds[test.partition("[")[0]]) for test in nearest}
        return sorted(
            nearest,
            key=lambda test: (
                self.seconds(test) > _DEAR,
                test not in soon,
                round_of[test] // (1 if _distance(file, test) else _AT_ONCE),
            ),
        )

    def ran_at_import(self, file: str) -> set[int]:
        """Return the lines of the file that ran outside of tests."""
        return {line for line, tests in self._lines.get(file, {}).items() if _OUTSIDE in tests}

    def within(self, seconds: float, file: str, line: int, first: Iterable[str] = ()) -> list[str]:
        """Return the first tests of the line that take so long together, and one at least.

        Args:
            first: tests that come before all others, if they run the line.
        """
        tests, soon = self.tests_of(file, line), list[str]()
        known = set(tests)
        tests = [*dict.fromkeys((*(test for test in first if test in known), *tests))]
        for test in tests:
            if self.seconds(test) <= seconds:
                soon.append(test)
                seconds -= self.seconds(test)
        return soon or tests[:1]

    def _of_folder(self, file: str) -> set[str]:
        near = (test for test in self._seconds if _distance(file, test) < 2)
        return {test for test in near if self.seconds(test) < _SLOW}

    def seconds(self, test: str) -> float:
        """Return how long a test took."""
        return self._seconds.get(test, 0.0)


def _distance(file: str, test: str) -> int:
    """Return 0 where the test's file mirrors the file, 1 where its folder does, else 2."""
    path = Path(test.partition("::")[0])
    if path.parent != "tests" / Path(file).parent:
        return 2
    return 0 if path.stem == f"test_{Path(file).stem}" else 1


def measure(tests: Iterable[str], packages: Iterable[str]) -> Covering:
    """Run the tests (paths, and options of pytest) once, and see which lines each runs."""
    with TemporaryDirectory() as folder:
        told = Path(folder) / "coverage"
        command = [
            *(sys.executable, "-m", "pytest", *tests, "-vv", "--durations=0", "--durations-min=0"),
            *EVERY_TEST,
            *("-p", "tests.assurance.mutation.brief"),
            *("-p", "no:cacheprovider", "--cov-context=test", "--cov-report="),
            *(f"--cov={package}" for package in packages),
        ]
        environment = os.environ | {"COVERAGE_FILE": str(told)}
        ended = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        if ended.returncode:
            told_last = ended.stdout[-2000:]
            raise SystemExit(f"the tests fail without a mutation:\n{told_last}")
        lines = _read(told)
    seconds = defaultdict[str, float](float)
    for took, test in _DURATION.findall(ended.stdout):
        seconds[test.strip()] += float(took)
    return Covering(lines, dict(seconds))


def _read(path: Path) -> dict[str, Lines]:
    data = CoverageData(str(path))
    data.read()
    return {
        str(Path(file).relative_to(ROOT)): {
            line: {intern(context.partition("|")[0]) for context in contexts}
            for line, contexts in data.contexts_by_lineno(file).items()
        }
        for file in data.measured_files()
    }
