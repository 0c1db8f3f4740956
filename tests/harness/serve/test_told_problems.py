"""Those who run a service hear of each kind of failure of its log once, until the log is well."""

from pathlib import Path
from typing import Any, Final

import pytest

from harness.log import LogBusy, LogError, LogFull, Unrecordable
from harness.serve.service_log import ServiceLog
from harness.serve.telemetry import ServiceMetrics
from tests.harness.serve.test_readiness import FailingLog

WELL: Final = "it takes appends again"
STEPS: Final[tuple[tuple[str, LogError | None, list[str]], ...]] = (
    ("append", LogBusy("busy"), ["busy (1)"]),
    ("append", LogBusy("busy"), []),
    ("append", LogFull("full"), ["full (3)"]),
    ("claims", LogBusy("busy"), []),
    ("head", None, []),
    ("claims", None, []),
    ("append", LogFull("full"), []),
    ("append", Unrecordable("heavy"), ["heavy (6)"]),
    ("append", Unrecordable("heavy"), ["heavy (7)"]),
    ("append", None, [WELL]),
    ("append", None, []),
    ("append", LogFull("full"), ["full (8)"]),
    ("rehearse", None, [WELL]),
    ("claims", LogBusy("busy"), ["busy (9)"]),
    ("append", LogFull("full"), ["full (10)"]),
    ("rehearse", None, [WELL]),
    ("rehearse", None, []),
)
"""What is asked of the log, how it fails, and the lines that are printed then."""


def test_each_kind_of_failure_is_told_once_until_an_append_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = FailingLog.open(tmp_path / "log")
    metrics = ServiceMetrics().log
    watched = ServiceLog(log, metrics)
    asked: dict[str, Any] = {
        "append": lambda: watched.append_all(()),
        "claims": lambda: watched.claims(["opened x"]),
        "head": watched.head,
        "rehearse": watched.rehearse,
    }
    for number, (name, failure, lines) in enumerate(STEPS):
        log.failure = failure
        try:
            asked[name]()
        except LogError as error:
            assert type(error) is type(failure)
            assert str(failure) not in str(error)
        else:
            assert failure is None
        told = capsys.readouterr().err.splitlines()
        assert told == [f"critic: log: {one}" for one in lines], number
    watched.close()
    assert log.head().seq == 0  # whoever opened it closes it
    log.close()
