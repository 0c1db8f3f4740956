"""A record of a session names what the whole is named, at the cost of what is new."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from critic import Proposal, verify_proposal
from critic.session.call_batch import Batch
from evals.context import SentValues
from evals.unread import UnreadProposal, unread_body
from harness.canonical import canonical_bytes, canonical_json
from harness.guard import Guard, session_inputs
from harness.guard.session_inputs import BatchInputs, _GrowingMember
from harness.guard.session_journal import Marks
from harness.log import SqlDecisionLog
from harness.record.decision import drafted_inputs, spell_inputs
from harness.record.drafts import Parted
from harness.record.index_row import input_columns
from harness.record.parts import new_pieces, whole_of
from harness.record.record_kinds import permit_digest
from harness.replay import replay
from harness.runtime.permit import issue_permit
from harness.wire import detached_copy
from tests.support.guarding import answers_to, call, desk, guard_of, open_, result, streams

STREAMS = [*streams("desk"), *streams("refunds")]


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[BatchInputs]:
    """Return what guards record, as they do."""
    made: list[BatchInputs] = []
    known = Marks.inputs_of

    def inputs_of(marks: Marks, batch: Batch) -> BatchInputs:
        made.append(known(marks, batch))
        return made[-1]

    monkeypatch.setattr(Marks, "inputs_of", inputs_of)
    return made


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["name"])
def test_it_is_named_as_the_whole_proposal_is(
    case: Any, batches: list[BatchInputs], tmp_path: Path
) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers_to(guard_of(case["policy"], log=log), case["events"])
    for inputs in batches:
        require_same(inputs)


def require_same(inputs: BatchInputs) -> None:
    digests, bodies = spell_inputs(inputs.batch.proposal)
    drafted = drafted_inputs(inputs.handed_out(), inputs)
    assert drafted.digests.wire() == digests
    assert drafted.member == canonical_json(digests)
    assert drafted.columns == input_columns(inputs.batch.ctx, inputs.batch.plan)
    assert inputs.digest == permit_digest(digests, bodies)
    for digest, body in drafted.bodies.items():
        if isinstance(body, Parted):
            assert whole_of(body.body, body.pieces).data == bodies[digest]
            assert body.size == len(bodies[digest])
        else:
            assert body == bodies[digest]
    handed = inputs.handed_out()
    assert unread_body(handed.compiled) == bodies[digests["compiled"]]
    assert canonical_bytes(handed) == canonical_bytes(inputs.batch.proposal)


LOOKS: dict[str, Callable[[Proposal], Any]] = {
    "a field": lambda one: one.plan,
    "its fields": vars,
    "verify": verify_proposal,
    "permit": issue_permit,
    "wire": lambda one: one.wire(),
    "repr": repr,
    "str": str,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda one: pickle.loads(pickle.dumps(one)),  # noqa: S301 - our own
    "compare": lambda one: one == one.model_copy(),
    "detached": detached_copy,
}


@pytest.mark.parametrize("how", LOOKS)
def test_looking_at_a_proposal_that_is_handed_out_makes_it_an_ordinary_one(
    how: str, batches: list[BatchInputs], tmp_path: Path
) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers_to(guard_of(desk(), log=log), session(1))
    inputs = batches[0]
    handed, other = inputs.handed_out(), inputs.handed_out()
    assert type(handed) is UnreadProposal
    seen = LOOKS[how](handed)
    assert type(handed) is Proposal
    assert type(seen) is not UnreadProposal
    assert type(other) is UnreadProposal
    assert handed.ctx is not other.ctx
    assert canonical_bytes(handed) == canonical_bytes(other)


def session(count: int) -> list[dict[str, Any]]:
    """Return the events of a session that reads so many notes."""
    events = [open_(request="Read my notes")]
    for at in range(count):
        events.append(call("read_note", id=f"c{at}", name=f"{at}.md"))
        events.append(result(f"{at} " * 300, id=f"c{at}"))
    return events


def test_a_record_stores_what_is_new(batches: list[BatchInputs], tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers_to(guard_of(desk(), log=log), session(70))
        assert {one.status for one in replay(log)} == {"same"}
        stored = dict(log.bodies())
    known: set[str] = set()
    sizes = []
    for inputs in batches:
        require_same(inputs)
        body = inputs.parts["compiled"].body
        assert isinstance(body, Parted)
        new = new_pieces(body, known)
        known.update(new)
        sizes.append(len(body.body) + sum(map(len, new.values())))
        assert new.items() <= stored.items()
        assert stored[inputs.parts["compiled"].digest] == body.body
    assert len(batches) == 140
    assert len({id(one) for one in batches}) == 70  # each of a ruling and of its outcome
    assert max(sizes[40:]) < 1.5 * max(sizes[:40])


def acting(count: int) -> list[dict[str, Any]]:
    """Return the events of a session that acts so often. A call that fails spends nothing."""
    names = [f"gr\u00fc\u00dfe-{at}.pdf" for at in range(count)]
    events = [open_(request=f"Shred {', '.join(names)}")]
    for at, name in enumerate(names):
        status = "failed" if at % 3 == 2 else "completed"
        events.append(call("shred", id=f"c{at}", name=name))
        events.append(call("list_mail", id=f"m{at}"))
        events.append(result({"\u00e9": 1.0, "n": 1e30}, id=f"c{at}", status=status))
    return events


@pytest.mark.slow
def test_what_a_session_did_is_spelled_once(
    batches: list[BatchInputs], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spelled: list[SentValues] = []

    def spell(envelope: Any) -> bytes:
        spelled.extend([envelope] if isinstance(envelope, SentValues) else [])
        return canonical_bytes(envelope)

    monkeypatch.setattr(session_inputs, "canonical_bytes", spell)
    policy = desk(max_questions=9, budget={"max_steps": 999, "bucket_tokens": 0})
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers_to(guard_of(policy, log=log), acting(135))
        assert {one.status for one in replay(log)} == {"same", "open"}
    monkeypatch.undo()
    assert len(spelled) == len({id(one) for one in spelled}) == 135
    known: set[str] = set()
    sizes = []
    for at, inputs in enumerate(batches):
        if at % 8 == 0:  # it spells all of it
            require_same(inputs)
        body = inputs.parts["ctx"].body
        assert isinstance(body, Parted)
        new = new_pieces(body, known)
        known.update(new)
        sizes.append(len(body.body) + sum(map(len, new.values())))
    spent = batches[-1].batch.ctx.spent
    assert spent
    assert len(spent.calls or ()) == 90  # without the failed ones
    assert max(sizes[200:]) < 1.5 * max(sizes[:200])


def test_nothing_is_kept_of_a_batch_that_ended() -> None:
    marks: list[Marks] = []

    class Noting(Guard):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            begin = self._recorder.begin
            self._recorder.begin = lambda name: marks.append(begin(name)) or marks[-1]  # type: ignore

    kept = type("Log", (), {"append": lambda _, given: type("Record", (), {"seq": 1, "of": given})})
    answers_to(guard_of(desk(), kind=Noting, log=kept()), session(3))
    assert [one.inputs for one in marks] == [{}]


def test_acts_of_futures_that_part_are_spelled_as_they_are() -> None:
    """One of them may be taken back, and another one come in its place."""
    a, b, c, d = (SentValues(seq=at, values=(f"v{at}",)) for at in range(4))
    member = _GrowingMember()
    for acts in ([a], [a, b], [a], [a, c], [a, c, d], [a, b, d], [b, c, d], [], [d, c], [a, b]):
        assert member.spell(acts) == _GrowingMember().spell(acts)
