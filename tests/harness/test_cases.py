"""Every checked-in case holds, and together they show all that the engine can say."""

import base64
import json
import re
import time
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest

from critic import Check, Proposal, RefusalKind, Run
from evals.kinds import EvaluatorId
from evals.verdict import Status
from harness.cases import (
    Case,
    case_files,
    parse_case,
    problem,
    render_case,
    renewed,
)
from harness.policy import lint, read_policy
from harness.wire import build, parse_json
from tests.support.large_cases import every_case, large_cases
from tests.support.paths import CASES, ROOT

CORPUS = ROOT.parent / "shared" / "corpus"

# Most cases take a millisecond. Some are made to be slow for a judge that is not linear.
LONGEST_SECONDS = 1


@cache
def known_cases() -> dict[str, Case]:
    return every_case()


def verdict(name: str) -> dict[str, Any]:
    """Return the verdict that a case expects, or an empty one if it expects an error."""
    expect = known_cases()[name].expect
    return (expect and expect.verdict) or {}


def verdicts(folder: str) -> list[dict[str, Any]]:
    found = [verdict(name) for name in known_cases() if name.startswith(f"{folder}/")]
    return [expected for expected in found if expected]


# Every case file.


@pytest.mark.parametrize(
    "path", case_files(CASES), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_case_holds(path: Path) -> None:
    data = path.read_bytes()
    case = parse_case(data)
    require_it_holds(case)
    assert render_case(case) == data
    assert render_case(renewed(case)) == data


@pytest.mark.parametrize("name", large_cases())
def test_large_case_holds(name: str) -> None:
    case = known_cases()[name]
    require_it_holds(case)
    assert parse_case(render_case(case)) == case


def require_it_holds(case: Case) -> None:
    assert case.must is not None, "say in `must` what is meant"
    started = time.process_time()
    failure = problem(case)
    assert time.process_time() - started < LONGEST_SECONDS
    if failure:
        pytest.fail(f"{case.title}\n{failure}", pytrace=False)


def test_file_names_are_plain() -> None:
    names = {str(path.relative_to(CASES)) for path in case_files(CASES)}
    assert not [name for name in names if not re.fullmatch(r"[a-z]+/[a-z0-9-]+\.json", name)]


def test_titles_differ_within_a_folder() -> None:
    titles = [(name.split("/")[0], case.title) for name, case in known_cases().items()]
    assert len(set(titles)) == len(titles)


# Together: every kind, check, status and reason.


def test_every_kind_and_check_of_verify_is_shown() -> None:
    refusals = [said for said in verdicts("verify") if not said["ok"]]
    violations = [violation for said in refusals for violation in said["violations"]]
    assert {said["kind"] for said in refusals} == set(get_args(RefusalKind))
    assert {said["violations"][0]["check"] for said in refusals} == set(get_args(Check))
    assert {(found["check"], found["kind"]) for found in violations} == {
        ("coverage", "violates_decision_spec"),
        ("surface", "violates_decision_spec"),
        ("approval", "approval_mode_mismatch"),
        ("evidence", "missing_evidence"),
        ("loop", "loop_guard"),
        ("loop", "budget_exceeded"),
    }


def test_every_status_of_every_evaluator_is_shown() -> None:
    shown = {
        (name, judged["status"])
        for said in verdicts("score")
        for name, judged in said["scorecard"]["scores"].items()
    }
    possible = {(name, status) for name in get_args(EvaluatorId) for status in get_args(Status)}
    # A run is inside its plan or it is not: nothing that policy looks at can go unmeasured.
    assert shown == possible - {("policy", "warn")}


def test_every_status_of_a_report_is_shown() -> None:
    shown = {(report["status"], report.get("refused_at")) for report in verdicts("consolidate")}
    assert shown == {
        ("completed", None),
        ("partial", None),
        ("refused_by_critic", "verify"),
        ("refused_by_critic", "score"),
    }


REASONS = (
    r"plan does not produce required output \S+",
    r"no step can produce required output \S+",
    r"no step calls a tool that lists required output \S+ in produces",
    r"plan is for trace \S+, not for trace \S+",
    r"plan step \d+ calls \S+ which is not in the surface",
    r"step \d+ args do not match the args_schema at /.+ \(.+\)",
    r"step \d+ args do not match the args_schema \(.+\)",
    r"step \d+ sends content of confined evidence \S+ in argument .+",
    r"step \d+ mode \w+ > safety_mode \w+",
    r"step \d+ mode \w+ > spec approval_mode \w+",
    r"step \d+ mode \w+ needs approval: no valid approval of this plan covers it",
    r"step \d+ requires evidence class \S+, none pinned",
    r"step \d+ pins evidence \S+, which is not in the evidence manifest",
    r"step \d+ pins evidence \S+, which has expired",
    r"step \d+ pins evidence \S+, whose expiry cannot be judged without as_of",
    r"step \d+ requires evidence class \S+ about argument .+, which has no value",
    r"step \d+ has no pinned evidence of class \S+ whose content satisfies the content_schema",
    r"step \d+ has no pinned evidence of class \S+ whose content holds argument .+ at .+",
    r"step \d+ has no pinned evidence of class \S+ whose content satisfies the content_schema "
    r"and holds argument .+ at .+",
    r"step \d+ has no value for argument .+, which evidence must back",
    r"step \d+ argument .+ is not backed by pinned evidence",
    r"step \d+ argument .+ is not backed by pinned evidence at .+",
    r"step \d+ arguments? .+ (is|are) not backed by one and the same pinned item",
    r"plan pins no fresh evidence of required class \S+",
    r"plan has 1 step, exceeds max_steps",
    r"plan has \d+ steps, exceeds max_steps",
    r"plan has \d+ steps after \d+ already spent, exceeds max_steps",
    r"step \d+ repeats the id \S+ of an earlier step",
    r"step \d+ depends on \S+, which is not the id of an earlier step",
    r"step \d+ repeats the destructive call \S+ of an earlier step with the same args",
    r"step \d+ repeats the destructive call \S+ of an earlier plan with the same args"
    r": needs approval",
    r"step \d+ has (takes|evidence_steps), and the spec does not allow late plans",
    r"step \d+ takes a value for \S+, where no place is free in its args",
    r"step \d+ takes \S+ from .+, which never fits: the schemas have no type in common",
    r"step \d+ (takes from|pins) \S+, which is not the id of an earlier tool step",
    r"plan exceeds bucket_tokens",
    r"and 1 more violation",
)
CAVEATS = (
    r"args not checked, no args_schema: step \d+",
    r"args not checked, no args_schema: steps \d+(, \d+)+( and \d+ more)?",
    r"tokens not estimated by the plan: steps? .+",
    r"outputs not traced to a step that lists them: .+",
    r"declared outputs that no step can produce: .+",
    r"bound arguments without a value: steps? .+",
    r"confined evidence without content to look for: .+",
    r"approvals not bound to this context, no context_digest: steps? .+",
    r"keys of bound object arguments not checked: steps? .+",
    r"late values, judged when their steps are opened: steps? .+",
)
FINDINGS = (
    r"run of trace \S+ is scored under trace \S+",
    r"plan of trace \S+ was run under trace \S+",
    r"run \S+ is scored under run \S+",
    r"call \d+ of step \d+ belongs to no tool step of the plan",
    r"call \d+ of step \d+ is \S+, not the tool of its step",
    r"call \d+ of step \d+ has other args than its step",
    r"call \d+ of step \d+ is not in the surface",
    r"call \d+ of step \d+ has mode \w+ > safety_mode \w+",
    r"call \d+ of step \d+ has mode \w+ > spec approval_mode \w+",
    r"call \d+ of step \d+ has mode \w+ and no approval",
    r"call \d+ of step \d+ came before \S+, which it depends on",
    r"call \d+ of step \d+ repeats its step and is no retry",
    r"call \d+ of step \d+ is of a late plan, and was not opened",
    r"call \d+ of step \d+ has attempt \d+, but is attempt \d+ of its step",
    r"call \d+ of step \d+ is retry \d+ of its step, over the limit of 10",
    r"required output \S+ is missing",
    r"required output \S+ is null",
    r"required output \S+ does not satisfy its schema at /\S+",
    r"required output \S+ does not satisfy its schema at its root",
    r"call \d+ of step \d+ ended (failed|timed_out|unknown)",
    r"call \d+ of step \d+ ended (failed|timed_out|unknown) and completed on retry",
    r"step \d+ was planned but not called",
    r"output \S+ is not declared by the plan",
    r"output \S+ does not satisfy its schema at its root",
    r"no budget declared for (wall_ms|tokens|cost_micros)",
    r"(wall_ms|tokens|cost_micros) has a budget of \d+ but was not measured",
    r"(wall_ms|tokens|cost_micros|the longest call) is \d+, over the budget of \d+",
    r"tokens is \d+, over the default budget of \d+",
    r"tokens has the default budget of \d+ and was not measured",
    r"wall_ms is \d+, shorter than call \d+, which took \d+",
    r"call \d+ of step \d+ required evidence class \S+, none pinned",
    r"call \d+ of step \d+ relied on evidence \S+, which is not in the evidence manifest",
    r"call \d+ of step \d+ relied on evidence \S+, which has expired",
    r"call \d+ of step \d+ relied on evidence \S+, whose expiry cannot be judged without as_of",
    r"call \d+ of step \d+ sent argument .+ that no pinned evidence backs",
    r"call \d+ of step \d+ required evidence class \S+ about argument .+, which was not sent",
    r"call \d+ of step \d+ had no pinned evidence of class \S+ whose content .+",
    r"call \d+ of step \d+ sent no value for argument .+, which evidence must back",
    r"call \d+ of step \d+ sent arguments? .+ that no one pinned item backs alone",
    r"call \d+ of step \d+ retries a call of unknown effect without its idempotency key",
    r"call \d+ of step \d+ sends content of \S+",
    r"output \S+ holds content of \S+",
    r"confined evidence \S+ has no content to look for",
    r"confined evidence \S+ has no text of 8 characters or number of 6 digits to look for",
)
RATIONALES = (
    r"verify failed: \w+ — .+",
    r"verify passed; no score \(no execution\)",
    r"verify and score passed",
    r"verify and score passed; \w+ warn \d\.\d\d",
    r"verify and score passed; \w+ fail \d\.\d\d",
    r"verify and score passed; \w+ (warn|fail) \d\.\d\d(, \w+ (warn|fail) \d\.\d\d)+",
    r"policy fail: [^;]+",
    r"safety fail: [^;]+",
    r"policy fail: [^;]+; safety fail: [^;]+",
    r".+, and \d+ more",
    r".{500}",
)


def assert_all_shown(texts: set[str], forms: tuple[str, ...]) -> None:
    unshown = [form for form in forms if not any(re.fullmatch(form, text) for text in texts)]
    unknown = [text for text in texts if not any(re.fullmatch(form, text) for form in forms)]
    assert (unshown, unknown) == ([], []), "no case shows these; no form here knows these"


def test_every_reason_of_verify_is_shown() -> None:
    refusals = [said for said in verdicts("verify") if not said["ok"]]
    assert_all_shown(
        {found["reason"] for said in refusals for found in said["violations"]}, REASONS
    )


def test_every_caveat_is_shown() -> None:
    passed = [said for said in verdicts("verify") if said["ok"]]
    assert_all_shown({text for said in passed for text in said["caveats"]}, CAVEATS)


def test_every_finding_is_shown() -> None:
    scores = [said["scorecard"]["scores"] for said in verdicts("score")]
    judged = [judged for evaluators in scores for judged in evaluators.values()]
    messages = {found["message"] for said in judged for found in said["findings"]}
    assert_all_shown(messages, FINDINGS)


def test_every_rationale_is_shown_and_is_one_short_line() -> None:
    rationales = {report["rationale"] for report in verdicts("consolidate")}
    assert_all_shown(rationales, RATIONALES)
    assert max(map(len, rationales)) == 500
    assert all(text.isprintable() and "<" not in text for text in rationales)


# The worked example.


def test_plan_a_gets_the_published_refusal() -> None:
    for name in ("refund/plan-a-verify.json", "refund/published-plan-a.json"):
        said = verdict(name)
        assert {part: said[part] for part in ("ok", "kind", "reasons", "offending_step")} == {
            "ok": False,
            "kind": "missing_evidence",
            "reasons": ["step 1 requires evidence class refund_window_evidence, none pinned"],
            "offending_step": 1,
        }


def test_plan_b_passes_and_its_run_scores_over_nine_tenths() -> None:
    for name in ("refund/plan-b-verify.json", "refund/published-plan-b.json"):
        assert verdict(name)["reasons"] == ["2 steps, 2 required outputs covered"]
    scores = verdict("refund/plan-b-score.json")["scorecard"]["scores"].values()
    assert {(judged["status"], judged["score"] >= 0.9) for judged in scores} == {("pass", True)}


@pytest.mark.parametrize("name", ["plan-c-verify", "plan-c-window-closed"])
def test_evidence_that_says_no_or_is_of_another_order_is_none(name: str) -> None:
    said = verdict(f"refund/{name}.json")
    assert (said["kind"], said["offending_step"]) == ("missing_evidence", 1)
    assert "no pinned evidence of class refund_window_evidence whose content" in said["reasons"][0]


def test_refund_documents_are_those_of_the_cases() -> None:
    documents: dict[str, tuple[type[Proposal] | type[Run], str]] = {
        "plan_a.json": (Proposal, "refund/plan-a-verify.json"),
        "plan_b.json": (Proposal, "refund/plan-b-verify.json"),
        "plan_b_run.json": (Run, "refund/plan-b-score.json"),
        "plan_c.json": (Proposal, "refund/plan-c-verify.json"),
    }
    for name, (model, case) in documents.items():
        data = (ROOT / "fixtures" / "refund" / name).read_bytes()
        build(model, parse_json(data))
        assert parse_json(data) == known_cases()[case].input


@pytest.mark.parametrize("name", ["plan_a.json", "plan_b.json", "plan_c.json"])
def test_the_policy_of_the_refund_is_that_of_its_plans(name: str) -> None:
    policy = read_policy(ROOT / "fixtures" / "refund" / "critic.toml")
    judged = build(Proposal, parse_json((ROOT / "fixtures" / "refund" / name).read_bytes()))
    capabilities = [tool.capability for tool in policy.tool]
    in_plan = [one for one in capabilities if one.capability_id != "refund_window"]
    assert in_plan == list(judged.compiled.manifests.tool_manifest)
    assert policy.spec == judged.spec
    assert policy.guard.safety_mode == judged.ctx.safety_mode
    assert policy.guard.budget == judged.ctx.run_budget
    assert {finding.severity for finding in lint(policy)} <= {"note"}


# The corpus that the hostile cases come from.


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus lies beside the project, not in it")
def test_every_case_of_the_corpus_is_brought_in() -> None:
    ours = {
        name.split("/")[1].split("-")[0]: c
        for name, c in known_cases().items()
        if "hostile/" in name
    }
    for line in (CORPUS / "hostile.jsonl").read_text(encoding="utf-8").splitlines():
        theirs = json.loads(line)
        case = ours[theirs["id"].lower()]
        assert case.title == theirs["title"]
        assert case.must is not None
        assert case.must.wire() == theirs["expect"]
        assert same_document(case.document(), corpus_document(theirs)), theirs["id"]


def corpus_document(theirs: dict[str, Any]) -> bytes:
    if "input_base64" in theirs:
        return base64.b64decode(theirs["input_base64"])
    return str(theirs["input"]).encode()


def same_document(one: bytes, other: bytes) -> bool:
    return one == other or bool(parse_json(one) == parse_json(other))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus lies beside the project, not in it")
def test_every_run_and_report_scenario_that_a_document_can_state_is_brought_in() -> None:
    wanted = {f"i{number}" for number in range(10, 15)}
    wanted |= {f"h{number:02}" for number in (0, 1, 5, 6, 7, 8, 9, 12, 13, 14, 16, 17, 18)}
    listed = {found["id"].lower() for found in json.loads((CORPUS / "scenarios.json").read_text())}
    names = {name.split("/")[1].split("-")[0] for name in known_cases()}
    assert wanted <= listed
    assert wanted <= names
