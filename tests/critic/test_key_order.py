"""The keys of an object have no order: a record of canonical bytes must give the verdict again."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import Proposal, Refused, Run, score, verify_proposal
from evals import confinement
from evals.json_schemas import compile_schema, schema_faults
from harness.canonical import canonical_bytes
from harness.testing.strategies import edge_proposals, edge_runs
from harness.wire import parse
from tests.support import sightings
from tests.support.judging import LAW
from tests.support.model.facts import Json

SECRETS = ("first-of-them", "of-them-all", "them-all-and", 441712)
TEXTS = (*SECRETS, "first-of-them-all-and 441712", "none")
NAMES = st.sampled_from(["z", "b", "a", "of-them-all", "them-all-and"])
LEAVES = st.sampled_from(TEXTS)
VALUES = LEAVES | st.dictionaries(NAMES, LEAVES, max_size=3) | st.lists(LEAVES, max_size=2)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
CONTENTS = st.lists(st.dictionaries(NAMES, st.sampled_from(SECRETS), max_size=3), max_size=4)


def backwards(value: Any) -> Any:
    """Return the value with the keys of each object in reverse order."""
    if isinstance(value, dict):
        return {name: backwards(value[name]) for name in reversed(value)}
    return [*map(backwards, value)] if isinstance(value, list) else value


def sending(args: list[Json], outputs: Json, contents: list[Json]) -> Run:
    """Return a run that sends the args over the network, with confined evidence."""
    named = {"adapter_id": "a", "capability_id": "b"}
    items = [
        {"id": f"e{at}", "classification": "k", "content": content}
        for at, content in enumerate(contents)
    ]
    tool = {**named, "approval_mode": "network", "args_schema": {"maxProperties": 2}}
    manifests = {"tool_manifest": [tool], "evidence_manifest": items}
    steps = [{"kind": "tool", **named, "args": one} for one in args]
    calls = [
        {"step": at, **named, "args": one, "status": "completed"} for at, one in enumerate(args)
    ]
    proposal = {
        "ctx": {"trace_id": "t", "safety_mode": "network"},
        "compiled": {"manifests": manifests},
        "spec": {"id": "d", "required_outputs": [], "confined_evidence": ["k"]},
        "plan": {"steps": steps, "declared_outputs": []},
    }
    wire: Json = {"run_id": "r", "trace_id": "t", "proposal": proposal, "calls": calls}
    return Run(**wire, outputs=outputs)


@LAW
@given(st.lists(OBJECTS, max_size=2), OBJECTS, CONTENTS, st.booleans())
def test_no_order_of_keys_changes_what_is_said_of_confined_content(
    args: list[Json], outputs: Json, contents: list[Json], few: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(confinement, "_FEW", 32 if few else 0)
        run = sending(args, outputs, contents)
        for other in (parse(Run, canonical_bytes(run)), Run(**backwards(run.wire()))):
            assert score(other) == score(run)
            assert verify_proposal(other.proposal) == verify_proposal(run.proposal)


@LAW
@given(edge_proposals())
def test_no_order_of_keys_changes_a_verdict(proposal: Proposal) -> None:
    verdict = verify_proposal(proposal)
    assert verify_proposal(parse(Proposal, canonical_bytes(proposal))) == verdict
    assert verify_proposal(Proposal(**backwards(proposal.wire()))) == verdict


@pytest.mark.parametrize("value", [7.0, [7.0], "[7.0]"])
def test_a_reason_writes_a_number_as_its_record_does(value: object) -> None:
    proposal = Proposal(**sightings.proposal(args={"x": value}))
    verdict = verify_proposal(proposal)
    assert verify_proposal(parse(Proposal, canonical_bytes(proposal))) == verdict
    assert verdict.reasons[0].startswith("step 0 recipient [7] ")


@LAW
@given(edge_runs())
def test_no_order_of_keys_changes_a_score(run: Run) -> None:
    verdict = score(run)
    assert score(parse(Run, canonical_bytes(run))) == verdict
    assert score(Run(**backwards(run.wire()))) == verdict


def test_of_more_faults_than_are_read_the_same_are_read_in_any_order() -> None:
    schema = compile_schema({"additionalProperties": {"type": "string"}})
    args = {f"k{at:05}": at for at in range(10_500)}
    faults = schema_faults(schema, args)
    assert faults == schema_faults(schema, backwards(args))
    assert faults[0].path == ("k00000",)


def test_the_first_item_and_the_first_name_are_said() -> None:
    contents: list[Json] = [{"b": "them-all-and"}, {"a": 441712}]
    run = sending([{"z": "441712", "b": TEXTS[-2]}], {}, contents)
    verdict = verify_proposal(run.proposal)
    assert isinstance(verdict, Refused)
    assert verdict.reasons == ("step 0 sends content of confined evidence e0 in argument b",)
