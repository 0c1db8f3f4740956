"""`critic verify` with a context that is given once: the same answers as with whole Proposals."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from critic import CompiledContext
from harness.commands.judge import verify_policy
from harness.policy import Policy
from tests.harness.commands.lines import GOOD_SAID, REFUSED_SAID, read
from tests.harness.console import Critic, Said
from tests.support.examples import good_proposal, refused_proposal
from tests.support.paths import ROOT

REFUND = ROOT / "fixtures" / "refund" / "critic.toml"
Json = dict[str, Any]


def _lines(values: list[Any]) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


def _saved(folder: Path, value: Any) -> Path:
    path = folder / "context.json"
    path.write_text(json.dumps(value), "utf-8")
    return path


def _plans() -> list[Json]:
    """Return the plans of two proposals in one context, and what is not a plan between them."""
    good, refused = good_proposal()["plan"], refused_proposal()["plan"]
    return [good, {}, refused, {**good, "steps": [{"kind": "tool"}]}, good]


def test_plans_are_judged_against_one_file(critic: Critic, tmp_path: Path) -> None:
    context = {name: good_proposal()[name] for name in ("ctx", "compiled", "spec")}
    against = "verify", "--against", _saved(tmp_path, context), "--lines", "--format", "json", "-"
    said = critic(*against, stdin=_lines(_plans()))
    assert said.status == 2
    answers = read(said.lines)
    assert answers[0] == answers[4] == GOOD_SAID
    assert answers[2] == REFUSED_SAID
    assert answers[1]["error"]["path"] == "/steps"
    assert answers[3]["error"]["path"] == "/steps/0/adapter_id"
    assert critic(*against[:-1], "--advise", "-", stdin=_lines(_plans()[2:3])).status == 1


def test_answers_are_those_on_whole_proposals(critic: Critic, tmp_path: Path) -> None:
    context = {name: good_proposal()[name] for name in ("ctx", "compiled", "spec")}
    plans = [
        plan for plan in _plans() if "declared_outputs" in plan and plan["steps"][0].get("args")
    ]
    assert len(plans) > 1
    options = "--lines", "--advise", "--format", "json", "-"
    path = _saved(tmp_path, context)
    apart = critic("verify", "--against", path, *options, stdin=_lines(plans))
    whole = [{**context, "plan": plan} for plan in plans]
    assert apart == critic("verify", *options, stdin=_lines(whole))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"plan": {}}, "/plan: unknown field"),
        ({"ctx": None}, "/ctx: "),
        ({"spec": {"id": ""}}, "/spec/id: "),
        ({"compiled": {"manifests": {}}}, "/compiled/manifests/tool_manifest: "),
    ],
)
def test_a_context_that_is_none_is_refused_with_its_place(
    critic: Critic, tmp_path: Path, change: Json, place: str
) -> None:
    context = {name: good_proposal()[name] for name in ("ctx", "compiled", "spec")}
    path = _saved(tmp_path, {**context, **change})
    said = critic("verify", "--against", path, "-", stdin=_lines(_plans()[:1]))
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith(f"critic: {path}: not a PlanContext: {place}")


@pytest.mark.parametrize("other", ["context", "compiled", "spec", "policy"])
def test_a_context_is_not_given_twice(critic: Critic, tmp_path: Path, other: str) -> None:
    said = critic("verify", "--against", tmp_path / "x", f"--{other}", tmp_path / "y", "-")
    assert (said.status, said.out) == (2, "")
    assert said.err == f"critic: --against says it already: leave out --{other}\n"


def _without_parts(wire: Json) -> Json:
    left = copy.deepcopy(wire)
    del left["compiled"], left["spec"], left["ctx"]["safety_mode"]
    return left


def _variants() -> list[Any]:
    """Return proposals that leave out what the policy says, most with a fault or an addition."""
    good, refused = _without_parts(good_proposal()), _without_parts(refused_proposal())
    ctx, plan = good["ctx"], good["plan"]
    contexts: list[Any] = [None, [], {}, {**ctx, "trace_id": 1}]
    plans: list[Any] = [None, [], {}, {**plan, "x": 1}]
    faults: list[Any] = [
        *({**good, "ctx": fault} for fault in contexts),
        *({**good, "plan": fault} for fault in plans),
        {"ctx": {}, "plan": {}},
        {"plan": plan},
        {"ctx": ctx},
        {**good, "extra": 1},
        {**good, "spec": {}},
        {**good, "compiled": {"manifests": {"evidence_manifest": []}}},
        {**good, "ctx": {**ctx, "safety_mode": "read_only"}},
        {**good, "ctx": {**ctx, "run_budget": {"max_steps": 1}}},
        [],
        1,
    ]
    return [good, refused, *faults, good]


@pytest.mark.parametrize("form", ["json", "text", "sarif"])
@pytest.mark.parametrize("advise", [(), ("--advise",)])
def test_the_short_way_of_a_policy_answers_as_the_long_one(
    critic: Critic, form: str, advise: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said() -> Said:
        given = "verify", "--policy", REFUND, "--lines", "--format", form, *advise, "-"
        return critic(*given, stdin=_lines(_variants()))

    short = said()
    monkeypatch.setattr(verify_policy, "_LEFT", frozenset[str]())
    assert short == said()
    assert short.status == 2


def test_the_tools_of_a_policy_are_indexed_once(
    critic: Critic, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Policy] = []
    real = Policy.compiled

    def compiled(policy: Policy) -> CompiledContext:
        made.append(policy)
        return real(policy)

    monkeypatch.setattr(Policy, "compiled", compiled)
    lines = _lines([_without_parts(good_proposal())] * 5)
    said = critic("verify", "--policy", REFUND, "--lines", "-", stdin=lines)
    assert [one["kind"] for one in read(said.lines)] == ["missing_evidence"] * 5
    assert len(made) == 1


def test_a_document_cannot_raise_the_ceiling_of_the_policy(critic: Critic, tmp_path: Path) -> None:
    policy = tmp_path / "ro.toml"
    policy.write_text(REFUND.read_text("utf-8").replace('"destructive"', '"read_only"', 1), "utf-8")
    good = good_proposal()
    for ctx in (good["ctx"], {"trace_id": "t", "run_budget": {"max_steps": 100}}):
        document = _saved(tmp_path, {"ctx": ctx, "plan": good["plan"]})
        said = critic("verify", "--policy", policy, document)
        assert said.status == 2
        assert "is above that of the policy" in said.out + said.err
        context = _saved(tmp_path, ctx)
        with_context = critic("verify", "--policy", policy, "--context", context, "-", stdin=b"{}")
        assert with_context.status == 2
        assert "is above that of the policy" in with_context.out + with_context.err
