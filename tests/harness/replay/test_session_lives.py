"""What is kept of sessions is bounded, and a fold of turns says what the turns say."""

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.capability import ToolName
from evals.context import OwnValue, SentValues, SessionFacts, Spent, SpentCall
from harness.record.drafts import session_key
from harness.replay import session_facts, session_lives
from harness.replay.problems import Problems
from harness.replay.session_entries import (
    BatchCall,
    BeginningEntry,
    EndEntry,
    ReopenedEntry,
    RulingEntry,
    SessionEntry,
    TakenEntry,
)
from harness.replay.session_facts import SessionHistory
from tests.support.effort import examples

TOOL: Final = ToolName(adapter_id="a", capability_id="c")


class Recorded:
    """A session as its records say, event by event: each ruling has the facts that follow."""

    def __init__(self, trace: str) -> None:
        self.trace, self.turn, self.seen = trace, 0, list[str]()
        self.calls = list[tuple[str, OwnValue]]()
        self.ended = 0

    def ruling(self, **change: Any) -> SessionEntry:
        """Return a ruling on a call, with facts that may be changed."""
        self.turn += 1
        facts: dict[str, Any] = {"id": self.trace, "turn": self.turn}
        if self.ended:
            facts["ran"] = [TOOL]
            facts["own"] = [own for _, own in self.calls[: self.ended]]
        if self.calls:
            facts["sent"] = [SentValues(seq=at, values=[at]) for at in range(len(self.calls))]
        wire = {**facts, **change}
        return self._entry(
            RulingEntry(
                facts=SessionFacts(**{name: one for name, one in wire.items() if one is not None}),
                spent=Spent(steps=len(self.calls)),
                evidence=tuple(self.seen),
                calls=(BatchCall(TOOL, None),),
                sent=(SentValues(seq=len(self.calls), values=[len(self.calls)]),),
                verified=True,
                runs=False,
            )
        )

    def _entry(self, said: Any, turn: int | None = None) -> SessionEntry:
        number = self.turn if turn is None else turn
        return SessionEntry(self.trace, number, (self.trace, str(number)), said)

    def begin(self) -> SessionEntry:
        self.calls.append((f"{self.turn}", OwnValue(kind="text", value="x" * 300 + str(self.turn))))
        return self._entry(BeginningEntry(f"{self.trace} {self.turn}", (), ()))

    def end(self) -> SessionEntry:
        turn, own = self.calls[self.ended]
        self.ended += 1
        self.seen.append(f"{self.ended:064}")
        said = EndEntry(f"{self.trace} {turn}", ((0, "completed"),), (own,), (own,))
        return self._entry(said, int(turn))


def problems_of(history: SessionHistory, entry: SessionEntry) -> Problems:
    problems = Problems()
    history.check(entry, problems)
    return problems


def went(history: SessionHistory, session: Recorded, turns: int, behind: int = 0) -> None:
    """Let a session go through turns. The calls end `behind` turns later."""
    for _ in range(turns):
        assert problems_of(history, session.ruling()).status == "same"
        assert problems_of(history, session.begin()).status == "same"
        while len(session.calls) - session.ended > behind:
            assert problems_of(history, session.end()).status == "same"


CHANGES: Final[list[dict[str, Any]]] = [
    {"ran": None},
    {"ran": [TOOL, ToolName(adapter_id="a", capability_id="d")]},
    {"own": None},
    {"own": [OwnValue(kind="text", value="x" * 300 + "0")]},
    {"sent": [SentValues(seq=0, values=[0])]},
    {"sent": [SentValues(seq=0, values=[True])]},
]
"""Facts that follow from no session of some turns. Long values differ in their last letter."""


@pytest.mark.parametrize("behind", [0, 3, 12])
@pytest.mark.parametrize("change", CHANGES)
def test_a_fact_about_turns_that_are_folded_is_noticed(change: dict[str, Any], behind: int) -> None:
    history, session = SessionHistory(), Recorded("s")
    went(history, session, 30, behind)
    [trace] = history._traces.values()
    assert len(trace.lives[0].turns) <= session_lives._KEPT_TURNS + 1 + behind
    wrong = problems_of(history, session.ruling(**change))
    [name] = change
    assert wrong.tampered == [
        f"session facts do not follow from earlier records: {name}",
    ]


def test_what_was_sent_before_a_ruling_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read, sent_key = list[int](), session_lives.sent_key

    def counted(one: SentValues) -> session_lives.Key:
        read.append(one.seq)
        return sent_key(one)

    for module in (session_facts, session_lives):
        monkeypatch.setattr(module, "sent_key", counted)
    history, session = SessionHistory(), Recorded("s")
    went(history, session, 20)
    read.clear()
    assert problems_of(history, session.ruling()).status == "same"
    assert sorted(read) == [*range(21)]  # twenty before, and its own


def test_turns_that_wait_for_results_are_added_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    added: list[int] = []
    add = session_lives.RanSum.add

    def counted(ran: session_lives.RanSum, number: int, turn: session_lives.RuledTurn) -> None:
        added.append(number)
        add(ran, number, turn)

    monkeypatch.setattr(session_lives.RanSum, "add", counted)
    went(SessionHistory(), Recorded("s"), 60, behind=100)
    assert len(added) < 60 * (session_lives._KEPT_TURNS + 2)


def test_evidence_that_is_another_than_a_turn_ago_is_noticed() -> None:
    history, session = SessionHistory(), Recorded("s")
    went(history, session, 20)
    session.seen[3] = "f" * 64
    assert problems_of(history, session.ruling()).status == "tampered"


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12))
def test_sessions_that_take_turns_are_each_judged_by_their_own(steps: list[Any]) -> None:
    history, sessions = SessionHistory(), [Recorded(f"s{at}") for at in range(4)]
    for which, turns in steps:
        went(history, sessions[which], turns)
    for session in sessions:
        if session.turn > 2:
            wrong = problems_of(history, session.ruling(sent=[SentValues(seq=7, values=["no"])]))
            assert wrong.status == "tampered"


@pytest.mark.slow
def test_what_is_kept_of_many_sessions_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has a few turns and is closed, which no record says."""
    monkeypatch.setattr(session_facts, "_MOST_TURNS", 60)
    history = SessionHistory()
    sizes = []
    for at in range(300):
        went(history, Recorded(f"s{at}"), 3)
        sizes.append(history._size)
    assert history._size == sum(one.size for one in history._traces.values())
    assert max(sizes) <= 60 + 5
    tracemalloc.start()
    try:
        for start in (300, 600, 900):
            for at in range(start, start + 300):
                went(history, Recorded(f"s{at}"), 3)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert sizes[-1] < sizes[-2] * 1.3


def test_a_session_that_is_too_far_back_is_incomplete(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is never taken for one that follows."""
    monkeypatch.setattr(session_facts, "_MOST_TURNS", 20)
    history, old = SessionHistory(), Recorded("old")
    went(history, old, 3)
    went(history, Recorded("other"), 40)
    late = problems_of(history, old.ruling())
    assert late.incomplete == [
        "turn 3 of its session is missing, or too far back: its facts cannot be derived"
    ]


def test_a_turn_is_ruled_on_again_with_what_was_known_at_first() -> None:
    """A person answered: the record of it says what the question said."""
    history, session = SessionHistory(), Recorded("s")
    went(history, session, 12)
    asked = session.ruling()
    for _ in range(2):
        assert problems_of(history, asked).status == "same"
    went(history, session, examples(8))


MEMBERS: Final[dict[str, Callable[[SessionFacts], Any]]] = {
    "own of another kind": lambda facts: {
        "own": [OwnValue(kind="order", value=one.value) for one in facts.own or ()]
    },
    "own of another value": lambda facts: {
        "own": [OwnValue(kind=one.kind, value=[one.value]) for one in facts.own or ()]
    },
    "sent before it was": lambda facts: {
        "sent": [SentValues(seq=0, values=one.values) for one in facts.sent or ()]
    },
    "sent after it was": lambda facts: {
        "sent": [SentValues(seq=one.seq + 1, values=one.values) for one in facts.sent or ()]
    },
    "sent of another value": lambda facts: {
        "sent": [SentValues(seq=one.seq, values=[[*one.values]]) for one in facts.sent or ()]
    },
    "sent backwards": lambda facts: {"sent": (facts.sent or ())[::-1]},
    "sent once more": lambda facts: {"sent": [*(facts.sent or ()), *(facts.sent or ())[-1:]]},
    "ran with another adapter": lambda _: {
        "ran": [ToolName(adapter_id="b", capability_id="c")],
    },
}
"""Facts that differ from those that follow in one member."""


@pytest.mark.parametrize("turns", [2, 4, 30])
@pytest.mark.parametrize("name", MEMBERS)
def test_each_member_of_a_fact_is_compared_alone(name: str, turns: int) -> None:
    history, session = SessionHistory(), Recorded("s")
    went(history, session, turns)
    right = session.ruling()
    said = right.said
    assert isinstance(said, RulingEntry)
    wrong = said._replace(facts=said.facts.model_copy(update=MEMBERS[name](said.facts)))
    assert problems_of(history, right._replace(said=wrong)).tampered == [
        f"session facts do not follow from earlier records: {name.partition(' ')[0]}"
    ]
    assert problems_of(history, right).status == "same"


DESTROYED: Final = SpentCall(adapter_id="a", capability_id="c", args_digest="d" * 64)


def destroyed(session: Recorded, spent: Spent) -> SessionEntry:
    """Return a ruling on a destructive call, with what was spent before it."""
    entry = session.ruling()
    assert isinstance(entry.said, RulingEntry)
    calls = (BatchCall(TOOL, DESTROYED.args_digest),)
    return entry._replace(said=entry.said._replace(spent=spent, calls=calls))


@pytest.mark.parametrize("status", ["completed", "timed_out", "unknown", "failed"])
@pytest.mark.parametrize("is_told", [True, False])
def test_a_destructive_call_is_spent_unless_it_surely_failed(status: str, is_told: bool) -> None:
    history, session = SessionHistory(), Recorded("s")
    assert problems_of(history, destroyed(session, Spent(steps=0))).status == "same"
    assert problems_of(history, session.begin()).status == "same"
    ended = session.end()
    assert isinstance(ended.said, EndEntry)
    told = ended.said._replace(statuses=((0, status),), made=(), possible=())
    assert problems_of(history, ended._replace(said=told)).status == "same"
    spent = Spent(steps=1, calls=[DESTROYED]) if is_told else Spent(steps=1)
    ran = [TOOL] if status == "completed" else None
    next_one = session.ruling(ran=ran, own=None)
    assert isinstance(next_one.said, RulingEntry)
    found = problems_of(history, next_one._replace(said=next_one.said._replace(spent=spent)))
    wrong = is_told == (status == "failed")
    assert found.tampered == (
        ["session facts do not follow from earlier records: spent.calls"] if wrong else []
    )


CARRIED: Final = ReopenedEntry(
    turns=2,
    seen=3,
    spent=Spent(steps=5, calls=[DESTROYED]),
    sent=(SentValues(seq=1, values=["ada@example.com"]),),
)
LIVED: Final[dict[str, tuple[dict[str, Any], Spent]]] = {
    "": ({}, Spent(steps=5, calls=[DESTROYED])),
    "spent.steps": ({}, Spent(steps=2, calls=[DESTROYED])),
    "spent.calls": ({}, Spent(steps=5)),
    "sent": ({"sent": None}, Spent(steps=5, calls=[DESTROYED])),
}
"""What another life of a session says, with the name of what is less than it carries."""


@pytest.mark.parametrize("name", LIVED)
@pytest.mark.parametrize("turns", [0, 2], ids=["lived elsewhere", "lived here"])
def test_another_life_of_a_session_has_what_it_carries_and_no_more_excuse(
    name: str, turns: int
) -> None:
    history, session = SessionHistory(), Recorded("s")
    went(history, session, turns)
    assert problems_of(history, SessionEntry("s", 0, (), CARRIED)).status == "same"
    session.turn, session.calls, session.ended = 2, [], 0
    changes, spent = LIVED[name]
    sent = [SentValues(seq=3, values=["ada@example.com"])]
    entry = session.ruling(**{"sent": sent, **changes})
    assert isinstance(entry.said, RulingEntry)
    found = problems_of(history, entry._replace(said=entry.said._replace(spent=spent)))
    told = [f"session facts do not follow from earlier records: {name}"]
    assert found.tampered == (told if name else [])


def test_a_session_that_was_opened_again_does_not_go_on_from_its_earlier_life() -> None:
    history, session = SessionHistory(), Recorded("s")
    went(history, session, 2)
    assert problems_of(history, SessionEntry("s", 0, (), CARRIED)).status == "same"
    assert problems_of(history, session.ruling()).status == "tampered"


def test_a_session_that_came_from_another_log_goes_on_from_there_once() -> None:
    history, session = SessionHistory(), Recorded("s")
    taken = TakenEntry(frozenset({session_key("s"), session_key("other")}))
    assert problems_of(history, SessionEntry("", 0, (), taken)).status == "same"
    session.turn = 4
    assert problems_of(history, session.ruling()).status == "same"
    session.turn = 8
    assert problems_of(history, session.ruling()).status == "incomplete"
    stranger = Recorded("stranger")
    stranger.turn = 4
    assert problems_of(history, stranger.ruling()).status == "incomplete"


@pytest.mark.parametrize("change", ["", "evidence", "spent", "own"])
def test_an_answer_rules_again_on_what_was_known_at_its_question(change: str) -> None:
    history, session = SessionHistory(), Recorded("s")
    went(history, session, 3)
    asked = session.ruling()
    assert isinstance(asked.said, RulingEntry)
    question = asked._replace(said=asked.said._replace(verified=False))
    assert problems_of(history, question).status == "same"
    said = asked.said
    facts = said.facts.model_copy(update={"own": None})
    others: dict[str, RulingEntry] = {
        "": said,
        "evidence": said._replace(evidence=("f" * 64, *said.evidence[1:])),
        "spent": said._replace(spent=Spent(steps=99)),
        "own": said._replace(facts=facts),
    }
    found = problems_of(history, asked._replace(said=others[change]))
    assert bool(found.tampered) == bool(change)
