"""The changes in a working directory since a session began: by whom and how does not matter.

Rule 1: a capture is of the files as they are on disk: it makes no difference whether they are
        committed, staged, unstaged or untracked. Every file is read at every capture: no time or
        size that a file shows is trusted. What differed before the session began is not counted.
Rule 2: what git ignores is left out by the ignore rules as they were at the start, and so are the
        caches of common checks (`_CACHES`). A rule written since then hides nothing. What is
        tracked, or named by a `watched` pattern, is seen although it is ignored.
Rule 3: files that appear while the checks run are part of the change, but do not count towards its
        size. Files that the checks change or remove are named.
Not seen: what is inside a submodule or another nested repository, except for its commit. A capture
names those repositories.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Final, Literal, Self

from harness.errors import escape_text
from harness.loops.code.agent_commands import names_agent_settings
from harness.loops.code.git import GitFailed, PrivateGit
from harness.loops.code.git_guard import GitGuard
from harness.loops.code.repository import Repository, ignore_rule, locate, tracked_paths
from harness.loops.code.session_base import Base, KeptBase
from harness.loops.code.session_change import Change, path_chain, path_text
from harness.loops.code.session_lines import ChangedFile, Diff

# A line of a session must stay readable in one piece, even when every character is escaped.
KEPT_DIFF_BYTES: Final = 4 << 20
"""A larger diff is recorded by its digest and size, and its content is left out."""

MAX_FILE_BYTES: Final = 100 << 20
"""A larger file cannot be reviewed: a change that contains one is refused."""

_CACHES: Final = (".mypy_cache/", ".pytest_cache/", ".ruff_cache/")
"""Folders that checks leave behind, and that nobody imports or runs anything from."""

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


class Workspace:
    """The work tree of a git repository, watched from the moment this is made.

    Attributes:
        root: the top of the work tree.
        base: the tree of all files as they were at the start.
    """

    def __init__(
        self,
        folder: Path,
        unseen: Sequence[Path] = (),
        watched: Sequence[str] = (),
        *,
        guard_git_settings: bool = True,
        keep: Path | None = None,
        kept: KeptBase | None = None,
    ) -> None:
        """Watch the repository that contains `folder`, except the `unseen` files and folders.

        What a pattern of `watched` names is seen even if it is ignored. A pattern with `*`, `?` or
        `[` names nothing: it would name caches and logs as well. Settings of agents are always
        seen. `guard_git_settings` is as `settings` of a `GitGuard`. `keep` is a folder to keep the
        start in; `kept` is the start of an earlier session.

        Raises:
            CodeLoopError: the folder is not inside a git work tree, or an object of `kept` is lost.
        """
        repository = locate(folder)
        self.root: Final[Path] = repository.root
        self._git_dir: Final = repository.git_dir
        self._guard = self._guard_of(kept, settings=guard_git_settings)
        # A git that an interrupt left behind may still be writing there.
        self._temporary = TemporaryDirectory(prefix="critic-", ignore_cleanup_errors=True)
        private = Path(self._temporary.name).resolve()
        own = [ignore_rule(path, self.root) for path in (*unseen, private)]
        self._exclude = kept.base.exclude if kept else repository.exclude
        rules = self._exclude + "".join(f"{line}\n" for line in (*_CACHES, *own))
        try:
            place = (keep or private) / "git"
            self._git = PrivateGit(place, self.root, rules, format=repository.format)
            self._begin(repository, kept)
            self._first_rules = self._keep_rules(private, rules)
            self._note_start(watched, kept)
        except BaseException:
            self._temporary.cleanup()
            raise

    def _guard_of(self, kept: KeptBase | None, *, settings: bool) -> GitGuard:
        start = kept.base.git if kept else None
        return GitGuard(self.root, self._git_dir, settings=settings, start=start)

    def _begin(self, repository: Repository, kept: KeptBase | None) -> None:
        """Begin with the files as they are, or with those of an earlier start."""
        if kept is None:
            self._git.in_tree("update-index", "-z", "--index-info", stdin=repository.index)
        else:
            self._git.restore(kept.objects, kept.base.tree)
        self._restored = self._entries()
        self._take_in(at_start=True)
        self._rules = self._read_rules() if kept is None else kept.base.rules

    def _note_start(self, watched: Sequence[str], kept: KeptBase | None) -> None:
        self._watch(watched)
        self.base: str = self.tree() if kept is None else kept.base.tree
        self._links = self._read_links() if kept is None else kept.base.links
        self._checked = _CheckedFiles(self._entries() if kept is None else self._restored)

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
        """Return the id of the tree of all files as they are now.

        Raises:
            GitFailed: git cannot take them in, as with a nested repository without a commit, or a
                file is too large.
        """
        self._take_in()
        if hidden := self._hidden_paths():
            self._require_small(hidden)
            named = b"".join(path + b"\0" for path in sorted(hidden))
            from_stdin = ("--pathspec-from-file=-", "--pathspec-file-nul")
            self._git.in_tree("--literal-pathspecs", "add", "-f", *from_stdin, stdin=named)
        return self._write_tree()

    def begin_checks(self) -> None:
        """Note the files of now: what differs at the next capture is the work of the checks.

        Files that git cannot take in are left for that capture to refuse.
        """
        self._checked.begin(None)
        with suppress(GitFailed):
            self.tree()
            self._checked.begin(self._entries())

    def git_changes(self) -> tuple[str, ...]:
        """Return the parts of the user's repository itself that differ from the start.

        Raises:
            GitFailed: git cannot be run.
        """
        return self._guard.changes()

    def capture(self) -> Change:
        """Return all that differs from the start.

        Raises:
            GitFailed: git cannot take in the files, or the repository lost its objects.
        """
        git_changes = self.git_changes()
        tree = self.tree()
        entries = self._entries()
        changed_by_checks = self._checked.end(entries)
        raw = self._git.of_objects(*_DIFF, "-z", "--no-renames", "--raw", self.base, tree)
        parts = raw.split(b"\0")[:-1]
        modes = dict(zip(parts[1::2], parts[::2], strict=True))
        self._require_small(modes, though_at_start=True)
        shown = self._git.measure(KEPT_DIFF_BYTES, *_DIFF, "-p", "-M", self.base, tree)
        # In binary files too, or a single byte would take a file out of the count.
        lines = self._count_lines(tree)
        files = tuple(
            ChangedFile(
                path=path_text(path), status=_STATUS[mode[-1:]], nested=_NESTED in mode[:14]
            )
            for path, mode in modes.items()
        )
        by_checks = self._checked.left_as_added(entries)
        return Change(
            tree=tree,
            paths=tuple(modes),
            places=frozenset(
                path for path, mode in modes.items() if _NESTED in mode[:14] or _LINK in mode[:14]
            ),
            diff=Diff.of(*shown[:2], lines, files, shown[2]),
            lines=self._count_lines(self._tree_without(by_checks)) if by_checks else lines,
            files=len(modes.keys() - by_checks),
            by_checks=tuple(sorted(by_checks)),
            changed_by_checks=changed_by_checks,
            nested=tuple(path for path, entry in entries.items() if entry.startswith(_NESTED)),
            git_changes=git_changes,
        )

    def start(self) -> Base:
        """Return the state at the start, to be kept for a later workspace."""
        return Base(self.base, self._exclude, self._rules, self._links, self._guard.start())

    def links(self) -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
        """Return the symbolic links of the start, each with the paths in the tree it leads to."""
        return self._links

    def _read_links(self) -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
        listed = self._git.of_objects("ls-tree", "-r", "-z", self.base).split(b"\0")
        names = [line.split(b"\t", 1)[1] for line in listed if line.startswith(_LINK)]
        return tuple((name, tuple(self._targets(name))) for name in names)

    def scratch(self, name: str, exclude: str) -> PrivateGit:
        """Return an empty private repository with these ignore rules; it ends with this one."""
        place = Path(self._temporary.name) / name
        (place / "tree").mkdir(parents=True)
        return PrivateGit(place / "git", place / "tree", exclude)

    def _watch(self, patterns: Sequence[str]) -> None:
        """Keep the patterns that name paths to see although they are ignored."""
        settings = [line for line in patterns if names_agent_settings(line)]
        named = [line for line in patterns if not _GLOB.match(line) and line not in settings]
        self._watched = self.scratch("watched", "".join(f"{line}\n" for line in named))
        self._always = self.scratch("always", "".join(f"{line}\n" for line in settings))

    def _take_in(self, *, at_start: bool = False) -> None:
        """Read every file into a new index, so that no earlier size or time is trusted."""
        entries = self._git.in_tree("ls-files", "-s", "-z")
        (self._git.folder / "index").unlink(missing_ok=True)
        self._git.in_tree("update-index", "-z", "--index-info", stdin=entries)
        listed = self._git.in_tree("ls-files", "-z", "-c", "-o", "--exclude-standard")
        paths = listed.split(b"\0")[:-1]
        if at_start:
            self._large = frozenset(path for path in paths if self._size(path) > MAX_FILE_BYTES)
        self._require_small(paths)
        self._git.in_tree("add", "-A")

    def _require_small(self, paths: Iterable[bytes], *, though_at_start: bool = False) -> None:
        for path in paths:
            size = self._size(path)
            if size > MAX_FILE_BYTES and (though_at_start or path not in self._large):
                raise GitFailed(
                    f"{escape_text(path_text(path))} has {size >> 20} MiB, and a file of more than "
                    f"{MAX_FILE_BYTES >> 20} MiB cannot be reviewed: remove it"
                )

    def _size(self, path: bytes) -> int:
        try:
            return (self.root / os.fsdecode(path)).lstat().st_size
        except OSError:
            return 0

    def _write_tree(self) -> str:
        return self._git.in_tree("write-tree").decode().strip()

    def _entries(self) -> dict[bytes, bytes]:
        """Return what the last tree contains: the mode and object of each path."""
        listed = self._git.in_tree("ls-files", "-s", "-z").split(b"\0")[:-1]
        split = (line.split(b"\t", 1) for line in listed)
        return {path: entry for entry, path in split}

    def _tree_without(self, paths: Iterable[bytes]) -> str:
        removed = b"".join(b"0 " + b"0" * len(self.base) + b"\t" + path + b"\0" for path in paths)
        self._git.in_tree("update-index", "-z", "--index-info", stdin=removed)
        return self._write_tree()

    def _count_lines(self, tree: str) -> int:
        return self._git.count_lines(*_DIFF, "-M", self.base, tree)

    def _hidden_paths(self) -> set[bytes]:
        """Return what the ignore rules of now leave out, and must not."""
        if not (ignored := self._ignored_paths()):
            return set()
        left_out = self._first_rules.ignored_paths(ignored)
        return (
            {*ignored} - left_out
            | left_out & tracked_paths(self._git_dir, self.root)
            | self._named_paths(left_out)
            | self._always.ignored_paths(left_out)
        )

    def _ignored_paths(self) -> list[bytes]:
        """Return the files that are ignored now; one with / at its end is a nested repository."""
        listed = self._git.in_tree("ls-files", "-z", "-o", "-i", "--exclude-standard")
        return [path for path in listed.split(b"\0") if path]

    def _named_paths(self, ignored: Iterable[bytes]) -> set[bytes]:
        """Return those that a watched pattern names, or that are in an ignored folder it names.

        A watched folder that is not ignored itself may still contain ignored caches.
        """
        chains = {path: path_chain(path) for path in self._watched.ignored_paths(ignored)}
        places = {place for chain in chains.values() for place in chain}
        watched, left_out = (
            self._watched.ignored_paths(places),
            self._first_rules.ignored_paths(places),
        )
        return {
            path
            for path, chain in chains.items()
            if next(place for place in chain if place in watched) in left_out
        }

    def _read_rules(self) -> dict[bytes, bytes]:
        """Return the content of every .gitignore file, by path."""
        tracked = self._git.in_tree("ls-files", "-z").split(b"\0")
        rules = {}
        for path in (*tracked, *self._ignored_paths()):
            source = self.root / os.fsdecode(path)
            if source.name == ".gitignore" and source.is_file() and not source.is_symlink():
                rules[path] = source.read_bytes()
        return rules

    def _keep_rules(self, private: Path, rules: str) -> PrivateGit:
        """Keep the ignore rules of the start, in a separate tree that no agent edits."""
        folder = private / "rules"
        folder.mkdir()
        for path, content in self._rules.items():
            copy = folder / os.fsdecode(path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(content)
        return PrivateGit(private / "rules.git", folder, rules)

    def _targets(self, link: bytes) -> Iterable[bytes]:
        place = self.root / os.fsdecode(link)
        with suppress(OSError, ValueError):
            next_hop = Path(os.path.normpath(place.parent / place.readlink()))
            for target in {next_hop, place.resolve()}:
                if target.is_relative_to(self.root) and target != self.root:
                    yield os.fsencode(target.relative_to(self.root))


def top_of(folder: Path) -> Path:
    """Return the top of the work tree that contains a folder.

    Raises:
        CodeLoopError: the folder does not exist or is not inside a git work tree.
    """
    return locate(folder).root


Entries = Mapping[bytes, bytes]
"""The files of a moment: of each path its mode and its object, as git writes them."""


class _CheckedFiles:
    """The files that the checks of this session added, and those that they changed."""

    def __init__(self, first: Entries) -> None:
        """Start with the files that the session began with."""
        self._first = first
        self._before: Entries | None = None
        self._added: dict[bytes, bytes] = {}

    def begin(self, entries: Entries | None) -> None:
        """Note the files as they are before the checks run; None if they cannot be read."""
        self._before = entries

    def end(self, entries: Entries) -> tuple[bytes, ...]:
        """Remember the files that were added since `begin`; return the others that differ."""
        before, self._before = self._before, None
        if before is None:
            return ()
        differing = {
            path for path in before.keys() | entries.keys() if before.get(path) != entries.get(path)
        }
        added = differing - before.keys() - self._first.keys()
        self._added.update({path: entries[path] for path in added})
        return tuple(sorted(differing - added))

    def left_as_added(self, entries: Entries) -> frozenset[bytes]:
        """Return the paths that the checks added, and that are as the checks left them."""
        added = self._added.items()
        return frozenset(path for path, entry in added if entries.get(path) == entry)
