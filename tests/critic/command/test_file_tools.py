"""Tools that write files: whatever path is named, the line that they come to writes there."""

from posixpath import join, normpath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic.command.file_tools import CommandArgument
from critic.command.steps import CommandSteps
from tests.support.command_tables import SMALL_TABLE
from tests.support.effort import examples
from tests.support.shell_worlds import World

WORLD = World(links={"/w/out": "/home/u/docs", "/w/x": "/w/.git"})
PARTS = st.one_of(
    st.sampled_from(["a.py", "src", "..", ".", "", "out", "~", "~u", ".git", "-rf", "x"]),
    st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), max_size=8),
)
PATHS = st.lists(PARTS, min_size=1, max_size=5).map("/".join).filter(bool)
WRITES = ("write", "write_outside", "write_protected")


def read(argument: CommandArgument, value: object) -> CommandSteps | None:
    """Return what a call with an argument does; None where that is not known."""
    command = argument.command_of({argument.names[0]: value})
    return WORLD.read(command, SMALL_TABLE) if isinstance(command, str) else None


def written(steps: CommandSteps) -> set[str]:
    assert {step.effect for step in steps.steps} <= {*WRITES, "list"}
    return {path for step in steps.steps if step.effect in WRITES for path in step.values("path")}


@settings(max_examples=examples(1000))
@given(PATHS)
def test_the_line_of_a_path_writes_there_and_does_nothing_else(path: str) -> None:
    steps = read(CommandArgument(("path",), "path"), path)
    assert steps is not None
    if steps.is_understood:
        found = written(steps)
        assert 1 <= len(found) <= 2
        plain = "/" + normpath(join("/w", path)).lstrip("/")  # POSIX leaves two at the beginning
        assert plain in found or any(part in path.split("/") for part in ("out", "x", ".."))


@settings(max_examples=examples(500))
@given(st.lists(PATHS.filter(lambda path: path.isprintable()), min_size=1, max_size=4))
def test_a_patch_writes_each_file_that_it_names(paths: list[str]) -> None:
    verbs = ("Add File", "Update File", "Delete File", "Move to")
    lines = [f"*** {verbs[at % 4]}: {path}\n+*** x" for at, path in enumerate(paths)]
    patched = CommandArgument(("p",), "patch").command_of({"p": "\n".join(lines)})
    single = [CommandArgument(("p",), "path").command_of({"p": path.strip()}) for path in paths]
    assert patched == ("\n".join(str(one) for one in single if one) or None)


@pytest.mark.parametrize(
    ("path", "effect"),
    [
        ("a b.py", "write"),
        ("it's.py", "write"),
        ("$(rm -rf /)", "write"),
        ("-f", "write"),
        ("../a.py", "write_outside"),
        ("/etc/cron.d/x", "write_outside"),
        (".env", "write_outside"),
        ("out/a.py", "write_outside"),
        ("x/config", "write_protected"),
        (".Husky/pre-commit", "write_protected"),
        ("~/docs/a.txt", "write_outside"),
        ("~/.bashrc", "write_protected"),
        ("/home/u/.ssh/authorized_keys", "write_protected"),
        ("a/../.git/hooks/x", "write_protected"),
        ("~root/a", "unknown"),
        ("a\0b", "unknown"),
    ],
)
def test_a_path_is_judged_as_a_shell_writes_it(path: str, effect: str) -> None:
    steps = read(CommandArgument(("path",), "path"), path)
    assert steps is not None
    assert effect in {step.effect for step in steps.steps}


def test_a_carriage_return_hides_no_part_of_a_path() -> None:
    patch = CommandArgument(("p",), "patch")
    for text, effect in (
        ("*** Begin Patch\r\n  *** Add File: a.py\r\n+x\r\n", "write"),
        ("*** Add File: a\r/../../etc/x", "unknown"),
        ("*** Add File: a\r/../.git/x", "unknown"),
    ):
        steps = read(patch, text)
        assert steps is not None
        assert {step.effect for step in steps.steps} - {"list"} == {effect}


def test_every_path_of_a_call_is_written() -> None:
    argument = CommandArgument(("path", "file_path"), "path")
    assert argument.command_of({"file_path": "a"}) == ": > a"
    assert argument.command_of({"path": "a", "file_path": "b"}) == ": > a\n: > b"
    assert argument.command_of({"path": "a", "file_path": None}) == ": > a"
    assert argument.command_of({"path": "a", "file_path": 1}) is None
    assert argument.command_of({"other": "a"}) is None


def test_an_argument_is_read_as_it_was_written() -> None:
    command = CommandArgument(("c",))
    for one in (command, CommandArgument(("a", "b"), "path"), CommandArgument(("p",), "patch")):
        assert CommandArgument.read(one.wire()) == one
    for wrong in ({}, {"kind": "path"}, {"arguments": [1], "kind": "path"}, {"kind": "x"}):
        with pytest.raises((KeyError, TypeError, ValueError)):
            CommandArgument.read(wrong)


@pytest.mark.parametrize("value", [None, "", 1, ["a"], {"a": 1}, True])
def test_what_is_no_path_is_not_understood(value: object) -> None:
    for kind in ("path", "patch"):
        assert read(CommandArgument(("x",), kind), value) is None
    assert read(CommandArgument(("x",), "patch"), "*** Begin Patch\n+x") is None
