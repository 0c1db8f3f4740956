"""What one record of a log may use up: refused for a second, with nothing recorded of it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.errors import HarnessError
from harness.log import SqlDecisionLog
from harness.record import AlreadyClaimed, Begun, BegunRecord, Decision, UsedApproval
from harness.record.drafts import approval_claim
from harness.replay import check_log, replay
from tests.harness.log.decisions import NOON, LogPlace, decision, proposal, query
from tests.harness.log.faults import integrity_errors


def begun(*ids: str) -> Begun:
    used = tuple(UsedApproval(approval_id=name, plan_digest="a" * 64) for name in ids)
    return Begun(proposal=proposal(), approvals=used, begun_at=NOON)


def claiming(*claims: str, number: int = 1, **more: Any) -> Decision:
    return decision(number, kind="partial").model_copy(update={"claims": claims, **more})


@pytest.fixture
def log(place: LogPlace) -> SqlDecisionLog:
    return SqlDecisionLog.open(place)


def test_each_approval_of_each_plan_is_claimed_for_itself() -> None:
    ids, plans = ("a_2", "A_2", "a_2.", "a_", "a"), ("a" * 64, "a" * 63 + "b", "b" * 64)
    claims = {approval_claim(one, plan) for one in ids for plan in plans}
    assert len(claims) == len(ids) * len(plans)


def test_a_claim_is_made_once(log: SqlDecisionLog) -> None:
    record = log.append(claiming("session s1 state 5", "other"))
    assert record.claims == ("session s1 state 5", "other")
    assert log.claims(["other", "nobody's"]) == {"other": 1}
    with pytest.raises(AlreadyClaimed, match="used up before, nothing was recorded: session s1"):
        log.append(claiming("session s1 state 5", number=2))
    assert log.head().seq == 1
    assert log.append(claiming("session s1 state 6", number=2)).seq == 2
    assert {one.status for one in replay(log)} == {"same"}
    assert check_log(log).text() == ""


def test_another_object_and_another_process_see_it(log: SqlDecisionLog, place: LogPlace) -> None:
    log.append(claiming("x"))
    other = SqlDecisionLog.open(place)
    with pytest.raises(AlreadyClaimed) as caught:
        other.append(claiming("y", "x"))
    assert caught.value.claims == ("x",)
    assert isinstance(caught.value, HarnessError)


def test_an_approval_is_used_by_one_execution(log: SqlDecisionLog) -> None:
    first = log.begin(begun("a_1", "a_2"))
    assert isinstance(first, BegunRecord)
    with pytest.raises(AlreadyClaimed) as caught:
        log.begin(begun("a_3", "a_2"))
    assert caught.value.claims == (f"approval a_2 {'a' * 64}",)
    assert log.begin(begun("a_3")).seq == 2


def test_an_execution_is_ended_once(log: SqlDecisionLog) -> None:
    record = log.begin(begun())
    assert log.append(claiming(begun=record.hash)).begun == record.hash
    with pytest.raises(AlreadyClaimed):
        log.append(claiming(begun=record.hash))


def test_one_batch_cannot_claim_twice(log: SqlDecisionLog) -> None:
    with pytest.raises(AlreadyClaimed):
        log.append_all([claiming("x"), claiming("x")])
    with pytest.raises(AlreadyClaimed):
        log.append(claiming("x", "x"))
    assert log.head().seq == 0


@pytest.mark.parametrize(
    "claim", ["", " x", "x\n", "\u00e9", "x" * 1001, "approval a b", "begun " + "0" * 64]
)
def test_a_claim_is_one_line_that_is_free_to_be_made(claim: str) -> None:
    with pytest.raises(ValidationError):
        claiming(claim)


@pytest.mark.parametrize("shared", [True, False], ids=["one_object", "own_objects"])
def test_of_many_rivals_one_makes_it(place: LogPlace, shared: bool) -> None:
    log = SqlDecisionLog.open(place)

    def rival(number: int) -> int:
        mine = log if shared else SqlDecisionLog.open(place)
        try:
            return mine.append(claiming("x", f"own {number}", number=number)).seq
        except AlreadyClaimed:
            return 0

    with ThreadPoolExecutor(8) as pool:
        won = [seq for seq in pool.map(rival, range(8)) if seq]
    assert won == [1]
    assert len(list(log.all_claims())) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE claims SET seq = 9",
        "DELETE FROM claims",
        "INSERT INTO claims VALUES ('x', 9)",
    ],
)
def test_claims_are_only_added(log: SqlDecisionLog, place: LogPlace, sql: str) -> None:
    log.append(claiming("x"))
    with pytest.raises(integrity_errors(), match=r"append-only|UNIQUE|duplicate key"):
        query(place, sql)
    assert list(log.all_claims()) == [("x", 1)]


def test_a_claim_is_not_replaced(tmp_path: Path) -> None:
    log = SqlDecisionLog.open(tmp_path / "log")
    log.append(claiming("x"))
    with pytest.raises(integrity_errors(), match="append-only"):
        query(tmp_path / "log", "INSERT OR REPLACE INTO claims VALUES ('x', 9)")
    assert list(log.all_claims()) == [("x", 1)]
