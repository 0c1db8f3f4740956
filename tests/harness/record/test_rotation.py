"""What goes along where a log ends and another one begins: all of it, once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.record import rotation
from harness.record.drafts import HANDED_OVER
from harness.record.rotation import HandedOver, OldHead, taken_over
from tests.harness.log.decisions import NOON
from tests.harness.record.every_kind import EVERY_ENTRY, HASH

OLD = OldHead(seq=4, hash=HASH)


@given(claims=st.integers(0, 9), sessions=st.integers(0, 9), together=st.integers(1, 4))
def test_every_claim_and_every_session_goes_along_once(
    claims: int, sessions: int, together: int
) -> None:
    names = [f"approval {number} x" for number in range(claims)]
    keys = [f"{number:064x}" for number in range(sessions)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rotation, "_TOGETHER", together)
        entries = taken_over(OLD, iter(names), iter(keys), NOON)
    assert [one for entry in entries for one in entry.claims] == names
    assert [one for entry in entries for one in entry.sessions] == keys
    assert {entry.of for entry in entries} == {len(entries)}
    assert max(len(one.claims) for one in entries) <= together
    assert max(len(one.sessions) for one in entries) <= together
    for entry in entries:
        assert entry.snapshot.claims == tuple(entry.claims)


@pytest.mark.parametrize("kind", ["closed", "reopened", "taken_over"])
def test_what_an_entry_claims_is_in_its_record_and_claimed_of_the_log(kind: str) -> None:
    entry: Any = EVERY_ENTRY[kind]
    assert entry.claims
    drafted = entry.snapshot
    assert drafted.claims == tuple(entry.claims)
    for one in entry.claims:
        assert f'"{one}"'.encode() in drafted.members["claims"]


def test_a_log_ends_once() -> None:
    assert HandedOver(NOON).snapshot.claims == (HANDED_OVER,)
