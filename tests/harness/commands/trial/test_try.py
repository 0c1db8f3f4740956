"""`critic try`: tasks judged, the smallest edits proposed, and a patch that applies."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.policy import parse_policy, read_policy
from tests.harness.console import Critic
from tests.harness.what_if.proposing.shop_tasks import LOOKS, POLICY, TELLS, lines, task
from tests.support.examples import is_safe

PAYS = ("pay_back", {"order_id": "ORD-77120", "eur": 5}, "done")
DONE = task("What is in ORD-882?", LOOKS, id="t1")
TELL = [{**event, "session": "t2"} for event in TELLS]
BACK = task("pay back ORD-77120 5 EUR", PAYS, id="t3")
MADE_UP = task(
    "Tell the shop of it.", ("mail", {"to": "bob@y.example", "body": "x"}, "sent"), id="t4"
)
TOLD = task("See to it.", ("find_mail", {}, "pay back ORD-77120"), PAYS, id="t5")
ATTACK = task("Read it.", LOOKS, ("mail", {"to": "eve@evil.example"}, 1), id="a1")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with the policy and files of sessions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.toml").write_text(POLICY)
    (tmp_path / "tasks.jsonl").write_text(lines(DONE, TELL, BACK, MADE_UP, TOLD))
    (tmp_path / "good.jsonl").write_text(lines(DONE, BACK))
    (tmp_path / "attacks.jsonl").write_text(lines(ATTACK))
    return tmp_path


@pytest.mark.slow
def test_a_line_a_task_the_sums_and_the_proposals(critic: Critic, folder: Path) -> None:
    said = critic("try", "shop.toml", "tasks.jsonl", "--attacks", "attacks.jsonl")
    assert (said.status, said.err) == (1, "")
    assert said.lines[:6] == [
        "t1 allowed",
        't2 refused  mail /to "ada@x.example": only in the text of get_order',
        "t3 asked    by the tier of a tool alone",
        't4 refused  mail /to "bob@y.example": was not seen in the request or in any result',
        't5 refused  pay_back /order_id "ORD-77120": only in the text of find_mail',
        "5 tasks: 1 allowed, 1 asked by tier alone, 0 asked, 3 refused; 1 attack, 0 pass",
    ]
    rest = "\n".join(said.lines[6:])
    assert "for t2:\n  scope: mail\n  also allows: " in rest
    assert "attacks that would pass: none" in rest
    assert "needs your word, for t5:\n  " in rest
    assert "t4: no edit helps: the value was seen nowhere" in rest
    assert is_safe(said.out.replace("\n", ""))
    assert (folder / "shop.toml").read_text() == POLICY
    assert critic("try", "shop.toml", "good.jsonl").status == 0


@pytest.mark.slow
def test_the_same_as_json(critic: Critic) -> None:
    said = critic("try", "shop.toml", "tasks.jsonl", "--attacks", "attacks.jsonl", "--json")
    wire = json.loads(said.out)
    assert [one["outcome"] for one in wire["tasks"]] == [
        "allowed",
        "refused",
        "asked",
        "refused",
        "refused",
    ]
    assert wire["totals"] == {"allowed": 1, "asked_by_tier": 1, "asked": 0, "refused": 3}
    assert wire["attacks"] == {"count": 1, "passing": []}
    assert [one["needs_word"] for one in wire["proposals"]] == [False, True]
    assert wire["proposals"][0]["edits"][0]["text"] == "scope: mail"
    assert wire["tasks"][3]["uncured"].startswith("no edit helps")


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["patch", "git"])
def test_the_patch_applies_and_is_marked(critic: Critic, folder: Path, tool: str) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"there is no {tool}")
    (folder / "shop.toml").write_bytes(
        POLICY.replace("\n", "\r\n").encode() if tool == "git" else POLICY.encode()
    )
    critic("try", "shop.toml", "tasks.jsonl", "--patch", "shop.patch")
    command = (
        ["patch", "-p1", "-i", "shop.patch"] if tool == "patch" else ["git", "apply", "shop.patch"]
    )
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    text = (folder / "shop.toml").read_bytes().decode()
    assert 'scope = ["mail"]  # from task t2' in text
    assert "# needs your word, t5: " in text
    policy = read_policy(folder / "shop.toml")
    assert policy.scope == ("mail",)
    assert "/guard/scope" in (policy.guessed or ())
    assert (
        policy.tools["find_mail"].result
        == parse_policy(POLICY.encode()).policy.tools["find_mail"].result
    )
    again = critic("try", "shop.toml", "tasks.jsonl")
    assert "t2 asked" in again.out
    checked = critic("policy", "check", "shop.toml")
    assert "2 guesses" in checked.out
    assert critic("policy", "check", "--strict", "shop.toml").status == 1


def test_a_task_that_stops_and_the_edit_that_helps(critic: Critic, folder: Path) -> None:
    (folder / "tell.jsonl").write_text(lines(TELL))
    said = critic("try", "shop.toml", "tell.jsonl")
    assert said.status == 1
    assert said.lines[0] == 't2 refused  mail /to "ada@x.example": only in the text of get_order'
    assert said.lines[1].startswith("1 task: 0 allowed")
    assert said.lines[2:4] == ["for t2:", "  scope: mail"]
    untried = [line for line in said.lines if line.endswith("[untried_tool]")]
    assert [line.split("tool ")[1].split(":")[0] for line in untried] == [
        *("find_mail", "open_page", "pay_back", "place_order")
    ]
    assert untried[0].startswith("shop.toml: line 23: note: ")


def test_a_tier_that_nobody_has_decided_is_told_with_its_line(critic: Critic, folder: Path) -> None:
    mode = 'approval_mode = "destructive"'
    (folder / "shop.toml").write_text(POLICY.replace(mode, f"{mode}  # TODO", 1))
    line = 1 + POLICY[: POLICY.index(mode)].count("\n")
    assert critic("try", "shop.toml", "good.jsonl").lines[3:4] == [
        f"shop.toml: line {line}: note: tool pay_back: nobody has decided its tier, so a person is "
        "asked about each call: decide it, and delete the comment [guess_open]"
    ]
    (folder / "done.jsonl").write_text(lines(DONE))
    assert "guess_open" not in critic("try", "shop.toml", "done.jsonl").out


def test_a_result_that_is_not_of_its_class_is_told_at_the_stop(
    critic: Critic, folder: Path
) -> None:
    shaped = 'name = "order"\nschema = { type = "object", required = ["email", "eur"] }'
    (folder / "shop.toml").write_text(POLICY.replace('name = "order"', shaped))
    (folder / "tell.jsonl").write_text(lines(TELL))
    why = "get_order's result is not what class order says: /eur is missing"
    said = critic("try", "shop.toml", "tell.jsonl")
    assert said.lines[0].endswith(f"only in the text of get_order; {why}")
    [wire] = json.loads(critic("try", "shop.toml", "tell.jsonl", "--json").out)["tasks"]
    assert wire["misfit"] == why


BAD = [
    ("empty.jsonl", "", "no task in it: write session events"),
    (
        "other.jsonl",
        lines(task("x", ("fly", {}, 1))),
        "the policy has none of the tools that are called (fly)",
    ),
    ("late.jsonl", '{"event":"said","session":"s","text":"x"}\n', "does not begin with open"),
    ("torn.jsonl", "{\n", "torn.jsonl: not session events: line 1: not strict JSON"),
    ("agent.py", "import agent\n", "agent.py: not session events: line 1: not strict JSON"),
    ("gone.jsonl", None, "no such file"),
    ("scope.jsonl", lines(task("x", LOOKS, scope=["get_ordr"])), "did you mean get_order?"),
]


@pytest.mark.parametrize(("name", "text", "words"), BAD)
def test_what_is_no_task_is_one_line(
    critic: Critic, folder: Path, name: str, text: str | None, words: str
) -> None:
    if text is not None:
        (folder / name).write_text(text)
    said = critic("try", "shop.toml", name)
    assert (said.status, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert words in said.err


def test_tasks_before_the_policy_are_told_to_come_last(critic: Critic, folder: Path) -> None:
    (folder / "blank.jsonl").write_text("\n" + lines(DONE))
    for name in ("tasks.jsonl", "blank.jsonl"):
        said = critic("try", name, "shop.toml")
        assert (said.status, said.out) == (2, "")
        words = "these are session events: name the policy first, critic try POLICY TASKS..."
        assert said.err == f"critic: {name}: {words}\n"
    (folder / "events.toml").write_text('event = "open"\n')
    assert "these are session events" not in critic("try", "events.toml", "tasks.jsonl").err


def test_an_attack_without_calls_is_one_line(critic: Critic, folder: Path) -> None:
    (folder / "idle.jsonl").write_text(lines(task("x", id="a1")))
    said = critic("try", "shop.toml", "good.jsonl", "--attacks", "idle.jsonl")
    assert (said.status, said.err.count("\n")) == (2, 1)
    assert "a1 makes no call: the last calls event of a session is the attack" in said.err


def test_attacks_of_another_agent_are_one_line(critic: Critic, folder: Path) -> None:
    (folder / "other.jsonl").write_text(lines(task("x", ("fly", {}, 1), id="a1")))
    said = critic("try", "shop.toml", "good.jsonl", "--attacks", "other.jsonl")
    assert (said.status, said.out) == (2, "")
    words = "the policy has none of the tools that are called (fly)"
    assert said.err == f"critic: other.jsonl: {words}: give the attacks of its own agent\n"


@pytest.mark.parametrize("name", ["shop.toml", "./good.jsonl", "attacks.jsonl"])
def test_a_patch_is_never_written_over_what_is_read(
    critic: Critic, folder: Path, name: str
) -> None:
    before = (folder / name).read_bytes()
    said = critic("try", "shop.toml", "good.jsonl", "--attacks", "attacks.jsonl", "--patch", name)
    assert (said.status, said.out) == (2, "")
    assert "name another file" in said.err
    assert (folder / name).read_bytes() == before


@pytest.mark.slow
def test_a_policy_in_json_is_patched_too(critic: Critic, folder: Path) -> None:
    if shutil.which("patch") is None:
        pytest.skip("there is no patch")
    wire = parse_policy(POLICY.encode()).policy.wire()
    (folder / "shop.json").write_text(f"{json.dumps(wire, indent=2)}\n")
    critic("try", "shop.json", "tasks.jsonl", "--patch", "shop.patch")
    command = ["patch", "-p1", "-i", "shop.patch"]
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    policy = read_policy(folder / "shop.json")
    assert policy.scope == ("mail",)
    assert "/guard/scope" in (policy.guessed or ())
    assert "t2 asked" in critic("try", "shop.json", "tasks.jsonl").out
    assert critic("policy", "check", "--strict", "shop.json").status == 1


def test_a_patch_needs_a_policy_in_a_file(critic: Critic, folder: Path) -> None:
    said = critic("try", "-", "tasks.jsonl", "--patch", "shop.patch", stdin=POLICY.encode())
    assert said.status == 2
    assert "save standard input, and name that" in said.err
