"""A PostgreSQL server for tests: of its own, in a temporary folder, on a Unix socket.

The server refuses to run as root, so it runs as the user `postgres`, or else `nobody`, if root
starts it. It ends with the process that started it, however that ends.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

_PLACES: Final = ("/usr/lib/postgresql", "/usr/pgsql", "/opt/homebrew/opt", "/usr/local/opt")
_SECONDS: Final = 60.0  # to start or stop
OWNER: Final = "critic_owner"
"""The user that owns the logs. It is a superuser of the server of the tests."""


class NoServer(Exception):
    """No server can be had. The message says why."""


class PostgresServer:
    """A running server. Each log has a schema of its own in one database."""

    def __init__(self, folder: Path, programs: Path, user: str | None) -> None:
        """Take a folder that belongs to `user` and is empty; None is the user of this process."""
        self.folder = folder
        self._programs, self._user = programs, user
        self._process: subprocess.Popen[bytes] | None = None
        self._numbers = count(1)

    def make(self, *, syncs: bool) -> Self:
        """Make the files of the server. It is faster where it need not survive a loss of power."""
        options = ["-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._do("initdb", "-D", str(self._data), *options)
        settings = [
            "listen_addresses = ''",
            f"unix_socket_directories = '{self.folder}'",
            f"fsync = {'on' if syncs else 'off'}",
            "shared_buffers = 32MB",
            "max_connections = 90",
        ]
        with (self._data / "postgresql.conf").open("a") as file:
            file.write("\n".join(settings) + "\n")
        checked = "local all critic_checked scram-sha-256\n"
        access = self._data / "pg_hba.conf"
        access.write_text(checked + access.read_text())
        return self

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        command = [str(self._programs / "postgres"), "-D", str(self._data)]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._as_user(command, "--pdeathsig", "QUIT"),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Return when it takes connections, which it may have to recover for."""
        import psycopg  # noqa: PLC0415 - of an extra

        for _ in range(int(_SECONDS / 0.05)):
            with suppress(psycopg.OperationalError):
                psycopg.connect(self.url("public")).close()
                return
            if self._process is None or self._process.poll() is not None:
                break
            time.sleep(0.05)
        raise NoServer(f"the server does not start: {(self.folder / 'server.log').read_text()}")

    @contextmanager
    def until_it_recovers(self) -> Iterator[None]:
        """Wait until it has noticed that one of its processes was killed, and takes connections."""
        import psycopg  # noqa: PLC0415 - of an extra

        with closing(psycopg.connect(self.url("public"), autocommit=True)) as watching:
            yield
            with suppress(psycopg.Error):  # as soon as it is noticed, every connection ends
                for _ in range(int(_SECONDS / 0.01)):
                    watching.execute("SELECT")
                    time.sleep(0.01)
        self.wait_until_ready()

    def stop(self, by: signal.Signals = signal.SIGINT) -> None:
        """Stop it and wait for its end: at once and orderly, or as if it had crashed (SIGQUIT)."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(by)
        self._process.wait(_SECONDS)
        self._process = None

    def url(self, schema: str | None = None, **more: str) -> str:
        """Return the URL of a schema; of a new one, if none is named."""
        if schema is None:
            schema = f"log_{os.getpid()}_{next(self._numbers)}"
            self.do(f"CREATE SCHEMA {schema}")
        options = {"host": str(self.folder), "options": f"-csearch_path={schema}"}
        user, database = more.pop("user", OWNER), more.pop("database", "postgres")
        query = "&".join(f"{name}={quote(value, '')}" for name, value in (options | more).items())
        return f"postgresql://{user}@/{database}?{query}"

    @property
    def environment(self) -> Mapping[str, str]:
        """Return what names the server to every program that uses libpq."""
        return {"PGHOST": str(self.folder), "PGUSER": OWNER, "PGDATABASE": "postgres"}

    def disconnect_logs(self) -> None:
        """End the connections of logs that nobody closed."""
        self.do(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'plan-critic'"
        )

    def do(self, *statements: str) -> list[tuple[Any, ...]]:
        """Carry out statements as the owner, and return the rows of the last."""
        return pg_rows(self.url("public"), *statements)

    def _do(self, program: str, *arguments: str) -> None:
        command = self._as_user([str(self._programs / program), *arguments])
        done = subprocess.run(command, cwd=self.folder, check=False, capture_output=True, text=True)
        if done.returncode:
            raise NoServer(f"{program} failed: {done.stderr.strip()[-500:]}")

    def _as_user(self, command: list[str], *options: str) -> list[str]:
        who = [f"--reuid={self._user}", "--init-groups"] if self._user else []
        if self._user:
            who.append(f"--regid={pwd.getpwnam(self._user).pw_gid}")
        switch = shutil.which("setpriv")
        return [switch, *who, *options, *command] if switch else command


def pg_rows(url: str, *statements: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
    """Carry out statements over a connection of their own, and return the rows of the last."""
    import psycopg  # noqa: PLC0415 - of an extra

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement.encode(), values or None)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def postgres_server(*, syncs: bool = False) -> Iterator[PostgresServer]:
    """Run a server as long as it is used.

    Raises:
        NoServer: the programs are not installed, or nobody may run them.
    """
    programs, user = _programs(), _user()
    folder = Path(tempfile.mkdtemp(prefix="critic-pg-", dir="/tmp"))
    try:
        if user:
            entry = pwd.getpwnam(user)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
        server = PostgresServer(folder, programs, user).make(syncs=syncs)
        try:
            server.start()
            yield server
        finally:
            server.stop(signal.SIGQUIT)  # its files are thrown away
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    """Return the folder of the newest server that is installed."""
    found = [path for place in _PLACES for path in Path(place).glob("*/bin/initdb")]
    if on_path := shutil.which("initdb"):
        found.append(Path(on_path).resolve())
    found = [path for path in found if path.with_name("postgres").exists()]
    if not found:
        raise NoServer("PostgreSQL is not installed: apt-get install postgresql")
    with suppress(ImportError):
        import psycopg  # noqa: F401, PLC0415

        return max(found, key=_version).parent
    raise NoServer("psycopg is not installed: pip install 'plan-critic[postgres]'")


def _version(program: Path) -> int:
    name = program.parent.parent.name
    return int(name) if name.isdecimal() else 0


def _user() -> str | None:
    """Return the user to run the server as; None for that of this process."""
    if os.geteuid():
        return None
    if not shutil.which("setpriv"):
        raise NoServer("the server refuses to run as root, and setpriv is not installed")
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
