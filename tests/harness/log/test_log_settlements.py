"""Who knows how an execution ended ends it, whatever stands for it now, and once."""

from pathlib import Path
from typing import Any

import pytest

from harness.log import SqlDecisionLog
from harness.record import AlreadyClaimed, Begun, BegunRecord
from harness.record.record_kinds import CarriedOn, Settled
from harness.replay import replay
from harness.wire import parse
from tests.harness.log.decisions import NOON, judged, proposal, run_of

CHAINS = ["", "c", "s", "cs"]
"""What was recorded of an execution since it began: it came along, or a person settled it."""


def begin(log: SqlDecisionLog, number: int) -> tuple[BegunRecord, Any]:
    begun = Begun(proposal=proposal(number), begun_at=NOON)
    return log.begin(begun), begun.snapshot.row


def lengthen(log: SqlDecisionLog, begun: BegunRecord, row: Any, chain: str) -> list[str]:
    """Record a chain of what stands for an execution, and return the hashes."""
    names, latest = [begun.hash], begun
    for kind in chain:
        entry: Any = CarriedOn(latest, row)
        if kind == "s":
            entry = Settled(latest, row, "unknown", "ada", "I looked", NOON)
        (sealed,) = log.append_all([entry])
        names.append(sealed.hash)
        latest = latest if kind == "s" else parse(BegunRecord, sealed.body)
    return names


@pytest.mark.parametrize("other", ["", "cs"])
@pytest.mark.parametrize("chain", CHAINS)
def test_a_decision_ends_what_stands_for_its_execution_now(
    tmp_path: Path, chain: str, other: str
) -> None:
    with SqlDecisionLog.open(tmp_path / "log") as log:
        first, row = begin(log, 1)
        second, row_of_second = begin(log, 2)
        names = lengthen(log, first, row, chain)
        of_second = lengthen(log, second, row_of_second, other)
        settled = {one.hash for one, had in ((first, chain), (second, other)) if had[-1:] == "s"}
        assert log.find_settled([first.hash, second.hash]) == settled

        ending = judged(proposal(1), run_of(proposal(1), 1), begun=first.hash)
        record = log.append(ending)
        assert record.begun == names[-1]
        assert log.find_settled([first.hash, second.hash]) == settled - {first.hash}
        head = log.head()
        with pytest.raises(AlreadyClaimed):
            log.append(ending)
        assert log.head() == head
        assert log.append(judged(proposal(2), begun=second.hash)).begun == of_second[-1]
        assert not {one.status for one in replay(log)} & {"tampered", "incomplete"} or "c" in chain


@pytest.mark.parametrize("chain", ["c", "s", "cs"])
def test_only_a_decision_ends_what_stands_and_it_claims_all_the_same(
    tmp_path: Path, chain: str
) -> None:
    """Nobody settles twice, or carries on twice, what was settled or carried on before."""
    with SqlDecisionLog.open(tmp_path / "log") as log:
        first, row = begin(log, 1)
        lengthen(log, first, row, chain)
        head = log.head()
        again: tuple[Any, ...] = (
            CarriedOn(first, row),
            Settled(first, row, "ran", "bob", "so did I", NOON),
        )
        for entry in again:
            with pytest.raises(AlreadyClaimed):
                log.append_all([entry])
        assert log.head() == head
        run = run_of(proposal(1), 1)
        ending = judged(proposal(1), run, begun=first.hash, claims=("state 1", "state 2"))
        seq = log.append(ending).seq
        assert log.claims(["state 1", "state 2"]) == {"state 1": seq, "state 2": seq}
        for claim in ("state 1", "state 2"):
            with pytest.raises(AlreadyClaimed):
                log.append(judged(proposal(2), claims=(claim,)))
