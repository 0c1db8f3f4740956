"""Command lines in real shells: nothing happens that was not read from the line."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Final, get_args

import orjson

from critic.command.shell_facts import ShellName
from harness.policy.shell_settings import shipped_table
from tests.assurance.row import Row, all_held
from tests.assurance.shells.drawn_lines import (
    DrawnLine,
    operator_lines,
    option_lines,
    random_lines,
)
from tests.assurance.shells.heard import Tally, hear_lines
from tests.assurance.shells.jail import Jail
from tests.assurance.shells.misreadings import MISREADINGS
from tests.support.paths import ROOT

_SEED: Final = 1
_QUICK: Final = 2_000
"""How many lines that are understood the quick run hears, in each shell."""
_FULL: Final = 100_000
"""How many lines the full run draws, in each shell: each option and each pair 20 times."""
_REST: Final = 7_000
"""How many of them are drawn at random."""
_FEW: Final = 3
_IN_MEMORY: Final = "/dev/shm"  # noqa: S108 - the folder that is made there has a name of its own
_SHELLS: Final = "tests.assurance.shells"
_MODULE: Final = "tests.assurance.layers.shell"


def run(*, quick: bool) -> list[Row]:
    """Return a row for each shell, and one for slips of the reader."""
    slips = MISREADINGS[: _FEW if quick else None]
    missed = [bug.name for bug in slips if _run_inside(f"{_SHELLS}.misreadings", bug.name)[0]]
    note = f"not noticed: {', '.join(missed)}" if missed else "each was noticed"
    planted = all_held("shell: misreadings", len(slips), "slips", len(missed), note)
    return [*(_row(shell, quick=quick) for shell in get_args(ShellName)), planted]


def _run_inside(module: str, *words: str) -> tuple[int, str, str]:
    """Run a module where it may change its root: as root, or in a namespace of its own."""
    inside = [] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user"]
    command = [*inside, sys.executable, "-m", module, *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def _row(shell: str, *, quick: bool) -> Row:
    layer = f"shell: {shell}"
    if shutil.which(shell) is None:
        return Row(layer, 0, "lines", 0, met=False, note=f"{shell} is not here: install it")
    status, out, err = _run_inside(_MODULE, shell, "quick" if quick else str(_FULL))
    if status != 0:
        why = (err.strip().splitlines() or ["it failed"])[-1]
        note = f"no jail: run it as root, or allow user namespaces: {why}"
        return Row(layer, 0, "lines", 0, met=False, note=note[:160])
    tally = Tally(**orjson.loads(out))
    note = f"of {tally.lines:,} drawn; {tally.programs:,} programs, {tally.files:,} files changed"
    missed = len(tally.abouts) - len(tally.understood_abouts)
    note += f"; {tally.idle:,} did nothing; {missed:,} of {len(tally.abouts):,} drawn for were not"
    note += " understood"
    if tally.unforeseen:
        note += f"; first: {ascii(tally.unforeseen[0])[:120]}"
    return all_held(layer, tally.understood, "lines", len(tally.unforeseen), note)


def is_anything_unforeseen() -> bool:
    """Return whether a line in bash does what was not read from it."""
    table = shipped_table("common-1")
    lines = chain(_every(operator_lines(), 12), islice(random_lines(_SEED), 3_000))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        jail = Jail(Path(folder), Path(shutil.which("bash") or "bash"), "bash", {*table.entries})
        while (tally := hear_lines(jail, "bash", lines, 20, table)).lines:
            if tally.unforeseen:
                return True
    return False


def main(shell: ShellName, extent: str) -> int:
    """Run the lines in one shell, and print what came of it.

    Args:
        extent: `quick`, or how many lines to draw: 100,000 are all options and pairs, 20 times.
    """
    binary = shutil.which(shell)
    assert binary
    table = shipped_table("common-1")
    is_quick = extent == "quick"
    count = _QUICK if is_quick else int(extent)
    operators, listed, others = operator_lines(), option_lines(_SEED), random_lines(_SEED)
    if is_quick:
        parts = [(_every(operators, 11), 200), (_every(listed, 61), 800), (others, count)]
    else:
        few, rest = max(1, _FULL // count), _REST * count // _FULL
        parts = [(_every(operators, few), count), (_every(listed, few), count)]
        parts.append((islice(others, rest), count))
    where = _IN_MEMORY if Path(_IN_MEMORY).is_dir() else None
    with tempfile.TemporaryDirectory(dir=where) as folder:
        Path(folder).chmod(0o755)
        jail = Jail(Path(folder), Path(binary), shell, {*table.entries})
        whole = Tally()
        for lines, most in parts:
            wanted = min(most, count - whole.understood)
            whole = whole.plus(hear_lines(jail, shell, lines, wanted, table))
    sys.stdout.buffer.write(orjson.dumps(whole._asdict()))
    return 0


def _every(lines: Iterator[DrawnLine], step: int) -> Iterator[DrawnLine]:
    """Yield some of the lines, from all over."""
    return islice(lines, None, None, step)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))  # type: ignore[arg-type] # it was asked for above
