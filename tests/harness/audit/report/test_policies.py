"""The policies that ruled on the decisions of a page, and what changed from one to the next."""

import copy
from pathlib import Path
from typing import Any

import pytest

from harness.audit.copies.redaction import Wanted, redact_log, value_named
from harness.audit.report import page_policies
from harness.audit.report.collecting import collect
from harness.audit.report.page_policies import ShownPolicy
from harness.log import SqlDecisionLog
from tests.harness.audit.report.hostile_log import TRAPS
from tests.harness.audit.report.pages import page_of, text_of
from tests.harness.log.decisions import NOON, decision
from tests.support.guarding import Json, answers_to, call, close, desk, guard_of, open_, policy_of

pytest.importorskip("jinja2")


def session(name: str, *tools: str) -> list[Json]:
    words = open_(name, request="Look at my mail and at plan.md")
    args: dict[str, Json] = {"read_note": {"name": "plan.md"}}
    calls = [call(tool, name, f"{name}{tool}", **args.get(tool, {})) for tool in tools]
    return [words, *calls, close(name)]


def write(path: Path, *ruled: tuple[Json, list[Json]]) -> Path:
    """Write a log in which each policy ruled on some events, one after the other."""
    with SqlDecisionLog.open(path) as log:
        for policy, events in ruled:
            answers_to(guard_of(policy, log=log), events)
    return path


def shown(path: Path, last: int = 10_000) -> list[ShownPolicy]:
    with SqlDecisionLog.open_for_reading(path) as log:
        return [*collect(log, last, 1 << 26).policies.list_shown()]


def changed(**tool: Any) -> Json:
    """Return the policy of the desk with another tool to read notes, and another mode."""
    wire = copy.deepcopy(desk(safety_mode="delegated"))
    for one in wire["tool"]:
        if one["capability_id"] == "read_note":
            one.update(tool)
    return wire


def test_what_changed_is_told_of_what_is_on_record_of_both(tmp_path: Path) -> None:
    new = changed(approval_mode="local_write")
    log = write(
        tmp_path / "log.db",
        (desk(), session("one", "read_note", "list_mail")),
        (new, session("two", "read_note")),
        (desk(), session("three", "list_mail")),
    )
    first, second = shown(log)
    assert [one.policy.digest for one in (first, second)] == [
        policy_of(wire).digest() for wire in (desk(), new)
    ]
    assert first.changes is None
    assert second.changes is not None
    assert [one.title for one in second.changes] == ["safety mode", "tool desk/read_note"], (
        "the mail was not read under it: that it is gone is not known"
    )
    lines = {(line.sign, line.text.strip(' ",')) for one in second.changes for line in one.lines}
    assert {("-", "destructive"), ("+", "delegated")} <= lines
    assert {
        ("-", 'approval_mode": "read_only'),
        ("+", 'approval_mode": "local_write'),
    } <= lines
    assert len(first.policy.turns) == 3
    page = page_of(log)
    assert "The policy that ruled, and how it changed" in page.said
    assert "2 changes since the one before" in page.said
    assert page.said.count(policy_of(new).digest()) == 1
    assert sum(row == ("ins",) for row in page.shape) == 2 == page.shape.count(("del",))


def test_one_policy_has_no_changes_and_the_last_records_have_theirs(tmp_path: Path) -> None:
    log = write(
        tmp_path / "log.db",
        (desk(), session("one", "list_mail")),
        (changed(), session("two", "list_mail")),
    )
    (only,) = shown(log, last=2)
    assert (only.policy.digest, only.changes) == (policy_of(changed()).digest(), None)
    assert "The policy that ruled," not in page_of(log, last=2).said


def test_turns_whose_calls_wait_make_no_other_policy(tmp_path: Path) -> None:
    def told(late: str, name: str) -> tuple[Json, list[Json]]:
        policy = desk()
        policy["spec"] = {**policy["spec"], "late": late}
        first, then = ({"id": one, "tool": "list_mail", "args": {}} for one in "ab")
        waits = {"event": "calls", "session": name, "calls": [first, {**then, "after": ["a"]}]}
        return policy, [*session(name, "list_mail")[:-1], waits, close(name)]

    sources, values = told("sources", "one"), told("values", "two")
    log = write(tmp_path / "log.db", sources, values, (values[0], session("three", "list_mail")))
    first, second = shown(log)
    assert [one.policy.digest for one in (first, second)] == [
        policy_of(wire).digest() for wire, _ in (sources, values)
    ]
    assert second.changes is not None
    assert [one.title for one in second.changes] == ["late"]
    assert [(line.sign, line.text) for line in second.changes[0].lines] == [
        ("-", '"sources"'),
        ("+", '"values"'),
    ]
    plain = write(tmp_path / "plain.db", sources, (values[0], session("three", "list_mail")))
    assert [one.changes for one in shown(plain)] == [None, ()]


def test_policies_for_two_specs_are_not_compared(tmp_path: Path) -> None:
    other = desk()
    other["spec"] = {**other["spec"], "id": "counter"}
    log = write(
        tmp_path / "log.db",
        (desk(), session("one", "list_mail")),
        (other, session("two", "list_mail")),
    )
    assert [one.changes for one in shown(log)] == [None, None]


@pytest.mark.parametrize("text", [TRAPS[0], "".join(TRAPS)], ids=["a script", "all"])
def test_no_text_of_a_policy_is_markup_or_is_hidden(text: str, tmp_path: Path) -> None:
    def told(words: str, name: str) -> Path:
        schema = {"type": "object", "description": words}
        new = changed(args_schema={**schema, "title": f"new {words}"})
        return write(
            tmp_path / name,
            (changed(args_schema=schema), session("one", "read_note")),
            (new, session("two", "read_note")),
        )

    plain, hostile = page_of(told("x", "plain")), told(text, "hostile")
    assert page_of(hostile).shape == plain.shape
    assert all(char.isprintable() or char == "\n" for char in text_of(hostile))


def test_a_decision_without_inputs_says_nothing_of_a_policy(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        log.append_all([decision(1), decision(2)])
        wanted = Wanted([value_named("1:/inputs/spec")])
        redact_log(log, tmp_path / "less.db", wanted, by="ada", because="asked", now=NOON)
    assert [len(one.policy.turns) for one in shown(tmp_path / "log.db")] == [2]
    assert "No decision here has inputs that can be read" in page_of(tmp_path / "less.db").said


def test_no_more_than_fifty_are_shown(tmp_path: Path) -> None:
    def numbered(number: int) -> Json:
        return desk(max_questions=number)

    log = write(
        tmp_path / "log.db",
        *((numbered(at), session(f"s{at}", "list_mail")) for at in range(1, 53)),
    )
    assert len(shown(log)) == 50
    assert "under further policies are not counted here" in page_of(log).said


def test_what_does_not_fit_is_left_out_and_never_said_to_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_policies, "_MOST_TEXT", 1_200)
    many = [(changed(args_schema={"const": n}), session(f"s{n}", "read_note")) for n in range(6)]
    log = write(tmp_path / "log.db", *many)
    found = shown(log)
    gone = [one for one in found if None in one.policy.parts.values()]
    assert 0 < len(gone) < len(found)
    assert [one.changes for one in gone] == [()] * len(gone)
    assert "left out here" in gone[0].policy.text
    assert sum(len(said or "") for one in found for said in one.policy.parts.values()) <= 1_200


def test_a_policy_that_is_not_enforced_any_more_says_so(tmp_path: Path) -> None:
    refused = [open_("one"), call("shred", "one", name="unseen.md")]
    again = [{**one, "session": "two"} for one in refused]
    log = write(tmp_path / "log.db", (desk(), refused), (desk(shadow=True), again))
    first, second = shown(log)
    assert "enforcement\nenforced" in first.policy.text
    assert "enforcement\nnot enforced" in second.policy.text
    assert second.changes is not None
    (change,) = second.changes
    assert (change.title, [(line.sign, line.text) for line in change.lines]) == (
        "enforcement",
        [("-", "enforced"), ("+", "not enforced")],
    )


def test_enforcement_is_told_anew_where_it_changes_under_one_policy(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        log.append(decision(1, kind="refused"))
        log.append(decision(2, kind="refused").model_copy(update={"action": "shadow"}))
    (only,) = shown(tmp_path / "log.db")
    assert "enforcement\nenforced" in only.policy.text
    assert "enforcement from record 2 on\nnot enforced" in only.policy.text


def test_what_was_allowed_does_not_tell_whether_a_policy_is_enforced(tmp_path: Path) -> None:
    log = write(tmp_path / "log.db", (desk(shadow=True), session("one", "read_note")))
    (only,) = shown(log)
    assert "enforce" not in only.policy.text
