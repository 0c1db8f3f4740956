"""What a capture sees: everything that changed on disk, and nothing of the user's is touched."""

import os
import shutil
import zlib
from pathlib import Path

import pytest

from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.git import GitFailed
from harness.loops.code.session_change import Change
from harness.loops.code.workspace import KEPT_DIFF_BYTES, MAX_FILE_BYTES, Workspace, top_of
from tests.harness.loops.code.scratch import git, repository, write
from tests.support.examples import is_safe


def seen(change: Change) -> dict[str, str]:
    return {file.path: file.status for file in change.diff.files}


def text(change: Change) -> str:
    assert change.diff.text is not None
    return change.diff.text


def test_new_committed_staged_and_untracked_files_are_all_one(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {"a": "a\n", "b": "b\n", "c": "c\n", "d": "d\n"})
    write(repo, {"a": "dirty\n", "old": "untracked before\n"})
    with Workspace(repo) as workspace:
        assert seen(workspace.capture()) == {}
        write(repo, {"a": "dirty\nmore\n", "committed": "x\n", "staged": "y\n", "free": "z\n"})
        git(repo, "add", "committed")
        git(repo, "commit", "-qm", "by the actor")
        git(repo, "add", "staged")
        (repo / "b").unlink()
        git(repo, "mv", "c", "moved")
        (repo / "d").unlink()
        (repo / "d").symlink_to("a")
        change = workspace.capture()
    assert seen(change) == {
        "a": "modified",
        "b": "deleted",
        "c": "deleted",
        "committed": "added",
        "d": "type_changed",
        "free": "added",
        "moved": "added",
        "staged": "added",
    }
    assert "+more\n" in text(change)
    assert "rename from c\nrename to moved\n" in text(change)
    assert "old" not in text(change)
    assert "\n+dirty" not in text(change)


def test_nothing_of_the_user_is_touched(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    write(repo, {"a.txt": "staged\n"})
    git(repo, "add", "a.txt")
    write(repo, {"a.txt": "unstaged\n", "new": "n\n"})

    def state() -> tuple[object, ...]:
        kept = {path: path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()}
        return kept, git(repo, "for-each-ref"), git(repo, "stash", "list")

    before = state()
    with Workspace(repo) as workspace:
        write(repo, {"new": "n\nm\n"})
        assert seen(workspace.capture()) == {"new": "modified"}
    assert state() == before


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)])
def test_a_repository_without_a_commit_is_watched(tmp_path: Path, options: tuple[str, ...]) -> None:
    git(tmp_path, "init", "-q", *options)
    write(tmp_path, {"a": "a\n"})
    with Workspace(tmp_path) as workspace:
        write(tmp_path, {"b": "b\n"})
        (tmp_path / "a").unlink()
        assert seen(workspace.capture()) == {"a": "deleted", "b": "added"}


def test_a_linked_work_tree_and_a_folder_below_its_top(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {"sub/a": "a\n"})
    git(repo, "worktree", "add", "-q", "../linked")
    with Workspace(tmp_path / "linked" / "sub") as workspace:
        assert workspace.root == tmp_path / "linked" == top_of(tmp_path / "linked" / "sub")
        write(tmp_path / "linked", {"b": "b\n", "sub/c": "c\n"})
        write(repo, {"elsewhere": "e\n"})
        assert seen(workspace.capture()) == {"b": "added", "sub/c": "added"}


def test_a_conflict_is_as_the_file_is(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    blob = git(repo, "hash-object", "-w", "a.txt").strip()
    entries = "".join(f"100644 {blob} {stage}\ta.txt\n" for stage in (1, 2, 3))
    git(repo, "rm", "-q", "--cached", "a.txt")
    git(repo, "update-index", "--index-info", stdin=entries)
    with Workspace(repo) as workspace:
        assert seen(workspace.capture()) == {}
        write(repo, {"a.txt": "repaired\n"})
        assert seen(workspace.capture()) == {"a.txt": "modified"}


def test_what_git_ignored_at_the_start_stays_out(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {".gitignore": "*.log\n/build/\n", "kept.txt": "k\n"})
    write(repo, {"tracked.log": "t\n", ".git/info/exclude": "mine\n"})
    git(repo, "add", "-f", "tracked.log")
    with Workspace(repo) as workspace:
        write(repo, {"x.log": "x\n", "build/y": "y\n", "mine": "m\n", "tracked.log": "changed\n"})
        assert seen(workspace.capture()) == {"tracked.log": "modified"}


def test_a_rule_written_since_then_hides_nothing(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {".gitignore": "*.log\n", "a.txt": "a\n"})
    with Workspace(repo) as workspace:
        write(
            repo,
            {
                ".gitignore": "*.log\nhidden\n",
                "hidden": "h\n",
                "dir/.gitignore": "*\n",
                "dir/in": "i\n",
                ".git/info/exclude": "excluded\n",
                "excluded": "e\n",
                ".gitattributes": "*.txt filter=same -diff\n",
                "a.txt": "changed\n",
                "fine.log": "f\n",
            },
        )
        git(repo, "config", "filter.same.clean", "printf 'a\\n'")
        git(repo, "config", "core.fsmonitor", "false")
        git(repo, "update-index", "--assume-unchanged", "a.txt")
        change = workspace.capture()
    assert {*seen(change)} == {
        *(".gitignore", "hidden", "dir/.gitignore", "dir/in", "excluded", ".gitattributes"),
        "a.txt",
    }
    assert "+changed\n" in text(change)


def test_what_is_committed_or_staged_is_seen_though_it_is_ignored(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {".gitignore": "*.log\n"})
    write(repo, {"old.log": "o\n", "before.log": "b\n"})
    git(repo, "add", "-f", "before.log")
    git(repo, "commit", "-qm", "before")
    git(repo, "rm", "-q", "--cached", "before.log")
    with Workspace(repo) as workspace:
        assert seen(workspace.capture()) == {}
        write(repo, {"made.log": "m\n", "staged.log": "s\n", "free.log": "f\n"})
        git(repo, "add", "-f", "made.log")
        git(repo, "commit", "-qm", "by the actor")
        git(repo, "rm", "-q", "--cached", "made.log")
        git(repo, "add", "-f", "staged.log")
        assert seen(workspace.capture()) == {"made.log": "added", "staged.log": "added"}


def test_what_a_pattern_names_is_seen_though_it_is_ignored(tmp_path: Path) -> None:
    ignored = ".env\n/data/\n__pycache__/\n*.log\n"
    repo = repository(tmp_path / "r", {".gitignore": ignored, "tests/t.py": "t\n"})
    write(repo, {".env": "e\n"})
    with Workspace(repo, watched=(".env", "data/", "tests/", "*.log", "!data/mine")) as workspace:
        assert seen(workspace.capture()) == {}
        write(repo, {".env": "x\n", "sub/.env": "x\n", "data/a/b": "b\n"})
        write(repo, {"tests/__pycache__/t.pyc": "p\n", "x.log": "x\n"})
        assert seen(workspace.capture()) == {
            ".env": "modified",
            "data/a/b": "added",
            "sub/.env": "added",
        }


def test_a_rule_written_since_then_hides_no_nested_repository(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    with Workspace(repo) as workspace:
        write(repo, {".gitignore": "nest/\n"})
        repository(repo / "nest")
        assert seen(workspace.capture()) == {".gitignore": "added", "nest": "added"}


def test_a_planted_object_hides_nothing(tmp_path: Path) -> None:
    """Git takes an object for what its name says: the work tree of before, by the name of now's."""
    repo = repository(tmp_path / "r")
    before = git(repo, "write-tree").strip()
    entries = zlib.decompress((repo / ".git/objects" / before[:2] / before[2:]).read_bytes())
    with Workspace(repo) as workspace:
        write(repo, {"evil.txt": "e\n"})
        git(repo, "add", "-A")
        now = git(repo, "write-tree").strip()
        place = repo / ".git/objects" / now[:2] / now[2:]
        place.unlink()
        place.write_bytes(zlib.compress(entries))
        assert seen(workspace.capture()) == {"evil.txt": "added"}


def test_a_folder_for_sessions_inside_the_tree_is_not_seen(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    with Workspace(repo, unseen=(repo / "my [sessions] *",)) as workspace:
        write(repo, {"my [sessions] */one.jsonl": "{}\n", "b": "b\n"})
        assert seen(workspace.capture()) == {"b": "added"}


def test_a_binary_file_is_reported_and_counted(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    with Workspace(repo) as workspace:
        (repo / "b.bin").write_bytes(b"\0\n" * 50)
        change = workspace.capture()
    assert "Binary files /dev/null and b/b.bin differ\n" in text(change)
    assert change.diff.lines == 50


def test_text_and_names_that_are_not_utf_8_are_captured(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    with Workspace(repo) as workspace:
        (repo / "latin.txt").write_bytes(b"caf\xe9\n")
        (repo / "tab\tname").write_text("t\n")
        change = workspace.capture()
    assert change.diff.text is None
    assert b"+caf\xe9\n" in (change.diff.content() or b"")
    assert seen(change) == {"latin.txt": "added", "tab\tname": "added"}


@pytest.mark.slow
def test_a_huge_diff_is_kept_by_its_digest(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    with Workspace(repo) as workspace:
        (repo / "huge.txt").write_text("0123456789\n" * (KEPT_DIFF_BYTES // 11 + 1))
        change = workspace.capture()
    assert change.diff.content() is None
    assert change.diff.size > KEPT_DIFF_BYTES
    assert change.diff.lines == KEPT_DIFF_BYTES // 11 + 1


def test_a_nested_repository_is_marked_and_one_without_a_commit_refused(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    with Workspace(repo) as workspace:
        git(repo, "init", "-q", "empty")
        with pytest.raises(CodeLoopError, match="does not have a commit"):
            workspace.capture()
        repository(repo / "empty")
        (file,) = workspace.capture().diff.files
    assert (file.path, file.status, file.nested) == ("empty", "added", True)


def test_a_folder_outside_a_work_tree_is_reported_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(CodeLoopError, match=r"not inside a git work tree .* run `git init` there"):
        Workspace(tmp_path)
    with pytest.raises(CodeLoopError, match="no such folder"):
        Workspace(tmp_path / "gone")
    with pytest.raises(CodeLoopError, match="a path with a line end cannot be watched"):
        Workspace(repository(tmp_path / "a\nb"))
    git(tmp_path, "init", "-q", "--bare")
    with pytest.raises(CodeLoopError, match="not inside a git work tree"):
        top_of(tmp_path)


def test_a_work_tree_or_a_repository_that_is_gone(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    repo = repository(tmp_path / "r")
    with Workspace(repo) as workspace:
        write(repo, {".gitignore": "x\n", "x": "x\n"})
        shutil.rmtree(repo / ".git")
        with pytest.raises(CodeLoopError, match="git ls-files: "):
            workspace.capture()
        shutil.rmtree(repo)
        with pytest.raises(CodeLoopError, match=r"the folder .* does not exist any more"):
            workspace.capture()


def test_a_missing_git_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CodeLoopError, match="git is not installed"):
        top_of(tmp_path)


def test_an_edit_of_the_same_size_in_the_same_instant_is_seen(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {"a.txt": "aaaa\n", "b.txt": "bbbb\n"})
    long_ago = 1_000_000_000_000_000_000
    for name in ("a.txt", "b.txt"):
        os.utime(repo / name, ns=(long_ago, long_ago))
    with Workspace(repo) as workspace:
        for content in ("cccc\n", "dddd\n"):
            with (repo / "a.txt").open("r+") as file:
                file.write(content)
            os.utime(repo / "a.txt", ns=(long_ago, long_ago))
            # As if nobody could set the time of a change of the file: git may not look at it.
            git(workspace._git.folder, "config", "core.trustctime", "false")
            change = workspace.capture()
            assert seen(change) == {"a.txt": "modified"}
            assert f"+{content}" in text(change)


@pytest.mark.slow
def test_a_file_too_large_to_review_is_refused_unless_it_was_there_and_stays(
    tmp_path: Path,
) -> None:
    repo = repository(tmp_path / "r")

    def sparse(name: str, size: int) -> None:
        with (repo / name).open("wb") as file:
            file.truncate(size)

    sparse("old", MAX_FILE_BYTES + 1)
    with Workspace(repo) as workspace:
        write(repo, {"new": "n\n"})
        assert seen(workspace.capture()) == {"new": "added"}
        sparse("big\x1b", 513 << 20)
        with pytest.raises(
            CodeLoopError, match=r"big\\u001b has 513 MiB, and a file of more"
        ) as why:
            workspace.capture()
        assert is_safe(str(why.value))
        (repo / "big\x1b").unlink()
        sparse("old", MAX_FILE_BYTES + 2)
        with pytest.raises(CodeLoopError, match="old has 100 MiB"):
            workspace.capture()
        sparse("old", 3)
        assert seen(workspace.capture()) == {"new": "added", "old": "modified"}


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("x" * 999 + "\n", 1),
        ("x" * 1000, 1),
        ("x" * 1001, 2),
        ("x" * 2_500_000, 2500),
        ("\n" * 7, 7),
        ("+++ b/x\n--- a/x\n@@ -1,9 +1,9 @@\n", 3),
        ("\0" * 1001 + "\n-\n", 3),
    ],
)
def test_a_long_line_counts_as_several(tmp_path: Path, text: str, lines: int) -> None:
    repo = repository(tmp_path / "r")
    with Workspace(repo) as workspace:
        (repo / "x").write_text(text)
        change = workspace.capture()
        assert (change.lines, change.diff.lines) == (lines, lines)
        (repo / "a.txt").unlink()
        assert workspace.capture().lines == lines + 1


def test_nested_repositories_are_named_as_not_seen(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    repository(repo / "vendor" / "\x1b")
    with Workspace(repo) as workspace:
        write(repo, {"vendor/\x1b/hidden": "h\n"})
        change = workspace.capture()
    assert seen(change) == {}
    assert change.nested == (b"vendor/\x1b",)
    assert change.notes() == ("not seen: nested repository 'vendor/\\x1b'",)


def test_caches_of_common_checks_are_not_seen_unless_they_are_tracked(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {"a/.pytest_cache/kept": "k\n"})
    with Workspace(repo) as workspace:
        write(repo, {".pytest_cache/v/x": "x\n", "a/.mypy_cache/y": "y\n"})
        assert seen(workspace.capture()) == {}
        write(repo, {"a/.pytest_cache/kept": "other\n", "b/__pycache__/x.pyc": "p\n"})
        assert seen(workspace.capture()) == {
            "a/.pytest_cache/kept": "modified",
            "b/__pycache__/x.pyc": "added",
        }


def test_what_was_seen_once_is_seen_again(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {".gitignore": "*.log\n"})
    with Workspace(repo) as workspace:
        write(repo, {"a.log": "a\n"})
        git(repo, "add", "-f", "a.log")
        assert seen(workspace.capture()) == {"a.log": "added"}
        git(repo, "rm", "-q", "--cached", "a.log")
        assert seen(workspace.capture()) == {"a.log": "added"}


def test_no_program_that_the_settings_of_the_repository_name_is_run(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    ran = tmp_path / "ran"
    git(repo, "config", "core.fsmonitor", f"touch {ran}; false")
    git(repo, "config", "extensions.partialClone", "far")
    git(repo, "config", "remote.far.promisor", "true")
    git(repo, "config", "remote.far.url", f"ext::touch {ran}")
    git(repo, "config", "protocol.ext.allow", "always")
    (repo / ".git" / "HEAD").write_text("1" * 40)
    write(repo, {".gitignore": "*.o\n", "x.o": "x"})
    with Workspace(repo) as workspace:
        workspace.capture()
    assert not ran.exists()


@pytest.mark.slow
def test_a_git_command_that_does_not_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path / "r")
    with Workspace(repo) as workspace:
        (repo / "made").mkdir()
        os.mkfifo(repo / "made" / ".gitignore")
        monkeypatch.setattr("harness.loops.code.git.GIT_SECONDS", 0.5)
        (repo / ".git" / "info" / "exclude").unlink()
        os.mkfifo(repo / ".git" / "info" / "exclude")
        top_of(repo)
        with pytest.raises(GitFailed, match=r"stopped after 0\.5 s: remove named pipes"):
            workspace.capture()
