"""Two instances of `critic serve` on one log in PostgreSQL, of which one is killed in the middle.

Many agents at once act in sessions of their own. Each event goes to either instance, by chance.
Where no answer comes, an agent sends the event again, to the other. It makes a call whenever it is
told that it may. Held against:

- each call of each session has its effect once, and each effect was on record as begun before it;
- what was answered is on record, every session is closed, and replay says same of all records.
"""

import json
import random
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Lock
from typing import Any, Final, NamedTuple

import httpx

from harness.log.sql import SqlDecisionLog
from harness.record import BegunRecord, DecisionRecord
from harness.replay import replay
from tests.assurance.row import Row, all_held
from tests.harness.serve.asking import ServiceProcess, event_path, serving
from tests.support.guarding import Json, asking_desk
from tests.support.postgres import PostgresServer

_QUICK, _FULL = 24, 1000
_AT_ONCE: Final = 16
_CALLS: Final[tuple[tuple[str, Json], ...]] = (("list_mail", {}), ("shred", {"name": "old.pdf"}))
"""The calls of each session, in their order. A person is asked about what is shredded."""
_EVENTS: Final = 7  # of a session, where every answer comes
_TRIES: Final = 20
_SECONDS: Final = 60


class _Lost(NamedTuple):
    """No answer came: nobody knows what the event did."""

    status_code: int = 0


class _Instances:
    """The instances. One is killed once half of the events were answered."""

    def __init__(self, services: list[ServiceProcess], sessions: int) -> None:
        self._services: Final = services
        self._left = sessions * _EVENTS // 2
        self._lock: Final = Lock()
        self.answered = Counter[int]()
        self.lost = 0
        limits = httpx.Limits(max_connections=_AT_ONCE)
        self._clients: Final = [one.client(timeout=_SECONDS, limits=limits) for one in services]

    def ask(self, path: str, body: Json | None, chance: random.Random) -> Any:
        """Send a request to either instance, and return its answer; `_Lost` without one."""
        at = chance.randrange(2)
        try:
            if body is None:
                found = self._clients[at].get(path)
            else:
                found = self._clients[at].post(path, content=json.dumps(body))
        except httpx.TransportError as error:
            with self._lock:  # what it did not take has no outcome that nobody knows
                self.lost += not isinstance(error, httpx.ConnectError)
            return _Lost()
        with self._lock:
            self.answered[at] += 1
            self._left -= 1
            if self._left == 0:
                self._services[0].process.send_signal(signal.SIGKILL)
        return found

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients:
            client.close()


class _Agent:
    """Makes the calls of one session, each whenever it is told that it may."""

    def __init__(self, instances: _Instances, number: int) -> None:
        self.name: Final = f"s{number}"
        self.effects: Final[list[str]] = []
        self.told: Final[list[str]] = []
        self._instances = instances
        self._chance = random.Random(number)  # noqa: S311 - chance, not a secret

    def run(self) -> None:
        """Play the session from its beginning to its end."""
        opening = {"event": "open", "request": "Shred old.pdf", "scope": ["shred"]}
        self._send(opening)
        for at, (tool, args) in enumerate(_CALLS):
            self._make_call(f"c{at}", tool, args)
        self._send({"event": "close"})

    def _make_call(self, name: str, tool: str, args: Json) -> None:
        call = {"id": name, "tool": tool, "args": args}
        ruling = self._send({"event": "calls", "calls": [call]})
        for _ in range(_TRIES):
            if ruling.get("action") == "allow":
                self._have_effect(name)
                return
            if ruling.get("action") == "ask":
                ruling = self._agree(ruling["plan_digest"])
                continue
            status = self._status()  # the answer was lost, and what was sent again came too late
            if name in status["awaited"]:
                ruling = {"action": "allow"}
            elif status.get("question"):
                ruling = self._agree(status["question"]["ruling"]["plan_digest"])
            else:
                raise AssertionError(f"{name}: {ruling}, {status}")
        raise AssertionError(f"{name}: nobody says whether it may be made")

    def _agree(self, digest: str) -> Json:
        return self._send(
            {"event": "answer", "plan_digest": digest, "yes": True, "approver": "ada"}
        )

    def _have_effect(self, name: str) -> None:
        self.effects.append(name)
        self._send({"event": "result", "id": name, "status": "completed", "output": "ok"})

    def _send(self, event: Json) -> Json:
        """Send an event until somebody answers it."""
        for _ in range(_TRIES):
            found = self._instances.ask(event_path(self.name), event, self._chance)
            if isinstance(found, _Lost) or found.status_code == 503:
                continue
            answer: Json = found.json() if found.content else {}
            if "plan_digest" in answer:
                self.told.append(answer["plan_digest"])
            return answer
        raise AssertionError(f"no answer to {event}")

    def _status(self) -> Json:
        path = event_path(self.name).replace("/events", "/status")
        for _ in range(_TRIES):
            found = self._instances.ask(path, None, self._chance)
            if not isinstance(found, _Lost) and found.status_code == 200:
                status: Json = found.json()
                return status
        raise AssertionError("nobody says where the session stands")


def killed_instances(server: PostgresServer, *, quick: bool) -> Row:
    """Play many sessions at two instances, and kill one of them in the middle."""
    count, url = _QUICK if quick else _FULL, server.url()
    SqlDecisionLog.open(url).close()
    with ExitStack() as stack:
        folder = server.folder
        (folder / "critic.json").write_text(json.dumps(asking_desk()))
        options = ("--policy", "critic.json", "--port", "0", "--log", url)
        services = [stack.enter_context(serving(*options, folder=folder)) for _ in range(2)]
        instances = _Instances(services, count)
        stack.callback(instances.close)
        agents = [_Agent(instances, number) for number in range(count)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            ends = [pool.submit(agent.run) for agent in agents]
        problems = {
            one.name: str(end.exception() or "") for one, end in zip(agents, ends, strict=True)
        }
        killed = services[0].process.wait(_SECONDS)
    problems |= {name: one for name, one in _wrong_in(url, agents).items() if one}
    wrong = [f"{name}: {one}" for name, one in problems.items() if one]
    if killed != -signal.SIGKILL or not instances.lost:
        wrong.append("no instance was killed while it was asked")
    one, other = instances.answered[0], instances.answered[1]
    note = (
        f"{one} answers of the one that was killed in {instances.lost} requests, "
        f"{other} of the one that stayed"
    )
    first = f"; first: {wrong[0]}" if wrong else ""
    return all_held("crash: killed instances", count, "sessions", len(wrong), note + first)


def _wrong_in(url: str, agents: list[_Agent]) -> dict[str, str]:
    """Return what is wrong with each session, by the effects and by the log."""
    begun: dict[str, int] = Counter()
    digests: dict[str, set[str]] = {}
    with SqlDecisionLog.open_for_reading(url) as log:
        bad = [answer for answer in replay(log) if answer.status != "same"]
        left = [*log.journaled_sessions()]
        for entry in log.entries():
            if isinstance(entry, BegunRecord):
                begun[entry.trace_id] += 1
            elif isinstance(entry, DecisionRecord):
                digests.setdefault(entry.report.trace_id, set()).add(entry.inputs.plan)
    found = {agent.name: _wrong_of(agent, begun, digests) for agent in agents}
    if bad:
        found["replay"] = f"record {bad[0].seq} is {bad[0].status}: {'; '.join(bad[0].reasons)}"
    if left:
        found["journals"] = f"{len(left)} sessions are still open"
    return found


def _wrong_of(agent: _Agent, begun: dict[str, int], digests: dict[str, set[str]]) -> str:
    if Counter(agent.effects) != Counter(f"c{at}" for at in range(len(_CALLS))):
        return f"its effects are {agent.effects}"
    if begun[agent.name] != len(agent.effects):
        return f"{len(agent.effects)} effects, {begun[agent.name]} beginnings on record"
    if not set(agent.told) <= digests[agent.name]:
        return "an answer is not on record"
    return ""
