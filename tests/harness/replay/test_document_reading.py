"""What is read of a log beside its records."""

from types import SimpleNamespace
from typing import Any, get_args

import pytest

from harness.record.drafts import begun_claim
from harness.replay.document_reading import claims_for
from harness.replay.result import RecordKind


class Claims:
    """A log that keeps every claim."""

    def stored(self, digests: Any) -> dict[str, bytes]:
        return dict.fromkeys(digests, b"")

    def claims(self, claims: Any) -> dict[str, int]:
        return dict.fromkeys(claims, 1)

    def named(self, hashes: Any) -> dict[str, Any]:
        return dict.fromkeys(hashes)


@pytest.mark.parametrize("kind", get_args(RecordKind))
def test_it_is_asked_what_ended_a_record_that_a_decision_can_end(kind: str) -> None:
    """The decision may be many pages behind it, and so not be asked about with it."""
    document: Any = SimpleNamespace(raw=SimpleNamespace(hash="h"), kind=kind, claims=("own",))
    log: Any = Claims()
    ends = {begun_claim("h"): 1} if kind in ("begun", "settled") else {}
    assert claims_for(log, [document]) == {"own": 1, **ends}
