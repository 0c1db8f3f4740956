"""Random and broken bytes at every entry that takes bytes: only documented errors are raised."""

import gzip
import multiprocessing
import os
import resource
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from typing import Any, Final, NamedTuple

import orjson

from harness.testing._draw.primitives import random_of
from tests.assurance.forked import forked
from tests.assurance.fuzzing import elsewhere
from tests.assurance.fuzzing.grown import grown
from tests.assurance.fuzzing.hostile import ENTRIES, HOSTILE
from tests.assurance.fuzzing.mutate import bent, broken, rotten, spelled
from tests.assurance.fuzzing.products import products
from tests.assurance.fuzzing.targets import TARGETS, Target, corpus, problem, problem_of
from tests.assurance.row import Row
from tests.assurance.shrink import smallest
from tests.assurance.slowness import slowness, slowness_now
from tests.support.paths import FIXTURES

FINDS: Final = FIXTURES / "fuzz"
"""Inputs that once got through, named after their entry; a test enters every one again."""

CHUNK: Final = 500
QUICK: Final = (10_000_000, 30.0)
FULL: Final = (10_000_000, 20 * 60.0)
LARGE_QUICK: Final = 100
LARGE_FULL: Final = 2_000
_ONE_IN: Final = 29  # of the documents for sessions, in the quick form
_ONE_IN_OTHERS: Final = 29  # of the documents for other entries
_SLOW: Final = 5.0  # seconds of computing for one input, on a machine of the usual speed
_HANGS: Final = 90.0  # seconds on the clock, which others may take up meanwhile
_LARGE: Final = 500_000_000  # bytes that reading one input may take

_DRAWN: Final = [name for name, target in TARGETS.items() for _ in range(target.share)]
_GROWN: Final = [name for name in TARGETS if name not in ("log", "toml")]


class Find(NamedTuple):
    """An input that gave what it should not."""

    name: str
    seed: int
    data: bytes
    what: str


class Hanging(BaseException):
    """An input whose reading did not end."""


class Told(NamedTuple):
    """What a chunk of inputs gave."""

    tried: Counter[str]
    finds: list[Find]
    slowest: float


def drawn(seed: int) -> tuple[str, bytes]:
    """Return the entry and the input of that seed."""
    random = random_of(seed)
    name = random.choice(_DRAWN)
    document, donor = random.choice(corpus(name)), random.choice(corpus(name))
    if name == "log":
        return name, rotten(random, document)
    mutation = broken if name == "toml" or random.random() < 0.3 else bent
    return name, mutation(random, document, donor)


def enter_chunk(start: int, size: int = CHUNK) -> Told:
    """Run the inputs of the seeds from `start` on, each through its entry."""
    tried, finds, slowest, slow = Counter[str](), [], 0.0, _SLOW * slowness()
    signal.signal(signal.SIGVTALRM, _stopped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(start, start + size):
            name, data = drawn(seed)
            began = time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, 2 * slow)
            what = problem(name, data)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            took = time.process_time() - began
            slowest = max(slowest, took)
            tried[name] += 1
            if what is None and took > slow:
                what = f"Slow: {took:.1f} s"
            if what is not None:
                finds.append(Find(name, seed, data, what))
    return Told(tried, finds, slowest)


def _stopped(_signal: int, _frame: object) -> None:
    raise Hanging("stopped after twice the time that is slow")


def enter_all(most: int, seconds: float, workers: int) -> Iterator[Told]:
    """Chunk after chunk until there were so many inputs, or so many seconds have passed."""
    until = time.monotonic() + seconds
    starts = range(0, most, CHUNK)
    if workers == 1:
        for start in starts:
            yield enter_chunk(start)
            if time.monotonic() > until:
                return
        return
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        for told in pool.imap_unordered(enter_chunk, starts):
            yield told
            if time.monotonic() > until:
                return


def run(*, quick: bool) -> list[Row]:
    """Return one row: how many inputs, how fast, and which findings."""
    most, seconds = QUICK if quick else FULL
    slowness()  # once, before the children part ways
    began = time.monotonic()
    tried, finds, slowest = Counter[str](), [], 0.0
    for told in enter_all(most, seconds, os.cpu_count() or 1):
        tried += told.tried
        finds += told.finds
        slowest = max(slowest, told.slowest)
    pace = sum(tried.values()) / (time.monotonic() - began)
    for find in _distinct(finds):
        _keep(find)
    shares = ", ".join(f"{name} {number:,}" for name, number in tried.items())
    note = f"{pace:,.0f} inputs a second, slowest {slowest * 1000:.0f} ms; {shares}"
    total = sum(tried.values())
    held = total - len(finds)
    row = Row("fuzzing every entry", total, "inputs", held, held == total > 0, note)
    sessions = at_sessions([*HOSTILE][:: _ONE_IN if quick else 1])
    others = at_others([*elsewhere.ELSEWHERE][:: _ONE_IN_OTHERS if quick else 1])
    return [row, large(LARGE_QUICK if quick else LARGE_FULL), multiplied(), sessions, others]


def large(count: int) -> Row:
    """Return the row of so many documents of a megabyte, each read in a process of its own."""
    finds, slowest, largest = list[Find](), 0.0, 0
    for seed, answer in forked(_weighed, range(count), timeout=4 * _SLOW * slowness()):
        told = Weighed(answer, 0.0, 0) if isinstance(answer, str) else answer
        slowest, largest = max(slowest, told.seconds), max(largest, told.memory)
        if told.what:
            finds.append(Find(*_grown(seed), told.what))
    for find in finds:
        _tell(find)
    note = f"slowest {slowest:.1f} s, most memory {largest >> 20} MiB"
    held = count - len(finds)
    return Row("a megabyte at every entry", count, "documents", held, held == count, note)


def multiplied() -> Row:
    """Return the row of the documents whose cost is a product, each in a process of its own."""
    return _weighed_row("products of two parts of a document", _weighed_product, [*products()])


def at_sessions(names: list[str]) -> Row:
    """Return the row of documents for sessions, each in a process of its own."""
    return _weighed_row("a megabyte for a session, by shape and place", _weighed_hostile, names)


def at_others(names: list[str]) -> Row:
    """Return the row of policies, logs and bodies, each in a process of its own."""
    title = "a megabyte at every other entry, by shape and place"
    return _weighed_row(title, _weighed_elsewhere, names)


def _weighed_row(title: str, weigh: Callable[[str], "Weighed"], names: list[str]) -> Row:
    held, slowest, largest = 0, 0.0, 0
    for name, answer in forked(weigh, names, timeout=_HANGS):
        told = Weighed(answer, 0.0, 0) if isinstance(answer, str) else answer
        slowest, largest = max(slowest, told.seconds), max(largest, told.memory)
        held += not told.what
        if told.what:
            sys.stdout.write(f"FOUND {name}: {told.what}\n")
    note = f"slowest {slowest:.1f} s, most memory {largest >> 20} MiB"
    count = len(names)
    return Row(title, count, "documents", held, held == count, note)


class Weighed(NamedTuple):
    """What reading a document came to: what was wrong (or empty), CPU seconds, bytes."""

    what: str
    seconds: float
    memory: int


def _grown(seed: int) -> tuple[str, int, bytes]:
    """Return the entry, the seed and the document."""
    random = random_of(seed)
    name = random.choice(_GROWN)
    return name, seed, grown(random, random.choice(corpus(name)))


def _weighed(seed: int) -> Weighed:
    name, _, data = _grown(seed)
    return _weigh(TARGETS[name], data)


def _weighed_product(name: str) -> Weighed:
    entry, data = products()[name]
    return _weigh(TARGETS[entry], data)


def _weighed_hostile(name: str) -> Weighed:
    entry, make = HOSTILE[name]
    return _weigh(ENTRIES[entry], make())


def _weighed_elsewhere(name: str) -> Weighed:
    entry, make = elsewhere.ELSEWHERE[name]
    return _weigh(elsewhere.ENTRIES[entry], make())


def _weigh(target: Target, data: bytes) -> Weighed:
    before, began = _most_memory(), time.process_time()
    what = problem_of(target, data)
    seconds, memory = time.process_time() - began, _most_memory() - before
    if what is None and seconds > _SLOW * slowness() and seconds > _SLOW * slowness_now():
        what = f"Slow: {seconds:.1f} s"
    if what is None and memory > _LARGE:
        what = f"Large: {memory >> 20} MiB"
    return Weighed(what or "", seconds, memory)


def _most_memory() -> int:
    """Return the most bytes that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _distinct(finds: list[Find]) -> list[Find]:
    """Return one finding for each entry and kind of error."""
    return list({(find.name, find.what.partition(":")[0]): find for find in finds}.values())


def _keep(find: Find) -> None:
    """Keep the smallest input that shows the find among the fixtures, and print it."""
    kind = find.what.partition(":")[0]
    small = find.data if kind in ("Slow", "Hanging") else shrunk(find.name, find.data, kind)
    FINDS.mkdir(exist_ok=True)
    path = FINDS / f"{find.name}-{sha256(small).hexdigest()[:12]}.gz"
    path.write_bytes(gzip.compress(small, mtime=0))
    _tell(find._replace(data=small))


def _tell(find: Find) -> None:
    """Print the find, and how its input begins."""
    sys.stdout.write(f"FOUND {find.name} seed {find.seed}: {find.what}\n  {find.data[:500]!a}\n")


def shrunk(name: str, data: bytes, kind: str) -> bytes:
    """Return the smallest input with the same kind of error that removing parts leads to."""
    try:
        tree = orjson.loads(data)
    except ValueError:
        return _shorter(name, data, kind)
    return spelled(smallest(tree, partial(_shows_tree, name, kind)))


def _shows(name: str, kind: str, data: bytes) -> bool:
    return (problem(name, data) or "").partition(":")[0] == kind


def _shows_tree(name: str, kind: str, tree: Any) -> bool:
    return _shows(name, kind, spelled(tree))


def _shorter(name: str, data: bytes, kind: str) -> bytes:
    """Return the bytes without each stretch that is not needed; a log file keeps its length."""
    size = len(data) // 2 if name != "log" else 0
    while size:
        for at in range(0, len(data), size):
            without = data[:at] + data[at + size :]
            if _shows(name, kind, without):
                data = without
        size //= 2
    return data
