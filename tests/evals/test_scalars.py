"""The scalars on the wire: identifiers, counts, closed sets of names, free text."""

import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from critic import (
    Approval,
    EvidenceItem,
    Plan,
    ReasonStep,
    Run,
    RunBudget,
    RunContext,
    SessionFacts,
    Spent,
    ToolCall,
    ToolCapability,
    ToolStep,
)
from evals.envelope import Envelope
from tests.support.effort import examples
from tests.support.examples import good_run, refused_at
from tests.support.model.facts import Json
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(300))
FIRST = re.compile("[A-Za-z0-9_]")
LATER = re.compile("[A-Za-z0-9_.:/#@+=~-]*")
TOOL = {"capability_id": "b"}


def accepts(model: type[Envelope], wire: Json) -> bool:
    try:
        model(**wire)
    except ValidationError:
        return False
    return True


def is_identifier(text: Any) -> bool:
    return accepts(ToolStep, {"adapter_id": text, **TOOL})


def is_evidence_ref(text: Any) -> bool:
    return accepts(EvidenceItem, {"id": text, "classification": "k"})


@LAW
@given(st.text(max_size=4) | st.text(st.characters(max_codepoint=0x7F), max_size=4))
@example("a\n")
@example("\na")
@example("\u0430")
@example("a\u200d")
@example("\uff41")
@example("\u0661")
@example("a\u0661")
@example("")
def test_the_grammar_of_identifiers(text: str) -> None:
    right = bool(FIRST.match(text)) and bool(LATER.fullmatch(text))
    assert is_identifier(text) is right
    assert is_evidence_ref(text) is right


@pytest.mark.parametrize("char", [chr(code) for code in range(0x80)])
def test_each_ascii_character_is_allowed_or_refused_in_names(char: str) -> None:
    for takes in (is_identifier, is_evidence_ref):
        assert takes(char) is bool(FIRST.fullmatch(char))
        assert takes(f"a{char}") is bool(LATER.fullmatch(char))
        assert takes(f"a{char}b") is bool(LATER.fullmatch(char))


def test_names_have_a_greatest_length() -> None:
    assert is_identifier("x" * 128)
    assert not is_identifier("x" * 129)
    assert is_evidence_ref("x" * 512)
    assert not is_evidence_ref("x" * 513)
    refs: list[Any] = ["x" * 512]
    assert ReasonStep(evidence_refs=tuple(refs)).evidence_refs == ("x" * 512,)
    error = refused_at(ReasonStep, {"kind": "reason", "evidence_refs": ["x" * 513]})
    assert error.path == "/evidence_refs/0"


@pytest.mark.parametrize("value", [None, 1, True, b"a", ["a"], {"a": 1}, 1.5])
def test_an_identifier_is_a_string(value: object) -> None:
    assert not is_identifier(value)


COUNTS: list[tuple[type[Envelope], Json, str]] = [
    *((RunBudget, {}, name) for name in RunBudget.model_fields),
    *((Spent, {}, name) for name in ("steps", "tokens")),
    (SessionFacts, {"id": "s", "turn": 0}, "turn"),
    (ToolStep, {"adapter_id": "a", "capability_id": "b"}, "estimated_tokens"),
    (ReasonStep, {}, "estimated_tokens"),
    (
        ToolCapability,
        {"adapter_id": "a", "capability_id": "b", "approval_mode": "read_only"},
        "min_tokens",
    ),
    *(
        (
            ToolCall,
            {
                "step": 0,
                "adapter_id": "a",
                "capability_id": "b",
                "args": {},
                "status": "completed",
            },
            name,
        )
        for name in ("step", "started_ms", "duration_ms", "tokens", "cost_micros", "attempt")
    ),
    *((Run, good_run(), name) for name in ("wall_ms", "tokens", "cost_micros")),
]
every_count = pytest.mark.parametrize(("model", "wire", "name"), COUNTS)


@every_count
def test_counts_go_from_0_to_2_to_the_53_less_1(
    model: type[Envelope], wire: Json, name: str
) -> None:
    for count in (0, 1, 2**53 - 1):
        assert getattr(model(**{**wire, name: count}), name) == count
    wrong: list[Any] = [-1, 2**53, 10**30, 1.0, 0.5, True, False, "1", [1], float("nan")]
    assert not [value for value in wrong if accepts(model, {**wire, name: value})]


@pytest.mark.parametrize("step", [-1, 2**53, 1.0, True, "0", None])
def test_the_steps_of_an_approval_are_counts(step: object) -> None:
    wire = {"approval_id": "a", "plan_digest": "d", "approver": "p"}
    assert accepts(Approval, {**wire, "steps": [0, 2**53 - 1]})
    assert not accepts(Approval, {**wire, "steps": [0, step]})


@pytest.mark.parametrize("mode", ["READ_ONLY", "read-only", "admin", "", None, 0, True])
def test_a_mode_is_one_of_five(mode: object) -> None:
    assert not accepts(RunContext, {"trace_id": "t", "safety_mode": mode})


@pytest.mark.parametrize("kind", ["TOOL", "call", "", None, 1, True, ["tool"]])
def test_a_step_is_of_one_of_two_kinds(kind: object) -> None:
    step = {"kind": kind, "adapter_id": "a", "capability_id": "b"}
    assert not accepts(Plan, {"steps": [step], "declared_outputs": []})


def test_free_text_has_a_utf8_form() -> None:
    assert accepts(ReasonStep, {"summary": "\x00\x1b<b>\u202e\U0001f600"})
    assert not accepts(ReasonStep, {"summary": "\ud800"})
