"""Where `critic replay` replays: in this process, in several, or on a cluster."""

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Final

from harness.errors import UsageError, escape_text
from harness.log.sql import SqlDecisionLog
from harness.record import Head
from harness.record.integrity import START, Link
from harness.replay.engine import Replayer
from harness.replay.stretches import AnsweredStretch, replay_batches, stretches

Engine = Callable[
    [argparse.Namespace, SqlDecisionLog, Replayer, Link, Head | None], Iterator[AnsweredStretch]
]
"""Answers for a log after a link, for a head that is expected."""

_ADDRESS: Final = re.compile(r"(tcp|tls)://([^\s/:\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}")


def engine_of(args: argparse.Namespace) -> Engine:
    """Return the engine that the options name. All give the same answers.

    Raises:
        UsageError: the options do not fit each other, or its library is not installed.
    """
    if args.scheduler is None:
        return in_this_process if args.jobs == 1 else _in_processes
    if args.jobs != 1:
        raise UsageError("--scheduler: the cluster has workers of its own: leave out --jobs")
    if not _ADDRESS.fullmatch(args.scheduler):
        shown = escape_text(args.scheduler)
        raise UsageError(f"--scheduler {shown}: write it as tcp://HOST:PORT or tls://HOST:PORT")
    try:
        import_module("distributed")  # an extra, and slow to load
    except ImportError:
        raise UsageError(
            "--scheduler needs dask.distributed: pip install 'plan-critic[dask]'"
        ) from None
    return _on_cluster


def in_this_process(
    _args: argparse.Namespace,
    log: SqlDecisionLog,
    replayer: Replayer,
    before: Link,
    _expected: Head | None,
) -> Iterator[AnsweredStretch]:
    """Replay in this process, stretch by stretch."""
    return replay_batches(log, replayer, _number_after(before))


def _in_processes(
    args: argparse.Namespace,
    log: SqlDecisionLog,
    _replayer: Replayer,
    before: Link,
    expected: Head | None,
) -> Iterator[AnsweredStretch]:
    from harness.replay.replay_pool import ReplayPool  # noqa: PLC0415 - loads what starts processes

    pool = ReplayPool(
        partial(SqlDecisionLog.open_for_reading, os.fspath(args.log)),
        args.jobs,
        expected=expected,
        on_death=lambda message: sys.stderr.write(f"critic: {message}\n"),
    )
    return pool.replay_stretches(stretches(log, _number_after(before)))


def _on_cluster(
    args: argparse.Namespace,
    log: SqlDecisionLog,
    _replayer: Replayer,
    before: Link,
    expected: Head | None,
) -> Iterator[AnsweredStretch]:
    from harness.audit.cluster.cluster_client import ReplayCluster  # noqa: PLC0415 - an extra, and slow to load
    from harness.replay.parcels import parcels  # noqa: PLC0415

    cluster = ReplayCluster(args.scheduler, expected=expected)
    return cluster.replay_parcels(parcels(log, before, _number_after(before)))


def _number_after(before: Link) -> int | None:
    return before.seq if before.seq > START.seq else None
