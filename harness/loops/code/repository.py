"""Find the git repository of a user, and read what it tracks and ignores, without touching it."""

import os
from dataclasses import dataclass
from pathlib import Path

from harness.errors import escape_text
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.git import GitFailed, clean_env, git


@dataclass(frozen=True, slots=True)
class Repository:
    """A user's repository: where it is, and what it tracks and ignores.

    Attributes:
        root: the top of the work tree.
        git_dir: the folder of the repository.
        format: the format of its object names, "sha1" or "sha256".
        index: its index, as `git update-index --index-info` reads it.
        exclude: the ignore rules of the user and of the repository that are in no .gitignore.
    """

    root: Path
    git_dir: Path
    format: str
    index: bytes
    exclude: str


def locate(folder: Path) -> Repository:
    """Find the repository that contains `folder`. Nothing in it is changed.

    Raises:
        CodeLoopError: the folder does not exist or is not inside a git work tree.
    """
    if not folder.is_dir():
        raise CodeLoopError(f"no such folder: {escape_text(str(folder))}")
    env = clean_env()
    questions = (
        "--show-toplevel",
        "--git-dir",
        "--git-path",
        "info/exclude",
        "--show-object-format",
    )
    try:
        answer = git("rev-parse", "--path-format=absolute", *questions, cwd=folder, env=env)
    except GitFailed as error:
        raise CodeLoopError(
            f"{escape_text(str(folder))} is not inside a git work tree ({error}): "
            "run `git init` there, or name another folder with --dir"
        ) from None
    lines = os.fsdecode(answer).removesuffix("\n").split("\n")
    if len(lines) != len(questions) - 1:
        raise CodeLoopError(f"{escape_text(str(folder))}: a path with a line end cannot be watched")
    root, git_dir, exclude, form = lines
    own = git("config", "--type=path", "--get", "core.excludesFile", cwd=folder, env=env, ok=1)
    home = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    users = os.fsdecode(own).strip() or str(Path(home) / "git" / "ignore")
    return Repository(
        root=Path(root).resolve(),
        git_dir=Path(git_dir),
        format=form,
        index=git("ls-files", "-s", "-z", cwd=Path(root), env=env),
        exclude="".join(f"{_read(Path(place))}\n" for place in (users, exclude)),
    )


def tracked_paths(git_dir: Path, root: Path) -> frozenset[bytes]:
    """Return the paths that the index or the last commit of the user's repository tracks now."""
    env = {**clean_env(), "GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(root)}
    staged = git("ls-files", "-z", cwd=root, env=env)
    # There may be no commit yet.
    last = ("rev-parse", "-q", "--verify", "HEAD^{tree}")
    tree = os.fsdecode(git(*last, cwd=root, env=env, ok=128)).strip()
    listed = ("ls-tree", "-r", "-z", "--name-only", "--full-tree")
    committed = git(*listed, tree, cwd=root, env=env) if tree else b""
    return frozenset((staged + committed).split(b"\0"))


def _read(rules: Path) -> str:
    try:
        # Reading a pipe would never end.
        return rules.read_text("utf-8", "surrogateescape") if rules.is_file() else ""
    except OSError:
        return ""


def ignore_rule(place: Path, root: Path) -> str:
    """Return the line of a .gitignore for a file or folder; empty if it is not in the tree."""
    place = place.parent.resolve() / place.name
    if not place.is_relative_to(root) or place == root:
        return ""
    name = str(place.relative_to(root))
    return "/" + "".join(f"\\{char}" if char in "\\*?[ " else char for char in name)
