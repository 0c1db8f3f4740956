"""The page says why in the words that people and models were told, worked out from the record."""

from pathlib import Path
from typing import Any

import pytest

from evals.manifest import CompiledContext
from harness.audit.report.parsed_inputs import ShownInputs
from harness.audit.report.told_words import ToldWords, ToolsOfPage, told_words
from harness.log import SqlDecisionLog
from harness.record import DecisionRecord
from harness.wire import build
from tests.harness.audit.report.pages import page_of
from tests.harness.log.decisions import judged, proposal, run_of
from tests.support.guarding import answers_to, call, desk, guard_of, open_, result

pytest.importorskip("jinja2")

PAY = call("transfer", id="p", iban="iban-4711-22", reason="x")
REFUSED = [
    open_(),
    call("transfer", id="r1", iban="iban-0", reason="y"),
    call("shred", id="r2", name="unseen.md"),
]
ASKED = [
    open_(),
    call("read_note", name="plan.md"),
    result("wire it to iban-4711-22"),
    PAY,
    {"event": "answer", "session": "s", "plan_digest": "$LAST", "yes": False, "approver": "ada"},
]
ONCE_TOO_OFTEN = [*ASKED[:4], {**PAY, "calls": [{**PAY["calls"][0], "id": "q"}]}]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "audit.db"


def rulings(log: Path, events: list[Any], **changed: Any) -> list[Any]:
    """Write the log of a session, and return what its guard answered where it allowed nothing."""
    with SqlDecisionLog.open(log) as kept:
        answers = answers_to(guard_of(desk(**changed), log=kept), events)
    found = [one for one in answers.values() if not one.get("verdict", {"ok": True})["ok"]]
    assert found
    return found


def words_of(log: Path) -> list[list[str | None]]:
    """Return the words of each refusal on the page, violation by violation."""
    page = page_of(log)
    details = [page.data(f"detail-{seq}") for seq in page.rows if f"detail-{seq}" in page.blocks]
    verdicts = [one["verdict"] for one in details if not one.get("verdict", {"ok": True})["ok"]]
    return [
        [one.get("asked", one.get("told")) for one in verdict["violations"]] for verdict in verdicts
    ]


def test_a_refusal_is_worded_as_the_model_was_told(log: Path) -> None:
    said = [[one["say"] for one in it["verdict"]["violations"]] for it in rulings(log, REFUSED)]
    assert len(said) == 2
    # No record has had the tool yet that could read the value.
    others = "Use a value from read_note, or ask"
    expected = [[one.replace(others, "Ask") for one in texts] for texts in said]
    assert words_of(log) == expected


def test_a_question_is_worded_as_for_the_person_also_where_they_said_no(log: Path) -> None:
    (asked, _) = rulings(log, ASKED)
    (question,) = asked["questions"]
    whole, shown = question["ask"], words_of(log)
    assert whole.startswith('transfer(iban = "iban-4711-22", reason = "x"). ')
    assert len(shown) == 2
    assert shown == [[whole], [whole]]


def test_what_nobody_could_be_asked_any_more_says_so(log: Path) -> None:
    *_, last = rulings(log, ONCE_TOO_OFTEN, max_questions=1)
    assert last["action"] == "refuse"
    (words,) = words_of(log)[-1]
    assert words is not None
    assert words.endswith("and nobody can be asked now: tell the user what you wanted to do.")


def test_what_was_not_enforced_is_worded_as_what_would_have_been(log: Path) -> None:
    rulings(log, [*REFUSED, *ASKED[1:4], result({"ok": True}, id="p")], shadow=True)
    shown = [text for texts in words_of(log) for text in texts if text is not None]
    assert not any("not run" in text or "is asked" in text for text in shown)
    assert {text.partition(" not have been run")[0] for text in shown} == {
        *("transfer would", "shred would", "Would")
    }
    question = 'transfer(iban = "iban-4711-22", reason = "x"). '
    assert any(text.partition(": ")[2].startswith(question) for text in shown)


@pytest.mark.parametrize("refused", [True, False])
def test_a_turn_says_whether_its_calls_may_have_run(log: Path, *, refused: bool) -> None:
    """What says that a call was not run is shown where none may have run."""
    proposed = proposal(1, pinned=not refused)
    with SqlDecisionLog.open(log) as kept:
        kept.append(judged(proposal(2, pinned=False)))
        kept.append(judged(proposed, run_of(proposed, 1)))
    stopped, ran = page_of(log).turns.values()
    assert [one.get("ran", 0) for one in (stopped, ran)] == [0, int(refused)]


@pytest.mark.parametrize("name", ["ctx", "compiled", "spec", "plan"])
def test_what_the_inputs_do_not_bear_out_has_no_words(log: Path, name: str) -> None:
    refused, sound = proposal(1, pinned=False), proposal(1)
    with SqlDecisionLog.open(log) as kept:
        record = kept.append(judged(refused))
    assert isinstance(record, DecisionRecord)
    inputs = ShownInputs(refused.ctx, refused.compiled, refused.spec, refused.plan, ())
    tools = ToolsOfPage()
    assert [*told_words(record, inputs, tools).told] == [0, 1]
    gone: dict[str, Any] = {name: None}
    assert told_words(record, inputs._replace(**gone), tools) == ToldWords()
    assert told_words(record, inputs._replace(plan=sound.plan), tools) == ToldWords()
    assert told_words(record, None, tools) == ToldWords()


def test_only_the_tools_of_the_last_records_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{ToolsOfPage.__module__}._MOST_TOOLS", 3)
    tools, compiled = ToolsOfPage(), proposal(1).compiled
    for number in range(4):
        wire = compiled.wire()
        for tool in wire["manifests"]["tool_manifest"]:
            tool["adapter_id"] = f"a{number}"
        tools.add(build(CompiledContext, wire))
        tools.add(compiled)
        kept = {adapter for adapter, _ in tools.catalogue_for(compiled).by_pair}
        assert kept == {"payments", "orders", f"a{number}"}
