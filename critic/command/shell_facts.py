"""What a command line depends on in the world, and what of it is still to be asked."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import Field

from evals.envelope import ARRAY, MEMBERS, OPTIONAL, Envelope
from evals.json_value import Text

ShellName = Literal["bash", "dash", "zsh"]
FoundRepository = Literal["own", "other", "none"]
"""What git finds from a folder: the repository of the project, another one, or none."""

_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class ShellFacts(Envelope):
    """Facts of the world when a command line is judged. All paths are absolute.

    `root` is the folder of the project and `home` that of the user, both without links; `cwd` is
    where the line starts. `links`: by path, with its `..` as written, where the system gets to.
    `folders`: by path, whether there is a folder.
    `refs`: the branches that have no file of their name, and the branches of remotes that they
    follow; `remotes`: the hosts of git's remotes.
    `path_safe`: no folder of PATH is relative, or can be written by the project. Without `shell`,
    the line is read as bash, dash and zsh agree. `guarded`: files and folders of the guard itself,
    which are protected whatever they are called.
    """

    root: Text
    cwd: Text
    home: Text
    shell: Annotated[ShellName | None, OPTIONAL] = None
    links: Annotated[dict[str, Text], MEMBERS] = Field(default_factory=dict)
    git: Annotated[dict[str, FoundRepository], MEMBERS] = Field(default_factory=dict)
    folders: Annotated[dict[str, bool] | None, OPTIONAL, MEMBERS] = None
    refs: Annotated[tuple[Text, ...] | None, ARRAY, OPTIONAL] = None
    remotes: Annotated[dict[str, Text] | None, OPTIONAL, MEMBERS] = None
    path_safe: Annotated[bool | None, OPTIONAL] = None
    guarded: Annotated[tuple[Text, ...] | None, ARRAY, OPTIONAL] = None


@dataclass(frozen=True, slots=True)
class FactNeeds:
    """The facts that a line needs and that were not given: ask for all of them, then read again."""

    links: tuple[str, ...] = ()
    git: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    refs: bool = False
    remotes: bool = False
    path_safe: bool = False

    def __bool__(self) -> bool:
        """Return whether anything is needed."""
        return self != FactNeeds()

    def __str__(self) -> str:
        """Return what is needed, in words, not yet escaped."""
        parts = [f"where {self.links[0]} leads"] if self.links else []
        parts += [f"what git finds from {self.git[0]}"] if self.git else []
        parts += [f"whether {self.folders[0]} is a folder"] if self.folders else []
        parts += ["the branches of the repository"] if self.refs else []
        parts += ["the remotes of the repository"] if self.remotes else []
        parts += ["whether the folders of PATH are safe"] if self.path_safe else []
        return ", ".join(parts)


class KnownFacts:
    """The facts at hand; each one that is asked for in vain is noted."""

    def __init__(self, facts: ShellFacts) -> None:
        """Begin with nothing needed."""
        self.given = facts
        self._reals: dict[str, str] = {}
        self._links: dict[str, None] = {}
        self._git: dict[str, None] = {}
        self._folders: dict[str, None] = {}
        self._refs = self._remotes = self._path_safe = False

    @property
    def needs(self) -> FactNeeds:
        """What was asked for in vain."""
        return FactNeeds(
            links=tuple(self._links),
            git=tuple(self._git),
            folders=tuple(self._folders),
            refs=self._refs,
            remotes=self._remotes,
            path_safe=self._path_safe,
        )

    def real_path(self, path: str) -> str:
        """Return where a path leads, every link followed; without links where that is not known."""
        known = self._reals.get(path)
        if known is None:
            real = self.given.links.get(path)
            if real is None and path != "/":
                self._links[path] = None
            known = self._reals[path] = join_path("/", real or path, follow_dots=True)
        return known

    def repository(self, folder: str) -> FoundRepository:
        """Return what git finds from a folder."""
        found = self.given.git.get(folder)
        if found is None:
            self._git[folder] = None
        return found or "own"

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder at a path."""
        found = (self.given.folders or {}).get(path)
        if found is None:
            self._folders[path] = None
        return bool(found)

    def is_branch(self, name: str) -> bool:
        """Return whether a name is that of a branch or of one that it follows, and of no file."""
        self._refs = self._refs or self.given.refs is None
        return name in (self.given.refs or ())

    def remote_host(self, name: str) -> str:
        """Return the host of a remote of the repository, "" where it has none of that name."""
        self._remotes = self._remotes or self.given.remotes is None
        return (self.given.remotes or _NOTHING).get(name, "")

    def has_safe_path(self) -> bool:
        """Return whether a program of a name is the one that the system installed."""
        self._path_safe = self._path_safe or self.given.path_safe is None
        return self.given.path_safe is not False


def join_path(folder: str, path: str, *, follow_dots: bool = False) -> str:
    """Return the path from a folder, without `.` and double slashes.

    With `follow_dots`, each `..` takes away the name before it, which is right without links only.
    """
    whole = path if path.startswith("/") else f"{folder}/{path}"
    parts = [part for part in whole.split("/") if part not in ("", ".")]
    if not follow_dots or ".." not in parts:
        return "/" + "/".join(parts)
    followed: list[str] = []
    for part in parts:
        if part == "..":
            del followed[-1:]
        else:
            followed.append(part)
    return "/" + "/".join(followed)


def is_below(path: str, folder: str) -> bool:
    """Return whether a path is a folder or something in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def with_parents(path: str) -> Iterator[str]:
    """Yield a path, and each folder that it is in but the root."""
    while path:
        yield path
        path = path.rpartition("/")[0]
