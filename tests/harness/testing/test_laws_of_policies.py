"""The laws on a policy: its results are made up, and a file that cannot be used is explained."""

from pathlib import Path

import pytest
from hypothesis import settings

from critic import DecisionSpec
from harness.policy import InvalidPolicy, Policy, parse_policy
from harness.policy.analysis.derive_tools import drafts_of_openai
from harness.policy.analysis.policy_writing import STARTER, derived_policy
from harness.policy.analysis.reach import unreached_tools
from harness.testing._draw.policies import context_of, with_results
from harness.testing.laws import LAWS, LawBroken, Laws, check_laws
from harness.wire import build

FEW = settings(max_examples=2, derandomize=True, database=None, deadline=None)
POLICY = """
[guard]
safety_mode = "destructive"
budget = { max_steps = 20, bucket_tokens = 9000 }
[spec]
id = "payments"
required_outputs = ["receipt"]
provenance = "closed"
[[tool]]
adapter_id = "bank"
capability_id = "pay"
approval_mode = "delegated"
requires_evidence = [{ class = "bill", about = { amount = "/amount" } }]
bound_args = { amount = { from = ["bill"], at = ["/amount"] } }
arg_roles = { to = "recipient", amount = "attribute" }
produces = ["receipt"]
[tool.args_schema]
type = "object"
required = ["to", "amount"]
additionalProperties = false
properties = { to = { type = "string", minLength = 1 }, amount = { type = "integer", minimum = 5 } }
"""
PARAMETERS = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
DRAFTS, _ = drafts_of_openai([{"type": "function", "name": "pay", "parameters": PARAMETERS}])
PLAIN = """
[guard]
safety_mode = "read_only"
[spec]
id = "reading"
required_outputs = []
[[tool]]
adapter_id = "files"
capability_id = "read"
approval_mode = "read_only"
"""


@pytest.mark.slow
def test_a_policy_with_provenance_and_demands_keeps_every_law(tmp_path: Path) -> None:
    path = tmp_path / "critic.toml"
    path.write_text(POLICY)
    assert Laws(policy=path).names == LAWS
    check_laws(policy=path, settings=FEW)


@pytest.mark.slow
@pytest.mark.parametrize("text", [STARTER, derived_policy("f.json", "tools", DRAFTS)])
def test_a_policy_as_it_is_begun_keeps_every_law(text: str) -> None:
    """Its provenance is closed and its tools have effects: plans that pass must be found."""
    policy = parse_policy(text.encode()).policy
    assert Laws(policy=policy).names == LAWS
    check_laws(policy=policy, settings=FEW)


def test_a_policy_without_any_of_it_keeps_the_laws_that_are_left() -> None:
    policy = parse_policy(PLAIN.encode()).policy
    assert 0 < len(Laws(policy=policy).names) < len(LAWS)
    check_laws(policy=policy, settings=FEW)


def test_what_tools_need_of_results_is_made_up_and_the_guard_sets_the_limits() -> None:
    policy = parse_policy(POLICY.encode()).policy
    (item,) = with_results(policy).manifests.evidence_manifest
    assert (item.classification, item.content) == ("bill", {"amount": 5})
    ctx = context_of(policy)
    assert ctx.safety_mode == "destructive"
    assert ctx.run_budget is not None
    assert ctx.run_budget.max_steps == 20


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cannot read the policy .*none\.toml: No such"):
        check_laws(policy=tmp_path / "none.toml")


def test_every_fault_of_a_policy_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "critic.toml"
    path.write_text(PLAIN.replace("required_outputs", "required_output"))
    with pytest.raises(InvalidPolicy) as caught:
        check_laws(policy=path)
    notes = caught.value.__notes__
    assert len(notes) == len(caught.value.faults) > 0
    assert all(note.startswith(str(path)) for note in notes)
    assert any("required_output" in note for note in notes)


def test_a_policy_and_its_parts_exclude_each_other() -> None:
    policy = parse_policy(PLAIN.encode()).policy
    with pytest.raises(TypeError, match="give one or the other"):
        check_laws(with_results(policy), policy=policy)


LIMITED = """
[guard]
safety_mode = "destructive"
[spec]
id = "limits"
required_outputs = []
[[class]]
name = "limit_check"
[class.schema]
type = "object"
required = ["account"]
properties.account = {{ type = "{kind}" }}
[[tool]]
adapter_id = "bank"
capability_id = "check_limit"
approval_mode = "read_only"
yields = "limit_check"
result = {{ author = "system", format = "json" }}
[tool.args_schema]
properties.account = {{ type = "string", examples = ["DE89370400440532013000"] }}
required = ["account"]
[[tool]]
adapter_id = "bank"
capability_id = "transfer"
approval_mode = "destructive"
bound_args.account = {{ from = ["limit_check"], at = ["/account"] }}
{more}
[tool.args_schema]
properties.account = {{ type = "string", examples = ["DE89370400440532013000"] }}
required = ["account"]
"""


def limited(kind: str, more: str = "") -> Policy:
    return parse_policy(LIMITED.format(kind=kind, more=more).encode()).policy


def test_a_tool_that_no_call_can_reach_breaks_a_law() -> None:
    assert not [*unreached_tools(limited("string"))]
    strict = {"approval_mode": "network"}
    blocked = limited("string").model_copy(
        update={"spec": build(DecisionSpec, {"id": "l", "required_outputs": [], **strict})}
    )
    with pytest.raises(LawBroken, match=r"no passing session could be drawn for transfer: .*mode"):
        check_laws(policy=blocked, settings=FEW)


def test_a_tool_whose_evidence_never_says_what_it_needs_is_not_reached() -> None:
    ((tool, why),) = unreached_tools(
        limited("string", 'requires_evidence = [{ class = "limit_check", content_schema = false }]')
    )
    assert tool.called == "transfer"
    assert "limit_check" in why


def test_a_tool_that_need_not_be_reached_is_left_out() -> None:
    lacking = 'requires_evidence = [{ class = "limit_check", content_schema = false }]'
    assert [tool.called for tool, _ in unreached_tools(limited("string", lacking))] == ["transfer"]
    meant = f"{lacking}\nmust_reach = false"
    assert not [*unreached_tools(limited("string", meant))]
