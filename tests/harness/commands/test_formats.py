"""The formats of verdicts that other programs read."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from harness.commands.documents import InputDocument
from harness.commands.formats.github import GithubReporter
from harness.commands.formats.junit import JunitReporter
from harness.commands.formats.sarif import SarifReporter
from harness.wire import InvalidInput
from tests.harness.commands.lines import GOOD, REFUSED, REFUSED_SAID
from tests.harness.console import Critic
from tests.support.examples import HOSTILE, PLAN_A, PLAN_B, PLAN_B_RUN, good_proposal

REASONS = [violation["reason"] for violation in REFUSED_SAID["violations"]]
PATHS = [violation["path"] for violation in REFUSED_SAID["violations"]]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """Write a good plan, a refused one, and a line that is not a proposal."""
    path = tmp_path / "plans.jsonl"
    path.write_bytes(b"\n".join([GOOD, REFUSED, b"{}"]))
    return path


def test_junit_has_a_case_for_each_document(critic: Critic, lines: Path) -> None:
    said = critic("verify", "--format", "junit", lines)
    assert (said.status, said.err) == (2, "")
    (suite,) = ElementTree.fromstring(said.out)  # noqa: S314 - our own output
    assert suite.attrib == {
        "name": "critic verify",
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    passed, failed, invalid = suite
    assert [child.tag for child in passed] == []
    (failure,) = failed
    assert (failure.tag, failure.get("type")) == ("failure", "missing_evidence")
    assert failure.get("message") == REASONS[0]
    assert all(reason in (failure.text or "") for reason in REASONS)
    assert invalid[0].tag == "error"


def test_sarif_has_a_result_for_each_violation(critic: Critic, lines: Path) -> None:
    said = critic("verify", "--format", "sarif", lines)
    assert (said.status, said.err) == (2, "")
    (run,) = json.loads(said.out)["runs"]
    refused = [one for one in run["results"] if one["ruleId"] == "missing_evidence"]
    assert [one["message"]["text"] for one in refused] == REASONS
    places = [one["locations"][0] for one in refused]
    assert [place["logicalLocations"][0]["fullyQualifiedName"] for place in places] == PATHS
    assert {place["physicalLocation"]["region"]["startLine"] for place in places} == {2}
    assert {"invalid_input", "missing_evidence"} == {
        rule["id"] for rule in run["tool"]["driver"]["rules"]
    }


def test_github_has_an_annotation_for_each_violation(critic: Critic, lines: Path) -> None:
    said = critic("verify", "--format", "github", lines)
    assert (said.status, said.err) == (2, "")
    refused = [line for line in said.lines if "title=missing_evidence" in line]
    assert refused == [
        f"::error file={lines},line=2,title=missing_evidence::{path}: {reason}"
        for path, reason in zip(PATHS, REASONS, strict=True)
    ]


@pytest.mark.parametrize("form", ["junit", "sarif", "github"])
def test_caveats_and_scores_are_shown_and_do_not_fail(
    critic: Critic, tmp_path: Path, form: str
) -> None:
    wire = good_proposal()
    del wire["compiled"]["manifests"]["tool_manifest"][0]["args_schema"]
    (tmp_path / "p.json").write_text(json.dumps(wire))
    said = critic("verify", "--format", form, tmp_path / "p.json", PLAN_B)
    assert said.status == 0
    assert "args not checked, no args_schema: step 0" in said.out
    assert critic("score", "--format", form, PLAN_B_RUN).status == 0
    assert critic("verify", "--format", form, PLAN_A).status == 1


@pytest.mark.parametrize("reporter", [JunitReporter("verify"), SarifReporter(), GithubReporter()])
def test_a_hostile_file_name_stays_on_its_line(
    reporter: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"::error::{HOSTILE}\n::set-env name=x::y,z:%0A"
    reporter.report_invalid(InputDocument(name, b""), InvalidInput("/a", "wrong"))
    reporter.close()
    out = capsys.readouterr().out
    assert all(line.isascii() and line.isprintable() for line in out.splitlines())
    assert not any(line.startswith("::set-env") for line in out.splitlines())


def test_a_file_name_that_is_not_utf8_is_named_in_sarif_by_its_bytes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reporter = SarifReporter()
    reporter.report_invalid(InputDocument("plans/\udcff.json", b""), InvalidInput("/a", "wrong"))
    reporter.close()
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "plans/%FF.json"}


def test_a_message_in_sarif_has_no_link(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = SarifReporter()
    reporter.report_invalid(
        InputDocument("p", b""), InvalidInput("", "[fix it](https://example.com) [a]")
    )
    reporter.close()
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["message"]["text"] == "[fix it] (https://example.com) [a]"
