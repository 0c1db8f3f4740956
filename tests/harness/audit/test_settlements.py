"""What a person says of an execution without an end: its turn has that fate, for every tool.

A result that comes in after all knows more, and ends the settlement.
"""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evals.kinds import SETTLED_OUTCOMES, SettledOutcome
from harness.audit.report.collecting import collect
from harness.audit.settlements import settle
from harness.errors import UsageError
from harness.guard import Guard
from harness.log import LogDamaged, SqlDecisionLog
from harness.log.search.listing import Listed, Listing
from harness.log.search.log_statistics import log_statistics
from harness.log.search.query import Filters
from harness.record import AlreadyClaimed, Settled, SettledRecord, TurnKey, read_record
from harness.replay import replay
from harness.replay.log_check import check_log
from tests.harness.console import Critic
from tests.harness.log.decisions import meddle
from tests.harness.log.guard_logs import write_guard_log
from tests.harness.replay.forging import forged
from tests.support.effort import sampled, sampled_rows
from tests.support.guarding import call, close, desk, guard_of, open_, result
from tests.support.turns import fates_in

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
SAID: Any = {"by": "raj", "because": "the bank has no such transfer", "now": NOW}
FATES = {
    ("allow", "ran"): "ran",
    ("allow", "not_run"): "not_run",
    ("allow", "unknown"): "ran_in_part",
    ("shadow", "ran"): "ran_in_shadow",
    ("shadow", "not_run"): "refused",
    ("shadow", "unknown"): "ran_in_shadow",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guards") / "guards.db"
    write_guard_log(path)
    return path


@pytest.fixture
def path(written: Path, tmp_path: Path) -> Path:
    """A log with two executions without an end: one that was allowed, and one in a shadow."""
    return Path(shutil.copy(written, tmp_path / "guards.db"))


def open_records(path: Path) -> dict[str, int]:
    """Return the numbers of the beginnings without an end, by their actions."""
    with SqlDecisionLog.open_for_reading(path) as log:
        rows = Listing(log).rows(Filters(status="open"))
        return {str(one.row.action): one.row.seq for one in rows if isinstance(one, Listed)}


def settle_at(path: Path, seq: int, given: SettledOutcome, **changes: Any) -> SettledRecord:
    with SqlDecisionLog.open(path) as log:
        sealed = settle(log, seq, **{"outcome": given, **SAID, **changes})
    record = read_record(sealed.body)
    assert isinstance(record, SettledRecord)
    return record


def fate_at(path: Path, seq: int) -> str:
    """Return the fate of the turn of a record, as every reader says it."""
    with SqlDecisionLog.open_for_reading(path) as log:
        listing = Listing(log)
        table = listing.turns(Filters())
        turn = next(one for one in table.turns() if seq in one.records)
        page = collect(log, 10_000, 1 << 26)
        on_page = page.turns.fate_of(page.turns.place[seq])
        row = listing.rows_of([seq])[seq]
        own = fates_in(log)[TurnKey(row.trace, row.turn, row.plan)]
        counted = log_statistics(listing, Filters()).fates
        by_fate = [one.records for one in listing.turns(Filters(fates=frozenset({own}))).turns()]
        every = [*fates_in(log).values()]
    assert {turn.fate, on_page, own} == {own}
    assert turn.records in by_fate
    assert counted == {name: every.count(name) for name in counted}
    assert sum(counted.values()) == len(every)
    return own


def is_sound(path: Path) -> dict[str, int]:
    """Check a log; return how many records have each answer."""
    with SqlDecisionLog.open_for_reading(path) as log:
        answers = [one.status for one in replay(log)]
        assert check_log(log).text() == ""
        assert answers == [one.status for one in replay(log, judge=False)]
    return {name: answers.count(name) for name in {*answers}}


@pytest.mark.parametrize(("action", "outcome"), sampled_rows(FATES, one_in=2), ids="-".join)
def test_a_settled_turn_has_the_fate_that_the_person_says(
    action: str, outcome: SettledOutcome, path: Path
) -> None:
    seq, before = open_records(path)[action], is_sound(path)
    assert fate_at(path, seq) == "open"
    record = settle_at(path, seq, outcome)
    assert fate_at(path, seq) == fate_at(path, record.seq) == FATES[action, outcome]
    assert is_sound(path) == {"same": before["same"] + 2, "open": 1}
    others = {*open_records(path).values()}
    assert seq not in others
    assert len(others) == 1


def test_the_commands_say_who_settled_what_and_why(path: Path, critic: Critic) -> None:
    seq = open_records(path)["allow"]
    who = ("--by", "raj@bank.example", "--because", "asked \x1b[31m the bank")
    said = critic("log", "settle", path, str(seq), "--outcome", "unknown", *who)
    assert (said.status, said.out) == (0, f"record 44: record {seq} is settled as unknown\n")
    shown = critic("log", "show", path, "44", "--format", "text")
    assert "an execution was settled as unknown by raj@bank.example" in shown.out
    assert "because: asked \\u001b[31m the bank" in shown.out
    assert f"turn: ran_in_part, of records 33, {seq}, 44" in shown.out
    assert (
        critic("log", "show", path, str(seq), "--format", "text")
        .lines[0]
        .startswith(f"record {seq}: an execution began, record 44 ends it")
    )
    verified = critic("log", "verify", path)
    assert "note: settled as unknown by raj@bank.example: it may have run" in verified.out
    assert "hashes and chain hold: sound, 1 open" in verified.out
    assert critic("log", "verify", path, "--no-open").status == 1
    row = json.loads(
        critic("log", "list", path, "--status", "settled", "--format", "json").lines[0]
    )
    assert (row["fate"], row["seq"]) == ("ran_in_part", 33)
    event = [
        json.loads(line)
        for line in critic("log", "export", path, "--to", "opa", "-o", "-").lines
        if json.loads(line)["req_id"] == 44
    ]
    assert event[0]["path"] == "critic/settled"
    assert "raj" not in (critic("log", "list", path, "--fate", "open").out)
    for command in (["what-if", path, "--safety-mode", "read_only"], ["gate", path, path]):
        said = critic(*command)
        assert "record 44" not in said.out + said.err, said
        assert "could not be read" not in said.out + said.err, said
    assert critic("report", path, "-o", path.with_suffix(".html")).status == 0
    html = path.with_suffix(".html").read_text()
    assert "settled as unknown by raj@bank.example: asked" in html


WRONG: list[tuple[int, str]] = [
    (99, "no such record: 99: the last one is 43"),
    (0, "no such record: 0"),
    (-1, "no such record: -1"),
    (2**70, "no such record"),
    (33, "record 33 is a decision, and began no execution"),
    (21, "record 21 is of kind critic_error, and began no execution"),
    (2, "record 2 has ended: record 5 says how"),
]


@pytest.mark.parametrize(("seq", "reason"), WRONG)
def test_a_record_that_is_not_open_is_not_settled(
    seq: int, reason: str, path: Path, critic: Critic
) -> None:
    before = path.read_bytes()
    what = ("--outcome", "ran", "--by", "raj", "--because", "x")
    said = critic("log", "settle", path, str(seq), *what)
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert reason in said.err
    assert path.read_bytes() == before


def test_nothing_is_settled_twice(path: Path, critic: Critic) -> None:
    first, second = open_records(path).values()
    settled = settle_at(path, first, "ran")
    for seq in (first, settled.seq):
        with pytest.raises(UsageError, match=f"record {seq} (has ended: record 44|is of kind)"):
            settle_at(path, seq, "not_run")
    with SqlDecisionLog.open(path) as log:
        begun = read_record(next(log.raw(first)).body)
        row = Listing(log).rows_of([first])[first]
        with pytest.raises(AlreadyClaimed):
            log.append_all([Settled(begun, row, "not_run", "eve", "x", NOW)])  # type: ignore[arg-type]
    assert settle_at(path, second, "ran").seq == 45


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"by": ""}, "--by: not an identifier"),
        ({"by": "raj\n"}, "--by: not an identifier"),
        ({"by": "r" * 200}, "--by: not an identifier"),
        ({"because": " "}, "--because: say how"),
        ({"outcome": "maybe"}, "--outcome: "),
    ],
)
def test_what_a_person_says_has_to_be_whole(changes: Any, reason: str, path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(UsageError, match=reason):
        settle_at(path, 34, "ran", **changes)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "reason"), [("no.db", "no such file"), ("other", "not a decision log")]
)
def test_a_wrong_file_is_said(name: str, reason: str, path: Path, critic: Critic) -> None:
    path.with_name("other").write_text("x" * 5000)
    what = ("--outcome", "ran", "--by", "raj", "--because", "x")
    said = critic("log", "settle", path.with_name(name), "1", *what)
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert reason in said.err
    assert not path.with_name("no.db").exists()


def test_an_altered_beginning_is_not_settled(path: Path) -> None:
    meddle(path, ("UPDATE records SET hash = ? WHERE seq = 34", ("0" * 64,)))
    with pytest.raises(LogDamaged, match="record 34 is not what was recorded"):
        settle_at(path, 34, "ran")


FORGED: list[tuple[str, Any, str]] = [
    ("begun", "0" * 64, "the record of its beginning is missing"),
    ("action", "shadow", "has another action"),
    ("trace_id", "shade", "its trace_id is not that"),
    ("outcome", "maybe", "it is not a record of this version: /outcome"),
    ("more", 1, "it is not a record of this version: /more"),
]


@pytest.mark.parametrize(("name", "value", "reason"), FORGED, ids=[one[0] for one in FORGED])
def test_a_forged_settlement_is_named(name: str, value: Any, reason: str, path: Path) -> None:
    settle_at(path, 34, "ran")
    forged(path, 44, lambda record: record.update({name: value}))
    with SqlDecisionLog.open_for_reading(path) as log:
        answer = [one for one in replay(log) if one.seq == 44]
    assert answer[0].status in ("tampered", "incomplete")
    assert any(reason in one for one in answer[0].reasons), answer


def test_a_settlement_of_another_execution_is_named(path: Path) -> None:
    settle_at(path, 34, "ran")
    with SqlDecisionLog.open_for_reading(path) as log:
        other = next(log.raw(43)).hash
    forged(path, 44, lambda record: record.update(begun=other))
    with SqlDecisionLog.open_for_reading(path) as log:
        answer = next(one for one in replay(log) if one.seq == 44)
    assert answer.status == "tampered"
    assert any("has other inputs" in one for one in answer.reasons)


# --- what comes in later ------------------------------------------------------------------------

ENDS: dict[str, Any] = {
    "completed": {"status": "completed", "output": {"ok": True}},
    "failed": {"status": "failed", "error": "no such note"},
    "unknown": {"status": "unknown"},
}


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A log of a guard whose process ended in the middle of a call, in two sessions."""
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as log:
        guard = guard_of(desk(), log=log)
        for name in ("s1", "s1/"):
            assert send(guard, open_(name, request="Write a note")) is None
            assert send(guard, call("make_note", name, "m1", name="a.md", text="x"))
    return path


def send(guard: Guard, event: Any) -> Any:
    return guard.handle_line(json.dumps(event).encode())


@pytest.mark.parametrize("first", [*ENDS, None])
@pytest.mark.parametrize("second", [*ENDS, None])
def test_an_end_is_recorded_where_any_of_its_calls_is_known_to_have_ended(
    first: str | None, second: str | None, tmp_path: Path
) -> None:
    """Two calls of one turn, which a person settled while they ran. `None`: no result came."""
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        both = call("list_mail", id="a")
        both = {**both, "calls": [{**both["calls"][0], "id": name} for name in "ab"]}
        for event in (open_(), both):
            send(guard, event)
        settle_at(tmp_path / "log.db", 2, "not_run")
        for name, end in zip("ab", (first, second), strict=True):
            if end is not None:
                ends = {"event": "result", "session": "s", "id": name, **ENDS[end]}
                assert send(guard, ends) is None
        assert send(guard, close()).status
        ended = [one.run for one in log.records() if one.run is not None]
    is_known = bool({first, second} - {"unknown", None})
    told = [[call.status for call in sorted(run.calls, key=lambda one: one.step)] for run in ended]
    assert told == ([[first or "unknown", second or "unknown"]] if is_known else [])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("outcome", SETTLED_OUTCOMES)
@pytest.mark.parametrize("end", sampled(ENDS, one_in=2))
@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_a_late_result_knows_more_than_who_settled(
    outcome: SettledOutcome, end: str, where: str, stopped: Path
) -> None:
    with SqlDecisionLog.open(stopped) as log:
        before = guard_of(desk(), log=log)
        assert before.is_open("s1")
        settle_at(stopped, 2, outcome)
        guard = before if where == "here" else guard_of(desk(), log=SqlDecisionLog.open(stopped))
        late = {**result(None, "s1", "m1"), **ENDS[end]}
        late = {name: value for name, value in late.items() if value is not None}
        assert send(guard, late) is None
        assert send(guard, close("s1")).status
    known = {"completed": "ran", "failed": "ran_in_part", "unknown": FATES["allow", outcome]}
    assert fate_at(stopped, 2) == known[end]
    assert fate_at(stopped, 4) == "open"
    assert is_sound(stopped)["open"] == 1


@pytest.mark.parametrize("outcome", SETTLED_OUTCOMES)
def test_a_close_says_nothing_against_a_settlement(outcome: SettledOutcome, stopped: Path) -> None:
    settle_at(stopped, 2, outcome)
    with SqlDecisionLog.open(stopped) as log:
        guard = guard_of(desk(), log=log)
        assert send(guard, close("s1")).status
        assert send(guard, close("s1/")).status
    assert fate_at(stopped, 2) == FATES["allow", outcome]
    assert fate_at(stopped, 4) == "ran_in_part", "the other session was not settled"
    assert is_sound(stopped).keys() == {"same"}


def test_of_two_late_ends_one_is_refused(stopped: Path) -> None:
    """The journal of the session is gone: both processes believe that they have the end."""
    with SqlDecisionLog.open(stopped) as log:
        guards = [guard_of(desk(), log=log) for _ in range(2)]
        assert all(guard.is_open("s1") for guard in guards)
        settle_at(stopped, 2, "unknown")
        late = result({"ok": True}, "s1", "m1")
        assert send(guards[0], late) is None
        assert "error" in send(guards[1], late).wire()
        records = [one for one in log.records() if one.begun is not None]
    assert [(one.seq, one.begun is not None) for one in records] == [(6, True)]
    assert is_sound(stopped).keys() == {"same", "open"}
