"""The counters of the service, for Prometheus. No text of a request becomes a label."""

from importlib.metadata import PackageNotFoundError, version
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from critic import RULESET_VERSION, Refused, ScoreVerdict, Verified

METRICS_TYPE: Final = CONTENT_TYPE_LATEST

_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class ServiceMetrics:
    """The counters of one service."""

    def __init__(self) -> None:
        """Begin to count."""
        own = self._registry = CollectorRegistry()
        self.requests: Final = Counter(
            "critic_requests", "Requests answered.", ("route", "status"), registry=own
        )
        self.seconds: Final = Histogram(
            "critic_request_seconds",
            "Seconds from the first byte of a request to its answer.",
            ("route",),
            buckets=_BUCKETS,
            registry=own,
        )
        self.in_progress: Final = Gauge(
            "critic_requests_in_progress", "Requests being answered.", registry=own
        )
        self.sessions: Final = Gauge("critic_open_sessions", "Sessions open.", registry=own)
        self.rulings: Final = Counter(
            "critic_rulings", "Rulings on batches of calls.", ("action",), registry=own
        )
        self._verdicts: Final = Counter(
            "critic_verdicts", "Verdicts on plans and runs.", ("of", "verdict"), registry=own
        )
        self.errors: Final = Counter(
            "critic_errors", "Requests that the critic failed at; none was allowed.", registry=own
        )
        about = Gauge("critic_build", "This version.", ("version", "ruleset"), registry=own)
        about.labels(_version(), RULESET_VERSION).set(1)

    def count_verdict(self, verdict: Verified | Refused | ScoreVerdict) -> None:
        """Count a verdict: of `verify` by its kind."""
        if isinstance(verdict, ScoreVerdict):
            self._verdicts.labels("score", "ok" if verdict.ok else "refused").inc()
        else:
            self._verdicts.labels("verify", verdict.kind if not verdict.ok else "ok").inc()

    def text(self) -> bytes:
        """Return all of it in the Prometheus text format."""
        return generate_latest(self._registry)


def _version() -> str:
    try:
        return version("plan-critic")
    except PackageNotFoundError:
        return "unknown"
