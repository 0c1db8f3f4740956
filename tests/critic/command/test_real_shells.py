"""What a real shell does with a line is what was read from it: programs, arguments, folders, files.

Every program is a stub that writes down its arguments and folder, so lines do no more than that and
redirect into a folder of the test. No line has an absolute path, or goes up more than it went down.
"""

import os
import re
import select
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic.command.deeds import Deed
from critic.command.shell_facts import ShellName
from critic.command.shell_syntax import NotUnderstood, Word
from critic.command.steps import read_deeds, read_steps
from tests.support.command_tables import SMALL_TABLE
from tests.support.effort import examples
from tests.support.shell_worlds import World

SHELLS = [shell for shell in ("bash", "dash", "zsh") if shutil.which(shell)]
PROGRAMS: Final = ("cat", "ls", "wc", "grep", "sort", "head", "tee", "touch", "echo", "id")
STUB: Final = """#!/bin/sh
{ printf '%s\\0' "$(pwd -P)" "${0##*/}"; [ $# -eq 0 ] || printf '%s\\0' "$@"; } > "$LOG/$$"
"""
_ARGUMENTS: Final = (
    *(
        "a.py",
        "b",
        "*.py",
        "?.py",
        "'a b'",
        '"$X"',
        "a\\ b",
        "-n",
        "--",
        "x{1,2}",
        "''",
        "~",
        "a#b",
    ),
    *("[ab].py", '"*"', "src/*", "$(ls)", '"$(ls b)"', "'it'\\''s'", "{}", "!", "=", "^a", "a=b"),
    *("2", "./a.py", "$X", "%1", "@", ",", "+x", "src/../a.py", "\\*", "é", "a\\\nb", "[", "]"),
)
_REDIRECTS: Final = (
    *(" > n", " >> a.py", " 2>&1", " 2>e", " < a.py", " &> all", " >| f", " <<< x", " <nope >o"),
    *(" > 'q r'", " 3>f", " >&2", " > src/o", " >&both", " <<E\nhi\nE\n", " <<'E' > h\n$x\nE\n"),
    *(" 10>f", ">!f", " <1-5>x", " &>>app", " > x{1,2}", " >", " 2 >x", " <>rw"),
)
_JOINTS: Final = (" && ", " || ", "; ", " | ", " & ", "\n", "&&", " |& ", ";", " # c\n", " \\\n ")
_WHOLE: Final = (
    *("cd src", "cd nope", "cd src && cd ..", "true", "false", ":", "X=1", "X=a.py"),
    *("export A=1", "exit 0", "cd", "set -e", "! cd src", "> only", "f() { id; }", "A=1 id"),
)


@st.composite
def simple_commands(draw: st.DrawFn) -> str:
    program = draw(st.sampled_from(PROGRAMS))
    arguments = draw(st.lists(st.sampled_from(_ARGUMENTS), max_size=3))
    redirects = draw(st.lists(st.sampled_from(_REDIRECTS), max_size=2))
    return " ".join([program, *arguments]) + "".join(redirects)


def bracketed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    forms = st.sampled_from(
        ("({})", "{{ {}; }}", "! {}", "timeout 5 {}", "time {}", 'echo "$({})"', "({}) >g")
    )
    joined = st.lists(inner, min_size=1, max_size=3).flatmap(
        lambda parts: st.sampled_from(_JOINTS).map(lambda joint: joint.join(parts))
    )
    return st.one_of(joined, st.tuples(forms, inner).map(lambda pair: pair[0].format(pair[1])))


lines = st.recursive(st.one_of(simple_commands(), st.sampled_from(_WHOLE)), bracketed, max_leaves=6)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("machine").resolve()
    (top / "bin").mkdir()
    for name in (*PROGRAMS, "sleep"):
        stub = top / "bin" / name
        stub.write_text(STUB)
        stub.chmod(0o755)
    timeout = shutil.which("timeout")
    assert timeout
    (top / "bin" / "timeout").symlink_to(timeout)
    return top


def plant(top: Path) -> None:
    for name in ("w", "log"):
        shutil.rmtree(top / name, ignore_errors=True)
    for folder in ("w/src/deep", "home", "log"):
        (top / folder).mkdir(parents=True, exist_ok=True)
    for name in ("a.py", "b.py", "src/c.py"):
        (top / "w" / name).write_text(name)


def run_line(top: Path, shell: str, line: str) -> list[list[str]]:
    """Run a line; return what was started: the folder, then the words."""
    binary = shutil.which(shell)
    assert binary
    env = {"PATH": f"{top}/bin", "HOME": f"{top}/home", "LOG": f"{top}/log", "LC_ALL": "C.UTF-8"}
    options = ["-f"] if shell == "zsh" else ["--norc", "--noprofile"] if shell == "bash" else []
    # Each process that the line starts, also in the background, keeps this open until it ends.
    ended, held = os.pipe()
    try:
        subprocess.run(
            [binary, *options, "-c", line],
            cwd=top / "w",
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
            check=False,
            pass_fds=(held,),
        )
        os.close(held)
        assert select.select([ended], [], [], 60)[0]
    finally:
        os.close(ended)
    records = (path.read_bytes().decode("utf-8", "replace") for path in (top / "log").iterdir())
    return [record.split("\0")[:-1] for record in records]


def files_of(top: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in top.rglob("*") if path.is_file()}


def pattern_of(words: tuple[Word | None, ...]) -> str:
    """Return the expression that the words of a program match, each with a NUL behind it."""
    parts = []
    for word in words:
        one = "".join(
            re.escape(piece.text) if piece.kind == "text" else "[^\0]*"
            for piece in (word.pieces if word else ())
        )
        several = word is None or word.splits
        parts.append("(?:[^\0]*\0)*" if several else f"{one}\0")
    return "".join(parts)


def unforeseen(deeds: tuple[Deed, ...], ran: list[list[str]], changed: set[str]) -> Iterator[str]:
    programs = [(deed.folders, pattern_of(deed.argv)) for deed in deeds if deed.runs]
    for folder, *words in ran:
        text = "".join(f"{word}\0" for word in words)
        if not any(folder in at and re.fullmatch(form, text, re.DOTALL) for at, form in programs):
            yield f"{folder}: {words}"
    exact = {path.path for deed in deeds for path in deed.writes if not path.pattern}
    below = tuple(
        f"{path.path}/" for deed in deeds for path in (*deed.writes, *deed.into) if path.pattern
    )
    yield from (path for path in changed if path not in exact and not path.startswith(below))


@pytest.mark.skipif(os.name == "nt", reason="there is no such shell")
@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=examples(400))
@given(line=lines)
def test_nothing_happens_that_was_not_read(machine: Path, shell: str, line: str) -> None:
    world = World(root=f"{machine}/w", home=f"{machine}/home")
    facts = world.facts(f"{machine}/w", cast("ShellName", shell))
    facts = world.answer(read_steps(line, facts, SMALL_TABLE).needs, facts)
    try:
        deeds = read_deeds(line, facts, SMALL_TABLE)
    except NotUnderstood:
        return
    plant(machine)
    before = files_of(machine / "w") | files_of(machine / "home")
    ran = run_line(machine, shell, line)
    after = files_of(machine / "w") | files_of(machine / "home")
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert list(unforeseen(deeds, ran, changed)) == []
