"""Show rulings and scores in OpenTelemetry: as evaluation events, and on the span around a ruling.

Tested with opentelemetry-sdk 1.45.2, by the conventions of opentelemetry-semantic-conventions
0.66b2. They are in development: every name that is taken from them stands in `EVENT_NAMES`.

Shown: every ruling of the guard, what it would have enforced in a shadow, failures of the critic,
the scores of each batch that ended, and how a session ended. Not shown: arguments and results. A
reason may name values of arguments: `explain=False` leaves reasons out.
Telemetry is not the record: what fails here changes no ruling. Keep a decision log for that.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.integrations.otel.observed_guard import (
        CONVENTIONS,
        CRITIC_NAMES,
        EVENT_NAMES,
        ObservedGuard,
    )

__all__ = [
    "CONVENTIONS",
    "CRITIC_NAMES",
    "EVENT_NAMES",
    "ObservedGuard",
]

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.integrations.otel.observed_guard": (
                "CONVENTIONS CRITIC_NAMES EVENT_NAMES ObservedGuard"
            ),
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
