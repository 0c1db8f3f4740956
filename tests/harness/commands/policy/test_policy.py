"""`critic policy`, and the commands that take a policy in place of its parts."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from harness.policy import Policy, parse_policy
from tests.harness.commands.lines import GOOD_SAID, REFUSED_SAID, origins, read
from tests.harness.console import Critic
from tests.harness.policy.policies import GOOD
from tests.support.examples import good_proposal, good_run, is_safe, refused_proposal
from tests.support.guarding import bare

BROKEN = GOOD.replace("provenance =", "provenence =").replace('yields = "bill"', 'yields = "b l"')
RISKY = GOOD.replace('class = "bill"', 'class = "bil"').replace("maximum = 500", "maximun = 500")


@pytest.fixture
def refund(tmp_path: Path) -> Path:
    """Write the refund example as a policy."""
    wire = good_proposal()
    manifests = wire["compiled"]["manifests"]
    budget = wire["ctx"]["run_budget"]
    policy = {
        "guard": {"safety_mode": wire["ctx"]["safety_mode"], "budget": budget},
        "spec": wire["spec"],
        "tool": manifests["tool_manifest"],
        "evidence": manifests["evidence_manifest"],
    }
    path = tmp_path / "refund.json"
    path.write_text(json.dumps(policy, indent=2))
    return path


def saved(tmp_path: Path, text: str, name: str = "critic.toml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


# --- check ------------------------------------------------------------------------------------


def test_a_good_policy_is_ok_in_one_line(critic: Critic, tmp_path: Path, refund: Path) -> None:
    path = saved(tmp_path, GOOD)
    said = critic("policy", "check", path)
    assert said == (0, f"{path}: ok: 2 tools, no findings, 2 accepted\n", "")
    said = critic("policy", "check", "--format", "json", path)
    answer = json.loads(said.out)
    assert (answer["ok"], answer["findings"]) == (True, [])
    assert {one["rule"]: one["reason"] for one in answer["accepted"]} == {
        "class_without_schema": "bills have no fixed shape",
        "tier_below_name": "small bills of a petty cash",
    }


def test_a_note_fails_a_strict_check_only(critic: Critic, refund: Path) -> None:
    said = critic("policy", "check", refund)
    assert (said.status, said.lines[-1]) == (0, f"{refund}: ok: 2 tools, 1 note")
    assert ": note: " in said.lines[0]
    assert said.lines[0].endswith("[class_without_schema]")
    assert critic("policy", "check", "--strict", refund).status == 1


def test_accepted_findings_are_printed_when_strict(critic: Critic, tmp_path: Path) -> None:
    said = critic("policy", "check", "--strict", saved(tmp_path, GOOD))
    assert said.status == 0
    assert [line.split(": ")[2] for line in said.lines] == [
        "accepted",
        "accepted",
        "2 tools, no findings, 2 accepted",
    ]
    assert "because small bills of a petty cash [tier_below_name]" in said.out


def test_guesses_are_one_note_and_refused_only_when_strict(critic: Critic, tmp_path: Path) -> None:
    mode = 'approval_mode = "read_only"'
    assert mode in GOOD
    path = saved(tmp_path, GOOD.replace(mode, f"{mode}  # guessed: get") + "# TODO: nothing\n")
    line = GOOD[: GOOD.index(mode)].count("\n") + 1
    note = "1 guess, 0 open: check each line, and delete its comment [guess_open]"
    ok = f"{path}: ok: 2 tools, no findings, 2 accepted\n"
    expected = f"{ok}{path}: line {line}: note: {note}\n"
    assert critic("policy", "check", path) == (0, expected, "")
    strict = critic("policy", "check", "--strict", path)
    assert (strict.status, strict.out.endswith(expected)) == (1, True)
    said = json.loads(critic("policy", "check", "--format", "json", path).out)
    assert said.pop("accepted")
    assert said == {"file": str(path), "ok": True, "findings": [], "guesses": 1, "open": 0}
    path = saved(tmp_path, GOOD.replace(mode, f"{mode}  # TODO"))
    said = json.loads(critic("policy", "check", "--strict", "--format", "json", path).out)
    assert (said["ok"], said["guesses"], said["open"]) == (False, 0, 1)
    assert critic("policy", "check", "--strict", saved(tmp_path, GOOD)).status == 0


def test_drift_from_an_agent_is_a_finding(
    critic: Critic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code = "def look(order: str): ...\nTOOLS = [look]\n"
    Path("own_code.py").write_text(code)
    assert critic("init", "own.toml", "--from-agent", "own_code.py:TOOLS").status == 0
    against = ("policy", "check", "own.toml", "--against-agent", "own_code.py:TOOLS")
    assert critic(*against).status == 0
    Path("own_code.py").write_text(code.replace("look", "peek_in"))
    said = critic(*against)
    assert said.status == 1
    assert [line.endswith("[drift]") for line in said.lines[:2]] == [True, True]
    assert critic("policy", "check", "own.toml").status == 0
    said = critic("policy", "check", "own.toml", "--against-agent", "own_code.py:gone")
    assert (said.status, said.err.count("\n")) == (2, 1)


def test_every_mistake_is_a_line_on_standard_error(critic: Critic, tmp_path: Path) -> None:
    path = saved(tmp_path, BROKEN)
    said = critic("policy", "check", path)
    assert (said.status, said.out) == (2, "")
    first, second = said.err.splitlines()
    assert first.startswith(f"{path}: line 10 /spec/provenence: unknown key provenence: did you")
    assert second.startswith(f"{path}: line 19 /tool/0/yields: not an identifier: ")
    said = critic("policy", "check", "--format", "json", path)
    assert said.status == 2
    answer = json.loads(said.out)
    assert [error["line"] for error in answer["errors"]] == [10, 19]
    assert (answer["ok"], answer["file"]) == (False, str(path))


def test_findings_are_lines_in_the_order_of_the_text(critic: Critic, tmp_path: Path) -> None:
    path = saved(tmp_path, RISKY)
    said = critic("policy", "check", path)
    assert (said.status, said.err) == (1, "")
    placed = [line.split(": ")[1:3] for line in said.lines[:2]]
    assert placed == [["line 28", "error"], ["line 43", "warning"]]
    assert said.lines[2:] == [f"{path}: 2 accepted"]
    assert said.lines[0].endswith("did you mean bill? add it to one of them [unknown_class]")
    assert said.lines[1].endswith("did you mean maximum? [misspelt_keyword]")
    answer = json.loads(critic("policy", "check", "--format", "json", path).out)
    assert {finding["rule"] for finding in answer["findings"]} == {
        "unknown_class",
        "misspelt_keyword",
    }
    assert all(
        set(finding) == {"rule", "severity", "line", "path", "message"}
        for finding in answer["findings"]
    )


def test_the_worst_file_gives_the_status_and_every_file_is_checked(
    critic: Critic, tmp_path: Path
) -> None:
    texts = {"a.toml": BROKEN, "b.toml": RISKY, "c.toml": GOOD}
    paths = [saved(tmp_path, text, name) for name, text in texts.items()]
    said = critic("policy", "check", *paths, tmp_path / "gone.toml")
    assert said.status == 2
    assert f"{tmp_path / 'gone.toml'}: no such file" in said.err
    assert f"{paths[2]}: ok: 2 tools" in said.out
    assert critic("policy", "check", *paths[1:]).status == 1


def test_standard_input_is_checked(critic: Critic) -> None:
    said = critic("policy", "check", "-", stdin=GOOD.encode())
    assert said == (0, "standard input: ok: 2 tools, no findings, 2 accepted\n", "")
    said = critic("policy", "check", "-", stdin=b"\xff")
    assert (said.status, said.err) == (2, "standard input: line 1: not UTF-8: save it as UTF-8\n")


def test_what_a_policy_holds_cannot_control_the_terminal(critic: Critic, tmp_path: Path) -> None:
    hostile = "\\u001b[31m<b>\\u202e"
    schema = f'properties = {{ "{hostile}" = {{ "{hostile}" = 1, enum = [] }} }}'
    text = GOOD.replace("[tool.args_schema.properties]", f"[tool.args_schema.{'allOf'}.x]")
    assert critic("policy", "check", saved(tmp_path, text)).status == 2
    tool = '[[tool]]\nadapter_id = "a"\ncapability_id = "b"\napproval_mode = "network"\n'
    text = f'{GOOD}{tool}bound_args = {{ "{hostile}" = ["x"] }}\n[tool.args_schema]\n{schema}\n'
    said = critic("policy", "check", saved(tmp_path, text))
    assert said.status == 1
    assert all(is_safe(line) for line in said.lines)


# --- a policy in place of the parts -----------------------------------------------------------


def test_plans_are_judged_by_a_policy_in_a_context(
    critic: Critic, refund: Path, tmp_path: Path
) -> None:
    context = good_proposal()["ctx"]
    for name in ("safety_mode", "run_budget"):
        del context[name]
    saved(tmp_path, json.dumps(context), "context.json")
    plans = [wire["plan"] for wire in (good_proposal(), refused_proposal())]
    lines = saved(tmp_path, "\n".join(map(json.dumps, plans)), "plans.jsonl")
    said = critic("verify", "--policy", refund, "--context", tmp_path / "context.json", lines)
    assert (said.status, said.err) == (1, "")
    assert [*map(bare, read(said.lines))] == [GOOD_SAID, bare(REFUSED_SAID)]
    assert [origin["line"] for origin in origins(said.lines)] == [1, 2]


def without_parts(wire: dict[str, Any]) -> dict[str, Any]:
    left = copy.deepcopy(wire)
    del left["compiled"], left["spec"], left["ctx"]["safety_mode"]
    return left


def test_proposals_may_leave_out_what_the_policy_says(critic: Critic, refund: Path) -> None:
    lines = [json.dumps(without_parts(wire)) for wire in (good_proposal(), refused_proposal())]
    said = critic("verify", "--policy", refund, "--lines", "-", stdin="\n".join(lines).encode())
    assert [*map(bare, read(said.lines))] == [GOOD_SAID, bare(REFUSED_SAID)]


def test_evidence_of_a_proposal_adds_to_that_of_the_policy(
    critic: Critic, refund: Path, tmp_path: Path
) -> None:
    policy = json.loads(refund.read_text())
    evidence = policy.pop("evidence")
    path = saved(tmp_path, json.dumps(policy), "p.json")
    wire = without_parts(good_proposal())
    assert critic("verify", "--policy", path, "-", stdin=json.dumps(wire).encode()).status == 1
    wire["compiled"] = {"manifests": {"evidence_manifest": evidence}}
    assert critic("verify", "--policy", path, "-", stdin=json.dumps(wire).encode()).status == 0


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("spec", {"id": "mine"}, "at /spec: is given here and by the policy"),
        (
            "compiled",
            {"manifests": {"tool_manifest": []}},
            "at /compiled/manifests/tool_manifest: is given here and by the policy",
        ),
        ("compiled", {"manifests": {"evidence_manifest": 1}}, "evidence_manifest"),
        ("compiled", [], "at /compiled"),
        ("ctx", None, "at /ctx"),
        ("plan", {}, "at /plan/steps"),
    ],
)
def test_what_the_policy_says_is_not_said_again(
    critic: Critic, refund: Path, part: str, value: Any, words: str
) -> None:
    wire = {**without_parts(good_proposal()), part: value}
    said = critic("verify", "--policy", refund, "-", stdin=json.dumps(wire).encode())
    assert said.status == 2
    assert words in said.err
    said = critic("verify", "--policy", refund, "-", stdin=b"[]")
    assert (said.status, said.out) == (2, "")


def test_a_policy_and_its_parts_are_not_given_both(
    critic: Critic, refund: Path, tmp_path: Path
) -> None:
    said = critic("verify", "--policy", refund, "--spec", "x", "--compiled", "y", "-")
    assert said.status == 2
    assert said.err.endswith("leave out --compiled and --spec\n")
    broken = saved(tmp_path, BROKEN)
    for command in (["verify"], ["score"], ["run", "--log", str(tmp_path / "a.db")]):
        said = critic(*command, "--policy", broken, "-")
        assert (said.status, said.out) == (2, "")
        assert "not a policy: line 10 /spec/provenence" in said.err
        assert said.err.endswith("run `critic policy check` for 1 more\n")
    said = critic("verify", "--policy", tmp_path / "gone.toml", "-")
    assert "gone.toml: " in said.err
    (tmp_path / "c.json").write_text('{"trace_id": 1}')
    said = critic("verify", "--policy", refund, "--context", tmp_path / "c.json", "-")
    assert "c.json: not a RunContext: /trace_id" in said.err


def test_runs_may_leave_out_what_the_policy_says(
    critic: Critic, refund: Path, tmp_path: Path
) -> None:
    wire = good_run()
    wire["proposal"] = without_parts(wire["proposal"])
    stdin = json.dumps(wire).encode()
    said = critic("score", "--policy", refund, "-", stdin=stdin)
    assert (said.status, said.lines[0]) == (0, "standard input: ok")
    said = critic("run", "--policy", refund, "--log", tmp_path / "a.db", "-", stdin=stdin)
    assert said == (0, "standard input: record 1: completed: verify and score passed\n", "")
    dry = json.dumps(wire["proposal"]).encode()
    said = critic("run", "--policy", refund, "--log", tmp_path / "a.db", "-", stdin=dry)
    assert (said.status, said.err) == (0, "")
    assert critic("score", "-", stdin=stdin).status == 2
    assert Policy.model_fields  # the policy is only named: no record holds it


# --- test -------------------------------------------------------------------------------------


def case_file(folder: Path, name: str, wire: dict[str, Any], **must: Any) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    case = {"title": f"case {name}", "command": "verify", "input": wire, "must": must}
    path.write_text(json.dumps(case))
    return path


def test_cases_are_tested_against_a_policy(critic: Critic, refund: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    good, bad = (without_parts(wire) for wire in (good_proposal(), refused_proposal()))
    first = case_file(folder, "a.json", good, ok=True)
    second = case_file(folder, "b.json", bad, ok=True)
    said = critic("policy", "test", refund, folder)
    assert (said.status, said.err) == (1, "")
    assert said.lines[0] == f"{first}: ok: case a.json"
    assert said.lines[1] == f"{second}: FAILED: case b.json"
    assert said.lines[2].startswith('  must be {"ok": true}, is {"ok": false, "kind": "missing_')
    answers = [
        json.loads(line)
        for line in critic("policy", "test", refund, folder, "--format", "json").lines
    ]
    assert [answer["ok"] for answer in answers] == [True, False]
    assert critic("policy", "test", refund, first).status == 0


def test_cases_that_the_policy_does_not_judge_test_nothing(
    critic: Critic, refund: Path, tmp_path: Path
) -> None:
    own = case_file(tmp_path / "cases", "own.json", good_proposal(), ok=True)
    said = critic("policy", "test", refund, own)
    assert said.status == 2
    assert said.out.endswith("(judged by its own tools and spec, not by the policy)\n")
    assert "the policy judged none of them" in said.err
    used = case_file(tmp_path / "cases", "used.json", without_parts(good_proposal()), ok=True)
    assert critic("policy", "test", refund, own, used).status == 0
    (tmp_path / "empty").mkdir()
    assert "no case file" in critic("policy", "test", refund, tmp_path / "empty").err
    assert critic("policy", "test", refund, tmp_path / "gone.json").status == 2
    (tmp_path / "cases" / "no.json").write_text("{")
    said = critic("policy", "test", refund, tmp_path / "cases")
    assert said.status == 2
    assert f"{tmp_path / 'cases' / 'no.json'}: line 1: not strict JSON" in said.out


def test_a_policy_among_its_cases_is_not_a_case(critic: Critic, refund: Path) -> None:
    case_file(refund.parent, "used.json", without_parts(good_proposal()), ok=True)
    said = critic("policy", "test", refund, refund.parent)
    assert (said.status, len(said.lines)) == (0, 1)


# --- diff -------------------------------------------------------------------------------------


def test_the_diff_says_it_tool_by_tool_with_a_plan(
    critic: Critic, refund: Path, tmp_path: Path
) -> None:
    policy = json.loads(refund.read_text())
    refunds = policy["tool"][1]
    refunds["args_schema"]["properties"]["amount_inr"]["maximum"] = 100
    refunds["yields"] = "refund_receipt"
    new = saved(tmp_path, json.dumps(policy), "new.json")
    said = critic("policy", "diff", refund, new)
    assert (said.status, said.err) == (1, "")
    assert said.lines[:2] == ["tool lookup: equal", "tool issue_refund: tighter"]
    assert said.lines[2] == "  changed: args_schema, yields (no plan shows it)"
    assert said.lines[3].startswith(
        "  tighter: the new policy refuses: violates_decision_spec: step 0 args"
    )
    assert said.lines[5] == "  not decided: whether it is looser too"
    assert said.lines[-1] == f"{new} against {refund}: not decided"
    witness = saved(tmp_path, said.lines[4], "witness.json")
    assert critic("verify", "--policy", refund, witness).status == 0
    assert critic("verify", "--policy", new, witness).status == 1


def test_the_diff_as_json(critic: Critic, refund: Path, tmp_path: Path) -> None:
    policy = json.loads(refund.read_text())
    policy["guard"]["safety_mode"] = "network"
    new = saved(tmp_path, json.dumps(policy), "new.json")
    said = critic("policy", "diff", "--format", "json", refund, new)
    answer = json.loads(said.out)
    assert (said.status, answer["change"]) == (1, "tighter")
    assert (answer["old"], answer["new"]) == (str(refund), str(new))
    changes = {change["subject"]: change for change in answer["changes"]}
    assert changes["tool issue_refund"]["tighter"]["verdict"]["kind"] == "approval_mode_mismatch"
    assert set(changes["tool issue_refund"]["tighter"]["witness"]) >= {"ctx", "plan"}
    assert changes["guard"] == {"subject": "guard", "change": "equal", "changed": []}


def test_equal_policies_differ_in_nothing(critic: Critic, refund: Path, tmp_path: Path) -> None:
    said = critic("policy", "diff", refund, refund)
    assert (said.status, said.lines[-1]) == (0, f"{refund} against {refund}: equal")
    said = critic("policy", "diff", refund, saved(tmp_path, BROKEN))
    assert (said.status, said.out) == (2, "")
    assert "not a policy: line 10 /spec/provenence" in said.err


def test_a_policy_over_the_limit_is_refused_unread(critic: Critic, tmp_path: Path) -> None:
    path = tmp_path / "critic.toml"
    path.write_text(GOOD)
    for action in (["check", path], ["diff", path, path], ["test", path, tmp_path]):
        said = critic("policy", *action, "--max-bytes", "100")
        assert (said.status, said.out) == (2, ""), action
        assert "over the limit of 100 bytes" in said.err
    assert critic("policy", "check", path, "--max-bytes", "100000").status == 0


def test_cases_that_are_not_there_are_named(critic: Critic, tmp_path: Path) -> None:
    path = tmp_path / "critic.toml"
    path.write_text(GOOD)
    said = critic("policy", "test", path, tmp_path / "gone")
    assert (said.status, said.err) == (2, f"critic: {tmp_path / 'gone'}: no such file or folder\n")


# --- reach ------------------------------------------------------------------------------------


def test_reach_tells_who_can_choose_each_argument(critic: Critic, tmp_path: Path) -> None:
    path = saved(tmp_path, GOOD)
    said = critic("policy", "reach", path, "pay")
    assert (said.status, said.err) == (0, "")
    assert said.lines[0] == "pay to (recipient)"
    assert said.lines[1].startswith("  refused    anybody: read_file")
    rows = [json.loads(line) for line in critic("policy", "reach", path, "--format", "json").lines]
    assert {row["argument"] for row in rows} == {"to", "memo", "amount"}


def policy_of_many(tmp_path: Path, many: int) -> Path:
    """Write a policy of many tools that send, and as many that read what anybody wrote."""
    wire = parse_policy(GOOD.encode()).policy.wire()
    schema = {
        "type": "object",
        "properties": {"to": {"type": "string", "maxLength": 40}},
        "required": ["to"],
        "additionalProperties": False,
    }
    tool = {"adapter_id": "a", "args_schema": schema}
    reads = {"approval_mode": "read_only", "result": {"author": "public"}}
    sends = {"approval_mode": "network", "arg_roles": {"to": "recipient"}}
    tools = [
        {**tool, "capability_id": f"{verb}_{at}", **more}
        for verb, more in (("list", reads), ("send", sends))
        for at in range(many)
    ]
    guard = {"safety_mode": "destructive"}
    kept = {name: wire[name] for name in ("spec", "provenance") if name in wire}
    return saved(tmp_path, json.dumps({**kept, "guard": guard, "tool": tools}), "many.json")


def test_of_many_tools_some_are_named_and_the_others_counted(
    critic: Critic, tmp_path: Path
) -> None:
    path = policy_of_many(tmp_path, 23)
    said = critic("policy", "check", path)
    notes = [line for line in said.lines if line.endswith("[only_scope_allows]")]
    assert len(notes) == 21
    assert notes[-1] == f"{path}: note: and 3 more [only_scope_allows]"
    strict = critic("policy", "check", "--strict", path)
    assert strict.out.count("[only_scope_allows]") == 23
    wire = json.loads(critic("policy", "check", "--format", "json", path).out)
    assert [one["rule"] for one in wire["findings"]].count("only_scope_allows") == 23

    said = critic("policy", "reach", path, "send_0")
    names = "list_0, list_1, list_2, list_3, list_4 and 18 more"
    assert any(line.endswith(f"anybody: {names}") for line in said.lines), said.lines
    rows = critic("policy", "reach", path, "send_0", "--format", "json").lines
    assert max(len(json.loads(row)["sources"]) for row in rows) == 23


def test_reach_of_a_tool_that_is_not_there_is_told(critic: Critic, tmp_path: Path) -> None:
    said = critic("policy", "reach", saved(tmp_path, GOOD), "pays")
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert "no tool pays in the policy: known are read_file, pay" in said.err


def test_coverage_names_the_labels_that_no_case_needs(
    critic: Critic, refund: Path, tmp_path: Path
) -> None:
    case = case_file(tmp_path / "cases", "a.json", without_parts(good_proposal()), ok=True)
    said = critic("policy", "test", refund, case, "--coverage")
    assert said.status == 1
    lines = [line for line in said.lines if line.endswith(" changes no case")]
    assert any(line.endswith(": deleting lookup.args_schema changes no case") for line in lines)
    assert said.lines[-1].endswith(f"needed, {len(lines)} change no case")
    rows = [
        json.loads(line)
        for line in critic("policy", "test", refund, case, "--coverage", "--format", "json").lines
    ]
    assert rows[-1]["not_needed"] == len(lines) == len([row for row in rows if "label" in row])
    case_file(
        tmp_path / "cases", "a.json", without_parts(good_proposal()), ok=False, kind="loop_guard"
    )
    said = critic("policy", "test", refund, case, "--coverage")
    assert (said.status, "no coverage: correct the cases" in said.err) == (1, True)
