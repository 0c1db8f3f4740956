"""The conformance kit against two implementations that pass, and wrong ones that must not."""

import shlex
import sys
from typing import Final

from tests.assurance.row import Row, all_held
from tests.conformance.compare import Level
from tests.conformance.kit import Named, Result, check, read_cases
from tests.conformance.wrong import MISTAKES
from tests.support.paths import ROOT

_EXACT: Final = Level(strict=True)
_QUICK: Final = ("accepts", "lenient", "stops")


def run(*, quick: bool) -> list[Row]:
    """Return a row for the engine, its command line, the second implementation, the wrong ones."""
    cases = read_cases()
    engine = check(module("engine"), cases, _EXACT, encoded=True, folder=ROOT)
    second = check(
        module("second"), cases, Level(strict=True, verdicts_only=True), encoded=True, folder=ROOT
    )
    reports = check(module("second"), cases, _EXACT, commands=["consolidate"], folder=ROOT)
    return [
        _row("conformance: engine", engine, "whole verdicts and paths of errors"),
        _row("conformance: command line", _command_line(cases), "verify and score"),
        _row("conformance: second statement", second, "what decides; reading is shared"),
        _row("conformance: second, reports", reports, "whole reports and paths of errors"),
        _mistakes(cases, _QUICK if quick else tuple(MISTAKES)),
    ]


def module(name: str, *words: str) -> str:
    """Return the command line of a program of the kit."""
    return shlex.join([sys.executable, "-m", f"tests.conformance.{name}", *words])


def _command_line(cases: list[Named]) -> list[Result]:
    program = f"{shlex.join([sys.executable, '-m', 'harness.cli'])} {{}} --lines -"
    return check(program, cases, _EXACT, commands=("verify", "score"), folder=ROOT)


def _row(layer: str, results: list[Result], note: str) -> Row:
    failed = [result.name for result in results if result.status == "failed"]
    skipped = sum(result.status == "skipped" for result in results)
    tried = len(results) - skipped
    left_out = f"; {skipped} skipped, not on one line" if skipped else ""
    first = f"; first failed: {failed[0]}" if failed else ""
    return all_held(layer, tried, "cases", len(failed), note + left_out + first)


def _mistakes(cases: list[Named], mistakes: tuple[str, ...]) -> Row:
    passed = [name for name in mistakes if not _noticed(cases, name)]
    note = f"not noticed: {', '.join(passed)}" if passed else "each was noticed"
    return all_held("conformance: wrong programs", len(mistakes), "mistakes", len(passed), note)


def _noticed(cases: list[Named], mistake: str) -> bool:
    results = check(module("wrong", mistake), cases, _EXACT, encoded=True, folder=ROOT)
    return any(result.status == "failed" for result in results)
