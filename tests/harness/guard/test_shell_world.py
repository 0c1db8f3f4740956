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


@pytest.mark.parametrize("named", [0, False, [], {}, 0.0])
def test_a_folder_that_is_no_text_is_no_folder_though_it_is_empty(
    world: DiskWorld, named: Any
) -> None:
    assert facts(world, cwd=named) is None
    assert facts(world, cwd="") == facts(world, cwd=None) == facts(world)


def test_what_the_guard_guards_is_known_to_each_command(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    kept = (str(tmp_path / "critic.toml"), str(tmp_path / "log"))
    assert facts(DiskWorld.around(tmp_path, guarded=kept))["guarded"] == [*kept]


def test_a_repository_is_the_project_s_own_at_its_root_alone(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    for folder in ("shop/src", "shop/vendor/lib/deep", "shop2", "shop/shop"):
        (tmp_path / folder).mkdir(parents=True)
    for folder in ("shop", "shop/vendor/lib", "shop2", "shop/shop"):
        (tmp_path / folder / ".git").mkdir()
    names = ("shop", "shop/src", "shop/vendor", "shop/vendor/lib/deep", "shop2", "shop/shop")
    asked = FactNeeds(git=tuple(str(tmp_path / one) for one in names))
    found = answer_needs(ask_first_facts(shop, None), asked).git
    assert [found[str(tmp_path / one)] for one in names] == [*["own"] * 3, *["other"] * 3]


@pytest.mark.parametrize(
    ("places", "is_safe"),
    [
        *((["safe"], True), (["safe", "none"], True), (["shared"], False), (["all"], False)),
        *((["group"], True), (["safe", "shop/bin"], False), (["linked"], False)),
        *((["safe", None], False), (["safe", "."], False), (["safe", "./bin"], False)),
        *((["safe", "bin"], False), (["safe", "~/bin"], False), (["shop2"], True)),
    ],
)
def test_programs_are_the_user_s_where_nobody_else_can_put_any(
    places: list[str | None], is_safe: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes = {"safe": 0o755, "shared": 0o707, "all": 0o777, "group": 0o775, "shop2": 0o700}
    for name, mode in {**modes, "shop/bin": 0o755}.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name).chmod(mode)
    (tmp_path / "linked").symlink_to(tmp_path / "shop" / "bin")
    absolute = {*modes, "shop/bin", "linked", "none"}
    parts = [str(tmp_path / one) if one in absolute else one or "" for one in places]
    monkeypatch.setenv("PATH", ":".join(parts))
    known = ask_first_facts(tmp_path / "shop", None, str(tmp_path / "shop"))
    assert answer_needs(known, FactNeeds(path_safe=True)).path_safe is is_safe


def test_each_remote_has_the_host_of_its_own_section(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text(
        "[core]\n\turl = https://core.example/x\n"
        '[remote "up"]\n\turl = https://Git.Example/x\n'
        '[submodule "m"]\n\turl = https://other.example/m\n'
        '[remote "disk"]\n\turl = /srv/git\n'
        '[remote "ssh"]\n\tfetch = x\n\turl = git@host.example:x\n'
        "[user]\n\turl = https://user.example/x\n"
    )
    found = answer_needs(ask_first_facts(tmp_path, None), FactNeeds(remotes=True)).remotes
    assert found == {"up": "git.example", "disk": "localhost", "ssh": "host.example"}


def test_branches_are_known_where_git_packs_them_too(tmp_path: Path) -> None:
    heads = tmp_path / ".git" / "refs" / "heads"
    (heads / "feat").mkdir(parents=True)
    for branch in ("main", "feat/new"):
        (heads / branch).touch()
    packed = "# pack-refs with: peeled\n1 refs/heads/main\n2 refs/heads/old/x\n3 refs/tags/v1\n"
    (tmp_path / ".git" / "packed-refs").write_text(packed)
    (tmp_path / "feat").mkdir()
    found = answer_needs(ask_first_facts(tmp_path, None), FactNeeds(refs=True)).refs
    assert sorted(found or ()) == ["feat/new", "main", "old/x"]
