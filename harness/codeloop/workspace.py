"""What changed in a working directory since a session began, whoever changed it and however.

Rule 1: a capture is of the files as they are on disk: committed, staged, unstaged or untracked is
        all one. What differed before the session began is not counted.
Rule 2: what git ignores is left out by the ignore rules as they were at the start. A rule written
        since then hides nothing. What is tracked, or named by a `watched` pattern, is seen though
        it is ignored.
Not seen: what is inside a submodule or another nested repository, except for its commit.
"""

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Final, Literal, Self

from evals.escaping import escape_name
from harness.codeloop.errors import CodeLoopError
from harness.codeloop.git import GitFailed, PrivateGit, git, surroundings
from harness.codeloop.record import ChangedFile, Diff

# A line of a session must stay readable in one piece, whatever the escapes make of it.
KEPT_DIFF_BYTES: Final = 4 << 20
"""A larger diff is recorded by its digest and size, and its content is left out."""

_DIFF: Final = ("diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--no-color")
_NESTED: Final = b"160000"  # the mode of another repository's commit
_LINK: Final = b"120000"
_GLOB: Final = re.compile(r"(?:[^\\*?[]|\\.)*[*?[]")
_STATUS: Final[dict[bytes, Literal["added", "deleted", "modified", "type_changed"]]] = {
    b"A": "added",
    b"D": "deleted",
    b"M": "modified",
    b"T": "type_changed",
}


@dataclass(frozen=True, slots=True)
class Change:
    """All that differs from the start: the tree it led to, the paths, and the diff.

    `places` are those of the paths where a symbolic link or a nested repository is or was, which
    may stand for a folder.
    """

    tree: str
    paths: tuple[bytes, ...]
    places: frozenset[bytes]
    diff: Diff


class Workspace:
    """The work tree of a git repository, watched from the moment this is made.

    Attributes:
        root: the top of the work tree.
        base: the tree of all files as they were at the start.
    """

    def __init__(
        self, folder: Path, unseen: Sequence[Path] = (), watched: Sequence[str] = ()
    ) -> None:
        """Watch the repository that `folder` lies in, but for the `unseen` files and folders.

        What a pattern of `watched` names is seen even if it is ignored. A pattern with `*`, `?` or
        `[` names nothing: it would name caches and logs as well.

        Raises:
            CodeLoopError: the folder does not exist or is not inside a git work tree.
        """
        if not folder.is_dir():
            raise CodeLoopError(f"there is no folder {escape_name(str(folder))}")
        found = _locate(folder)
        self.root, self._git_dir = found.root, found.git_dir
        # A git that an interrupt left behind may still be writing there.
        self._temporary = TemporaryDirectory(prefix="critic-", ignore_cleanup_errors=True)
        private = Path(self._temporary.name).resolve()
        rules = found.exclude + "".join(
            f"{ignore_rule(path, self.root)}\n" for path in (*unseen, private)
        )
        try:
            self._git = PrivateGit(private / "git", self.root, rules, format=found.format)
            self._git.in_tree("update-index", "-z", "--index-info", stdin=found.index)
            self._git.in_tree("add", "-A")
            self._first_rules = self._keep_rules(private, rules)
            named = [line for line in watched if not _GLOB.match(line)]
            self._watched = self.scratch("watched", "".join(f"{line}\n" for line in named))
            self.base = self.tree()
        except BaseException:
            self._temporary.cleanup()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._temporary.cleanup()

    def tree(self) -> str:
        """The tree of all files as they are now.

        Raises:
            GitFailed: git cannot take them in, as with a nested repository without a commit.
        """
        self._git.in_tree("add", "-A")
        if hidden := self._hidden():
            named = b"".join(path + b"\0" for path in sorted(hidden))
            from_stdin = ("--pathspec-from-file=-", "--pathspec-file-nul")
            self._git.in_tree("--literal-pathspecs", "add", "-f", *from_stdin, stdin=named)
        return self._tree()

    def capture(self) -> Change:
        """All that differs from the start.

        Raises:
            GitFailed: git cannot take in the files, or the repository lost its objects.
        """
        tree = self.tree()
        ends = (self.base, tree)
        names = self._git.of_objects(*_DIFF, "-z", "--no-renames", "--raw", *ends)
        parts = names.split(b"\0")[:-1]
        # In binary files too, or a single byte would take a file out of the count.
        lines = self._git.count_lines(*_DIFF, "-M", *ends)
        shown = self._git.measure(KEPT_DIFF_BYTES, *_DIFF, "-p", "-M", *ends)
        files = tuple(
            ChangedFile(path=_text(path), status=_STATUS[raw[-1:]], nested=_NESTED in raw[:14])
            for raw, path in zip(parts[::2], parts[1::2], strict=True)
        )
        sha256, size, kept = shown
        places = frozenset(
            path
            for raw, path in zip(parts[::2], parts[1::2], strict=True)
            if _NESTED in raw[:14] or _LINK in raw[:14]
        )
        return Change(tree, tuple(parts[1::2]), places, Diff.of(sha256, size, lines, files, kept))

    def links(self) -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
        """The symbolic links of the start, each with the paths inside the tree it leads to."""
        listed = self._git.of_objects("ls-tree", "-r", "-z", self.base).split(b"\0")
        names = [line.split(b"\t", 1)[1] for line in listed if line.startswith(_LINK)]
        return tuple((name, tuple(self._targets(name))) for name in names)

    def scratch(self, name: str, exclude: str) -> PrivateGit:
        """An empty private repository with these ignore rules, gone with the workspace."""
        place = Path(self._temporary.name) / name
        (place / "tree").mkdir(parents=True)
        return PrivateGit(place / "git", place / "tree", exclude)

    def _tree(self) -> str:
        return self._git.in_tree("write-tree").decode().strip()

    def _hidden(self) -> set[bytes]:
        """What the ignore rules of now leave out, and must not."""
        if not (ignored := self._ignored()):
            return set()
        left_out = self._first_rules.ignored(ignored)
        return (
            {*ignored} - left_out
            | left_out & _tracked(self._git_dir, self.root)
            | self._named(left_out)
        )

    def _ignored(self) -> list[bytes]:
        """Files that are ignored now; one that ends with / is a nested repository."""
        said = self._git.in_tree("ls-files", "-z", "-o", "-i", "--exclude-standard")
        return [path for path in said.split(b"\0") if path]

    def _named(self, ignored: Iterable[bytes]) -> set[bytes]:
        """Those that a watched pattern names: themselves, or a folder that is ignored as a whole.

        That a folder is watched says nothing of the caches that are ignored in it.
        """
        chains = {path: _chain(path) for path in self._watched.ignored(ignored)}
        places = {place for chain in chains.values() for place in chain}
        watched, left_out = self._watched.ignored(places), self._first_rules.ignored(places)
        return {
            path
            for path, chain in chains.items()
            if next(place for place in chain if place in watched) in left_out
        }

    def _keep_rules(self, private: Path, rules: str) -> PrivateGit:
        """The ignore rules of this moment, in a tree of their own that nobody edits."""
        tracked = self._git.in_tree("ls-files", "-z").split(b"\0")
        kept = private / "rules"
        kept.mkdir()
        for path in (*tracked, *self._ignored()):
            source = self.root / os.fsdecode(path)
            if source.name == ".gitignore" and source.is_file() and not source.is_symlink():
                copy = kept / os.fsdecode(path)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(source.read_bytes())
        return PrivateGit(private / "rules.git", kept, rules)

    def _targets(self, link: bytes) -> Iterable[bytes]:
        place = self.root / os.fsdecode(link)
        with suppress(OSError, ValueError):
            next_hop = Path(os.path.normpath(place.parent / place.readlink()))
            for target in {next_hop, place.resolve()}:
                if target.is_relative_to(self.root) and target != self.root:
                    yield os.fsencode(target.relative_to(self.root))


def top_of(folder: Path) -> Path:
    """The top of the work tree that a folder lies in.

    Raises:
        CodeLoopError: the folder does not exist or is not inside a git work tree.
    """
    if not folder.is_dir():
        raise CodeLoopError(f"there is no folder {escape_name(str(folder))}")
    return _locate(folder).root


@dataclass(frozen=True, slots=True)
class _Found:
    """A user's repository: where it is, what it tracks and ignores, without touching it."""

    root: Path
    git_dir: Path
    format: str
    index: bytes
    exclude: str


def _locate(folder: Path) -> _Found:
    env = surroundings()
    asked = ("--show-toplevel", "--git-dir", "--git-path", "info/exclude", "--show-object-format")
    try:
        said = git("rev-parse", "--path-format=absolute", *asked, cwd=folder, env=env)
    except GitFailed as error:
        raise CodeLoopError(
            f"{escape_name(str(folder))} is not inside a git work tree ({error}): "
            "run `git init` there, or name another folder with --dir"
        ) from None
    lines = os.fsdecode(said).removesuffix("\n").split("\n")
    if len(lines) != len(asked) - 1:
        raise CodeLoopError(f"{escape_name(str(folder))}: a path with a line end cannot be watched")
    root, git_dir, exclude, form = lines
    own = git("config", "--type=path", "--get", "core.excludesFile", cwd=folder, env=env, ok=1)
    home = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    users = os.fsdecode(own).strip() or str(Path(home) / "git" / "ignore")
    return _Found(
        root=Path(root).resolve(),
        git_dir=Path(git_dir),
        format=form,
        index=git("ls-files", "-s", "-z", cwd=Path(root), env=env),
        exclude="".join(f"{_read(Path(place))}\n" for place in (users, exclude)),
    )


def _tracked(git_dir: Path, root: Path) -> frozenset[bytes]:
    """What the index or the last commit of the user's repository tracks now."""
    env = {**surroundings(), "GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(root)}
    staged = git("-c", "core.fsmonitor=false", "ls-files", "-z", cwd=root, env=env)
    # There may be no commit yet.
    last = ("rev-parse", "-q", "--verify", "HEAD^{tree}")
    tree = os.fsdecode(git(*last, cwd=root, env=env, ok=128)).strip()
    listed = ("ls-tree", "-r", "-z", "--name-only", "--full-tree")
    committed = git(*listed, tree, cwd=root, env=env) if tree else b""
    return frozenset((staged + committed).split(b"\0"))


def _chain(path: bytes) -> list[bytes]:
    """The folders that a path lies in, from the top, and the path itself."""
    parts = path.rstrip(b"/").split(b"/")
    return [*(b"/".join(parts[:end]) + b"/" for end in range(1, len(parts))), path]


def _read(rules: Path) -> str:
    try:
        return rules.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def ignore_rule(place: Path, root: Path) -> str:
    """The line of a .gitignore for a file or folder; empty if it lies not in the tree."""
    place = place.parent.resolve() / place.name
    if not place.is_relative_to(root) or place == root:
        return ""
    name = str(place.relative_to(root))
    return "/" + "".join(f"\\{char}" if char in "\\*?[ " else char for char in name)


def _text(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")
