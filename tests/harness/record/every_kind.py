"""An entry of every kind, each with all that it may have."""

from typing import Any, Final

from evals.context import SentValues, Spent
from harness.record import Begun, CriticError, used_approvals
from harness.record.chain import Head, seal_record
from harness.record.record_kinds import BegunRecord, CarriedOn, Settled
from harness.record.redactions import Redacted
from harness.record.rotation import (
    CarriedSession,
    HandedOver,
    OldHead,
    SessionClosed,
    SessionReopened,
    TakenOver,
)
from harness.wire import parse
from tests.harness.log.decisions import NOON, decision, judged
from tests.harness.runtime.test_beginning import approved

HASH: Final = "b" * 64
CARRIED: Final = CarriedSession(
    policy_digest="p",
    spent=Spent(steps=2),
    sent=(SentValues(seq=1, values=("ada@example.com",)),),
    asked=1,
    denied=("a",),
    has_halted=False,
)
BEGUN: Final = Begun(
    proposal=approved({}, {}), approvals=used_approvals(approved({}, {})), begun_at=NOON
)


def begun_record(entry: Any = BEGUN, before: Head = Head(3, "c" * 64)) -> BegunRecord:  # noqa: B008
    """Return the record of a beginning in its place."""
    return parse(BegunRecord, seal_record(entry.snapshot, before).body)


EVERY_ENTRY: Final[dict[str, Any]] = {
    **{kind: decision(kind=kind) for kind in ("completed", "refused", "partial", "ended_early")},
    "ending": judged(BEGUN.proposal, begun=HASH, claims=("state 1", "state 2")),
    "begun": BEGUN,
    "settled": Settled(begun_record(), BEGUN.snapshot.row, "ran", "ada", "I looked", NOON),
    "critic_error": CriticError(asked={"a": [1]}, where="x", failed_at=NOON, trace_id="t"),
    "closed": SessionClosed("t", 2, CARRIED, NOON, ("session closed 1", "session closed 2")),
    "reopened": SessionReopened("t", HASH, 2, 3, NOON, ("session opened 1",)),
    "handed_over": HandedOver(NOON),
    "taken_over": TakenOver(OldHead(seq=4, hash=HASH), 1, ("a", "b"), (HASH,), NOON),
    "carried_on": CarriedOn(begun_record(), BEGUN.snapshot.row),
    "redacted": Redacted((HASH,), "ada", "the law", NOON),
}
"""By names; several of a kind that has several forms."""
