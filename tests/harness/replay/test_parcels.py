"""Records in parcels: replayed without their log, the answers are those of the whole log."""

import pickle
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from harness.audit.cluster.cluster_worker import installed_code, pack_parcel, replay_packed
from harness.log import LogDamaged, SqlDecisionLog
from harness.record import Head, RawRecord
from harness.record.integrity import START
from harness.replay import parcels as packing
from harness.replay import replay
from harness.replay.engine import Replayer
from harness.replay.parcels import parcels, replay_parcel
from harness.replay.result import ReplayResult
from harness.replay.stretches import AnsweredStretch, answers_in, link_at, sessions_after
from tests.harness.log.decisions import decision, filled
from tests.harness.replay.session_logs import SESSION_LOGS
from tests.harness.replay.test_stretches import damaged
from tests.support.effort import sampled, sampled_rows

__all__ = ["damaged"]


def in_parcels(
    log: SqlDecisionLog, head: Head | None = None, after: int | None = None
) -> list[ReplayResult]:
    """Return the answers, each parcel being replayed from its bytes, and the last one first."""
    replayer = Replayer(log, head, judge=True)
    before = START if after is None else link_at(log, replayer, after)
    all_parcels = list(parcels(log, before, after))
    batches: list[AnsweredStretch] = []
    for parcel in reversed(all_parcels):
        batch = replay_packed(pack_parcel(parcel, head), installed_code(), "a replay")
        assert isinstance(batch, AnsweredStretch)
        assert [one.replayed.seq for one in batch.answers] == parcel.numbers
        assert batch.link == parcel.link
        batches.insert(0, batch)
    assert all(one.link == following.before for one, following in pairwise(all_parcels))
    sessions = sessions_after(log, replayer, after)
    return list(answers_in(batches, before, head, lambda _link: None, sessions))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("records", "most"), sampled_rows([(3, 10**6), (1, 10**6), (128, 3000), (128, 10**6)], one_in=3)
)
def test_parcels_of_any_size_give_the_answers_of_one_go(
    damaged: Path, records: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "_RECORDS", records)
    monkeypatch.setattr(packing, "_BYTES", most)
    with SqlDecisionLog.open_for_reading(damaged) as log:
        for head in (None, Head(9, "1" * 64), Head(200, "1" * 64)):
            assert in_parcels(log, head) == [*replay(log, head=head)]


@pytest.mark.one_in(3)
def test_what_is_left_after_any_record_gives_the_rest_of_the_answers(
    damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "_RECORDS", 3)
    with SqlDecisionLog.open_for_reading(damaged) as log:
        answers = list(replay(log))
        for number in [one for one in log.numbers() if one > 0]:
            rest = [one for one in answers if one.seq > number]
            assert in_parcels(log, after=number) == rest, number


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", sampled(reversed(SESSION_LOGS), one_in=4))
def test_sessions_are_followed_through_parcels(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "_RECORDS", 2)
    SESSION_LOGS[kind](tmp_path / "log")
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        assert in_parcels(log) == [*replay(log)]


def test_a_parcel_is_bounded_and_holds_a_part_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled(tmp_path / "log", 40) as log:
        whole = next(parcels(log, START, None))
        records = sum(len(raw.body) for raw in log.raw())
        stored = sum(len(body) for _, body in log.bodies())
        assert (len(whole.rows), whole.size) == (40, records + stored)
        monkeypatch.setattr(packing, "_BYTES", 20_000)
        before, seqs = START, list[int]()
        for parcel in parcels(log, START, None):
            assert len(parcel.rows) == 1 or parcel.size <= 40_000
            assert parcel.before == before, "each half goes on from the one before"
            before = parcel.link
            seqs += [raw.seq for raw in parcel.rows]
        assert (before, seqs) == (whole.link, [*range(1, 41)])


def test_records_that_are_appended_meanwhile_are_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "_RECORDS", 4)
    with filled(tmp_path / "log", 5) as log:
        some = parcels(log, START, None)
        next(some)
        log.append(decision(99))
        assert [raw.seq for parcel in some for raw in parcel.rows] == [5, 6]


class _Broken(SqlDecisionLog):
    """A log that cannot be read from its sixth record on."""

    def raw(self, start: int | None = None) -> Iterator[RawRecord]:
        for raw in super().raw(start):
            if raw.seq == 6:
                raise LogDamaged("record 6 is on a bad sector")
            yield raw


def test_what_cannot_be_read_is_said_after_all_before_it(tmp_path: Path) -> None:
    filled(tmp_path / "log", 8).close()
    seen: list[int] = []
    with _Broken.open_for_reading(tmp_path / "log") as log, pytest.raises(LogDamaged):
        seen.extend(raw.seq for one in parcels(log, START, None) for raw in one.rows)
    assert seen == [1, 2, 3, 4, 5]


def test_other_code_replays_nothing(tmp_path: Path) -> None:
    here = installed_code()
    for other in (here._replace(code="1" * 64), here._replace(versions=()), here._replace(code="")):
        assert replay_packed(b"never read", other, "a replay") == here
    assert "its code has digest 1111" in here.difference(here._replace(code="1" * 64))
    older = (("plan-critic", "0.0.1"), *here.versions[1:])
    assert "it has plan-critic 0.0.1, here is" in here.difference(here._replace(versions=older))
    assert "installed without its sources" in here.difference(here._replace(code=None))


def test_a_parcel_says_which_records_it_holds(tmp_path: Path) -> None:
    with filled(tmp_path / "log", 3) as log:
        parcel = next(parcels(log, START, None))
    assert parcel.place == "records 1 to 3"
    assert parcel._replace(rows=parcel.rows[:1]).place == "record 1"
    again = pickle.loads(pickle.dumps(parcel))  # noqa: S301
    assert replay_parcel(again, None) == replay_parcel(parcel, None)
