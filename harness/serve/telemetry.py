"""The counters of the service, for Prometheus. No text of a request becomes a label."""

from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from critic import RULESET_VERSION, Refused, ScoreVerdict, Verified
from harness.guard import Ruling
from harness.guard.open_sessions import OpenWork
from harness.rules import own_version
from harness.serve.log_faults import LOG_FAULT_KINDS

METRICS_TYPE: Final = CONTENT_TYPE_LATEST

_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


_OPEN_WORK: Final = (
    ("critic_open_sessions", "Sessions open."),
    ("critic_open_questions", "Sessions in which a person is asked."),
    ("critic_open_executions", "Batches that were allowed, of which a result is awaited."),
)
ERROR_KINDS: Final = ("internal", "timeout", *LOG_FAULT_KINDS)
"""The kinds of failures."""


class _OpenWorkCollector(Collector):
    """Tells how much is open, counted once for each answer."""

    def __init__(self, open_work: Callable[[], OpenWork]) -> None:
        self._open_work = open_work

    def collect(self) -> Iterator[Metric]:
        """Yield the gauges."""
        for (name, text), value in zip(_OPEN_WORK, self._open_work(), strict=True):
            yield GaugeMetricFamily(name, text, value)


class LogMetrics:
    """The numbers of the log of a service."""

    def __init__(self, registry: CollectorRegistry) -> None:
        """Begin to count."""
        self.head: Final = Gauge(
            "critic_log_head_seq", "Number of the last record known of the log.", registry=registry
        )
        self.append_seconds: Final = Histogram(
            "critic_log_append_seconds",
            "Seconds from an append to its acknowledgement.",
            buckets=_BUCKETS,
            registry=registry,
        )


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
        self._rulings: Final = Counter(
            "critic_rulings", "Rulings on batches of calls.", ("action", "kind"), registry=own
        )
        self._verdicts: Final = Counter(
            "critic_verdicts", "Verdicts on plans and runs.", ("of", "verdict"), registry=own
        )
        self.errors: Final = Counter(
            "critic_errors",
            "Requests that the critic failed at; none was allowed.",
            ("kind",),
            registry=own,
        )
        for kind in ERROR_KINDS:  # so that the first one is an increase
            self.errors.labels(kind)
        self.log: Final = LogMetrics(own)
        about = Gauge("critic_build", "This version.", ("version", "ruleset"), registry=own)
        about.labels(own_version(), RULESET_VERSION).set(1)

    def watch_sessions(self, open_work: Callable[[], OpenWork]) -> None:
        """Tell how much is open in sessions, whenever that is asked."""
        self._registry.register(_OpenWorkCollector(open_work))

    def count_ruling(self, ruling: Ruling) -> None:
        """Count a ruling by its action, and by the kind of its verdict."""
        verdict = ruling.verdict
        kind = "unknown_tool" if verdict is None else "ok" if verdict.ok else verdict.kind
        self._rulings.labels(ruling.action, kind).inc()

    def count_verdict(self, verdict: Verified | Refused | ScoreVerdict) -> None:
        """Count a verdict: of `verify` by its kind."""
        if isinstance(verdict, ScoreVerdict):
            self._verdicts.labels("score", "ok" if verdict.ok else "refused").inc()
        else:
            self._verdicts.labels("verify", verdict.kind if not verdict.ok else "ok").inc()

    def text(self) -> bytes:
        """Return all of it in the Prometheus text format."""
        return generate_latest(self._registry)
