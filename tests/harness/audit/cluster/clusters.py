"""Clusters of `dask.distributed` on loopback: processes, as the commands of dask start them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from tests.support.paths import ROOT

_MOST_SECONDS = 60
_QUIET = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0", "--no-dashboard")


class Cluster:
    """A scheduler, and workers that come and go. They log into a folder."""

    def __init__(
        self,
        folder: Path,
        security: tuple[str, ...] = (),
        path: Path = ROOT,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.folder, self._security = folder, security
        waits = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}
        self._settings = {"DASK_CONFIG": str(folder), **waits, **settings}
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start("dask_scheduler", "--port", "0", path=path)
        self.address = self._awaited("Scheduler at:")

    def start(self, command: str, *given: str, path: Path = ROOT) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **self._settings, "PYTHONPATH": str(path)}
        line = [sys.executable, "-m", f"distributed.cli.{command}", *given, *_QUIET]
        with (self.folder / "output").open("ab") as output:
            return subprocess.Popen(
                [*line, *self._security],
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def work(self, count: int = 1, path: Path = ROOT) -> None:
        """Start workers with one thread each."""
        given = ("--no-nanny", "--nthreads", "1", "--local-directory", str(self.folder))
        before = self._output().count("Registered to:")
        for _ in range(count):
            self.workers.append(self.start("dask_worker", self.address, *given, path=path))
        self._until(lambda: self._output().count("Registered to:") >= before + count)

    def kill_workers(self) -> None:
        for process in self.workers:
            process.kill()
            process.wait()

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            with suppress(OSError):
                process.kill()
            process.wait()

    def _output(self) -> str:
        return (self.folder / "output").read_text("utf-8", "replace")

    def _awaited(self, words: str) -> str:
        self._until(lambda: words in self._output())
        return self._output().partition(words)[2].split()[0]

    def _until(self, done: Callable[[], bool]) -> None:
        until = time.monotonic() + _MOST_SECONDS
        while not done():
            assert time.monotonic() < until, self._output()[-2000:]
            time.sleep(0.05)


@contextmanager
def cluster(
    folder: Path,
    workers: int = 2,
    security: tuple[str, ...] = (),
    path: Path = ROOT,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Cluster]:
    """Start a cluster, its scheduler with what `path` holds, and end it."""
    started = Cluster(folder, security, path, settings)
    try:
        if workers:
            started.work(workers)
        yield started
    finally:
        started.stop()
