"""`critic log show` and `list` name the last end of an execution, and what was overtaken."""

from pathlib import Path

from harness.audit.settlements import settle
from harness.log import SqlDecisionLog
from tests.harness.console import Critic
from tests.harness.log.decisions import AS_OF, NOON, decision
from tests.support.guarding import ASKS, answers_to, desk, guard_of, result, yes


def test_a_result_overtakes_what_a_person_said_of_an_execution(
    critic: Critic, tmp_path: Path
) -> None:
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=log), [*ASKS, yes()])
        begun = log.head().seq
        settle(log, begun, outcome="not_run", by="raj", because="no money went", now=NOON)

    def head_of(seq: int) -> str:
        return critic("log", "show", path, seq, "--format", "text").lines[0].rpartition(", ")[0]

    assert head_of(begun) == f"record {begun}: an execution began, record {begun + 1} ends it"
    settled = f"record {begun + 1}: an execution was settled as not_run by raj"
    assert head_of(begun + 1) == settled
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=log), [result({"ok": True})])
    assert head_of(begun) == (
        f"record {begun}: an execution began, "
        f"record {begun + 1} settles it, and record {begun + 2} ends it"
    )
    assert head_of(begun + 1) == f"{settled}, overtaken by record {begun + 2}"
    listed = critic("log", "list", path, "--records", "--status", "settled")
    assert listed.lines[0].endswith(f"settled as not_run by raj, overtaken by record {begun + 2}")


def test_a_record_says_as_of_when_it_was_judged(critic: Critic, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as log:
        log.append_all([decision(1)])
    assert (
        f"  judged as of {AS_OF}, safety mode"
        in critic("log", "show", path, 1, "--format", "text").out
    )
