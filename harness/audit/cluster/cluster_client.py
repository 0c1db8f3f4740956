"""Replay a log on a cluster of `dask.distributed`. The answers are those of one process.

Tested with distributed 2026.8. Workers get records and not paths: they share no files.

Rule 1: no more than a few parcels for each thread of a worker are on their way, nor more than a
        bound of bytes: memory is flat, whatever the log and the cluster hold.
Rule 2: a worker that dies has answered nothing of its parcel: the scheduler gives it to another.
Rule 3: an answer counts only if a worker has the code of this process, and answers for each record
        that it was given. What an answer says of a record is believed: workers are trusted.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from time import monotonic, sleep
from typing import Any, Final, NamedTuple, TypeGuard
from uuid import uuid4

from harness.audit.cluster.cluster_worker import InstalledCode, installed_code, pack_parcel
from harness.errors import HarnessError, escape_text
from harness.record import Head
from harness.record.integrity import Link
from harness.replay.parcels import Parcel
from harness.replay.replay_pool import WorkersDied
from harness.replay.stretches import AnsweredStretch

_AHEAD: Final = 3  # parcels for each thread of a worker that are replayed or wait for their turn
_MOST_AHEAD: Final = 512
_MOST_BYTES: Final = 64 * 1024 * 1024  # of parcels on their way
_CONNECT_SECONDS: Final = 10.0
_WORKER_SECONDS: Final = 30.0  # to wait for a worker, at the start and when all have gone
_LOOK_SECONDS: Final = 2.0  # between two looks whether there is a worker
_CLOSE_SECONDS: Final = 2.0
_WARNING: Final = "distributed.admin.large-graph-warning-threshold"
_LOGGERS: Final = ("distributed", "distributed.client", "tornado.application", "asyncio")


class ClusterLost(HarnessError):
    """The scheduler cannot be reached, went away, or has no worker."""


class WorkersDiffer(HarnessError):
    """A worker cannot replay as this process does: it has other code, or lacks some."""


class _Sent(NamedTuple):
    """A parcel on its way, and what is checked of its answer."""

    future: Any
    numbers: list[int]
    link: Link
    place: str
    size: int


class ReplayCluster:
    """Workers that replay parcels of one log, behind a scheduler that runs already."""

    def __init__(self, scheduler: str, *, expected: Head | None = None) -> None:
        """Take the address of the scheduler, `tcp://host:port` or `tls://host:port`.

        Args:
            scheduler: the address. What TLS needs comes from the configuration of dask.
            expected: as for `Replayer`.
        """
        self._address, self._expected = scheduler, expected
        self._where = f"the scheduler at {escape_text(scheduler)}"
        self._replay_id, self._task = uuid4().hex, _task()
        self._count = 0
        self._sent: deque[_Sent] = deque()
        self._failed: HarnessError | None = None
        self._client: Any = None

    def replay_parcels(self, parcels: Iterator[Parcel]) -> Iterator[AnsweredStretch]:
        """Yield the answers for the parcels, in their order.

        Raises:
            ClusterLost: the scheduler or all its workers are gone.
            WorkersDiffer: a worker has other code than this process.
            WorkersDied: a parcel cost several workers.
            harness.log.log_errors.LogError: the log cannot be read any further.
        """
        with _quiet():
            try:
                self._connect()
                yield from self._answer_parcels(parcels)
            finally:
                self._close()

    def _connect(self) -> None:
        given = {"timeout": _CONNECT_SECONDS, "set_as_default": False}
        if self._address.startswith("tls:"):
            self._require_certificates()
        try:
            self._client = _import_distributed().Client(self._address, **given)
        except Exception as error:
            raise ClusterLost(
                f"{self._where} cannot be reached ({_error_text(error)}): start it, or replay "
                "with --jobs"
            ) from None

    def _require_certificates(self) -> None:
        """Check what TLS needs: a client without it would try for long, and print why it failed."""
        reason = "none are configured"
        try:
            context = _import_distributed().Security().get_connection_args("client")["ssl_context"]
        except Exception as error:
            context, reason = None, _error_text(error)
        if context is None:
            raise ClusterLost(
                f"{self._where} needs certificates ({reason}): name their files in the "
                "configuration of dask, as DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT"
            )

    def _answer_parcels(self, parcels: Iterator[Parcel]) -> Iterator[AnsweredStretch]:
        while True:
            room = self._room() if self._failed is None else 0
            while len(self._sent) < room and self._held_bytes() < _MOST_BYTES:
                if not self._send(parcels):
                    break
            if not self._sent:
                break
            yield self._take_answer(self._sent[0])
            self._sent.popleft()
        if self._failed is not None:
            raise self._failed

    def _held_bytes(self) -> int:
        return sum(one.size for one in self._sent)

    def _room(self) -> int:
        """Return how many parcels may be on their way. Wait for a worker if there is none."""
        until = monotonic() + _WORKER_SECONDS
        while not (threads := self._threads()):
            if monotonic() > until:
                raise self._without_workers()
            sleep(min(_LOOK_SECONDS, 0.2))
        return min(threads * _AHEAD, _MOST_AHEAD)

    def _threads(self) -> int:
        with self._errors():
            return sum(self._client.nthreads().values())

    def _send(self, parcels: Iterator[Parcel]) -> bool:
        """Send the next parcel, if there is one. An error of the log waits for its turn."""
        try:
            parcel = next(parcels, None)
        except HarnessError as error:
            self._failed = error
            return False
        if parcel is None:
            return False
        data = pack_parcel(parcel, self._expected)
        with self._errors():
            future = self._submit_task(data)
        self._sent.append(_Sent(future, parcel.numbers, parcel.link, parcel.place, len(data)))
        return True

    def _submit_task(self, data: bytes) -> Any:
        key = f"critic-replay-{self._replay_id}-{self._count}"
        self._count += 1
        # A record with all that it names is sent as a whole, whatever its size.
        with import_module("dask").config.set(
            {"distributed.admin.large-graph-warning-threshold": "1TB"}
        ):
            return self._client.submit(
                self._task, data, tuple(installed_code()), self._replay_id, key=key, pure=False
            )

    def _take_answer(self, sent: _Sent) -> AnsweredStretch:
        with self._errors(sent):
            answered = self._wait_for(sent.future)
        if isinstance(answered, InstalledCode):
            raise WorkersDiffer(
                f"a worker of {self._where} has other code, so its answers would be those of "
                f"another version: {installed_code().difference(answered)}"
            )
        if not _is_for(answered, sent):
            raise WorkersDiffer(
                f"a worker of {self._where} did not answer for {sent.place} as they were sent: "
                "replay with --jobs"
            )
        return AnsweredStretch(answered.answers, sent.link)

    def _wait_for(self, future: Any) -> object:
        """Wait for what a task returns, as long as there is a worker."""
        seconds, until = _LOOK_SECONDS, None
        while True:
            try:
                return future.result(timeout=seconds)
            except TimeoutError:
                if future.status == "error":
                    raise
            # An answer that is there is fetched: the way to it may be slow.
            seconds = seconds * 2 if future.status == "finished" else _LOOK_SECONDS
            if self._threads():
                until = None
            elif until is None:
                until = monotonic() + _WORKER_SECONDS
            elif monotonic() > until:
                raise self._without_workers()

    def _without_workers(self) -> ClusterLost:
        return ClusterLost(
            f"{self._where} has no worker: start one with `dask worker`, and give the same command "
            "again (with --resume FILE a replay continues where it stopped)"
        )

    @contextmanager
    def _errors(self, sent: _Sent | None = None) -> Iterator[None]:
        """Turn the errors of a cluster into those of the harness."""
        try:
            yield
        except HarnessError:
            raise
        except _import_distributed().KilledWorker as error:
            place = "some records" if sent is None else sent.place
            raise WorkersDied(
                f"{error.allowed_failures + 1} workers ended at {place}: give them more memory, or "
                "replay with --jobs 1"
            ) from None
        except Exception as error:
            if sent is not None and sent.future.status == "error":
                raise WorkersDiffer(
                    f"a worker of {self._where} cannot replay ({_error_text(error)}): install "
                    "there what "
                    "is installed here"
                ) from None
            raise ClusterLost(
                f"{self._where} went away ({_error_text(error)}): give the same command again "
                "when it is "
                "back (with --resume FILE a replay continues where it stopped)"
            ) from None

    def _close(self) -> None:
        self._sent.clear()
        if self._client is not None:
            with suppress(Exception):  # it has gone already, and so have its tasks
                self._client.close(timeout=_CLOSE_SECONDS)


def _import_distributed() -> Any:
    """Return the library: an extra, slow to load, and without types."""
    return import_module("distributed")


def _task() -> Callable[[bytes, tuple[Any, ...], str], object]:
    """Return what workers run.

    A function within a function is sent as its code, not as a name to import. So the scheduler
    needs nothing of this project, and a worker that lacks it can say so.
    """

    def replay_there(data: bytes, client: tuple[Any, ...], replay_id: str) -> object:
        from harness.audit.cluster.cluster_worker import InstalledCode, replay_packed  # noqa: PLC0415

        return replay_packed(data, InstalledCode(*client), replay_id)

    return replay_there


def _is_for(answered: object, sent: _Sent) -> TypeGuard[AnsweredStretch]:
    """Return whether an answer is for each record that was sent, and leads to the next parcel."""
    if not isinstance(answered, AnsweredStretch) or answered.error is not None:
        return False
    numbers = [one.replayed.seq for one in answered.answers]
    return numbers == sent.numbers and answered.link == sent.link


def _error_text(error: Exception) -> str:
    text = escape_text(str(error).strip().partition("\n")[0])
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@contextmanager
def _quiet() -> Iterator[None]:
    """Hold back what the libraries log: errors are raised, in one line."""
    _import_distributed()  # it sets the levels when it is loaded
    levels = {name: logging.getLogger(name).level for name in _LOGGERS}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
