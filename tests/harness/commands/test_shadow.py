"""`critic shadow` counts what a shadow would have stopped: by tool, sessions and reason."""

import json
from pathlib import Path

import pytest

from harness.audit.shadow_stops import general_reason
from harness.log import SqlDecisionLog
from tests.harness.console import Critic
from tests.harness.log.decisions import meddle
from tests.support.guarding import answers_to, asking_desk, call, close, guard_of, open_, result

SEEN = "recipient was not seen in the request or in any result: name it in the request"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three sessions: in two, a transfer would have been stopped, once asked about as well."""
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as kept:
        guard = guard_of(asking_desk(shadow=True), log=kept)
        for name in ("one", "two"):
            pays = call("transfer", name, iban=f"iban-{name}", reason="rent")
            answers_to(guard, [open_(name), pays, result({}, name), close(name)])
        events = [open_("three", request="Shred a.md"), call("shred", "three", name="a.md")]
        events += [call("list_mail", "three", "m"), result("x", "three", "m"), close("three")]
        answers_to(guard, events)
    return path


def test_what_would_have_been_stopped_is_counted(log: Path, critic: Critic) -> None:
    said = critic("shadow", log, "--format", "json")
    assert said.status == 0
    counted = json.loads(said.lines[0])
    fates = ("--fate", "ran_in_shadow", "--fate", "ran_in_part")
    *listed, matching = critic("log", "list", log, *fates).listed
    assert matching == "3 of 4 turns match"
    assert counted["turns"] == len(listed) == 3
    transfer, shred = counted["tools"]
    assert (transfer["tool"], transfer["sessions"], transfer["stopped"]) == ("desk/transfer", 2, 2)
    assert (transfer["refused"], transfer["asked"]) == (2, 0)
    assert transfer["reasons"][SEEN] == 2
    assert (shred["tool"], shred["refused"], shred["asked"]) == ("desk/shred", 0, 1)
    text = critic("shadow", log).out
    assert "desk/transfer  2 of 2 sessions: 2 would be refused, 0 asked" in text
    assert f"     2  {SEEN}" in text


def test_a_damaged_log_is_an_exit_status(log: Path, critic: Critic) -> None:
    meddle(log, ("DELETE FROM records WHERE seq = 2", ()))
    assert critic("shadow", log).status == 1


def test_a_guard_that_enforces_has_no_shadow(tmp_path: Path, critic: Critic) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as kept:
        guard = guard_of(asking_desk(), log=kept)
        answers_to(guard, [open_(), call("transfer", iban="iban-9", reason=""), close()])
    said = critic("shadow", tmp_path / "log.db")
    assert (said.status, said.lines[0]) == (0, "0 turns would have been stopped")


def test_a_reason_is_told_without_its_step_its_values_and_its_result() -> None:
    reason = "step 12 recipient [a (x)] appears only in the text of call/31 [read x] (led): name it"
    assert general_reason(reason) == "recipient appears only in the text of a result (led): name it"
