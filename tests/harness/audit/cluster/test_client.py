"""A cluster that fails: nothing is lost, one line says why, and the replay goes on afterwards."""

import pickle
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed", reason="the cluster needs plan-critic[dask]")

from harness.audit.cluster import cluster_client as clustering
from harness.audit.cluster import cluster_worker
from harness.audit.cluster.cluster_client import ReplayCluster
from harness.commands.replay import replay_command as command
from harness.log import SqlDecisionLog
from harness.record.integrity import START
from harness.replay import parcels as packing
from harness.replay.parcels import Parcel, parcels
from tests.harness.audit.cluster.clusters import Cluster, cluster
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import filled
from tests.support.examples import is_safe
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

MANY = 60
NO_SECOND_TRY = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "log"
    filled(path, MANY).close()
    return path


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_RECORDS", 2)
    monkeypatch.setattr(clustering, "_CONNECT_SECONDS", 2)
    monkeypatch.setattr(clustering, "_WORKER_SECONDS", 1)
    monkeypatch.setattr(clustering, "_LOOK_SECONDS", 0.5)


def after_answers(
    monkeypatch: pytest.MonkeyPatch, count: int, happens: Callable[[], object]
) -> None:
    """Let something happen after so many answers."""

    def answers_with(answers: Iterator[Any], *_: object) -> Iterator[Any]:
        for number, answer in enumerate(answers, 1):
            yield answer
            if number == count:
                happens()

    monkeypatch.setattr(command, "with_progress", answers_with)


def failed(said: Said, *words: str) -> bool:
    assert said.status == 2
    assert said.err.startswith("critic: ")
    assert is_safe(said.err.removesuffix("\n")), said.err
    return all(one in said.err for one in words)


def test_a_worker_that_dies_loses_nothing(
    critic: Critic, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = critic("replay", log, "--format", "json")
    with cluster(tmp_path) as mortal:
        after_answers(monkeypatch, 6, mortal.workers[0].kill)
        said = critic("replay", log, "--format", "json", "--scheduler", mortal.address)
    assert said == whole


def test_when_all_workers_die_the_answers_so_far_are_kept_and_it_goes_on(
    critic: Critic, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = critic("replay", log, "--format", "json")
    with cluster(tmp_path) as mortal:
        there = "--resume", tmp_path / "state", "--scheduler", mortal.address
        asked = "replay", log, "--format", "json", *there
        with monkeypatch.context() as patch:
            after_answers(patch, 6, mortal.kill_workers)
            said = critic(*asked)
        assert failed(said, "has no worker: start one with `dask worker`", "--resume")
        assert failed(critic(*asked), "has no worker")
        mortal.work()
        rest = critic(*asked)
    assert goes_on(said, rest, whole)


def test_when_the_scheduler_dies_the_answers_so_far_are_kept_and_it_goes_on(
    critic: Critic, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = critic("replay", log, "--format", "json")
    asked = "replay", log, "--format", "json", "--resume", tmp_path / "state"
    with cluster(tmp_path) as mortal:
        with monkeypatch.context() as patch:
            after_answers(patch, 6, mortal.scheduler.kill)
            said = critic(*asked, "--scheduler", mortal.address)
        assert failed(said, f"the scheduler at {mortal.address} went away", "--resume")
        again = critic(*asked, "--scheduler", mortal.address)
    assert failed(again, f"the scheduler at {mortal.address} cannot be reached")
    assert goes_on(said, critic(*asked), whole)


def goes_on(first: Said, rest: Said, whole: Said) -> bool:
    """Return whether two replays that are parts of one gave all its answers, few of them twice."""
    assert first.lines == whole.lines[: len(first.lines)]
    assert rest.lines == whole.lines[len(whole.lines) - len(rest.lines) :]
    repeated = len(first.lines) + len(rest.lines) - len(whole.lines)
    return 6 <= len(first.lines) < MANY and 0 <= repeated <= 2 and rest.status == whole.status


def _deadly(*_: object) -> bytes:
    """Return what ends the process that unpickles it."""
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    return b"cbuiltins\nexec\n(V" + code.encode() + b"\ntR."


def test_records_that_kill_every_worker_are_an_error(
    critic: Critic, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clustering, "pack_parcel", _deadly)
    with cluster(tmp_path, 1, settings=NO_SECOND_TRY) as mortal:
        said = critic("replay", log, "--scheduler", mortal.address)
    assert failed(said, "1 workers ended at records 1 to 2: give them more memory")


def test_a_worker_with_other_code_is_refused(critic: Critic, log: Path, tmp_path: Path) -> None:
    for package in ("critic", "evals", "harness"):
        shutil.copytree(ROOT / package, tmp_path / "other" / package)
    with (tmp_path / "other" / "critic" / "verify.py").open("a") as source:
        source.write("# another line\n")
    with cluster(tmp_path, 0) as other:
        other.work(path=tmp_path / "other")
        said = critic("replay", log, "--scheduler", other.address)
    assert said.out == ""
    assert failed(said, "has other code, so its answers would be those of another version")


def test_a_worker_without_the_code_is_refused_and_a_scheduler_needs_none(
    critic: Critic, log: Path, tmp_path: Path
) -> None:
    (tmp_path / "none" / "harness").mkdir(parents=True)
    (tmp_path / "none" / "harness" / "__init__.py").write_text("")
    with cluster(tmp_path, 0, path=tmp_path / "none") as other:
        other.work(path=tmp_path / "none")
        said = critic("replay", log, "--scheduler", other.address)
        assert said.out == ""
        assert failed(said, "cannot replay (ModuleNotFoundError", "install there what is installed")
        other.kill_workers()
        other.work()
        assert critic("replay", log, "--scheduler", other.address) == critic("replay", log)


def test_another_version_is_refused(
    critic: Critic, log: Path, running: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = cluster_worker.installed_code()
    newer = newer._replace(versions=(("plan-critic", "99.0"), *newer.versions[1:]))
    monkeypatch.setattr(clustering, "installed_code", lambda: newer)
    said = critic("replay", log, "--scheduler", running.address)
    assert failed(said, "it has plan-critic ", "here is 99.0")


@pytest.mark.parametrize("kind", ["fewer rows", "another link"])
def test_an_answer_that_is_not_for_what_was_sent_is_refused(
    critic: Critic, log: Path, running: Cluster, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def altered(parcel: Parcel, expected: Any) -> bytes:
        if kind == "fewer rows":
            return cluster_worker.pack_parcel(parcel._replace(rows=parcel.rows[:1]), expected)
        rows = (parcel.rows[0], parcel.rows[1]._replace(hash="1" * 64))
        return cluster_worker.pack_parcel(parcel._replace(rows=rows), expected)

    monkeypatch.setattr(clustering, "pack_parcel", altered)
    said = critic("replay", log, "--scheduler", running.address)
    assert said.out == ""
    assert failed(said, "did not answer for records 1 to 2 as they were sent")


def test_few_parcels_and_bytes_are_on_their_way(
    log: Path, running: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = 0

    def counted(given: Iterator[Parcel]) -> Iterator[Parcel]:
        nonlocal taken
        for parcel in given:
            taken += 1
            yield parcel

    for most_bytes, ahead in ((10**9, 2 * clustering._AHEAD), (1, 1)):
        monkeypatch.setattr(clustering, "_MOST_BYTES", most_bytes)
        taken = 0
        with SqlDecisionLog.open_for_reading(log) as opened:
            batches = ReplayCluster(running.address).replay_parcels(
                counted(parcels(opened, START, None))
            )
            for turn, _batch in enumerate(batches, 1):
                assert taken <= turn - 1 + ahead
        assert taken == MANY / 2


def test_a_scheduler_that_is_not_there_is_said(critic: Critic, log: Path) -> None:
    said = critic("replay", log, "--scheduler", "tcp://127.0.0.1:1")
    assert said.out == ""
    assert failed(said, "the scheduler at tcp://127.0.0.1:1 cannot be reached", "--jobs")


def test_certificates_that_are_missing_are_said_at_once(
    critic: Critic, log: Path, tmp_path: Path
) -> None:
    dask = pytest.importorskip("dask")
    asked = "replay", log, "--scheduler", "tls://127.0.0.1:1"
    assert failed(critic(*asked), "needs certificates (none are configured)")
    none = str(tmp_path / "none.pem")
    names = ("ca-file", "client.cert", "client.key")
    with dask.config.set({f"distributed.comm.tls.{name}": none for name in names}):
        assert failed(critic(*asked), "needs certificates (FileNotFoundError", "configuration")


def _certificate(folder: Path) -> tuple[str, str]:
    """Make a key and a certificate of it that is its own authority, as files."""
    x509 = pytest.importorskip("cryptography.x509")
    hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a cluster")])
    now = datetime.now(UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    made = made.public_key(key.public_key()).serial_number(x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    pem = serialization.Encoding.PEM
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, *plain))
    signed = made.sign(key, hashes.SHA256())
    (folder / "certificate.pem").write_bytes(signed.public_bytes(pem))
    return str(folder / "certificate.pem"), str(folder / "key.pem")


def test_with_tls_only_who_has_a_key_is_answered(critic: Critic, log: Path, tmp_path: Path) -> None:
    certificate, key = _certificate(tmp_path)
    files = ("--tls-ca-file", certificate, "--tls-cert", certificate, "--tls-key", key)
    dask = pytest.importorskip("dask")
    settings = {
        "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": certificate,
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": certificate,
        "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": key,
    }
    with cluster(tmp_path, 1, files) as secured:
        assert secured.address.startswith("tls://")
        asked = "replay", log, "--scheduler", secured.address
        assert failed(critic(*asked), "needs certificates (none are configured)")
        with pytest.MonkeyPatch.context() as patch:
            for name, value in settings.items():
                patch.setenv(name, value)
            dask.config.refresh()
            said = critic(*asked)
        dask.config.refresh()
    assert said == critic("replay", log)


def test_what_a_worker_gets_is_pickled_and_holds_no_path(log: Path) -> None:
    with SqlDecisionLog.open_for_reading(log) as opened:
        data = cluster_worker.pack_parcel(next(parcels(opened, START, None)), None)
    assert str(log).encode() not in data
    assert isinstance(pickle.loads(data)[0], Parcel)  # noqa: S301
