"""The cost of starting: the command line and the library, compared with starting Python alone."""

import atexit
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

from tests.benchmarks.logs import filled
from tests.benchmarks.timing import Cost, Measure, Row
from tests.support.paths import FIXTURES, ROOT

UNIT: Final = "python -c pass"
_FIRST: Final = (
    "from critic import Proposal, verify_proposal; from harness.wire import parse; import sys; "
    "verify_proposal(parse(Proposal, open(sys.argv[1], 'rb').read()))"
)


def startup_rows(folder: Path) -> list[Row]:
    """Return the rows, or none if the system does not count the CPU time of children."""
    try:
        nothing = of_children([sys.executable, "-c", "pass"])
    except ImportError:
        return []
    filled(folder / "one.db", 1)
    plan = str(FIXTURES / "refund" / "plan_b.json")
    python, critic = [sys.executable, "-c"], critic_command()
    return [
        Row("critic --help", UNIT, 3.0, of_children([*critic, "--help"]), nothing),
        Row("critic verify FILE", UNIT, 17.0, of_children([*critic, "verify", plan]), nothing),
        Row(
            "critic replay, one record",
            UNIT,
            32.0,
            of_children([*critic, "replay", str(folder / "one.db")]),
            nothing,
        ),
        Row("import critic", UNIT, 4.0, of_children([*python, "import critic"]), nothing),
        Row(
            "import critic and a first verify",
            UNIT,
            13.0,
            of_children([*python, _FIRST, plan]),
            nothing,
        ),
    ]


def critic_command() -> list[str]:
    """Return how the command line of this checkout is started."""
    script = Path(sysconfig.get_path("scripts")) / "critic"
    return [str(script)] if script.exists() else [sys.executable, "-m", "harness.cli"]


def of_children(command: list[str], measure: Measure = "cpu", stdin: Path | None = None) -> Cost:
    """Return what a process takes: CPU time, or with `wall` the time until it has ended.

    Raises:
        ImportError: the system does not count the CPU time of children.
    """
    from resource import RUSAGE_CHILDREN, getrusage  # noqa: PLC0415 - not on every system
    from time import perf_counter  # noqa: PLC0415 - beside what it stands in for

    def used() -> float:
        usage = getrusage(RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    clock: Callable[[], float] = used if measure == "cpu" else perf_counter

    def cost(_batch: int) -> float:
        before = clock()
        _start(command, stdin)
        return (clock() - before) * 1e9

    return cost


@cache
def _bytecode() -> Path:
    folder = Path(mkdtemp(prefix="bytecode"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def environment() -> dict[str, str]:
    """Return the environment of a command of this checkout, whatever is installed and set."""
    places = os.pathsep.join(map(str, (ROOT, ROOT / "harness" / "top-level")))
    kept = {"PYTHONPATH": places, "PYTHONPYCACHEPREFIX": str(_bytecode())}
    env = {**os.environ, **kept}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


def _start(command: list[str], stdin: Path | None) -> None:
    """Run a command of this checkout, with its bytecode kept."""
    with (stdin or Path(os.devnull)).open("rb") as given:
        subprocess.run(
            command,
            cwd=ROOT,
            env=environment(),
            check=True,
            stdin=given,
            stdout=subprocess.DEVNULL,
        )
