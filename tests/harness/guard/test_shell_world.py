"""The disk as a world of commands: where a command runs is known, or nothing of it is."""

from pathlib import Path
from typing import Any

import pytest

from critic.command.shell_facts import FactNeeds
from harness.guard import DiskWorld
from harness.guard.shell_world import answer_needs, ask_first_facts
from harness.policy.shell_settings import shipped_table

TABLE = shipped_table("common-1")


@pytest.fixture
def world(tmp_path: Path) -> DiskWorld:
    for folder in (".git", "src", "other"):
        (tmp_path / "shop" / folder).mkdir(parents=True)
    return DiskWorld.around(tmp_path / "shop" / "src")


def facts(world: DiskWorld, **args: Any) -> Any:
    return world.facts_for("cat a.py", {"command": "cat a.py", **args}, TABLE)


def test_the_project_is_the_repository_around_the_folder(world: DiskWorld, tmp_path: Path) -> None:
    shop = str(tmp_path / "shop")
    assert world.root == shop
    found = facts(world)
    assert (found["root"], found["cwd"]) == (shop, f"{shop}/src")
    assert set(found["links"]) >= {f"{shop}/src/a.py"}


@pytest.mark.parametrize("name", ["cwd", "workdir", "dir_path", "directory", "working_directory"])
def test_an_argument_that_is_a_folder_is_where_it_runs(
    world: DiskWorld, tmp_path: Path, name: str
) -> None:
    shop = str(tmp_path / "shop")
    assert facts(world, **{name: "../other"})["cwd"] == f"{shop}/other"
    assert facts(world, **{name: f"{shop}/other"})["cwd"] == f"{shop}/other"
    assert facts(world, **{name: "/"})["root"] == shop


@pytest.mark.parametrize(
    "args",
    [
        {"cwd": "none"},
        {"cwd": 7},
        {"cwd": ["/"]},
        {"cwd": "a\0b"},
        {"where": "/etc"},
        {"where": "~"},
        {"where": "../other"},
        {"where": "."},
        {"env": {"PATH": "x"}},
        {"options": ["-x"]},
    ],
)
def test_nothing_is_known_where_another_argument_may_say_where_it_runs(
    world: DiskWorld, args: dict[str, Any]
) -> None:
    assert facts(world, **args) is None


def test_what_is_no_folder_changes_nothing(world: DiskWorld) -> None:
    others = {"description": "Print a file", "timeout": 5, "background": False, "env": {}}
    assert facts(world, **others) == facts(world)


@pytest.mark.parametrize("folder", ["/", "relative", ""])
def test_nothing_is_known_of_the_whole_disk_or_of_no_place(folder: str) -> None:
    assert facts(DiskWorld.around(folder)) is None


def test_a_folder_that_git_would_take_for_a_repository_is_another_one(tmp_path: Path) -> None:
    world = DiskWorld.around(tmp_path)
    (tmp_path / ".git").mkdir()

    def found() -> Any:
        facts = world.facts_for("git -C src status", {"command": "git -C src status"}, TABLE)
        return None if facts is None else facts["git"][str(tmp_path / "src")]

    for name in ("src/HEAD", "src/objects", "src/refs"):
        (tmp_path / name).mkdir(parents=True)
        assert found() == ("own" if name != "src/refs" else "other")


@pytest.mark.parametrize("names", [("objects", "refs"), ("commondir",)])
def test_a_folder_whose_head_is_a_link_to_nowhere_may_be_a_repository(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    (tmp_path / ".git").mkdir()
    for name in names:
        (tmp_path / "src" / name).mkdir(parents=True)
    facts = ask_first_facts(tmp_path, None)
    asked = FactNeeds(git=(str(tmp_path / "src"),))
    assert [*answer_needs(facts, asked).git.values()] == ["own"]
    (tmp_path / "src" / "HEAD").symlink_to("refs/heads/none")
    assert [*answer_needs(facts, asked).git.values()] == ["other"]


def test_a_folder_is_told_from_a_file_and_from_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    asked = FactNeeds(folders=tuple(str(tmp_path / one) for one in ("", "file", "none", "link")))
    found = answer_needs(ask_first_facts(tmp_path, None), asked).folders
    assert found is not None
    assert [*found.values()] == [True, False, False, True]


def test_refs_are_branches_and_what_they_follow(tmp_path: Path) -> None:
    git = tmp_path / ".git"
    for branch in ("main", "own", "taken"):
        (git / "refs" / "heads").mkdir(parents=True, exist_ok=True)
        (git / "refs" / "heads" / branch).touch()
    (git / "refs" / "remotes" / "up").mkdir(parents=True)
    (git / "refs" / "remotes" / "up" / "HEAD").write_text("ref: refs/remotes/up/trunk\n")
    (git / "config").write_text(
        '[core]\n\tmerge = refs/heads/x\n[remote "up"]\n\turl = https://git.example/x\n'
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/next\n'
        '[branch "own"]\n\tmerge = refs/heads/none\n[user]\n\tremote = origin\n'
    )
    (tmp_path / "taken").touch()
    found = answer_needs(ask_first_facts(tmp_path, None), FactNeeds(refs=True)).refs
    assert sorted(found or ()) == ["main", "origin/next", "own", "up/trunk"]
