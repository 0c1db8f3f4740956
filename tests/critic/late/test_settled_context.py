"""What is known at an opening: by what ended and what holds then, and by what was sent before."""

from datetime import timedelta
from typing import Any, get_args

import pytest

from critic import Proposal, Refused, ToolCall, Verified
from critic.late.opened_steps import EarlierOpening
from critic.late.openings import open_step
from evals.run import CallStatus
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
