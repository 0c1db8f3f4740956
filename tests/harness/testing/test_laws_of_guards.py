"""The laws of guards: ours keep them, however they are reached, and planted mistakes break them."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings

from critic import Source
from critic.session import Session, call_results
from critic.session.call_results import Arrival
from critic.session.changed import change_fields
from critic.session.ledger import Ledger
from evals.envelope import Envelope
from harness.clock import FixedClock
from harness.guard import AsyncGuard, Guard
from harness.guard.course import Course
from harness.guard.open_sessions import OpenSession
from harness.guard.session_events import event_of
from harness.policy import Policy
from harness.testing._draw.drawn_streams import NOON
from harness.testing._draw.primitives import Json
from harness.testing.laws import (
    GUARD_LAWS,
    GuardOnTrial,
    LawBroken,
    Laws,
    OpenGuard,
    TrialLog,
    check_guard,
    describe_guard_law,
    plain_guard,
)
from tests.harness.serve.asking import over_http
from tests.support.effort import examples, rarely, sampled
from tests.support.guarding import asking_desk, asking_refunds, policy_of


def tries(most: int, *, shrinks: bool = True) -> settings:
    """Return so many examples, the same ones in each run: a law fails where too little was met."""
    return settings(
        max_examples=examples(most),
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
        phases=(Phase.generate, Phase.shrink) if shrinks else (Phase.generate,),
    )


ASKING: Final = policy_of(asking_desk())
HALTING: Final = policy_of(asking_desk(on_refusal="halt"))
REFUNDS: Final = policy_of(asking_refunds())


# The layer `laws` of the assurance tries more, and policies that halt, shadow or sell.
@pytest.mark.parametrize("law", sampled(GUARD_LAWS, one_in=2))
def test_a_guard_keeps_the_laws(law: str) -> None:
    check_guard(ASKING, law, settings=tries(60))
    assert describe_guard_law(law).endswith(".")


@pytest.mark.slow
def test_two_sessions_that_halt_are_answered_as_each_alone() -> None:
    check_guard(HALTING, GUARD_LAWS[0], settings=tries(100))


@contextmanager
def awaited_guard(policy: Policy, log: TrialLog) -> Iterator[GuardOnTrial]:
    """Open a guard for an event loop."""
    with asyncio.Runner() as runner:
        guard = AsyncGuard(Guard(policy, log=log, clock=FixedClock(NOON)), threads=2)

        def take(event: Json) -> Json | None:
            answer = runner.run(guard.handle(event_of(event)))
            return answer.wire() if isinstance(answer, Envelope) else answer

        yield GuardOnTrial(take, guard.permit)
        guard.shutdown()


@contextmanager
def served_guard(policy: Policy, log: TrialLog) -> Iterator[GuardOnTrial]:
    """Open the guard of a service."""
    guard = over_http(policy.wire(), log=log, clock=FixedClock(NOON))

    def take(event: Json) -> Json | None:
        answer = guard.handle_line(json.dumps(event).encode())
        return answer.wire() if isinstance(answer, Envelope) else answer

    yield GuardOnTrial(take)


NOT_OF_PERMITS: Final = [law for law in GUARD_LAWS if "permit" not in law]


@pytest.mark.parametrize("open_guard", [awaited_guard, served_guard])
def test_sessions_do_not_mix_however_a_guard_is_reached(open_guard: OpenGuard) -> None:
    few = ("asked and answered", "ask", "near ids")  # with so few examples
    check_guard(ASKING, GUARD_LAWS[0], open_guard=open_guard, cannot=few, settings=tries(20))


@pytest.mark.slow
@pytest.mark.parametrize("law", NOT_OF_PERMITS)
@pytest.mark.parametrize("open_guard", [awaited_guard, served_guard])
def test_all_laws_hold_however_a_guard_is_reached(open_guard: OpenGuard, law: str) -> None:
    check_guard(ASKING, law, open_guard=open_guard, settings=tries(60))


@pytest.mark.slow
def test_streams_that_miss_what_a_law_is_about_say_so() -> None:
    never = policy_of(asking_desk(on_ask="refuse"))
    with pytest.raises(LawBroken, match="no stream met"):
        check_guard(REFUNDS, GUARD_LAWS[0], settings=settings(tries(4), max_examples=1))
    check_guard(never, "a_permit_stands_until_its_call_ends", settings=tries(60))


# Planted mistakes: each is one of a tired engineer, and each is noticed by the law beside it.


def _shared_permits() -> Any:
    """All sessions have their permits in one table."""
    made, table = OpenSession.__init__, dict[str, Any]()

    def begin(self: OpenSession, *args: Any) -> None:
        made(self, *args)
        self.permits = table

    return patch.object(OpenSession, "__init__", begin)


def _one_time() -> Any:
    """The time of the last event of any session stands for all of them."""
    answered = Guard._answer_event

    def last(self: Any, entry: Any, event: Any, note: Any) -> Any:
        if event.as_of is not None:
            self.last_time = event.as_of
        elif getattr(self, "last_time", None) is not None:
            event = event.model_copy(update={"as_of": self.last_time})
        return answered(self, entry, event, note)

    return patch.object(Guard, "_answer_event", last)


def _folded_names() -> Any:
    """Sessions are looked up without regard to case and blanks."""
    find = Guard._require_entry

    def folded(self: Any, name: str, **how: Any) -> Any:
        names = {one.strip().lower(): one for one in self._entries}
        return find(self, names.get(name.strip().lower(), name), **how)

    return patch.object(Guard, "_require_entry", folded)


def _results_twice() -> Any:
    """A call that ended is awaited again."""
    ran = Session.ran

    def twice(self: Session, call_id: str, *args: Any) -> Any:
        done = ran(self, call_id, *args)
        if done.ended is None:
            kept = {**done.session.open_calls, call_id: self.open_calls[call_id]}
            object.__setattr__(done.session, "open_calls", kept)
        return done

    return patch.object(Session, "ran", twice)


def _opened_over() -> Any:
    """To open a session that is open begins it anew."""
    opened = Guard._open

    def over(self: Any, event: Any, note: Any) -> Any:
        self._entries.pop(event.session, None)
        return opened(self, event, note)

    return patch.object(Guard, "_open", over)


def _answered_late() -> Any:
    """An answer counts at the very moment at which it expires."""
    question = Course.find_question

    def late(self: Course, event: Any, as_of: Any) -> Any:
        until = event.expires_at
        if until is not None and self.question is not None and until == as_of:
            event = event.model_copy(update={"expires_at": None})
        return question(self, event, as_of)

    return patch.object(Course, "find_question", late)


def _fresh_longer() -> Any:
    """Results are fresh for a moment longer than the policy says."""
    after = Arrival._expiry_after
    return patch.object(Arrival, "_expiry_after", lambda self, seconds: after(self, seconds + 1))


def _spent_once() -> Any:
    """A turn of several calls spends one step."""
    ruled = Ledger.after_ruling

    def once(self: Ledger, rules: Any, batch: Any, **how: Any) -> Any:
        spent = ruled(self, rules, batch, **how)
        object.__setattr__(spent, "steps", self.steps + 1)
        return spent

    return patch.object(Ledger, "after_ruling", once)


@contextmanager
def _ids_again() -> Iterator[None]:
    """A call may have the id of one whose result is awaited."""
    propose = Session.propose

    def anew(self: Session, *asked: Any, **how: Any) -> Any:
        return propose(change_fields(self, open_calls={}), *asked, **how)

    checks = patch.object(Course, "require_new_ids", lambda *_: None)
    with checks, patch.object(Session, "propose", anew):
        yield


def _kept_permits(why: str) -> Callable[[], Any]:
    """Permits are not withdrawn by one of the events that end them."""

    def planted() -> Any:
        commit = OpenSession.commit

        def kept(self: OpenSession, event: Any, answered: Any) -> None:
            before = dict(self.permits)
            withdrawn: dict[str, Any] = {}
            if event.event == why:
                self.permits = {}  # what is not in the table cannot be withdrawn
                withdrawn = before
            commit(self, event, answered)
            self.permits = {**withdrawn, **self.permits}

        return patch.object(OpenSession, "commit", kept)

    return planted


def _ambient_text_named() -> Any:
    """Whatever is read counts as if the request had named it."""
    return patch.object(call_results, "standing_of", lambda *_: "named")


def _public_text_believed() -> Any:
    """What anybody wrote counts as written by a system of record."""

    def believe(**fields: Any) -> Source:
        kept = {name: one for name, one in fields.items() if name != "web"}
        return Source(**{**kept, "author": "system"})

    return patch.object(call_results, "Source", believe)


TWO, RENAMED, AGAIN, REOPENED, PERMITS, TIME, SOURCES = GUARD_LAWS
MISTAKES: Final[dict[str, tuple[Callable[[], Any], str]]] = {
    "one table of permits": (_shared_permits, PERMITS),
    "one time": (_one_time, TWO),
    "names folded": (_folded_names, TWO),
    "a result twice": (_results_twice, AGAIN),
    "opened over": (_opened_over, AGAIN),
    "answered late": (_answered_late, TIME),
    "fresh longer": (_fresh_longer, TIME),
    "spent once": (_spent_once, TIME),
    "permits outlive a result": (_kept_permits("result"), PERMITS),
    "an id comes again": (_ids_again, PERMITS),
    "ambient text is named": (_ambient_text_named, SOURCES),
    "public text is believed": (_public_text_believed, SOURCES),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", rarely(MISTAKES, one_in=3))
def test_each_planted_mistake_breaks_a_law(name: str) -> None:
    planted, law = MISTAKES[name]
    wide = settings(tries(100, shrinks=False), max_examples=400)
    with planted(), pytest.raises(LawBroken, match="is broken"):
        check_guard(ASKING, law, open_guard=plain_guard, settings=wide)


def test_a_planted_mistake_is_shown_by_its_events() -> None:
    with _spent_once(), pytest.raises(LawBroken, match=r'events: \[\{"event": "open"'):
        check_guard(ASKING, TIME, settings=tries(120, shrinks=False))


def test_the_laws_of_a_policy_include_that_of_its_sources() -> None:
    laws = Laws(policy=ASKING, settings=tries(80, shrinks=False))
    laws.names = ()  # the others are asked elsewhere
    with _ambient_text_named(), pytest.raises(LawBroken, match=f"law {SOURCES} is broken: What"):
        laws.check_all()
