"""What decides by equality takes no near miss, and every text that comes in is known to decide.

`FIELDS` lists each field that holds a text, of all that comes in, is handed over or is recorded. A
new field has to be put there: by the name of the equality that tries it, or by what it is instead.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from evals.envelope import Envelope
from harness.guard import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    Guard,
    OpenEvent,
    ResultEvent,
    SaidEvent,
)
from harness.guard.guard_state import GuardState
from harness.integrations.hooks.memory import HookMemory
from harness.record import Begun, CriticError, Decision
from harness.testing.equalities import Equality, NearMissTaken, check_equality, guard_equalities
from tests.harness.testing.deciding import others
from tests.support.effort import sampled

ROOTS: Final = (
    *(OpenEvent, SaidEvent, CallsEvent, ResultEvent, AnswerEvent, CloseEvent),
    *(Decision, Begun, CriticError, GuardState, HookMemory),
)

WORDS: Final = "words: nothing is compared with them"
MADE: Final = "made by the critic, and derived again by replay"
STATE: Final = "of a state: tests/harness/guard/test_altered_state.py"
VALUES: Final = "values: the laws of provenance"
LATE: Final = "late plans: test_a_name_that_is_nearly_that_of_a_step_or_class_is_another"

INSTEAD: Final = (
    WORDS,
    MADE,
    STATE,
    VALUES,
    LATE,
    "names of bound arguments: ",
    "part of the key: ",
)

_PLAN: Final = "plan/steps/1/"
_TOOL: Final = "compiled/manifests/tool_manifest/1/"

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "OpenEvent": {"session": "the session of a second one", "request": VALUES, "system": VALUES}
    | {"scope": "the tool of a scope", "tenant": WORDS, "user": WORDS},
    "SaidEvent": {"session": "the session of words", "text": VALUES},
    "CallsEvent": {"session": "the session of calls"},
    "RequestedCall": {
        "id": "a call whose result is awaited",
        "tool": "the tool of a call",
        "after": LATE,
    }
    | {"args": "arguments redeemed for what was ruled on"},
    "ResultEvent": {"session": "the session of a result", "id": "the call of a result"}
    | {"error": VALUES, "denied_by": WORDS},
    "AnswerEvent": {"session": "the session of an answer", "plan_digest": "the plan of an answer"}
    | {"approver": WORDS},
    "CloseEvent": {"session": "the session of its end", "outputs": "spec/required_outputs/0"},
    "Decision": {
        "error": WORDS,
        "begun": "the end of an execution",
        "claims": "the claim on a state",
    },
    "RunContext": {"trace_id": "ctx/trace_id", "run_id": WORDS, "tenant_id": WORDS}
    | {"user_id": WORDS},
    "SpentCall": {"adapter_id": "the adapter of a spent call", "id": WORDS}
    | {"capability_id": "the capability of a spent call"}
    | {"args_digest": "the arguments of a spent call"},
    "Approval": {"approval_id": "a used approval", "plan_digest": "the plan of an approval"}
    | {"approver": WORDS, "context_digest": "the context of an approval"},
    "ToolName": {"adapter_id": "the adapter of a scope", "capability_id": "the tool of a scope"},
    "SessionFacts": {"id": STATE},
    "CompiledContext": {"pack_version": WORDS},
    "Manifests": {"record_fields": VALUES},
    "ToolCapability": {
        "adapter_id": f"{_TOOL}adapter_id",
        "capability_id": f"{_TOOL}capability_id",
        "requires_evidence": f"{_TOOL}requires_evidence/0/class",
        "bound_args": f"{_TOOL}bound_args/id/from/0",
        "bound_together": "names of bound arguments: with others it is not built",
        "produces": f"{_TOOL}produces/0",
        "arg_roles": VALUES,
        "arg_kinds": VALUES,
        "may_be_empty": VALUES,
        "yields": LATE,
    },
    "EvidenceClass": {"class_": VALUES, "fields": VALUES},
    "ToolResult": {"makes": VALUES},
    "OwnValue": {"kind": VALUES},
    "Demand": {"class_": f"{_TOOL}requires_evidence/0/class"}
    | {"about": f"{_TOOL}requires_evidence/0/about/id"},
    "Binding": {"from_": f"{_TOOL}bound_args/id/from/0", "at": f"{_TOOL}bound_args/id/at/0"},
    "EvidenceItem": {
        "id": "compiled/manifests/evidence_manifest/0/id",
        "classification": "compiled/manifests/evidence_manifest/0/classification",
        "snapshot": WORDS,
        "subject": WORDS,
    },
    "DecisionSpec": {
        "id": "the decision_key of a report",
        "required_outputs": "spec/required_outputs/0",
        "required_evidence": "a class that the spec requires",
        "output_schemas": "spec/required_outputs/0",
        "confined_evidence": "a confined class",
    },
    "Plan": {"declared_outputs": "plan/declared_outputs/0", "plan_id": WORDS}
    | {"trace_id": "plan/trace_id"},
    "ToolStep": {"adapter_id": f"{_PLAN}adapter_id", "capability_id": f"{_PLAN}capability_id"}
    | {"args": f"{_PLAN}args/id", "id": f"{_PLAN}depends_on/0"}
    | {"depends_on": f"{_PLAN}depends_on/0", "requires_evidence": f"{_PLAN}requires_evidence/0"}
    | {"evidence_refs": f"{_PLAN}evidence_refs/0", "evidence_steps": LATE},
    "Take": {"arg": LATE, "step": LATE, "at": LATE},
    "Condition": {"path": MADE, "reason": MADE},
    "ReasonStep": {"summary": WORDS, "id": f"{_PLAN}depends_on/0"}
    | {"depends_on": f"{_PLAN}depends_on/0", "requires_evidence": f"{_PLAN}requires_evidence/0"}
    | {"evidence_refs": f"{_PLAN}evidence_refs/0"},
    "RunFacts": {"run_id": WORDS, "trace_id": "of a run: trace_id", "outputs": WORDS}
    | {"pack_version": WORDS, "intent": WORDS},
    "Run": {"run_id": WORDS, "trace_id": "of a run: trace_id", "outputs": WORDS}
    | {"pack_version": WORDS, "intent": WORDS},
    "ToolCall": {"adapter_id": "of a run: calls/1/adapter_id", "error": WORDS}
    | {"capability_id": "of a run: calls/1/capability_id", "args": "of a run: calls/1/args"}
    | {"idempotency_key": WORDS},
    "CriticReport": {"trace_id": "the trace_id of a report", "rationale": MADE}
    | {"decision_key": "the decision_key of a report"},
    "Verified": {"reasons": MADE, "caveats": MADE},
    "Refused": {"reasons": MADE},
    "Violation": {"reason": MADE, "path": MADE, "stale": MADE, "say": MADE},
    "Scorecard": dict.fromkeys(("run_id", "trace_id", "pack_version", "intent"), MADE),
    "EvaluatorVerdict": {"evaluator_version": MADE, "trace_id": MADE},
    "Finding": {"message": MADE, "evidence_ref": MADE},
    "UsedApproval": {
        "approval_id": "a used approval",
        "plan_digest": "the plan of a used approval",
    },
    "RecordedAnswer": {"approver": WORDS},
    "SentCall": {"tool": WORDS, "args": WORDS},
    "CriticError": {"where": WORDS, "trace_id": "the trace that a search names, trace_1"},
    "GuardState": {"denied": "a tool that was denied"},
    "SessionState": {"policy_digest": "the policy of a state", "scope": "the tool of a scope"}
    | {"tenant_id": WORDS, "user_id": WORDS},
    "CallState": {"id": "the call of a result", "tool": STATE, "args": STATE},
    "OpeningState": {"id": STATE},
    "RestState": {"id": STATE},
    "RequestedTake": {"arg": LATE, "call": LATE, "at": LATE},
    "AwaitedState": {"id": "the call of a result"},
    "TurnReport": {"plan_digest": MADE},
    "BegunState": {"hash": "the end of an execution"},
    "HookMemory": {"dialect": STATE, "session": STATE, "root": STATE},
    "KnownCall": {"id": "the call of a hook", "key": "the tool of a hook", "asked": STATE}
    | {"folder": "part of the key: the arguments of a hook", "agent": "the sub-agent of a hook"}
    | {"tool": STATE, "args": STATE},
}


def _models(kind: Any) -> Iterator[type[Envelope]]:
    if isinstance(kind, type) and issubclass(kind, Envelope):
        yield kind
    for inner in get_args(kind):
        yield from _models(inner)


def _holds_text(kind: Any) -> bool:
    return kind is str or any(map(_holds_text, get_args(kind)))


def _texts(model: type[Envelope]) -> set[str]:
    return {name for name, one in model.model_fields.items() if _holds_text(one.annotation)}


def _reached() -> Iterator[type[Envelope]]:
    """Yield every envelope that one of `ROOTS` holds."""
    known = set[type[Envelope]]()
    waiting: list[type[Envelope]] = [*ROOTS]
    while waiting:
        model = waiting.pop()
        if model not in known:
            known.add(model)
            yield model
            fields = model.model_fields.values()
            waiting += [one for field in fields for one in _models(field.annotation)]


@pytest.mark.parametrize("equality", sampled(guard_equalities(Guard), one_in=3), ids=str)
def test_a_guard_takes_no_near_miss(equality: Equality) -> None:
    assert check_equality(equality) >= 10


@pytest.mark.slow
def test_nothing_else_takes_a_near_miss(tmp_path: Path) -> None:
    tried = {equality.name: check_equality(equality) for equality in others(tmp_path)}
    assert len(tried) >= 60
    assert sum(tried.values()) >= 1700


def test_every_text_that_comes_in_is_listed(tmp_path: Path) -> None:
    found = {model.__name__: _texts(model) for model in _reached() if _texts(model)}
    assert found == {model: {*names} for model, names in FIELDS.items()}
    named = {what for fields in FIELDS.values() for what in fields.values()}
    tried = {str(one) for one in (*guard_equalities(Guard), *others(tmp_path))}
    assert {what for what in named - tried if not what.startswith(INSTEAD)} == set()


@pytest.mark.parametrize(
    ("matches", "said"),
    [
        (lambda near: near == "case-1", ""),
        (lambda near: isinstance(near, str) and near.strip() == "case-1", "a space"),
        (lambda near: isinstance(near, str) and "case-1".startswith(near), "a prefix"),
        (lambda near: isinstance(near, str) and near.casefold() == "case-1", "another case"),
        (lambda near: str(near).startswith("case-1"), "one character more"),
        (lambda near: near in (None, "case-1"), "nothing"),
        (lambda _near: True, "an empty text"),
        (lambda _near: False, "the exact value"),
    ],
)
def test_a_comparison_that_is_not_of_whole_values_is_noticed(matches: Any, said: str) -> None:
    equality = Equality("it", "case-1", matches)
    if not said:
        assert check_equality(equality) >= 10
        return
    with pytest.raises(NearMissTaken) as caught:
        check_equality(equality)
    assert said in str(caught.value)


def test_true_is_not_1_and_text_is_not_a_number() -> None:
    for matches in (lambda near: near == 1, lambda near: str(near) == "1"):
        with pytest.raises(NearMissTaken):
            check_equality(Equality("it", 1, matches, "json"))
    with pytest.raises(NearMissTaken, match="called"):
        check_equality(Equality("it", "a", lambda near: near == "a", same=("no such",)))
