"""The laws on a policy: its results are made up, and a file that cannot be used is explained."""

from pathlib import Path

import pytest
from hypothesis import settings

from harness.policy import InvalidPolicy, parse_policy
from harness.policy.analysis.derive_tools import drafts_of_openai
from harness.policy.analysis.policy_writing import STARTER, derived_policy
from harness.testing._draw.policies import context_of, with_results
from harness.testing.laws import LAWS, Laws, check_laws

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


def test_a_policy_with_provenance_and_demands_keeps_every_law(tmp_path: Path) -> None:
    path = tmp_path / "critic.toml"
    path.write_text(POLICY)
    assert Laws(policy=path).names == LAWS
    check_laws(policy=path, settings=FEW)


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
