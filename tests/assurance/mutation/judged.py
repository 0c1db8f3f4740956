"""What came of mutants: sums in the repository, and by source file beside it.

Beside it, since nobody reads it and a run writes it anew: each file with the digest of the text
that it had, and with what outlived all killers.

Rule 1: what noticed a mutant holds as long as its file stays as it is. A changed file is met anew.
Rule 2: what outlived all killers meets them again in every run: a test may have been written since.
"""

import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from tests.assurance.mutation.mutants import Mutant
from tests.assurance.row import Row
from tests.support.folded import write_folded
from tests.support.paths import ROOT

Key = tuple[str, str, str, str]

_EQUIVALENT: Final = ROOT / "tests" / "assurance" / "mutation" / "equivalent.json"


class Judged(NamedTuple):
    """A mutant, and what noticed it (empty: nothing did)."""

    mutant: Mutant
    noticed: str


Judge = Callable[[list[Mutant]], list[Judged]]


@cache
def judged_equivalent() -> dict[Key, str]:
    """Return why a mutant is equivalent, by the key of the mutant."""
    entries = orjson.loads(_EQUIVALENT.read_bytes()) if _EQUIVALENT.exists() else []
    return {(one["file"], one["where"], one["before"], one["after"]): one["why"] for one in entries}


def is_equivalent(mutant: Mutant) -> bool:
    return mutant.key in judged_equivalent()


def judge_files(
    layer: str, mutants: Iterable[Mutant], judge: Judge, sums: Path, details: Path
) -> Row:
    """Judge the mutants of each file that is not kept as it is now, and what survived before.

    All is kept in the folder `details` after every file, so that a run that was interrupted goes
    on from there, and the sums at the end.
    """
    path = details / sums.name
    known: dict[str, Any] = orjson.loads(path.read_bytes())["files"] if path.exists() else {}
    by_file: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    files: dict[str, Any] = {}
    for file, those in sorted(by_file.items()):
        files[file] = _figures(file, those, judge, known.get(file, {}))
        _write({**known, **files}, path)
    kept = _write(files, path)
    write_folded(sums, {name: value for name, value in kept.items() if name != "files"})
    return _row(layer, kept)


def _figures(
    file: str, mutants: list[Mutant], judge: Judge, known: dict[str, Any]
) -> dict[str, Any]:
    text = hashlib.sha256((ROOT / file).read_bytes()).hexdigest()
    meeting, left = mutants, list[Mutant]()
    if known.get("text") == text:
        survived = {(file, one["where"], one["before"], one["after"]) for one in known["left"]}
        survivors = [one for one in mutants if one.key in survived]
        meeting = [one for one in survivors if not is_equivalent(one)]
        left = [one for one in survivors if is_equivalent(one)]
    left += [one.mutant for one in judge(meeting) if not one.noticed]
    left.sort(key=lambda one: (is_equivalent(one), one.line))
    same = sum(map(is_equivalent, left))
    return {
        "text": text,
        "killed": len(mutants) - len(left),
        "equivalent": same,
        "surviving": len(left) - same,
        "left": [_shown(one) for one in left],
    }


def _shown(one: Mutant) -> dict[str, str]:
    why = judged_equivalent().get(one.key, "not judged")
    return {"where": one.where, "before": one.before, "after": one.after, "why": why}


def _write(files: dict[str, Any], path: Path) -> dict[str, Any]:
    """Write what came of all files, with the judgements that no mutant needs any more."""
    counts = ("killed", "equivalent", "surviving")
    totals = {name: sum(one[name] for one in files.values()) for name in counts}
    left = {
        (file, one["where"], one["before"], one["after"])
        for file, its in files.items()
        for one in its["left"]
    }
    kept = {
        "mutants": sum(totals.values()),
        **totals,
        "judged but gone": sorted(
            key for key in judged_equivalent().keys() - left if key[0] in files
        ),
        "files": dict(sorted(files.items())),
    }
    write_folded(path, kept)
    return kept


def _row(layer: str, kept: dict[str, Any]) -> Row:
    return row_of(layer, kept["killed"], kept["equivalent"], kept["surviving"], "")


def row_of(layer: str, killed: int, same: int, surviving: int, note: str) -> Row:
    """Return the row of so many mutants: it is met if none survives that makes a difference."""
    tried = killed + same + surviving
    score = f"{100 * killed / max(1, tried - same):.1f} % of those that differ"
    said = f"{note}{killed:,} killed, {same} equivalent, {surviving} surviving; {score}"
    return Row(layer, tried, "mutants", killed + same, tried > 0 and surviving == 0, said)
