"""What is recorded beside decisions is drafted when it is built, once and as it was."""

from typing import Any

import pytest

from harness.record import CriticError, Head
from harness.record.drafts import begun_claim
from harness.record.record_kinds import CarriedOn, _Entry
from tests.harness.log.decisions import NOON
from tests.harness.record.every_kind import BEGUN, begun_record


def test_a_failure_of_the_critic_is_drafted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drafted: list[Any] = []
    draft = CriticError._draft_record

    def counted(error: CriticError, held: Any) -> Any:
        drafted.append(error)
        return draft(error, held)

    monkeypatch.setattr(CriticError, "_draft_record", counted)
    error = CriticError(asked={"a": [1]}, where="x", failed_at=NOON)
    assert isinstance(error, _Entry)
    assert drafted == [error]
    assert error.snapshot.members["asked"] == b'{"a":[1]}'


def test_what_a_failure_was_asked_is_recorded_as_it_was() -> None:
    error = CriticError(asked={"a": [1]}, where="x", failed_at=NOON)
    error.asked["a"] = object()
    assert error.snapshot.members["asked"] == b'{"a":[1]}'
    del error.__dict__["snapshot"]
    with pytest.raises(ValueError, match="/asked"):
        _ = error.snapshot


@pytest.mark.parametrize("rotations", [1, 2, 3])
def test_an_execution_that_goes_along_is_named_by_its_first_record(rotations: int) -> None:
    first = latest = begun_record()
    for number in range(rotations):
        entry = CarriedOn(latest, BEGUN.snapshot.row)
        used = [one.claim for one in BEGUN.approvals]
        assert entry.snapshot.claims == (begun_claim(first.hash), *used)
        latest = begun_record(entry, Head(number, f"{number}" * 64))
        assert latest.begun == first.hash != latest.hash
        assert (latest.inputs, latest.permit, latest.approvals, latest.begun_at) == (
            first.inputs,
            first.permit,
            first.approvals,
            first.begun_at,
        )
