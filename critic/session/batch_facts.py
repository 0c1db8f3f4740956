"""What a batch has beside its plan: what was done before it, and what is derived from it."""

from collections.abc import Container
from threading import Lock
from typing import Any, Final, NamedTuple

from critic.prepared import CallKey
from critic.session.sent_log import SentLog
from critic.session.session_evidence import Trail
from critic.session.session_values import OwnKey
from evals.context import ApprovedValue


class Past(NamedTuple):
    """The acts of a session and the approvals of a person, to look things up in.

    Attributes:
        made: the destructive calls.
        own: the things that calls made.
        approved: the values that a person approved, of approvals that hold.
        sent: what calls sent.
    """

    made: Container[CallKey]
    own: Container[OwnKey]
    approved: tuple[ApprovedValue, ...]
    sent: SentLog


class SeenBefore(NamedTuple):
    """What a session saw and did before a plan, with its indexes: the context of the plan says so.

    Attributes:
        trail: the evidence of the plan, each item with a `seq` if it has a source.
        past: what the session did; None where only the context says so.
    """

    trail: Trail
    past: Past | None = None


class Derived:
    """A place for what is derived from a batch: the batches that go on from it share the place.

    What lies there may be of any of them. Whoever uses it has it alone.
    """

    __slots__ = ("lock", "value")

    def __init__(self) -> None:
        """Begin with nothing."""
        self.lock: Final = Lock()
        self.value: Any = None
