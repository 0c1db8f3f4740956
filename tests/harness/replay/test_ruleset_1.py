"""A log that ruleset 1 wrote: it opens and verifies, and replays as drift with the difference."""

import gzip
from pathlib import Path

import pytest

from harness.log.sql import SqlDecisionLog
from harness.replay.engine import replay
from harness.replay.log_check import check_log
from tests.support.paths import FIXTURES

RULESET = "written under ruleset 1, checked under 2"


@pytest.fixture
def log(tmp_path: Path) -> SqlDecisionLog:
    """Return a copy of the log: refused, partial, ended early, completed, and partial once more.

    In the last record a tool lists the required output, and the plan does not call it: ruleset 1
    let it pass, since the tools of the plan list nothing.
    """
    path = tmp_path / "log"
    path.write_bytes(gzip.decompress((FIXTURES / "logs" / "ruleset-1.gz").read_bytes()))
    return SqlDecisionLog.open_for_reading(path)


def test_it_opens_and_verifies(log: SqlDecisionLog) -> None:
    assert check_log(log)
    answers = list(replay(log, head=log.head(), judge=False))
    assert len(answers) == 5
    assert all(answers)


def test_it_replays_as_drift_with_the_difference(log: SqlDecisionLog) -> None:
    answers = list(replay(log))
    assert [one.status for one in answers] == ["drift"] * 5
    assert all(one.reasons[0] == RULESET for one in answers)
    changed = {one.seq: {each.path for each in one.differences} for one in answers}
    assert changed[1] == set()
    assert {"/status", "/verify/ok", "/verify/kind", "/refused_at"} <= changed[5]
