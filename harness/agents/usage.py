"""Usage and budgets: tokens and money, of which what was not measured is absent."""

from typing import Annotated, Final, Literal, Self

from evals.envelope import OPTIONAL, Count, Envelope
from evals.json_value import SAFE_INTEGER

Limit = Literal["max_tokens", "max_cost_micros"]


class Usage(Envelope):
    """Tokens and money (micros of a currency) of calls to models; absent is not measured."""

    tokens_in: Annotated[Count | None, OPTIONAL] = None
    tokens_out: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None

    @property
    def tokens(self) -> int | None:
        """In and out together."""
        return _sum(self.tokens_in, self.tokens_out)


NO_USAGE: Final = Usage(tokens_in=0, tokens_out=0, cost_micros=0)
"""The usage of no call at all, where every sum begins."""


def add_usage(a: Usage, b: Usage) -> Usage:
    """Both together. Sums stop at 2^53 - 1, where every reader of JSON is still exact."""
    sums = {
        "tokens_in": _sum(a.tokens_in, b.tokens_in),
        "tokens_out": _sum(a.tokens_out, b.tokens_out),
        "cost_micros": _sum(a.cost_micros, b.cost_micros),
    }
    return Usage(**{name: value for name, value in sums.items() if value is not None})


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a + b, SAFE_INTEGER)


class Budget(Envelope):
    """What may be spent. A call is made only while less than every limit has been spent."""

    max_tokens: Annotated[Count | None, OPTIONAL] = None
    max_cost_micros: Annotated[Count | None, OPTIONAL] = None

    def exceeded_by(self, usage: Usage) -> Limit | None:
        """The limit that forbids another call, if any. What was not measured is spent."""
        for limit, allowed, spent in self._limits(usage):
            if allowed is not None and (spent is None or spent >= allowed):
                return limit
        return None

    def nears(self, usage: Usage) -> bool:
        """Whether four fifths of a limit are spent."""
        limits = self._limits(usage)
        return any(most and (spent or 0) * 5 >= most * 4 for _, most, spent in limits)

    def after(self, usage: Usage) -> Self:
        """What is left for the next call: of an exceeded limit, nothing."""
        left = {
            limit: max(0, allowed - (allowed if spent is None else spent))
            for limit, allowed, spent in self._limits(usage)
            if allowed is not None
        }
        return type(self)(**left)

    def _limits(self, usage: Usage) -> tuple[tuple[Limit, int | None, int | None], ...]:
        return (
            ("max_tokens", self.max_tokens, usage.tokens),
            ("max_cost_micros", self.max_cost_micros, usage.cost_micros),
        )


UNLIMITED: Final = Budget()
