"""The data API of OPA: an answer always has a result, and where nothing was decided it is no."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from critic import score, verify_proposal
from harness.log import SqlDecisionLog
from harness.serve.bearer_tokens import BearerTokens
from tests.harness.serve.asking import app_of, as_recorded, ask
from tests.support.examples import (
    good_proposal,
    good_run,
    proposal_of,
    refused_proposal,
    run_of,
)

SERVICE = app_of()
DATA, BATCH = "/v1/data/critic", "/v1/batch/data/critic"
VERDICTS: list[tuple[str, Any, Any]] = [
    ("verify", good_proposal(), verify_proposal(proposal_of(good_proposal())).wire()),
    ("verify", refused_proposal(), verify_proposal(proposal_of(refused_proposal())).wire()),
    ("score", good_run(), score(run_of(good_run())).wire()),
]


def _as_recorded(result: Any) -> Any:
    return as_recorded(result) if isinstance(result, dict) else result


@pytest.mark.parametrize(("rule", "given", "verdict"), VERDICTS)
def test_a_document_is_the_verdict(rule: str, given: Any, verdict: Any) -> None:
    for path, expected in ((rule, verdict), (f"{rule}/ok", verdict["ok"])):
        posted = ask(SERVICE, f"{DATA}/{path}", {"input": given})
        asked = ask(SERVICE, f"{DATA}/{path}", params={"input": json.dumps(given)})
        for answer in (posted, asked):
            assert answer.status_code == 200
            assert _as_recorded(answer.json()["result"]) == expected
            assert UUID(answer.json()["decision_id"])
        inputs = {"a": given, "b": given}
        many = ask(SERVICE, f"{BATCH}/{path}", {"inputs": inputs})
        assert many.status_code == 200
        told = [_as_recorded(one["result"]) for one in many.json()["responses"].values()]
        assert told == [expected, expected]
        assert many.json()["responses"].keys() == inputs.keys()


@pytest.mark.parametrize("body", [{}, [], {"input": 1}, {"input": {}}, b"{", {"inputs": {}}])
def test_an_input_that_is_missing_or_invalid_is_a_no(body: Any) -> None:
    for path, no in (("verify", {"ok": False}), ("verify/ok", False), ("score/ok", False)):
        answer = ask(SERVICE, f"{DATA}/{path}", body)
        assert (answer.status_code, answer.json()["result"]) == (400, no)
        assert answer.json()["code"] == "invalid_parameter"
        assert answer.json()["message"]


@pytest.mark.parametrize("path", ["none", "verify/approvable", "verify/", "", "../verify"])
def test_a_document_that_is_not_there_is_a_no(path: str) -> None:
    for answer in (ask(SERVICE, f"{DATA}/{path}", {"input": 1}), ask(SERVICE, f"{DATA}/{path}")):
        assert answer.status_code == 404
        assert answer.json()["result"] == {"ok": False}


def test_a_query_has_one_input() -> None:
    for query in ("", "input=1&input=1", "input={"):
        answer = ask(SERVICE, f"{DATA}/verify/ok?{query}")
        assert (answer.status_code, answer.json()["result"]) == (400, False)


def test_one_bad_input_of_many_is_a_no_and_the_others_are_judged() -> None:
    inputs = {"good": good_proposal(), "bad": {}, "refused": refused_proposal()}
    answer = ask(SERVICE, f"{BATCH}/verify/ok", {"inputs": inputs})
    assert answer.status_code == 207
    given = answer.json()["responses"]
    assert {name: one["result"] for name, one in given.items()} == {
        "good": True,
        "bad": False,
        "refused": False,
    }
    # Clients of OPA read these two, and no other: see its Batch API.
    assert given["bad"]["http_status_code"] == "500"
    assert given["good"]["http_status_code"] == "200"


def test_each_error_has_the_members_that_clients_of_opa_read() -> None:
    answer = ask(SERVICE, f"{DATA}/verify", {"input": {"plan": {}}}).json()
    assert len(answer["errors"]) > 1
    for error in (answer, *answer["errors"]):
        assert error["code"] == "invalid_parameter"
        assert error["message"]


def test_health_is_empty_where_all_is_well(tmp_path: Path) -> None:
    for path in ("/health", "/health/live", "/health/ready"):
        answer = ask(SERVICE, path)
        assert (answer.status_code, answer.json()) == (200, {})
    broken = app_of(log=lambda: SqlDecisionLog.open(tmp_path / "none" / "log"))
    assert ask(broken, "/health").status_code == 200
    assert ask(broken, "/health/ready").status_code == 503


@pytest.mark.parametrize("body", [{}, {"inputs": []}, {"inputs": {str(n): 1 for n in range(1001)}}])
def test_a_batch_has_inputs_by_name(body: Any) -> None:
    assert ask(SERVICE, f"{BATCH}/verify", body).status_code == 400


def test_a_yes_in_a_document_is_taken_from_approvers_alone() -> None:
    tokens, approvers = BearerTokens([b"agent"]), BearerTokens([b"person"])
    app = app_of(tokens=tokens, approvers=approvers, loopback_only=False)
    proposal = good_proposal()
    proposal["ctx"]["approvals"] = [{"plan_digest": "0" * 64}]
    asked = (
        (f"{DATA}/verify/ok", {"input": proposal}),
        (f"{BATCH}/verify", {"inputs": {"a": proposal}}),
    )
    for token, is_refused in (("agent", True), ("person", False)):
        headers = {"authorization": f"Bearer {token}"}
        for path, body in asked:
            answer = ask(app, path, body, headers=headers).text
            assert ("--approvers" in answer) is is_refused
