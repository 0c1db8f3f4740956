"""The recorder of one execution: keeps every call that an executor reports, until the end.

Rule 1: what is kept is a copy. What an executor changes later does not change the record.
Rule 2: nothing is accepted and lost: after the end, a call that is reported raises.
"""

from collections.abc import Callable
from threading import Lock
from typing import Final

from critic import ToolCall
from harness.errors import HarnessError
from harness.wire import detached_copy


class ExecutionEnded(HarnessError):
    """A call was reported after its execution had ended. It is not on record."""


def _ignore(_call: object) -> None:
    """Do nothing with a call."""


class CallRecorder:
    """Takes the calls of one execution. Thread-safe."""

    def __init__(
        self,
        on_start: Callable[[int], None] = _ignore,
        on_end: Callable[[ToolCall], None] = _ignore,
    ) -> None:
        """Start to record.

        Args:
            on_start: is given the step of each call that begins.
            on_end: is given each call that was kept.
        """
        self._calls: list[ToolCall] = []
        self._lock: Final = Lock()
        self._open = True
        self._on_start: Final = on_start
        self._on_end: Final = on_end

    def begin(self, step: int) -> None:
        """Report that the call of this step is about to be made.

        Raises:
            ExecutionEnded: the execution is over: do not make the call.
        """
        with self._lock:
            self._require_open()
        self._on_start(step)

    def __call__(self, call: ToolCall) -> None:
        """Keep a call that ended.

        Raises:
            TypeError: `call` is not exactly a ToolCall.
            ValueError: the call was changed, since it was built, into something invalid.
            ExecutionEnded: the execution is over; the call is not on record.
        """
        if type(call) is not ToolCall:
            raise TypeError(f"an executor records ToolCall, not {type(call).__name__}")
        copied = detached_copy(call)
        with self._lock:
            self._require_open()
            self._calls.append(copied)
        self._on_end(copied)

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that ended so far, in the order in which they were reported."""
        with self._lock:
            return tuple(self._calls)

    def close(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order in which they were reported, and take no more."""
        with self._lock:
            self._open = False
            return tuple(self._calls)

    def _require_open(self) -> None:
        if not self._open:
            raise ExecutionEnded("the execution ended: this call is not on record")
