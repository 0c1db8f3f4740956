"""The wheel of this project, built once for all tests that need it."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")


def built_wheel(factory: pytest.TempPathFactory) -> Path:
    """Return the wheel. The first worker of a test run builds it, and the others wait."""
    shared = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    with (shared / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place = shared / "wheel"
        if not place.exists():
            _build(place)
    (wheel,) = place.glob("plan_critic-*.whl")
    return wheel


def _build(place: Path) -> None:
    """Build the wheel; the folder has its name only once all is in it."""
    unfinished = place.with_name("wheel.unfinished")
    subprocess.run([*PIP, "wheel", "--no-deps", "-w", str(unfinished), str(ROOT)], check=True)
    unfinished.rename(place)
