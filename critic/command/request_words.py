"""Whether the words of a user ask for what a step of a command does.

Rule 1: a step is asked for by the deed (`delete`, `push`, the kind of code that is run) together
        with what it is done to, where it names any.
Rule 2: a name counts as a whole: no part of another name or address is one.
"""

import re
from collections.abc import Iterable
from typing import Final

from critic.command.shell_facts import is_below
from critic.command.steps import ShellStep

_DELETES: Final = frozenset(("delet", "delete", "remov", "remove", "rm", "drop", "clean"))
_INSTALLS: Final = frozenset(("install", "sync"))
_ADDS: Final = _INSTALLS | {"add", "upgrade", "updat", "update"}
"""The words that ask for a package that is named. Of a whole list, the request has to say more."""
_HERE: Final = frozenset(("localhost", "127.0.0.1"))
_WORD: Final = re.compile(r"[a-z0-9]+")
_ENDING: Final = re.compile(r"(ing|ed|es|s)$")
_NAME: Final = re.compile(r"[\w./~-]*[\w/]")
_HOST: Final = re.compile(r"(?<![\w.-])[\w-]+(?:\.[\w-]+)+")
_PACKAGE: Final = re.compile(r"[\w@./-]*\w")


class RequestedDeeds:
    """The words that a user said, ready to be asked for steps of commands in one project."""

    def __init__(self, texts: Iterable[str], root: str) -> None:
        """Read what the user said.

        Args:
            root: the folder of the project.
        """
        text = "\n".join(texts).lower()
        self._root: Final = root
        self._stems: Final = _stems(text)
        self._names: Final = frozenset(_NAME.findall(text))
        self._hosts: Final = frozenset(_HOST.findall(text))
        self._packages: Final = frozenset(_PACKAGE.findall(text))

    def ask_for(self, step: ShellStep) -> bool:
        """Return whether the user asked for a step that is not free in itself."""
        match step.effect:
            case "delete":
                paths = step.values("path")
                return bool(self._stems & _DELETES) and all(map(self._names_path, paths))
            case "fetch" | "send":
                return self._may_reach(step)
            case "run":
                return self._may_run(step)
            case "install":
                names = {name.lower() for name in step.values("package")}
                return bool(self._stems & (_ADDS if names else _INSTALLS)) and (
                    names <= self._packages
                )
            case _:
                return False

    def _may_reach(self, step: ShellStep) -> bool:
        if step.program == "git push":
            return "push" in self._stems
        if step.program in ("git fetch", "git pull"):
            return step.effect == "fetch"
        hosts = {*step.values("host")}
        return bool(hosts) and hosts <= _HERE | self._hosts

    def _may_run(self, step: ShellStep) -> bool:
        scripts = step.values("script")
        if not all(is_below(path, self._root) for path in scripts):
            return False
        if step.kinds[:1] == ("run",):
            return bool(scripts) and all(map(self._names_path, scripts))
        return any(_stems(kind) and _stems(kind) <= self._stems for kind in step.kinds)

    def _names_path(self, path: str) -> bool:
        """Return whether the user named a path of the project: by more than one plain word."""
        if not is_below(path, self._root) or path == self._root:
            return False
        name = path.rpartition("/")[2].lower()
        below = path.lower().removeprefix(f"{self._root.lower().rstrip('/')}/")
        names = [name] if "." in name[1:] else []
        names += [below] if "/" in below else []
        return any(
            one in (word, f"./{word}") or word.endswith(f"/{one}")
            for word in self._names
            for one in names
        )


def is_local(step: ShellStep) -> bool:
    """Return whether a step reaches this machine alone."""
    hosts = {*step.values("host")}
    return bool(hosts) and hosts <= _HERE


def _stems(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    return frozenset(_ENDING.sub("", word) or word for word in words)
