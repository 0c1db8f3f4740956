"""`critic init`: a policy to begin with, from nothing, from functions, or from OpenAI tools."""

import json
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from evals.escaping import escape_line
from harness.commands import documents
from harness.policy import lint, read_policy
from tests.harness.console import Critic, spawn
from tests.support.examples import is_safe
from tests.support.paths import ROOT


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_starter_is_written_that_the_check_accepts(critic: Critic, folder: Path) -> None:
    said = critic("init")
    assert (said.status, said.err) == (0, "")
    assert said.lines == [
        "critic.toml: written: 2 tools; then run `critic policy check critic.toml`"
    ]
    assert critic("policy", "check", "critic.toml").status == 0
    assert {one.severity for one in lint(read_policy(folder / "critic.toml"))} == {"note"}


def test_a_file_is_replaced_only_when_told_to(critic: Critic, folder: Path) -> None:
    path = folder / "own.toml"
    path.write_text("mine")
    path.chmod(0o600)
    said = critic("init", path)
    assert (said.status, said.out) == (2, "")
    assert said.err == f"critic: {path} is there already: give --force to replace it\n"
    assert path.read_text() == "mine"
    assert critic("init", path, "--force").status == 0
    assert read_policy(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert critic("init", "new.toml", "--force").status == 0
    assert critic("init", "gone/new.toml").err == (
        "critic: there is no folder gone: make it, or name another file\n"
    )


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("name", ["new/", "there", "there/", "."])
def test_a_folder_is_no_file_to_write(
    critic: Critic, folder: Path, name: str, force: list[str]
) -> None:
    (folder / "there").mkdir()
    said = critic("init", name, *force)
    shown = Path(name, "critic.toml")
    assert said == (
        2,
        "",
        f"critic: {name} is a folder: name the file to write, as in {shown}\n",
    )
    assert {path.name for path in folder.rglob("*")} == {"there"}


@pytest.mark.parametrize("name", ["critic.toml", "other.toml", "of two\nlines.toml"])
def test_its_comment_names_the_file(critic: Critic, folder: Path, name: str) -> None:
    assert critic("init", name).status == 0
    text = (folder / name).read_text()
    assert f"`critic policy check {escape_line(name)}`" in text
    assert text.count("critic policy check") == 1
    assert read_policy(folder / name)


def test_it_can_be_printed(critic: Critic, folder: Path) -> None:
    said = critic("init", "-")
    assert said.lines[0].startswith("# A policy")
    assert list(folder.iterdir()) == []


def test_tools_are_derived_from_a_module_of_this_folder(folder: Path) -> None:
    (folder / "own_tools.py").write_text('def pay(to: str, amount: int):\n    """Pay."""\n')
    said = spawn("init", "--from-python", "own_tools", cwd=folder)
    assert said == (
        0,
        "critic.toml: written: 1 tool, 2 guesses, 0 open; then run "
        "`critic policy check critic.toml`\n",
        "",
    )
    tool = read_policy(folder / "critic.toml").tools["pay"]
    assert (tool.adapter_id, tool.approval_mode) == ("own_tools", "destructive")
    again = spawn("init", "two.toml", "--from-python", str(folder / "own_tools.py"), cwd=folder)
    assert (again.status, read_policy(folder / "two.toml").tool) == (0, (tool,))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("1 / 0", "cannot import own_broken: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)", "cannot import own_broken: SystemExit: 3"),
        ("x = (", "let it be imported without an error"),
        ("import no_such_library", "run critic in the environment of the agent"),
        ("raise ValueError('\\x1b[31m')", "cannot import own_broken: ValueError: \\u001b"),
        ("x = 1", "the module own_broken has no public function: define one, or"),
        ("x = 1", "tools of a framework with --from-agent MODULE:OBJECT"),
    ],
)
def test_a_module_that_cannot_be_used_is_one_safe_line(
    critic: Critic, folder: Path, source: str, words: str
) -> None:
    sys.modules.pop("own_broken", None)  # of the case before
    (folder / "own_broken.py").write_text(source)
    said = critic("init", "--from-python", "own_broken")
    assert (said.status, said.out) == (2, "")
    assert words in said.err
    assert is_safe(said.err.removesuffix("\n"))
    assert not (folder / "critic.toml").exists()


def test_a_module_that_is_not_there(critic: Critic) -> None:
    said = critic("init", "--from-python", "no_such_module_at_all")
    assert "cannot import no_such_module_at_all: ModuleNotFoundError" in said.err
    assert critic("init", "--from-python", "gone.py").status == 2


def test_tools_are_derived_from_openai_json(critic: Critic, folder: Path) -> None:
    tool = {"type": "function", "name": "pay", "parameters": {"type": "object"}}
    (folder / "tools.json").write_text(json.dumps({"tools": [tool, {"type": "\x1b[31m"}]}))
    said = critic("init", "--from-openai", "tools.json")
    assert said.status == 0
    assert said.err.startswith("left out a tool of type \\u001b[31m: ")
    assert list(read_policy(folder / "critic.toml").tools) == ["pay"]
    said = critic("init", "-", "--from-openai", "-", stdin=b'[{"name": "a b"}]')
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("critic: standard input: /0/name: must be a name of letters")
    assert critic("init", "--from-openai", "a", "--from-python", "b").status == 2


def test_a_limit_that_no_option_raises_names_no_option(
    critic: Critic, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 9)
    (folder / "tools.json").write_text('[{"name": "pay"}]')
    said = critic("init", "--from-openai", "tools.json")
    assert (said.status, said.out) == (2, "")
    assert said.err == "critic: tools.json: the document: over the limit of 9 bytes: split it\n"


def test_what_a_module_prints_is_no_part_of_the_policy(critic: Critic, folder: Path) -> None:
    (folder / "loud.py").write_text("print('hello')\ndef pay(to: str) -> None: ...\n")
    said = critic("init", "--from-python", "loud.py", "-")
    assert (said.status, said.err) == (0, "hello\n")
    (folder / "critic.toml").write_text(said.out)
    assert read_policy(folder / "critic.toml").tools.keys() == {"pay"}


AGENT = """
from agents import Agent, function_tool
def send_note(to: str, text: str) -> str:
    \"\"\"Send a note.\"\"\"
def list_notes() -> list[str]: ...
agent = Agent(name="desk", tools=[function_tool(send_note)])
TOOLS = [list_notes]
class team: agent = agent
"""


def test_tools_are_derived_from_an_object_of_a_module(critic: Critic, folder: Path) -> None:
    (folder / "own_desk.py").write_text(AGENT)
    said = critic("init", "--from-agent", "own_desk.py:team.agent")
    assert said.lines == [
        "critic.toml: written: 1 tool, 2 guesses, 0 open; then run "
        "`critic policy check critic.toml`"
    ]
    (tool,) = read_policy(folder / "critic.toml").tool
    assert (tool.adapter_id, tool.called, tool.approval_mode) == (
        "own_desk",
        "send_note",
        "network",
    )
    assert tool.arg_roles == {"to": "recipient", "text": "content"}


def test_several_sources_have_an_adapter_each(critic: Critic, folder: Path) -> None:
    (folder / "own_two.py").write_text(AGENT)
    (folder / "tools.json").write_text('[{"name": "pay", "parameters": {"type": "object"}}]')
    files = ("--from-agent", "own_two.py:agent", "--from-agent", "own_two.py:TOOLS")
    assert critic("init", *files, "--from-openai", "tools.json").status == 0
    tools = read_policy(folder / "critic.toml").tools
    assert {name: tool.adapter_id for name, tool in tools.items()} == {
        "send_note": "own_two",
        "list_notes": "own_two_2",
        "pay": "tools",
    }
    said = critic("init", "x.toml", "--from-python", "own_two.py", *files)
    assert (said.status, said.out) == (2, "")
    assert said.err == (
        "critic: two sources have a tool that is called send_note, own_two.py and "
        "own_two.py:agent: rename one, or write a policy for each\n"
    )


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("own_odd.py:gone", "there is no own_odd.py:gone: what may have tools is broken\n"),
        ("own_odd.py:TOLS", "there is no own_odd.py:TOLS: did you mean TOOLS? what may have"),
        ("own_odd.py:broken.a.b", "there is no own_odd.py:broken.a.b: write own_odd.py:broken\n"),
        ("own_odd.py:TOOLS.gone", "there is no own_odd.py:TOOLS.gone: write MODULE:OBJECT"),
        ("own_odd.py:number", "number has no tools, it is of type int: write MODULE:OBJECT"),
        ("own_odd.py:broken", "cannot read the tools of own_odd.py:broken: "),
        ("own_gone:agent", "'own_gone': run critic in the folder of the module"),
        ("own_gone.py:agent", "write the path of a file that is there"),
        (":agent", "nothing is named: write MODULE:OBJECT"),
        ("", "nothing is named: write MODULE:OBJECT"),
    ],
)
def test_an_agent_that_cannot_be_read_is_one_line(
    critic: Critic, folder: Path, named: str, words: str
) -> None:
    (folder / "own_odd.py").write_text(
        "number = 7\n"
        "TOOLS = [len]\n"
        "class FastMCP:\n    def list_tools(self): raise RuntimeError('\\x1b[31m')\n"
        "FastMCP.__module__ = 'fastmcp'\nbroken = FastMCP()\ndel FastMCP\n"
    )
    said = critic("init", "--from-agent", named)
    assert (said.status, said.out) == (2, "")
    assert words in said.err
    assert said.err.count("\n") == 1
    assert is_safe(said.err.removesuffix("\n"))
    assert not (folder / "critic.toml").exists()


@pytest.mark.slow
def test_a_thousand_tools_of_odd_names_are_written_and_checked(
    critic: Critic, folder: Path
) -> None:
    odd = ["x", "l\u00f6schen", "__", "getX", "delete_all", "\u540d\u524d"]
    names = [*odd, *(f"get_thing_{count}" for count in range(994))]
    text = "".join(
        f"def {name}(to: str, \u00fc: int = 1): 'Reads and then deletes.'\n" for name in names
    )
    (folder / "own_many.py").write_text(f"{text}TOOLS = [{', '.join(names)}]\n")
    said = critic("init", "--from-agent", "own_many.py:TOOLS")
    left = [line.partition(":")[2] for line in said.err.splitlines()]
    names_left = [" l\\u00f6schen cannot", " \\u540d\\u524d cannot"]
    assert [line.partition(" be")[0] for line in left] == names_left
    assert said.status == 0
    policy = read_policy(folder / "critic.toml")
    assert len(policy.tool) == 998
    assert {tool.approval_mode for tool in policy.tool} == {"destructive"}


READS = """
from typing import TypedDict
class Order(TypedDict):
    order_id: str
    remarks: str
def get_order(order_id: str) -> Order: ...
def get_plan(plan_id: str) -> str: ...
def get_note(note_id: str): ...
def search_web(query: str) -> str: ...
def send_mail(to: str) -> str: ...
TOOLS = [get_order, get_plan, get_note, search_web, send_mail]
"""


def test_a_person_is_asked_who_writes_what_each_read_returns(critic: Critic, folder: Path) -> None:
    (folder / "own_reads.py").write_text(READS)
    init = ("init", "critic.toml", "--from-agent", "own_reads.py:TOOLS", "--ask")
    said = critic(*init, stdin=b"S\nx\nm\n")
    assert said.status == 0
    asked = "Who can write what {} returns? [s] our systems [m] our people [p] anybody: "
    names = ("get_order", "get_plan", "get_plan", "get_note")
    answers = ("S", "x", "m", "")  # shown as a terminal shows what is typed
    shown = (f"{asked.format(name)}{one}\n" for name, one in zip(names, answers, strict=True))
    assert said.err == "".join(shown)
    policy = read_policy(folder / "critic.toml")
    authors = {name: tool.result and tool.result.author for name, tool in policy.tools.items()}
    assert authors == {
        "get_order": "system",
        "get_plan": "member",
        "get_note": "public",
        "search_web": "public",
        "send_mail": "public",
    }
    assert [one.fields for one in policy.class_] == [{"order_id": "system", "remarks": "public"}]
    text = (folder / "critic.toml").read_text()
    assert text.count("# Who can write what it returns?") == 1
    assert critic("policy", "check", "critic.toml").status == 0


def test_types_are_read_from_recorded_results(critic: Critic, folder: Path) -> None:
    (folder / "own_reads.py").write_text(READS)
    calls = [{"id": "c1", "tool": "get_note", "args": {}}, {"id": "c2", "tool": "gone", "args": {}}]
    output = {"note_id": "n1", "text": "Hello"}
    result = {"event": "result", "session": "s", "status": "completed"}
    events = [
        {"event": "open", "session": "s", "request": "Read."},
        {"event": "calls", "session": "s", "calls": calls},
        {**result, "id": "c1", "output": output},
        {**result, "id": "c2", "output": 7},
    ]
    (folder / "s.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    init = ("init", "--force", "--from-agent", "own_reads.py:TOOLS", "--results")
    said = critic(*init, "s.jsonl")
    assert (said.status, said.err) == (0, "")
    (note,) = (
        one for one in read_policy(folder / "critic.toml").class_ if one.name.startswith("get_note")
    )
    assert (note.example, note.fields) == (output, {"note_id": "system"})
    (folder / "none.jsonl").write_text(json.dumps(events[0]))
    assert critic(*init, "none.jsonl").err == "no result of these tools was recorded\n"
    (folder / "bad.jsonl").write_text("{}\n")
    said = critic(*init, "bad.jsonl")
    assert (said.status, said.err[:26]) == (2, "critic: bad.jsonl line 1: ")
    assert critic(*init, "gone.jsonl").status == 2
    said = critic("init", "x.toml", "--ask")
    assert (said.status, said.err.count("\n")) == (2, 1)


def test_what_the_guide_says_confirms_the_guesses_and_nothing_else(
    critic: Critic, folder: Path
) -> None:
    critic("demo", "--shop", ".")
    assert critic("init", "--from-agent", "shop.py:agent").status == 0
    path = folder / "critic.toml"
    head, table, rest = path.read_text().partition("[guard]\n")
    guide = (ROOT / ".github" / "docs" / "guide.md").read_text()
    (line,) = (
        one for one in guide.splitlines() if one.startswith("sed -i -e") and "guessed" in one
    )
    subprocess.run(shlex.split(line), check=True)
    scope = 'scope = ["send_email", "cancel_order"]\n'
    confirmed = "".join(
        f"{one.partition('# guessed: ')[0].rstrip()}\n" for one in rest.splitlines()
    )
    assert path.read_text() == f"{head}{table}{scope}{confirmed}"
    assert not read_policy(path).guessed
