"""Held inputs: whoever is given a part has a copy, which is theirs to spoil."""

from itertools import permutations
from typing import Any

import pytest

from critic import Proposal
from evals.plan import ToolStep
from harness.canonical import canonical_bytes, digest
from harness.record import sha256
from harness.record.inputs import Held, HeldInputs, RecordInputs
from tests.harness.log.decisions import proposal
from tests.harness.record.mutables import mutables


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


def test_what_is_handed_out_twice_has_nothing_in_common_that_can_be_changed() -> None:
    given = proposal()
    inputs = HeldInputs.of(given)
    for name in ("ctx", "compiled", "spec", "plan"):
        handed = [inputs.handed_out(), inputs.handed_out(), inputs.proposal, given]
        parts = [mutables(getattr(one, name)) for one in handed]
        for one, other in permutations(parts, 2):
            assert not one.keys() & other.keys(), name


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 2, 1)])
def test_a_held_context_says_of_each_proposal_its_own_digest(order: tuple[int, ...]) -> None:
    """One context is asked for every turn of a session: no answer is left over for the next."""
    first = HeldInputs.of(proposal(9))
    for number in order:
        given = proposal(number)
        inputs = HeldInputs(Held(given.ctx), first.context, Held(given.spec), Held(given.plan))
        begun = first.context.hash()
        assert begun.hexdigest() == sha256(b'{"compiled":' + first.context.body)
        begun.update(b"other members")
        bodies = inputs.ctx.body, inputs.plan.body, inputs.spec.body
        assert inputs.digest == first.context.proposal_digest(*bodies) == digest(given), number
        assert first.with_ctx(given.ctx).digest == digest(
            proposal(9).model_copy(update={"ctx": given.ctx})
        )
