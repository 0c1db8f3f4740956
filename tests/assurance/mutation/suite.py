"""The tests that a mutant meets: collected once, before the children part ways.

A child that can put its mutant in place runs the tests as they were collected. Another imports all
anew, collects what it needs, and takes a second or two for that.
"""

import io
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from functools import partial
from typing import Any, Final, TypeVar

import pytest

from tests.assurance.mutation.covering import Covering
from tests.assurance.mutation.killers import Failures, failing_here, guarded, options
from tests.assurance.mutation.mutants import Mutant
from tests.assurance.mutation.overlay import overlay
from tests.assurance.mutation.patched import put_in_place

Result = TypeVar("Result")

_DRAWS: Final = 12
"""Of a hundred examples: the first ones notice most of what is noticed at all."""
_REMEMBERED: Final = 20
"""Tests that noticed the last mutants come first: neighbours are often noticed by the same."""
_FEW: Final = 12
"""Tests that are collected at first, where all is imported anew."""


class Suite:
    """The tests that were collected, and which lines each runs."""

    def __init__(self, covering: Covering, items: Iterable[pytest.Item]) -> None:
        self._covering = covering
        self._items = {item.nodeid: item for item in items}
        self._noticing = list[str]()

    def failing(self, seconds: float, mutant: Mutant, *, anew: bool = False) -> str:
        """Return a test that fails, of those that run the line and take so long together.

        Anew: all is imported again, and every example drawn.
        """
        first = self._noticing[:_REMEMBERED]
        found = self._covering.within(seconds, mutant.file, mutant.line, first)
        tests = [test for test in found if test in self._items]
        if not tests:
            return ""
        if anew:
            overlay({mutant.file: mutant.text})
        elif self.load(mutant):
            return guarded(lambda: self._first_failing(*tests))
        # The first ones import few files of tests, and mostly one of them fails.
        first, rest = tests[:_FEW], tests[_FEW:]
        here = partial(failing_here, draws=100 if anew else _DRAWS)
        return guarded(lambda: here(*first) or (here(*rest) if rest else ""))

    def learn(self, noticing: str) -> None:
        """Let a test that noticed a mutant be the first that the next ones meet."""
        if noticing in self._items:
            rest = (test for test in self._noticing if test != noticing)
            self._noticing = [noticing, *rest]

    def load(self, mutant: Mutant) -> bool:
        """Let this process run the mutant; return whether the tests are those collected before."""
        if put_in_place(mutant, self._covering.ran_at_import(mutant.file)):
            return True
        overlay({mutant.file: mutant.text})
        return False

    def _first_failing(self, *tests: str) -> str:
        items = [self._items[test] for test in tests]
        watch = Failures()
        for item, following in zip(items, [*items[1:], None], strict=True):
            plugins = item.config.pluginmanager
            if not plugins.is_registered(watch):
                plugins.register(watch)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if watch.failed:
                return watch.failed[0]
        return ""


def with_suite(tests: Iterable[str], covering: Covering, work: Callable[[Suite], Result]) -> Result:
    """Return what comes of the work, once the tests (paths, options of pytest) are collected."""
    loop, said = _Loop(covering, work), io.StringIO()
    with redirect_stdout(said):
        pytest.main([*options(draws=_DRAWS), *tests], plugins=[loop])
    if isinstance(loop.error, BaseException):
        raise loop.error
    if not loop.done:
        raise SystemExit(f"the tests are not collected:\n{said.getvalue()[-2000:]}")
    result: Result = loop.done[0]
    return result


class _Loop:
    """A plugin of pytest: in place of running the tests, it works with them."""

    def __init__(self, covering: Covering, work: Callable[[Suite], Any]) -> None:
        self._covering, self._work = covering, work
        self.done = list[Any]()
        self.error: BaseException | None = None

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        try:
            if not session.testsfailed:
                self.done.append(self._work(Suite(self._covering, session.items)))
        except BaseException as error:  # pytest would print it, and end
            self.error = error
        return True
