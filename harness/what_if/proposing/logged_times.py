"""When the results of a logged session came, as far as its records and a policy tell. Pure.

No record says when a result came. The next turn says when what was seen of it expires, and the
policy how long it is fresh: so it came as long before, if that is between the events around it.

Rule 1: where the log contradicts the policy, a result came at any time between the events around
        it. Then its session is not told if it depends on that whether something had expired.
Rule 2: nor is a session told of which a turn knew the result of a call whose turn had not ended:
        results are recorded when their turn ends.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from critic.late.settled_context import count_items
from critic.session.session_rules import CALL_ID
from evals.run import ToolCall
from evals.timestamps import format_time, parse_time
from harness.policy.envelopes import Policy

Json = dict[str, Any]

NO_TIMES: Final = (
    "what was seen expired, and when it came is told with --policy FILE alone: no record says how "
    "long it was fresh"
)
"""The note on sessions that are told without a policy."""


class _Told(NamedTuple):
    """An event since the last turn; of a result, how many items it made, and its freshness."""

    event: Json
    items: int = 0
    fresh: timedelta | None = None


class _Expiry(NamedTuple):
    """What a result showed expired at one of these times: not before the first."""

    first: datetime
    last: datetime


class ResultTimes:
    """Finds the times of the results of a session, turn by turn."""

    def __init__(self, policy: Policy | None) -> None:
        """Begin with a session; without a policy, no time is found."""
        tools = () if policy is None else policy.tool
        self._fresh: Final = {tool.pair: tool.expires_after_s for tool in tools}
        self.begin_life()

    def begin_life(self) -> None:
        """Begin another life of the session: nothing of what was seen before comes along."""
        self._told: list[_Told] = []
        self._turn: datetime | None = None
        self._seen = 0
        self._expiries: list[_Expiry] = []

    def add(self, event: Json) -> None:
        """Add an event between two turns."""
        self._told.append(_Told(event))

    def add_result(self, event: Json, call: ToolCall, step: Json) -> None:
        """Add the result of the call of a step, whose time is not known yet."""
        seconds = self._fresh.get((step["adapter_id"], step["capability_id"]))
        fresh = None if seconds is None else timedelta(seconds=seconds)
        # What another call returned is left out, and says that it is.
        items = 1 if "sent" in event else count_items(call)
        self._told.append(_Told(event, items, fresh))

    def begin_turn(self, ctx: Json, items: Sequence[Json]) -> str | None:
        """Give the results since the last turn their times, as far as they are known.

        Args:
            items: what was seen before this turn.

        Returns:
            Why it is not known what the session was then; None if it is.
        """
        now = parse_time(ctx["as_of"]) if "as_of" in ctx else None
        results = [one for one in items if one["id"].startswith(CALL_ID)]
        made, self._seen = results[self._seen :], len(results)
        if len(made) != sum(one.items for one in self._told):
            return "no record says which results had come by then"
        is_known = self._find_times(now, made)
        self._told, self._turn = [], now
        return None if is_known else "no record says if a result had expired by then"

    def end(self) -> bool:
        """Return whether it is known what had expired by the last events."""
        return self._find_times(None, [])

    def _find_times(self, now: datetime | None, made: Sequence[Json]) -> bool:
        left, time, is_known = iter(made), self._turn, True
        for at, one in enumerate(self._told):
            own = [item for _, item in zip(range(one.items), left, strict=False)]
            told = one.event.get("as_of")
            if told is not None:
                time = parse_time(told)
                is_known &= self._is_known_at(time)
            elif one.fresh is not None and time is not None:
                following = next(self._times_after(at), now)
                came = _came_at(own, one.fresh)
                if came is not None and time <= came <= (following or came):
                    one.event["as_of"], time = format_time(came), came
                elif following is not None:
                    self._expiries.append(_Expiry(time + one.fresh, following + one.fresh))
        return is_known and (now is None or self._is_known_at(now))

    def _times_after(self, at: int) -> Iterator[datetime]:
        return (
            parse_time(one.event["as_of"]) for one in self._told[at + 1 :] if "as_of" in one.event
        )

    def _is_known_at(self, time: datetime) -> bool:
        return not any(one.first <= time < one.last for one in self._expiries)


def _came_at(items: Sequence[Json], fresh: timedelta) -> datetime | None:
    """Return when a result came, by when what was seen of it expires; None if nothing says so."""
    ends = {item.get("expires_at") for item in items}
    end = ends.pop() if len(ends) == 1 else None
    return None if end is None else parse_time(end) - fresh
