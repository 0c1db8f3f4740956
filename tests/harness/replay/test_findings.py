"""What-if and the gate count no record that replay calls damaged, in any number of processes."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.audit.gate.run_reading import release_record, release_sample
from harness.commands.log_findings import read_findings
from harness.log import SqlDecisionLog
from harness.record import Gap
from harness.replay import replay, stretches
from harness.replay.engine import Replayer
from harness.replay.findings import DAMAGE, findings, findings_of_batches
from harness.replay.log_check import CheckedReplay
from harness.replay.recheck import RecordedInputs
from harness.replay.replay_pool import WorkFailed
from harness.what_if.recorded_change import Alteration
from harness.what_if.rejudging import NotJudged, PlanFinder, what_if
from tests.harness.console import Critic
from tests.harness.log.decisions import filled, meddle, query
from tests.harness.log.guard_logs import write_guard_log
from tests.harness.replay.forging import forged, forged_input
from tests.support.effort import sampled

CHANGE = Alteration(budget={"max_steps": 9})
Alter = Callable[[Path, int], object]


@pytest.fixture(scope="module")
def guard_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("findings") / "guard.db"
    write_guard_log(path)
    return path


def _nth(path: Path, sql: str, number: int) -> tuple[Any, ...]:
    rows = query(path, sql)
    return tuple(rows[number * 7 % len(rows)])


def delete_claim(path: Path, number: int) -> None:
    (claim,) = _nth(path, "SELECT claim FROM claims ORDER BY seq", number)
    meddle(path, ("DELETE FROM claims WHERE claim = ?", (claim,)))


def move_claim(path: Path, number: int) -> None:
    (claim,) = _nth(path, "SELECT claim FROM claims ORDER BY seq", number)
    meddle(path, ("UPDATE claims SET seq = seq + 1 WHERE claim = ?", (claim,)))


def delete_record(path: Path, number: int) -> None:
    (seq,) = _nth(path, "SELECT seq FROM records ORDER BY seq", number)
    meddle(path, ("DELETE FROM records WHERE seq = ?", (seq,)))


def delete_input(path: Path, number: int) -> None:
    (digest,) = _nth(path, "SELECT digest FROM inputs ORDER BY digest", number)
    meddle(path, ("DELETE FROM inputs WHERE digest = ?", (digest,)))


def alter_input(path: Path, number: int) -> None:
    (digest,) = _nth(path, "SELECT digest FROM inputs ORDER BY digest", number)
    meddle(path, ("UPDATE inputs SET body = x'7b7d' WHERE digest = ?", (digest,)))


def forge_turn(path: Path, number: int) -> None:
    """Say of a ruling that nothing was spent before it: its hash and the chain are made anew."""
    (seq,) = _nth(path, "SELECT seq FROM record_index WHERE turn > 2 AND status != 'begun'", number)

    def lie(ctx: dict[str, Any]) -> None:
        ctx["spent"] = {"steps": 0}

    forged_input(path, seq, "ctx", lie)


def forge_report(path: Path, number: int) -> None:
    (seq,) = _nth(path, "SELECT seq FROM record_index WHERE status = 'completed'", number)
    forged(path, seq, lambda record: record.update(action="shadow"))


ALTERATIONS: list[Alter] = [
    *(delete_claim, move_claim, delete_record, delete_input, alter_input),
    *(forge_turn, forge_report),
]


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("number", sampled(range(4), one_in=4))
@pytest.mark.parametrize("alter", ALTERATIONS, ids=lambda one: one.__name__)
def test_no_record_that_replay_calls_damaged_is_counted(
    guard_log: Path, tmp_path: Path, alter: Alter, number: int
) -> None:
    path = Path(shutil.copy(guard_log, tmp_path / "log.db"))
    alter(path, number)
    with SqlDecisionLog.open_for_reading(path) as log:
        damaged = {one.seq for one in replay(log) if one.status in DAMAGE}
        found = [*what_if(findings(log, PlanFinder(CHANGE)))]
        unread = release_sample(findings(log, release_record)).unread
    named = {one.seq for one in found if isinstance(one, NotJudged) and one.status in DAMAGE}
    assert damaged
    assert damaged == named
    assert len(damaged) <= unread


def test_records_that_are_missing_are_found_in_their_place(tmp_path: Path) -> None:
    """By one reading, by stretches of it, and beside a check of the log as a whole.

    The link of what follows them cannot be checked.
    """
    with filled(tmp_path / "log", 6):
        pass
    gone = "DELETE FROM records WHERE seq IN (1, 3, 4)"
    meddle(tmp_path / "log", (gone, ()))

    def number(recorded: RecordedInputs) -> int:
        return recorded.seq

    with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
        replayer = Replayer(log, None, judge=True)
        batches = (stretches.replay_stretch(log, replayer, one, number) for one in SOME)
        for found in (
            [*findings(log, number)],
            [*findings_of_batches(batches)],
            [*CheckedReplay(log).findings(number)],
        ):
            assert [one.found for one in found] == [Gap(1, 1), 2, Gap(3, 4), 5, 6]
            assert [one.is_damaged for one in found] == [True, True, True, True, False]
            assert [one.answer for one in found] == [*replay(log)]


SOME = (stretches.Stretch(None, 0, 1), stretches.Stretch(2, 1, 2))


def test_a_sound_log_has_no_damage(guard_log: Path) -> None:
    with SqlDecisionLog.open_for_reading(guard_log) as log:
        assert not any(one.is_damaged for one in findings(log, release_record))


def test_what_only_the_session_shows_excuses_nothing(critic: Critic, guard_log: Path) -> None:
    """The record is sound by itself, and its facts do not follow from those before."""
    path = Path(shutil.copy(guard_log, guard_log.with_name("forged.db")))
    forge_turn(path, 0)
    options = "--allow-unjudged", "--allow-loosening", "--budget", "max_steps=9"
    assert critic("what-if", guard_log, *options).status == 0
    assert critic("what-if", path, *options).status == 1


# --- several processes -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("alter", sampled([forge_turn, delete_record, None], one_in=3))
def test_any_number_of_processes_prints_the_same(
    critic: Critic,
    guard_log: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    alter: Alter | None,
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 5)
    path = Path(shutil.copy(guard_log, tmp_path / "log.db"))
    if alter is not None:
        alter(path, 1)
    for command in (
        ("what-if", path, "--safety-mode", "network"),
        ("what-if", path, "--safety-mode", "network", "--format", "json"),
        ("gate", guard_log, path, "--min-runs", "1"),
    ):
        said = critic(*command)
        assert len(said.lines) > 3
        assert critic(*command, "--jobs", "2") == said


def _fails(_: RecordedInputs) -> None:
    raise RuntimeError("a bug\nof two lines")


@pytest.mark.slow
def test_a_failure_in_a_process_is_one_line(
    guard_log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with SqlDecisionLog.open_for_reading(guard_log) as log:
        found, _ = read_findings(log, str(guard_log), _fails, jobs=2)
        with pytest.raises(WorkFailed) as failed:
            list(found)
    said = r"cannot be replayed: RuntimeError: a bug\u000aof two lines"
    assert str(failed.value).endswith(said)
    assert capfd.readouterr() == ("", "")


def test_an_export_is_judged_in_one_process(critic: Critic, guard_log: Path) -> None:
    file = guard_log.with_suffix(".parquet")
    critic("log", "export", guard_log, "--to", "parquet", "--plans", "-o", file)
    said = critic("what-if", file, "--safety-mode", "network", "--jobs", "2")
    assert (said.status, said.out) == (2, "")
    assert "--jobs is for a log" in said.err
