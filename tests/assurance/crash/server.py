"""A log on a PostgreSQL server: writers that are killed, and a server that dies under them."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from harness.log.log_errors import LogUnavailable
from harness.log.sql import SqlDecisionLog
from harness.record import Decision
from tests.assurance.crash.check import READY, Told, Writer, afterwards, row_of, tell, told_in
from tests.assurance.row import Row
from tests.harness.log.decisions import KINDS, decision
from tests.support.postgres import PostgresServer

_LONGEST: Final = 0.15  # seconds from ready to the kill: some appends
_BATCH: Final = 3
_ROUNDS: Final = 3  # for each log

_Kill = Callable[[PostgresServer, list[Writer], random.Random], None]


def killed_writers_of_a_server(server: PostgresServer, *, quick: bool) -> Row:
    """Kill one to four writers at once, at any time, several rounds for each log."""
    chance, told = random.Random(4), Counter[str]()  # noqa: S311 - when to kill, no secret
    problems = [
        problem
        for _ in range(1 if quick else 40)
        for problem in _rounds(server, chance, told, _kill_writers)
    ]
    note = f"{told['told']} records told, {told['killed']} writers killed"
    return row_of("crash: killed writers of a server", "rounds", problems, note)


def killed_servers(server: PostgresServer, *, quick: bool) -> Row:
    """Let the server, or one of its processes, die while one to four writers append."""
    chance, told = random.Random(5), Counter[str]()  # noqa: S311 - when to kill, no secret
    problems = [
        problem
        for _ in range(1 if quick else 40)
        for problem in _rounds(server, chance, told, _kill_server)
    ]
    ends = ", ".join(f"{count} {name}" for name, count in sorted(told.items()) if name != "told")
    note = f"{told['told']} records told; writers ended by {ends}"
    return row_of("crash: killed servers", "rounds", problems, note)


def _rounds(
    server: PostgresServer, chance: random.Random, told: Counter[str], kill: _Kill
) -> list[str]:
    url, known, most, problems = server.url(), Told(), 0, list[str]()
    SqlDecisionLog.open(url).close()
    for _ in range(_ROUNDS):
        given = decision(chance.randint(1, 99), kind=chance.choice(KINDS))
        count, batch = chance.randint(1, 4), chance.randint(1, _BATCH)
        writers = [Writer.start(_write, url, given, batch) for _ in range(count)]
        for writer in writers:
            writer.wait_until_ready()
        time.sleep(chance.uniform(0, _LONGEST))
        kill(server, writers, chance)
        problems.append(_judged(writers, known, told))
        most += batch * count
        server.wait_until_ready()
        problems[-1] = problems[-1] or afterwards(url, known, url, most + _ROUNDS)
    return problems


def _kill_writers(_server: PostgresServer, writers: list[Writer], _: random.Random) -> None:
    for writer in writers:
        writer.process.kill()


def _kill_server(server: PostgresServer, writers: list[Writer], chance: random.Random) -> None:
    """End the whole server without any order, or one of its processes."""
    if chance.random() < 0.5:
        server.stop(signal.SIGQUIT)
        server.start()
        return
    with server.until_it_recovers():
        busy = server.do("SELECT pid FROM pg_stat_activity WHERE application_name = 'plan-critic'")
        for (process,) in busy[: chance.randint(1, len(writers))]:
            with suppress(ProcessLookupError):  # the first of them takes the others with it
                os.kill(process, signal.SIGKILL)


def _judged(writers: list[Writer], known: Told, told: Counter[str]) -> str:
    """Return what is wrong with the ends of the writers; add what they were told."""
    problem = ""
    for writer in writers:
        lines = writer.said()
        known |= told_in(lines)
        told["told"] += len(told_in(lines))
        killed = writer.process.exitcode == -signal.SIGKILL
        last = "killed" if killed else (lines or [""])[-1]
        told[last if not last[:1].isdigit() else "nothing"] += 1
        if not killed and (writer.process.exitcode or not last.startswith("Log")):
            problem = f"a writer ended with {writer.process.exitcode}: {last}"
    return problem


def _write(url: str, given: Decision, batch: int, fd: int) -> None:
    try:
        log = SqlDecisionLog.open(url)
        os.write(fd, READY)
        while True:
            tell(fd, *log.append_all([given] * batch))
    except LogUnavailable as error:
        os.write(fd, READY + f"{type(error).__name__}\n".encode())
