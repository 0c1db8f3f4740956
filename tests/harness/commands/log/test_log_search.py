"""`critic log list`, `stats`, `show` and `export`: what a log is asked."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from evals.kinds import CHECK_NAMES
from harness.audit.settlements import settle
from harness.commands.log.log_arguments import KIND_NAMES, STATUS_NAMES
from harness.log import SqlDecisionLog
from tests.harness.commands.log.proving import WHY
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace, meddle
from tests.harness.log.search.searched import varied
from tests.support.examples import is_safe
from tests.support.guarding import ASKS, answers_to, call, desk, guard_of, open_, yes

REFUSALS = KIND_NAMES[:5]
NOON = "2025-03-01T12:05:00Z"
LATER = datetime(2026, 6, 2, tzinfo=UTC)


@pytest.fixture
def log(place: LogPlace) -> LogPlace:
    """Return a log with records of every kind."""
    varied(place).close()
    return place


def _rows(critic: Critic, log: LogPlace, *filters: str) -> list[dict[str, Any]]:
    said = critic("log", "list", log, "--records", "--format", "json", *filters)
    assert (said.status, said.warned) == (0, "")
    return [json.loads(line) for line in said.lines]


def _time(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["at"].replace("Z", "+00:00"))


FILTERS: list[tuple[tuple[str, ...], Callable[[dict[str, Any]], bool]]] = [
    *((("--status", one), lambda row, one=one: row["status"] == one) for one in STATUS_NAMES[:3]),
    (("--status", "begun"), lambda row: row["status"] == "begun"),
    (("--status", "open"), lambda row: "open" in row),
    (("--status", "critic_error"), lambda row: row["status"] == "critic_error"),
    *(
        (("--kind", one), lambda row, one=one: one in row.get("kinds", ()))
        for one in KIND_NAMES[:5]
    ),
    *((("--check", one), lambda row, one=one: one in row.get("checks", ())) for one in CHECK_NAMES),
    (("--tool", "refund"), lambda row: "payments/refund" in row.get("tools", ())),
    (("--tool", "payments/refund"), lambda row: "payments/refund" in row.get("tools", ())),
    (("--tool", "fund"), lambda _row: False),
    (("--mode", "destructive"), lambda row: row.get("mode") == "destructive"),
    (("--trace", "trace_3"), lambda row: row.get("trace") == "trace_3"),
    (("--session", "s"), lambda row: row.get("session") == "s"),
    (("--since", NOON), lambda row: _time(row) >= datetime(2025, 3, 1, 12, 5, tzinfo=UTC)),
    (("--until", NOON), lambda row: _time(row) < datetime(2025, 3, 1, 12, 5, tzinfo=UTC)),
    (("--since", "2025-03-02"), lambda row: _time(row) >= datetime(2025, 3, 2, tzinfo=UTC)),
    (("--min-cost", "500"), lambda row: row.get("cost_micros", -1) >= 500),
    (("--max-cost", "500"), lambda row: 0 <= row.get("cost_micros", -1) <= 500),
    (("--text", "EVIDENCE class"), lambda row: "evidence class" in row.get("said", "")),
    (("--text", "timeouterror"), lambda row: "TimeoutError" in row.get("error", "")),
    (("--text", "100%_'; --"), lambda _row: False),
]


NAMES = [" ".join(option) for option, _ in FILTERS]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("option", "wanted"), FILTERS, ids=NAMES)
def test_a_filter_lets_through_what_it_says(
    critic: Critic, log: LogPlace, option: tuple[str, ...], wanted: Callable[[Any], bool]
) -> None:
    every = _rows(critic, log)
    assert _rows(critic, log, *option) == [row for row in every if wanted(row)]


def test_filters_hold_together(critic: Critic, log: LogPlace) -> None:
    (row,) = _rows(critic, log, "--status", "completed", "--min-cost", "1", "--max-cost", "450")
    assert row["cost_micros"] == 400


@pytest.mark.parametrize(
    "option",
    [("--since", "yesterday"), ("--min-cost", "-1"), ("--text", ""), ("--status", "ok")],
)
def test_a_filter_that_cannot_be_is_refused(
    critic: Critic, log: LogPlace, option: tuple[str, str]
) -> None:
    said = critic("log", "list", log, "--records", *option)
    assert (said.status, said.out) == (2, "")


@pytest.mark.parametrize(
    ("least", "most", "why"),
    [
        ("--min-cost=5", "--max-cost=1", "the end is before the beginning"),
        ("--since=2026-05-09", "--until=2026-05-08", "the end is before the beginning"),
        ("--since=2026-05-09", "--until=2026-05-09", "--until is the first time that is left out"),
    ],
)
def test_a_range_in_which_nothing_lies_is_refused(
    critic: Critic, log: LogPlace, least: str, most: str, why: str
) -> None:
    for command in (("log", "list"), ("log", "list", "--records"), ("log", "stats")):
        said = critic(*command, log, least, most)
        assert (said.status, said.out, said.err.count("\n")) == (2, "", 1), said
        assert said.err.rstrip().endswith(why)
        assert least.replace("=", " ") in said.err
    assert critic("log", "list", log, least).status == 0
    assert critic("log", "list", log, "--min-cost=5", "--max-cost=5").status == 0


def test_cells_are_no_formulas(critic: Critic, log: LogPlace) -> None:
    said = critic("log", "list", log, "--records", "--format", "csv")
    assert said.status == 0
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert len(rows) == len(_rows(critic, log))
    (failed,) = (row for row in rows if row["status"] == "critic_error")
    assert failed["said"].startswith("'=cmd|")
    assert not any(
        str(cell).startswith(("=", "+", "-", "@")) for row in rows for cell in row.values()
    )


def test_statistics_are_counts_of_what_is_listed(critic: Critic, log: LogPlace) -> None:
    every = _rows(critic, log)
    said = critic("log", "stats", log, "--format", "json")
    assert (said.status, said.warned) == (0, "")
    found = json.loads(said.out)
    refused = [row for row in every if row.get("fate") == "refused"]
    assert found["fates"].keys() == {row["fate"] for row in every if row["status"] != "closed"}
    assert found["records"] == len(every)
    assert found["statuses"] == Counter(row["status"] for row in every)
    assert found["refusals"]["by_kind"] == Counter(row["kind"] for row in refused)
    assert found["refusals"]["by_tool"] == Counter(row["tool"] for row in refused)
    assert {day: n for day, n in found["refusals"]["by_day"].items() if n} == Counter(
        row["at"][:10] for row in refused
    )
    scores = [row["scores"]["utility"]["score"] for row in every if "scores" in row]
    assert found["scores"]["utility"]["scored"] == len(scores)
    assert found["scores"]["utility"]["mean"] == pytest.approx(sum(scores) / len(scores))
    assert found["budgets"]["cost_micros"] == {
        "measured": 2,
        "over": 1,
        "share": 1.8,
        "total": 1300.0,
    }
    assert [one["cost_micros"] for one in found["costliest"]] == [900, 400]
    assert [one["wall_ms"] for one in found["slowest"]][:2] == [1800, 800]
    assert found["questions"] == {"asked": 1, "yes": 1, "no": 0, "lapsed": 0}
    text = critic("log", "stats", log)
    assert all(is_safe(line) for line in text.lines)
    assert "questions: 1: 1 yes, 0 no" in text.out
    assert critic("log", "stats", log, "--format", "csv", "--status", "partial").status == 0


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "command",
    [
        *(("list", "--format", form) for form in ("text", "json", "csv")),
        *(("stats", "--format", form) for form in ("text", "json", "csv")),
        *(("show", "2", "--format", form) for form in ("text", "json", "csv")),
        ("export", "--to", "opa", "-o", "-"),
        ("export", "--to", "opa", "-o", "FILE"),
        ("export", "--to", "parquet", "-o", "FILE"),
    ],
    ids=" ".join,
)
def test_a_missing_record_is_said_by_all(
    critic: Critic, log: LogPlace, command: tuple[str, ...], tmp_path: Path
) -> None:
    meddle(log, ("DELETE FROM records WHERE seq IN (2, 3)", ()))
    rest = [str(tmp_path / "out") if one == "FILE" else one for one in command[1:]]
    said = critic("log", command[0], log, *rest)
    assert said.status == 1
    missing = "record 2 is missing" if command[0] == "show" else "records 2 to 3 are missing"
    assert missing in said.out + said.err


def test_a_refused_record_is_shown_with_the_step_that_was_refused(
    critic: Critic, log: LogPlace
) -> None:
    row = next(row for row in _rows(critic, log) if row.get("kind") == "missing_evidence")
    said = critic("log", "show", log, str(row["seq"]), "--format", "text")
    assert (said.status, said.warned) == (0, "")
    assert all(is_safe(line) for line in said.lines)
    assert said.lines[0].startswith(f"record {row['seq']}: refused_by_critic by verify, ")
    (marked,) = (line for line in said.lines if line.startswith("  >> step"))
    assert marked.startswith("  >> step 1: payments/refund")
    assert marked.endswith("(destructive)")
    assert any(line.startswith("  evidence ev_1: window") for line in said.lines)
    assert any("refused: missing_evidence" in line for line in said.lines)


def test_every_record_is_shown_as_text_and_as_cells(critic: Critic, log: LogPlace) -> None:
    for row in _rows(critic, log):
        for form in ("text", "csv"):
            said = critic("log", "show", log, str(row["seq"]), "--format", form)
            assert (said.status, said.warned) == (0, "")
            assert all(is_safe(line) for line in said.lines)
    ran = next(row for row in _rows(critic, log, "--status", "completed"))
    assert "as planned" in critic("log", "show", log, str(ran["seq"]), "--format", "text").out


def test_an_export_holds_what_is_listed(critic: Critic, log: LogPlace, tmp_path: Path) -> None:
    every = _rows(critic, log)
    said = critic("log", "export", log, "--to", "parquet", "-o", tmp_path / "out.parquet")
    assert (said.status, said.warned) == (0, "")
    table = pyarrow.parquet.read_table(tmp_path / "out.parquet")
    assert table.column("seq").to_pylist() == [row["seq"] for row in every]
    assert table.column("kind").to_pylist() == [row.get("kind") for row in every]
    assert b"plan-critic.log" in table.schema.metadata
    assert (
        critic("log", "export", log, "--to", "parquet", "-o", tmp_path / "out.parquet").status == 2
    )
    said = critic("log", "export", log, "--to", "opa", "-o", "-")
    assert said.status == 0
    events = [json.loads(line) for line in said.lines]
    assert [event["req_id"] for event in events] == [row["seq"] for row in every]
    for event, row in zip(events, every, strict=True):
        shown = json.loads(critic("log", "show", log, str(row["seq"]), "--format", "json").out)
        assert event["decision_id"] == shown["hash"]
        assert event.get("result") == shown.get("report")
        assert event["timestamp"] == row["at"]
        if "input_bodies" in shown:
            assert event["input"] == shown["input_bodies"]
    files = {path.name for path in tmp_path.iterdir()} - {"log"}
    assert files == {"out.parquet"}


@pytest.mark.parametrize("option", ["--min-cost", "--max-cost"])
@pytest.mark.parametrize("value", ["-1", "x", "1e9", "", "9" * 5000, "\u0661"])
def test_a_cost_is_a_whole_number(critic: Critic, option: str, value: str) -> None:
    said = critic("log", "list", "none", f"{option}={value}")
    assert (said.status, said.out) == (2, "")
    assert "must be a whole number from 0 to 9007199254740991" in said.err


UNSEEN = "2 turns could not be searched: values were taken out"
ASKED_OF_A_COPY = [
    (("--user", "eve"), ["2 of 4 turns match", UNSEEN]),
    (("--tool", "fly"), ["0 of 4 turns match", UNSEEN]),
    (("--over", "5"), ["0 of 4 turns match", UNSEEN]),
    (("--text", "iban"), ["1 of 4 turns match", UNSEEN]),
    (("--session", "s1"), ["2 of 4 turns match"]),
    (("--trace", "s1"), ["2 of 4 turns match"]),
    (("--session", "s3"), ["0 of 4 turns match", "--session s3: no turn has it"]),
]
"""Filters, and what is said of their answer where one of two sessions lost its values."""


@pytest.fixture
def redacted(critic: Critic, tmp_path: Path) -> Path:
    """Return a copy of the log of two sessions, of which one had its values taken out."""
    with SqlDecisionLog.open(tmp_path / "log.db") as kept:
        for session in ("s1", "s2"):
            opened = {**ASKS[0], "user": "eve"}
            events = [{**one, "session": session} for one in (opened, *ASKS[1:])]
            answers_to(guard_of(desk(), log=kept), events)
    new = tmp_path / "new.db"
    assert critic("log", "redact", tmp_path / "log.db", new, "--trace", "s1", *WHY).status == 0
    return new


@pytest.mark.parametrize(("option", "expected"), ASKED_OF_A_COPY)
def test_a_search_says_what_it_could_not_search(
    critic: Critic, redacted: Path, option: tuple[str, ...], expected: list[str]
) -> None:
    listed = critic("log", "list", redacted, *option)
    assert listed.lines[-1 - len(expected) : -1] == expected


def test_a_query_says_of_how_many_turns_values_are_gone(critic: Critic, redacted: Path) -> None:
    asked = critic("log", "query", redacted, "SELECT count(*) FROM turns WHERE user = 'eve'")
    assert asked.lines[-2] == "2 turns had values taken out: they are null here"
    whole = critic("log", "query", redacted.with_name("log.db"), "SELECT 1")
    assert "taken out" not in whole.out


def test_a_turn_is_on_one_side_of_a_moment(critic: Critic, tmp_path: Path) -> None:
    """It is listed, counted and exported by the time at which it was ruled on."""
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as kept:
        answers_to(guard_of(desk(), log=kept), [*ASKS, yes()])
        began = kept.head().seq
        settle(kept, began, outcome="ran", by="raj", because="x", now=LATER)
        answers_to(guard_of(desk(), log=kept), [open_("t"), call("read_note", "t", name="plan.md")])
    since, until = ("--since", "2026-06-01"), ("--until", "2026-06-01")
    for command in ("list", "stats"):
        counted = [
            critic("log", command, path, *option, "--format", "text").lines[-2].split()[0]
            for option in (since, until)
        ]
        assert counted == ["0", "3"]
    listed = critic("log", "list", path, "--text", "settled as", *until)
    assert listed.lines[-2] == "1 of 3 turns match"
