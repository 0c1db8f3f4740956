"""Whether the words of a user ask for what a step of a command does.

Rule 1: a step is asked for by the deed (`delete`, `push`, the kind of code that is run) together
        with what it is done to, where it names any.
Rule 2: a name counts as a whole, and its case does: no part of another name or address is one.
        What names a path with its folders names that path alone.
Rule 3: to name a host asks to read from it, by an address without a query of the agent's own. It
        asks for nothing to be sent there.
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
_AROUND: Final = "\"'`<>()[]{},.;:!"
_PACKAGE: Final = re.compile(r"[\w@./-]*\w")


class RequestedDeeds:
    """The words that a user said, ready to be asked for steps of commands in one project."""

    def __init__(self, texts: Iterable[str], root: str) -> None:
        """Read what the user said.

        Args:
            root: the folder of the project.
        """
        said = "\n".join(texts)
        text = said.lower()
        self._root: Final = root
        self._stems: Final = _stems(text)
        self._names: Final = frozenset(_NAME.findall(said))
        self._addresses: Final = frozenset(one.strip(_AROUND) for one in said.split())
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
        if step.effect == "send":
            return is_local(step)
        queries = {word for word in step.words if "?" in word}
        is_named = bool(hosts) and hosts <= _HERE | self._hosts
        return is_local(step) or (is_named and queries <= self._addresses)

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
        name = path.rpartition("/")[2]
        below = path.removeprefix(f"{self._root.rstrip('/')}/")
        named = {path, f"./{below}"}
        named |= {name} if "." in name[1:] else set()
        named |= {below} if "/" in below else set()
        return not named.isdisjoint(self._names)


def is_local(step: ShellStep) -> bool:
    """Return whether a step reaches this machine alone."""
    hosts = {*step.values("host")}
    return bool(hosts) and hosts <= _HERE


def _stems(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    return frozenset(_ENDING.sub("", word) or word for word in words)
