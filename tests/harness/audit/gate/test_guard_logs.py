"""The gate on the log of a guard: its turns counted once, their shares, and the cases named."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evals.kinds import Fate
from harness.audit.gate.run_reading import ReleaseSample, release_record, release_sample
from harness.commands.gate.gate_arguments import OPTIONAL_CHECKS
from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.replay.findings import findings
from tests.harness.commands.log.proving import WHY
from tests.harness.console import Critic
from tests.harness.log.decisions import (
    body_of,
    decision,
    judged,
    meddle,
    proposal,
    put_body,
    run_of,
)
from tests.harness.log.guard_logs import write_guard_log
from tests.harness.replay.forging import forged
from tests.support.guarding import Json, answers_to, call, desk, open_, policy_of, yes
from tests.support.guarding import result as ended

SESSIONS = 11  # one more than the cases that are named
ENOUGH = "--min-runs", "4"
MEASURED = {"tokens": 11, "duration_ms": 100, "cost_micros": 1000}
PAID = {"iban": "iban-4711-22", "reason": "rent"}


@pytest.fixture(scope="module")
def guard_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gate") / "guard.db"
    write_guard_log(path)
    return path


def sample(path: Path) -> ReleaseSample:
    with SqlDecisionLog.open_for_reading(path) as log:
        return release_sample(findings(log, release_record))


def test_a_turn_of_a_guard_is_judged_once(guard_log: Path) -> None:
    with closing(sqlite3.connect(guard_log)) as connection:
        rows = connection.execute(
            "SELECT trace, turn, group_concat(seq, ' ') FROM record_index WHERE plan IS NOT NULL "
            "GROUP BY trace, turn, plan ORDER BY min(seq)"
        ).fetchall()
    found = [
        (one.case.trace_id, one.case.turn, " ".join(map(str, one.records)))
        for one in sample(guard_log).judged
    ]
    assert found == rows


def test_the_turns_have_the_fates_that_the_sessions_had(guard_log: Path) -> None:
    found = sample(guard_log)
    fates = [one.fate for one in found.judged]
    expected: set[Fate] = {"ran", "ran_after_yes", "ran_in_shadow", "refused", "ran_in_part"}
    assert expected <= {*fates}
    assert "ran_although_refused" not in fates
    assert found.failures == 2
    assert found.unread == 0
    assert any(one.is_asked and one.fate == "asked_no" for one in found.judged)


def test_a_log_of_guards_passes_against_itself_without_what_it_does_not_measure(
    critic: Critic, guard_log: Path
) -> None:
    command = "gate", guard_log, guard_log, "--min-runs", "1"
    without = [f"--without={name}" for name in ("latency", "cost", "tokens")]
    said = critic(*command, *without)
    assert (said.status, said.lines[-1]) == (0, "pass"), said.out
    assert not any(line.startswith("changed: ") for line in said.lines)
    assert "left out      latency" in said.lines
    assert critic(*command).status == 3


def test_what_became_of_a_turn_stays_where_a_record_of_it_is_redacted(
    critic: Critic, tmp_path: Path
) -> None:
    """A call that was changed is on the record that was taken out: the gate blocks all the same."""
    changed = {"tool": "transfer", "args": {**PAID, "reason": "more-77"}}
    first, last = _session(1), _session(2)
    last[-1] = {**last[-1], "sent": changed}
    log, copy = _write(tmp_path / "log.db", desk(), [first, last]), tmp_path / "copy.db"
    taken = ("log", "redact", log, copy, "--containing", "more-77", *WHY)
    assert critic(*taken).status == 0
    for jobs in ("1", "2"):
        said = critic("gate", log, copy, "--format", "json", "--jobs", jobs)
        found = json.loads(said.out)
        assert said.status == 1
        assert "1 turn before, 1 after" in str(found["checks"])
        listed = map(json.loads, critic("log", "list", copy, "--format", "json").lines)
        fates = {tuple(one["records"]): one["fate"] for one in listed}
        changes = [one["after"] for one in found["changed"]["first"]]
        assert changes
        assert [fates[tuple(one["records"])] for one in changes] == [one["fate"] for one in changes]


# --- neighbours --------------------------------------------------------------------------------


def _session(number: int, ask: bool = False, **took: int) -> list[Json]:
    name, measures = f"s{number}", {**MEASURED, **took}
    events = [
        open_(name, request="Pay the rent to iban-4711-22"),
        call("read_note", name, "r1", name="plan.md"),
        ended("nothing", name, "r1", **measures),
        call("transfer", name, "t1", **PAID),
    ]
    if ask:
        events += [yes(name)]
    return [*events, ended({"ok": True}, name, "t1", **measures)]


def _write(path: Path, policy: Json, sessions: list[list[Json]], cut: int = 0) -> Path:
    with SqlDecisionLog.open(path) as log:
        guard = Guard(policy_of(policy), log=log)
        for events in sessions:
            answers_to(guard, events[: len(events) - cut])
    return path


def _with_last(path: Path, *last: Json, policy: Json | None = None) -> Path:
    """Write the baseline with another last session."""
    same = [_session(number) for number in range(1, SESSIONS)]
    _write(path, desk(), same)
    return _write(path, policy or desk(), [[*last]])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gate") / "base.db"
    return _write(path, desk(), [_session(number) for number in range(1, SESSIONS + 1)])


def gated(critic: Critic, base: Path, candidate: Path, *options: str) -> Json:
    said = critic("gate", base, candidate, *ENOUGH, "--format", "json", *options)
    answer: Json = json.loads(said.out)
    assert said.status == {"pass": 0, "block": 1, "inconclusive": 3}[answer["status"]]
    return answer


def failed(answer: Json) -> set[str]:
    return {one["check"] for one in answer["checks"] if one["status"] != "pass"}


def test_the_sessions_of_a_guard_pass_against_themselves(critic: Critic, base: Path) -> None:
    answer = gated(critic, base, base)
    assert answer["status"] == "pass"
    assert {"latency", "cost", "tokens"} <= {one["check"] for one in answer["checks"]}
    assert answer["changed"] == {"cases": 0, "first": []}


def _asking() -> Json:
    wire = desk()
    return {**wire, "spec": {**wire["spec"], "approval_required_from": "network"}}


LAST = f"s{SESSIONS}"
OPENED = _session(SESSIONS)[:3]
NEIGHBOURS: dict[str, tuple[str, list[Json], Json | None]] = {
    "one refusal more": (
        "refused turns",
        [*OPENED, call("shred", LAST, "t1", name="unseen.md")],
        None,
    ),
    "one question more": ("asked turns", _session(SESSIONS, ask=True), _asking()),
    "one that only a shadow let through": (
        "shadow turns",
        [*OPENED, call("shred", LAST, "t1", name="x.md"), ended("ok", LAST, "t1", **MEASURED)],
        desk(shadow=True),
    ),
    "a far slower call": ("latency", _session(SESSIONS, duration_ms=9000), None),
    "a far dearer call": ("cost", _session(SESSIONS, cost_micros=90_000), None),
    "a call of more tokens": ("tokens", _session(SESSIONS, tokens=900), None),
    "a call that says no cost": (
        "cost",
        [*_session(SESSIONS)[:-1], ended({"ok": True}, LAST, "t1", tokens=1, duration_ms=1)],
        None,
    ),
}


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_each_neighbour_that_is_worse_is_noticed(
    critic: Critic, base: Path, tmp_path: Path, name: str
) -> None:
    check, last, policy = NEIGHBOURS[name]
    answer = gated(critic, base, _with_last(tmp_path / "new.db", *last, policy=policy))
    assert check in failed(answer)
    left = gated(critic, base, tmp_path / "new.db", f"--without={check.replace(' ', '-')}")
    assert check not in failed(left)
    assert left["without"] == [check.replace(" ", "-")]
    changed = {(one["trace_id"], one["turn"]) for one in answer["changed"]["first"]}
    assert changed <= {(LAST, 2), (LAST, 1)}
    assert bool(changed) == (check in ("refused turns", "asked turns", "shadow turns"))


def test_the_ten_cases_that_changed_are_named_with_their_records(
    critic: Critic, base: Path, tmp_path: Path
) -> None:
    shredding = [
        [*_session(number)[:3], call("shred", f"s{number}", "t1", name="unseen.md")]
        for number in range(1, SESSIONS + 1)
    ]
    said = critic("gate", base, _write(tmp_path / "new.db", desk(), shredding), *ENOUGH)
    assert said.status == 1
    named = [line for line in said.lines if line.startswith("changed: ")]
    assert len(named) == 11
    assert named[-1] == f"changed: {SESSIONS} cases, of which these are the first"
    assert named[0].endswith("refused, record 4")
    assert ": ran, records " in named[0]


def test_what_never_ends_is_not_counted_against_the_measures(
    critic: Critic, base: Path, tmp_path: Path
) -> None:
    cut = _write(tmp_path / "cut.db", desk(), [_session(n) for n in range(1, SESSIONS)])
    _write(cut, desk(), [_session(SESSIONS)], cut=1)
    answer = gated(critic, base, cut)
    assert answer["status"] == "pass", failed(answer)
    assert [one["after"]["fate"] for one in answer["changed"]["first"]] == ["open"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("record", range(1, 7))
def test_no_damaged_record_passes(critic: Critic, tmp_path: Path, record: int) -> None:
    """Of a session: a ruling, a beginning and an outcome, twice. No option leaves it out."""
    few = _write(tmp_path / "few.db", desk(), [_session(1), _session(2)])
    damaged = Path(shutil.copy(few, tmp_path / "damaged.db"))
    put_body(damaged, record, body_of(damaged, record).replace(b"s1", b"s2"))
    without = [f"--without={name}" for name in OPTIONAL_CHECKS]
    assert gated(critic, few, few, *without)["status"] == "pass"
    assert gated(critic, few, damaged, *without)["status"] == "inconclusive"
    assert gated(critic, damaged, few, *without)["status"] == "inconclusive"


def test_a_damaged_beginning_at_the_end_does_not_pass(critic: Critic, tmp_path: Path) -> None:
    """No later record is linked to it, and open is a state: nothing else would notice."""
    few = _write(tmp_path / "few.db", desk(), [_session(1), _session(2)], cut=1)
    with closing(sqlite3.connect(few)) as connection:
        [(last, status)] = connection.execute("SELECT max(seq), status FROM record_index")
    assert status == "begun"
    damaged = Path(shutil.copy(few, tmp_path / "damaged.db"))
    forged(damaged, last, lambda record: record.update(prev_hash="0" * 64))
    without = [f"--without={name}" for name in OPTIONAL_CHECKS]
    assert gated(critic, few, few, *without, "--min-runs=1")["status"] == "pass"
    answer = gated(critic, few, damaged, *without, "--min-runs=1")
    assert failed(answer) == {"records"}


def test_an_action_that_does_not_follow_from_the_verdict_is_not_believed(
    critic: Critic, tmp_path: Path
) -> None:
    """Or what ran although refused could be said to have run in a shadow."""
    refused, log = proposal(2, pinned=False), tmp_path / "log.db"
    with SqlDecisionLog.open(log) as opened:
        opened.append_all([decision(1), judged(refused, run_of(refused, 2))])
    forged(log, 2, lambda record: record.update(action="shadow"))
    indexed = "UPDATE record_index SET action = 'shadow', facts = (facts & ~8) | 2 WHERE seq = 2"
    meddle(log, (indexed, ()))
    without = [f"--without={name}" for name in OPTIONAL_CHECKS]
    answer = gated(critic, log, log, *without, "--min-runs=1")
    assert failed(answer) == {"records"}


def test_what_ran_although_refused_blocks_against_itself_too(
    critic: Critic, tmp_path: Path
) -> None:
    refused = proposal(1, pinned=False)
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        log.append(judged(refused, run_of(refused)))
    without = [f"--without={name}" for name in OPTIONAL_CHECKS]
    said = critic("gate", tmp_path / "log.db", tmp_path / "log.db", *without)
    assert (said.status, said.lines[-1]) == (1, "block")
    named = "1 turn before, 1 after, the first: refund (trace_1), record 1"
    assert f"block         ran although refused  {named}" in said.lines


@pytest.mark.parametrize("name", ["records", "runs", "ran-although-refused", "anything"])
def test_damage_and_what_ran_although_refused_cannot_be_left_out(
    critic: Critic, base: Path, name: str
) -> None:
    assert critic("gate", base, base, "--without", name).status == 2


def test_names_of_checks_are_those_that_are_printed(critic: Critic, base: Path) -> None:
    floors = [f"--floor={name}" for name in ("utility", "latency", "cost")]
    answer = gated(critic, base, base, *floors)
    printed: set[Any] = {one["check"].replace(" ", "-") for one in answer["checks"]}
    assert {*OPTIONAL_CHECKS} - printed == {"cases"}
    assert printed - {*OPTIONAL_CHECKS} == {"runs", "ran-although-refused"}


def test_the_share_of_refused_turns_is_that_of_stats_without_failed_turns(
    critic: Critic, tmp_path: Path
) -> None:
    write_guard_log(tmp_path / "log.db")
    stats = json.loads(critic("log", "stats", tmp_path / "log.db", "--format", "json").out)
    fates = stats["fates"]
    judged = stats["turns"] - fates["failed"]
    share = (fates["refused"] + fates["asked_no"]) / judged
    said = critic("gate", tmp_path / "log.db", tmp_path / "log.db", "--jobs", "1").out
    (line,) = [one for one in said.splitlines() if "refused turns" in one]
    assert fates["failed"]
    assert f" {share:.1%} before, {share:.1%} after" in line
