"""One command: its prompt, its output of any kind and size, and its end in every way."""

import asyncio
import signal
import sys
import time
from pathlib import Path

import pytest

from harness.process import (
    KEPT_BYTES,
    TIMED_OUT,
    CommandNotStarted,
    CommandResult,
    run_command,
)
from tests.harness.loops.code.scratch import ends, python


def run(*words: str, prompt: str = "", cwd: Path = Path("/"), **more: float) -> CommandResult:
    return asyncio.run(run_command(words, prompt=prompt, cwd=cwd, timeout=more.get("timeout")))


def test_the_prompt_is_passed_on_stdin(tmp_path: Path) -> None:
    told = run(
        *python("print(sys.stdin.read(), os.getcwd()); print('e', file=sys.stderr); sys.exit(3)"),
        prompt="Grüße {prompt}",
        cwd=tmp_path,
    )
    assert (told.stdout, told.stderr) == (f"Grüße {{prompt}} {tmp_path}\n", "e\n")
    assert (told.exit_code, told.timed_out, told.truncated) == (3, False, False)
    assert told.seconds > 0


def test_the_prompt_in_place_of_its_mark_is_not_looked_at_again() -> None:
    show = "print(sys.argv[1:], repr(sys.stdin.read()))"
    told = run(*python(show), "<{prompt}>", "{promp}", prompt="a {prompt} b\0\ud800")
    assert told.stdout == "['<a {prompt} b\ufffd?>', '{promp}'] ''\n"


def test_a_command_that_does_not_read_its_prompt() -> None:
    assert run("true", prompt="x" * 10_000_000).exit_code == 0


def test_output_that_is_not_text_is_decoded() -> None:
    assert run(*python("sys.stdout.buffer.write(b'a\\xffb\\xc3')")).stdout == "a\ufffdb\ufffd"


def test_huge_output_keeps_head_and_tail() -> None:
    code = "sys.stderr.write('e' * 3_000_000); sys.stdout.write('h' + 'x' * 9_000_000 + 't')"
    told = run(*python(code))
    assert told.truncated
    assert told.stdout.startswith("hx")
    assert told.stdout.endswith("xt")
    assert f"\n[... {9_000_002 - KEPT_BYTES} bytes left out ...]\n" in told.stdout
    assert len(told.stdout) < KEPT_BYTES + 100 > len(told.stderr)


def test_output_is_reported_as_it_comes() -> None:
    told: list[str] = []
    code = "sys.stdout.buffer.write('ü'.encode()[:1]); sys.stdout.flush()\n"
    code += "sys.stdout.buffer.write('ü'.encode()[1:] + b'!')"
    asyncio.run(run_command(python(code), prompt="", cwd=Path("/"), on_output=told.append))
    assert "".join(told) == "ü!"


def test_a_timeout_ends_the_whole_group_even_if_it_does_not_want_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.process._GRACE_SECONDS", 0.1)
    code = "trap '' TERM; sleep 60 & echo $! $$; wait; sleep 60"
    began = time.monotonic()
    told = run("sh", "-c", code, timeout=0.2)
    assert (told.exit_code, told.timed_out) == (TIMED_OUT, True)
    assert time.monotonic() - began < 10
    assert [ends(int(pid)) for pid in told.stdout.split()] == [True, True]


def test_what_is_left_running_ends_with_the_command() -> None:
    began = time.monotonic()
    told = run("sh", "-c", "sleep 60 & echo $!")
    assert told.exit_code == 0
    assert time.monotonic() - began < 10
    assert ends(int(told.stdout))


@pytest.mark.parametrize("output", ["", ">/dev/null 2>&1 <&-"])
def test_what_is_left_running_ends_even_if_it_ignores_to_be_asked(
    monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.setattr("harness.process._GRACE_SECONDS", 0.1)
    result = run("sh", "-c", f"trap '' TERM; sleep 60 {output} & echo $!")
    assert result.exit_code == 0
    assert ends(int(result.stdout))


def test_the_environment_is_added_to_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEPT", "kept")
    words = python("print(os.environ['KEPT'], os.environ['ADDED'])")
    command = run_command(words, prompt="", cwd=Path("/"), environment={"ADDED": "added"})
    assert asyncio.run(command).stdout == "kept added\n"


def test_a_cancelled_caller_leaves_nothing_behind(tmp_path: Path) -> None:
    async def cancelled() -> None:
        words = ("sh", "-c", "sleep 60 & echo $! $$ > pids; wait")
        task = asyncio.create_task(run_command(words, prompt="", cwd=tmp_path))
        while not (tmp_path / "pids").exists() or not (tmp_path / "pids").read_text():
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert all(ends(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_a_command_killed_by_a_signal_has_a_negative_exit_code() -> None:
    assert run("sh", "-c", "kill -9 $$").exit_code == -signal.SIGKILL


def test_what_cannot_be_started_says_what_to_do(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo\n")
    shebang = tmp_path / "shebang"
    shebang.write_text("#!/no/such/program\n")
    shebang.chmod(0o700)
    for words, advice in (
        ((), "no command given"),
        (("",), "no command given"),
        (("no-such-\x1bcommand",), "command not found: no-such-\\u001bcommand: install it"),
        ((str(shebang),), "the program that its first line names"),
        ((str(script),), "make it executable"),
        ((sys.executable, "{prompt}"), "let it read stdin instead"),
        (("a\0b",), "cannot be run"),
    ):
        with pytest.raises(CommandNotStarted, match=advice.replace("\\", "\\\\")):
            run(*words, prompt="x" * 3_000_000)
    script.chmod(0o700)
    with pytest.raises(CommandNotStarted, match="is not a program"):
        run(str(script))
    with pytest.raises(CommandNotStarted, match="no such folder"):
        run("true", cwd=tmp_path / "gone")
