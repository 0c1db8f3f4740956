"""Replay, guard and the checks of a log, as continuous integration reads them."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from harness.commands.replay.replay_text import answer_reporter
from harness.replay.result import ReplayResult
from tests.harness.console import Critic
from tests.harness.log.decisions import filled, meddle, query
from tests.support.examples import is_safe
from tests.support.guarding import call, desk, open_

COMMANDS = (("replay",), ("log", "verify"))
FORMATS = ("text", "json", "junit", "sarif", "github")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log of four decisions, all of them sound."""
    filled(tmp_path / "log", 4).close()
    return tmp_path / "log"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("command", COMMANDS)
def test_the_exit_status_is_the_same_in_every_format(
    critic: Critic, log: Path, command: tuple[str, ...], form: str
) -> None:
    assert critic(*command, log, "--format", form).status == 0
    meddle(log, ("DELETE FROM records WHERE seq = 2", ()))
    said = critic(*command, log, "--format", form)
    assert said.status == 1
    assert "record 2 is missing" in said.out
    assert form == "junit" or all(is_safe(line) for line in said.lines)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_record_is_a_test_case_and_what_is_wrong_is_a_failure(
    critic: Critic, log: Path, command: tuple[str, ...]
) -> None:
    suite = ElementTree.fromstring(critic(*command, log, "--format", "junit").out)[0]  # noqa: S314
    assert [case.get("name") for case in suite] == [
        *(f"record {seq}" for seq in range(1, 5)),
        "the log as a whole",
    ]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("5", "0", "0")
    query(log, "CREATE TABLE extra (a)")
    meddle(log, ("UPDATE inputs SET body = body || x'20' WHERE instr(body, 'trace_3')", ()))
    suite = ElementTree.fromstring(critic(*command, log, "--format", "junit").out)[0]  # noqa: S314
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["record 3", "the log as a whole"]
    assert suite.get("failures") == "2"


@pytest.mark.parametrize("form", [*FORMATS, "explain"])
def test_a_guard_says_what_it_refused_in_every_format(
    critic: Critic, tmp_path: Path, form: str
) -> None:
    (tmp_path / "policy").write_text(json.dumps(desk()))
    events = [open_(), call("transfer", id="t", iban="iban-9", reason="x"), call("list_mail")]
    given = "".join(f"{json.dumps(event)}\n" for event in events).encode()
    option = ("--explain",) if form == "explain" else ("--format", form)
    said = critic("guard", "--policy", tmp_path / "policy", *option, stdin=given)
    assert (said.status, said.err) == (1, "")
    assert "iban-9" in said.out or "transfer" in said.out
    if form == "junit":
        suite = ElementTree.fromstring(said.out)[0]  # noqa: S314
        assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
        assert suite[0].get("name") == "standard input line 2: s turn 1: refuse"
    bad = critic("guard", "--policy", tmp_path / "policy", *option, stdin=b"{\n")
    assert bad.status == 2
    assert bad.out


def test_annotations_and_results_name_the_file_the_rule_and_the_record(
    critic: Critic, log: Path
) -> None:
    meddle(log, ("UPDATE record_index SET kind = 'x' WHERE seq = 1", ()))
    (line,) = critic("replay", log, "--format", "github").lines
    assert line.startswith(
        f"::error file={log},line=1,title=damaged::record 1: the index says kind"
    )
    (result,) = json.loads(critic("replay", log, "--format", "sarif").out)["runs"][0]["results"]
    assert result["ruleId"] == "damaged"


def test_a_replay_that_goes_on_prints_no_report_of_a_part(critic: Critic, log: Path) -> None:
    state = log.with_name("state")
    for form in ("junit", "sarif"):
        said = critic("replay", log, "--resume", state, "--format", form)
        assert (said.status, said.out) == (2, "")
        assert "what was replayed before would be missing" in said.err


@pytest.mark.parametrize("form", ["junit", "sarif", "github"])
def test_the_password_of_a_log_is_in_no_report(
    capsys: pytest.CaptureFixture[str], form: str
) -> None:
    report = answer_reporter(form, "postgresql://ada:s3cret@host/audit?password=s3cret", "replay")
    report.answer(ReplayResult(seq=1, status="tampered", reasons=("the hash is another",)))
    report.close("1 record")
    said = capsys.readouterr().out
    assert "ada" in said
    assert "s3cret" not in said
