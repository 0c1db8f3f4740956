"""Held inputs: whoever is given a part has a copy, which is theirs to spoil."""

from typing import Any

import pytest

from critic import Proposal
from evals.plan import ToolStep
from harness.canonical import canonical_bytes, digest
from harness.record.inputs import HeldInputs, RecordInputs
from tests.harness.log.decisions import proposal


def spoil(handed: Proposal) -> None:
    """Change in place what can be changed of a proposal."""
    for step in handed.plan.steps:
        if isinstance(step, ToolStep):
            step.args.clear()
    for item in handed.compiled.manifests.evidence_manifest:
        if isinstance(item.content, dict):
            item.content["more"] = True
    for part in (handed.ctx, handed.spec, handed.plan):
        part.__dict__["trace_id"] = "spoiled"


@pytest.mark.parametrize("name", ["ctx", "compiled", "spec", "plan"])
def test_a_part_that_is_handed_out_is_nobody_elses(name: str) -> None:
    held: Any = HeldInputs.of(proposal()).parts[name]
    first, second = held.handed_out(), held.handed_out()
    assert len({id(one) for one in (first, second, held.envelope)}) == 3
    assert canonical_bytes(first) == held.body == canonical_bytes(held.envelope)


def test_what_is_done_to_a_copy_reaches_neither_the_inputs_nor_the_next_copy() -> None:
    given = proposal()
    inputs: RecordInputs = HeldInputs.of(given)
    for _ in range(2):
        handed = inputs.handed_out()
        assert canonical_bytes(handed) == canonical_bytes(proposal())
        spoil(handed)
        assert canonical_bytes(inputs.proposal) == canonical_bytes(proposal())
    spoil(given)
    assert canonical_bytes(inputs.proposal) == canonical_bytes(proposal())
    assert inputs.digest == digest(proposal())
    assert inputs.drafted.digests.plan == digest(proposal().plan)
