"""Notice changes of a repository itself: its settings, its hooks, its removal.

An actor may commit, switch branches and stage files: the capture sees those files anyway. It may
not replace the repository, nor write what git runs or obeys afterwards.
"""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.codeloop.git import clean_env, git

# What git runs or obeys, relative to the common folder. `info/refs` is only a list of refs.
_SETTINGS: Final = ("config", "hooks", "info", "objects/info/alternates")
_OWN_SETTINGS: Final = ("config.worktree", "commondir", "gitdir")
_HARMLESS: Final = frozenset({"info/refs"})


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

        With `settings` false, its settings and hooks may change, and it must only stay in place.
        """
        self._root, self._git_dir, self._settings = root, git_dir, settings
        self._common = _common_folder(git_dir)
        self._identity = self._identify()
        self._commit = start.commit if start else self._last_commit()
        self._contents = start.contents if start and settings else self._read() if settings else {}

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
            f".git/{name}"
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
        contents = {}
        for folder, names in ((self._common, _SETTINGS), (self._git_dir, _OWN_SETTINGS)):
            for place in (path for name in names for path in _files_in(folder / name)):
                name = place.relative_to(folder).as_posix()
                if name not in _HARMLESS:
                    contents[name] = _fingerprint(place)
        return contents


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
