"""What comes into the project from elsewhere: folders with any names in them, refs of others."""

import pytest

from harness.policy.shell_settings import shipped_table
from tests.support.shell_worlds import World

TABLE = shipped_table("common-1")
WORLD = World(folders=("/tmp/x", "/tmp/x/y"), branches=("main", "fix/a"))  # noqa: S108
ASK = {"write_outside", "unknown"}


def effects(command: str, world: World = WORLD, cwd: str = "/w") -> set[str]:
    return {step.effect for step in world.read(command, TABLE, cwd=cwd).steps}


# --- folders ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        *("tar xzf a.tgz -C sub", "cd src && tar xf ../a.tar", "bsdtar xf a.tar -C src/deep"),
        *("unzip -d sub a.zip", "unzip -o a.zip -d build/x", "tar xf a.tar -C src only/this"),
        *("cp -r /tmp/x sub", "cp -a /tmp/x/. src", "mv /tmp/x src/x", "cp -R /tmp/x/* src"),
        *("mv /tmp/x/* src", "mv /tmp/a.json /tmp/x src", "cp -rL src/a src/b"),
        *("cp /tmp/x/.[g]it src", "cp /tmp/x/.??t src", "cp /tmp/x/* src"),
        "mkdir -p /tmp/n && tar xf a.tar -C /tmp/n && mv /tmp/n src/n",
        "mkdir -p /tmp/n/m && tar xf a.tar -C /tmp/n/m && cp -r /tmp/n src/n",
        "(sleep 1; mv /tmp/n src/n) & mkdir /tmp/n; tar xf a.tar -C /tmp/n",
        *("unzip -d /tmp/n a.zip; mv /tmp/n src/n", "mv /tmp/x /tmp/n && mv /tmp/n src"),
        *("cp -r /tmp/x /tmp/n && cp -r /tmp/n src", "mv /tmp/a.json /tmp/x . "),
    ],
)
def test_a_folder_from_elsewhere_may_have_a_repository_in_it(command: str) -> None:
    assert effects(command) & ASK


@pytest.mark.parametrize(
    "command",
    [
        *("tar xzf dist.tar.gz -C /tmp/x", "unzip -q a.zip -d /tmp/x", "cp -r src /tmp/x"),
        *("cp -r templates/a src/a", "mv src/a src/b", "mv src/a src/b && git add -A"),
        *("mv /tmp/a.json src/a.json", "mv /tmp/a.json /tmp/b.json src/", "cp /tmp/x/a.py src"),
        *("jq . a.json > /tmp/p && mv /tmp/p a.json", "cp /tmp/x/*.csv src", "mv /tmp/x /tmp/y"),
        *("mv /tmp/a /tmp/b && mv /tmp/b src/b", "cp src/* tests/", "cp -r src/a /tmp/z"),
        "tar xf a.tar -C /tmp/x && cp -r src/a src/b",
    ],
)
def test_what_is_of_the_project_or_a_file_comes_without_a_question(command: str) -> None:
    assert not effects(command) & ASK


@pytest.mark.parametrize("command", ["tar xf a.tar -C ..", "unzip -d ../.. a.zip", "cp -r src .."])
def test_a_folder_around_the_project_is_its_top_folder_too(command: str) -> None:
    top = "/tmp/p"  # noqa: S108
    assert effects(command, World(root=f"{top}/q/w"), f"{top}/q/w") & ASK
    assert not effects(command, World(root="/w"), f"{top}/q/w") & {"unknown"}


def test_a_link_to_a_folder_elsewhere_is_that_folder() -> None:
    world = World(links={"/w/lnk": "/tmp/x"}, folders=("/tmp/x",))  # noqa: S108
    for command in ("cp -r lnk/. src", "cp -r lnk src"):
        assert effects(command, world) & ASK


# --- refs -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        *(
            "git pull origin pull/66/head",
            "git pull --no-rebase origin evil",
            "git pull origin a:b",
        ),
        *("git fetch origin pull/66/head", "git fetch origin merge-requests/6/head"),
        *(
            "git fetch origin refs/changes/1/1",
            f"git fetch origin {'0a' * 20}",
            "git fetch origin a:b",
        ),
        *(
            "git merge FETCH_HEAD",
            "git merge FETCH_HEAD~0",
            "git merge fetch_head",
            "git merge :/x",
        ),
        *("git merge origin/evil", "git merge refs/remotes/origin/evil", "git revert FETCH_HEAD"),
        *("git cherry-pick FETCH_HEAD", "git cherry-pick main..origin/evil", "git switch evil"),
        *(
            "git checkout -b pr FETCH_HEAD",
            "git switch -c pr FETCH_HEAD",
            "git switch -d FETCH_HEAD",
        ),
        *(
            "git switch -c pr origin/evil",
            "git branch main2 FETCH_HEAD",
            "git branch -u origin/evil",
        ),
        *("git tag main FETCH_HEAD", "git reset FETCH_HEAD", "git reset --soft origin/evil"),
        *("git stash apply FETCH_HEAD", "git bisect bad FETCH_HEAD", "git merge pull/66/head"),
        "git fetch origin && git merge origin/evil",
    ],
)
def test_no_files_come_from_a_ref_that_anybody_may_have_written(command: str) -> None:
    assert effects(command) == {"unknown"}


@pytest.mark.parametrize(
    "command",
    [
        *("git pull", "git pull --rebase", "git pull origin", "git pull origin main"),
        *(
            "git pull --rebase origin main",
            "git pull origin HEAD",
            "git pull origin refs/heads/main",
        ),
        *(
            "git fetch",
            "git fetch --all --prune",
            "git fetch origin main",
            "git fetch origin main:main",
        ),
        *("git fetch origin fix-2", "git fetch origin refs/heads/fix/2", "git fetch origin v1"),
        *("git merge main", "git merge origin/main", "git fetch && git merge origin/main"),
        *(
            "git merge fix/a",
            "git merge v1.2",
            "git merge --continue",
            "git merge @{u}",
            "git merge -",
        ),
        *(
            "git cherry-pick abc1234",
            "git cherry-pick main~2..main",
            "git revert HEAD",
            "git tag v1",
        ),
        *("git switch main", "git switch -", "git switch -c new", "git switch -c new origin/main"),
        *("git checkout main", "git checkout -b new origin/main", "git branch -u origin/main"),
        *("git branch new", "git branch -d old", "git branch -m a b/c", "git tag -l 'v*' 'w/*'"),
        *("git reset src/a.py", "git reset HEAD~1", "git bisect start HEAD v1 -- src/a.py"),
        *(
            "git stash pop",
            "git stash apply stash@{1}",
            "git log origin/evil",
            "git diff FETCH_HEAD",
        ),
        "git ls-remote origin pull/66/head",
    ],
)
def test_branches_that_are_followed_and_what_is_here_already_are_taken_from(command: str) -> None:
    assert not effects(command) & ASK


def test_a_branch_that_the_agent_makes_does_not_vouch_for_one_of_the_remote() -> None:
    world = World(branches=("main", "evil", "head"))
    for command in (
        "git merge origin/evil",
        "git pull origin evil",
        "git pull origin pull/66/head",
    ):
        assert effects(command, world) == {"unknown"}
