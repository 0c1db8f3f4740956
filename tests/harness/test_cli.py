"""The frame around all commands: arguments, exit statuses, and failures of any kind."""

import importlib
import io
import os
import signal
import subprocess
import sys
from argparse import ArgumentParser
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from harness.cli import build_parser
from harness.commands.table import COMMANDS
from tests.harness.console import Critic, spawn
from tests.support.examples import HOSTILE, PLAN_A, PLAN_B, is_safe
from tests.support.paths import ROOT

EXITS = "Exit status: 0 all ok; 1 some refused, or not the same; 2 some input is invalid."
HEAVY = {
    *("pydantic", "pydantic_core", "sqlite3", "orjson", "jiter", "jsonschema_rs", "tqdm"),
    *("starlette", "uvicorn", "prometheus_client"),
}


def fails_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Make `critic schema` fail so."""

    def run(_args: Any) -> int:
        sys.stdout.write("half a ")
        raise error

    monkeypatch.setattr(
        importlib.import_module("harness.commands.schema.schema_command"), "run", run
    )


# --- help and misuse --------------------------------------------------------------------------


def test_help_names_every_command_and_every_status(critic: Critic) -> None:
    said = critic("--help")
    assert (said.status, said.err) == (0, "")
    assert all(f"    {command}" in said.out for command in COMMANDS)
    assert EXITS in " ".join(said.out.split())


def test_the_parser_of_one_command_reads_it_as_the_parser_of_all_does() -> None:
    whole = build_parser()
    assert build_parser("no such command").format_help() == whole.format_help()
    for command in COMMANDS:
        one = build_parser(command)
        assert one.format_help() == whole.format_help()
        assert helped(one, command) == helped(whole, command)


def helped(parser: ArgumentParser, command: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out), pytest.raises(SystemExit):
        parser.parse_args([command, "--help"])
    return out.getvalue()


@pytest.mark.parametrize(
    "command",
    [
        *(*COMMANDS, "log list", "log show", "log verify"),
        *("policy check", "policy reach", "policy diff", "policy test"),
    ],
    ids=lambda text: text,
)
def test_every_command_has_its_help(critic: Critic, command: str) -> None:
    said = critic(*command.split(), "--help")
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith(f"usage: critic {command}")
    assert "Exit status: 0 " in " ".join(said.out.split())


@pytest.mark.parametrize(
    "args",
    [
        *((), ("judge",), ("Verify",), ("verify",), ("score",), ("run", "x.json"), ("run",)),
        *(("run", "--log", "a.db"), ("replay",), ("log",), ("log", "drop", "a.db")),
        *(("log", "list"), ("log", "show", "a.db"), ("log", "show", "a.db", "one")),
        *(("verify", "x", "--format", "xml"), ("verify", "x", "--max-bytes", "1MB")),
        *(("schema", "Plan", "Run"), ("doctor", "now"), ("replay", "a.db", "--head")),
        *(("--version=1",), ("verify", "x", "--unknown")),
    ],
    ids=" ".join,
)
def test_misuse_is_reported_on_standard_error(critic: Critic, args: tuple[str, ...]) -> None:
    said = critic(*args)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("usage: critic ")
    assert ": error: " in said.err


# --- failures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError(HOSTILE), "internal error, treated as a refusal: RuntimeError: "),
        (RecursionError("too deep"), "internal error, treated as a refusal: RecursionError: "),
        (MemoryError(), "internal error, treated as a refusal: MemoryError: "),
        (AssertionError(), "internal error, treated as a refusal: AssertionError: "),
        (FileNotFoundError(2, "gone", HOSTILE), "no such file"),
        (OSError(28, "full"), "the disk is full: free some space and run the command again"),
        (PermissionError(13, "no", "x.json"), "x.json: it may not be read or written by this user"),
        (OSError(5, "io"), "the disk reported an input/output error"),
        (OSError(HOSTILE), "red"),
    ],
    ids=repr,
)
def test_a_failure_is_one_safe_line_and_never_a_pass(
    critic: Critic, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    fails_with(monkeypatch, error)
    said = critic("schema")
    assert (said.status, said.out) == (2, "half a ")
    assert said.err.startswith("critic: ")
    assert words in said.err
    assert is_safe(said.err.removesuffix("\n"))


def test_an_interrupt_exits_with_130(critic: Critic, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_with(monkeypatch, KeyboardInterrupt())
    assert critic("schema") == (130, "half a ", "")


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def start(*args: str, stdout: Any = subprocess.PIPE) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "harness.cli", *args],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    )


def test_an_interrupt_by_a_real_signal_exits_with_130() -> None:
    with start("verify", "--lines", "--format", "text", "-") as process:
        assert process.stdin
        assert process.stderr
        process.stdin.write(b"no JSON\n")
        process.stdin.flush()
        assert process.stderr.readline().startswith(b"standard input line 1: invalid input: ")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b""


def test_a_reader_that_leaves_early(tmp_path: Path) -> None:
    lines = tmp_path / "many.jsonl"
    lines.write_bytes(b"no JSON\n" * 20_000)
    with start("verify", str(lines)) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline().startswith(b'{"error":')
        process.stdout.close()
        assert process.wait(60) == 2
        assert process.stderr.read() == b""


ANSWERS = ("schema", f"verify {PLAN_B}", "--version", "--help", "verify --help")
UNBUFFERED = ("", "1")
TEXT_LINES = "--format text --lines"
CLOSED = "invalid input: it is closed: send it a document, or name a file"


def under_shell(command: str, unbuffered: str = "") -> subprocess.CompletedProcess[bytes]:
    """Run `critic` with a command line that only a shell understands."""
    return subprocess.run(
        ["sh", "-c", f"{sys.executable} -m harness.cli {command}"],
        check=False,
        capture_output=True,
        env={**ENVIRONMENT, "PYTHONUNBUFFERED": unbuffered},
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("unbuffered", UNBUFFERED)
@pytest.mark.parametrize("args", ANSWERS)
def test_output_that_cannot_be_written(args: str, unbuffered: str) -> None:
    done = under_shell(f"{args} >/dev/full", unbuffered)
    assert done.returncode == 2
    assert done.stderr == (b"critic: the disk is full: free some space and run the command again\n")


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", UNBUFFERED)
@pytest.mark.parametrize("args", ANSWERS)
def test_output_to_a_reader_that_has_left(args: str, unbuffered: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "harness.cli", *args.split()],
            check=False,
            stdout=pipe,
            stderr=subprocess.PIPE,
            env={**ENVIRONMENT, "PYTHONUNBUFFERED": unbuffered},
        )
    assert (done.returncode, done.stderr) == (2, b"")


@pytest.mark.parametrize("args", ANSWERS)
def test_closed_standard_output_is_one_line_and_never_a_pass(args: str) -> None:
    done = under_shell(f"{args} >&-")
    assert done.returncode == 2
    assert done.stderr == (
        b"critic: standard output is closed: send it to a file, a pipe or /dev/null\n"
    )
    assert under_shell(f"{args} >&- 2>&-").returncode == 2


def test_nothing_is_recorded_where_nobody_could_read_the_answer(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert under_shell(f"demo --log {log} >&-").returncode == 2
    assert not log.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "line"),
    [
        *(
            (
                args,
                "standard input: invalid input: it is closed: send it a document, or name a file",
            )
            for args in ("verify -", "verify --format text --lines -")
        ),
        (
            f"loop - --actor true --critic true --dir {ROOT}",
            "critic: standard input is closed: give the task as an argument",
        ),
    ],
)
def test_closed_standard_input_is_one_line_and_never_a_pass(args: str, line: str) -> None:
    done = under_shell(f"{args} <&-")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"{line}\n"


# --- a separate process -----------------------------------------------------------------------


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from harness.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit as ended:\n    assert not ended.code\n"
        f"heavy = {HEAVY!r} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "assert 'critic' not in sys.modules and 'evals' not in sys.modules\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=False,
        capture_output=True,
        env=ENVIRONMENT,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_a_command_loads_is_kept_out_of_garbage_collection_in_its_own_process_only() -> None:
    script = (
        "import gc, sys\n"
        "from harness.cli import main\n"
        "called = main(['verify', sys.argv[2]]), gc.isenabled(), gc.get_freeze_count()\n"
        "assert called == (0, True, 0), called\n"
        "del sys.modules['harness.commands.judge.verify_command']\n"
        "assert main() == 0 and gc.isenabled() and gc.get_freeze_count()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "verify", str(PLAN_B)],
        check=False,
        capture_output=True,
        env=ENVIRONMENT,
    )
    assert (done.returncode, done.stderr) == (0, b"")


ENVIRONMENTS: list[tuple[tuple[str, ...], dict[str, str]]] = [
    ((), {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"}),
    (("-O",), {"PYTHONHASHSEED": "1", "LC_ALL": "POSIX", "TZ": "Pacific/Apia"}),
    (("-OO", "-X", "utf8=0"), {"PYTHONHASHSEED": "2", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Kabul"}),
]


@pytest.mark.slow
def test_the_verdict_is_the_same_in_every_environment() -> None:
    answers = {
        spawn("verify", "--format", "json", PLAN_A, PLAN_B, flags=flags, env=env)
        for flags, env in ENVIRONMENTS
    }
    (said,) = answers
    assert (said.status, said.err) == (1, "")
    assert [line[:11] for line in said.lines] == ['{"ok":false', '{"ok":true,']


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_that_knows_few_characters(tmp_path: Path, encoding: str) -> None:
    said = spawn("demo", cwd=tmp_path, env={"PYTHONIOENCODING": encoding})
    assert (said.status, said.err) == (0, "")
    assert "5 of 5 records are the same" in said.out


def test_closed_standard_error_changes_neither_status_nor_verdicts() -> None:
    command = f"exec {sys.executable} -m harness.cli verify {PLAN_A} /gone.json {PLAN_B} 2>&-"
    done = subprocess.run(["sh", "-c", command], check=False, capture_output=True, env=ENVIRONMENT)
    assert done.returncode == 2
    assert b": ok: " in done.stdout


def test_the_version_is_that_of_the_distribution(critic: Critic) -> None:
    assert critic("--version") == (0, f"critic {version('plan-critic')}\n", "")
