"""What an actor may do to the repository itself, and what is noticed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.loops.code.git_guard import GitGuard
from tests.harness.loops.code.scratch import git, repository, write


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "r", {"a.txt": "a\n"})


def guarded(repo: Path, *, settings: bool = True) -> GitGuard:
    return GitGuard(repo, repo / ".git", settings=settings)


def hook(repo: Path) -> None:
    write(repo, {".git/hooks/post-commit": "#!/bin/sh\n"})


def config(repo: Path) -> None:
    git(repo, "config", "core.pager", "touch x")


def exclude(repo: Path) -> None:
    write(repo, {".git/info/exclude": "src/\n"})


def objects(repo: Path) -> None:
    write(repo, {".git/objects/info/alternates": "/other/objects\n"})


def removal(repo: Path) -> None:
    shutil.rmtree(repo / ".git")


def replacement(repo: Path) -> None:
    (repo / ".git").rename(repo.parent / "away")
    shutil.copytree(repo.parent / "away", repo / ".git")


def pointer(repo: Path) -> None:
    (repo / ".git").rename(repo.parent / "away")
    (repo / ".git").write_text(f"gitdir: {repo.parent / 'away'}\n")


def lost_commit(repo: Path) -> None:
    commit = git(repo, "rev-parse", "HEAD").strip()
    (repo / ".git" / "objects" / commit[:2] / commit[2:]).unlink()


def lost_head(repo: Path) -> None:
    (repo / ".git" / "HEAD").unlink()


@pytest.mark.parametrize(
    ("act", "changes"),
    [
        (hook, (".git/hooks/post-commit",)),
        (config, (".git/config",)),
        (exclude, (".git/info/exclude",)),
        (objects, (".git/objects/info/alternates",)),
    ],
)
def test_settings_and_hooks_of_git_must_stay_unless_they_may_change(
    repo: Path, act: object, changes: tuple[str, ...]
) -> None:
    strict, lenient = guarded(repo), guarded(repo, settings=False)
    act(repo)  # type: ignore[operator] # one of the functions above
    assert strict.changes() == changes
    assert lenient.changes() == ()


@pytest.mark.parametrize("settings", [True, False])
@pytest.mark.parametrize("act", [removal, replacement, pointer, lost_commit, lost_head])
def test_the_repository_must_stay_in_place(repo: Path, act: object, settings: bool) -> None:
    guard = guarded(repo, settings=settings)
    act(repo)  # type: ignore[operator] # one of the functions above
    assert guard.changes() == (".git",)


UNFINISHED = (
    *("rebase-merge/git-rebase-todo", "rebase-apply/0001", "sequencer/todo"),
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"),
)


@pytest.mark.parametrize("name", UNFINISHED)
def test_an_operation_that_git_would_go_on_with_must_stay_as_it_was(repo: Path, name: str) -> None:
    strict, lenient = guarded(repo), guarded(repo, settings=False)
    write(repo, {f".git/{name}": "exec touch x\n"})
    assert strict.changes() == (f".git/{name}",)
    assert lenient.changes() == ()
    begun = guarded(repo)
    assert begun.changes() == ()
    (repo / ".git" / name).unlink()
    assert begun.changes() == (f".git/{name}",)


def test_a_rebase_that_stops_is_a_change_and_one_that_ends_is_not(repo: Path) -> None:
    guard = guarded(repo)
    git(repo, "checkout", "-qb", "side")
    write(repo, {"b.txt": "b\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "side")
    git(repo, "commit", "-q", "--allow-empty", "-m", "more")
    stops = ("rebase", "-q", "--force-rebase", "--exec")
    git(repo, *stops, "true", "HEAD~2")
    assert guard.changes() == ()
    with pytest.raises(subprocess.CalledProcessError):
        git(repo, *stops, "false", "HEAD~2")
    assert ".git/rebase-merge/git-rebase-todo" in guard.changes()
    git(repo, "rebase", "--abort")
    assert guard.changes() == ()


def test_a_rebase_of_the_user_in_another_work_tree_is_not_a_change(
    tmp_path: Path, repo: Path
) -> None:
    git(repo, "worktree", "add", "-q", "../linked")
    own, linked = guarded(repo), repo / ".git/worktrees/linked"
    guard = GitGuard(tmp_path / "linked", linked)
    write(repo, {".git/rebase-merge/git-rebase-todo": "pick\n"})
    assert guard.changes() == ()
    assert own.changes() == (".git/rebase-merge/git-rebase-todo",)
    write(linked, {"rebase-merge/git-rebase-todo": "exec touch x\n"})
    assert guard.changes() == (".git/rebase-merge/git-rebase-todo",)


def test_an_executable_bit_or_a_link_is_a_change_of_a_hook(repo: Path) -> None:
    hook(repo)
    guard = guarded(repo)
    (repo / ".git/hooks/post-commit").chmod(0o755)
    assert guard.changes() == (".git/hooks/post-commit",)
    (repo / ".git/hooks/post-commit").unlink()
    (repo / ".git/hooks/post-commit").symlink_to("/bin/true")
    assert guard.changes() == (".git/hooks/post-commit",)


def test_the_work_of_an_actor_with_git_is_not_a_change(repo: Path) -> None:
    guard = guarded(repo)
    write(repo, {"b.txt": "b\n"})
    git(repo, "checkout", "-qb", "mine")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "work")
    git(repo, "tag", "v1")
    git(repo, "stash", "list")
    git(repo, "commit", "-q", "--amend", "-m", "better")
    git(repo, "gc", "-q")
    assert guard.changes() == ()


def test_a_repository_without_a_commit_and_a_linked_work_tree_are_guarded(
    tmp_path: Path, repo: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    git(empty, "init", "-q")
    guard = guarded(empty)
    write(empty, {"a": "a\n"})
    git(empty, "add", "-A")
    git(empty, "commit", "-qm", "first")
    assert guard.changes() == ()
    git(repo, "worktree", "add", "-q", "../linked")
    linked = GitGuard(tmp_path / "linked", repo / ".git/worktrees/linked")
    assert linked.changes() == ()
    hook(repo)
    assert linked.changes() == (".git/hooks/post-commit",)
    (tmp_path / "linked" / ".git").write_text(f"gitdir: {os.fspath(empty / '.git')}\n")
    assert linked.changes() == (".git",)


@pytest.fixture
def with_submodule(tmp_path: Path, repo: Path) -> Path:
    inner = repository(tmp_path / "inner", {"b.txt": "b\n"})
    local = ("-c", "protocol.file.allow=always")
    git(repo, *local, "submodule", "add", "-q", str(inner), "lib/sub")
    git(repo, "commit", "-qm", "submodule")
    git(repo, "worktree", "add", "-q", "../linked")
    return repo


OF_OTHERS = {
    ".git/modules/lib/sub/config": "[core]\n\tfsmonitor = touch x\n",
    ".git/modules/lib/sub/hooks/post-checkout": "#!/bin/sh\n",
    ".git/modules/lib/sub/config.worktree": "[core]\n\tfsmonitor = touch x\n",
    ".git/worktrees/linked/config.worktree": "[core]\n\tfsmonitor = touch x\n",
    ".git/modules/lib/sub/rebase-merge/git-rebase-todo": "exec touch x\n",
    "lib/sub/.git": "gitdir: /other/repository\n",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", OF_OTHERS)
def test_settings_of_submodules_and_other_work_trees_must_stay(
    with_submodule: Path, name: str
) -> None:
    strict, lenient = guarded(with_submodule), guarded(with_submodule, settings=False)
    git(with_submodule / "lib/sub", "commit", "-q", "--allow-empty", "-m", "work")
    git(with_submodule, "worktree", "add", "-q", "../third")
    assert strict.changes() == ()
    write(with_submodule, {name: OF_OTHERS[name]})
    assert name in strict.changes()
    assert lenient.changes() == ()


def test_hooks_are_where_the_settings_say(repo: Path) -> None:
    write(repo, {".husky/_/.gitignore": "*\n", ".husky/_/h": "true\n"})
    git(repo, "config", "core.hooksPath", ".husky/_")
    guard = guarded(repo)
    write(repo, {".husky/_/h": "touch x\n", ".husky/pre-commit": "seen by everybody\n"})
    assert guard.changes() == (".husky/_/h",)


@pytest.mark.parametrize("place", [".", "..", "/dev/null", "nowhere"])
def test_a_work_tree_is_not_a_folder_of_hooks(repo: Path, place: str) -> None:
    git(repo, "config", "core.hooksPath", place)
    guard = guarded(repo)
    write(repo, {"a.txt": "changed\n"})
    assert guard.changes() == ()
