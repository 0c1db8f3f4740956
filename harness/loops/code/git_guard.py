"""Notice changes of a repository itself: its settings, its hooks, its removal.

An actor may commit, switch branches and stage files: the capture sees those files anyway. It may
not replace the repository, nor write what git runs or obeys afterwards, nor leave or change an
operation, such as a rebase, that the user would continue.
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.loops.code.git import clean_env, git

# What git runs or obeys, relative to the common folder. `info/refs` is only a list of refs.
_SETTINGS: Final = ("config", "hooks", "info", "objects/info/alternates")
_OWN_SETTINGS: Final = ("config.worktree", "commondir", "gitdir")
# What git goes on with, and the commands that it then runs, when the user continues.
_UNFINISHED: Final = (
    *("rebase-merge", "rebase-apply", "sequencer"),
    *("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"),
)
_HARMLESS: Final = frozenset({"info/refs"})

# Below these folders are the repositories of submodules and of linked work trees.
_OTHERS: Final = ("modules", "worktrees")
_MANY_FILES: Final = frozenset({"hooks", "info", "logs", "objects", "refs"})


@dataclass(frozen=True, slots=True)
class GitState:
    """A repository as a session found it: its last commit, and its settings by name."""

    commit: str
    contents: Mapping[str, str]


class GitGuard:
    """The repository of a work tree, as it was when this was made."""

    def __init__(
        self, root: Path, git_dir: Path, *, settings: bool = True, start: GitState | None = None
    ) -> None:
        """Remember the repository of the work tree at `root`, or compare it with an earlier start.

        With `settings` false, its settings, hooks and unfinished operations, such as a rebase, may
        change, and it must only stay in place.
        """
        self._root, self._git_dir, self._settings = root, git_dir, settings
        self._common = _common_folder(git_dir)
        self._hooks = self._other_hooks()
        self._identity = self._identify()
        self._commit = start.commit if start else self._last_commit()
        self._contents = start.contents if start and settings else self._read() if settings else {}

    def _other_hooks(self) -> Path | None:
        """Return the folder that core.hooksPath names, unless the work tree itself is in it."""
        env = {**clean_env(), "GIT_DIR": str(self._git_dir)}
        asked = ("config", "--type=path", "--get", "core.hooksPath")
        named = os.fsdecode(git(*asked, cwd=self._root, env=env, ok=1)).removesuffix("\n")
        folder = Path(os.path.normpath(self._root / named))
        return folder if named and not self._root.is_relative_to(folder) else None

    def start(self) -> GitState:
        """Return the state at the start, to be kept for a later guard."""
        return GitState(self._commit, self._contents)

    def changes(self) -> tuple[str, ...]:
        """Return the names of what has changed since the start, below `.git`; sorted."""
        if self._identify() != self._identity or not self._has_commit():
            return (".git",)
        contents = self._read() if self._settings else {}
        names = self._contents.keys() | contents.keys()
        return tuple(
            os.path.normpath(f".git/{name}")
            for name in sorted(names)
            if self._contents.get(name) != contents.get(name)
        )

    def _identify(self) -> tuple[object, ...]:
        """Return what tells one repository from another at the same place."""
        link = self._root / ".git"
        content = link.read_bytes() if link.is_file() else b""
        places = (link, self._git_dir, self._common, self._common / "objects")
        return (content, *map(_inode, places))

    def _last_commit(self) -> str:
        env = {**clean_env(), "GIT_DIR": str(self._git_dir)}
        last = ("rev-parse", "-q", "--verify", "HEAD^{commit}")
        return os.fsdecode(git(*last, cwd=self._root, env=env, ok=128)).strip()

    def _has_commit(self) -> bool:
        """Return whether the last commit of the start is still in the repository."""
        if not self._commit:
            return True
        env = {**clean_env(), "GIT_DIR": str(self._git_dir)}
        kind = git("cat-file", "-t", self._commit, cwd=self._root, env=env, ok=128)
        return kind.strip() == b"commit"

    def _read(self) -> dict[str, str]:
        """Return fingerprints of all settings, by path as seen from the folder `.git`."""
        places: dict[str, Path] = {}
        for base, names in ((self._common, _SETTINGS), (self._git_dir, _OWN_SETTINGS)):
            places |= _by_path(base, (base / name for name in names))
        others = [*_repositories_below(self._common)]
        names_below = (other / name for other in others for name in (*_SETTINGS, "config.worktree"))
        places |= _by_path(self._common, names_below)
        # In other work trees the user may be at work meanwhile, with operations of their own.
        mine = [self._git_dir, *_repositories_below(self._git_dir, ("modules",))]
        unfinished = (folder / name for folder in mine for name in _UNFINISHED)
        places |= _by_path(self._git_dir, unfinished)
        outside = [*self._submodule_links(others), *([self._hooks] if self._hooks else [])]
        places |= {f"../{name}": place for name, place in _by_path(self._root, outside).items()}
        return {
            name: _fingerprint(place) for name, place in places.items() if name not in _HARMLESS
        }

    def _submodule_links(self, others: Iterable[Path]) -> Iterator[Path]:
        """Yield the files that name the repositories of submodules, in their work trees."""
        for config in (other / "config" for other in others):
            if config.is_file():
                asked = ("config", "--file", str(config), "--get", "core.worktree")
                named = git(*asked, cwd=self._root, env=clean_env(), ok=128)
                if folder := os.fsdecode(named).removesuffix("\n"):
                    yield Path(os.path.normpath(config.parent / folder)) / ".git"


def _repositories_below(git_dir: Path, kinds: Iterable[str] = _OTHERS) -> Iterator[Path]:
    for kind in kinds:
        for folder, inner, _ in os.walk(git_dir / kind):
            inner[:] = [each for each in inner if each not in _MANY_FILES]
            yield Path(folder)


def _by_path(base: Path, places: Iterable[Path]) -> dict[str, Path]:
    """Return the files in these places by their paths from `base`, with `/`."""
    files = (file for place in places for file in _files_in(place))
    return {Path(os.path.relpath(file, base)).as_posix(): file for file in files}


def _common_folder(git_dir: Path) -> Path:
    """Return the folder that a linked work tree shares with others; else the folder itself."""
    pointer = git_dir / "commondir"
    if not pointer.is_file():
        return git_dir
    return Path(os.path.normpath(git_dir / os.fsdecode(pointer.read_bytes()).strip()))


def _inode(place: Path) -> tuple[int, int, int] | None:
    try:
        status = place.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, stat.S_IFMT(status.st_mode)


def _files_in(place: Path) -> Iterator[Path]:
    """Yield a file or link itself, and everything that a folder contains."""
    if place.is_dir() and not place.is_symlink():
        for inner in sorted(place.iterdir()):
            yield from _files_in(inner)
    elif os.path.lexists(place):
        yield place


def _fingerprint(place: Path) -> str:
    """Return the type, the permissions and the digest of a file or link."""
    mode = place.lstat().st_mode
    if stat.S_ISLNK(mode):
        content = os.fsencode(place.readlink())
    else:
        content = place.read_bytes() if stat.S_ISREG(mode) else b""
    return f"{mode:o} {hashlib.sha256(content).hexdigest()}"
