"""The conformance kit passes right answers, and reports where and how wrong ones differ."""

from pathlib import Path

import pytest

from harness.cases import Command
from tests.assurance.layers.conformance import module
from tests.conformance import engine, second
from tests.conformance.__main__ import differences, main, table
from tests.conformance.compare import Level, decisive, problem
from tests.conformance.kit import Named, Result, check, on_one_line, read_cases
from tests.conformance.serving import Json
from tests.support.paths import CASES, ROOT


@pytest.fixture(scope="module")
def cases() -> list[Named]:
    """Some folders of cases, and all cases that cannot be sent as one line."""
    found = read_cases()
    return [
        one
        for one in found
        if one.name.startswith(("refund/", "consolidate/", "score/cost-"))
        or not on_one_line(one.case.document())
    ]


def _failed(results: list[Result]) -> dict[str, str]:
    return {result.name: result.why for result in results if result.status == "failed"}


@pytest.mark.slow
def test_the_engine_passes_exactly(cases: list[Named]) -> None:
    results = check(module("engine"), cases, Level(strict=True), encoded=True, folder=ROOT)
    assert [result.name for result in results] == [one.name for one in cases]
    assert {result.status for result in results} == {"passed"}


@pytest.mark.slow
def test_the_second_statement_passes_by_what_decides(cases: list[Named]) -> None:
    level = Level(verdicts_only=True)
    assert not _failed(check(module("second"), cases, level, folder=ROOT))
    exact = check(module("second"), cases, Level(), commands=["score"], folder=ROOT)
    assert _failed(exact), "it gives no reasons"


def test_what_cannot_stand_on_a_line_is_skipped_and_counted(cases: list[Named]) -> None:
    results = check(module("engine"), cases, Level(), commands=["verify"], folder=ROOT)
    skipped = {result.name for result in results if result.status == "skipped"}
    verify = [one for one in cases if one.case.command == "verify"]
    others = {one.name for one in verify if not on_one_line(one.case.document())}
    assert skipped == others
    assert len(skipped) > 5


@pytest.mark.parametrize(
    ("document", "fits"),
    [
        (b"{}", True),
        (b"", False),
        (b" \t", False),
        (b"[\n]", False),
        (b"{}\r", False),
        (b'"\xff"', False),
        ('"\u2028"'.encode(), True),
    ],
)
def test_a_document_fits_on_a_line_if_it_is_utf_8_without_line_ends(
    document: bytes, fits: bool
) -> None:
    assert on_one_line(document) is fits


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "command", "says"),
    [
        ("accepts", "verify", '-    "ok": false,'),
        ("rounded", "score", '+          "score": 0.6,'),
        ("nulls", "consolidate", "null"),
        ("lenient", "consolidate", "an error is expected"),
        ("astray", "consolidate", "the error must be at"),
        ("stops", "consolidate", "no answer: the program ended with status 1: out of patience"),
    ],
)
def test_a_wrong_program_fails(
    cases: list[Named], mistake: str, command: Command, says: str
) -> None:
    program = module("wrong", mistake)
    results = check(program, cases, Level(strict=True), commands=[command], folder=ROOT)
    failed = _failed(results)
    assert failed
    assert any(says in why for why in failed.values())


def test_other_reasons_hold_where_only_what_decides_is_compared(cases: list[Named]) -> None:
    program, level = module("wrong", "reworded"), Level(verdicts_only=True)
    assert not _failed(check(program, cases, level, commands=["verify"], folder=ROOT))
    assert _failed(check(program, cases, Level(), commands=["verify"], folder=ROOT))


ANSWERS = {
    b"": "not JSON",
    b"[]": "not a JSON object",
    b'{"error":"x"}': "an error must be",
    b'{"error":{"path":1,"message":"x"}}': "both strings",
    b'{"error":{"path":"","message":"odd"}}': "it is called invalid: odd",
    b'{"ok":true}': "--- expected",
    b'{"ok":1e400}': "no canonical form",
    b'{"ok":null}': "+++ found",
    b'{"ok":99999999999999999999}': "no canonical form",
}


@pytest.mark.parametrize("line", ANSWERS)
def test_an_answer_of_any_shape_is_compared_without_an_exception(
    cases: list[Named], line: bytes
) -> None:
    (case,) = (one.case for one in cases if one.name == "refund/plan-b-verify.json")
    assert ANSWERS[line] in problem(case, line, Level(strict=True))
    assert problem(case, line, Level(verdicts_only=True)) or line == b'{"ok":true}'


@pytest.mark.parametrize("name", ["refund/plan-a-verify.json", "refund/plan-b-score.json"])
def test_an_answer_without_the_shape_of_a_verdict_is_named(cases: list[Named], name: str) -> None:
    (case,) = (one.case for one in cases if one.name == name)
    for line in (b"{}", b'{"ok":false}', b'{"ok":false,"violations":7,"scorecard":[]}'):
        assert "not of the shape" in problem(case, line, Level(verdicts_only=True))


def test_both_implementations_decide_alike_on_the_refund(cases: list[Named]) -> None:
    for one in cases:
        if one.name.startswith("refund/"):
            document = one.case.document()
            whole: Json = engine.answer(one.case.command, document)
            decided = second.answer(one.case.command, document)
            kept = decisive(one.case.command, whole)
            assert decisive(one.case.command, decided) == kept


@pytest.mark.slow
def test_the_table_and_the_exit_status(
    cases: list[Named], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    given = ["--cases", str(CASES / "refund"), "--only", "verify"]
    assert main(["--command", module("engine"), *given]) == 0
    count = sum(one.name.startswith("refund/") and one.case.command == "verify" for one in cases)
    total = capsys.readouterr().out.splitlines()[-1]
    assert total.split() == ["all", str(count), str(count), "0", "0"]
    assert main(["--command", module("wrong", "reworded"), "--show", "1", *given]) == 1
    out = capsys.readouterr().out
    assert "plan-a-verify.json\n  --- expected" in out
    assert "more failed" in out
    assert main(["--command", "/no/such/program", *given]) == 2
    assert main(["--command", " ", *given]) == 2


def test_a_folder_without_cases_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--command", module("engine"), "--cases", str(tmp_path)]) == 1


def test_a_long_difference_is_cut() -> None:
    results = [Result("a/b.json", "failed", "\n".join("x" * 90)), Result("a/c.json", "passed")]
    assert "... 65 lines more" in differences(results, 5)
    assert table(results).splitlines()[1].split() == ["a", "2", "1", "1", "0"]
