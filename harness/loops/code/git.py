"""Git as a tool beside the user's repository: a separate directory, blind to all settings.

Rule 1: nothing is written to the user's repository: no index, no stash, no ref, no object.
Rule 2: no setting, filter, attribute or hook that an actor can edit affects what is seen, and no
        object that it wrote: git does not check that an object matches its name.
"""

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from evals.escaping import escape_line
from harness.errors import escape_text
from harness.loops.code.code_errors import CodeLoopError

_LINE_BYTES: Final = 1000
"""A longer line counts as several, or a change without line ends would have no size."""

GIT_SECONDS: Final = 600.0
"""A git command that takes longer is stopped: a pipe named .gitignore would block it for ever."""

# Git asks nobody, fetches no object that is missing, and starts no program that its settings name.
_NO_PROGRAMS: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "core.fsmonitor",
    "GIT_CONFIG_VALUE_0": "false",
}

_HUNK: Final = re.compile(rb"@@ -[0-9]+(?:,([0-9]+))? \+[0-9]+(?:,([0-9]+))? @@")

# Files are read as they are on disk: no conversion, filter or encoding of an attribute applies.
_AS_IT_IS: Final = "* -text -ident -filter !working-tree-encoding\n"


class GitFailed(CodeLoopError):
    """A git command failed."""


def git(*args: str, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", ok: int = 0) -> bytes:
    """Run `git args` and return its output. An exit status up to `ok` is not a failure.

    Raises:
        GitFailed: the command failed, or git is not installed.
    """
    try:
        done = subprocess.run(  # noqa: S603 - words of our own, and no shell
            ["git", *args],  # noqa: S607 - the git of the user's PATH is meant
            cwd=cwd,
            env=env,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=GIT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise GitFailed(
            f"git {_action(args)}: stopped after {GIT_SECONDS:g} s: remove named pipes, such as "
            "one named .gitignore, from the work tree"
        ) from None
    except FileNotFoundError:
        if not cwd.is_dir():
            raise GitFailed(f"the folder {escape_text(str(cwd))} does not exist any more") from None
        raise GitFailed("git is not installed, or not on PATH: install it") from None
    except OSError as error:
        raise GitFailed(f"git cannot be run: {escape_line(str(error))}") from None
    if not 0 <= done.returncode <= ok:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = escape_line(lines[0][:300] if lines else "failed")
        raise GitFailed(f"git {_action(args)}: {reason}")
    return done.stdout


def _action(args: Iterable[str]) -> str:
    return next(word for word in args if not word.startswith(("-", "core.")))


def clean_env() -> dict[str, str]:
    """Return the environment without the variables that point git to another repository.

    What is added keeps the settings of a repository, which an actor can edit, from running code.
    """
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**plain, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", **_NO_PROGRAMS}


class PrivateGit:
    """A bare repository in `folder`, with `work_tree` beside it and its own ignore rules."""

    def __init__(
        self, folder: Path, work_tree: Path, exclude: str, *, format: str = "sha1"
    ) -> None:
        self.folder: Final = folder
        self.work_tree: Final = work_tree
        blind = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        self._bare = {**clean_env(), **blind}
        shape = ("--bare", "--template=", f"--object-format={format}")
        git("init", "-q", *shape, str(folder), cwd=work_tree, env=self._bare)
        self._bare["GIT_DIR"] = str(folder)
        with (folder / "config").open("a", encoding="utf-8") as config:
            config.write(f"[core]\n\texcludesFile = {os.devnull}\n")
        info = folder / "info"
        info.mkdir()
        (info / "exclude").write_text(exclude, "utf-8", "surrogateescape")
        (info / "attributes").write_text(_AS_IT_IS, "utf-8")
        (info / "as-text").write_text("* diff\n", "utf-8")

    def restore(self, objects: Path, tree: str) -> None:
        """Take the index from a tree whose objects are in another folder, and check them all.

        Raises:
            GitFailed: an object is missing, or is not what its name says.
        """
        alternates = self.folder / "objects" / "info" / "alternates"
        alternates.parent.mkdir(parents=True, exist_ok=True)
        alternates.write_bytes(os.fsencode(objects) + b"\n")
        self.of_objects("fsck", "--full", "--no-dangling", "--no-progress", tree)
        self.in_tree("read-tree", tree)

    def in_tree(self, *args: str, stdin: bytes = b"", ok: int = 0) -> bytes:
        """Run git on the work tree."""
        env = {**self._bare, "GIT_WORK_TREE": str(self.work_tree)}
        return git(*args, cwd=self.work_tree, env=env, stdin=stdin, ok=ok)

    def of_objects(self, *args: str) -> bytes:
        """Run git on objects alone: no attribute of the work tree can hide a difference."""
        return git(*args, cwd=self.folder, env=self._bare)

    def count_lines(self, *args: str) -> int:
        """Return how many lines a diff adds and removes, those of binary files among them.

        A line counts once for each `_LINE_BYTES` bytes that it begins.
        """
        as_text = f"core.attributesFile={self.folder / 'info' / 'as-text'}"
        with TemporaryFile() as patch:
            self._write_output(patch, "-c", as_text, *args, "-p", "-U0")
            patch.seek(0)
            return _changed_lines(patch)

    def ignored_paths(self, paths: Iterable[bytes]) -> frozenset[bytes]:
        """Return those of the paths that the ignore rules match; a folder has / at its end."""
        # A name that begins with a colon would be read as more than a name.
        asked = b"".join(b"./" + path + b"\0" for path in paths)
        if not asked:
            return frozenset()
        matched = self.in_tree("check-ignore", "--no-index", "--stdin", "-z", stdin=asked, ok=1)
        return frozenset(path[2:] for path in matched.split(b"\0") if path)

    def measure(self, limit: int, *args: str) -> tuple[str, int, bytes | None]:
        """Return the SHA-256 and the size of the output of `git args`, and up to `limit` itself."""
        with TemporaryFile() as out:
            self._write_output(out, *args)
            size = out.tell()
            out.seek(0)
            digest = hashlib.file_digest(out, "sha256").hexdigest()
            out.seek(0)
            return digest, size, out.read() if size <= limit else None

    def _write_output(self, out: IO[bytes], *args: str) -> None:
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
            raise GitFailed("git diff-tree failed: objects are missing")
        out.seek(0, os.SEEK_END)


def _changed_lines(patch: Iterable[bytes]) -> int:
    """Count the lines of a patch without context; each hunk says how many follow."""
    total = left = 0
    for line in patch:
        if left and line[:1] in (b"+", b"-"):
            left -= 1
            total += max(1, -(-(len(line.rstrip(b"\n")) - 1) // _LINE_BYTES))
        elif hunk := _HUNK.match(line):
            left = sum(1 if count is None else int(count) for count in hunk.groups())
    return total
