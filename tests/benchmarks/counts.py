"""The gate: `python -m tests.benchmarks.counts` counts instructions, and compares them.

Rule 1: valgrind counts, so that a busy machine changes nothing; one commit is counted the same
        again to a hundredth of a percent.
Rule 2: counts of another Python, other libraries or another kind of machine are not compared. With
        `--strict` that fails: a gate that cannot tell is shut.
Rule 3: work that has no count on file fails, and so does a count whose work is gone.
"""

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.benchmarks.kept import code_digest, keep, kept, version_of
from tests.benchmarks.shown import write
from tests.support.paths import ROOT

MOST: Final = 0.03
"""By how much a count may be over the one on file."""

RECORD: Final = "python -m tests.benchmarks.counts --record"
_WHEELS: Final = (*("orjson", "pydantic", "pydantic_core", "jiter", "jsonschema_rs", "rfc8785"),)
_MARK: Final = "getppid"
_TOTALS: Final = re.compile(rb"^totals: (\d+)$", re.MULTILINE)


class NotCounted(Exception):
    """Nothing could be counted: the message says why, and what to do."""


def conditions() -> dict[str, str]:
    """Return what counts depend on beside the code: with others they are not compared."""
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": platform.machine(),
        **{name: version_of(name) for name in _WHEELS},
    }


def count_all() -> dict[str, int]:
    """Return how many instructions each work takes.

    Raises:
        NotCounted: valgrind is missing, or a work failed.
    """
    if not (valgrind := shutil.which("valgrind")):
        raise NotCounted("valgrind is not installed: apt-get install valgrind")
    counted = [sys.executable, "-m", "tests.benchmarks.counted"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _run([*counted, str(folder / "first")], folder)  # makes the bytecode
        callgrind = ["--tool=callgrind", "--vgdb=no", f"--dump-before={_MARK}"]
        output = f"--callgrind-out-file={folder}/counts.%p"
        printed = _run([valgrind, *callgrind, output, *counted, str(folder / "then")], folder)
        numbers = json.loads(printed.splitlines()[-1])
        return {work: _total(folder / f"counts.{number}.2") for work, number in numbers.items()}


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        command, cwd=ROOT, env=_environment(folder), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotCounted(f"the works failed:\n{done.stderr[-2000:]}")
    return done.stdout


def _environment(folder: Path) -> dict[str, str]:
    """Return the few variables there are: every other one would move what lies in memory."""
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": "0",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "PYTHONPATH": str(ROOT),
    }


def _total(path: Path) -> int:
    """Return what valgrind wrote down at the second mark: what was counted since the first."""
    if not path.exists() or not (found := _TOTALS.search(path.read_bytes())):
        raise NotCounted(f"valgrind did not see two calls of {_MARK}: is the C library stripped?")
    return int(found[1])


def differing(recorded: Mapping[str, Any]) -> list[str]:
    """Return how the conditions of the counts on file differ from those of this process."""
    then, now = recorded.get("conditions", {}), conditions()
    return [
        f"{name}: {then.get(name, 'absent')} was recorded, this is {now.get(name, 'absent')}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    ]


def compared(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """Return what is wrong with the counts of now, one line each: empty if the gate opens."""
    problems = [f"{name}: is not counted any more" for name in before if name not in after]
    for name, count in after.items():
        if name not in before:
            problems.append(f"{name}: has no count on file")
        elif count > before[name] * (1 + MOST):
            problems.append(f"{name}: {_change(before[name], count)}, at most {MOST:+.0%}")
    return problems


def _change(before: int, after: int) -> str:
    return f"{before:,} instructions before, {after:,} now, {after / before - 1:+.2%}"


def record(counted: Mapping[str, int]) -> None:
    """Put the counts on file, in place of those that are there, and show them."""
    known = {"conditions": conditions(), "code": code_digest(), "instructions": dict(counted)}
    keep(counts=known)
    write()


def main() -> int:
    """Count, compare or record, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.counts", description=__doc__)
    parser.add_argument("--record", action="store_true", help="put these counts on file")
    parser.add_argument("--strict", action="store_true", help="fail where nothing can be compared")
    args = parser.parse_args()
    recorded = kept().get("counts", {})
    unlike = [] if args.record else differing(recorded)
    try:
        counted = {} if unlike and args.strict else count_all()
    except NotCounted as error:
        print(f"not counted: {error}")
        return 1 if args.strict or args.record else 0
    if args.record:
        record(counted)
    return _report(recorded.get("instructions", {}), counted, unlike, args)


def _report(
    before: Mapping[str, int], after: Mapping[str, int], unlike: list[str], args: Any
) -> int:
    for name, count in after.items():
        print(f"{name}: {_change(before[name], count) if name in before else f'{count:,}'}")
    for line in unlike:
        print(f"not comparable: {line}")
    if unlike:
        print(f"To compare, install .ci/wheels.txt on that Python; to record anew: {RECORD}")
        return 1 if args.strict else 0
    problems = [] if args.record else compared(before, after)
    for problem in problems:
        print(f"too much: {problem}")
    if problems:
        print(f"Make it cheaper, or say in the commit what it buys and record anew: {RECORD}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
