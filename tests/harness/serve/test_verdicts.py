"""`/v1/verify`, `/v1/score`, `/v1/consolidate`: what the functions say, over HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest

from critic import Run, score, verify_proposal
from critic.replies.wording import word_refusal
from evals.run import refused_opening
from harness.cases import judge_case
from harness.log import SqlDecisionLog
from harness.policy import read_policy
from harness.record import RunFacts
from harness.replay import replay
from tests.harness.guard.test_late_calls import VALUES
from tests.harness.guard.test_late_travel import STREAMS
from tests.harness.guard.test_recording import Kept
from tests.harness.serve.asking import app_of, as_recorded, ask
from tests.support.examples import (
    REFUND,
    good_proposal,
    good_run,
    proposal_of,
    refused_proposal,
    run_of,
)
from tests.support.guarding import answers_to, guard_of
from tests.support.large_cases import every_case
from tests.support.late_refund import late_policy

EVERY_CASE = every_case()
SERVICE = app_of()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("part", range(8))
def test_each_case_is_answered_as_the_functions_answer_it(part: int) -> None:
    for name in list(EVERY_CASE)[part::8]:
        case = EVERY_CASE[name]
        if case.policy is not None:
            continue
        expected = judge_case(case.command, case.document())
        answer = ask(SERVICE, f"/v1/{case.command}", case.document())
        if expected.error is not None:
            assert answer.status_code == 400, name
            assert answer.json()["error"] == expected.error.wire(), name
        else:
            assert answer.status_code == 200, name
            assert as_recorded(answer.json()) == expected.verdict, name


def test_every_fault_is_listed_with_its_place() -> None:
    wire = good_proposal()
    wire["ctx"]["safety_mode"] = "all"
    wire["plan"]["colour"] = 1
    answer = ask(SERVICE, "/v1/verify", wire)
    assert answer.status_code == 400
    paths = [one["path"] for one in answer.json()["errors"]]
    assert paths == ["/ctx/safety_mode", "/plan/colour"]
    assert answer.json()["error"]["path"] == paths[0]


def bare(wire: Any) -> Any:
    """Return a proposal that leaves out what the policy of the refund says."""
    ctx = {
        name: it for name, it in wire["ctx"].items() if name not in ("safety_mode", "run_budget")
    }
    manifests = {"evidence_manifest": wire["compiled"]["manifests"]["evidence_manifest"]}
    return {"ctx": ctx, "compiled": {"manifests": manifests}, "plan": wire["plan"]}


def test_a_policy_says_what_a_document_leaves_out() -> None:
    app = app_of(read_policy(REFUND / "critic.toml"))
    for wire, ok in ((good_proposal(), True), (refused_proposal(), False)):
        for document in (bare(wire), wire, {"ctx": wire["ctx"], "plan": wire["plan"]}):
            answer = ask(app, "/v1/verify", document).json()
            assert answer["ok"] is (ok and "compiled" in document), document.keys()
    run = good_run()
    assert ask(app, "/v1/score", {**run, "proposal": bare(run["proposal"])}).json()["ok"]
    assert ask(app, "/v1/score", run).json()["ok"]


def test_without_a_policy_nothing_can_be_left_out() -> None:
    answer = ask(SERVICE, "/v1/verify", bare(good_proposal()))
    assert answer.status_code == 400
    assert "/spec" in [one["path"] for one in answer.json()["errors"]]


def test_a_document_that_leaves_the_spec_to_the_policy_has_no_tools_of_its_own() -> None:
    app = app_of(read_policy(REFUND / "critic.toml"))
    wire = good_proposal()
    del wire["spec"]
    answer = ask(app, "/v1/verify", wire)
    assert answer.status_code == 400
    assert answer.json()["error"]["path"] == "/compiled/manifests/tool_manifest"


def test_with_a_log_each_verdict_is_on_record_and_replays(tmp_path: Path) -> None:
    path = tmp_path / "audit.db"
    refused_run = {**good_run(), "proposal": refused_proposal()}
    refused_run["calls"] = []
    with SqlDecisionLog.open(path) as log:
        app = app_of(log=log)
        ask(app, "/v1/verify", good_proposal())
        ask(app, "/v1/verify", refused_proposal())
        ask(app, "/v1/score", good_run())
        ask(app, "/v1/score", refused_run)
        ask(app, "/v1/verify", {})
        app.close()
    with SqlDecisionLog.open_for_reading(path) as log:
        results = list(replay(log))
    assert [one.status for one in results] == ["same"] * 4


def test_an_answer_is_the_verdict_as_it_is_on_the_wire() -> None:
    proposal = proposal_of(refused_proposal())
    told = word_refusal(proposal, verify_proposal(proposal))
    assert ask(SERVICE, "/v1/verify", refused_proposal()).text == json.dumps(
        told.wire(), separators=(",", ":")
    )
    run: Run = run_of(good_run())
    assert ask(SERVICE, "/v1/score", good_run()).json() == score(run).wire()


def test_a_run_with_an_opening_that_was_refused_is_recorded_with_it() -> None:
    kept, log = Kept(), Kept()
    wire = late_policy(VALUES).wire()
    guard = guard_of({**wire, "guard": {**wire["guard"], **STREAMS["a no counts"][0]}}, log=kept)
    answers_to(guard, STREAMS["a no counts"][1])
    ended = [(one, one.run) for one in kept.decisions if isinstance(one.run, RunFacts)]
    runs = [(one, facts.run_of(one.proposal)) for one, facts in ended]
    refused = [(one, run) for one, run in runs if refused_opening(run.openings) is not None]
    assert refused
    for one, run in refused:
        assert ask(app_of(log=log), "/v1/score", run.wire()).status_code == 200
        told, again = one.report, log.decisions[-1].report
        assert (again.refused_at, again.status) == (told.refused_at, told.status)
        assert again.refused_at == "open"
