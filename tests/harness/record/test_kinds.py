"""What is recorded beside decisions is drafted when it is built, once and as it was."""

from typing import Any

import pytest

from harness.record import CriticError
from harness.record.record_kinds import _Entry
from tests.harness.log.decisions import NOON


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
