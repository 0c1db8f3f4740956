"""The effects of steps, and which of them a path has by where it is and what it is called.

Rule 1: a path counts by where it leads and as it is written; the worse of the two decides.
Rule 2: files of unknown names in the top folder of the project, or in one around it, count as
        outside: one of them may be protected. So do those in any folder of it that come from
        elsewhere, a repository among them. So do those in a folder of installed programs, which
        nobody reviews: they are for what installs them.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, Literal

from critic.command.deeds import Deed, NamedPath
from critic.command.guarded_places import GuardedPlaces
from critic.command.place_names import GuardedNames
from critic.command.shell_facts import ShellFacts, is_below
from evals.kinds import ApprovalMode

ShellEffect = Literal[
    "read",
    "list",
    "read_outside",
    "read_secret",
    "write",
    "write_outside",
    "write_protected",
    "commit",
    "delete",
    "delete_made",
    "discard",
    "fetch",
    "send",
    "run",
    "install",
    "system",
    "unknown",
]
"""What a step does: the name of an ordinary tool. `write_protected` is in no policy."""

TIERS: Final[Mapping[ShellEffect, ApprovalMode]] = MappingProxyType(
    {
        "read": "read_only",
        "list": "read_only",
        "read_outside": "destructive",
        "read_secret": "destructive",
        "write": "local_write",
        "write_outside": "destructive",
        "write_protected": "destructive",
        "commit": "local_write",
        "delete": "destructive",
        "delete_made": "local_write",
        "discard": "destructive",
        "fetch": "network",
        "send": "delegated",
        "run": "delegated",
        "install": "delegated",
        "system": "destructive",
        "unknown": "destructive",
    }
)
"""The tier of each effect. `delete_made` is of what is made again, and loses nothing."""

_SYSTEM_FOLDERS: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt")
_SYSTEM_FILES: Final = re.compile(
    r"/etc/(os-release|hosts)|/proc/(cpuinfo|meminfo|version)|/dev/(null|stdin|stdout|stderr|zero)"
)
_DEVICES: Final = re.compile(r"/dev/(null|stdin|stdout|stderr|tty|zero)")
TEMPORARY_FOLDERS: Final = ("/tmp", "/var/tmp", "/private/tmp")  # noqa: S108 - only compared
"""The folders for temporary files, which are there on each machine."""

_INSTALLED: Final = re.compile(
    r"/(\.venv|venv|\.tox|\.nox|node_modules|site-packages|dist-packages|(env|vendor)/bin)/",
    re.IGNORECASE,
)
_LISTED: Final = ("/tmp", "/etc", "/var/log")  # noqa: S108


class PathEffects:
    """What a path comes to in a project."""

    def __init__(self, facts: ShellFacts, names: GuardedNames) -> None:
        """Keep where the project is, and the lists of names."""
        self._facts: Final = facts
        self._names: Final = names
        self._own: Final = GuardedPlaces(facts.guarded or ())

    def of_deed(self, deed: Deed) -> Iterator[tuple[ShellEffect, str]]:
        """Yield each path of a deed, as shown, with its effect."""
        for effect, path in self._plain_effects(deed):
            yield effect, path.shown
        for path in deed.deletes:
            yield self._delete_effect(path), path.shown

    def _delete_effect(self, path: NamedPath) -> ShellEffect:
        if self._is_protected(path) or self._own.are_in(path):
            return "write_protected"
        return "delete_made" if self._loses_nothing(path) else "delete"

    def is_kept_nowhere(self, path: NamedPath) -> bool:
        """Return whether what stands at a path may be deleted without a question."""
        return self._loses_nothing(path._replace(pattern=""))

    def _plain_effects(self, deed: Deed) -> Iterator[tuple[ShellEffect, NamedPath]]:
        for path in (*deed.reads, *deed.scripts):
            yield self._read_effect(path), path
        for path in deed.lists:
            yield self._list_effect(path), path
        for path in deed.writes:
            yield self._write_effect(path, below=bool(path.pattern)), path
        for path in deed.into:
            yield self._write_effect(path, below=True, brings=deed.brings), path

    def _read_effect(self, path: NamedPath) -> ShellEffect:
        if self._is_secret(path):
            return "read_secret"
        if self._is_inside(path) or _is_temporary(path) or _is_of_system(path):
            return "read"
        return "read_outside"

    def _list_effect(self, path: NamedPath) -> ShellEffect:
        if self._is_inside(path):
            return "list"
        if self._is_secret(path):
            return "read_outside"
        if _is_of_system(path):
            return "list"
        listed = any(is_below(path.real, folder) for folder in _LISTED)
        return "list" if listed else "read_outside"

    def _write_effect(self, path: NamedPath, *, below: bool, brings: bool = False) -> ShellEffect:
        if self._is_protected(path):
            return "write_protected"
        if _DEVICES.fullmatch(path.real):
            return "write"
        if not (self._is_inside(path) or _is_temporary(path)) or self._is_secret(path):
            return "write_outside"
        if (below and self._own.are_in(path)) or _is_installed(path, below=below):
            return "write_outside"
        general = below and (not path.pattern or self._names.may_be_protected(path.pattern))
        tops = (self._facts.root, self._facts.home, "/")
        in_top = path.pattern != "" or any(is_below(top, path.real) for top in tops)
        may_be_guarded = (general and in_top) or (brings and self._is_inside(path))
        return "write_outside" if may_be_guarded else "write"

    def _is_secret(self, path: NamedPath) -> bool:
        return any(self._names.is_secret(one, path.pattern) for one in path.spellings)

    def _is_protected(self, path: NamedPath) -> bool:
        named = any(self._names.is_protected(one, path.pattern) for one in path.spellings)
        return named or self._own.have(path)

    def _is_inside(self, path: NamedPath) -> bool:
        return is_below(path.real, self._facts.root) and is_below(path.path, self._facts.root)

    def _loses_nothing(self, path: NamedPath) -> bool:
        root = self._facts.root
        if any(is_below(one, root) or is_below(root, one) for one in (path.path, path.real)):
            # Also where the project itself is in a folder for temporary files.
            below = path.real.removeprefix(root.rstrip("/"))
            parts = path.pattern.split("/")
            if len(parts) > 1 and path.written:  # the shell follows a link that a pattern gives
                return self._is_inside(path) and self._names.is_made_again(parts[-1] or parts[-2])
            return self._is_inside(path) and self._names.is_made_again(f"{below}/{path.pattern}")
        return _is_temporary(path) and not path.pattern


def _is_installed(path: NamedPath, *, below: bool) -> bool:
    """Return whether a path, or what is written below it, is among installed programs."""
    end = "/" if below else ""
    return any(_INSTALLED.search(f"{one}{end}") for one in path.spellings)


def _is_temporary(path: NamedPath) -> bool:
    return all(
        any(is_below(one, folder) and one != folder for folder in TEMPORARY_FOLDERS)
        for one in (path.path, path.real)
    )


def _is_of_system(path: NamedPath) -> bool:
    if any(is_below(path.real, folder) for folder in _SYSTEM_FOLDERS):
        return True
    return _SYSTEM_FILES.fullmatch(path.real) is not None
