"""What came of mutants: one row a source file in the repository, and the survivors beside it.

Rule 1: what noticed a mutant holds as long as its file stays as it is. A changed file is met anew.
Rule 2: what outlived all killers meets them again in every run: a test may have been written since.
Rule 3: a row is of the text that its digest tells. Rows of other texts are not counted, nor kept.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby
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


class Kept:
    """The rows on file, of files that are as they were then, and what outlived all killers."""

    def __init__(self, path: Path, details: Path) -> None:
        self._path, self._details = path, details / path.name
        self.rows: dict[str, dict[str, Any]] = {
            file: row for file, row in _read(path).items() if row["text"] == _text_of(file)
        }
        self._left: dict[str, dict[str, Any]] = _read(self._details)

    def is_settled(self, file: str, mutants: list[Mutant]) -> bool:
        """Return whether none survived, and what was judged equivalent is so still."""
        row: dict[str, Any] = self.rows.get(file, {"surviving": 1})
        same = sum(map(is_equivalent, mutants))
        return bool(row.get("equivalent") == same and not row["surviving"])

    def add(self, file: str, mutants: list[Mutant], judge: Judge) -> None:
        """Let a file be judged, or only what survived of it before, and keep what came of it."""
        text = _text_of(file)
        known = self._left.get(file, {})
        meeting, left = mutants, list[Mutant]()
        if file in self.rows and known.get("text") == text:
            survived = {(file, one["where"], one["before"], one["after"]) for one in known["left"]}
            survivors = [one for one in mutants if one.key in survived]
            meeting = [one for one in survivors if not is_equivalent(one)]
            left = [one for one in survivors if is_equivalent(one)]
        left += [one.mutant for one in judge(meeting) if not one.noticed]
        if text != _text_of(file):
            return  # it was changed meanwhile
        left.sort(key=lambda one: (is_equivalent(one), one.line))
        same = sum(map(is_equivalent, left))
        counts = {"killed": len(mutants) - len(left), "equivalent": same}
        self.rows[file] = {"text": text, **counts, "surviving": len(left) - same}
        gone = {key for key in judged_equivalent() if key[0] == file} - {one.key for one in left}
        shown = {"judged but gone": sorted(gone), "left": [_shown(one) for one in left]}
        self._left[file] = {"text": text, **shown}
        self._write()

    def _write(self) -> None:
        rows = [f"  {_flat(file)}: {_flat(row)}" for file, row in sorted(self.rows.items())]
        self._path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
        write_folded(self._details, dict(sorted(self._left.items())))


def judge_files(layer: str, mutants: Iterable[Mutant], judge: Judge, kept: Kept) -> Row:
    """Judge the mutants, file by file, and sum up what is known of these files.

    Those of one file follow one another. What came of a file is kept as soon as it is known, so
    that a run that was interrupted goes on from there.
    """
    counted, files = 0, list[str]()
    for file, those in _by_file(mutants):
        counted += len(those)
        files.append(file)
        if not kept.is_settled(file, those):
            kept.add(file, those, judge)
    rows = [kept.rows[file] for file in files if file in kept.rows]
    killed, same, surviving = (
        sum(row[name] for row in rows) for name in ("killed", "equivalent", "surviving")
    )
    met = killed + same + surviving
    note = f"{met:,} of {counted:,} met as they are now, in {len(rows)} of {len(files)} files; "
    row = row_of(layer, killed, same, surviving, note)
    return row._replace(met=row.met and met == counted)


def _by_file(mutants: Iterable[Mutant]) -> Iterator[tuple[str, list[Mutant]]]:
    return ((file, list(those)) for file, those in groupby(mutants, lambda one: one.file))


def _read(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = orjson.loads(path.read_bytes()) if path.exists() else {}
    return read


def _flat(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text_of(file: str) -> str:
    path = ROOT / file
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.is_file() else ""


def _shown(one: Mutant) -> dict[str, Any]:
    why = judged_equivalent().get(one.key, "not judged")
    return {
        "line": one.line,
        "where": one.where,
        "before": one.before,
        "after": one.after,
        "why": why,
    }


def row_of(layer: str, killed: int, same: int, surviving: int, note: str) -> Row:
    """Return the row of so many mutants: it is met if none survives that makes a difference."""
    tried = killed + same + surviving
    score = f"{100 * killed / max(1, tried - same):.1f} % of those that differ"
    said = f"{note}{killed:,} killed, {same} equivalent, {surviving} surviving; {score}"
    return Row(layer, tried, "mutants", killed + same, tried > 0 and surviving == 0, said)
