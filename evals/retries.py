"""Retries: how often a step may be tried, and judging only once what all of its calls sent."""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Final, TypeAlias

from evals.canonical_json import canonical_json
from evals.run import ToolCall

MOST_RETRIES: Final = 10
"""How often a step may be tried again: as often as patient client libraries do by default."""


_Sent: TypeAlias = tuple[str, str, bytes]
"""Adapter, capability and the canonical args of a call."""
_Outcome: TypeAlias = tuple[int, bool]
"""The position of a call, and whether it was faulty."""


class RepeatedCalls:
    """Judges what calls sent, and what is sent again for the same step only once.

    Many retries of a step that pins or demands much cost what they send, not what the step says
    times their number. A step is judged as often as it may be tried; what is sent after that
    counts as faulty, unless it was judged before.
    """

    def __init__(self) -> None:
        self._positions = count()
        self._first: dict[int, tuple[ToolCall, _Outcome]] = {}
        self._judged: dict[int, dict[_Sent, _Outcome]] = {}

    def faults(self, call: ToolCall, judge: Callable[[], Iterable[str]]) -> list[str]:
        """Return what `judge` says of the call. Ask once for each call of a run, in order."""
        position, at = next(self._positions), call.step
        if at not in self._first:  # nothing to compare with: most steps have no other call
            faults = list(judge())
            self._first[at] = call, (position, bool(faults))
            return faults
        sent, judged = _sent_call(call), self._judged_of(at)
        if sent in judged:
            first, faulty = judged[sent]
            return [f"lacks evidence as call {first} does"] if faulty else []
        if len(judged) > MOST_RETRIES:
            return ["is not judged: its step was tried too often with other args"]
        faults = list(judge())
        judged[sent] = (position, bool(faults))
        return faults

    def _judged_of(self, step: int) -> dict[_Sent, _Outcome]:
        """Return what was judged of a step that has been called, by what was sent."""
        if step not in self._judged:
            first, outcome = self._first[step]
            self._judged[step] = {_sent_call(first): outcome}
        return self._judged[step]


def _sent_call(call: ToolCall) -> _Sent:
    return call.adapter_id, call.capability_id, canonical_json(call.args)
