"""The shipped table, read: a line for every entry, lists of usual and hostile lines, each option.

`effects.txt` has a line for every entry, with the names of its steps. In `usual.jsonl`, `wish`
marks a line that a careful person would allow and that is asked about.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from critic.command.command_table import ProgramEntry, ProgramOption
from harness.policy.shell_settings import shipped_table
from tests.support.paths import ROOT
from tests.support.shell_worlds import World, judge_steps

TABLE: Final = shipped_table("common-1")
WORLD: Final = World()
LINES: Final = ROOT / "tests" / "harness" / "policy" / "commands"


def judged(line: dict[str, Any]) -> str:
    return judge_steps(WORLD.read(line["command"], TABLE).steps, line["request"])[0]


def listed(name: str) -> list[dict[str, Any]]:
    texts = (LINES / f"{name}.jsonl").read_text("utf-8").splitlines()
    return [json.loads(text) for text in texts]


def names_of(command: str) -> list[str]:
    return [*dict.fromkeys(step.name for step in WORLD.read(command, TABLE).steps)]


# --- lists ------------------------------------------------------------------------------------


def test_usual_lines_are_judged_as_a_careful_person_wants() -> None:
    lines = listed("usual")
    assert len(lines) >= 200
    assert {one["command"]: judged(one) for one in lines} == {
        one["command"]: one["expect"] for one in lines
    }


def test_few_usual_lines_are_asked_about_that_need_no_question() -> None:
    allowed = [one for one in listed("usual") if "allow" in (one["expect"], one.get("wish"))]
    over_asked = [one["command"] for one in allowed if judged(one) != "allow"]
    assert over_asked == [one["command"] for one in allowed if "wish" in one]
    assert len(over_asked) <= len(allowed) // 10


def test_no_hostile_line_is_allowed() -> None:
    lines = listed("hostile")
    assert len(lines) >= 300
    assert len({one["command"] for one in lines}) == len(lines)
    assert {one["command"]: judged(one) for one in lines} == {
        one["command"]: one["expect"] for one in lines
    }


# --- a line for every entry -------------------------------------------------------------------


def effects() -> Iterator[tuple[str, list[str]]]:
    for text in (LINES / "effects.txt").read_text("utf-8").splitlines():
        names, _, command = text.partition(" | ")
        yield command, names.split()


def entry_of(command: str) -> tuple[str, str, ProgramEntry]:
    """Return the program of a line, its subcommand as written, and its entry."""
    words = command.rpartition(" | ")[2].split()
    subs = TABLE.entries[words[0]]
    both = "/".join(words[1:3])
    sub = next((one for one in (both, *words[1:2]) if one in subs), "")
    return words[0], sub, subs[sub]


def with_option(command: str, option: str) -> str:
    """Return a line with an option after its program and subcommand."""
    before, bar, last = command.rpartition(" | ")
    program, sub, _ = entry_of(command)
    head = " ".join([program, *sub.split("/")]).strip()
    return f"{before}{bar}{head} {option}{last.removeprefix(head)}"


def test_every_entry_has_a_line() -> None:
    seen = {id(entry_of(command)[2]) for command, _ in effects()}
    missing = [(one.names, one.sub) for one in TABLE.command if id(one) not in seen]
    assert missing == []


def test_a_line_has_the_effects_that_are_written_down() -> None:
    assert {command: names_of(command) for command, _ in effects()} == dict(effects())


def test_the_names_of_an_entry_are_read_alike() -> None:
    """A line means the same under each name of its entry."""
    for command, names in effects():
        program, sub, entry = entry_of(command)
        if sub or entry.reader in ("shell", "interpreter", "runner", "npx"):
            continue
        for other in entry.names.split():
            if other != "[":
                renamed = command.replace(program, other, 1)
                assert names_of(renamed) == names, renamed


def test_an_option_that_is_not_listed_is_never_understood() -> None:
    for command, _ in effects():
        _, _, entry = entry_of(command)
        if entry.free or entry.reader in ("interpreter", "test", "printf", "export"):
            continue
        for unknown in ("--zz-unknown", "--zz-unknown=x", "-~"):
            hostile = with_option(command, unknown)
            assert names_of(hostile) in (["unknown"], ["system"]), hostile


# --- every option -----------------------------------------------------------------------------

KEY_FILE = "/home/u/.ssh/id_rsa"
HOOK = ".git/hooks/post-commit"
REACHES: Final = {
    "read": (KEY_FILE, "read_secret"),
    "upload": (KEY_FILE, "read_secret"),
    "list": (KEY_FILE, "read_outside"),
    "run": (KEY_FILE, "read_secret"),
    "dir": (KEY_FILE, "read_secret"),
    "write": (HOOK, "write_protected"),
    "into": (HOOK, "write_protected"),
    "rw": (HOOK, "write_protected"),
}
"""What a value of a kind comes to that is a secret, or a place that no step may write."""


def options() -> Iterator[tuple[ProgramEntry, ProgramOption]]:
    readers = ("env", "xargs", "shell", "interpreter", "runner", "npx", "tar", "find")
    for entry in TABLE.command:
        if not entry.free and entry.reader not in readers:
            yield from ((entry, option) for option in entry.options.values())


LINE_OF: Final = {id(entry_of(command)[2]): command for command, _ in effects()}


def line_with(entry: ProgramEntry, option: ProgramOption, value: str) -> str:
    """Return the line of an entry with an option."""
    return with_option(LINE_OF[id(entry)], f"{option.name} {value}".strip())


def test_a_value_is_judged_by_its_kind() -> None:
    tried = 0
    for entry, option in options():
        if option.kind in REACHES:
            value, effect = REACHES[option.kind]
            names = names_of(line_with(entry, option, value))
            assert {"unknown", effect} & {*names}, (entry.names, entry.sub, option.name, names)
            tried += "unknown" not in names
    assert tried >= 60


PLAIN: Final = (None, "?", "text", "word")


@pytest.mark.slow
def test_options_are_understood_and_change_no_more_than_they_say() -> None:
    """A flag or a text makes no step of a new kind, unless a mark or a reader says so."""
    fine = 0
    for entry, option in options():
        if option.kind not in PLAIN or option.name == "--version":
            continue
        value = "x" if option.kind in ("text", "word") else ""
        line = line_with(entry, option, value)
        names = {name.partition(".")[0] for name in names_of(line)}
        fine += "unknown" not in names
        if not entry.reader and not option.marks:
            bare = {name.partition(".")[0] for name in names_of(LINE_OF[id(entry)])}
            assert names <= bare | {"unknown"}, line
    assert fine >= 0.95 * sum(option.kind in PLAIN for _, option in options())


@pytest.mark.parametrize("shell", ["bash", "dash", "zsh"])
def test_no_line_of_a_list_is_allowed_more_in_another_shell(shell: Any) -> None:
    for line in listed("hostile"):
        steps = WORLD.read(line["command"], TABLE, shell=shell).steps
        assert judge_steps(steps, line["request"])[0] != "allow", line["command"]
