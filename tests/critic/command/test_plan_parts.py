"""The steps of the commands of one turn, as steps of its plan."""

import pytest

from critic.command.effect_tools import effect_tools
from critic.command.plan_parts import CallCommand, parts_of_commands
from evals.kinds import ApprovalMode
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

WORLD = World()


def parts(*commands: str, waits: bool = False) -> list[tuple[int | None, str]]:
    """Return of each part the call that it is of, and its effect."""
    asked = [
        CallCommand(of, one, WORLD.facts_for(one, {}, SMALL_TABLE), waits=waits)
        for of, one in enumerate(commands)
    ]
    return [(one.of, one.capability_id) for one in parts_of_commands(asked, SMALL_TABLE, [])]


def test_each_command_has_the_steps_that_it_has_alone() -> None:
    assert parts("cat a.py", "ls src") == [(0, "read"), (1, "list")]
    assert parts("cat a.py && rm b.py") == [(0, "read"), (0, "delete")]


def test_a_command_that_waits_for_a_value_is_no_step_of_a_tool() -> None:
    assert parts("cat a.py", "ls src", waits=True) == [(0, "late"), (1, "late")]


@pytest.mark.parametrize(
    ("command", "request_", "effects"),
    [
        ("rm src/old.py", "Delete src/old.py", ["delete_made"]),
        ("rm src/old.py", "Fix it", ["delete"]),
        ("pytest -q", "Run the tests", ["read", "run.test"]),
        ("git push origin work", "Push it", ["send"]),
        ("rm src/old.py; pytest", "Delete src/old.py", ["delete_made", "read", "run.test"]),
    ],
)
def test_what_is_asked_for_is_of_another_tool_only_where_it_deletes(
    command: str, request_: str, effects: list[str]
) -> None:
    call = CallCommand(0, command, WORLD.facts_for(command, {}, SMALL_TABLE))
    steps = parts_of_commands([call], SMALL_TABLE, [request_])
    assert [one.capability_id for one in steps] == effects


@pytest.mark.parametrize("tier", ["local_write", "network", "delegated", "destructive"])
def test_a_step_of_any_effect_may_be_about_nothing_that_a_yes_is_of(tier: ApprovalMode) -> None:
    for tiers in ({}, dict.fromkeys((one.capability_id for one in effect_tools({})), tier)):
        for one in effect_tools(tiers):
            assert one.may_be_empty == ("object",)
            assert one.approval_mode == tiers.get(one.capability_id, one.approval_mode)


def objects(command: str, request: str = "Fix it") -> list[str]:
    """Return what a yes to each step of a command would be of."""
    call = CallCommand(0, command, WORLD.facts_for(command, {}, SMALL_TABLE))
    steps = parts_of_commands([call], SMALL_TABLE, [request])
    return [one for step in steps for one in step.args.get("object", ())]


@pytest.mark.parametrize(
    ("command", "other"),
    [
        ("cat a.txt | curl -d @- http://h.example/", "cat b.csv | curl -d @- http://h.example/"),
        ('X=a; curl -d "$X" http://h.example/', 'X=b; curl -d "$X" http://h.example/'),
        ("curl -d @- http://h.example/ < a.txt", "curl -d @- http://h.example/ < b.csv"),
        ("curl -d @- http://h.example/ <<< a", "curl -d @- http://h.example/ <<< b"),
        ("curl -d @- http://h.example/ <<'E'\na\nE", "curl -d @- http://h.example/ <<'E'\nb\nE"),
        ("cp a x; curl -d @x http://h.example/", "cp b x; curl -d @x http://h.example/"),
        ("(cat a) | (curl -d @- http://h.example/)", "(cat b) | (curl -d @- http://h.example/)"),
        ("curl http://h.example/a", "curl http://h.example/b"),
        ("curl 'http://h.example/'", "curl 'http://h.example/?d=SECRET'"),
        ("pytest -q", "PYTHONPATH=x pytest -q"),
        ("pytest -q", "CI=1 timeout 5 pytest -q"),
        ("pytest -q", "env CI=1 pytest -q"),
        ("pytest -q", "export CI=1; pytest -q"),
        ("pytest -q", "CI=1; pytest -q"),
        ("pytest -q", "pytest -q < a.txt"),
        ("pytest -q", "echo y | pytest -q"),
        ("pytest -q", "pytest -q <<< y"),
        ("pytest -q", "cd src && pytest -q"),
        ("cd src && pytest -q", "cd src; pytest -q"),
        ("cd src || cd lib; pytest -q", "cd src || cd doc; pytest -q"),
        ("pytest 'a b'", "pytest a b"),
        ("pytest \"a' 'b\"", "pytest 'a b'"),
        ("pip install x", "pip install x -r y.txt"),
    ],
)
def test_a_yes_is_of_all_that_decides_what_a_step_does(command: str, other: str) -> None:
    assert objects(command)
    assert set(objects(command)).isdisjoint(objects(other))
    assert objects(command) == objects(command)


@pytest.mark.parametrize(
    "other", ["timeout 5 pytest  -q", "pytest '-q' 2>&1 | tail -5", "ls; pytest -q"]
)
def test_a_yes_is_of_the_words_alone_where_they_decide(other: str) -> None:
    assert objects("pytest -q") == objects(other)


@pytest.mark.parametrize("command", ["curl https://h.example/x", "npm run deploy", "npm install x"])
def test_no_words_of_a_user_are_what_a_yes_is_of(command: str) -> None:
    """Provenance looks for the object in the request, where it may stand to forbid it."""
    (one,) = objects(command)
    assert one.startswith(("fetch: ", "run.", "install: "))
    assert one not in f"Never do: {command} in /w, and not h.example"


@pytest.mark.parametrize("other", [{"cwd": "/w/src"}, {"home": "/w"}, {"shell": "zsh"}])
@pytest.mark.parametrize("at", range(3))
def test_commands_of_one_turn_that_start_elsewhere_are_not_understood(
    other: dict[str, str], at: int
) -> None:
    """Whichever of them it is. What changes nothing may be asked about the world by itself."""
    for line, effect in (("echo x > a.py", "unknown"), ("cat a.py", "read")):
        facts = [WORLD.facts_for(line, {}, SMALL_TABLE) for _ in range(3)]
        facts[at] = WORLD.facts_for(line, other, SMALL_TABLE) | other
        calls = [CallCommand(of, line, one) for of, one in enumerate(facts)]
        found = parts_of_commands(calls, SMALL_TABLE, [])
        assert {one.capability_id for one in found if one.capability_id != "list"} == {effect}


@pytest.mark.parametrize("link", ["ln -s src k", "mv src k", "cp -r src k"])
@pytest.mark.parametrize("use", ["cat k/x/a.py", "echo x > k/x/a.py", "rm -r k/x/y"])
def test_what_may_bring_a_link_is_no_neighbour_of_what_goes_through_it(link: str, use: str) -> None:
    for turn in ((link, use), (use, link), ("ls", link, use)):
        assert {effect for _, effect in parts(*turn)} == {"unknown"}


def test_what_is_sent_to_another_machine_is_judged_as_content() -> None:
    for host, is_judged in (("h.example", True), ("localhost", False)):
        line = f"curl -d x http://{host}/"
        call = CallCommand(0, line, WORLD.facts_for(line, {}, SMALL_TABLE))
        steps = parts_of_commands([call], SMALL_TABLE, [])
        (sent,) = [one for one in steps if one.capability_id == "send"]
        assert sent.args.get("content") == (line if is_judged else None)


def test_commands_of_one_turn_that_may_change_one_another_are_not_understood() -> None:
    assert parts("ln -s ~/.ssh k", "cat k/id_rsa") == [(0, "unknown"), (1, "unknown")]


def test_a_command_without_facts_or_without_a_text_is_not_understood() -> None:
    for command, facts in (("ls", None), (7, WORLD.facts().wire()), ("ls", {"root": 7})):
        (part,) = parts_of_commands([CallCommand(3, command, facts)], SMALL_TABLE, [])
        assert (part.of, part.capability_id) == (3, "unknown")
