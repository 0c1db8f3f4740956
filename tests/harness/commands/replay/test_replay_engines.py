"""Replay in this process, in several and on a cluster: answers, order and exit status are the same.

The cluster is real: a scheduler and two workers, each a process of its own, on loopback.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.commands.replay import replay_command as command
from harness.log.sql import SqlDecisionLog
from harness.replay import parcels, stretches
from tests.harness.audit.cluster.clusters import Cluster, cluster
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import decision, filled, meddle
from tests.harness.replay.session_logs import SESSION_LOGS
from tests.harness.replay.test_stretches import DAMAGES, MANY, mixed
from tests.support.effort import sampled
from tests.support.examples import HOSTILE, is_safe

ENGINES = sampled(["one process", "a pool", "a cluster"], one_in=3)
"""`test_jobs_and_resume_change_no_answer` starts a pool in the default run."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    pytest.importorskip("distributed", reason="the cluster needs plan-critic[dask]")
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> list[str]:
    """Return the options of an engine."""
    if request.param == "a cluster":
        return ["--scheduler", request.getfixturevalue("running").address]
    return ["--jobs", "2"] if request.param == "a pool" else []


@pytest.fixture(autouse=True)
def in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 3)
    monkeypatch.setattr(parcels, "_RECORDS", 3)


def _damaged(path: Path, seed: int) -> None:
    mixed(path)
    random = Random(seed)  # noqa: S311 - repeatable
    for damage in random.sample(DAMAGES, k=seed % 4):
        try:
            damage(path, random.randint(1, MANY))
        except (IndexError, ValueError):  # another damage took or spoilt this record
            continue


def _hostile(path: Path) -> None:
    """Make a log whose rows and inputs hold texts that do harm where they are printed or parsed."""
    filled(path, 9).close()
    bodies = [HOSTILE.encode(), b"\x80\x04N.", b"[" * 5000, b'{"seq":1e999,"inputs":{"plan":1}}']
    for number, body in enumerate(bodies, 2):
        meddle(path, ("UPDATE records SET body = ? WHERE seq = ?", (body, number)))
    meddle(
        path,
        ("UPDATE records SET hash = ? WHERE seq = 8", (HOSTILE,)),
        ("UPDATE inputs SET body = ? WHERE rowid % 3 = 0", (HOSTILE.encode(),)),
    )


LOGS: dict[str, Callable[[Path], object]] = {
    **{f"damaged {seed}": partial(_damaged, seed=seed) for seed in range(8)},
    "hostile": _hostile,
    "empty": lambda path: filled(path, 0).close(),
    **{f"session {kind}": SESSION_LOGS[kind] for kind in [*SESSION_LOGS][::4]},
}


@pytest.mark.parametrize("kind", sampled(LOGS, one_in=20))
def test_every_engine_gives_the_same_answers_and_status(
    critic: Critic, tmp_path: Path, kind: str, engine: list[str]
) -> None:
    LOGS[kind](tmp_path / "log")
    # Each starts a pool or sends work; `test_jobs_and_resume_change_no_answer` has all pairs.
    for more in ((), ("--head", f"9:{'1' * 64}", "--format", "json")):
        asked = "replay", tmp_path / "log", *more
        said = critic(*asked, *engine)
        assert said == critic(*asked)
        assert all(is_safe(line) for line in said.out.splitlines())


def _interrupted(patch: pytest.MonkeyPatch, count: int) -> None:
    """Let Ctrl-C come after so many answers."""

    def answers_until(answers: Iterator[Any], *_: object) -> Iterator[Any]:
        yield from islice(answers, count)
        for _answer in islice(answers, 1):
            raise KeyboardInterrupt

    patch.setattr(command, "with_progress", answers_until)


@pytest.mark.parametrize("count", sampled([4, 0, 10], one_in=3))
def test_every_engine_goes_on_where_another_was_interrupted(
    critic: Critic,
    tmp_path: Path,
    engine: list[str],
    count: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _damaged(tmp_path / "log", 3)
    resumable = "replay", tmp_path / "log", "--format", "json", "--resume", tmp_path / "state"
    whole = critic(*resumable)
    for first_engine, then in ((engine, ()), ((), engine)):
        with monkeypatch.context() as patch:
            _interrupted(patch, count)
            first = critic(*resumable, *first_engine)
        rest = critic(*resumable, *then)
        assert (first.status, first.err, rest.status) == (130, "", whole.status)
        assert first.lines == whole.lines[:count]
        assert rest.lines == whole.lines[len(whole.lines) - len(rest.lines) :]
        assert 0 <= len(first.lines) + len(rest.lines) - len(whole.lines) <= 4


def _since(path: Path, seq: int) -> str:
    with SqlDecisionLog.open_for_reading(path) as log:
        return next(f"{seq}:{raw.hash}" for raw in log.raw(seq))


@pytest.mark.parametrize("seq", sampled([4, 1, 8], one_in=3))
def test_what_comes_after_a_checked_record_is_answered_as_in_the_whole(
    critic: Critic, tmp_path: Path, engine: list[str], seq: int
) -> None:
    kind = next(iter(SESSION_LOGS))
    for make in (SESSION_LOGS[kind], lambda path: filled(path, 9).close()):
        path = tmp_path / f"log {make.__name__}"
        make(path)
        whole = critic("replay", path, "--format", "json")
        since = critic("replay", path, "--format", "json", "--since", _since(path, seq), *engine)
        assert (since.status, since.lines) == (whole.status, whole.lines[seq:])


def test_records_before_the_checked_one_are_believed_and_said_to_be(
    critic: Critic, tmp_path: Path
) -> None:
    filled(tmp_path / "log", 6).close()
    since = _since(tmp_path / "log", 4)
    genesis = critic("replay", tmp_path / "log", "--since", f"0:{'0' * 64}")
    meddle(tmp_path / "log", ("UPDATE records SET hash = 'x' WHERE seq = 2", ()))
    said = critic("replay", tmp_path / "log", "--since", since)
    assert critic("replay", tmp_path / "log").status == 1
    assert (said.status, said.err) == (0, "")
    assert said.lines[-1].startswith("2 records after record 4: 2 same, 0 drift")
    assert genesis.lines[-1].startswith("6 records after record 0: 6 same")


@pytest.mark.parametrize("text", ["", "4", f"4:{'x' * 64}", HOSTILE, f"-1:{'1' * 64}"])
def test_since_is_a_number_and_a_hash(critic: Critic, tmp_path: Path, text: str) -> None:
    filled(tmp_path / "log", 3).close()
    said = critic("replay", tmp_path / "log", f"--since={text}")
    assert (said.status, said.out) == (2, "")
    assert "--since: write it as" in said.err


@pytest.mark.parametrize("seq", [2, 3, 99])
def test_since_a_record_that_the_log_does_not_hold_is_refused(
    critic: Critic, tmp_path: Path, seq: int
) -> None:
    filled(tmp_path / "log", 3).close()
    said = critic("replay", tmp_path / "log", "--since", f"{seq}:{'1' * 64}")
    assert (said.status, said.out) == (2, "")
    assert f"the log does not hold record {seq} with that hash" in said.err


def test_a_state_is_of_one_start(critic: Critic, tmp_path: Path) -> None:
    filled(tmp_path / "log", 6).close()
    state, since = tmp_path / "state", _since(tmp_path / "log", 2)
    state.write_text('{"seq":0,"hashes":[],"counts":{}}')
    said = critic("replay", tmp_path / "log", "--resume", state, "--since", since)
    assert (said.status, said.out) == (2, "")
    assert "it is of a replay with another --since" in said.err


ADDRESSES = ("", "127.0.0.1:8786", "inproc://x", "http://h:1", "tcp://h", "tcp://h:1/x", HOSTILE)


@pytest.mark.parametrize("address", ADDRESSES)
def test_the_address_of_a_scheduler_has_one_form(
    critic: Critic, tmp_path: Path, address: str
) -> None:
    filled(tmp_path / "log", 1).close()
    assert _refused(critic("replay", tmp_path / "log", f"--scheduler={address}"), "write it as tcp")


def test_a_cluster_has_its_own_workers(critic: Critic, tmp_path: Path) -> None:
    filled(tmp_path / "log", 1).close()
    asked = "replay", tmp_path / "log", "--scheduler", "tcp://127.0.0.1:1", "--jobs", "2"
    assert _refused(critic(*asked), "leave out --jobs")


def test_without_its_library_it_says_what_to_install(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path / "log", 1).close()
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = critic("replay", tmp_path / "log", "--scheduler", "tcp://127.0.0.1:1")
    assert _refused(said, "pip install 'plan-critic[dask]'")


def _refused(said: Said, words: str) -> bool:
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("critic: ")
    assert is_safe(said.err.removesuffix("\n"))
    return words in said.err


@pytest.mark.slow
def test_a_log_of_large_records_is_sent_in_parcels_of_their_own(
    critic: Critic, tmp_path: Path, running: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parcels, "_BYTES", 2000)
    with SqlDecisionLog.open(tmp_path / "log") as log:
        log.append_all(decision(number) for number in range(1, 12))
    said = critic("replay", tmp_path / "log", "--scheduler", running.address)
    assert said == critic("replay", tmp_path / "log")
