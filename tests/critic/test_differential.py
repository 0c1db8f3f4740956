"""The engine against the second statement of `verify`: the same answer, violation by violation."""

import inspect
from collections import Counter
from functools import partial
from importlib import import_module
from time import perf_counter
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from critic import Proposal, RefusalKind, verify_proposal
from critic.checks import CHECKS, approval_check
from harness.testing._draw.primitives import random_of
from harness.testing.strategies import edge_proposals, seeded_edge_proposal
from harness.wire import build
from tests.support.agreement import ONE_FAILURE, Statements
from tests.support.effort import examples
from tests.support.model.facts import Json
from tests.support.model.verify import verify_model

verify_module = import_module("critic.verify")

# What reads differently as a token, a joiner, a sign, a digit, a mark or a plain border.
TEXT_ALPHABET = "112ab_.,-+:/ (\u0301\u200d\u00e9\u6f22"
LEAD = ("ok", "kind", "offending_step")
FIELDS = ("check", "kind", "offending_step", "path", "approvable")
SHOWN = ["broken", "case", "engine", "model"]


def engine(proposal: Proposal) -> Json:
    """Return the engine's verdict in the shape of the model's."""
    verdict = verify_proposal(proposal).wire()
    kept: Json = {name: verdict[name] for name in LEAD if name in verdict}
    if verdict["ok"]:
        return {**kept, "reasons": verdict["reasons"]}
    violations = [
        {name: one[name] for name in FIELDS if name in one} for one in verdict["violations"]
    ]
    return {**kept, "violations": violations}


def binding(content: object, value: object) -> Proposal:
    """Return a plan of one step that passes exactly if the content backs the value."""
    step = {"kind": "tool", "adapter_id": "a", "capability_id": "b"}
    tool = {"adapter_id": "a", "capability_id": "b", "approval_mode": "read_only"}
    item = {"id": "e", "classification": "k", "content": content}
    manifests = {
        "tool_manifest": [{**tool, "bound_args": {"x": ["k"]}}],
        "evidence_manifest": [item],
    }
    wire: Json = {
        "ctx": {"trace_id": "t", "safety_mode": "read_only"},
        "compiled": {"manifests": manifests},
        "spec": {"id": "d", "required_outputs": []},
        "plan": {"steps": [], "declared_outputs": []},
    }
    wire["plan"]["steps"] = [{**step, "args": {"x": value}, "evidence_refs": ["e"]}]
    return Proposal(**wire)


VERIFY = Statements(
    law="the engine gives the verdict of the second statement of verify, violation by violation",
    read=partial(build, Proposal),
    engine=engine,
    model=verify_model,
)


@settings(ONE_FAILURE, max_examples=examples(1500))
@given(edge_proposals())
def test_engine_and_model_agree(proposal: Proposal) -> None:
    VERIFY.require_agreement(proposal)


@settings(ONE_FAILURE, max_examples=1500)
@given(edge_proposals())
def agree_on_many(proposal: Proposal) -> None:
    """Require it of so many that a planted bug is always met."""
    VERIFY.require_agreement(proposal)


@pytest.mark.slow
def test_a_difference_is_shown_small_as_json_with_what_each_side_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted: a tool one tier over the safety mode passes."""
    text = inspect.getsource(approval_check)
    assert text.count("rank > limit") == 1
    wrong: dict[str, Any] = {"__name__": "wrong_approval"}
    exec(text.replace("rank > limit", "rank > limit + 1"), wrong)  # noqa: S102
    checks = tuple(wrong.get(check.__name__, check) for check in CHECKS)
    monkeypatch.setattr(verify_module, "CHECKS", checks)
    with pytest.raises(pytest.fail.Exception) as caught:
        agree_on_many()
    message = str(caught.value)
    assert [line.partition(":")[0] for line in message.splitlines()] == SHOWN
    assert len(message) < 900
    assert not getattr(caught.value, "__notes__", [])
    with pytest.raises(pytest.fail.Exception) as seeded:
        test_engine_and_model_agree_on_every_kind_of_verdict()
    assert len(str(seeded.value)) < 900


@pytest.mark.slow
@pytest.mark.long
def test_engine_and_model_agree_on_every_kind_of_verdict() -> None:
    """The seeded loop also counts: a generator that no longer meets a kind fails here."""
    met: Counter[object] = Counter()
    for seed in range(6000):
        proposal = seeded_edge_proposal(seed)
        expected = verify_model(proposal.wire())
        VERIFY.require_agreement(proposal, expected)
        met[expected.get("kind", "ok")] += 1
        violations = expected.get("violations", [])
        met.update((one["check"], one["kind"], "offending_step" in one) for one in violations)
        met.update([("only one violation", len(violations) == 1)])
    assert met["ok"] > 500
    assert met["only one violation", True] > 100
    for kind in get_args(RefusalKind):
        assert met[kind] > 10, kind
    for found in (
        ("coverage", "violates_decision_spec", False),
        ("surface", "violates_decision_spec", True),
        ("approval", "approval_mode_mismatch", True),
        ("evidence", "missing_evidence", True),
        ("evidence", "missing_evidence", False),
        ("loop", "loop_guard", False),
        ("loop", "loop_guard", True),
        ("loop", "budget_exceeded", False),
    ):
        assert met[found] > 100, found


@settings(ONE_FAILURE, max_examples=examples(400))
@given(st.text(TEXT_ALPHABET, max_size=10), st.text(TEXT_ALPHABET, max_size=4), st.data())
@example("24,500", "500", None)
def test_text_backs_the_same_values(text: str, value: str, data: st.DataObject | None) -> None:
    if data is not None and text and data.draw(st.booleans(), "take the value from the text"):
        start = data.draw(st.integers(0, len(text) - 1))
        value = text[start : data.draw(st.integers(start, len(text)))]
    VERIFY.require_agreement(binding(text, value))


def test_slices_of_a_text_are_backed_alike() -> None:
    """Half of a text's slices cut a token: a seeded loop shows that both answers are met."""
    random, met = random_of(0), Counter[bool]()
    for _ in range(2000):
        text = "".join(random.choices(TEXT_ALPHABET, k=random.randint(1, 9)))
        start, end = sorted(random.choices(range(len(text) + 1), k=2))
        proposal = binding(text, text[start:end])
        expected = verify_model(proposal.wire())
        VERIFY.require_agreement(proposal, expected)
        met[expected["ok"]] += 1
    assert min(met[True], met[False]) > 400


@pytest.mark.parametrize("text", ["-" * 20_000, "a" + "." * 20_000, "+-" * 10_000, "1," * 10_000])
def test_long_runs_of_punctuation_are_read_in_linear_time(text: str) -> None:
    """Quadratic reading takes seconds here, and hours on the largest document."""
    start = perf_counter()
    assert not engine(binding(text, "x"))["ok"]
    assert perf_counter() - start < 1


@pytest.mark.parametrize(
    ("content", "value", "backed"),
    [
        ("refund of 24500.", 24500, True),
        ("refund of 24,500.", 24500, False),
        ("refund of 24,500.", 500, False),
        ("refund of 24,500.", "24,500", True),
        ("refund of 24500.5", 24500, False),
        ("refund of -24500", 24500, False),
        ("refund of 24500", 24500.0, True),
        ("1,\u0663", "1", True),
        ("-\u0663", "\u0663", True),
        ("a\u203f", "a", False),
        ("pay_1\u0301", "pay_1", False),
        ("pay_1\u200d2", "pay_1", False),
        ("pay_1 and pay_2", "pay_1 and pay_2", True),
        ("a - b", "-", False),
        ("-", "-", True),
        ("", "", True),
        ("a", "", False),
        ("true", True, True),
        ("null", None, True),
        (1, 1.0, True),
        (1, True, False),
        ("1", 1, True),
        (["1"], 1, False),
        ([1], "1", False),
        ([True], 1, False),
        ([-0.0], 0, True),
        ({"k": None}, None, True),
        ({"pay_1": 1}, "pay_1", False),
        (["pay_1 paid"], "pay_1", False),
    ],
)
def test_engine_and_model_agree_on_examples_of_backing(
    content: object, value: object, backed: bool
) -> None:
    proposal = binding(content, value)
    assert verify_model(proposal.wire())["ok"] is backed
    assert engine(proposal)["ok"] is backed
