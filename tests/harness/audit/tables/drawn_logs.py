"""Logs of guards with drawn names, amounts and mixes, for questions with an answer to compare.

Sessions of two guards, one of which is a shadow, take turns in one log: they read notes, pay what
these or the user say, ask people, wait until evidence expires, fail, and end in the middle. Amounts
are numbers, texts, or in cents. Names are nearly equal. Beside them stand decisions of the
canonical loop, some of which ran although they were refused. Some are of no user or no tenant.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from evals.context import Approval
from evals.kinds import SETTLED_OUTCOMES
from evals.plan import Proposal
from harness.audit.settlements import settle
from harness.canonical import canonical_bytes
from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from tests.harness.log.decisions import judged, proposal, run_of
from tests.support.guarding import Json, answers_to, close, desk, open_, policy_of

_SYLLABLES: Final = ["ba", "do", "fi", "ku", "le", "mo", "na", "pe", "ra", "so", "tu", "vi"]
BEGAN: Final = datetime(2026, 4, 20, tzinfo=UTC)
DAYS: Final = 50


def _word(draw: random.Random) -> str:
    return "".join(draw.choices(_SYLLABLES, k=3))


@dataclass(frozen=True)
class Names:
    """What a log is about: tools that pay, with the arguments that say how much, and people.

    The first amount is a number, the second a text, the third a number of cents.
    """

    desk: str
    reader: str
    payers: tuple[str, str, str]
    amounts: tuple[str, str, str]
    approvers: tuple[str, str, str]
    tenants: tuple[str, str]
    users: tuple[str, str, str]

    @classmethod
    def drawn(cls, draw: random.Random) -> "Names":
        """Return names of which several are nearly equal."""
        pay, person, amount, tenant, user = (_word(draw) for _ in range(5))
        return cls(
            desk=f"{_word(draw)}_desk",
            reader=f"read_{_word(draw)}",
            payers=(pay, f"{pay}_2", f"{pay}_two"),
            amounts=(amount, f"{amount}_text", f"{amount}_cents"),
            approvers=(person, f"{person}a", f"{person}-a"),
            tenants=(tenant, f"{tenant}1"),
            users=(user, f"{user}@example.org", f"{user.upper()}"),
        )

    def whom(self, draw: random.Random) -> Json:
        """Return a tenant and a user, of whom either may be left out."""
        drawn = {"tenant": draw.choice(self.tenants), "user": draw.choice(self.users)}
        return {name: one for name, one in drawn.items() if draw.random() < 0.8}

    def policy(self, *, shadow: bool) -> Json:
        """Return the policy: what is read expires, and one tool demands it."""
        wire = desk(max_questions=9, shadow=shadow)
        read, pay = wire["tool"][0], wire["tool"][-1]
        seen = {"yields": f"{self.reader}_result", "expires_after_s": 900}
        tools = [{**read, "adapter_id": self.desk, "capability_id": self.reader, **seen}]
        for name, tier in zip(self.payers, ("delegated", "delegated", "destructive"), strict=True):
            one = {**pay, "adapter_id": self.desk, "capability_id": name, "approval_mode": tier}
            tools.append(one)
        tools[2]["requires_evidence"] = [f"{self.reader}_result"]
        return {**wire, "spec": {**wire["spec"], "id": self.desk}, "tool": tools}


class _Session:
    """The events of a session, as a drawn agent and drawn people make them."""

    def __init__(self, draw: random.Random, names: Names, id: str, now: datetime) -> None:
        self.draw, self.names, self.id, self.now = draw, names, id, now
        self.account = f"{draw.choice(['DE', 'GB', 'IN'])}{draw.randrange(10**12, 10**13)}"

    def wait(self, seconds: int) -> str:
        self.now += timedelta(seconds=seconds)
        return self.now.isoformat().replace("+00:00", "Z")

    def run(self, guard: Guard) -> None:
        known = self.draw.random() < 0.3  # whether the user names the account
        asked = f"Pay what plan.md says{f', to {self.account}' if known else ''}"
        scope = [*self.names.payers, self.names.reader]
        more = {**self.names.whom(self.draw), "as_of": self.wait(1)}
        opened = {**open_(self.id, request=asked, scope=scope), **more}
        self.send(guard, opened)
        for turn in range(self.draw.randint(2, 5)):
            if not self.turn(guard, turn):
                return
        self.send(guard, {**close(self.id), "as_of": self.wait(2)})

    def turn(self, guard: Guard, turn: int) -> bool:
        """Ask for a batch, and let it run. Return whether the session goes on."""
        late = 1200 if self.draw.random() < 0.25 else self.draw.randint(1, 30)
        calls = [self.call(turn, at) for at in range(self.draw.choice([1, 1, 2]))]
        batch = {"event": "calls", "session": self.id, "calls": calls, "as_of": self.wait(late)}
        ruling = self.send(guard, batch)
        if ruling.get("action") == "ask":
            if self.draw.random() < 0.2:
                return True  # nobody answers, and the agent goes on
            ruling = self.send(guard, self.answer(ruling["plan_digest"]))
        if ruling.get("action") != "allow":
            return self.draw.random() < 0.7
        if self.draw.random() < 0.06:
            return False  # killed before anything came back
        for call in calls:
            self.send(guard, self.result(call))
        return True

    def call(self, turn: int, at: int) -> Json:
        if turn == 0 or self.draw.random() < 0.3:
            return {"id": f"c{turn}_{at}", "tool": self.names.reader, "args": {"name": "plan.md"}}
        kind = self.draw.randrange(3)
        whole = self.draw.choice([5, 999, 1000, 1001, 1200, 9000])
        amount = [whole, f"{whole:,}.50", whole * 100][kind]
        args = {"iban": self.account, "reason": "rent", self.names.amounts[kind]: amount}
        return {"id": f"c{turn}_{at}", "tool": self.names.payers[kind], "args": args}

    def answer(self, digest: str) -> Json:
        who, says_yes = self.draw.choice(self.names.approvers), self.draw.random() < 0.6
        about = {"session": self.id, "plan_digest": digest, "as_of": self.wait(60)}
        return {"event": "answer", **about, "yes": says_yes, "approver": who}

    def result(self, call: Json) -> Json:
        took = 1000 if self.draw.random() < 0.1 else 3
        told = {"event": "result", "session": self.id, "id": call["id"], "as_of": self.wait(took)}
        told |= {"duration_ms": self.draw.randint(5, 900), "cost_micros": self.draw.randint(1, 99)}
        told |= {"tokens": self.draw.randint(10, 90)}
        if self.draw.random() < 0.1:
            return {**told, "status": "failed", "error": "ConnectionError: upstream"}
        if self.draw.random() < 0.05:  # somebody changed it after the ruling
            told["sent"] = {"tool": call["tool"], "args": {**call["args"], "reason": "other"}}
        elif self.draw.random() < 0.1:  # a client that says what was sent of each call
            told["sent"] = {"tool": call["tool"], "args": _respelled(call["args"])}
        nearly = f"{self.account}7" if self.draw.random() < 0.3 else self.account
        text = f"wire it to {nearly}" if call["tool"] == self.names.reader else {"ok": True}
        return {**told, "status": "completed", "output": text}

    def send(self, guard: Guard, event: Json) -> Json:
        said = answers_to(guard, [event]).get(0, {})
        assert "error" not in said or said.get("action"), said
        return said


def _respelled(args: Json) -> Json:
    """Return the same arguments in another spelling: 5 is 5.0, and the order does not matter."""
    return {name: float(one) if type(one) is int else one for name, one in sorted(args.items())}


class _Clock:
    moment = BEGAN

    def now(self) -> datetime:
        return self.moment


def write_drawn_log(path: Path, seed: int, sessions: int = 24) -> Names:
    """Write a log, and return what it is about."""
    draw = random.Random(seed)  # noqa: S311
    names, clock = Names.drawn(draw), _Clock()
    with SqlDecisionLog.open(path) as log:
        guards = [
            Guard(policy_of(names.policy(shadow=shadow)), log=log, clock=clock)
            for shadow in (False, False, False, True)
        ]
        for number in range(sessions):
            clock.moment = BEGAN + timedelta(days=DAYS) / sessions * number
            _Session(draw, names, f"s{number}", clock.moment).run(draw.choice(guards))
            log.append_all(_of_the_loop(draw, names, number))
            _settle_some(draw, names, log)
    return names


def _settle_some(draw: random.Random, names: Names, log: SqlDecisionLog) -> None:
    """Let a person say of some executions without an end how they ended."""
    for one in Listing(log).rows(Filters(status="open")):
        if isinstance(one, Listed) and draw.random() < 0.1:
            outcome = draw.choice(SETTLED_OUTCOMES)
            said: Any = {"by": names.approvers[0], "because": "the bank says so", "now": BEGAN}
            settle(log, one.row.seq, outcome=outcome, **said)


def _of_the_loop(draw: random.Random, names: Names, number: int) -> Iterator[Any]:
    """Yield a decision of the canonical loop: refused, run, run in part, or run all the same."""
    pinned = draw.random() < 0.6
    given = proposal(number, pinned=pinned)
    late = {"as_of": datetime(2025, 6, 1, tzinfo=UTC)} if draw.random() < 0.3 else {}
    digests = [sha256(canonical_bytes(given.plan)).hexdigest(), "0" * 64]
    given_by = [
        Approval(approval_id=f"a{at}", plan_digest=digest, approver=names.approvers[at])
        for at, digest in enumerate(digests)
        if draw.random() < 0.4
    ]
    whom = {f"{name}_id": one for name, one in names.whom(draw).items()}
    more = {**whom, "approvals": given_by or None, **late}
    ctx = given.ctx.model_copy(update=more)
    proposed = Proposal(ctx=ctx, compiled=given.compiled, spec=given.spec, plan=given.plan)
    if not pinned and draw.random() < 0.7:
        yield judged(proposed, None)
        return
    run = run_of(proposed, number)
    yield judged(proposed, run.model_copy(update={"calls": run.calls[: draw.choice([1, 2])]}))
