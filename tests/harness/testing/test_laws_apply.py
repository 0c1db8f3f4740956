"""The laws are not vacuous: each compares verdicts in a good share of drawn proposals."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from harness.testing._laws import authority_laws
from harness.testing._laws.law_context import LawContext, LawVerdict
from harness.testing._laws.outsider_laws import (
    NOTHING_WRITTEN,
    outsiders_name_no_target,
    rewritten,
    target_places,
)
from harness.testing._laws.provenance_laws import levels_of
from harness.testing._laws.renaming_laws import named_back, rename_all
from harness.testing._laws.verify_laws import OF_ANY, OF_PASSING, OF_SOURCED, Law
from harness.testing.laws import LAWS, Laws
from harness.testing.strategies import NearMiss
from tests.support.judging import judge
from tests.support.model.facts import Json

DRAWS = settings(
    max_examples=40, derandomize=True, database=None, deadline=None, phases=(Phase.generate,)
)
LEAST = 0.1
JUDGES_ONCE = {
    "violations_come_in_the_order_of_checks",
    "violations_name_real_places",
    "reasons_are_safe_to_print",
    "read_only_refuses_every_write",
    "valid_plans_pass",
    "near_misses_are_refused",
    "totality",
    "any_values_get_an_answer",
    "a_repeat_over_turns_asks",
}
# It is about refused plans of worlds with evidence: few of the first draws are.
RARE = settings(DRAWS, max_examples=100)


class Counting(LawContext):
    """Counts the proposals that are judged, apart from copies of the same."""

    judged = 0

    def _verdict(self, given: Any) -> LawVerdict:
        self.judged += 1
        return super()._verdict(given)


_RARE = authority_laws.less_evidence_never_helps
# The laws of one group are tried on the same draws: drawing costs most.
GROUPS: dict[str, Sequence[Law]] = {
    "any": [law for law in OF_ANY if law is not _RARE],
    "less evidence": [_RARE],
    "sourced": OF_SOURCED,
    **{law.__name__: [law] for law in OF_PASSING},
}


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_a_law_applies_often_enough(group: str) -> None:
    bodies, laws = GROUPS[group], Laws()
    found: list[set[str]] = []

    @(RARE if group == "less evidence" else DRAWS)
    @given(laws._source(bodies[0]), st.data())
    def tried(drawn: Any, data: st.DataObject) -> None:
        miss = drawn if isinstance(drawn, NearMiss) else None
        applied = set()
        for body in bodies:
            context = Counting(miss.proposal if miss else drawn, data, laws._verify, miss)
            body(context)
            least = 1 if body.__name__ in JUDGES_ONCE else 2
            applied |= {body.__name__} if context.judged >= least else set()
        found.append(applied)

    tried()
    often = Counter(name for applied in found for name in applied)
    assert found
    assert [body.__name__ for body in bodies if often[body.__name__] < LEAST * len(found)] == []


def test_every_law_is_in_a_group() -> None:
    assert sorted(law.__name__ for laws in GROUPS.values() for law in laws) == sorted(LAWS)


def test_renaming_keeps_what_provenance_judges() -> None:
    tool: Json = {
        "adapter_id": "bank",
        "capability_id": "pay",
        "approval_mode": "delegated",
        "arg_roles": {"id": "object", "to": "recipient"},
    }
    items: list[Json] = [
        {"id": ref, "classification": "r", "content": text, "source": source}
        for ref, text, source in (
            ("b", "to id zeta-9", {"author": "public", "standing": "ambient"}),
            ("a", "to id zeta-9", {"author": "public", "standing": "ambient"}),
            ("user/1", "pay it", {"author": "user", "standing": "named"}),
        )
    ]
    step = {"kind": "tool", "adapter_id": "bank", "capability_id": "pay"}
    pay = {"adapter_id": "bank", "capability_id": "pay"}
    yes = {"role": "object", "tool": pay, "approval_mode": "delegated"}
    session = {"id": "s", "turn": 1, "approved": [{"value": {"id": "ord_7"}, **yes}]}
    wire: Json = {
        "ctx": {"trace_id": "t", "safety_mode": "destructive", "session": session},
        "compiled": {"manifests": {"tool_manifest": [tool], "evidence_manifest": items}},
        "spec": {"id": "d", "required_outputs": [], "provenance": "closed"},
        "plan": {
            "steps": [{**step, "args": {"id": "ord_7", "to": "zeta-9"}}],
            "declared_outputs": [],
        },
    }
    altered, names = rename_all(wire)
    before, after = judge(wire).wire(), judge(altered).wire()
    assert not before["ok"]
    assert "text of a" in str(before) or "a (not requested)" in str(before)
    assert named_back(after, names) == before


@pytest.mark.slow
def test_outsiders_meet_targets_that_are_doubted_and_targets_that_are_allowed() -> None:
    """A law about what is allowed says nothing where all is doubted, or nothing is."""
    met: Counter[str] = Counter()

    @settings(DRAWS, max_examples=150)
    @given(Laws()._source(outsiders_name_no_target), st.data())
    def tried(drawn: Any, data: st.DataObject) -> None:
        wire = drawn.wire()
        places = set(target_places(wire))
        doubted = set(levels_of(judge(wire)))
        met["places"] += len(places)
        met["allowed"] += len(places - doubted)
        met["written by outsiders"] += rewritten(wire, NOTHING_WRITTEN) != wire

    tried()
    assert met["places"] > 150
    assert 0.3 <= met["allowed"] / met["places"] <= 0.9
    assert met["written by outsiders"] >= 0.3 * 150
