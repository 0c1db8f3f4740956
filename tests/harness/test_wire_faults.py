"""Errors of input that is not an envelope: they name the real place, and what to do."""

from collections.abc import Callable
from time import perf_counter

import pytest

from critic import CriticReport, Plan, Proposal, Run, RunContext
from evals.envelope import Envelope, Identifier
from evals.manifest import Source
from harness.guard import CallsEvent
from harness.wire import MOST_PROBLEMS, InvalidInput, build
from tests.support.examples import HOSTILE, good_run, is_safe, refused_at
from tests.support.model.facts import Json


def bent(change: Callable[[Json], object]) -> Json:
    wire = good_run()
    change(wire)
    return wire


@pytest.mark.parametrize(
    ("change", "path", "message"),
    [
        (
            lambda run: run["proposal"]["plan"]["steps"][1].pop("kind"),
            "/proposal/plan/steps/1",
            "the field kind is missing, which says what it is: add it: "
            '"tool" for a call, "reason" for none',
        ),
        (
            lambda run: run["proposal"]["spec"].update(required_outputs="a"),
            "/proposal/spec/required_outputs",
            'must be an array: write ["..."] for one text',
        ),
    ],
)
def test_an_error_says_what_to_write(
    change: Callable[[Json], object], path: str, message: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        build(Run, bent(change))
    assert (caught.value.path, caught.value.message) == (path, message)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda run: run.update(run_id="a b"), "/run_id"),
        (lambda run: run.pop("calls"), "/calls"),
        (lambda run: run.update(calls={}), "/calls"),
        (lambda run: run["calls"][1].update(status="done"), "/calls/1/status"),
        (lambda run: run["calls"][1].pop("args"), "/calls/1/args"),
        (lambda run: run["calls"].append(5), "/calls/2"),
        (lambda run: run["calls"][0].update(tokens=-1), "/calls/0/tokens"),
        (lambda run: run["proposal"]["ctx"].update(as_of="now"), "/proposal/ctx/as_of"),
        (lambda run: run["proposal"]["spec"].pop("id"), "/proposal/spec/id"),
        (
            lambda run: run["proposal"]["plan"]["steps"][0].update(adapter_id="a b"),
            "/proposal/plan/steps/0/adapter_id",
        ),
        (
            lambda run: run["proposal"]["plan"]["steps"][1].pop("capability_id"),
            "/proposal/plan/steps/1/capability_id",
        ),
        (
            lambda run: run["proposal"]["plan"]["steps"][1].update(tool=1),
            "/proposal/plan/steps/1/tool",
        ),
        (
            lambda run: run["proposal"]["plan"]["steps"][1]["evidence_refs"].append(""),
            "/proposal/plan/steps/1/evidence_refs/2",
        ),
        (
            lambda run: run["proposal"]["plan"]["steps"][1].update(kind="call"),
            "/proposal/plan/steps/1",
        ),
        (lambda run: run["outputs"].update({"bad key": 1}), "/outputs/bad key"),
        (lambda run: run["outputs"].update({"a/b c~": 1}), "/outputs/a~1b c~0"),
        (lambda run: run.update({"x/y~": 1}), "/x~1y~0"),
    ],
)
def test_an_error_is_named_by_its_real_place(change: Callable[[Json], object], path: str) -> None:
    error = refused_at(Run, bent(change))
    assert error.path == path
    assert is_safe(str(error))
    assert str(error).endswith(f": {error.message}")


def test_a_list_that_is_too_short_is_told_in_plain_words() -> None:
    wire = {"event": "calls", "session": "s", "calls": []}
    assert refused_at(CallsEvent, wire).message == "value should have at least 1 item, not 0"


# The tags of a union are no places, even where the document has a member of that name.
@pytest.mark.parametrize("tag", ["tool", "reason"])
@pytest.mark.parametrize("value", [{}, {"adapter_id": 1, "summary": 1}, [1], "text", None])
def test_a_union_tag_is_not_a_place(tag: str, value: object) -> None:
    wrong = {"kind": "tool", "adapter_id": "a b", "capability_id": "c"}
    if tag == "reason":
        wrong = {"kind": "reason", "summary": "\ud800"}
    plan = {"steps": [{**wrong, tag: value}], "declared_outputs": []}
    assert refused_at(Plan, plan).path == f"/steps/0/{'adapter_id' if tag == 'tool' else 'summary'}"


# Nor is a member less of a place because pydantic uses its name for something else.
class Choice(Envelope):
    one: Identifier | Source


@pytest.mark.parametrize("value", [{"constrained-str": 1}, {}, "a b", 5])
def test_the_form_of_a_text_is_not_a_place(value: object) -> None:
    with pytest.raises(InvalidInput) as caught:
        build(Choice, {"one": value})
    for problem in caught.value.problems:
        assert problem.path.split("/")[:2] == ["", "one"]
        assert problem.path != "/one/constrained-str" or value == {"constrained-str": 1}


def test_a_member_that_is_named_like_a_form_is_a_place() -> None:
    wire = good_run()["proposal"]
    tool = wire["compiled"]["manifests"]["tool_manifest"][0]
    tool["requires_evidence"] = [{"demand": {"class": 1}, "class": "a b"}]
    tool["bound_args"] = {"binding": {"from": ["a b"], "binding": {"from": 1}}, "classes": [5]}
    error = refused_at(Proposal, wire)
    at = "/compiled/manifests/tool_manifest/0/"
    assert {problem.path for problem in error.problems} == {
        f"{at}requires_evidence/0/class",
        f"{at}requires_evidence/0/demand",
        f"{at}bound_args/binding/from/0",
        f"{at}bound_args/binding/binding",
        f"{at}bound_args/classes/0",
    }


def test_a_digest_that_is_none_is_told_its_form() -> None:
    wire = good_run()["proposal"]
    called = {"adapter_id": "a", "capability_id": "b", "args_digest": "ab"}
    wire["ctx"]["spent"] = {"calls": [called]}
    error = refused_at(Proposal, wire)
    assert error.path == "/ctx/spent/calls/0/args_digest"
    assert error.message == (
        "not a SHA-256: 64 digits of 0-9 and a-f, with or without sha256: before them"
    )


@pytest.mark.parametrize(
    "name", ["[key]", "tuple[", "tuple[str, ...]", "function-after[tuple()", "tool", "0", "-1"]
)
def test_a_member_of_an_odd_name_is_a_place(name: str) -> None:
    assert refused_at(Run, bent(lambda run: run.update({name: 1}))).path == f"/{name}"
    step = bent(lambda run: run["proposal"]["plan"]["steps"][0].update({name: 1}))
    assert refused_at(Run, step).path == f"/proposal/plan/steps/0/{name}"
    output = bent(lambda run: run["outputs"].update({f"{name} ": 1}))
    assert refused_at(Run, output).path == f"/outputs/{name} "


def report_wire(verdict: Json) -> Json:
    return {
        "trace_id": "t",
        "decision_key": "d",
        "verify": verdict,
        "status": "refused_by_critic",
        "rationale": "r",
        "decided_at": "2026-05-09T12:00:00Z",
        "refused_at": "verify",
    }


def test_a_contradiction_is_named_by_its_envelope() -> None:
    violation = {"check": "loop", "kind": "loop_guard", "reason": "r"}
    verdict = {"ok": False, "kind": "loop_guard", "reasons": ["other"], "violations": [violation]}
    assert refused_at(CriticReport, report_wire(verdict)).path == "/verify"
    verdict = {"ok": False, "kind": "loop_guard", "reasons": ["r"], "violations": [violation]}
    assert refused_at(CriticReport, {**report_wire(verdict), "status": "partial"}).path == ""


@pytest.mark.parametrize("value", [1, {"a": 1}, [1], None])
def test_a_bad_key_is_named_whatever_it_holds(value: object) -> None:
    wire = bent(lambda run: run["outputs"].update({"bad key": value}))
    assert refused_at(Run, wire).path == "/outputs/bad key"


@pytest.mark.parametrize("where", ["calls", "outputs"])
def test_very_many_problems_are_found_in_linear_time(where: str) -> None:
    """To find out what is valid without its nulls took a copy of the document for each null."""
    many = 20_000
    wire = good_run()
    if where == "calls":
        wire["calls"] = [{**wire["calls"][0], "output": None, "error": None}] * many
    else:
        wire["outputs"] = {"note": None, **{f"bad key {at}": None for at in range(2 * many)}}
    start = perf_counter()
    error = refused_at(Run, wire)
    assert perf_counter() - start < 10
    assert error.message.endswith(" (and more: reading stops at the first 100 faults)")
    assert len(error.problems) == MOST_PROBLEMS
    first = "/calls/0/output" if where == "calls" else "/outputs/bad key 0"
    assert error.path == first
    words = "must not be null: omit the field" if where == "calls" else "not an identifier"
    assert all(problem.message.startswith(words) for problem in error.problems)


# --- the words --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda run: run.update(run_id=""),
            "not an identifier: 1 to 128 (evidence refs 512) characters of letters, digits and "
            "_.:/#@+=~-, the first a letter, digit or _",
        ),
        (lambda run: run.update(extra=1), "unknown field: remove it or check its spelling"),
        (lambda run: run.pop("run_id"), "required field is missing: add it"),
        (
            lambda run: run.update(tokens=1.5),
            "must be an integer (no fraction, no quotes, no null)",
        ),
        (
            lambda run: run.update(intent=None),
            "must not be null: omit the field",
        ),
        (
            lambda run: run["proposal"]["ctx"].update(as_of=None),
            "must not be null: omit the field",
        ),
        (
            lambda run: run["proposal"]["plan"]["steps"][0].update(depends_on=None),
            "must not be null: omit the field",
        ),
        (lambda run: run.update(run_id=None), "must be a string"),
        (
            lambda run: run["proposal"]["plan"]["steps"][0].update(depends_on=[None]),
            "must be a string",
        ),
    ],
)
def test_the_words_say_what_to_do(change: Callable[[Json], object], message: str) -> None:
    assert refused_at(Run, bent(change)).message == message


def test_further_errors_are_counted() -> None:
    error = refused_at(RunContext, {"trace_id": "", "safety_mode": "x", "more": 1})
    assert error.path == "/trace_id"
    assert error.message.endswith(" (and 2 more)")


def test_a_closed_set_is_listed_legibly() -> None:
    error = refused_at(RunContext, {"trace_id": "t", "safety_mode": "admin"})
    for mode in ("read_only", "local_write", "network", "delegated", "destructive"):
        assert mode in error.message
    assert "\\u0027" not in error.message


@pytest.mark.parametrize(
    "value",
    [
        {HOSTILE: 1},
        {"trace_id": HOSTILE, "safety_mode": "network"},
        {"trace_id": "t", "safety_mode": HOSTILE},
        {"trace_id": "t", "safety_mode": "network", "as_of": HOSTILE},
        {"trace_id": "t", "safety_mode": "network", HOSTILE: {HOSTILE: HOSTILE}},
        HOSTILE,
        [HOSTILE],
    ],
)
def test_a_hostile_document_cannot_speak_through_the_error(value: object) -> None:
    error = refused_at(RunContext, value)
    assert is_safe(str(error))
    assert is_safe(error.message)
    assert "\n" not in str(error)


def test_a_hostile_kind_cannot_speak_through_the_error() -> None:
    error = refused_at(Plan, {"steps": [{"kind": HOSTILE}], "declared_outputs": []})
    assert is_safe(str(error))


@pytest.mark.parametrize("value", [None, 1, "x", [], True])
def test_a_document_that_is_not_an_object_is_refused(value: object) -> None:
    error = refused_at(Proposal, value)
    assert error.path == ""
    assert str(error).startswith("the document: ")


def test_an_error_is_a_value_error_without_a_trail() -> None:
    # The cause would hold the whole input, which may be secret and is certainly long.
    error = refused_at(RunContext, {})
    assert isinstance(error, ValueError)
    assert error.__cause__ is None
    assert error.__suppress_context__
