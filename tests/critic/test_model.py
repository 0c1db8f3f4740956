"""What the second model is asked by the generators: every rule, every class of a value, often."""

from collections import Counter

import pytest

from critic import Proposal
from harness.testing._draw.digests import settle_names
from harness.testing._draw.edge_proposals import make_proposal
from harness.testing._draw.edge_seen import seen_case
from harness.testing._draw.primitives import seeded_pick
from harness.wire import build
from tests.support.model import evidence
from tests.support.model.facts import Json, find_tool
from tests.support.model.provenance import (
    ALLOWED_ASKED,
    answer_of,
    doubts,
    judged_values,
    tool_answer,
)
from tests.support.model.values import TARGETS
from tests.support.model.verify import LISTED, is_approvable, verify_model

CLASSES = [
    *("Z", "A", "U", "S", "O", "T", "W", "F", "C", "H", "P", "CP", "M"),
    *("Dm", "Dp", "Dw", "Rm", "Rp", "Rw", "X", "L", "N", "K"),
]
SELDOM = ("M",)
"""Classes that only the sessions of `tests.support.outside_draws` meet often."""
DAYS = (
    *("A", "request", "system", "field", "ambient"),
    *("other", "elsewhere", "nowhere", "unread"),
)
MODES = ("closed", "open")


def proposal_of(mode: str) -> Json:
    return {"spec": {"provenance": mode}}


def test_the_tables_of_roles_name_known_classes_once() -> None:
    for allowed, asked in ALLOWED_ASKED.values():
        named = f"{allowed} {asked}".split()
        assert len(named) == len(set(named))
        assert set(named) <= set(CLASSES)


def can_be(kind: str, role: str) -> bool:
    """Return whether values of a role have a class: only targets cannot be read, K is a link."""
    return {"Z": role in TARGETS, "K": role == "content"}.get(kind, True)


@pytest.mark.parametrize("role", ALLOWED_ASKED)
@pytest.mark.parametrize("kind", CLASSES)
def test_open_asks_where_closed_refuses_and_allows_nothing_more(role: str, kind: str) -> None:
    closed, opened = (answer_of(proposal_of(mode), role, kind) for mode in MODES)
    contested_locator = (role, kind) == ("locator", "C")
    assert (closed, opened) in {
        ("allow", "ask" if contested_locator else "allow"),
        *(("ask", "ask"), ("refuse", "ask"), ("refuse", "refuse")),
    }


@pytest.mark.slow
@pytest.mark.long
def test_the_generators_meet_every_class_and_every_answer_of_every_role() -> None:
    met: Counter[object] = Counter()
    for seed in range(4500):
        proposal = settle_names(seen_case(seeded_pick(seed)))
        mode = proposal["spec"]["provenance"]
        for index, step in enumerate(proposal["plan"]["steps"]):
            met["tool", mode, tool_answer(proposal, step)] += 1
            met["both doubts"] += any(not clearable for _, clearable in doubts(proposal, index))
            for one in judged_values(proposal, step):
                met[one.kind] += 1
                met[one.role, mode, one.answer] += 1
                met["time", one.kind] += one.role == "time"
    assert {kind: met[kind] for kind in CLASSES if met[kind] < 20 and kind not in SELDOM} == {}
    assert min(met["time", kind] for kind in DAYS) >= 3
    for role in ALLOWED_ASKED:
        for mode in MODES:
            kinds = [kind for kind in CLASSES if can_be(kind, role)]
            for answer in {answer_of(proposal_of(mode), role, kind) for kind in kinds}:
                assert met[role, mode, answer] >= 3, (role, mode, answer)
    for told in (("closed", "allow"), ("closed", "ask"), ("closed", "refuse"), ("open", "ask")):
        assert met["tool", *told] >= 20, told
    assert met["both doubts"] >= 10


def rules_broken(proposal: Json) -> Counter[str]:
    """Return how often each rule about evidence is broken in the steps of a proposal."""
    broken: Counter[str] = Counter()
    for step in proposal["plan"]["steps"]:
        tool, args = find_tool(proposal, step) or {}, step.get("args", {})
        unmet = evidence.unmet(proposal, tool, step, args)
        unbacked = evidence.unbacked_args(proposal, tool, step, args)
        broken["demand"] += any(isinstance(one, dict) for one in unmet)
        broken["class"] += any(isinstance(one, str) for one in unmet)
        broken["pin"] += bool(evidence.bad_refs(proposal, step))
        broken["binding"] += any(name in args for name in unbacked)
        broken["left out"] += any(name not in args for name in unbacked)
        broken["group"] += bool(evidence.torn_groups(proposal, tool, step, args))
        broken["group alone"] += not unbacked and bool(
            evidence.torn_groups(proposal, tool, step, args)
        )
    return broken


@pytest.mark.slow
@pytest.mark.long
def test_the_generators_break_every_rule_of_the_second_ruleset() -> None:
    met: Counter[object] = Counter()
    for seed in range(5000):
        proposal = make_proposal(seeded_pick(seed))
        verdict = verify_model(proposal)
        met["ok"] += verdict["ok"]
        met.update(rules_broken(proposal))
        violations = verdict.get("violations", [])
        met.update((one["check"], one["path"], "approvable" in one) for one in violations[:50])
        met["capped"] += len(violations) > LISTED
        met["capped and approvable"] += len(violations) > LISTED and is_approvable(verdict)
        met["exactly as many as are listed"] += len(violations) == LISTED
        met["approvable"] += not verdict["ok"] and is_approvable(verdict)
    for rule in ("demand", "class", "pin", "binding", "left out", "group", "group alone"):
        assert met[rule] >= 20, rule
    for told in (
        ("coverage", "/declared_outputs", False),
        ("surface", "/steps/0", False),
        ("surface", "/steps/0/args", False),
        ("approval", "/steps/0", True),
        ("approval", "/steps/0", False),
        ("approval", "/steps/0/args/x", True),
        ("evidence", "/steps/0/args/x", False),
        ("loop", "/steps/0", True),
        ("loop", "/steps/1", False),
    ):
        assert met[told] >= 20, told
    assert met["capped"] >= 2
    assert met["approvable"] >= 100
    assert met["ok"] >= 1500


@pytest.mark.slow
def test_what_is_generated_is_valid_and_exact_as_it_stands() -> None:
    """Digests in it are of what `wire()` writes, so both sides may read either form."""
    for seed in range(1500):
        proposal = make_proposal(seeded_pick(seed))
        assert verify_model(build(Proposal, proposal).wire()) == verify_model(proposal)
