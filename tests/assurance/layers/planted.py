"""Layer `planted`: many small bugs, each of which some other layer must notice.

Each bug meets the layers in turn, the cheapest first, until one notices it: the corpus, the model,
the tests named after its file or nearest to it (these first for a bug of the harness), and the
laws. What none of them notices is met by types (mypy on the three packages) and by the tests of its
folder in a copy of the project, and then by the whole suite. What noticed a bug must notice nothing
without it.

A full run takes all bugs. How many each layer noticed is in `fixtures/planted.json`, and by what
each bug was noticed in `build/assurance/planted.json`. A quick run takes a fixed sample.
"""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from tqdm import tqdm

from tests.assurance.forked import PROCESSES, forked
from tests.assurance.mutation.killers import (
    corpus,
    failing_here,
    guarded,
    laws,
    load_libraries,
)
from tests.assurance.mutation.mutants import PACKAGES
from tests.assurance.mutation.overlay import overlay
from tests.assurance.planted.bug import Bug, planted
from tests.assurance.planted.bugs import BUGS
from tests.assurance.planted.copies import Copy
from tests.assurance.row import Row
from tests.support.folded import write_folded
from tests.support.paths import DETAILS, FIXTURES, ROOT

Notice = dict[str, str]
"""What each layer noticed of a bug, by layer; empty where it noticed nothing."""

LAYERS: Final = ("corpus", "model", "suite", "laws", "types")
"""In the order in which a bug meets them."""
_TYPED: Final = ("critic", "evals", "harness")
_KEPT: Final = FIXTURES / "planted.json"
_DETAIL: Final = DETAILS / _KEPT.name
_SECONDS: Final = 300
_SAMPLED: Final = 15
_OF_COMMANDS: Final = ("critic/command/", "harness/policy/shell_settings.py")
_LINES: Final = ("tests/harness/policy/test_common_lines.py",)


_EXAMPLES: Final = 10
"""For each law."""
_STREAMS: Final = 60  # as the quick run of the layer `laws`: with fewer, some class is not met


@cache
def _source(file: str) -> str:
    return (ROOT / file).read_text("utf-8")


def _texts(bug: Bug) -> dict[str, str]:
    return planted(bug, {file: _source(file) for file in bug.files})


def _killers(tests: tuple[str, ...]) -> dict[str, Callable[[], str]]:
    """Return the layers that need no copy of the project, the cheapest first."""
    return {
        "corpus": corpus,
        "model": _model,
        "suite": partial(failing_here, *tests) if tests else str,
        "laws": lambda: laws(_EXAMPLES) or _laws_of_the_kit(),
    }


def _model() -> str:
    """Engine and model over a chunk of the seeded cases of the layer `model`."""
    layer = _anew("model")
    for name in layer.SIDES:
        if failed := layer.judge_chunk((name, 0, layer.CHUNK)).failed:
            return f"{name}, seed {failed[0]}"
    return ""


def _laws_of_the_kit() -> str:
    """Check the laws of the layer `laws` on the refund, a drawn world, and guards."""
    layer = _anew("laws")
    refund, _, drawn = layer.worlds()
    tried = [
        *layer.tasks([refund], _EXAMPLES, _EXAMPLES),
        *layer.tasks([drawn], _EXAMPLES),
        *layer.guard_tasks(_STREAMS),
    ]
    return next((task.told for task in tried if layer.broken(task)), "")


def _anew(layer: str) -> Any:
    """Import the module of a layer again, with the engine as it is now."""
    name = f"tests.assurance.layers.{layer}"
    sys.modules.pop(name, None)
    return import_module(name)


def _first_notice(bug: Bug) -> Notice:
    """Return the cheapest layer that notices the bug, and what it noticed."""
    overlay(_texts(bug))
    tests = (*(files_of_tests(bug) or nearest(bug)), *tests_beside(bug))
    killers = _killers(tests)
    for layer in _in_order(bug):
        if noticed := guarded(killers[layer]):
            return {layer: noticed}
    return {}


def _in_order(bug: Bug) -> tuple[str, ...]:
    """Return the layers that a bug meets in turn: cases and seeds run little of the harness."""
    judging = any(file.startswith(PACKAGES) for file in bug.files)
    return ("corpus", "model", "suite", "laws") if judging else ("suite", "corpus", "model", "laws")


def files_of_tests(bug: Bug) -> tuple[str, ...]:
    """Return the files of tests that are named after a file of the bug."""
    found = [
        path
        for file in map(Path, bug.files)
        for path in (ROOT / "tests" / file.parent).glob(f"test_{file.stem}*.py")
    ]
    return tuple(str(path.relative_to(ROOT)) for path in sorted(found))


def tests_beside(bug: Bug) -> tuple[str, ...]:
    """Return the tests of the lines that the shipped table is read by, for bugs of commands."""
    return _LINES if any(file.startswith(_OF_COMMANDS) for file in bug.files) else ()


def _noticed_without(notices: dict[str, Notice]) -> Notice:
    """Return what notices a bug, but something without any bug, too: it must be nothing."""
    tests = tuple(sorted({found["suite"] for found in notices.values() if found.get("suite")}))
    layers = sorted({layer for found in notices.values() for layer in found})
    work = partial(_control, _killers(tests))
    done = _with_progress(forked(work, layers, timeout=4 * _SECONDS), len(layers))
    return {layer: found for layer, found in done if found}


def _control(killers: dict[str, Callable[[], str]], layer: str) -> str:
    """Return what a layer notices without any bug."""
    overlay({})
    return guarded(killers[layer])


def _in_process(bugs: tuple[Bug, ...]) -> dict[str, Notice]:
    """By the layers that need no copy: bug by bug in a forked child."""
    done = forked(_first_notice, bugs, timeout=_SECONDS)
    # A child without an answer has noticed nothing: it may be the machine that is too busy.
    return {
        bug.name: {} if isinstance(found, str) else found
        for bug, found in _with_progress(done, len(bugs))
    }


def _with_progress(done: Iterator[Any], total: int) -> Iterator[Any]:
    return iter(tqdm(done, total=total, unit="bug", leave=False, disable=not sys.stderr.isatty()))


# In copies of the project.


def nearest(bug: Bug) -> list[str]:
    """Return the folders of tests nearest to the files that contain the bug."""
    folders = [Path("tests") / Path(file).parent for file in bug.files]
    return [str(folder) for folder in dict.fromkeys(map(_existing, folders))]


def _existing(folder: Path) -> Path:
    """Return the folder or the one above it that exists: pytest fails without running a test."""
    return folder if (ROOT / folder).is_dir() else _existing(folder.parent)


def _of_copies(
    bugs: tuple[Bug, ...], look: Callable[[Copy, Bug], Notice]
) -> Iterator[tuple[Bug, Notice]]:
    """Yield what is noticed of each bug in a copy of the project, one bug in each copy."""
    with TemporaryDirectory() as place, ThreadPoolExecutor(PROCESSES) as pool:
        idle = SimpleQueue[Copy]()
        for number in range(PROCESSES):
            idle.put(Copy(Path(place) / str(number)))

        def broken(bug: Bug) -> tuple[Bug, Notice]:
            copy = idle.get()
            try:
                copy.write(_texts(bug))
                return bug, look(copy, bug)
            finally:
                copy.write({file: _source(file) for file in bug.files})
                idle.put(copy)

        yield from _with_progress(pool.map(broken, bugs), len(bugs))


def _without_bugs(look: Callable[[Copy], list[str]]) -> frozenset[str]:
    """Return what is noticed in a copy without bugs, which says nothing about a bug."""
    with TemporaryDirectory() as place:
        return frozenset(look(Copy(Path(place) / "clean")))


class _Known(NamedTuple):
    """What fails without any bug."""

    types: frozenset[str]
    tests: frozenset[str]

    def types_and_near_suite(self, copy: Copy, bug: Bug) -> Notice:
        types = [error for error in copy.type_errors(*_TYPED) if error not in self.types]
        failed = copy.failing(*nearest(bug), first=True, without=sorted(self.tests))
        return {"types": " ".join(types[:1]), "suite": " ".join(failed)}

    def whole_suite(self, copy: Copy, _bug: Bug) -> Notice:
        return {"suite": " ".join(copy.failing("tests", first=True, without=sorted(self.tests)))}


def _in_copies(bugs: tuple[Bug, ...], notices: dict[str, Notice]) -> int:
    """Run types and suite, and the whole suite for bugs that nothing else has noticed.

    Returns the number of tests that fail without any bug, and so were left out.
    """
    near = sorted({folder for bug in bugs for folder in nearest(bug)})
    known = _Known(
        types=_without_bugs(lambda copy: copy.type_errors(*_TYPED)),
        tests=_without_bugs(lambda copy: copy.failing(*near, first=False)),
    )
    _add(notices, _of_copies(bugs, known.types_and_near_suite))
    if left := _unnoticed(bugs, notices):
        failing = _without_bugs(lambda copy: copy.failing("tests", first=False))
        known = known._replace(tests=failing)
        _add(notices, _of_copies(left, known.whole_suite))
    return len(known.tests)


def _unnoticed(bugs: tuple[Bug, ...], notices: dict[str, Notice]) -> tuple[Bug, ...]:
    return tuple(bug for bug in bugs if not any(notices[bug.name].values()))


def _sample(bugs: tuple[Bug, ...]) -> tuple[Bug, ...]:
    """Return one bug for each hole of the seed and others from all files, always the same ones."""
    of_holes = list({bug.hole: bug for bug in reversed(bugs) if bug.hole}.values())
    others = [bug for bug in bugs if not bug.hole]
    spread = others[:: max(1, len(others) // max(1, _SAMPLED - len(of_holes)))]
    chosen = [*of_holes, *spread][:_SAMPLED]
    return tuple(bug for bug in bugs if bug in chosen)


def run(*, quick: bool, bugs: tuple[Bug, ...] = BUGS) -> list[Row]:
    """Require that at least one layer notices every bug."""
    load_libraries()
    taken = _sample(bugs) if quick else bugs
    notices = _in_process(taken)
    if without := _noticed_without(notices):
        return [_unsound(taken, without)]
    left = _unnoticed(taken, notices)
    left_out = _in_copies(left, notices) if left else 0
    note = f"a sample of {len(bugs)}; " if quick else ""
    note += f"{left_out} tests fail without a bug; " if left_out else ""
    if not quick:
        _keep(taken, notices)
    return [_row(taken, notices, note)]


def _unsound(bugs: tuple[Bug, ...], without: Notice) -> Row:
    return Row("planted bugs", len(bugs), "bugs", 0, False, f"without a bug: {without}")


def _add(notices: dict[str, Notice], looks: Iterator[tuple[Bug, Notice]]) -> None:
    for bug, found in looks:
        notices[bug.name] |= found


def first_layer(notice: Notice) -> str:
    """Return the first layer, in their order, that noticed anything."""
    return next((layer for layer in LAYERS if notice.get(layer)), "")


def _row(bugs: tuple[Bug, ...], notices: dict[str, Notice], note: str) -> Row:
    firsts = [first_layer(notices[bug.name]) for bug in bugs]
    counts = ", ".join(f"{layer} {firsts.count(layer)}" for layer in LAYERS if layer in firsts)
    missed = [bug.name for bug, first in zip(bugs, firsts, strict=True) if not first]
    said = f"{note}first noticed by {counts}" + (f"; missed: {', '.join(missed)}" if missed else "")
    caught = len(bugs) - len(missed)
    return Row("planted bugs", len(bugs), "bugs", caught, bool(bugs) and not missed, said)


def _keep(bugs: tuple[Bug, ...], notices: dict[str, Notice]) -> None:
    table = [
        {
            "bug": bug.name,
            "files": bug.files,
            "breaks": bug.breaks,
            **({"hole": bug.hole} if bug.hole else {}),
            "first": first_layer(notices[bug.name]),
            "noticed": {
                layer: notices[bug.name][layer] for layer in LAYERS if layer in notices[bug.name]
            },
        }
        for bug in bugs
    ]
    firsts = [str(row["first"]) for row in table]
    totals = {"bugs": len(bugs), "first": {layer: firsts.count(layer) for layer in LAYERS}}
    write_folded(_KEPT, totals)
    write_folded(_DETAIL, {**totals, "bugs": table})
