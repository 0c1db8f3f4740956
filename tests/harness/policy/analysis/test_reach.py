"""Who can choose what a call does: sessions that are judged, and what the lint shows of it."""

import pytest

from critic import EvidenceItem
from harness.clock import FixedClock
from harness.guard import Guard
from harness.policy import lint
from harness.policy.analysis.label_witness import show_witnesses
from harness.policy.analysis.lint_finding import LintFinding
from harness.policy.analysis.policy_facts import PolicyFacts
from harness.policy.analysis.reach import reach_rows
from harness.policy.analysis.trial_session import choices_of, judge_choice
from tests.harness.policy.analysis.shop_policies import (
    CLASSES,
    LISTS,
    SENDS,
    TEXT,
    Json,
    changed,
    rules_of,
    shop,
)
from tests.harness.policy.policies import document
from tests.support.guarding import NOON, answers_to

PUBLIC: Json = changed(LISTS, result={"author": "public"}, yields=...)
BELIEVED: Json = changed(LISTS, result=TEXT, yields=...)
PAGE: Json = changed(
    PUBLIC,
    name="open_page",
    capability_id="open_page",
    approval_mode="network",
    arg_roles={"url": "locator"},
    result={"author": "public", "web": True},
    args_schema=changed(
        SENDS["args_schema"], required=["url"], properties={"url": {"type": "string"}}
    ),
)
MAILS: Json = {"author": "public", "format": "json"}
SENTENCES: Json = {"id": "system", "subject": "system"}


def answers(value: Json, tool: str, argument: str) -> dict[str, str]:
    """Return how a call is answered that a result of each tool chose, by that tool."""
    rows = [row for row in reach_rows(document(value).policy, tool) if row.argument == argument]
    return {name: row.answer for row in rows for name in row.sources}


def test_what_anybody_wrote_chooses_no_recipient() -> None:
    found = answers(shop(PUBLIC), "send", "to")
    assert found["list_mail"] == "refused"
    assert found["find_order"] == "allowed"


def test_a_page_that_the_request_names_asks() -> None:
    assert answers(shop(PUBLIC, PAGE), "send", "to")["open_page"] == "asked"


def test_what_is_believed_chooses_a_recipient() -> None:
    assert answers(shop(BELIEVED), "send", "to")["list_mail"] == "allowed"


def test_a_value_that_is_looked_up_is_told_with_the_tool_that_did() -> None:
    policy = document(shop(PUBLIC)).policy
    rows = [row for row in reach_rows(policy, "refund") if row.argument == "order"]
    assert {row.through for row in rows if "list_mail" in row.sources} == {("find_order",)}


def test_tools_of_the_same_results_are_one_row() -> None:
    twin = changed(PUBLIC, name="list_chat", capability_id="list_chat")
    rows = [*reach_rows(document(shop(PUBLIC, twin)).policy, "send")]
    assert any({"list_mail", "list_chat"} <= {*row.sources} for row in rows)
    assert len(rows) == len({(row.argument, row.sources) for row in rows})


def test_a_believed_inbox_is_shown_with_what_it_chooses() -> None:
    found = rules_of(shop(BELIEVED))
    assert 'others choose "to" of send, with nobody asked' in found["author_above_guess"].message
    assert found["author_above_guess"].severity == "warning"
    reached = found["public_reaches_target"]
    assert (reached.severity, reached.path) == ("error", "/tool/2/arg_roles/to")
    assert 'result of list_mail chooses "to", and nobody is asked' in reached.message


def test_a_wrong_label_that_reaches_nothing_is_a_note() -> None:
    value = {**shop(), "tool": [BELIEVED], "class": []}
    found = {one.rule: one for one in lint(document(value).policy)}
    assert found["author_above_guess"].severity == "note"
    assert "public_reaches_target" not in found


def test_a_field_of_sentences_is_shown_with_what_it_chooses() -> None:
    risky = shop(of=[{"name": "mail", "fields": SENTENCES}, CLASSES[1]])
    found = rules_of(risky)
    assert "others choose" in found["free_text_as_field"].message
    assert found["free_text_as_field"].severity == "error"
    text = changed(LISTS, result={"author": "public"})
    assert (
        rules_of(shop(text, of=[{"name": "mail", "fields": SENTENCES}, CLASSES[1]]))[
            "free_text_as_field"
        ].severity
        == "note"
    )


def test_evidence_of_anybody_is_shown_by_the_call_that_it_lets_pass() -> None:
    orders = changed(LISTS, yields="order", result={"author": "public"})
    found = rules_of(shop(orders))
    assert "others decide whether refund passes" in found["evidence_from_untrusted"].message


@pytest.mark.parametrize("rule", ["author_above_guess", "web_not_said"])
def test_a_witness_is_a_session_that_the_right_label_stops(rule: str) -> None:
    """Nothing is shown of a label that is right: the corrected policy is no stricter."""
    policy = document(shop(PUBLIC, changed(PAGE, name="list_web"))).policy
    facts = PolicyFacts(policy)
    at = 0 if rule == "author_above_guess" else len(policy.tool) - 1
    claimed = LintFinding(rule, f"/tool/{at}/result/author", "x: y")
    (said,) = show_witnesses(facts, [claimed])
    assert said.is_latent


def test_a_session_that_cannot_be_played_is_refused() -> None:
    facts = PolicyFacts(document(shop(BELIEVED)).policy)
    tools = {one.tool.called: one for one in facts.tools}
    choice = next(choices_of(facts, tools["list_mail"], tools["send"], "to"))
    assert judge_choice(facts.policy, choice) == "allow"
    reserved = EvidenceItem(id="call/1", classification="mail", content="x")
    taken = facts.policy.model_copy(update={"evidence": (reserved,)})
    assert judge_choice(taken, choice) is None


def test_a_choice_is_made_of_nothing_that_was_asked_for() -> None:
    facts = PolicyFacts(document(shop(PUBLIC)).policy)
    tools = {one.tool.called: one for one in facts.tools}
    choices = [*choices_of(facts, tools["list_mail"], tools["send"], "to")]
    assert choices
    for one in choices:
        assert one.value not in one.spoken
        assert judge_choice(facts.policy, one) == "refuse"


@pytest.mark.parametrize(
    "value",
    [
        shop(BELIEVED),
        shop(changed(PAGE, result=TEXT)),
        shop(of=[{"name": "mail", "fields": SENTENCES}, CLASSES[1]]),
        shop(changed(LISTS, yields="order", result={"author": "public"})),
    ],
)
def test_the_session_of_a_finding_is_answered_by_a_guard_as_the_finding_says(value: Json) -> None:
    policy = document(value).policy
    shown = [one for one in lint(policy) if one.witness]
    assert shown
    for finding in shown:
        rulings = answers_to(Guard(policy, clock=FixedClock(NOON)), list(finding.witness))
        action = "allow" if "nobody asked" in finding.message else "ask"
        if finding.rule == "public_reaches_target":
            action = "allow"
        assert rulings[len(finding.witness) - 1]["action"] == action, finding
