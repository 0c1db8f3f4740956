"""Drift: what a policy and the code of its tools do not agree on, and what is only narrower."""

import re
import sys
from types import ModuleType
from typing import Any

import pytest

from harness.policy import Policy, parse_policy
from harness.policy.analysis.derive_tools import ToolDraft, drafts_of_module
from harness.policy.analysis.policy_writing import derived_policy
from harness.policy.analysis.tool_drift import find_drift

CODE = """
from typing import Literal
def pay(to: str, eur: int, way: Literal["sepa", "card"] = "sepa", note: str | None = None): ...
def look(order: str): ...
"""


def drafts(source: str = CODE) -> list[ToolDraft]:
    made = ModuleType("own.drifting")
    sys.modules["own.drifting"] = made
    exec(source, vars(made))  # noqa: S102 - the text is right above
    return drafts_of_module(made)


def policy(change: Any = lambda text: text) -> Policy:
    text = change(derived_policy("own", "own", drafts()))
    return parse_policy(text.encode()).policy


def messages(found: Policy, source: str = CODE) -> list[str]:
    findings = find_drift(found, drafts(source), "own:agent")
    assert {finding.rule for finding in findings} <= {"drift"}
    return [finding.message for finding in findings]


def test_a_policy_that_was_just_written_has_not_drifted() -> None:
    assert messages(policy()) == []


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            "def look(",
            "def peek(",
            ["tool look: own:agent has no such tool", "tool peek: own:agent"],
        ),
        ("order: str", "order_id: str", ["its code takes no order", "its code takes order_id too"]),
        ("order: str", "order: str | int", ["takes a number for order, and args_schema refuses"]),
        ("order: str", "order: str | None", ["takes null for order, and args_schema refuses"]),
        ("order: str", 'order: str = "last"', ["can be called without order, and args_schema"]),
        ('"card"]', '"card", "cash"]', ["its code takes cash for way"]),
        ("note: str | None = None", "", ["its code takes no note"]),
        ("note: str | None = None", "note: str = ''", []),
        ('"sepa", "card"', '"sepa"', []),
    ],
)
def test_what_the_code_changed_is_found(before: str, after: str, words: list[str]) -> None:
    assert before in CODE
    found = messages(policy(), CODE.replace(before, after))
    assert len(found) == len(words)
    assert all(any(word in message for message in found) for word in words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('eur = \\{ type = "integer"', 'eur = { type = "integer", maximum = 50'),
        ('to = \\{ type = "string"', 'to = { type = "string", pattern = "^x$"'),
        ("args_schema", "args_schema"),
    ],
)
def test_a_policy_may_be_narrower(before: str, after: str) -> None:
    assert messages(policy(lambda text: re.sub(before, after, text, count=1))) == []


def test_a_role_for_what_no_code_takes_is_found_at_its_place() -> None:
    changed = policy(lambda text: text.replace('to = "recipient"', 'tto = "recipient"'))
    (found,) = find_drift(changed, drafts(), "own:agent")
    assert found.message == "tool pay: its code takes no tto: did you mean to? remove it"
    assert found.path.endswith("/arg_roles/tto")


def test_a_tool_whose_arguments_are_not_known_is_compared_by_name() -> None:
    assert messages(policy(), CODE.replace("order: str", "order: str, /")) == []
