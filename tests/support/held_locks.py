"""Locks that are held by hand: a thread is held up right before a lock, and told when to go on.

What the test does meanwhile, it does as another thread that was faster.
"""

import ast
import asyncio
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import cache
from threading import Event, Thread
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from tests.support.paths import ROOT

_LOCK: Final = re.compile(r"(?i)[\w.]*lock|_READING|self\._turn")
_MAY_TAKE: Final = re.compile(r"(?i)with .*(lock|_reading|_turn)")
_MADE: Final = re.compile(r"(asyncio\.|threading\.)?(Lock|RLock|Condition|Semaphore)\(\)")
_SECONDS: Final = 20


class Site(NamedTuple):
    """A `with` statement that takes a lock: the function that it is in, and which one of it."""

    file: str
    function: str
    number: int = 1

    @property
    def line(self) -> int:
        """The line of the source that it is on.

        Raises:
            KeyError: there is no such statement (any more).
        """
        return lock_sites()[self]


@cache
def lock_sites() -> dict[Site, int]:
    """Return every `with` statement of this project that takes a lock of threads or tasks."""
    found: dict[Site, int] = {}
    for package in ("evals", "critic", "harness"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text, counts = path.read_text("utf-8"), Counter[str]()
            for function, line in _taken(ast.parse(text), "") if _MAY_TAKE.search(text) else ():
                counts[function] += 1
                site = Site(str(path.relative_to(ROOT)), function, counts[function])
                found[site] = line
    return found


def _taken(node: ast.AST, inside: str) -> Iterator[tuple[str, int]]:
    """Yield the name of the function and the line of each statement, in their order."""
    for child in ast.iter_child_nodes(node):
        within = inside
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            within = f"{inside}.{child.name}" if inside else child.name
        if isinstance(child, ast.With | ast.AsyncWith):
            for item in child.items:
                if _LOCK.fullmatch(ast.unparse(item.context_expr)):
                    yield inside, child.lineno
        yield from _taken(child, within)


class _Gate:
    """A lock that holds up the first who comes to it on one line."""

    def __init__(self, lock: Any, line: int) -> None:
        self._lock, self._line = lock, line
        self.arrived, self.go_on = Event(), Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._lock, name)

    def _holds_up(self, line: int) -> bool:
        holds = line == self._line and not self.arrived.is_set()
        if holds:
            self.arrived.set()
        return holds

    def __enter__(self) -> Any:
        if self._holds_up(sys._getframe(1).f_lineno):
            assert self.go_on.wait(_SECONDS)
        return self._lock.__enter__()

    def __exit__(self, *raised: Any) -> Any:
        return self._lock.__exit__(*raised)

    async def __aenter__(self) -> Any:
        if self._holds_up(sys._getframe(1).f_lineno):
            while not self.go_on.is_set():
                await asyncio.sleep(0.001)
        return await self._lock.__aenter__()

    async def __aexit__(self, *raised: Any) -> Any:
        return await self._lock.__aexit__(*raised)


class Held:
    """Work in another thread that is held up right before a lock, for the time of a block.

    Attributes:
        result: what the work returned, once the block is left.
        error: what it raised.
    """

    def __init__(self, site: Site, owner: Any, name: str, work: Callable[[], Any]) -> None:
        """Hold up work at a site. The lock is the attribute `name` of `owner`."""
        self._gate = gate_at(site, getattr(owner, name))
        object.__setattr__(owner, name, self._gate)
        self._work: Final = work
        self._thread: Final = Thread(target=self._run, daemon=True)
        self.result: Any = None
        self.error: Exception | None = None

    def _run(self) -> None:
        try:
            self.result = self._work()
        except Exception as error:
            self.error = error

    def __enter__(self) -> Self:
        self._thread.start()
        while self._thread.is_alive() and not self._gate.arrived.wait(0.001):
            pass
        assert self._gate.arrived.is_set(), f"it went on without the lock: {self.error!r}"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._gate.go_on.set()
        self._thread.join(_SECONDS)
        assert not self._thread.is_alive()


def gate_at(site: Site, lock: Any) -> _Gate:
    """Return a lock that holds up whoever comes to a site first."""
    return _Gate(lock, site.line)


def hold_task(
    site: Site,
    owner: Any,
    name: str,
    work: Callable[[], Awaitable[Any]],
    meanwhile: Callable[[], Awaitable[Any]] | None = None,
) -> None:
    """Hold up a task right before a lock of an event loop, and let another go first."""

    async def scenario() -> None:
        gate = gate_at(site, asyncio.Lock())
        object.__setattr__(owner, name, gate)
        task = asyncio.ensure_future(work())
        while not task.done() and not gate.arrived.is_set():
            await asyncio.sleep(0.001)
        assert gate.arrived.is_set(), "it went on without the lock"
        if meanwhile is not None:
            await meanwhile()
        gate.go_on.set()
        await task

    asyncio.run(scenario())


def named_locks() -> Iterator[tuple[str, str]]:
    """Yield each name that a lock of threads or tasks is given, with its file."""
    for package in ("evals", "critic", "harness"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text("utf-8")
            for node in ast.walk(ast.parse(text)) if _MADE.search(text) else ():
                if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                    continue
                if _MADE.fullmatch(ast.unparse(node.value)):
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    yield str(path.relative_to(ROOT)), ast.unparse(target)


def takes_lock(name: str) -> bool:
    """Return whether a `with` statement of a lock of this name is found."""
    return _LOCK.fullmatch(name) is not None
