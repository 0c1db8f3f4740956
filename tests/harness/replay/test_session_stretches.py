"""Sessions in stretches and in several processes: what earlier records say of them counts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.log import SqlDecisionLog
from harness.record import RawRecord
from harness.replay import replay, stretches
from harness.replay.engine import Replayer
from harness.replay.stretches import answers_in, link_at, replay_batches, sessions_after
from tests.harness.log.decisions import filled
from tests.harness.replay.session_logs import EVENTS, SESSION_LOGS, nothing, recorded
from tests.harness.replay.test_stretches import in_processes, in_stretches
from tests.support.effort import sampled


@pytest.mark.slow
@pytest.mark.parametrize("kind", sampled(reversed(SESSION_LOGS), one_in=36))
def test_what_earlier_stretches_say_of_a_session_counts(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SESSION_LOGS[kind](tmp_path / "log")
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        answers = list(replay(log))
        for size in (1, 3):
            monkeypatch.setattr(stretches, "_SIZE", size)
            assert in_stretches(log) == answers
        assert in_processes(log, tmp_path / "log", 2) == answers
        for number in log.numbers():
            rest = in_stretches(log, after=number)
            assert rest == [one for one in answers if one.seq > number], number


@pytest.mark.slow
def test_the_logs_of_sessions_have_all_kinds_of_answers(tmp_path: Path) -> None:
    said: dict[str, set[str]] = {}
    for number, (kind, make) in enumerate(SESSION_LOGS.items()):
        make(tmp_path / str(number))
        with SqlDecisionLog.open_for_reading(tmp_path / str(number)) as log:
            said[kind] = {f"{one.status}: {why}" for one in replay(log) for why in one.reasons}
    assert not said.pop("as it was")
    assert not said.pop("of two at once")
    facts = "session facts do not follow from earlier records"
    gap = "its facts cannot be derived"
    incomplete = [kind for kind in said if any(gap in why for why in said[kind])]
    assert incomplete == ["without a turn", "without its first turn"]
    assert any(f"drift: {facts}" in why for why in said.pop("of other rules"))
    for kind in set(said) - {*incomplete, "without a beginning"}:
        assert any(f"tampered: {facts}" in why for why in said[kind]), kind


def test_earlier_records_are_read_once_and_only_for_a_session(tmp_path: Path) -> None:
    filled(tmp_path / "other", 9).close()
    recorded(tmp_path / "log", nothing, EVENTS)
    for name, reads in (("other", 0), ("log", 1)):
        with SqlDecisionLog.open_for_reading(tmp_path / name) as log:
            replayer = _Counting(log, None, judge=True)
            batches, sessions = replay_batches(log, replayer, 4), sessions_after(log, replayer, 4)
            before = link_at(log, replayer, 4)
            assert list(answers_in(batches, before, None, lambda _link: None, sessions))
            assert replayer.reads == reads


class _Counting(Replayer):
    """Counts how often entries of earlier records are read."""

    reads = 0

    def entries(self, rows: Iterator[RawRecord]) -> Iterator[Any]:
        self.reads += 1
        return super().entries(rows)
