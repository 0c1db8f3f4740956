"""New and resumed sessions: no change becomes a base unless it was reviewed or accepted."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.loops import code as front
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.session_base import BaseLost, base_folder, bases_folder, newest_base
from harness.loops.code.session_files import SessionRunning, SessionWriter, load
from harness.loops.code.session_lines import GateRules, SessionEnd, SessionResumed
from harness.loops.code.session_opening import UnreviewedChanges, open_session, resume_session
from harness.loops.code.session_recorder import CodeLoopJob
from tests.harness.loops.code.scratch import (
    DONE,
    MORE,
    WRITES,
    Collector,
    Ended,
    asked,
    git,
    lines_of,
    python,
    repository,
    run_loop,
    says,
)

pytestmark = pytest.mark.slow

TAMPERS = python(
    "place = pathlib.Path('tests/test_a.py')\nplace.exists() and place.write_text('assert True')\n"
    "pathlib.Path('made.txt').write_text('x')"
)

TAMPERS_ONCE = python(
    "once = pathlib.Path('../once')\n"
    "once.exists() or pathlib.Path('tests/test_a.py').write_text('assert True')\nonce.touch()"
)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return repository(tmp_path / "r", {"tests/test_a.py": "assert False\n", "a.txt": "a\n"})


def start(repo: Path, **given: Any) -> Ended:
    return asyncio.run(run_loop(repo, **{"critic": says(DONE), "max_iterations": 1, **given}))


def resume(repo: Path, ended: Ended, **given: Any) -> SessionEnd:
    place = repo.parent / "sessions"
    with resume_session(ended.session.start.session, sessions=place, **given) as loop:
        return asyncio.run(loop.run())


def reload(repo: Path, ended: Ended) -> Any:
    return load(repo.parent / "sessions", ended.session.start.session)


def refused_session(repo: Path) -> Ended:
    """Run a session that changes a protected file and ends at its limit."""
    ended = start(repo, actor=TAMPERS, protected=("tests/",))
    assert ended.end.outcome == "max_iterations_reached"
    return ended


# --- a new session ----------------------------------------------------------------------------


def test_the_same_command_again_does_not_make_the_refused_change_its_base(repo: Path) -> None:
    ended = refused_session(repo)
    with pytest.raises(UnreviewedChanges) as caught:
        refused_session(repo)
    session = ended.session.start.session
    assert f"`critic loop --resume {session}`" in str(caught.value)
    assert "--accept-unreviewed" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(list((repo.parent / "sessions").iterdir())) == 1


@pytest.mark.parametrize("folder", ["tests", "new"])
def test_a_new_session_is_refused_from_any_folder_of_the_work_tree(repo: Path, folder: str) -> None:
    refused_session(repo)
    (repo / folder).mkdir(exist_ok=True)
    with pytest.raises(UnreviewedChanges):
        start(repo / folder)


def test_a_new_session_is_refused_after_a_crash_without_an_end(repo: Path) -> None:
    refused_session(repo)
    (place,) = (repo.parent / "sessions").iterdir()
    place.write_bytes(place.read_bytes().splitlines(keepends=True)[0])
    with pytest.raises(UnreviewedChanges):
        start(repo)


def test_neither_after_the_record_was_removed(repo: Path) -> None:
    refused_session(repo)
    shutil.rmtree(repo.parent / "sessions")
    with pytest.raises(UnreviewedChanges):
        start(repo)


def test_neither_after_the_change_was_committed(repo: Path) -> None:
    refused_session(repo)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "x")
    with pytest.raises(UnreviewedChanges):
        start(repo)


def test_a_description_that_cannot_be_read_is_not_a_way_around(repo: Path) -> None:
    refused_session(repo)
    (place,) = bases_folder(repo).glob("*/base.json")
    place.write_text("{}")
    with pytest.raises(UnreviewedChanges, match=r"cannot be read .*--accept-unreviewed"):
        start(repo)
    assert start(repo, accept_unreviewed=True).session.start.accepted_unreviewed


OTHER_TOPS = {
    "above": (
        "import shutil; shutil.rmtree('.git'); subprocess.run(['git', 'init', '-q', '..'])",
        "",
    ),
    "below": ("subprocess.run(['git', 'init', '-q', 'tests'])", "tests"),
    "set": ("subprocess.run(['git', 'config', 'core.worktree', '../tests'])", "tests"),
}


@pytest.mark.parametrize("name", ["above", "below", "set"])
def test_neither_after_the_actor_gave_the_work_tree_another_top(repo: Path, name: str) -> None:
    code, folder = OTHER_TOPS[name]
    change = "pathlib.Path('tests/test_a.py').write_text('assert True')\n"
    first = start(repo, actor=python(change + code), protected=("tests/",))
    assert first.end.outcome == "max_iterations_reached"
    with pytest.raises(UnreviewedChanges, match=first.session.start.session):
        start(repo / folder)
    accepted = start(repo / folder, accept_unreviewed=True)
    assert accepted.session.start.accepted_session == first.session.start.session
    assert newest_base(repo) is None


def test_accepted_changes_are_the_base_and_the_record_says_whose(repo: Path) -> None:
    first = refused_session(repo)
    second = start(repo, accept_unreviewed=True, actor=("true",))
    assert second.end.outcome == "success"
    assert second.session.start.accepted_unreviewed
    assert second.session.start.accepted_session == first.session.start.session
    third = start(repo)
    assert third.end.outcome == "success"
    assert not third.session.start.accepted_unreviewed


def test_files_put_back_as_they_were_need_no_review(repo: Path) -> None:
    refused_session(repo)
    git(repo, "checkout", "-q", ".")
    git(repo, "clean", "-qfd")
    assert start(repo).end.outcome == "success"


def test_a_success_settles_what_came_before_and_keeps_no_base(repo: Path) -> None:
    assert start(repo).end.outcome == "success"
    assert list(bases_folder(repo).iterdir()) == []
    assert start(repo, actor=("true",)).end.outcome == "success"


def test_one_base_is_kept_for_each_work_tree(repo: Path, tmp_path: Path) -> None:
    refused_session(repo)
    other = repository(tmp_path / "other")
    assert start(other, max_iterations=1, critic=says(MORE)).end.outcome != "success"
    last = start(repo, accept_unreviewed=True, critic=says(MORE))
    assert [place.name for place in bases_folder(repo).iterdir()] == [last.session.start.session]
    assert newest_base(other) is not None


def test_a_session_that_could_not_begin_leaves_the_earlier_base(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = refused_session(repo)

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("harness.loops.code.session_opening.keep_base", full)
        with pytest.raises(OSError, match="No space"):
            start(repo, accept_unreviewed=True)
    kept = newest_base(repo)
    assert kept is not None
    assert kept.session == first.session.start.session


# --- a resumed session ------------------------------------------------------------------------


def test_a_resumed_session_judges_the_whole_diff_since_its_first_base(repo: Path) -> None:
    ended = refused_session(repo)
    end = resume(repo, ended, max_iterations=2)
    assert (end.outcome, end.iterations) == ("max_iterations_reached", 2)
    first, second = reload(repo, ended).iterations
    assert [refusal.kind for refusal in second.refusals] == ["protected_path_changed"]
    assert first.diff == second.diff


def test_it_succeeds_once_the_protected_file_is_as_it_was(repo: Path) -> None:
    ended = start(repo, actor=TAMPERS_ONCE, protected=("tests/",))
    with pytest.raises(CodeLoopError, match=r"used up its limit .*--max-iterations 2"):
        resume(repo, ended)
    (repo / "tests/test_a.py").write_text("assert False\n")
    end = resume(repo, ended, max_iterations=2)
    assert (end.outcome, end.iterations) == ("success", 2)


def test_it_goes_on_with_task_settings_feedback_and_numbers(repo: Path) -> None:
    ended = start(repo, critic=says(MORE, DONE), max_files=9)
    listener = Collector()
    end = resume(repo, ended, max_iterations=3, listener=listener)
    assert (end.outcome, end.iterations) == ("success", 2)
    session = reload(repo, ended)
    assert [turn.number for turn in session.iterations] == [1, 2]
    assert session.start == ended.session.start
    assert (session.max_iterations, session.state) == (3, "success")
    assert "feedback given: go on" in asked(repo)[1]
    first = listener.events[0]
    assert (first.recorded_iterations, first.last_iteration, first.seq) == (1, 3, 1)
    assert list(bases_folder(repo).iterdir()) == []


def test_settings_of_the_repository_are_those_of_the_first_base(repo: Path) -> None:
    ended = start(repo, actor=("git", "config", "core.pager", "evil"))
    assert ended.end.outcome == "max_iterations_reached"
    with pytest.raises(UnreviewedChanges):
        start(repo, actor=("true",))
    resume(repo, ended, max_iterations=2)
    assert [
        refusal.kind for turn in reload(repo, ended).iterations for refusal in turn.refusals
    ] == ["protected_path_changed"] * 2


@pytest.mark.parametrize("lines", [1, 2])
def test_a_crash_can_be_resumed_behind_the_last_whole_line(repo: Path, lines: int) -> None:
    ended = start(repo, critic=says(MORE, DONE))
    (place,) = (repo.parent / "sessions").iterdir()
    whole = place.read_bytes().splitlines(keepends=True)
    place.write_bytes(b"".join(whole[:lines]) + whole[lines][:-9])
    assert resume(repo, ended, max_iterations=2).outcome == "success"
    session = reload(repo, ended)
    assert [turn.number for turn in session.iterations] == [*range(1, lines + 1)]
    assert session.start == ended.session.start


def test_ignore_rules_and_links_are_those_of_the_first_base(repo: Path) -> None:
    (repo / ".gitignore").write_text("cache/\n")
    (repo / "link").symlink_to("tests")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "rules")
    actor = python(
        "name = pathlib.Path('.gitignore'); name.write_text('cache/\\nsecret\\n')\n"
        "pathlib.Path('secret').write_text('x'); link = pathlib.Path('link')\n"
        "link.is_symlink() and link.unlink()\n"
        "pathlib.Path('tests/test_a.py').write_text('')"
    )
    ended = start(repo, actor=actor, protected=("link/",))
    assert [refusal.kind for turn in ended.session.iterations for refusal in turn.refusals] == [
        "protected_path_changed"
    ]
    resume(repo, ended, max_iterations=2)
    first, second = reload(repo, ended).iterations
    assert "secret" in [file.path for file in second.diff.files]
    assert first.refusals == second.refusals


def forge_description(kept: Path) -> None:
    place = kept / "base.json"
    place.write_text(place.read_text().replace('"exclude": "', '"exclude": "*\\n'))


def forge_object(kept: Path) -> None:
    for place in (kept / "git" / "objects").glob("??/*"):
        other = next(other for other in place.parent.parent.glob("??/*") if other != place)
        place.chmod(0o600)
        place.write_bytes(other.read_bytes())
        return


@pytest.mark.parametrize(
    ("forge", "why"),
    [
        (shutil.rmtree, "is not kept any more"),
        (forge_description, "is not the one on record"),
        (forge_object, "cannot be restored: git fsck"),
        (lambda kept: shutil.rmtree(kept / "git"), "cannot be restored: git"),
    ],
)
def test_a_base_that_is_gone_or_changed_is_refused_in_one_line(
    repo: Path, forge: Any, why: str
) -> None:
    ended = refused_session(repo)
    forge(base_folder(repo, ended.session.start.session))
    with pytest.raises(BaseLost, match=why) as caught:
        resume(repo, ended, max_iterations=2)
    assert "\n" not in str(caught.value)
    assert len(reload(repo, ended).iterations) == 1


def test_a_session_whose_gate_was_edited_on_record_is_not_resumed(repo: Path) -> None:
    ended = refused_session(repo)
    (place,) = (repo.parent / "sessions").iterdir()
    place.write_text(place.read_text().replace('"protected":["tests/"]', '"protected":["docs/"]'))
    assert reload(repo, ended).start.gate.protected == ("docs/",)
    with pytest.raises(BaseLost, match="was changed: review the changes yourself"):
        resume(repo, ended, max_iterations=2)


def test_an_end_that_an_actor_could_write_is_not_a_review(repo: Path) -> None:
    """Records of sessions may be kept in the work tree itself."""
    change = "pathlib.Path('tests/test_a.py').write_text('assert True')"
    records = repo / "records"
    job = CodeLoopJob(
        task="make it so",
        folder=repo,
        actor=python(change),
        critic=says(DONE),
        max_iterations=1,
        timeout=20,
        gate=GateRules(protected=("tests/",), timeout=20),
    )
    with open_session(job, sessions=records) as loop:
        assert asyncio.run(loop.run()).outcome == "max_iterations_reached"
    (place,) = records.iterdir()
    place.write_text(place.read_text().replace('"max_iterations_reached"', '"success"'))
    with pytest.raises(UnreviewedChanges), open_session(job, sessions=records):
        pass


def test_a_session_is_not_resumed_after_a_newer_one_accepted_its_changes(repo: Path) -> None:
    ended = refused_session(repo)
    start(repo, accept_unreviewed=True, critic=says(MORE))
    with pytest.raises(BaseLost, match="is not kept any more"):
        resume(repo, ended, max_iterations=2)


def test_a_session_that_succeeded_or_runs_is_not_resumed(repo: Path) -> None:
    ended = start(repo)
    with pytest.raises(CodeLoopError, match="ended in success: start a new one"):
        resume(repo, ended)
    session = ended.session.start.session
    with (
        SessionWriter(repo.parent / "sessions", session, resume=True),
        pytest.raises(SessionRunning, match="is running: wait until it ends"),
    ):
        resume(repo, ended)


def test_an_interrupted_iteration_does_not_count_towards_the_limit(repo: Path) -> None:
    slow = python("import time; print('so far', flush=True); time.sleep(60)")
    ended = start(repo, actor=slow, time_limit=1.0)
    assert (ended.end.outcome, ended.end.iterations) == ("time_limit_reached", 1)
    listener = Collector()
    end = resume(repo, ended, listener=listener)
    assert (end.outcome, end.iterations) == ("time_limit_reached", 2)
    assert listener.events[0].last_iteration == 2


def test_the_line_of_a_resumption_is_read_back(repo: Path) -> None:
    ended = start(repo, critic=says(MORE, DONE))
    resume(repo, ended, max_iterations=2)
    (place,) = (repo.parent / "sessions").iterdir()
    kinds = [entry["type"] for entry in lines_of(place)]
    assert kinds == [
        *("session_start", "iteration", "session_end"),
        *("session_resumed", "iteration", "session_end"),
    ]
    assert SessionResumed.model_fields.keys() == lines_of(place)[3].keys()
    assert ended.session.start.actor == WRITES


def test_the_front_is_enough_to_run_a_session_and_to_read_it(repo: Path) -> None:
    job = front.CodeLoopJob(
        task="make it so",
        folder=repo,
        actor=WRITES,
        critic=says(MORE, DONE),
        max_iterations=1,
        timeout=20.0,
        gate=front.GateRules(timeout=20.0),
    )
    with front.open_session(job) as loop:
        assert asyncio.run(loop.run()).outcome == "max_iterations_reached"
    with front.resume_session(loop.session, max_iterations=2) as loop:
        end = asyncio.run(loop.run())
    assert front.load(front.sessions_folder(), loop.session).end == end
    assert end.outcome == "success"
