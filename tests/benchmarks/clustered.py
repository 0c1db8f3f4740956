"""What replay on a cluster takes: CPU time of a record, in all its processes, over that of a pool.

Rule 1: the start of the command is left out: it is in both of two logs that are compared.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from tests.benchmarks.logs import filled
from tests.benchmarks.startup import critic_command, of_children
from tests.benchmarks.timing import Cost, Row, Unbuilt
from tests.harness.audit.cluster.clusters import Cluster

_NAME: Final = "critic replay --scheduler, a record"
_UNIT: Final = "the same with --jobs 2"
_LIMIT: Final = 1.5
_MANY: Final = 3000
_FEW: Final = 300


def cluster_rows(folder: Path) -> list[Row | Unbuilt]:
    """Return the row, or that it is not measured."""
    if find_spec("distributed") is None:
        return [Unbuilt(_NAME, _UNIT, _LIMIT, "pip install 'plan-critic[dask]'")]
    logs = {count: str(folder / f"clustered_{count}.db") for count in (_MANY, _FEW)}
    for count, path in logs.items():
        filled(Path(path), count).close()
    replay = [*critic_command(), "replay"]
    jobs = {count: of_children([*replay, path, "--jobs", "2"]) for count, path in logs.items()}
    cluster = _started()
    there = ["--scheduler", cluster.address]
    clients = {count: of_children([*replay, path, *there]) for count, path in logs.items()}
    workers = _processes(cluster)
    spread = {count: _with(client, workers) for count, client in clients.items()}
    return [Row(_NAME, _UNIT, _LIMIT, _of_record(spread), _of_record(jobs))]


def _started() -> Cluster:
    """Start a scheduler and two workers, which end with this process."""
    folder = Path(tempfile.mkdtemp(prefix="cluster"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    cluster = Cluster(folder)
    atexit.register(cluster.stop)
    cluster.work(2)
    return cluster


def _processes(cluster: Cluster) -> Callable[[], float]:
    """Return what tells the CPU seconds of the scheduler and its workers so far."""
    psutil = import_module("psutil")  # comes with distributed
    processes = [psutil.Process(one.pid) for one in (cluster.scheduler, *cluster.workers)]

    def used() -> float:
        times = [one.cpu_times() for one in processes]
        return float(sum(one.user + one.system for one in times))

    return used


def _with(client: Cost, used: Callable[[], float]) -> Cost:
    def cost(batch: int) -> float:
        before = used()
        return client(batch) + (used() - before) * 1e9

    return cost


def _of_record(costs: dict[int, Cost]) -> Cost:
    return lambda batch: (costs[_MANY](batch) - costs[_FEW](batch)) / (_MANY - _FEW)
