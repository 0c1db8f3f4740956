"""Two sessions of one guard, held by a framework, are each answered as alone."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.guard import Guard
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession, session_within
from harness.integrations.seam.ruling_replies import GuardHalted
from harness.testing._streams.identity_laws import NEAR_SESSIONS
from tests.support.effort import examples
from tests.support.guarding import guard_of

Json = dict[str, Any]
Step = tuple[str, Any]

YES, NO, EDITED = CallReply(yes=True), CallReply(yes=False), CallReply(yes=True, args={"n": 2})
IDS: Final = ("c", "c/1", "C")
WAYS: Final = ({"n": 1}, {"n": 2}, '{"n": 1}', '{"n": 1, "n": 2}')


def shop(**guard: Any) -> Guard:
    """Return a guard that allows `read`, asks about `pay`, and refuses `drop`."""
    tools = {"read": "read_only", "pay": "delegated", "drop": "destructive"}
    return guard_of(
        {
            "guard": {"safety_mode": "delegated", "max_questions": 9, **guard},
            "spec": {"id": "shop", "required_outputs": [], "approval_required_from": "delegated"},
            "tool": [
                {"adapter_id": "shop", "capability_id": name, "approval_mode": tier}
                for name, tier in tools.items()
            ],
        }
    )


CALLS = st.builds(
    AskedCall,
    st.sampled_from(IDS),
    st.sampled_from(["read", "pay", "read", "pay", "drop"]),
    st.sampled_from(WAYS),
)
BATCHES = st.lists(CALLS, min_size=1, max_size=2)
REPLIES = st.dictionaries(st.sampled_from(IDS), st.sampled_from([YES, YES, NO, EDITED]), min_size=1)


def _paid(call: AskedCall) -> Any:
    """Return a call that a person is asked about, and that they answer."""
    return [call._replace(tool="pay", args={"n": 1})], {call.id: YES}


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("rule"), BATCHES),
        st.tuples(st.just("asked and started"), CALLS),
        st.tuples(st.just("made"), CALLS.map(lambda call: call._replace(tool="read"))),
        st.tuples(st.just("asked and answered"), st.tuples(BATCHES, REPLIES)),
        st.tuples(st.just("start"), CALLS),
        st.tuples(st.just("answer"), REPLIES),
        st.tuples(st.just("asked and answered"), CALLS.map(_paid)),
        st.tuples(st.just("deny"), CALLS),
        st.tuples(st.just("end"), st.sampled_from(IDS)),
        st.tuples(st.just("within"), st.tuples(st.sampled_from(IDS), BATCHES)),
    ),
    min_size=3,
    max_size=9,
)


class Player:
    """Makes the steps of one session, and keeps what it was told."""

    def __init__(self, guard: Guard, session: str, request: str) -> None:
        self.here = GuardedSession(guard, session)
        self.here.began(request)
        self.told: list[Any] = []
        self.kinds: set[str] = set()

    def make(self, step: Step) -> None:
        """Make a step, and look at all that stands after it."""
        kind, what = step
        made: dict[str, Callable[[], Any]] = {
            "rule": lambda: self._kept(self.here.rule(what)),
            "asked and started": lambda: [self._kept(self.here.rule([what])), self._start(what)],
            "asked and answered": lambda: [
                self._kept(self.here.rule(what[0])),
                self._answer(what[1]),
                [self._start(call) for call in what[0]],
            ],
            "start": lambda: self._start(what),
            "made": lambda: [self._start(what), self._end(what.id)],
            "answer": lambda: self._answer(what),
            "deny": lambda: self.here.deny([what], approver="ada"),
            "end": lambda: self._end(what),
            "within": lambda: self._within(*what),
        }
        self.told.append((kind, made[kind](), *self._stands()))

    def _kept(self, ruling: Any) -> Any:
        self.kinds.add(ruling.action)
        return ruling.wire(), ruling.args, ruling.reply

    def _start(self, call: AskedCall) -> Any:
        return self._kept(self.here.start(call))

    def _answer(self, replies: dict[str, CallReply]) -> Any:
        self.kinds |= {"answered"} if {*replies} & {*self.here.waiting} else set()
        given = self.here.answer(replies, approver="ada")
        return {name: self._kept(ruling) for name, ruling in given.items()}

    def _end(self, call: str) -> Any:
        try:
            self.here.ended(call, "completed", output="x")
        except GuardHalted as halted:
            return str(halted)
        self.kinds.add("ended")
        return None

    def _within(self, call: str, batch: Sequence[AskedCall]) -> Any:
        """Rule on the calls of a sub-agent, which has ids of its own."""
        with self.here.running(call):
            inner = session_within(self.here.guard)
        assert inner is not None
        self.kinds.add("within")
        inner.began("Pay all")
        return self._kept(inner.rule(batch)), [self._kept(inner.start(one)) for one in batch]

    def _stands(self) -> tuple[Any, ...]:
        standing = {name: self.here.standing(name) for name in IDS}
        status = self.here.guard.status(self.here.session)
        assert status is not None
        return (
            {name: None if one is None else one.wire() for name, one in standing.items()},
            {name: one.wire() for name, one in self.here.waiting.items()},
            (status.turn, status.has_halted),
        )


def alone(session: str, steps: list[Step], **options: Any) -> Player:
    player = Player(shop(**options), session, session)
    for step in steps:
        player.make(step)
    return player


@given(
    st.sampled_from(NEAR_SESSIONS),
    st.tuples(STEPS, STEPS),
    st.lists(st.booleans(), min_size=6, max_size=18),
    st.sampled_from(["answer", "answer", "halt"]),
)
def _check(
    names: tuple[str, str], both: tuple[list[Step], list[Step]], order: list[bool], on_refusal: str
) -> None:
    guard = shop(on_refusal=on_refusal)
    players = [Player(guard, name, name) for name in names]
    left = [[*reversed(steps)] for steps in both]
    for second in [*order, *[False, True] * 9]:
        if left[second]:
            players[second].make(left[second].pop())
    assert left == [[], []]
    for name, steps, player in zip(names, both, players, strict=True):
        assert player.told == alone(name, steps, on_refusal=on_refusal).told
    for kind in players[0].kinds | players[1].kinds:
        MET[kind] += 1
        MET["of both"] += kind in players[0].kinds & players[1].kinds


MET: Counter[str] = Counter()
"""In how many examples a session met what."""
CLASSES: Final = ("allow", "ask", "refuse", "halt", "answered", "ended", "within", "of both")


def test_two_sessions_that_take_turns_are_each_told_what_they_are_alone() -> None:
    """Their calls have equal ids: rulings, standing refusals, questions and permits are apart."""
    MET.clear()
    settings(
        max_examples=max(60, examples(200)),
        derandomize=examples(100) < 100,
        suppress_health_check=[HealthCheck.too_slow],
    )(_check)()
    assert min(MET[kind] for kind in CLASSES) >= 5, MET
