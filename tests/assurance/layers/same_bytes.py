"""The same bytes everywhere: hash seeds, locales, time zones, -O, and every Python there is."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from tests.assurance.row import Row
from tests.support.paths import ROOT

SCRIPT: Final = "tests.assurance.layers.same_bytes_digest"
VERSIONS: Final = ("3.11", "3.12", "3.13")
LOCALES: Final = ("C", "C.UTF-8", "tr_TR.UTF-8", "de_DE.ISO-8859-1")
ZONES: Final = ("UTC", "Asia/Kolkata", "America/St_Johns", "Pacific/Kiritimati")
QUICK_SEEDS: Final = range(3)
FULL_SEEDS: Final = range(16)


class Place(NamedTuple):
    """One environment to judge in: what it is called, the command, and what it sets."""

    name: str
    command: tuple[str, ...]
    settings: dict[str, str]


def places(python: str, seeds: range) -> list[Place]:
    """Return the environments of one interpreter."""
    named = [
        *(Place(f"hash seed {seed}", (python,), {"PYTHONHASHSEED": str(seed)}) for seed in seeds),
        *(Place(f"locale {name}", (python,), {"LC_ALL": name}) for name in LOCALES),
        *(Place(f"zone {name}", (python,), {"TZ": name}) for name in ZONES),
    ]
    return [*named, Place("-O", (python, "-O"), {}), Place("-OO", (python, "-OO"), {})]


def judged(place: Place) -> dict[str, Any]:
    """Return the result of all cases in that environment: hash, number of cases, version."""
    kept = {
        name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH") if name in os.environ
    }
    done = subprocess.run(
        [*place.command, "-W", "error", "-m", SCRIPT],
        env={**kept, **place.settings},
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=300,
    )
    if done.returncode:
        problem = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        return {"hash": f"failed: {problem}", "cases": 0, "version": ""}
    found: dict[str, Any] = orjson.loads(done.stdout)
    return found


def run(*, quick: bool) -> list[Row]:
    """Return one row for this interpreter; in the full run one more for the others."""
    seeds = QUICK_SEEDS if quick else FULL_SEEDS
    here = row_of("same bytes, this interpreter", places(sys.executable, seeds), "")
    return [here] if quick else [here, others()]


def row_of(layer: str, chosen: list[Place], note: str) -> Row:
    """Return a row that is met if every environment gives the same hash of the same cases."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = list(pool.map(judged, [Place("here", (sys.executable,), {}), *chosen]))
    expected = found[0]["hash"]
    failed = expected.startswith("failed")
    differ = [
        place.name for place, one in zip(chosen, found[1:], strict=True) if one["hash"] != expected
    ]
    for place, one in zip(chosen, found[1:], strict=True):
        if one["hash"] != expected:
            sys.stdout.write(f"DIFFERENT {place.name}: {one['hash']}\n")
    cases = found[0]["cases"]
    held = 0 if failed else cases * (len(chosen) - len(differ))
    said = f"{cases} cases in {len(chosen)} environments, sha256 {expected[:12]}"
    names = f"; differ: {', '.join(differ)}" if differ else ""
    met = not differ and not failed and bool(chosen)
    return Row(layer, cases * len(chosen), "judgements", held, met, f"{said}{names}{note}")


def others() -> Row:
    """Return the row of the other interpreters. A missing one is named; it is not a failure."""
    chosen, absent = [], []
    for wanted in VERSIONS:
        if wanted == f"{sys.version_info[0]}.{sys.version_info[1]}":
            continue
        found = interpreter(wanted)
        if isinstance(found, str):
            absent.append(found)
            continue
        python = str(found)
        chosen.append(Place(f"python {wanted}", (python,), {}))
        chosen.append(Place(f"python {wanted} hash seed 1", (python,), {"PYTHONHASHSEED": "1"}))
    note = f"; skipped: {', '.join(absent)}" if absent else ""
    if not chosen:
        return Row("same bytes, other interpreters", 0, "judgements", 0, True, f"none tried{note}")
    return row_of("same bytes, other interpreters", chosen, note)


def requirements() -> list[str]:
    """Return the dependencies of the project in the versions installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [line.partition(">")[0].strip() for line in project["dependencies"]]
    return [f"{name}=={version(name)}" for name in names]


def interpreter(wanted: str) -> Path | str:
    """Return the Python of a cached environment with the dependencies, or why it is missing."""
    # A launcher that chooses between versions is told which; anything else ignores it.
    chosen = {**os.environ, "PYENV_VERSION": wanted}
    command = shutil.which(f"python{wanted}")
    if command is None or _fails([command, "-c", ""], chosen):
        return f"python {wanted} is not there"
    needed = requirements()
    key = hashlib.sha256(" ".join(needed).encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir(), f"plan-critic-python-{wanted}-{key}")
    python = folder / "bin" / "python"
    if (folder / "complete").exists():
        return python
    if _fails([command, "-m", "venv", "--clear", str(folder)], chosen):
        return f"python {wanted} cannot make an environment"
    if _fails([str(python), "-m", "pip", "install", "-q", *needed], chosen):
        return f"python {wanted} cannot install the dependencies"
    (folder / "complete").touch()
    return python


def _fails(command: list[str], settings: dict[str, str]) -> bool:
    try:
        return bool(
            subprocess.run(
                command, env=settings, capture_output=True, check=False, timeout=600
            ).returncode
        )
    except (OSError, subprocess.TimeoutExpired):
        return True
