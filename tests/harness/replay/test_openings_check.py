"""The openings of a run follow from its inputs and its calls: each is derived again."""

from pathlib import Path

import pytest

from harness.log import SqlDecisionLog
from harness.replay import replay
from tests.harness.replay.forging import forged
from tests.harness.runtime.test_late_plans import ALTERED, recorded


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return a log of a late plan, with an opening that a person cleared."""
    path = tmp_path_factory.mktemp("late") / "log"
    with SqlDecisionLog.open(path) as log:
        recorded(log)
        assert [one.status for one in replay(log)] == ["same", "same"]
    return path.read_bytes()


@pytest.mark.parametrize("case", ALTERED)
def test_an_opening_or_a_call_that_was_altered_is_noticed(
    case: str, sound: bytes, tmp_path: Path
) -> None:
    edit, status = ALTERED[case]
    (tmp_path / "log").write_bytes(sound)
    forged(tmp_path / "log", 2, lambda document: edit(document["run"]))
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        assert [one.status for one in replay(log)][1] in ("tampered", status)
