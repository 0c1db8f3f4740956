"""Whether the words of a user ask for what a step of a command does.

Rule 1: a step is asked for by the deed (`delete`, `push`, the kind of code that is run) together
        with what it is done to, where it names any.
Rule 2: a name counts as a whole, and its case does: no part of another name or address is one.
        What names a path with its folders names that path alone.
Rule 3: to name a host asks to read from it, by an address without a query of the agent's own. It
        asks for nothing to be sent there.
Rule 4: what a sentence forbids is not asked for, nor is it by what was said before. Otherwise words
        count until the session ends.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from critic.command.shell_facts import is_below
from critic.command.steps import ShellStep

_DELETES: Final = frozenset(("delet", "delete", "remov", "remove", "rm", "drop", "clean"))
_RUNS: Final = frozenset(
    ("run", "runn", "execut", "execute", "start", "launch", "try", "invok", "invoke", "call")
)
_INSTALLS: Final = frozenset(("install", "sync"))
_ADDS: Final = _INSTALLS | {"add", "upgrade", "updat", "update"}
"""The words that ask for a package that is named. Of a whole list, the request has to say more."""
_HERE: Final = frozenset(("localhost", "127.0.0.1"))
_WORD: Final = re.compile(r"[a-z0-9]+")
_ENDING: Final = re.compile(r"(ing|ed|es|s)$")
_NAME: Final = re.compile(r"[\w./~-]+")
_HOST: Final = re.compile(r"(?<![\w.-])[\w-]+(?:\.[\w-]+)+")
_FORBIDDEN: Final = re.compile(
    r"""\b(?:do[ ]not|don['\u2019]?t|never|without|(?:must|should|may)(?:[ ]not|n['\u2019]t)
    |not[ ]to|avoid|skip|instead[ ]of|rather[ ]than|no[ ]need[ ]to|hold[ ]off|refrain[ ]from
    |(?:no|stop)(?=[ ]\w+ing))\b(?![ ]+(?:forget|hesitate))
    (?:(?![.;:!?](?:\s|$)|\n|\b(?:but|then|just|only|except|unless|until|before)\b).)*""",
    re.IGNORECASE | re.VERBOSE,
)
"""The part of a sentence that says what is not to be done."""

_AROUND: Final = "\"'`<>()[]{},.;:!"
_PACKAGE: Final = re.compile(r"[\w@./-]+")


class _Words(NamedTuple):
    """Words that ask, and those that forbid."""

    stems: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()

    def then(self, later: "_Words") -> "_Words":
        """Return what is asked for after something else was said."""
        both = (one | other for one, other in zip(self, later, strict=True))
        return _Words(*both)._replace(stems=(self.stems | later.stems) - later.forbidden)


_NOTHING_SAID: Final = _Words()


class RequestedDeeds:
    """The words that a user said, ready to be asked for steps of commands in one project."""

    def __init__(self, texts: Iterable[str], root: str) -> None:
        """Read what the user said, in order.

        Args:
            root: the folder of the project.
        """
        self._root: Final = root
        said = _NOTHING_SAID
        for text in texts:
            said = said.then(_read_words(text))
        self._said: Final = said

    def ask_for(self, step: ShellStep) -> bool:
        """Return whether the user asked for a step that is not free in itself."""
        match step.effect:
            case "delete":
                paths = step.values("path")
                return bool(self._said.stems & _DELETES) and all(map(self._names_path, paths))
            case "fetch" | "send":
                return self._may_reach(step)
            case "run":
                return self._may_run(step)
            case "install":
                names = {name.lower() for name in step.values("package")}
                return bool(self._said.stems & (_ADDS if names else _INSTALLS)) and (
                    names <= self._said.packages
                )
            case _:
                return False

    def _may_reach(self, step: ShellStep) -> bool:
        if step.program == "git push":
            return "push" in self._said.stems
        if step.program in ("git fetch", "git pull"):
            return step.effect == "fetch"
        hosts = {*step.values("host")}
        if step.effect == "send":
            return is_local(step)
        queries = {word for word in step.words if "?" in word}
        is_named = bool(hosts) and hosts <= _HERE | self._said.hosts
        return is_local(step) or (is_named and queries <= self._said.addresses)

    def _may_run(self, step: ShellStep) -> bool:
        scripts = step.values("script")
        if not all(is_below(path, self._root) for path in scripts):
            return False
        if step.kinds[:1] == ("run",):
            is_named = bool(scripts) and all(map(self._names_path, scripts))
            return is_named and bool(self._said.stems & _RUNS)
        return any(_stems(kind) and _stems(kind) <= self._said.stems for kind in step.kinds)

    def _names_path(self, path: str) -> bool:
        """Return whether the user named a path of the project: by more than one plain word."""
        if not is_below(path, self._root) or path == self._root:
            return False
        name = path.rpartition("/")[2]
        below = path.removeprefix(f"{self._root.rstrip('/')}/")
        named = {path, f"./{below}"}
        named |= {name} if "." in name[1:] else set()
        named |= {below} if "/" in below else set()
        return not named.isdisjoint(self._said.names)


def is_local(step: ShellStep) -> bool:
    """Return whether a step reaches this machine alone."""
    hosts = {*step.values("host")}
    return bool(hosts) and hosts <= _HERE


@lru_cache(maxsize=64)  # a session judges each turn by the same texts
def _read_words(said: str) -> _Words:
    wanted = _FORBIDDEN.sub("\n", said)
    text = wanted.lower()
    return _Words(
        stems=_stems(text),
        forbidden=_stems(" ".join(_FORBIDDEN.findall(said))),
        names=frozenset(one.rstrip(".~-") for one in _NAME.findall(wanted)),
        addresses=frozenset(one.strip(_AROUND) for one in wanted.split()),
        hosts=frozenset(_HOST.findall(text)),
        packages=frozenset(one.rstrip("@./-") for one in _PACKAGE.findall(text)),
    )


def _stems(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower())
    return frozenset(_ENDING.sub("", word) or word for word in words)
