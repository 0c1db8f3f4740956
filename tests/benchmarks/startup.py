"""The cost of starting the command line, compared with starting Python alone."""

import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.benchmarks.timing import Cost, Row
from tests.support.paths import ROOT


def startup_rows() -> list[Row]:
    """Return one row, or none if the system does not count the CPU time of children."""
    try:
        nothing = _of_process([sys.executable, "-c", "pass"])
    except ImportError:
        return []
    return [Row("critic --help", "python -c pass", 3.0, _of_process(_help_command()), nothing)]


def _help_command() -> list[str]:
    script = Path(sysconfig.get_path("scripts")) / "critic"
    command = [str(script)] if script.exists() else [sys.executable, "-m", "harness.cli"]
    return [*command, "--help"]


def _of_process(command: list[str]) -> Cost:
    from resource import RUSAGE_CHILDREN, getrusage  # noqa: PLC0415 - not on every system

    def used() -> float:
        usage = getrusage(RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def cost(_batch: int) -> float:
        before = used()
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        return (used() - before) * 1e9

    return cost
