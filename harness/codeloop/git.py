"""Git as a tool beside the user's repository: a directory of its own, blind to all settings.

Rule 1: nothing is written to the user's repository: no index, no stash, no ref, no object.
Rule 2: no setting, filter, attribute or hook that an actor can edit has a say in what is seen.
        Nor has an object of theirs: git does not look whether one is what its name says.
"""

import hashlib
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from evals.escaping import escape_line, escape_name
from harness.codeloop.errors import CodeLoopError

# What is on disk is what is taken in: no conversion, filter or encoding of an attribute applies.
_AS_IT_IS: Final = "* -text -ident -filter !working-tree-encoding\n"


class GitFailed(CodeLoopError):
    """Git could not do what it was asked to."""


def git(*args: str, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", ok: int = 0) -> bytes:
    """What `git args` says. An exit status up to `ok` is no failure.

    Raises:
        GitFailed: git says no, or is not installed.
    """
    try:
        done = subprocess.run(  # noqa: S603 - words of our own, and no shell
            ["git", *args],  # noqa: S607 - the git of the user's PATH is meant
            cwd=cwd,
            env=env,
            input=stdin,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        if not cwd.is_dir():
            raise GitFailed(f"there is no folder {escape_name(str(cwd))} any more") from None
        raise GitFailed("git is not installed, or not on PATH: install it") from None
    except OSError as error:
        raise GitFailed(f"git cannot be run: {escape_name(str(error))}") from None
    if not 0 <= done.returncode <= ok:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        what = next(word for word in args if not word.startswith(("-", "core.")))
        raise GitFailed(f"git {what}: {escape_line(said[0][:300] if said else 'failed')}")
    return done.stdout


def surroundings() -> dict[str, str]:
    """The environment without what would point git to another repository."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**plain, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}


class PrivateGit:
    """A bare repository in `folder`, with `work_tree` beside it and its own ignore rules."""

    def __init__(
        self, folder: Path, work_tree: Path, exclude: str, *, format: str = "sha1"
    ) -> None:
        self.folder, self.work_tree = folder, work_tree
        blind = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        self._bare = {**surroundings(), **blind}
        shape = ("--bare", "--template=", f"--object-format={format}")
        git("init", "-q", *shape, str(folder), cwd=work_tree, env=self._bare)
        self._bare["GIT_DIR"] = str(folder)
        git("config", "core.excludesFile", os.devnull, cwd=folder, env=self._bare)
        info = folder / "info"
        info.mkdir()
        (info / "exclude").write_text(exclude, "utf-8", "surrogateescape")
        (info / "attributes").write_text(_AS_IT_IS, "utf-8")
        (info / "as-text").write_text("* diff\n", "utf-8")

    def in_tree(self, *args: str, stdin: bytes = b"", ok: int = 0) -> bytes:
        """Run git on the work tree."""
        env = {**self._bare, "GIT_WORK_TREE": str(self.work_tree)}
        return git(*args, cwd=self.work_tree, env=env, stdin=stdin, ok=ok)

    def of_objects(self, *args: str) -> bytes:
        """Run git on objects alone: no attribute of the work tree can hide a difference."""
        return git(*args, cwd=self.folder, env=self._bare)

    def count_lines(self, *args: str) -> int:
        """How many lines a diff adds and removes, those of binary files among them."""
        as_text = f"core.attributesFile={self.folder / 'info' / 'as-text'}"
        said = self.of_objects("-c", as_text, *args, "--numstat").splitlines()
        return sum(int(count) for line in said for count in line.split(b"\t", 2)[:2])

    def ignored(self, paths: Iterable[bytes]) -> frozenset[bytes]:
        """Those of the paths that its ignore rules match; one that ends with / is a folder."""
        # A name that begins with a colon would be read as more than a name.
        asked = b"".join(b"./" + path + b"\0" for path in paths)
        if not asked:
            return frozenset()
        said = self.in_tree("check-ignore", "--no-index", "--stdin", "-z", stdin=asked, ok=1)
        return frozenset(path[2:] for path in said.split(b"\0") if path)

    def measure(self, limit: int, *args: str) -> tuple[str, int, bytes | None]:
        """SHA-256 and size of what `git args` says, and the bytes themselves up to `limit`."""
        with TemporaryFile() as out:
            command = ["git", *args]
            done = subprocess.run(  # noqa: S603 - as in `git`
                command,
                cwd=self.folder,
                env=self._bare,
                stdout=out,
                stderr=subprocess.DEVNULL,
                check=False,
            )
            if done.returncode:
                raise GitFailed(f"git {args[0]} failed: objects are missing")
            size = out.tell()
            out.seek(0)
            digest = hashlib.file_digest(out, "sha256").hexdigest()
            out.seek(0)
            return digest, size, out.read() if size <= limit else None
