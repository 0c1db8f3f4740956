"""A record of a session names what the whole is named, at the cost of what is new."""

from pathlib import Path
from typing import Any

import pytest

from critic.session.call_batch import Batch
from evals.unread import unread_body
from harness.canonical import canonical_bytes
from harness.guard import Guard
from harness.guard.session_inputs import BatchInputs
from harness.guard.session_journal import Marks
from harness.log import SqlDecisionLog
from harness.record.decision import drafted_inputs, spell_inputs
from harness.record.drafts import Parted
from harness.record.parts import new_pieces, whole_of
from harness.record.record_kinds import permit_digest
from harness.replay import replay
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
    named, spelled = drafted_inputs(inputs.handed_out(), inputs)
    assert named == digests
    assert inputs.digest == permit_digest(digests, bodies)
    for digest, body in spelled.items():
        if isinstance(body, Parted):
            assert whole_of(body.body, body.pieces).data == bodies[digest]
            assert body.size == len(bodies[digest])
        else:
            assert body == bodies[digest]
    handed = inputs.handed_out()
    assert unread_body(handed.compiled) == bodies[digests.compiled]
    assert canonical_bytes(handed) == canonical_bytes(inputs.batch.proposal)


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
