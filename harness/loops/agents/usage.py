"""Usage and budgets: tokens, money and time. What was not measured is absent."""

from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import Field

from evals.envelope import OPTIONAL, RESTRICTION, Count, Envelope
from evals.json_value import SAFE_INTEGER

Limit = Literal["max_tokens", "max_cost_micros", "max_seconds"]
"""The limits of a budget, by the names of its fields."""

Seconds = Annotated[float, Field(ge=0)]
"""A time span."""


class Usage(Envelope):
    """Tokens and money (micros of a currency) of calls to models; absent is not measured."""

    tokens_in: Annotated[Count | None, OPTIONAL] = None
    tokens_out: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None

    @property
    def tokens(self) -> int | None:
        """Return the sum of input and output, or None if one of them was not measured."""
        return _sum(self.tokens_in, self.tokens_out)


NO_USAGE: Final = Usage(tokens_in=0, tokens_out=0, cost_micros=0)
"""The usage without any call: the start of every sum."""


def add_usage(a: Usage, b: Usage) -> Usage:
    """Return the sum of both. It stops at 2^53 - 1, where every reader of JSON is still exact."""
    sums = {
        "tokens_in": _sum(a.tokens_in, b.tokens_in),
        "tokens_out": _sum(a.tokens_out, b.tokens_out),
        "cost_micros": _sum(a.cost_micros, b.cost_micros),
    }
    return Usage(**{name: value for name, value in sums.items() if value is not None})


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a + b, SAFE_INTEGER)


class Budget(Envelope):
    """The limits on spending. A call is made only while less than every limit has been spent.

    `max_seconds` is wall-clock time, from the first event of a loop on. A call that is going on
    when the time is over is cancelled; tokens and money are checked between calls.
    """

    max_tokens: Annotated[Count | None, RESTRICTION] = None
    max_cost_micros: Annotated[Count | None, RESTRICTION] = None
    max_seconds: Annotated[Seconds | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self, *, max_tokens: int = ..., max_cost_micros: int = ..., max_seconds: float = ...
        ) -> None: ...

    def exceeded_by(self, usage: Usage, seconds: float = 0.0) -> Limit | None:
        """Return the limit that forbids another call, if any. What was not measured is spent."""
        for limit, allowed, spent in self._limits(usage, seconds):
            if allowed is not None and (spent is None or spent >= allowed):
                return limit
        return None

    def nearly_exceeded_by(self, usage: Usage, seconds: float = 0.0) -> bool:
        """Return whether four fifths of a limit are spent."""
        limits = self._limits(usage, seconds)
        return any(allowed and (spent or 0) * 5 >= allowed * 4 for _, allowed, spent in limits)

    def remaining_after(self, usage: Usage, seconds: float = 0.0) -> Self:
        """Return the budget of the next call: 0 for each limit that is exceeded."""
        left = {
            limit: max(0, allowed - (allowed if spent is None else spent))
            for limit, allowed, spent in self._limits(usage, seconds)
            if allowed is not None
        }
        return type(self)(**left)  # type: ignore[arg-type] # counts stay counts

    def _limits(
        self, usage: Usage, seconds: float
    ) -> tuple[tuple[Limit, float | None, float | None], ...]:
        return (
            ("max_tokens", self.max_tokens, usage.tokens),
            ("max_cost_micros", self.max_cost_micros, usage.cost_micros),
            ("max_seconds", self.max_seconds, seconds),
        )


UNLIMITED: Final = Budget()
"""A budget without any limit."""
