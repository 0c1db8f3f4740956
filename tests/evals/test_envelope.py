"""What every envelope keeps to: frozen, closed, validated, absent and never null, exact types."""

import copy
import pickle
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from critic import (
    CompiledContext,
    Condition,
    CriticReport,
    DecisionSpec,
    Finding,
    Plan,
    ReasonStep,
    Refused,
    Run,
    RunBudget,
    RunContext,
    Take,
    ToolCapability,
    ToolStep,
    Verified,
    consolidate,
    score,
    verify,
)
from critic.surface import kept_surface, surface_of
from evals.canonical_json import canonical_bytes
from evals.envelope import OPTIONAL, RESTRICTION, Envelope
from evals.timestamps import parse_time
from harness.wire import build, parse
from tests.support.examples import good_run, proposal_of, refused_at, refused_proposal, run_of
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json


def report_of(refused: bool) -> CriticReport:
    run = run_of(good_run())
    proposal = proposal_of(refused_proposal()) if refused else run.proposal
    return consolidate(
        trace_id=proposal.ctx.trace_id,
        decision_key="d",
        verify=judge_proposal(proposal),
        score=None if refused else score(run),
        decided_at=parse_time("2026-05-09T09:45:00Z"),
    )


def rich_tool(name: Json) -> Json:
    """Return a tool with every optional field."""
    demand = {"class": "k", "content_schema": {"required": ["open"]}, "about": {"x": "/id"}}
    return {
        **name,
        "approval_mode": "read_only",
        "requires_evidence": [demand],
        "bound_args": {"x": {"from": ["k"], "at": ["/id"], "optional": True}, "y": ["k"]},
        "bound_together": [["x", "y"]],
        "args_schema": {"required": ["x"]},
        "produces": ["o"],
        "min_tokens": 1,
        "arg_roles": {"x": "locator"},
        "arg_kinds": {"x": "path"},
        "may_be_empty": ["x"],
        "result": {
            "author": "system",
            "web": False,
            "format": "json",
            "makes": {"x": "note"},
            "derived": True,
        },
        "follows": [{"adapter_id": "adp_x", "capability_id": "look"}],
        "output_schema": {"type": "object"},
        "yields": "k",
        "expires_after_s": 60,
    }


def rich_run() -> Run:
    """Return a run in whose envelopes every optional field is set somewhere."""
    wire = good_run()
    ctx = wire["proposal"]["ctx"]
    manifests = wire["proposal"]["compiled"]["manifests"]
    tool = {"adapter_id": "adp_x", "capability_id": "look"}
    call = {**tool, "args_digest": "0" * 64, "id": "c1"}
    ctx["spent"] = {"steps": 1, "tokens": 2, "calls": [call]}
    ctx["scope"] = [tool]
    ctx["session"] = {
        "id": "s1",
        "turn": 2,
        "ran": [tool],
        "own": [{"kind": "order", "value": "ord_881"}],
        "sent": [{"seq": 1, "values": ["ord_881"]}],
        "approved": [
            {
                "value": 7,
                "role": "object",
                "tool": tool,
                "approval_mode": "delegated",
                "expires_at": "2026-05-10T00:00:00Z",
            }
        ],
        "waived": [{"tool": tool, "targets": [7]}],
    }
    manifests["tool_manifest"].append(rich_tool(tool))
    manifests["evidence_manifest"][0]["source"] = {
        "author": "system",
        "standing": "named",
        "web": False,
        "seq": 1,
    }
    table = {"class": "order", "fields": {"id": "system"}, "schema": {"type": "object"}}
    manifests["classes"] = [table]
    manifests["record_fields"] = ["id"]
    wire["proposal"]["spec"] |= {
        "provenance": "open",
        "party_recipients": "allow",
        "late": "sources",
    }
    wire["proposal"]["ctx"]["approvals"] = [
        {
            "approval_id": "ap",
            "plan_digest": "sha256:00",
            "steps": [0, 1],
            "approver": "someone",
            "expires_at": "2026-05-10T00:00:00Z",
            "context_digest": "0" * 64,
            "late": True,
        }
    ]
    wire["proposal"]["plan"]["steps"][-1] |= {
        "takes": [{"arg": "/taken", "step": "look", "at": "/*/id"}],
        "evidence_steps": ["look"],
    }
    wire["proposal"]["plan"]["steps"].append({"kind": "reason", "summary": "why", "id": "why"})
    wire["calls"][0]["error"] = "slow"
    passed = {"ok": True, "reasons": ["step 0 opened"], "caveats": []}
    opening = {"step": 0, "after": 0, "as_of": "2026-05-09T00:00:00Z", "verdict": passed}
    wire["openings"] = [{**opening, "approvals": wire["proposal"]["ctx"]["approvals"]}]
    return run_of(wire)


def parts(value: Any) -> Iterator[Envelope]:
    """Yield the envelope and all envelopes in it."""
    if isinstance(value, Envelope):
        yield value
        for _, field in value:
            yield from parts(field)
    elif isinstance(value, tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from parts(item)


def samples() -> list[Envelope]:
    """Return one envelope of every kind, with as many fields as possible."""
    found: dict[type[Envelope], Envelope] = {}
    for whole in (rich_run(), report_of(refused=False), report_of(refused=True)):
        for part in parts(whole):
            kept = found.get(type(part))
            if kept is None or len(part.model_fields_set) > len(kept.model_fields_set):
                found[type(part)] = part
    condition = Condition(kind="value", step=1, path="/takes/0", reason="r")
    found[Condition] = condition
    found[Verified] = Verified(reasons=("r",), caveats=("c",), conditions=(condition,))
    found[Finding] = Finding(severity="info", message="m", evidence_ref="e")
    return list(found.values())


SAMPLES = samples()
every_envelope = pytest.mark.parametrize("sample", SAMPLES, ids=lambda one: type(one).__name__)
WITH_OPTIONAL = [
    pytest.param(type(sample), sample.wire(), name, id=f"{type(sample).__name__}.{name}")
    for sample in SAMPLES
    for name, field in type(sample).model_fields.items()
    if field.default is None
]


def test_there_is_a_sample_of_every_kind() -> None:
    assert len(SAMPLES) == 39
    assert len(WITH_OPTIONAL) == 111


@every_envelope
def test_no_field_of_an_envelope_can_be_set(sample: Envelope) -> None:
    before = canonical_bytes(sample)
    for name in type(sample).model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(sample, name, getattr(sample, name))
        with pytest.raises(ValidationError, match="frozen"):
            delattr(sample, name)
    with pytest.raises(ValidationError):
        sample.unknown = 1  # type: ignore[attr-defined] # that it has none is the point
    assert canonical_bytes(sample) == before


@every_envelope
def test_unknown_fields_are_refused(sample: Envelope) -> None:
    error = refused_at(type(sample), {**sample.wire(), "unknown": 1})
    assert (error.path, error.message) == (
        "/unknown",
        "unknown field: remove it or check its spelling",
    )


@every_envelope
def test_required_fields_are_required(sample: Envelope) -> None:
    fields = type(sample).model_fields.items()
    required = [field.alias or name for name, field in fields if field.is_required()]
    for name in required:
        wire = {key: value for key, value in sample.wire().items() if key != name}
        assert refused_at(type(sample), wire).path == f"/{name}"


@every_envelope
def test_the_wire_form_gives_the_envelope_back(sample: Envelope) -> None:
    again = build(type(sample), sample.wire())
    assert again == sample
    assert canonical_bytes(again) == canonical_bytes(sample)


@pytest.mark.parametrize(("model", "wire", "name"), WITH_OPTIONAL)
def test_an_optional_field_is_absent_and_never_null(
    model: type[Envelope], wire: Json, name: str
) -> None:
    on_wire = model.model_fields[name].alias or name
    assert refused_at(model, {**wire, on_wire: None}).path == f"/{on_wire}"
    needed = model is ToolCapability and name == "bound_args"
    if needed or model in (CriticReport, Refused):  # other fields follow from these
        return
    left_out = build(model, {key: value for key, value in wire.items() if key != on_wire})
    assert getattr(left_out, name) is None
    assert on_wire not in left_out.wire()


def fields_of(sample: Envelope) -> Json:
    return {name: getattr(sample, name) for name in sample.model_fields_set}


@every_envelope
def test_an_explicit_none_is_the_same_as_an_absent_field(sample: Envelope) -> None:
    kind = type(sample)
    marks = {name: field.metadata for name, field in kind.model_fields.items()}
    given = fields_of(sample)
    for name in [name for name in marks if OPTIONAL in marks[name]]:
        left_out = {key: value for key, value in given.items() if key != name}
        if kind in (CriticReport, Refused) and name in given:
            continue  # other fields follow from these
        without, with_none = kind(**left_out), kind(**left_out, **{name: None})
        assert with_none == without
        assert with_none.model_fields_set == without.model_fields_set
        assert repr(with_none) == repr(without)
        assert canonical_bytes(with_none) == canonical_bytes(without)
        assert sample.model_copy(update={name: None}) == without


@every_envelope
def test_none_never_lifts_a_restriction(sample: Envelope) -> None:
    marks = {name: field.metadata for name, field in type(sample).model_fields.items()}
    for name in [name for name in marks if RESTRICTION in marks[name]]:
        with pytest.raises(ValidationError, match="leave the field out") as caught:
            type(sample)(**{**fields_of(sample), name: None})
        on_the_wire = type(sample).model_fields[name].alias or name
        assert [(error["loc"], error["input"]) for error in caught.value.errors()] == [
            ((on_the_wire,), None)
        ]
        assert "input" not in str(caught.value)
        with pytest.raises(ValidationError, match="leave the field out"):
            sample.model_copy(update={name: None})


def test_a_name_that_no_field_has_is_refused_though_its_value_is_none() -> None:
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Plan(steps=(), declared_outputs=(), declared_output=None)  # type: ignore[call-arg]


def test_equal_envelopes_have_equal_hashes_with_none_or_without() -> None:
    without = Plan(steps=(), declared_outputs=())
    assert hash(Plan(steps=(), declared_outputs=(), plan_id=None)) == hash(without)


@every_envelope
def test_what_pydantic_dumps_is_what_the_wire_shows(sample: Envelope) -> None:
    assert sample.model_dump(mode="json") == sample.wire()
    assert parse(type(sample), sample.model_dump_json().encode()) == sample
    assert type(sample)(**sample.model_dump()) == sample


def test_the_settings_of_a_dump_are_pydantics() -> None:
    plan = Plan(steps=(), declared_outputs=("a",))
    assert plan.model_dump_json(indent=2).count("\n") > 2
    assert plan.model_dump(include={"steps"}) == {"steps": ()}


@every_envelope
def test_the_repr_shows_what_the_wire_shows(sample: Envelope) -> None:
    shown = [str(name).removesuffix("_") for name, _ in sample.__repr_args__()]
    assert sorted(shown) == sorted(sample.wire())
    assert "=None" not in repr(sample)


@pytest.mark.parametrize(
    "setting",
    [{"strict": False}, {"extra": "ignore"}, {"from_attributes": True}, {"by_name": True}],
)
def test_validation_cannot_be_loosened(setting: Any) -> None:
    fields: Any = {"steps": [], "declared_outputs": []}
    assert Plan.model_validate(fields, context={}, strict=None) == Plan(**fields)
    with pytest.raises(TypeError, match=r"^Plan is strict and closed: leave \w+ out$"):
        Plan.model_validate(fields, **setting)


class Body(BaseModel):
    """Somebody else's model that holds an envelope, as in a web framework."""

    plan: Plan


@pytest.mark.parametrize("sort", [set, frozenset, dict.fromkeys])
def test_an_array_is_never_made_of_a_set(sort: Any) -> None:
    fields = {"steps": [], "declared_outputs": sort(["a"])}
    for strict in (None, False):
        with pytest.raises(ValidationError):
            TypeAdapter(Plan).validate_python(fields, strict=strict)
        with pytest.raises(ValidationError):
            Body.model_validate({"plan": fields}, strict=strict)


@every_envelope
def test_lenient_validation_is_refused_wherever_an_envelope_is(sample: Envelope) -> None:
    adapter = TypeAdapter(type(sample))
    assert adapter.validate_python(sample.wire()) == sample
    with pytest.raises(ValidationError, match="leave strict=False out") as caught:
        adapter.validate_python(sample.wire(), strict=False)
    assert "strict_only" in {error["type"] for error in caught.value.errors()}


@every_envelope
def test_the_json_reader_of_pydantic_is_refused_wherever_an_envelope_is(sample: Envelope) -> None:
    kind: Any = type(sample)
    adapter = TypeAdapter(tuple[kind, ...])
    with pytest.raises(ValidationError, match=r"read with harness\.wire\.parse") as caught:
        adapter.validate_json(b"[%b]" % canonical_bytes(sample))
    assert "json_reader" in {error["type"] for error in caught.value.errors()}


def test_no_duplicate_key_is_dropped_in_a_body() -> None:
    twice = b'{"plan": {"steps":[],"declared_outputs":["a"],"declared_outputs":[]}}'
    with pytest.raises(ValidationError, match=r"read with harness\.wire\.parse"):
        Body.model_validate_json(twice)
    whole = Body(plan=Plan(steps=(), declared_outputs=()))
    assert Body.model_validate(whole.model_dump(exclude_none=True)) == whole


@every_envelope
def test_nothing_is_made_without_validation(sample: Envelope) -> None:
    with pytest.raises(TypeError, match="is always validated"):
        type(sample).model_construct(**dict(sample))
    # The same door under its old name.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        with pytest.raises(TypeError, match="is always validated"):
            type(sample).construct(**dict(sample))


def test_the_old_copy_is_not_a_way_round_validation() -> None:
    plan = Plan(steps=(), declared_outputs=("a",))
    with warnings.catch_warnings(), pytest.raises((TypeError, ValidationError)):
        warnings.simplefilter("ignore", DeprecationWarning)
        plan.copy(update={"steps": ("no step",), "declared_outputs": 5})


@pytest.mark.parametrize(
    ("door", "said"),
    [
        ("model_construct", "Plan is always validated: call Plan(...) instead"),
        ("model_validate_json", "Plan is read from JSON by harness.wire.parse only"),
        ("parse_raw", "Plan is read from JSON by harness.wire.parse only"),
        ("parse_file", "Plan is read from JSON by harness.wire.parse only"),
        ("model_validate_strings", "Plan is strict: give values of their own types"),
    ],
)
def test_what_is_shut_says_what_to_use(door: str, said: str) -> None:
    with pytest.raises(TypeError) as caught:
        getattr(Plan, door)("{}")
    assert str(caught.value) == said


def test_the_old_copy_says_what_to_use() -> None:
    with pytest.raises(TypeError) as caught:
        ReasonStep().copy()
    assert str(caught.value) == "ReasonStep is copied by model_copy only"


class Measurement(Envelope):
    """An envelope with an additional number."""

    value: float


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_are_finite(number: float) -> None:
    assert Measurement(value=0.5).value == 0.5
    with pytest.raises(ValidationError, match="finite number"):
        Measurement(value=number)


def test_an_error_does_not_repeat_what_it_refuses() -> None:
    # What a plan holds may be secret, and errors end in logs.
    with pytest.raises(ValidationError) as caught:
        Plan(steps=(), declared_outputs=("hunter two",))
    assert "hunter" not in str(caught.value)


def test_a_copy_shares_its_values_unless_it_is_deep() -> None:
    step = ToolStep(adapter_id="a", capability_id="b", args={"x": [1]})
    assert step.model_copy().args is step.args
    deep = step.model_copy(deep=True)
    assert deep == step
    assert deep.args["x"] is not step.args["x"]


def test_json_has_one_way_in() -> None:
    # Pydantic's own reader lets the last of two equal keys win, so it must not be a second way.
    twice = b'{"steps":[],"declared_outputs":["a"],"declared_outputs":[]}'
    with pytest.raises((TypeError, ValidationError)):
        Plan.model_validate_json(twice)


def test_a_copy_with_changes_is_validated_again() -> None:
    budget = RunBudget(max_steps=3)
    assert budget.model_copy(update={"bucket_tokens": 5}) == RunBudget(max_steps=3, bucket_tokens=5)
    assert budget.max_steps == 3
    for wrong in ({"max_steps": -1}, {"max_steps": None}, {"max_stepz": 1}, {"max_steps": True}):
        with pytest.raises(ValidationError):
            budget.model_copy(update=wrong)


def test_a_copy_with_changes_is_validated_as_a_whole() -> None:
    wire = good_run()["proposal"]["compiled"]["manifests"]
    manifests = build(type(rich_run().proposal.compiled.manifests), wire)
    twice = {"tool_manifest": manifests.tool_manifest * 2}
    with pytest.raises(ValidationError, match="two entries of tool_manifest"):
        manifests.model_copy(update=twice)


def used(compiled: CompiledContext) -> CompiledContext:
    """Return a context with every derived value computed and kept."""
    run = rich_run()
    verify(run.proposal.ctx, compiled, run.proposal.spec, run.proposal.plan)
    return compiled


every_copy = pytest.mark.parametrize(
    "copied",
    [
        pytest.param(copy.copy, id="copy"),
        pytest.param(copy.deepcopy, id="deepcopy"),
        pytest.param(lambda one: one.model_copy(), id="model_copy"),
        pytest.param(lambda one: one.model_copy(deep=True), id="model_copy_deep"),
        pytest.param(lambda one: pickle.loads(pickle.dumps(one)), id="pickle"),  # noqa: S301
    ],
)


class Counted(Envelope):
    """An envelope that caches what follows from its field."""

    value: int

    @cached_property
    def doubled(self) -> int:
        """Return twice the value."""
        return 2 * self.value


@every_copy
def test_what_an_envelope_caches_does_not_travel_with_it(copied: Any) -> None:
    original = Counted(value=2)
    assert original.doubled == 4
    assert set(original.__dict__) == {"value", "doubled"}
    assert set(copied(original).__dict__) == {"value"}


def test_an_index_is_built_once() -> None:
    manifests = rich_run().proposal.compiled.manifests
    assert manifests.tools is manifests.tools
    assert manifests.evidence is manifests.evidence
    for item in manifests.evidence_manifest:
        assert item.backing is item.backing


@every_copy
def test_what_is_derived_from_an_envelope_does_not_travel_with_it(copied: Any) -> None:
    original = used(rich_run().proposal.compiled)
    other = copied(original)
    assert kept_surface(other) is not kept_surface(original)
    assert other == original
    assert canonical_bytes(other) == canonical_bytes(original)
    assert surface_of(used(other)).tools.keys() == original.manifests.tools.keys()


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))],  # noqa: S301
    ids=["deepcopy", "pickle"],
)
def test_a_copy_is_judged_by_what_it_says_itself(copied: Any) -> None:
    original = used(rich_run().proposal.compiled)
    other = copied(original)
    assert set(other.__dict__) == {"manifests", "pack_version"}
    assert set(other.manifests.__dict__) == set(type(other.manifests).model_fields)
    assert all("backing" not in item.__dict__ for item in other.manifests.evidence_manifest)


class SlyStep(ToolStep):
    """A step that answers otherwise than the fields that were validated."""

    @property
    def sly(self) -> str:
        return "sly"


def test_an_instance_of_a_subclass_becomes_an_exact_one() -> None:
    facts: Json = {"adapter_id": "a", "capability_id": "b", "id": "s", "estimated_tokens": 1}
    for name in ("depends_on", "requires_evidence", "evidence_refs", "evidence_steps"):
        facts[name] = ("e",)
    facts |= {"takes": (Take(arg="/a", step="e", at=""),), "of": 0, "shell": {}}
    (step,) = Plan(steps=(SlyStep(**facts),), declared_outputs=()).steps
    assert type(step) is ToolStep
    assert step == ToolStep(**facts)


def test_an_instance_of_a_subclass_with_absent_fields_is_refused() -> None:
    sly = SlyStep(adapter_id="a", capability_id="b")
    with pytest.raises(ValidationError):
        Plan(steps=(sly,), declared_outputs=())


class SlyText(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class SlyNumber(int):
    def __gt__(self, other: object) -> bool:
        return False


def test_texts_and_numbers_that_lie_become_exact_ones() -> None:
    mode: Any = SlyText("read_only")
    ctx = RunContext(trace_id=SlyText("t"), safety_mode=mode)
    assert (type(ctx.trace_id), type(ctx.safety_mode)) == (str, str)
    assert ctx.trace_id != "u"
    budget = RunBudget(max_steps=SlyNumber(7))
    assert type(budget.max_steps) is int
    assert budget.max_steps == 7
    step = ReasonStep(summary=SlyText("why"))
    assert type(step.summary) is str


@pytest.mark.parametrize("kind", [set, frozenset, dict.fromkeys, str])
def test_arrays_have_an_order_of_their_own(kind: Any) -> None:
    # A set has another order in another process, so one value would have several digests.
    with pytest.raises(ValidationError):
        DecisionSpec(id="d", required_outputs=kind(["a", "b"]))


@pytest.mark.parametrize("kind", [list, tuple])
def test_arrays_of_the_wire_become_tuples(kind: Any) -> None:
    spec = DecisionSpec(id="d", required_outputs=kind(["b", "a", "b"]))
    assert spec.required_outputs == ("b", "a", "b")
