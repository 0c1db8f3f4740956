"""Documents that are too large, cannot be read, or are not text."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.commands.lines import GOOD, GOOD_SAID, REFUSED, REFUSED_SAID, read
from tests.harness.console import Critic
from tests.support.examples import PLAN_B, is_safe

# --- size -------------------------------------------------------------------------------------


def test_a_huge_line_is_refused_and_the_next_one_judged(critic: Critic) -> None:
    huge = b'{"x":"' + b"y" * 3_000_000 + b'"}'
    limit = str(len(GOOD) + 1)
    for lines in ([huge, GOOD, huge, REFUSED], [GOOD, huge], [huge]):
        said = critic(
            "verify", "--lines", "--max-bytes", limit, "-", stdin=b"\r\n".join([*lines, b""])
        )
        answers = read(said.lines)
        assert said.status == 2
        assert len(answers) == len(lines)
        for line, answer in zip(lines, answers, strict=True):
            if line is huge:
                assert "over the limit" in answer["error"]["message"]
            else:
                assert answer == (GOOD_SAID if line is GOOD else REFUSED_SAID)


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize("over", [0, 1, 2, 3])
def test_the_limit_is_of_the_document_and_not_of_its_line_end(
    critic: Critic, end: bytes, over: int
) -> None:
    limit = len(GOOD) + 10
    line = GOOD + b" " * (10 + over)
    said = critic("verify", "--lines", "--max-bytes", str(limit), "-", stdin=line + end + GOOD)
    answers = read(said.lines)
    if end:
        assert answers[1] == GOOD_SAID
        assert (answers[0] == GOOD_SAID) is (over == 0)
    assert said.status == (2 if over or not end else 0)


@pytest.mark.parametrize("hidden", [b"\r\rgarbage", b"\r\r" + GOOD, b"\r\r\r\r]", b" \r\r\rx"])
@pytest.mark.parametrize("padding", [0, 1, 2, 3])
def test_nothing_hides_behind_the_limit(critic: Critic, hidden: bytes, padding: int) -> None:
    limit = len(GOOD) + padding
    said = critic("verify", "--lines", "--max-bytes", str(limit), "-", stdin=GOOD + hidden + b"\n")
    (answer,) = read(said.lines)
    assert said.status == 2
    assert set(answer) == {"error"}


def test_a_whole_document_over_the_limit_is_refused(critic: Critic) -> None:
    size = PLAN_B.stat().st_size
    assert critic("verify", "--max-bytes", str(size), PLAN_B).status == 0
    said = critic("verify", "--max-bytes", str(size - 1), PLAN_B)
    assert (said.status, said.out) == (2, "")
    assert f"over the limit of {size - 1} bytes" in said.err


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "many"])
def test_a_limit_below_one_byte_is_misuse(critic: Critic, limit: str) -> None:
    said = critic("verify", f"--max-bytes={limit}", PLAN_B)
    assert (said.status, said.out) == (2, "")
    assert "argument --max-bytes: " in said.err


# --- files that cannot be read ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.json", "no such file"),
        ("folder", "it is a directory: name a file"),
        ("file.json/below", "ot a directory"),
        ("x" * 300, "too long"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_file_that_cannot_be_read_is_reported_and_the_rest_still_runs(
    critic: Critic, tmp_path: Path, name: str, words: str, form: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file.json").touch()
    said = critic("verify", "--format", form, tmp_path / name, PLAN_B)
    assert said.status == 2
    if form == "text":
        assert said.out == f"{PLAN_B}: ok: 2 steps, 2 required outputs covered\n"
        assert said.err.count("\n") == 1
        assert words in said.err
        return
    assert said.err == ""
    answer, verdict = read(said.lines)
    assert verdict == GOOD_SAID
    assert answer["error"]["path"] == ""
    assert words in answer["error"]["message"]


def test_a_file_that_one_may_not_read(
    critic: Critic, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.json"
    secret.write_bytes(GOOD)
    opened = Path.open

    def guarded(path: Path, *args: Any, **options: Any) -> Any:
        if path == secret:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", guarded)
    said = critic("verify", secret, PLAN_B)
    assert said.status == 2
    assert said.err == f"{secret}: invalid input: it may not be read or written by this user\n"
    assert said.lines == [f"{PLAN_B}: ok: 2 steps, 2 required outputs covered"]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no /proc here")
@pytest.mark.parametrize("way", [(), ("--lines",)])
def test_a_file_that_fails_while_it_is_read(critic: Critic, way: tuple[str, ...]) -> None:
    said = critic("verify", *way, "--format", "json", "/proc/self/mem", PLAN_B)
    assert said.status == 2
    assert read(said.lines)[0] == {
        "error": {"path": "", "message": "the disk reported an input/output error"}
    }


@pytest.mark.parametrize(
    "data", [bytes(range(256)), bytes(range(255, 0, -1)) * 20, b"\0" * 100, b"PK\x03\x04"]
)
def test_a_binary_file_is_refused_in_one_line(critic: Critic, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "data.json").write_bytes(data)
    said = critic("verify", tmp_path / "data.json")
    assert (said.status, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert is_safe(said.err.removesuffix("\n"))
