"""The summary of a tool is checked where it is written: by its line, and when a policy is built."""

from typing import Any

import pytest

from critic.replies.quoting import Pen
from critic.replies.summaries import summarize_call
from harness.policy import Policy
from harness.policy.policy_reading import InvalidPolicy, parse_policy
from harness.wire import InvalidInput, build

TEXT = """[guard]
safety_mode = "destructive"
[spec]
id = "shop"
required_outputs = []
[[tool]]
adapter_id = "shop"
capability_id = "pay"
approval_mode = "destructive"
arg_roles = { to = "recipient", "/items/*/id" = "object" }
args_schema = { properties = { amount = { type = "number" } } }
summary = "%s"
"""


@pytest.mark.parametrize("summary", ["Pay {amount} to {to}", "Pay", "{{x}} {items}", ""])
def test_a_summary_may_name_what_the_tool_is_known_to_take(summary: str) -> None:
    policy = parse_policy((TEXT % summary).encode()).policy
    assert policy.tool[0].summary == summary


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("Pay {amuont}", "the tool takes no argument amuont: known are amount, to, items"),
        ("Pay {amount", "expected '}'"),
        ("Pay {amount!r}", "{amount} is not the name of an argument"),
        ("Pay {to.x}", "{to.x} is not the name of an argument"),
        ("Pay {}", "{} is not the name of an argument"),
        ("Pay }", "Single '}'"),
    ],
)
def test_any_other_is_a_fault_with_its_line(summary: str, said: str) -> None:
    with pytest.raises(InvalidPolicy) as raised:
        parse_policy((TEXT % summary).encode())
    (fault,) = raised.value.faults
    assert (fault.line, fault.path) == (12, "/tool/0/summary")
    assert said in fault.message


def test_a_policy_that_is_built_is_checked_too() -> None:
    wire: dict[str, Any] = parse_policy((TEXT % "Pay").encode()).policy.wire()
    wire["tool"][0]["summary"] = "Pay {amuont}"
    with pytest.raises(InvalidInput, match="takes no argument amuont"):
        build(Policy, wire)


def test_a_call_without_an_argument_of_its_summary_is_told_in_the_plain_form() -> None:
    args = {"to": "ann", "note": "for\nlunch"}
    assert summarize_call(Pen(), "pay", args, "Pay {amount} to {to}") == (
        'pay(to = "ann", note = "for\\nlunch")'
    )
    assert summarize_call(Pen(), "pay", args, "Pay {to}") == 'Pay ann (pay; note "for\\nlunch")'
    assert summarize_call(Pen(), "pay", {"to": "a b"}, "Pay {to}") == 'Pay "a b" (pay)'
