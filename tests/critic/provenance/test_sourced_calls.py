"""Calls on what was seen before them, from the fixtures: what engine and second statement answer.

A file has `tools`, `classes` and `cases`. A case has a `request`, the `items` that were seen, one
`call`, and what comes of it (`must`); `scope` is every tool unless it says otherwise.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

from critic import Proposal, verify_proposal
from harness.wire import InvalidInput, build, parse_json
from tests.support.guarding import differences
from tests.support.model.facts import Json
from tests.support.model.sessions import Session
from tests.support.model.verify import is_approvable, verify_model
from tests.support.paths import FIXTURES, ROOT

FILES: Final = sorted((FIXTURES / "provenance").glob("*.json"))
CORPUS: Final = ROOT.parent / "shared" / "corpus" / "ruleset3"
NAMES: Final = ("adapter_id", "capability_id")

OVERRULED: Final = {"R160": "names scope_waived, which the session no longer has"}
"""Cases of the corpus that a later ruling overrules, with what it says."""


def cases_in(path: Path) -> list[Json]:
    wire = json.loads(path.read_bytes())
    return [{**case, "tools": wire["tools"], "classes": wire["classes"]} for case in wire["cases"]]


def proposal_of(case: Json) -> Json:
    tools = [{name: one[name] for name in NAMES} for one in case["tools"]]
    called = next(one for one in case["tools"] if one["capability_id"] == case["call"]["tool"])
    request = {"author": "user", "standing": "named"}
    items = [{"classification": "request", "content": case["request"], "source": request}]
    items += case.get("items", [])
    evidence = [{"id": f"seen/{number}", **one} for number, one in enumerate(items)]
    ctx: Json = {"trace_id": "t", "safety_mode": "destructive", "scope": case.get("scope", tools)}
    ctx |= {"session": {"id": "s", "turn": 2, **case["session"]}} if "session" in case else {}
    ctx |= {"as_of": case["as_of"]} if "as_of" in case else {}
    step = {"kind": "tool", **{name: called[name] for name in NAMES}, "args": case["call"]["args"]}
    spec = {"id": "d", "required_outputs": [], "provenance": "closed", **case.get("spec", {})}
    manifests = {"tool_manifest": case["tools"], "evidence_manifest": evidence}
    manifests["classes"] = case["classes"]
    plan = {"steps": [step], "declared_outputs": []}
    return {"ctx": ctx, "compiled": {"manifests": manifests}, "spec": spec, "plan": plan}


def answer_to(verdict: Json) -> str:
    if verdict["ok"]:
        return "allow"
    return "ask" if is_approvable(verdict) else "refuse"


def engine(proposal: Json) -> Json:
    verdict: Json = verify_proposal(build(Proposal, proposal)).wire()
    return verdict


def every_case() -> list[Any]:
    return [pytest.param(one, id=one["title"]) for path in FILES for one in cases_in(path)]


@pytest.mark.parametrize("case", every_case())
def test_a_call_is_answered_as_the_case_says(case: Json) -> None:
    proposal = proposal_of(case)
    answers = {answer_to(judge(proposal)) for judge in (engine, verify_model)}
    assert answers == {case["must"]}, case["why"]


def test_the_cases_differ_and_have_every_answer() -> None:
    cases = [case for path in FILES for case in cases_in(path)]
    assert len({case["title"] for case in cases}) == len(cases) >= 80
    assert min(Counter(case["must"] for case in cases).values()) >= 15


# --- the corpus that the shapes come from -------------------------------------------------------


def lines_of(name: str) -> list[Json]:
    path = CORPUS / name
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )


def shared(*names: str) -> list[Any]:
    cases = [case for name in names for case in lines_of(name)]
    return [pytest.param(one, id=one["id"]) for one in cases if one["id"] not in OVERRULED]


@pytest.mark.parametrize("case", shared("rules.jsonl", "provenance.jsonl"))
def test_each_case_of_the_corpus_is_answered_as_it_says(case: Json) -> None:
    document, expected = case["input"].encode(), case["expect"]
    if expected.get("invalid"):
        with pytest.raises(InvalidInput):
            build(Proposal, parse_json(document))
        return
    wire = build(Proposal, parse_json(document)).wire()
    for judge in (engine, verify_model):
        verdict = judge(wire)
        said = {**verdict, "approvable": not verdict["ok"] and is_approvable(verdict)}
        said["violations"] = len(verdict.get("violations", []))
        compared = [one for one in expected if one in said]
        assert {name: said[name] for name in compared} == {
            name: expected[name] for name in compared
        }
    if "reason" in expected:
        assert any(expected["reason"] in one["reason"] for one in engine(wire)["violations"])


@pytest.mark.parametrize("case", lines_of("provenance-runs.jsonl"), ids=lambda case: case["name"])
def test_each_run_of_the_corpus_is_answered_as_it_says(case: Json) -> None:
    assert not differences(case)
    session = Session(case["policy"])
    said = [session.handle(event) for event in case["events"]]
    for answer in case["answers"]:
        expected = "error" if answer.get("error") else answer.get("action")
        assert said[answer["for"]] == expected
