"""Retries: how often a step may be tried, and judging only once what all of its calls sent."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Final

from evals.canonical import canonical_json
from evals.run import ToolCall

MOST_RETRIES: Final = 10
"""How often a step may be tried again: as often as patient client libraries do by default."""


class RepeatedCalls:
    """Judges what calls sent, and what is sent again for the same step only once.

    Many retries of a step that pins or demands much cost what they send, not what the step says
    times their number. A step is judged as often as it may be tried; what is sent after that
    counts as faulty, unless it was judged before.
    """

    def __init__(self) -> None:
        self._positions = count()
        self._judged: dict[tuple[int, str, str, bytes], tuple[int, bool]] = {}
        self._times = Counter[int]()

    def faults(self, call: ToolCall, judge: Callable[[], Iterable[str]]) -> Iterator[str]:
        """Yield what `judge` says of the call. Ask once for each call of a run, in order."""
        position = next(self._positions)
        sent = (call.step, call.adapter_id, call.capability_id, canonical_json(call.args))
        if sent in self._judged:
            first, faulty = self._judged[sent]
            yield from [f"lacks evidence as call {first} does"] if faulty else []
        elif self._times[call.step] > MOST_RETRIES:
            yield "is not judged: its step was tried too often with other args"
        else:
            self._times[call.step] += 1
            faults = list(judge())
            self._judged[sent] = (position, bool(faults))
            yield from faults
