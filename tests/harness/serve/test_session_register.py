"""Whose a session is, and when it has ended: against a second register that keeps it all apart."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, Final

from hypothesis import example, given
from hypothesis import strategies as st

from harness.serve.bearer_tokens import Asker
from harness.serve.session_register import SessionRegister

IDLE_S: Final = 10.0
NAMES: Final = ("s", "t")
ASKERS: Final = (
    Asker(b"agent", is_approver=False),
    Asker(b"other", is_approver=False),
    Asker(b"person", is_agent=False),
    Asker(),
)
AGENTS: Final = st.sampled_from((*ASKERS[:2], ASKERS[3]))
NAMED: Final = st.sampled_from(NAMES)
STEPS: Final = st.one_of(
    st.tuples(st.just("claim"), NAMED, AGENTS),
    st.tuples(st.just("settle"), NAMED, st.booleans()),
    st.tuples(st.just("recall"), NAMED, st.sampled_from([b"agent", b"other", None])),
    st.tuples(st.just("begin"), NAMED, st.none()),
    st.tuples(st.just("end"), NAMED, st.booleans()),
    st.tuples(st.just("wait"), NAMED, st.sampled_from([0.0, IDLE_S / 2, IDLE_S])),
    st.tuples(st.just("forget"), NAMED, st.none()),
)


class Told:
    """What the rules say of one session, by what happened to it."""

    def __init__(self) -> None:
        self.owner: list[bytes | None] = []
        self.last: float | None = None
        self.used = 0
        self.ended: list[bytes | None] = []
        self.is_opening = False

    def speaks(self, asker: Asker, owner: list[bytes | None]) -> bool:
        return bool(owner) and (not asker.is_agent or owner == [asker.token])


class Both:
    """The register, and what is told of each session."""

    def __init__(self, *, are_kept: bool) -> None:
        self.now = 0.0
        self.are_kept = are_kept
        self.register = SessionRegister(IDLE_S, 100, lambda: self.now, are_kept=are_kept)
        self.told = {name: Told() for name in NAMES}
        self.events: dict[str, list[tuple[AbstractContextManager[None], list[bool]]]] = {
            name: [] for name in NAMES
        }

    def take(self, step: str, name: str, how: Any) -> None:
        one = self.told[name]
        match step:
            case "claim":
                one.is_opening = one.is_opening or not one.owner
                one.owner = one.owner or [how.token]
                assert self.register.claim(name, how) is (one.owner == [how.token])
            case "settle" if one.is_opening:
                self.register.settle(name, is_opened=how)
                one.is_opening = False
                if not how:
                    one.owner, one.last = [], None
            case "recall":
                self.register.recall(name, how)
                one.owner = one.owner or [how]
                one.last = self.now if one.last is None and not one.used else one.last
            case "begin":
                is_open = [False]
                event = self.register.in_use(name, lambda: is_open[-1])
                event.__enter__()
                self.events[name].append((event, is_open))
                one.used, one.last = one.used + 1, None
            case "end" if self.events[name]:
                self.end(name, is_open=how)
            case "wait":
                self.now += how
                self.sweep()
            case "forget":
                self.register.forget(name)
                if not one.used and one.last is None:
                    one.owner = []

    def end(self, name: str, *, is_open: bool) -> None:
        one = self.told[name]
        event, told = self.events[name].pop(0)
        told.append(is_open)
        event.__exit__(None, None, None)
        one.used -= 1
        if not one.used and is_open:
            one.last, one.ended = self.now, []
        elif not one.used:
            one.owner = []

    def sweep(self) -> None:
        over = {
            name
            for name, one in self.told.items()
            if one.last is not None and one.last + IDLE_S <= self.now
        }
        assert sorted(self.register.overdue()) == sorted(over)
        assert self.register.overdue() == []
        for name in over:
            one = self.told[name]
            one.last, one.ended = None, [] if self.are_kept else [*one.owner] or [None]

    def compare(self) -> None:
        for name, one in self.told.items():
            assert self.register.knows(name) is bool(one.owner)
            for asker in ASKERS:
                speaks = one.speaks(asker, one.owner) and not one.is_opening
                assert self.register.may_speak(name, asker) is speaks
                assert self.register.has_ended(name, asker) is one.speaks(asker, one.ended)


RECALLED_IN_USE: Final[list[Any]] = [
    *(("begin", "s", None), ("recall", "s", b"agent"), ("recall", "t", b"agent")),
    *(("wait", "s", IDLE_S / 2), ("end", "s", True), ("wait", "s", IDLE_S / 2)),
    *(("begin", "s", None), ("recall", "s", b"agent"), ("wait", "s", IDLE_S)),
]
"""Two events of one session: the second finds it in another process while the first is answered."""


@given(st.lists(STEPS, min_size=15, max_size=40), st.booleans())
@example(RECALLED_IN_USE, False)
@example(RECALLED_IN_USE, True)
def test_a_session_is_its_openers_until_it_ends(steps: list[Any], are_kept: bool) -> None:
    both = Both(are_kept=are_kept)
    for step, name, how in steps:
        both.take(step, name, how)
        both.compare()


def _overdue_of(count: int) -> Iterator[str]:
    return (f"s{number}" for number in range(count))


def test_of_many_that_ended_the_last_are_remembered() -> None:
    register = SessionRegister(0.0, 2, lambda: 0.0)
    for name in _overdue_of(3):
        register.claim(name, ASKERS[0])
        with register.in_use(name, lambda: True):
            pass
    assert register.overdue() == [*_overdue_of(3)]
    assert [register.has_ended(name, ASKERS[0]) for name in _overdue_of(3)] == [False, True, True]
