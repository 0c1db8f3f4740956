"""Ask this machine for the facts that a command line needs: links, repositories, PATH.

Rule 1: only what is asked for is looked at, and nothing is run: a repository that somebody prepared
        makes git run programs.
Rule 2: what cannot be found out is left out, so that the line is not understood.
"""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from critic.command.command_table import CommandTable
from critic.command.shell_facts import FactNeeds, FoundRepository, ShellFacts, ShellName, is_below
from critic.command.steps import read_steps

_REMOTE: Final = re.compile(r'\[remote "([^"\\]+)"\]')
_SECTION: Final = re.compile(r"\[")
_BRANCH: Final = re.compile(r'\[branch "[^"]+"\]')
_FOLLOWED: Final = re.compile(r"remote\s*=\s*(\S+)|merge\s*=\s*refs/heads/(\S+)")
_HEAD_OF_REMOTE: Final = "ref: refs/remotes/"
_URL: Final = re.compile(r"url\s*=\s*(\S+)")
_HOST: Final = re.compile(r"(?:[a-z+]+://)?(?:[^@/]+@)?([A-Za-z0-9.-]+)[:/]")
_LONGEST_FILE: Final = 1 << 20


_LONGEST_NAME: Final = 255
_FOLDERS: Final = ("workdir", "dir_path", "directory", "cwd", "working_directory", "working_dir")
"""The arguments by which tools name the folder of a command: the first that is there counts."""


@dataclass(frozen=True)
class DiskWorld:
    """This machine, as commands see it that begin in one folder.

    Attributes:
        folder: where commands begin whose arguments name no folder, or a relative one.
        root: the folder of the project; "" where nothing is known of it.
        shell: the shell of the agent; None where it is not known.
        guarded: files and folders of the guard, which no command may write.
    """

    folder: str
    root: str
    shell: ShellName | None = None
    guarded: tuple[str, ...] = ()

    @classmethod
    def around(
        cls,
        folder: str | Path,
        shell: ShellName | None = None,
        *,
        guarded: tuple[str, ...] = (),
    ) -> "DiskWorld":
        """Return the world of a folder, whose project is the repository around it."""
        return cls(str(folder), find_project(folder), shell, guarded)

    def facts_for(
        self, command: str, args: Mapping[str, Any], table: CommandTable
    ) -> dict[str, Any] | None:
        """Return the facts that a command needs, as JSON; None where it cannot be known.

        An argument that may be a folder, and has none of the names of one, could be where it runs.
        """
        named = next((args[name] for name in _FOLDERS if args.get(name) is not None), "")
        if type(named) is not str or not self.folder.startswith("/") or len(self.root) <= 1:
            return None
        others = (value for name, value in args.items() if name not in _FOLDERS)
        if any(value != command and self._may_place(value) for value in others):
            return None
        try:
            folder = Path(self.folder, named)
            if not folder.is_dir():
                return None
            facts = ask_first_facts(folder, self.shell, self.root, self.guarded)
            if needs := read_steps(command, facts, table).needs:
                facts = answer_needs(facts, needs)
        except (OSError, ValueError):
            return None
        return facts.wire()

    def _may_place(self, value: Any) -> bool:
        """Return whether an argument may say where or how the command runs."""
        if type(value) is str:
            is_path = value.startswith(("/", "~", ".")) or "\0" in value
            return is_path or (len(value) < _LONGEST_NAME and Path(self.folder, value).is_dir())
        return bool(value) and type(value) in (dict, list)


def find_project(folder: str | Path) -> str:
    """Return the folder of the repository around a folder; that itself where there is none."""
    real = Path(os.path.realpath(folder))
    return str(next((one for one in (real, *real.parents) if (one / ".git").exists()), real))


def ask_first_facts(
    cwd: Path, shell: ShellName | None, root: str | None = None, guarded: tuple[str, ...] = ()
) -> ShellFacts:
    """Return the facts that each line needs.

    Args:
        root: the folder of the project; None for the repository around `cwd`.
        guarded: files and folders of the guard.
    """
    home = os.path.realpath(Path.home())
    real = os.path.realpath(cwd)
    known = root or find_project(real)
    return ShellFacts(root=known, cwd=real, home=home, shell=shell, guarded=guarded or None)


def answer_needs(facts: ShellFacts, needs: FactNeeds) -> ShellFacts:
    """Return the facts with all that this machine knows of what is needed."""
    found: dict[str, object] = facts.model_dump(exclude_none=True)
    found["links"] = {**facts.links, **{path: os.path.realpath(path) for path in needs.links}}
    found["git"] = {**facts.git, **{path: _find_repository(path, facts.root) for path in needs.git}}
    if needs.folders:
        asked = {path: os.path.isdir(path) for path in needs.folders}  # noqa: PTH112 - texts
        found["folders"] = {**(facts.folders or {}), **asked}
    if needs.path_safe:
        found["path_safe"] = _is_path_safe(os.environ.get("PATH", ""), facts.root)
    folder = _find_git_folder(Path(facts.root) / ".git")
    if needs.refs and (branches := _read_branches(folder)) is not None:
        refs = dict.fromkeys((*branches, *_read_followed(folder)))
        found["refs"] = tuple(one for one in refs if not (Path(facts.cwd) / one).exists())
    if needs.remotes and (remotes := _read_remotes(folder)) is not None:
        found["remotes"] = remotes
    return ShellFacts.model_validate(found)


def _find_repository(folder: str, root: str) -> FoundRepository:
    """Return what git finds from a folder, also one that only looks like a repository.

    Of a folder that is not there, nothing is known: it may come with a repository in it.
    """
    real = Path(os.path.realpath(folder))
    if not real.is_dir():
        return "none"
    for one in (real, *real.parents):
        if _looks_like_repository(one):
            return "other"
        if os.path.lexists(one / ".git"):
            return "own" if str(one) == root else "other"
    return "none"


def _looks_like_repository(folder: Path) -> bool:
    """Return whether git may take a folder for a repository: `HEAD` may be a link to nowhere."""
    if not os.path.lexists(folder / "HEAD"):
        return False
    names = [["commondir"], ["objects", "refs"]]
    return any(all((folder / name).exists() for name in one) for one in names)


def _find_git_folder(path: Path) -> Path:
    """Return the folder with the branches and the configuration, also of a linked work tree."""
    if path.is_file():
        text = (_read_text(path) or "").strip()
        path = path.parent / text.removeprefix("gitdir: ")
    common = _read_text(path / "commondir")
    return path if common is None else path / common.strip()


def _is_path_safe(path: str, root: str) -> bool:
    """Return whether nobody but the user can put a program into a folder of PATH."""
    for folder in path.split(os.pathsep):
        if not folder.startswith("/") or is_below(os.path.realpath(folder), root):
            return False
        try:
            mode = os.stat(folder).st_mode  # noqa: PTH116 - the text was split from PATH
        except OSError:
            continue  # no program is found in a folder that is not there
        if mode & stat.S_IWOTH:
            return False
    return True


def _read_branches(git: Path) -> tuple[str, ...] | None:
    """Return the names of the branches, or None where they cannot be read."""
    heads, packed = git / "refs" / "heads", git / "packed-refs"
    if not heads.is_dir():
        return None
    names = [str(one.relative_to(heads)) for one in heads.rglob("*") if one.is_file()]
    prefix = "refs/heads/"
    lines = (_read_text(packed) or "").splitlines()
    names += [
        name.removeprefix(prefix)
        for name in (line.partition(" ")[2] for line in lines)
        if name.startswith(prefix)
    ]
    return tuple(dict.fromkeys(names))


def _read_followed(git: Path) -> Iterator[str]:
    """Yield the branches of remotes that a branch follows, and the first one of each remote."""
    config = _read_text(git / "config") or ""
    for remote, _ in _remotes_of(config):
        head = (_read_text(git / "refs" / "remotes" / remote / "HEAD") or "").strip()
        if head.startswith(_HEAD_OF_REMOTE):
            yield head.removeprefix(_HEAD_OF_REMOTE)
    is_branch, remote = False, ""
    for line in map(str.strip, config.splitlines()):
        followed = _FOLLOWED.fullmatch(line)
        if _SECTION.match(line):
            is_branch, remote = _BRANCH.fullmatch(line) is not None, ""
        elif is_branch and followed and followed[1]:
            remote = followed[1]
        elif is_branch and followed and remote:
            yield f"{remote}/{followed[2]}"


def _read_remotes(git: Path) -> Mapping[str, str] | None:
    """Return the hosts of the remotes by name, or None where they cannot be read."""
    text = _read_text(git / "config")
    return None if text is None else dict(_remotes_of(text))


def _remotes_of(config: str) -> Iterator[tuple[str, str]]:
    name = ""
    for line in map(str.strip, config.splitlines()):
        if section := _SECTION.match(line):
            remote = _REMOTE.fullmatch(line)
            name = remote[1] if section and remote else ""
        elif name and (url := _URL.fullmatch(line)):
            host = _HOST.match(url[1])
            yield name, host[1].lower() if host else "localhost"


def _read_text(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(_LONGEST_FILE).decode("utf-8", "replace")
    except OSError:
        return None
