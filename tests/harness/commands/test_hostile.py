"""Hostile text in every place that holds free text: none of it reaches a terminal as it is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.log.sql import SqlDecisionLog
from tests.harness.commands.lines import read
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import meddle, put_body
from tests.support.examples import HOSTILE, PLAN_B, good_run
from tests.support.model.facts import Json

LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
NAME = f"a{HOSTILE}"


def hostile_run() -> Json:
    """Return a valid run with hostile text in every free text, and a violation everywhere."""
    run = good_run()
    run["intent"] = HOSTILE
    run["outputs"]["refund_amount_inr"] = HOSTILE
    run["outputs"]["refund_reason_class"] = {HOSTILE: HOSTILE}
    for call in run["calls"]:
        call |= {"error": HOSTILE, "idempotency_key": HOSTILE, "status": "failed"}
        call["args"] = {HOSTILE: HOSTILE, NAME: [HOSTILE, 2], **call["args"]}
        call["output"] = {HOSTILE: [HOSTILE]}
    proposal = run["proposal"]
    tools = proposal["compiled"]["manifests"]["tool_manifest"]
    for tool in tools:
        tool["bound_args"] = {NAME: ["order_record"]}
        tool.pop("bound_together", None)
        tool["args_schema"] = {"properties": {HOSTILE: {"const": 1, "description": HOSTILE}}}
    for item in proposal["compiled"]["manifests"]["evidence_manifest"]:
        item |= {"content": HOSTILE, "snapshot": HOSTILE, "subject": HOSTILE}
    proposal["spec"]["confined_evidence"] = ["order_record"]
    for step in proposal["plan"]["steps"]:
        step["args"] = {HOSTILE: HOSTILE, NAME: {HOSTILE: [HOSTILE, 2]}, **step["args"]}
    proposal["plan"]["steps"].append({"kind": "reason", "summary": HOSTILE})
    return run


def mild_run() -> Json:
    """Return the hostile run with a proposal that passes, so that it is executed."""
    run = hostile_run()
    run["proposal"]["spec"].pop("confined_evidence", None)
    for tool in run["proposal"]["compiled"]["manifests"]["tool_manifest"]:
        tool.pop("bound_args", None)
        tool.pop("args_schema", None)
        for demand in tool.get("requires_evidence", ()):
            demand.pop("content_schema", None)  # hostile content says nothing that is asked for
            demand.pop("about", None)
    return run


def invalid_runs() -> Iterator[Json]:
    """Yield invalid runs, with hostile text in places that allow no free text."""
    for name in ("run_id", "trace_id", "calls", "pack_version", HOSTILE):
        yield {**good_run(), name: HOSTILE}
    run = good_run()
    run["outputs"][HOSTILE] = {HOSTILE: 1}
    yield run
    for field in ("kind", "adapter_id", "id", HOSTILE):
        run = good_run()
        run["proposal"]["plan"]["steps"][0][field] = HOSTILE
        yield run
    run = good_run()
    run["proposal"]["compiled"]["manifests"]["tool_manifest"][0]["args_schema"] = {
        "type": HOSTILE,
        "pattern": f"({HOSTILE}",
        "$ref": f"https://example.org/{HOSTILE}",
    }
    yield run


def check(said: Said, *, as_json: bool = False) -> Said:
    """Nothing but printable text and our own line ends; in plain text, no HTML either."""
    for stream in (said.out, said.err):
        printed = stream.replace("\n", "").replace("\u2014", "")
        wrong = {char for char in printed if not char.isprintable() or ord(char) > 0x7E}
        assert not wrong, sorted(map(ascii, wrong))
    texts = [said.err] if as_json else [said.out, said.err]
    assert not any("<b>" in text for text in texts)
    assert "Traceback" not in said.err
    assert "internal error" not in said.err
    assert not set(LINE_ENDS[1:]) & set(said.out + said.err)
    return said


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Write the hostile run and its proposal."""
    run, proposal = tmp_path / "run.json", tmp_path / "proposal.json"
    run.write_text(json.dumps(hostile_run()))
    proposal.write_text(json.dumps(hostile_run()["proposal"]))
    return run, proposal


@pytest.mark.parametrize("form", ["text", "json"])
def test_verdicts_on_hostile_text_are_safe_to_print(
    critic: Critic, files: tuple[Path, Path], form: str
) -> None:
    run, proposal = files
    said = check(critic("verify", "--format", form, proposal), as_json=form == "json")
    assert said.status == 1
    scored = check(critic("score", "--format", form, run), as_json=form == "json")
    assert scored.status == 1
    if form == "json":
        (verdict,), (score,) = read(said.lines), read(scored.lines)
        places = {one["path"].split("/")[-1] for one in verdict["violations"] if "path" in one}
        assert HOSTILE.replace("/", "~1") in places, "the place itself is told whole"
        assert score["scorecard"]["intent"] == HOSTILE
    else:
        assert "\\u001b[31mred" in said.out
        assert "\\u001b[31mred" in scored.out


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("at", range(len(list(invalid_runs()))))
def test_errors_in_hostile_text_are_safe_to_print(critic: Critic, form: str, at: int) -> None:
    data = json.dumps(list(invalid_runs())[at]).encode()
    said = check(critic("score", "--format", form, "-", stdin=data), as_json=form == "json")
    assert said.status == 2
    assert (said.out + said.err).count("\n") == 1


@pytest.mark.parametrize("ascii_only", [True, False])
def test_one_line_in_one_line_out_whatever_it_holds(critic: Critic, ascii_only: bool) -> None:
    documents = [*invalid_runs(), hostile_run(), mild_run()]
    lines = [json.dumps(one, ensure_ascii=ascii_only).encode() for one in documents]
    said = check(critic("score", "--lines", "-", stdin=b"\n".join(lines)), as_json=True)
    assert len(said.lines) == len(said.out.splitlines()) == len(documents)


def test_a_log_of_hostile_decisions(critic: Critic, tmp_path: Path) -> None:
    log = tmp_path / "audit.db"
    documents = [hostile_run(), mild_run(), hostile_run()["proposal"], *invalid_runs()]
    lines = [json.dumps(one).encode() for one in documents]
    said = check(critic("run", "--lines", "-", "--log", log, stdin=b"\n".join(lines)))
    assert len(said.out.splitlines()) == 3
    assert len(said.err.splitlines()) == len(documents) - 3
    listed = check(critic("log", "list", log, "--records"))
    numbers = [line.split()[0] for line in listed.out.splitlines()[:3]]
    assert numbers == ["1", "2", "3"]
    for seq in ("1", "2", "3"):
        shown = check(critic("log", "show", log, seq), as_json=True)
        assert json.loads(shown.out)["seq"] == int(seq)
    assert check(critic("replay", log)).status == 1  # a plan that was refused ran
    assert check(critic("log", "verify", log)).status == 1


def test_what_is_shown_of_a_record_is_what_is_in_it(critic: Critic, tmp_path: Path) -> None:
    log = tmp_path / "audit.db"
    critic("run", "-", "--log", log, stdin=json.dumps(mild_run()).encode())
    shown: Any = json.loads(check(critic("log", "show", log, "1"), as_json=True).out)
    assert shown["run"]["intent"] == HOSTILE
    assert shown["run"]["calls"][0]["error"] == HOSTILE
    assert shown["input_bodies"]["plan"]["steps"][2]["summary"] == HOSTILE


def test_a_log_that_was_filled_with_hostile_text_behind_its_back(
    critic: Critic, tmp_path: Path
) -> None:
    log = tmp_path / "audit.db"
    for _ in range(6):
        critic("run", PLAN_B, "--log", log)
    with SqlDecisionLog.open_for_reading(log) as kept:
        bodies = [json.loads(row.body) for row in kept.raw()]
    for body, field in zip(
        bodies[1:], ("hash", "prev_hash", "ruleset_version", "error", "report"), strict=True
    ):
        altered = {**body, field: HOSTILE}
        put_body(log, body["seq"], json.dumps(altered, ensure_ascii=False).encode())
    meddle(log, ("UPDATE records SET hash = ? WHERE seq = 1", (HOSTILE,)))
    said = check(critic("replay", log))
    assert said.status == 1
    assert said.out.count("\nrecord ") == 5
    check(critic("replay", log, "--format", "json"), as_json=True)
    check(critic("log", "verify", log))
    check(critic("log", "list", log))
    check(critic("log", "show", log, "2"), as_json=True)


@pytest.mark.parametrize("command", ["verify", "score", "run", "replay", "log list", "demo"])
def test_hostile_names_of_files(critic: Critic, tmp_path: Path, command: str) -> None:
    name = tmp_path / HOSTILE.replace("/", "")
    extra = ["--log", str(tmp_path / "no" / HOSTILE)] if command in ("run", "demo") else []
    files = [] if command == "demo" else [name]
    said = check(critic(*command.split(), *files, *extra))
    assert said.status == 2
    assert "\\u001b[31mred" in said.err


def test_names_of_files_that_are_not_text_are_escaped(critic: Critic, tmp_path: Path) -> None:
    said = check(critic("verify", tmp_path / "\udcff.json"))
    assert said.status == 2
    assert "\\udcff.json: invalid input: no such file" in said.err
    said = check(critic("replay", tmp_path / "\udcff.db"))
    assert said.status == 2
