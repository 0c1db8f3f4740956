"""The pytest plugin: case files and logs as tests, renewing, and the marker for laws."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from harness.cases import Case, Must, parse_case, render_case, renewed
from harness.log.log_errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.testing._laws.verify_laws import OF_SOURCED
from harness.testing.laws import LAWS
from tests.harness.log.decisions import body_of, filled, meddle, put_body, query
from tests.support.examples import good_proposal, refused_proposal
from tests.support.paths import ROOT
from tests.support.postgres import PostgresServer

pytest_plugins = ["pytester"]

PLUGIN = "plan_critic_entry.pytest_plugin"
BESIDE = ROOT / "harness" / "top-level"
INSTALLED = any(one.value == PLUGIN for one in entry_points(group="pytest11"))
# Found as other plugins are, by its entry point.
OURS = ("-p", "plan-critic" if INSTALLED else PLUGIN)
REFUSED: Any = {"kind": "missing_evidence", "offending_step": 1}
HEAVY = ("pydantic", "hypothesis", "critic", "evals", "harness", "sqlite3", "orjson")

# What frameworks bring would be loaded and compiled for each test.
LEAN = ("--disable-plugin-autoload", "-p", "no:cacheprovider")

Pytest = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester) -> Pytest:
    """Return a function that runs pytest with the plugin in a separate folder."""

    def running(*args: str) -> pytest.RunResult:
        return pytester.runpytest_inprocess(*OURS, *LEAN, *args)

    return running


@pytest.fixture
def cases(pytester: pytest.Pytester) -> Path:
    """Return a folder of two cases that hold, one of them in a subfolder."""
    root = pytester.mkdir("cases")
    (root / "below").mkdir()
    written(root / "good.json", good_proposal(), ok=True)
    written(root / "below" / "bad.json", refused_proposal(), ok=False, **REFUSED)
    return root


def written(path: Path, proposal: Any, **must: Any) -> Case:
    """Write a case file with the present outcome as its `expect`."""
    case = Case(title=path.stem, command="verify", input=proposal, must=Must(**must))
    path.write_bytes(render_case(renewed(case)))
    return case


def outdated(path: Path) -> bytes:
    """Make the case expect what is not so; returns what the file held before."""
    before = path.read_bytes()
    case = parse_case(before)
    assert case.expect is not None
    assert case.expect.verdict is not None
    wrong = {**case.expect.verdict, "reasons": ["out of date"]}
    path.write_bytes(render_case(case.model_copy(update={"expect": {"verdict": wrong}})))
    return before


def shown(result: pytest.RunResult) -> str:
    return "\n".join([*result.outlines, *result.errlines])


# Loading.


def test_loading_the_plugin_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n")
    program = (
        "import sys, pytest\n"
        f"code = pytest.main(['-q', '-p', '{PLUGIN}', '-p', 'no:cacheprovider', 'test_one.py'])\n"
        f"assert '{PLUGIN}' in sys.modules\n"
        f"heavy = [name for name in {HEAVY} if name in sys.modules]\n"
        "sys.exit(f'imports {heavy}' if heavy else code)\n"
    )
    environ = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(BESIDE),
    }
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_without_options_it_does_nothing(run: Pytest, cases: Path, pytester: Any) -> None:
    pytester.makepyfile("def test_one(): pass")
    run().assert_outcomes(passed=1)


# Case files.


def test_every_case_file_below_a_folder_is_a_test(run: Pytest, cases: Path) -> None:
    hidden = cases / ".old"
    hidden.mkdir()
    (hidden / "broken.json").write_text("{}")
    (cases / "notes.txt").write_text("not a case")
    result = run("-v", "--critic-replay", "cases")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines_random(
        ["cases/good.json::case PASSED*", "cases/below/bad.json::case PASSED*"]
    )


def test_paths_may_be_several_and_overlap(run: Pytest, cases: Path) -> None:
    args = [f"--critic-replay={path}" for path in ("cases/good.json", "cases", "cases/below")]
    run(*args).assert_outcomes(passed=2)
    run("-k", "good", *args).assert_outcomes(passed=1, deselected=1)


def test_it_runs_beside_the_tests_of_the_project(run: Pytest, cases: Path, pytester: Any) -> None:
    pytester.makepyfile("def test_one(): pass")
    run("--critic-replay", "cases").assert_outcomes(passed=3)


def test_another_verdict_is_shown_as_a_diff(run: Pytest, cases: Path) -> None:
    outdated(cases / "good.json")
    result = run("--critic-replay", "cases")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "good",
            "--- expected",
            "+++ found",
            '*-*"out of date"*',
            '*+*"2 steps, 2 required outputs covered"*',
            "run with --critic-update to renew what it expects, if that is right",
        ]
    )
    assert "Traceback" not in shown(result)
    assert "replaying.py" not in shown(result)


def test_a_case_that_expects_nothing_yet_fails(run: Pytest, cases: Path) -> None:
    case = Case(title="new", command="verify", input=good_proposal())
    (cases / "new.json").write_bytes(render_case(case))
    run("--critic-replay", "cases/new.json").assert_outcomes(failed=1)
    run("--critic-replay", "cases/new.json", "--critic-update").assert_outcomes(passed=1)
    run("--critic-replay", "cases/new.json").assert_outcomes(passed=1)


@pytest.mark.parametrize("content", ["{}", "", "[1]", '{"title": "x", "title": "y"}', "\x00\xff"])
def test_a_json_file_that_is_not_a_case_is_a_clear_failure(
    run: Pytest, pytester: pytest.Pytester, content: str
) -> None:
    (pytester.path / "odd.json").write_bytes(content.encode("latin-1"))
    result = run("--critic-replay", "odd.json")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["not a case file: *"])
    assert "Traceback" not in shown(result)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("notes.txt", "notes.txt: is neither a case file (*.json, *.toml) nor a decision log"),
        ("missing", "missing: no such file or directory"),
        (
            "empty",
            "empty: this folder holds neither a case file (*.json, *.toml) nor a decision log",
        ),
    ],
)
def test_a_path_with_nothing_to_replay_is_a_clear_error(
    run: Pytest, pytester: pytest.Pytester, path: str, told: str
) -> None:
    (pytester.path / "notes.txt").write_text("SQLite format 3\x00 in name only")
    pytester.mkdir("empty")
    result = run("--critic-replay", path)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert told in shown(result)
    assert "Traceback" not in shown(result)


# Renewing.


def test_update_restores_the_file_byte_for_byte(run: Pytest, cases: Path) -> None:
    path = cases / "below" / "bad.json"
    right = cases / "good.json"
    before, written = outdated(path), right.stat().st_mtime_ns
    result = run("--critic-replay", "cases", "--critic-update")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*plan critic*", "updated cases/below/bad.json"])
    assert path.read_bytes() == before
    assert right.stat().st_mtime_ns == written, "what was right is not written again"
    again = run("--critic-replay", "cases", "--critic-update")
    again.stdout.no_fnmatch_line("updated *")


def test_update_never_touches_must(run: Pytest, cases: Path) -> None:
    path = cases / "good.json"
    document = json.loads(path.read_bytes())
    document["must"] = {"ok": False, "kind": "loop_guard"}
    path.write_text(json.dumps(document))
    before = path.read_bytes()
    result = run("--critic-replay", "cases", "--critic-update")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["not renewed: must be {*loop_guard*}, is {*true*}"])
    assert path.read_bytes() == before


def test_a_file_that_cannot_be_read_or_written_is_a_failure_with_a_message(
    run: Pytest, monkeypatch: pytest.MonkeyPatch, cases: Path
) -> None:
    path = cases / "below" / "bad.json"
    outdated(path)
    before = path.read_bytes()

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    # The run is in this process, so that what is replaced must be put back.
    monkeypatch.setattr("harness.cases.replace_file", refuse)
    monkeypatch.setattr("harness.testing._pytest.items.is_log", refuse)
    result = run("--critic-replay", "cases", "--critic-update")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["not renewed: *Permission denied*bad.json*"])
    assert "Traceback" not in shown(result)
    assert path.read_bytes() == before


def test_a_case_may_name_a_policy(run: Pytest, cases: Path) -> None:
    path = cases / "good.json"
    document = json.loads(path.read_bytes())
    parts = document["input"]
    manifests = parts["compiled"]["manifests"]
    policy = {
        "guard": {"safety_mode": "destructive"},
        "spec": parts.pop("spec"),
        "tool": manifests.pop("tool_manifest"),
    }
    (cases.parent / "critic.json").write_text(json.dumps(policy))
    path.write_text(json.dumps({**document, "policy": "../critic.json"}))
    run("--critic-replay", "cases").assert_outcomes(passed=2)
    path.write_text(json.dumps({**document, "policy": "../gone.toml"}))
    result = run("--critic-replay", "cases")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["line * /policy: *gone.toml: no such file*"])
    assert "Traceback" not in shown(result)


def test_the_title_of_a_hostile_case_is_escaped(run: Pytest, cases: Path) -> None:
    path = cases / "below" / "bad.json"
    outdated(path)
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, "title": "\x1b[31mred"}))
    result = run("--critic-replay", "cases")
    result.assert_outcomes(passed=1, failed=1)
    assert "\x1b" not in shown(result)
    result.stdout.fnmatch_lines(["*u001b?31mred*"])


def test_update_needs_something_to_update(run: Pytest) -> None:
    result = run("--critic-update")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--critic-update rewrites what --critic-replay PATH names: add it" in shown(result)


@pytest.mark.slow
def test_it_works_under_xdist(pytester: pytest.Pytester, cases: Path) -> None:
    before = {}
    for number in range(4):
        path = cases / f"case-{number}.json"
        written(path, good_proposal(), ok=True)
        before[path] = outdated(path)
    must = cases / "contradicted.json"
    wrong = json.loads((cases / "good.json").read_bytes()) | {"must": {"ok": False}}
    must.write_text(json.dumps(wrong))
    args = (*LEAN, "-p", "xdist", "--critic-replay", "cases", "-n", "2", "--critic-update")
    result = pytester.runpytest_subprocess(*OURS, *args)
    result.assert_outcomes(passed=6, failed=1)
    result.stdout.fnmatch_lines([f"updated cases/{path.name}" for path in before])
    assert {path: path.read_bytes() for path in before} == before
    assert not [path for path in cases.iterdir() if path.name.startswith(".")]


# Decision logs.


def test_every_record_of_a_log_is_a_test(run: Pytest, pytester: pytest.Pytester) -> None:
    filled(pytester.path / "audit.db", 5)
    result = run("-v", "--critic-replay", "audit.db")
    result.assert_outcomes(passed=5)
    result.stdout.fnmatch_lines(["audit.db::record-1 PASSED*", "audit.db::record-5 PASSED*"])


@pytest.mark.slow
def test_each_test_session_of_a_process_replays_anew(tmp_path: Path) -> None:
    log, empty = tmp_path / "audit.db", tmp_path / "empty"
    filled(log, 2).close()
    empty.mkdir()
    script = (
        "import shutil, sys, pytest\n"
        "log, other, empty = sys.argv[1:]\n"
        "asked = ['-q', '-p', 'plan-critic', '-p', 'no:cacheprovider', '--rootdir', empty, empty]\n"
        "first = pytest.main([*asked, '--critic-replay', log])\n"
        "shutil.copy(other, log)\n"
        "second = pytest.main([*asked, '--critic-replay', log])\n"
        "assert (first, second) == (0, 1), (first, second)\n"
    )
    other = tmp_path / "other.db"
    filled(other, 2).close()
    put_body(other, 1, body_of(other, 1).replace(b"trace_1", b"trace_9"))
    done = subprocess.run(
        [sys.executable, "-c", script, str(log), str(other), str(empty)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_logs_are_found_in_folders_beside_cases(run: Pytest, cases: Path) -> None:
    filled(cases / "audit", 2)
    run("--critic-replay", "cases").assert_outcomes(passed=4)


def test_a_record_that_was_tampered_with_fails(run: Pytest, pytester: pytest.Pytester) -> None:
    path = pytester.path / "audit.db"
    filled(path, 4)
    put_body(path, 2, body_of(path, 2).replace(b'"trace_2"', b'"trace_7"'))
    result = run("--critic-replay", "audit.db")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["record 2: tampered", "  its content has hash *"])
    assert "Traceback" not in shown(result)


def test_missing_records_are_a_test_as_well(run: Pytest, pytester: pytest.Pytester) -> None:
    path = pytester.path / "audit.db"
    filled(path, 5)
    meddle(path, ("DELETE FROM records WHERE seq IN (2, 3)", ()))
    result = run("--critic-replay", "audit.db")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(["record 2: incomplete", "  records 2 to 3 are missing"])


def test_a_log_that_breaks_off_says_so(run: Pytest, pytester: pytest.Pytester) -> None:
    path = pytester.path / "audit.db"
    filled(path, 60)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // 4096 * 4096])
    result = run("--critic-replay", "audit.db")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*audit.db: *restore the log from a copy*"])
    assert "Traceback" not in shown(result)


def test_an_empty_log_is_a_failure(run: Pytest, cases: Path) -> None:
    SqlDecisionLog.open(cases / "audit.db").close()
    result = run("--critic-replay", "cases")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["the log has no records, so nothing was replayed: record *"])


def test_a_log_whose_inputs_cannot_be_read_replays_nothing_and_says_so(
    run: Pytest, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage = "the inputs are damaged: restore the log from a copy"

    def damaged(*_: Any) -> None:
        raise LogDamaged(damage)

    filled(pytester.path / "audit.db", 40)
    monkeypatch.setattr(SqlDecisionLog, "inputs", damaged)
    result = run("--critic-replay", "audit.db")
    result.assert_outcomes(failed=40)
    result.stdout.fnmatch_lines([f"record-40 was not replayed: {damage}"])
    assert "Traceback" not in shown(result)


@pytest.mark.parametrize("start", [0, 68])
def test_a_log_whose_header_was_damaged_is_not_passed_over(
    run: Pytest, cases: Path, start: int
) -> None:
    path = cases / "audit.db"
    filled(path, 2)
    content = bytearray(path.read_bytes())
    content[start : start + 4] = bytes(4)
    path.write_bytes(content)
    result = run("--critic-replay", "cases")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    advice = "keep the file as evidence*" if start else "it is not a decision log: choose another*"
    result.stdout.fnmatch_lines([f"*{advice}"])
    assert "Traceback" not in shown(result)


def test_a_log_whose_tables_were_changed_is_a_failure(
    run: Pytest, pytester: pytest.Pytester
) -> None:
    path = pytester.path / "audit.db"
    filled(path, 2)
    query(path, "CREATE TABLE extra (a)")
    result = run("--critic-replay", "audit.db")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["the log is damaged: table extra is unexpected: keep the file *"])


# The marker.

LAWS_OF_A_MANIFEST = """
    import pytest
    from hypothesis import settings
    from critic import CompiledContext, DecisionSpec, Manifests, RunContext, Verified, verify

    MANIFEST = CompiledContext(manifests=Manifests(tool_manifest=(), evidence_manifest=()))
    SPEC = DecisionSpec(id="d", required_outputs=())
    CONTEXT = RunContext(trace_id="t", safety_mode="read_only")
    SOME = settings(max_examples=2, database=None, deadline=None)

    def trusting(ctx, compiled, spec, plan):
        return verify(ctx, compiled, spec, plan) or Verified(reasons=("trusted",))
"""


# Its spec has no provenance.
LAWS_HERE = len(LAWS) - len(OF_SOURCED)


def test_the_marker_makes_a_test_of_each_law(run: Pytest, pytester: pytest.Pytester) -> None:
    marked = """
    @pytest.mark.critic_laws(MANIFEST, SPEC, CONTEXT, settings=SOME)
    def test_laws(critic_law):
        critic_law()
    """
    pytester.makepyfile(LAWS_OF_A_MANIFEST + marked)
    result = run("-v", "--strict-markers")
    result.assert_outcomes(passed=LAWS_HERE)
    result.stdout.fnmatch_lines(["*::test_laws[[]totality[]] PASSED*"])


def test_a_policy_that_cannot_be_used_is_explained_without_a_traceback(
    run: Pytest, pytester: pytest.Pytester
) -> None:
    (pytester.path / "critic.toml").write_text("[spec]\nid = 7\n")
    marked = """
    @pytest.mark.critic_laws(policy="critic.toml")
    def test_laws(critic_law):
        critic_law()
    """
    pytester.makepyfile(LAWS_OF_A_MANIFEST + marked)
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["critic_laws: *", "critic.toml:*: /spec/id: *"])
    result.stdout.no_fnmatch_line("*During handling*")
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_broken_law_names_itself(run: Pytest, pytester: pytest.Pytester) -> None:
    marked = """
    @pytest.mark.critic_laws(MANIFEST, SPEC, CONTEXT, settings=SOME, verify=trusting)
    def test_laws(critic_law):
        critic_law()
    """
    pytester.makepyfile(LAWS_OF_A_MANIFEST + marked)
    result = run("-k", "near_misses")
    result.assert_outcomes(failed=1, deselected=LAWS_HERE - 1)
    result.stdout.fnmatch_lines(["*LawBroken: law near_misses_are_refused is broken: A plan*"])


def test_the_marker_without_the_fixture_is_an_error(run: Pytest, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
    import pytest

    @pytest.mark.critic_laws(None, None, None)
    def test_laws() -> None:
        pass
    """)
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*critic_laws(...) needs the fixture critic_law*"])


def test_the_fixture_without_the_marker_is_an_error(run: Pytest, pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_laws(critic_law): pass")
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*critic_law needs the marker critic_laws(...)*"])


@pytest.mark.parametrize("level", ["class", "module"])
def test_the_marker_on_a_class_or_module_reaches_each_test(
    run: Pytest, pytester: pytest.Pytester, level: str
) -> None:
    marker = "pytest.mark.critic_laws(MANIFEST, SPEC, CONTEXT, settings=SOME)"
    on_class = f"@{marker}" if level == "class" else ""
    on_module = f"pytestmark = {marker}" if level == "module" else ""
    marked = f"""
    {on_module}
    {on_class}
    class TestManifest:
        def test_laws(self, critic_law):
            critic_law()

        def test_without(self):
            pass
    """
    pytester.makepyfile(LAWS_OF_A_MANIFEST + marked)
    result = run("-k", "totality or test_without")
    result.assert_outcomes(passed=1, errors=1, deselected=LAWS_HERE - 1)
    result.stdout.fnmatch_lines(["*critic_laws(...) needs the fixture critic_law*"])


def test_the_marker_on_a_unittest_class_is_an_error(run: Pytest, pytester: Any) -> None:
    pytester.makepyfile("""
    import unittest, pytest

    @pytest.mark.critic_laws(None, None, None)
    class TestManifest(unittest.TestCase):
        def test_laws(self):
            pass
    """)
    result = run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*critic_laws(...) needs the fixture critic_law*"])


NEVER_CALLED = {
    "an argument": ("", "def test_laws(critic_law): pass"),
    "usefixtures": ("@pytest.mark.usefixtures('critic_law')", "def test_laws(): pass"),
    "asserted": ("", "def test_laws(critic_law): assert critic_law"),
}


@pytest.mark.parametrize("way", NEVER_CALLED)
def test_a_fixture_that_is_never_called_is_a_failure(
    run: Pytest, pytester: pytest.Pytester, way: str
) -> None:
    asked, function = NEVER_CALLED[way]
    marked = f"""
    @pytest.mark.critic_laws(MANIFEST, SPEC, CONTEXT, settings=SOME)
    {asked}
    {function}
    """
    pytester.makepyfile(LAWS_OF_A_MANIFEST + marked)
    result = run("-k", "totality or determinism")
    result.assert_outcomes(failed=2, deselected=LAWS_HERE - 2)
    result.stdout.fnmatch_lines(["*critic_law was never called, so no law was checked*"])


def test_a_test_that_is_skipped_or_fails_before_the_call_says_only_that(
    run: Pytest, pytester: pytest.Pytester
) -> None:
    marked = """
    @pytest.mark.critic_laws(MANIFEST, SPEC, CONTEXT, settings=SOME)
    @pytest.mark.parametrize("how", [pytest.skip, pytest.fail])
    def test_laws(critic_law, how):
        how("first")
    """
    pytester.makepyfile(LAWS_OF_A_MANIFEST + marked)
    result = run("-k", "totality")
    result.assert_outcomes(skipped=1, failed=1, deselected=2 * (LAWS_HERE - 1))
    result.stdout.no_fnmatch_line("*never called*")


def test_the_fixture_asked_for_by_name_at_run_time_is_an_error(
    run: Pytest, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile("def test_laws(request): request.getfixturevalue('critic_law')()")
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*critic_law must be an argument of a function*"])


def test_every_record_of_a_log_in_postgresql_is_a_test(
    run: Pytest, postgres: PostgresServer
) -> None:
    url = postgres.url(password="hunter2")  # noqa: S106
    filled(url, 4).close()
    result = run("-v", "--critic-replay", url)
    result.assert_outcomes(passed=4)
    assert "::record-4 PASSED" in shown(result)
    assert "hunter2" not in shown(result)
    meddle(url, ("DELETE FROM records WHERE seq = 2", ()))
    result = run("--critic-replay", url)
    result.assert_outcomes(passed=2, failed=2)
    assert "record 2 is missing" in shown(result)
    postgres.disconnect_logs()


@pytest.mark.parametrize("place", ["postgresql://u:hunter2@127.0.0.1:1/x", "mysql://x", "s3://x"])
def test_a_log_at_a_url_that_cannot_be_read_is_a_failure(run: Pytest, place: str) -> None:
    result = run("--critic-replay", place)
    result.assert_outcomes(failed=1)
    assert "hunter2" not in shown(result)
