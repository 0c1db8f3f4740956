"""Cases that name a policy instead of copying it, and the laws of a policy."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from harness.case_files.case_runs import CaseResult, case_document, judge_file
from harness.cases import Case, parse_case, render_case, update_file
from harness.policy import InvalidPolicy, Policy, read_policy
from harness.testing.laws import LawBroken, Laws, check_laws
from harness.wire import InvalidInput, build
from tests.harness.policy.policies import document, plain, with_spec
from tests.support.examples import good_run

QUICK = settings(max_examples=5, derandomize=True, database=None, deadline=None)

READING = {"kind": "tool", "adapter_id": "files", "capability_id": "read_file", "args": {}}
STEP = {
    "kind": "tool",
    "adapter_id": "bank",
    "capability_id": "send_money",
    "args": {"to": "emma", "amount": 7},
    "evidence_refs": ["bill/1"],
}
BILL = {"id": "bill/1", "classification": "bill", "content": {"amount": 7}}
CTX = {"trace_id": "t1", "as_of": "2026-05-09T10:00:00Z"}
INPUT = {
    "ctx": CTX,
    "compiled": {"manifests": {"evidence_manifest": [BILL]}},
    "plan": {"steps": [STEP], "declared_outputs": ["receipt"]},
}


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    """Write the policy beside the cases; its provenance is left out: it is not about sources."""
    value = with_spec(plain(), provenance=...)
    (tmp_path / "critic.json").write_text(json.dumps(value))
    return read_policy(tmp_path / "critic.json")


def case_at(folder: Path, name: str = "case.json", **fields: Any) -> Path:
    fields = {"title": "pays", "command": "verify", "input": INPUT, "must": {"ok": True}, **fields}
    present = {field: value for field, value in fields.items() if value is not None}
    path = folder / "cases" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(render_case(build(Case, present)))
    return path


def results(policy: Policy, *paths: Path) -> list[CaseResult]:
    return [judge_file(path, policy)[1] for path in paths]


def test_a_case_takes_what_it_leaves_out_from_the_policy(policy: Policy, tmp_path: Path) -> None:
    poor = {**INPUT, "compiled": {"manifests": {"evidence_manifest": []}}}
    refused = {"ok": False, "kind": "missing_evidence", "offending_step": 0}
    paths = [
        case_at(tmp_path),
        case_at(tmp_path, "refused.json", input=poor, must=refused),
        case_at(tmp_path, "wrong.json", input=poor),
        case_at(tmp_path, "silent.json", must=None),
        case_at(tmp_path, "own.json", input={**INPUT, "spec": {"id": "s", "required_outputs": []}}),
        case_at(tmp_path, "broken.json", input_text="{", input=None, must={"invalid": True}),
    ]
    held, refusal, wrong, silent, partial, broken = results(policy, *paths)
    assert (held.file, held.title, bool(held)) == (paths[0], "pays", True)
    assert refusal.problem == ""
    assert wrong.problem.startswith("must be {")
    assert silent.problem.startswith("--- expected")
    (fault,) = partial.faults
    assert fault.path == "/input/spec"
    assert fault.message.startswith("is given here and by the policy")
    assert broken.problem == ""


def test_a_case_of_its_own_is_judged_by_its_own(policy: Policy, tmp_path: Path) -> None:
    run = good_run()
    paths = [
        case_at(tmp_path, "proposal.json", input=run["proposal"]),
        case_at(tmp_path, "run.json", command="score", input=run),
        tmp_path / "critic.json",
    ]
    proposal, scored, no_case = results(policy, *paths)
    assert (proposal.has_own, proposal.problem) == (True, "")
    assert (scored.has_own, scored.problem) == (True, "")
    (fault,) = no_case.faults
    assert (fault.path, fault.message[:14]) == ("/command", "write command:")


def test_a_run_may_leave_it_out_too(policy: Policy, tmp_path: Path) -> None:
    call = {"step": 0, "adapter_id": "bank", "capability_id": "send_money"}
    run = {
        "run_id": "r1",
        "trace_id": "t1",
        "proposal": INPUT,
        "calls": [{**call, "args": STEP["args"], "status": "completed", "output": {}}],
        "outputs": {"receipt": "r-1"},
    }
    (result,) = results(policy, case_at(tmp_path, command="score", input=run))
    assert (result.problem, result.has_own) == ("", False)


def test_a_case_names_its_policy_from_its_own_folder(policy: Policy, tmp_path: Path) -> None:
    path = case_at(tmp_path, policy="../critic.json")
    case = parse_case(path.read_bytes())
    whole = json.loads(case_document(case, path))
    assert whole["spec"] == policy.spec.wire()
    assert whole["ctx"]["safety_mode"] == "destructive"
    stricter = document(with_spec(plain(), approval_required_from="delegated")).policy
    assert json.loads(case_document(case, path, stricter))["spec"] == stricter.spec.wire()
    assert update_file(path, lambda one: case_document(one, path))
    renewed = parse_case(path.read_bytes())
    assert renewed.expect is not None
    assert renewed.expect.verdict is not None
    assert renewed.expect.verdict["ok"] is True
    (held,) = results(policy, path)
    assert (bool(held), held.problem) == (True, "")
    assert '"ok": false' in results(stricter, path)[0].problem


def test_a_policy_that_cannot_be_read_fails_the_case(tmp_path: Path) -> None:
    path = case_at(tmp_path, policy="../gone.toml")
    case = parse_case(path.read_bytes())
    with pytest.raises(FileNotFoundError):
        case_document(case, path)
    (tmp_path / "gone.toml").write_text("[guard")
    with pytest.raises(InvalidPolicy):
        case_document(case, path)
    assert issubclass(InvalidPolicy, InvalidInput)


def test_the_laws_run_on_a_policy(policy: Policy, tmp_path: Path) -> None:
    laws = Laws(policy=policy, settings=QUICK)
    laws.check("less_evidence_never_helps")
    laws.check("totality")
    assert Laws(policy=str(tmp_path / "critic.json")).names == Laws(policy=policy).names
    with pytest.raises(LawBroken):
        check_laws(policy=policy, settings=QUICK, verify=lambda *_: None)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="one or the other"):
        Laws(policy.compiled(), policy=policy)
