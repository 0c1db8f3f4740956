"""`critic demo`, `critic schema` and `critic doctor`."""

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import jsonschema_rs
import pytest

from harness.log.sql import SqlDecisionLog
from harness.schemas import render_schemas, schemas
from tests.harness.console import Critic, spawn
from tests.support.examples import good_proposal, good_run, refused_proposal
from tests.support.paths import FIXTURES

SHOP_FILES = ("shop.py", "script.py", "tasks.jsonl", "attacks.jsonl")

# --- demo -------------------------------------------------------------------------------------


def test_the_demo_tells_its_story_and_leaves_a_log_that_replays(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = critic("demo")
    assert (said.status, said.err) == (0, "")
    story = [
        "1. Plan A pins no evidence.",
        "verify: REFUSED before anything ran",
        "missing_evidence: step 1 requires evidence class refund_window_evidence, none pinned",
        "2. Plan B pins the order, and its refund window.",
        "verify: ok, 2 steps, 2 required outputs covered",
        "executed: adp_payments.issue_refund: completed",
        "report: completed: verify and score passed",
        "3. Plan C pins the window and the amount of order 881 instead.",
        "missing_evidence: step 1 has no pinned evidence of class refund_window_evidence whose",
        "step 1 arguments id and amount_inr are not backed by one and the same pinned item",
        "4. Plan D looks both up itself. Nobody has the amount yet: the refund takes it.",
        "step 2: adp_payments.issue_refund, /amount_inr taken from look/payment/amount_inr",
        "left to the opening of step 2, which has its values: value, args_schema, evidence,",
        "executed: adp_payments.issue_refund: completed",
        "By now the refund window has closed.",
        "executed: adp_orders.refund_window: completed",
        "opening of step 2: REFUSED before it ran",
        "report: refused_by_critic: opening of step 2 failed: missing_evidence",
        "5. The record: decisions 1 to 5 are in audit.db",
        "6. Replay: ",
        "5 of 5 records are the same, byte for byte.",
    ]
    places = [0]
    for part in story:
        places.append(said.out.index(part, places[-1]))
    assert [path.name for path in tmp_path.iterdir()] == ["audit.db"]
    # The two commands it ends with do what it says.
    for line in said.lines[-2:]:
        command = line.split("critic ", 1)[1].split()
        assert critic(*command).status == 0
    answers = [json.loads(one) for one in critic("replay", "audit.db", "--format", "json").lines]
    assert [answer.get("status") for answer in answers[:-1]] == ["same"] * 5


def test_the_demo_is_the_same_every_time_and_appends(critic: Critic, tmp_path: Path) -> None:
    one, other = tmp_path / "one.db", tmp_path / "other.db"
    first, second = critic("demo", "--log", one), critic("demo", "--log", other)
    assert first.out.replace("one.db", "other.db") == second.out
    logs = []
    for path in (one, other):
        with SqlDecisionLog.open_for_reading(path) as log:
            logs.append(list(log.raw()))
    assert logs[0] == logs[1]
    again = critic("demo", "--log", one)
    assert again.status == 0
    assert "decisions 6 to 10" in again.out
    assert "10 of 10 records are the same" in again.out


def test_the_demo_overwrites_nothing(critic: Critic, tmp_path: Path) -> None:
    mine = tmp_path / "audit.db"
    mine.write_text("my own file, of more than a hundred bytes\n" * 9)
    said = critic("demo", "--log", mine)
    assert (said.status, said.out) == (2, "")
    assert "not a decision log: choose another file" in said.err
    assert mine.read_text() == "my own file, of more than a hundred bytes\n" * 9


def test_the_files_of_the_shop_are_written_once(critic: Critic, tmp_path: Path) -> None:
    said = critic("demo", "--shop", tmp_path / "shop")
    written = [str(tmp_path / "shop" / name) for name in SHOP_FILES]
    assert (said.status, said.lines, said.err) == (0, written, "")
    source = FIXTURES / "examples" / "shop_agent"
    assert all(
        Path(file).read_bytes() == (source / Path(file).name).read_bytes() for file in written
    )
    (tmp_path / "shop" / "shop.py").unlink()
    again = critic("demo", "--shop", tmp_path / "shop")
    assert again.status == 2
    assert (
        again.err
        == f"critic: {tmp_path / 'shop' / 'script.py'} is there already: name another folder\n"
    )
    assert not (tmp_path / "shop" / "shop.py").exists()


# --- schema -----------------------------------------------------------------------------------


def test_all_schemas_by_name(critic: Critic) -> None:
    said = critic("schema")
    assert (said.status, said.err) == (0, "")
    shown = json.loads(said.out)
    assert shown == schemas()
    assert {"Proposal", "Plan", "Run", "VerifyVerdict", "CriticReport", "DecisionRecord"} <= set(
        shown
    )


@pytest.mark.parametrize("name", ["Plan", "Step", "Run", "VerifyVerdict", "DecisionRecord"])
def test_one_schema_is_printed_by_name(critic: Critic, name: str) -> None:
    said = critic("schema", name)
    assert (said.status, said.err) == (0, "")
    assert said.out.encode() == render_schemas(schemas()[name])
    jsonschema_rs.meta.validate(json.loads(said.out))


def test_a_schema_takes_what_the_wire_takes(critic: Critic) -> None:
    proposal = jsonschema_rs.validator_for(json.loads(critic("schema", "Proposal").out))
    run = jsonschema_rs.validator_for(json.loads(critic("schema", "Run").out))
    assert proposal.is_valid(good_proposal())
    assert proposal.is_valid(refused_proposal())
    assert run.is_valid(good_run())
    assert not proposal.is_valid(good_run())
    assert not run.is_valid(good_proposal())


@pytest.mark.parametrize("name", ["plan", "Plans", "", "\x1b[2J"])
def test_an_unknown_schema_names_the_known_ones(critic: Critic, name: str) -> None:
    said = critic("schema", name)
    assert (said.status, said.out) == (2, "")
    near = "did you mean Plan? " if name.startswith(("plan", "Plan")) else ""
    known = ", ".join(sorted(schemas()))
    assert said.err in (
        f"critic: no such envelope: {one}name one of {known}\n" for one in (near, "")
    )
    assert near in said.err


# --- doctor -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_sound_installation_passes_every_check(critic: Critic) -> None:
    said = critic("doctor")
    assert (said.status, said.err) == (0, "")
    assert said.lines[0] == f"ok    Python {'.'.join(map(str, sys.version_info[:3]))}"
    for name in ("critic", "evals", "harness"):
        assert f"ok    package {name} is plan-critic's" in said.lines
    assert all(line.startswith("ok    ") for line in said.lines[:-1])
    assert "ok    the example plans are judged missing_evidence, ok" in said.lines
    assert said.lines[-1] == "all sound"


def test_a_dependency_that_is_missing(critic: Critic, monkeypatch: pytest.MonkeyPatch) -> None:
    doctor = import_module("harness.commands.doctor.doctor_command")
    monkeypatch.setattr(doctor, "_LIBRARIES", ("pydantic", "no_such_library"))
    said = critic("doctor")
    assert (said.status, said.err) == (1, "")
    assert (
        "ERROR no_such_library cannot be imported (ModuleNotFoundError): install plan-critic again"
    ) in said.lines
    assert not [line for line in said.lines if "example plans" in line]
    assert said.lines[-1] == "fix the problems above, then run it again"


@pytest.mark.slow
def test_a_critic_that_tells_the_examples_apart_no_more(
    critic: Critic, monkeypatch: pytest.MonkeyPatch
) -> None:
    doctor = import_module("harness.commands.doctor.doctor_command")
    monkeypatch.setattr(doctor, "_judge", lambda _name: "ok")
    said = critic("doctor")
    assert said.status == 1
    assert "ERROR the example plans are judged ok, ok" in said.lines


FAKES = {
    "plain": "value = 1\n",
    "broken": "import no_such_library\n",
    "raises": "raise RuntimeError('set the environment variable X first')\n",
}


@pytest.fixture(params=FAKES)
def shadowed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Return a folder with a foreign package `evals`, to be put first on the import path."""
    package = tmp_path / "site\x1b[31m" / "evals"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(FAKES[request.param])
    yield package.parent


def test_a_package_that_is_shadowed_is_named_in_plain_words(shadowed: Path) -> None:
    said = spawn("doctor", path=str(shadowed))
    assert (said.status, said.err) == (1, "")
    (line,) = [line for line in said.lines if line.startswith("ERROR")]
    assert line.startswith("ERROR package evals is shadowed by '")
    assert line.endswith(
        ": rename or uninstall the other one, or keep its folder off the import path"
    )
    assert "\\x1b[31m" in line
    assert "\x1b" not in said.out


def test_with_a_shadowed_package_every_other_command_points_to_the_doctor(shadowed: Path) -> None:
    said = spawn("verify", "-", path=str(shadowed))
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("critic: ")
    assert "critic doctor" in said.err
    assert said.err.count("\n") == 1


def test_help_needs_no_sound_installation(shadowed: Path) -> None:
    assert spawn("--help", path=str(shadowed)).status == 0
