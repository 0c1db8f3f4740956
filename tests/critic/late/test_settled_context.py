"""What is known at an opening: by what ended and what holds then, and by what was sent before."""

from datetime import timedelta
from itertools import product
from typing import Any, get_args

import pytest

from critic import Proposal, Refused, ToolCall, Verified
from critic.late.opened_run import open_run
from critic.late.opened_steps import EarlierOpening
from critic.late.openings import open_step, settle_step
from evals.run import CallStatus, Run
from harness.wire import build
from tests.critic.late.test_late_verify import LOOK
from tests.critic.late.test_openings import NOW, looked, opened, sending
from tests.support.model.facts import Json

IBAN = "DE89370400440532013000"
NOTE: Json = {"adapter_id": "shop", "capability_id": "note"}


def noted(
    text: str = "x", status: Any = "completed", mode: str = "local_write", **ctx: Any
) -> Verified | Refused:
    """Open a payment that a note comes before, by what a system of record returned."""
    wire = sending("system")
    wire["compiled"]["manifests"]["tool_manifest"] += [{**NOTE, "approval_mode": mode}]
    wire["compiled"]["manifests"]["tool_manifest"][1]["follows"] = [NOTE]
    wire["plan"]["steps"].insert(0, {**LOOK, **NOTE, "id": "note", "args": {"text": text}})
    wire["ctx"] |= ctx
    calls = [ToolCall(step=0, **NOTE, args={"text": text}, status=status)]
    calls += [looked({"iban": IBAN}, step=1)]
    openings = [EarlierOpening(at, 0, NOW) for at in (0, 1)]
    return open_step(build(Proposal, wire), calls, 2, as_of=NOW, openings=openings)


@pytest.mark.parametrize("mode", ["read_only", "local_write"])
@pytest.mark.parametrize("text", ["x", IBAN, f"to {IBAN}, please"])
def test_a_system_that_shows_what_the_run_sent_itself_says_nothing_new(
    text: str, mode: str
) -> None:
    assert noted(text, mode=mode).ok is (mode == "read_only" or text == "x")


@pytest.mark.parametrize("status", get_args(CallStatus))
def test_a_tool_ran_once_a_call_of_it_completed(status: str) -> None:
    assert noted(status=status, scope=[]).ok is (status == "completed")


def test_an_approved_value_counts_at_an_opening_until_it_ends() -> None:
    """Whenever the plan was made."""
    wire: Json = sending("public")
    pay, end = {"adapter_id": "shop", "capability_id": "pay"}, NOW + timedelta(hours=1)
    yes = {"tool": pay, "approval_mode": "destructive", "role": "recipient", "value": IBAN}
    wire["ctx"]["session"] = {
        "id": "s",
        "turn": 1,
        "approved": [yes | {"expires_at": end.isoformat()}],
    }
    wire["ctx"]["as_of"] = NOW.isoformat()
    for seconds, holds in ((0, True), (3599, True), (3600, False), (3601, False)):
        as_of = NOW + timedelta(seconds=seconds)
        assert opened(wire, looked({"iban": IBAN}), as_of=as_of).ok is holds


def test_a_source_is_worth_what_led_to_it_when_its_call_was_opened() -> None:
    """What ended between its opening and its end did not lead to it."""
    read: Json = {"adapter_id": "shop", "capability_id": "read"}
    reads = {"approval_mode": "read_only", "arg_roles": {"file": "locator"}}
    wire = sending("public")
    manifests = wire["compiled"]["manifests"]
    said = {"id": "u", "classification": "request", "content": "pay as list.txt says"}
    manifests["evidence_manifest"] = [said | {"source": {"author": "user", "standing": "named"}}]
    manifests["tool_manifest"][0] |= reads
    manifests["tool_manifest"][1]["arg_roles"] = {"to": "attribute"}
    manifests["tool_manifest"] += [{**read, **reads, "result": {"author": "member"}}]
    steps = wire["plan"]["steps"]
    steps[0]["args"] = {"file": "list.txt"}
    steps.insert(1, {**LOOK, **read, "id": "read", "args": {"file": "bill.txt"}})
    steps[-1]["takes"][0]["step"] = "read"
    named = looked("see bill.txt", args=steps[0]["args"])
    found = ToolCall(
        step=1, **read, args=steps[1]["args"], status="completed", output={"iban": "x"}
    )
    for after in (0, 1):
        openings = (EarlierOpening(0, 0, NOW), EarlierOpening(1, after, NOW))
        verdict = opened(wire, named, found, step=2, openings=openings)
        assert verdict.ok is (after == 1)


PAY: Json = {"adapter_id": "shop", "capability_id": "pay"}


def test_a_call_that_was_waived_is_so_when_its_step_is_opened() -> None:
    for waived, is_ok in (([IBAN], True), (["x-1"], False), ([IBAN, "x-1"], False), (None, False)):
        wire = sending("system")
        wire["ctx"]["scope"] = []
        given = [] if waived is None else [{"tool": PAY, "targets": waived}]
        wire["ctx"]["session"] = {"id": "s", "turn": 1, **({"waived": given} if given else {})}
        assert opened(wire, looked({"iban": IBAN})).ok is is_ok


def test_what_the_session_did_before_is_known_beside_what_the_run_did() -> None:
    wire = sending("system")
    make: Json = {"adapter_id": "shop", "capability_id": "make"}
    tool = {**make, "approval_mode": "local_write", "arg_roles": {"name": "object"}}
    tool |= {"result": {"author": "system", "makes": {"name": "note"}}}
    wire["compiled"]["manifests"]["tool_manifest"] += [tool]
    wire["plan"]["steps"].insert(1, {**LOOK, **make, "id": "make", "args": {"name": "n-2"}})
    before: Json = {
        "ran": [NOTE],
        "own": [{"kind": "note", "value": "n-1"}],
        "sent": [{"seq": 3, "values": ["n-1"]}],
    }
    wire["ctx"]["session"] = {"id": "s", "turn": 1, **before}
    said = {"id": "u", "classification": "request", "content": "make n-2"}
    source = {"author": "user", "standing": "named"}
    wire["compiled"]["manifests"]["evidence_manifest"] = [{**said, "source": source}]
    made = ToolCall(step=1, **make, args={"name": "n-2"}, status="completed", output="ok")
    openings = [EarlierOpening(0, 0, NOW), EarlierOpening(1, 1, NOW)]
    calls = [looked({"iban": IBAN}), made]
    case = build(Proposal, wire)
    settled = settle_step(case, calls, 2, as_of=NOW, openings=openings).proposal
    assert settled is not None
    known = settled.ctx.wire()["session"]
    for name, held in before.items():
        assert known[name][:1] == held
    look = {"adapter_id": "shop", "capability_id": "look"}
    assert [one["value"] for one in known["own"]] == ["n-1", "n-2"]
    assert known["ran"] == [NOTE, look, make]
    assert [one["values"] for one in known["sent"]] == [["n-1"], ["n-2"]]


def test_a_system_that_shows_what_the_session_sent_before_says_nothing_new() -> None:
    later = {"seq": 9, "values": ["y"]}
    for sent, seq in product(("x", IBAN), (0, 1, 2, 7)):
        for more in ([], [later]):
            wire = sending("system")
            past = {"id": "s", "turn": 1, "sent": [*more, {"seq": seq, "values": [sent]}]}
            wire["ctx"]["session"] = past
            assert opened(wire, looked({"iban": IBAN})).ok is (sent == "x")


def test_each_thing_that_a_run_returns_was_seen_after_those_before_it() -> None:
    for first in (None, 7):
        wire = sending("system")
        more = {} if first is None else {"seq": first}
        source = {"author": "user", "standing": "named", **more}
        said = {"id": "u", "classification": "request", "content": "go", "source": source}
        wire["compiled"]["manifests"]["evidence_manifest"] = [said]
        calls = [
            looked("a", "failed", error="busy"),
            looked(None, "timed_out", error="late", attempt=2),
            looked({"iban": IBAN}, attempt=3),
        ]
        case = build(Proposal, wire)
        settled = settle_step(case, calls, 1, as_of=NOW, openings=[EarlierOpening(0, 0, NOW)])
        assert settled.proposal is not None
        items = settled.proposal.compiled.manifests.evidence_manifest
        seen = [one.source.seq for one in items if one.source is not None]
        assert seen == [first or 0, *range((first or 0) + 1, (first or 0) + 5)]


@pytest.mark.parametrize("estimates", [(None, None), (1, 1), (None, 1), (40, 40), (60, 60)])
def test_a_step_takes_what_its_tool_needs_at_least_or_what_it_says_if_that_is_more(
    estimates: tuple[int | None, ...],
) -> None:
    least, whole = 40, sum(max(40, one or 0) for one in estimates)
    for budget in (whole - 1, whole):
        wire = sending("system")
        wire["compiled"]["manifests"]["tool_manifest"][1]["min_tokens"] = least
        pay = wire["plan"]["steps"].pop()
        pays = [
            {
                **pay,
                "id": f"p{at}",
                "args": {"note": str(at)},
                **({} if one is None else {"estimated_tokens": one}),
            }
            for at, one in enumerate(estimates)
        ]
        wire["plan"]["steps"] += pays
        wire["ctx"]["run_budget"] = {"max_steps": 9, "bucket_tokens": budget}
        openings = [EarlierOpening(0, 0, NOW), EarlierOpening(1, 1, NOW)]
        found = opened(wire, looked({"iban": IBAN}), step=2, openings=openings)
        assert found.ok is (budget == whole)


@pytest.mark.parametrize("author", ["system", "public"])
@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_step_passed_where_it_is_recorded_so_and_passes_now(
    author: str,
    is_recorded: bool,
) -> None:
    passes: Json = {"ok": True, "reasons": ["step 1 opened"], "caveats": []}
    refused = opened(sending("public"), looked({"iban": IBAN})).wire()
    openings = [
        {"step": 0, "after": 0, "verdict": passes, "as_of": NOW.isoformat()},
        {
            "step": 1,
            "after": 1,
            "verdict": passes if is_recorded else refused,
            "as_of": NOW.isoformat(),
        },
    ]
    run = {
        "run_id": "r",
        "trace_id": "t",
        "proposal": sending(author),
        "calls": [looked({"iban": IBAN}).wire()],
        "outputs": {},
        "openings": openings,
    }
    found = open_run(build(Run, run))
    assert [one.ok for one in found.verdicts] == [True, author == "system"]
    has_passed = author == "system" and is_recorded
    assert [*found.passed.steps] == ([0, 1] if has_passed else [0])
