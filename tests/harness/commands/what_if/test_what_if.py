"""`critic what-if`: the matrix, the records and the reasons, and what a pipeline may rely on."""

import json
from pathlib import Path

import pytest

from harness.log import SqlDecisionLog
from harness.record import CriticError
from harness.wire import build
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON, filled, judged, meddle, proposal
from tests.harness.what_if.test_what_if import policy_wire


@pytest.fixture
def log(tmp_path: Path) -> Path:
    filled(tmp_path / "audit.db", 8).close()
    return tmp_path / "audit.db"


def policy(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(policy_wire(**changes)))
    return path


def loose(tmp_path: Path) -> Path:
    tools = proposal().wire()["compiled"]["manifests"]["tool_manifest"]
    free = {key: tools[0][key] for key in ("adapter_id", "capability_id", "approval_mode")}
    return policy(tmp_path, tool=[free, tools[1]])


def test_no_change_is_one_line_each_and_exits_0(critic: Critic, log: Path, tmp_path: Path) -> None:
    said = critic("what-if", log, "--policy", policy(tmp_path))
    assert (said.status, said.err) == (0, "")
    assert said.lines[3].startswith("head 8:")
    assert said.lines[:3] + said.lines[4:] == [
        "before \\ after        ok  missing_evidence",
        "ok                     6                 .",
        "missing_evidence       .                 2",
        "8 turns judged: 8 unchanged, 0 looser, 0 tighter, 0 other",
    ]


def test_a_tightening_is_shown_with_its_reasons_and_exits_0(critic: Critic, log: Path) -> None:
    said = critic("what-if", log, "--safety-mode", "network")
    assert said.status == 0
    assert said.lines[:4] == [
        "trace_1: other: refused (missing_evidence) -> refused (approval_mode_mismatch)",
        "  before: step 1 requires evidence class window, none pinned",
        "  after: step 1 mode destructive > safety_mode network",
        "  record 1: other: missing_evidence -> approval_mode_mismatch",
    ]
    assert said.lines[-1] == "8 turns judged: 0 unchanged, 0 looser, 6 tighter, 2 other"


def test_a_loosening_exits_1_unless_it_is_allowed(
    critic: Critic, log: Path, tmp_path: Path
) -> None:
    command = "what-if", log, "--policy", loose(tmp_path)
    said = critic(*command)
    assert said.status == 1
    assert said.lines[-1] == "8 turns judged: 6 unchanged, 2 looser, 0 tighter, 0 other"
    allowed = critic(*command, "--allow-loosening")
    assert (allowed.status, allowed.out) == (0, said.out)


def test_json_is_a_line_for_each_change_and_one_for_the_counts(
    critic: Critic, log: Path, tmp_path: Path
) -> None:
    said = critic("what-if", log, "--policy", loose(tmp_path), "--format", "json")
    *changes, last = map(json.loads, said.lines)
    assert [(one["trace_id"], one["change"]) for one in changes] == [
        ("trace_1", "looser"),
        ("trace_5", "looser"),
    ]
    assert [one["records"] for one in changes] == [
        [{"seq": 1, "change": "looser"}],
        [{"seq": 5, "change": "looser"}],
    ]
    assert (changes[0]["before"]["ok"], changes[0]["after"]["ok"]) == (False, True)
    assert last.pop("head").startswith("8:")
    assert last == {
        "what_if": {
            "judged": 8,
            "unchanged": 6,
            "looser": 2,
            "tighter": 0,
            "other": 0,
            "drifted": 0,
            "not_judged": {},
            "left_out": 0,
            "matrix": [
                {"before": "ok", "after": "ok", "turns": 6},
                {"before": "missing_evidence", "after": "ok", "turns": 2},
            ],
        }
    }


def test_what_was_not_judged_is_said_and_exits_1_unless_it_is_allowed(
    critic: Critic, log: Path
) -> None:
    with SqlDecisionLog.open(log) as opened:
        opened.append_error(CriticError(asked={}, where="in a test", failed_at=NOON))
    command = "what-if", log, "--budget", "max_steps=12"
    said = critic(*command)
    assert said.status == 1
    assert "record 9: not judged: critic_error" in said.lines
    assert said.lines[-1].endswith("0 other; 1 record not judged (1 critic_error)")
    assert critic(*command, "--allow-unjudged").status == 0


EXCUSES = "--allow-unjudged", "--allow-loosening"


@pytest.mark.parametrize("counts", [(), ("--counts",)], ids=" ".join)
@pytest.mark.parametrize(
    ("change", "status"),
    [
        ("DELETE FROM records WHERE seq = 3", "incomplete"),
        ("DELETE FROM inputs WHERE digest IN (SELECT plan FROM record_index)", "incomplete"),
        ("UPDATE records SET body = replace(body, 'trace_5', 'trace_6') WHERE seq = 5", "tampered"),
        ("UPDATE inputs SET body = replace(body, '\"o-17\"', '\"o-71\"')", "tampered"),
    ],
)
def test_damage_is_never_excused(
    critic: Critic, log: Path, change: str, status: str, counts: tuple[str, ...]
) -> None:
    command = "what-if", log, "--budget", "max_steps=12", *counts
    assert critic(*command).status == 0
    meddle(log, (change, ()))
    said = critic(*command, *EXCUSES)
    assert said.status == 1
    assert f"{status})" in said.lines[-1]
    assert "damaged or missing, which no option excuses" in said.out


def _of_specs(tmp_path: Path, *names: str) -> list[Path]:
    """Return a policy for each spec: those after the first ask about destructive calls."""
    paths = []
    for name in names:
        asks = {} if name == names[0] else {"approval_required_from": "destructive"}
        spec = {**proposal().wire()["spec"], "id": name, **asks}
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(policy_wire(spec=spec)))
    return paths


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Return a log of three specs, of the same plans."""
    with SqlDecisionLog.open(tmp_path / "mixed.db") as log:
        for number, name in enumerate(["refund", "refund", "sale", "gift"], start=1):
            wire = proposal(number).wire()
            wire["spec"]["id"] = name
            log.append(judged(build(type(proposal()), wire)))
    return tmp_path / "mixed.db"


@pytest.mark.parametrize("order", [1, -1])
def test_each_of_several_policies_judges_the_plans_of_its_spec(
    critic: Critic, mixed: Path, tmp_path: Path, order: int
) -> None:
    paths = _of_specs(tmp_path, "refund", "sale", "gift")[::order]
    together = critic("what-if", mixed, *(f"--policy={path}" for path in paths), "--counts")
    assert together.status == 0
    assert together.lines[-1] == "4 turns judged: 2 unchanged, 0 looser, 2 tighter, 0 other"
    file = tmp_path / "mixed.parquet"
    critic("log", "export", mixed, "--to", "parquet", "--plans", "-o", file)
    assert critic("what-if", file, *(f"--policy={one}" for one in paths), "--counts") == together


def test_a_plan_of_no_given_policy_is_not_judged(
    critic: Critic, mixed: Path, tmp_path: Path
) -> None:
    paths = _of_specs(tmp_path, "refund", "sale")
    command = "what-if", mixed, *(f"--policy={path}" for path in paths)
    said = critic(*command)
    assert said.status == 1
    assert "  no policy was given for spec gift" in said.lines
    assert said.lines[-1].endswith("1 tighter, 0 other; 1 record not judged (1 unknown)")
    assert critic(*command, "--allow-unjudged").status == 0
    twice = critic("what-if", mixed, f"--policy={paths[0]}", f"--policy={paths[0]}")
    assert (twice.status, twice.out) == (2, "")
    assert "two policies are for the spec of one id" in twice.err


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ((), "say what would be different: --policy, --safety-mode or --budget"),
        (("--evidence", "both", "--safety-mode", "network"), "--evidence goes with --policy"),
        (("--policy", "nowhere.toml"), "nowhere.toml: "),
    ],
)
def test_what_cannot_be_asked_is_explained(
    critic: Critic, log: Path, options: tuple[str, ...], line: str
) -> None:
    said = critic("what-if", log, *options)
    assert (said.status, said.out) == (2, "")
    assert line in said.err


@pytest.mark.parametrize(
    "text",
    [
        "max_steps",
        "max_steps=-1",
        "steps=1",
        "max_steps=1,max_steps=2",
        f"max_steps={2**53}",
        "max_steps=1e3",
        "",
    ],
)
def test_a_budget_is_limits_by_name(critic: Critic, log: Path, text: str) -> None:
    assert critic("what-if", log, "--budget", text).status == 2


def test_evidence_that_sessions_would_make_is_a_mistake_of_the_policy(
    critic: Critic, log: Path, tmp_path: Path
) -> None:
    item = {"id": "call/1", "classification": "x"}
    said = critic("what-if", log, "--policy", policy(tmp_path, evidence=[item]))
    assert said.status == 2
    assert "/evidence/0/id: ids that begin with call/" in said.err
