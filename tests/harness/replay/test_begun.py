"""What ends an execution fits its beginning, member by member, and comes after it."""

from typing import Any

import pytest

from harness.canonical import canonical_json
from harness.record import RawRecord
from harness.record.drafts import begun_claim
from harness.record.integrity import StoredDocument, read_text_of
from harness.replay.begun import check_begun, check_end, check_settled
from harness.replay.log_page import Page
from harness.replay.problems import Problems
from tests.harness.record.every_kind import BEGUN, begun_record

HASH = "b" * 64
NAMES = ("ctx", "compiled", "spec", "plan")
INPUTS = {name: character * 64 for name, character in zip(NAMES, "1234", strict=True)}


def stored(seq: int, own: str, value: dict[str, Any]) -> StoredDocument:
    raw = RawRecord(seq, own, canonical_json({"seq": seq, "hash": own, **value}))
    return read_text_of(raw, checked=False)


def problems_of(begun: StoredDocument, ending: StoredDocument) -> list[str]:
    problems = Problems()
    check_end(ending, Page(named={begun.raw.hash: begun}), problems)
    assert not problems.incomplete
    return problems.tampered


BEGINNING = {"kind": "begun", "inputs": INPUTS, "action": "allow"}
ENDING = {"begun": HASH, "inputs": INPUTS, "action": "allow"}


@pytest.mark.parametrize("name", NAMES)
def test_an_execution_is_ended_with_the_very_inputs_with_which_it_began(name: str) -> None:
    begun = stored(3, HASH, BEGINNING)
    assert problems_of(begun, stored(4, "c" * 64, ENDING)) == []
    other = {**INPUTS, name: "f" * 64}
    changed = stored(4, "c" * 64, {**ENDING, "inputs": other})
    assert problems_of(begun, changed) == [
        "record 3, in which its execution began, has other inputs"
    ]


@pytest.mark.parametrize("began", ["allow", "shadow"])
@pytest.mark.parametrize("ended", ["allow", "shadow", "refuse", "ask"])
@pytest.mark.parametrize("refused_at", [None, "open", "score", "verify", "Open"])
def test_an_execution_is_ended_with_the_action_with_which_it_began(
    began: str, ended: str, refused_at: str | None
) -> None:
    """A shadow alone shows at its end: an opening was refused, and the next call was made."""
    begun = stored(3, HASH, {**BEGINNING, "action": began})
    report = {} if refused_at is None else {"report": {"refused_at": refused_at}}
    told = problems_of(begun, stored(4, "c" * 64, {**ENDING, **report, "action": ended}))
    is_late_shadow = (began, ended, refused_at) == ("allow", "shadow", "open")
    assert (told == []) == (began == ended or is_late_shadow)


@pytest.mark.parametrize("seq", [2, 3, 4])
def test_an_execution_is_ended_after_it_began(seq: int) -> None:
    told = problems_of(stored(3, HASH, BEGINNING), stored(seq, "c" * 64, ENDING))
    assert (told == []) == (seq > 3)


@pytest.mark.parametrize("kind", ["begun", "settled", "closed", "decision", "critic_error"])
@pytest.mark.parametrize("by", ["decision", "settled"])
def test_only_what_stands_for_an_execution_is_ended(kind: str, by: str) -> None:
    """A decision also ends a settlement; nobody settles what was settled."""
    begun = {name: one for name, one in BEGINNING.items() if name != "kind"}
    begun |= {} if kind == "decision" else {"kind": kind}
    ending = ENDING if by == "decision" else {**ENDING, "kind": by}
    told = problems_of(stored(3, HASH, begun), stored(4, "c" * 64, ending))
    assert (told == []) == (kind == "begun" or (kind, by) == ("settled", "decision"))


def test_what_began_nowhere_is_missed() -> None:
    problems = Problems()
    check_end(stored(4, "c" * 64, ENDING), Page(), problems)
    assert problems.incomplete == [f"the record of its beginning is missing: no {HASH}"]


@pytest.mark.parametrize("by", [2, 3, 4, None])
@pytest.mark.parametrize("outcome", ["ran", "unknown"])
def test_a_record_that_is_said_to_end_an_execution_comes_after_it(
    by: int | None, outcome: str
) -> None:
    record = begun_record()
    document = stored(3, HASH, record.wire())
    claims = {} if by is None else {begun_claim(document.raw.hash): by}
    begun, settled = Problems(), Problems()
    check_begun(document, record, None, Page(claims=claims), begun)
    said: Any = type("Said", (), {"outcome": outcome, "by": "ada", "trace_id": "t"})
    check_settled(document, said, Page(claims=claims), settled)
    for problems in (begun, settled):
        assert bool(problems.tampered) == (by in (2, 3))
        assert problems.is_ended == (by is not None)
    assert bool(begun.unended) == (by is None)
    assert bool(settled.notes) == (by is None and outcome == "unknown")


@pytest.mark.parametrize("change", ["none", "other id", "other plan", "one", "swapped", "more"])
def test_an_execution_relies_on_the_very_approvals_that_its_plan_needs(change: str) -> None:
    record = begun_record()
    first, second = record.approvals or ()
    approvals: dict[str, tuple[Any, ...] | None] = {
        "none": None,
        "other id": (first, second.model_copy(update={"approval_id": "a_7"})),
        "other plan": (first, second.model_copy(update={"plan_digest": "f" * 64})),
        "one": (first,),
        "swapped": (second, first),
        "more": (first, second, second.model_copy(update={"approval_id": "a_7"})),
    }
    wrong = record.model_copy(update={"approvals": approvals[change]})
    for one, told in (
        (record, []),
        (wrong, ["its approvals are not those that its plan needs"]),
    ):
        problems = Problems()
        document = stored(3, HASH, one.wire())
        claims = {begun_claim(HASH): 4}
        check_begun(document, one, BEGUN.proposal, Page(claims=claims), problems)
        assert problems.tampered == told
