"""Which files and folders are protected, secret or made again, by their names.

Rule 1: a name counts in any case and at any depth, and for the path as written and as it leads.
Rule 2: what agents, git and their guard obey is protected, whatever the table says.
Rule 3: a pattern counts as each name that it may give. A general pattern (`*`, `*.py`) gives a
        secret only where the ending says so. Programs that read patterns drop backslashes.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Final

from critic.command.agent_settings import PROTECTED

_GENERAL: Final = re.compile(r"[*?]+(\.[a-z0-9*]+)?|\*\*")
_SIGN: Final = re.compile(r"[*?]")
_COPY: Final = re.compile(
    r"#(.+)#|\.(.+)\.sw[op]"
    r"|(.+?)(?:~|[.-](?:bak|old|orig|save|copy|backup|swp|new|prev|gz|zip|\d{1,8})){1,4}"
)
"""The name of a copy, as editors and people give it to what they saved."""
_BRACKETS: Final = re.compile(r"\[[^\[\]/]+\]")


class GuardedNames:
    """The lists of names of a table, ready to be asked."""

    def __init__(
        self,
        *,
        protected: str,
        secret: str,
        secret_folders: str,
        not_secret: str,
        made_again: str,
        plain_variables: str,
        never_set: str,
        computed: str,
        fine_values: str,
    ) -> None:
        """Read lists of patterns, with blanks between them."""
        self._plain: Final = frozenset(plain_variables.split())
        self._never: Final = NameList(never_set)
        self._computed: Final = frozenset(computed.split())
        self._fine: Final = frozenset(fine_values.split())
        settings = [name.rstrip("/") for name in PROTECTED]
        alone = " ".join(name for name in settings if "/" not in name)
        self._protected: Final = NameList(f"{protected} {alone}")
        self._protected_paths: Final = tuple(f"/{name}/" for name in settings if "/" in name)
        plain = [name for name in secret.split() if "/" not in name]
        self._secret: Final = NameList(" ".join(plain))
        self._secret_endings: Final = NameList(_endings(plain))
        below = [name.lower().split("/") for name in secret.split() if "/" in name]
        self._secret_below: Final = {
            folder: NameList(" ".join(name for one, name in below if one == folder))
            for folder, _ in below
        }
        self._secret_folders: Final = NameList(secret_folders)
        self._not_secret: Final = NameList(not_secret)
        self._made_again: Final = NameList(made_again)

    def is_protected(self, path: str, pattern: str = "") -> bool:
        """Return whether a path, or a name below it that begins as written, is protected."""
        names = folded_names(path)
        if any(self._protected.has(name) for name in names):
            return True
        if any(one in f"/{'/'.join(names)}/" for one in self._protected_paths):
            return True
        return any(
            self._protected.has(part) or (part.startswith(".") and self._protected.meets(part))
            for part in pattern_parts(pattern)
        )

    def may_be_protected(self, pattern: str) -> bool:
        """Return whether a pattern may give a protected name, though it does not say so."""
        return any(self._protected.meets(part) for part in pattern_parts(pattern))

    def is_secret(self, path: str, pattern: str = "") -> bool:
        """Return whether a path, or a name below it that a pattern may give, is a secret."""
        names = folded_names(path)
        for name in names:
            is_own = name.startswith(".env") and self._is_secret_name(name)
            if is_own or self._secret_folders.has(name):
                return True
        if names and not pattern and self._is_secret_name(names[-1]):
            return True
        if not self._secret_below.keys().isdisjoint(names) and self._is_below(names, pattern):
            return True
        if not pattern:
            return False
        hidden = pattern.startswith("**/")  # find meets hidden names as well
        parts = pattern_parts(pattern)
        if any(self._may_be_below(folder, name) for folder, name in pairwise(parts)):
            return True
        return any(self._may_be_secret(part, hidden=hidden) for part in parts)

    def is_made_again(self, path: str) -> bool:
        """Return whether a path below the project is in what a build makes again."""
        return any(self._made_again.has(name) for name in folded_names(path))

    def is_plain_variable(self, name: str) -> bool:
        """Return whether a variable may take any plain value."""
        return name in self._plain

    def is_fine_value(self, name: str, value: str) -> bool:
        """Return whether a variable may have a value, whatever else it may not."""
        return f"{name}={value}" in self._fine

    def is_computed(self, name: str) -> bool:
        """Return whether a shell computes what a variable is set to."""
        return name in self._computed

    def is_never_set(self, name: str) -> bool:
        """Return whether a variable decides what programs do."""
        return name not in self._plain and self._never.has(_fold(name))

    def _is_below(self, names: list[str], pattern: str) -> bool:
        """Return whether a path, or what a pattern gives, is a secret of a folder that it is in."""
        folders = [name for name in names if name in self._secret_below]
        if pattern:
            last = (pattern_parts(pattern) or ["*"])[-1]
            return any(self._secret_below[one].meets(last, hidden=True) for one in folders)
        return names[-1] in folders or any(
            self._secret_below[one].has(names[-1]) for one in folders
        )

    def _may_be_below(self, part: str, last: str) -> bool:
        """Return whether a pattern that says a folder may give a secret of it."""
        plain = without_brackets(part)
        return part.strip("*?") != "" and any(
            is_match(plain, folder) and names.meets(last, hidden=True)
            for folder, names in self._secret_below.items()
        )

    def _is_secret_name(self, name: str) -> bool:
        copied = _COPY.fullmatch(name)
        name = next(filter(None, copied.groups())) if copied else name
        return self._secret.has(name) and not self._not_secret.has(name)

    def _may_be_secret(self, part: str, *, hidden: bool) -> bool:
        if not is_pattern(part):
            return self._is_secret_name(part) or self._secret_folders.has(part)
        if _GENERAL.fullmatch(part):
            return self._secret_endings.meets(part) and part.strip("*?.") != ""
        return self._secret.meets(part, hidden=hidden) or self._secret_folders.meets(
            part, hidden=hidden
        )


class NameList:
    """A list of patterns of names. To look up a name costs little, whatever the list."""

    def __init__(self, names: str) -> None:
        """Read patterns with blanks between them."""
        folded = [without_brackets(_fold(name)) for name in names.split()]
        begins = [name for name in folded if name[-1] == "*" and not is_pattern(name[:-1])]
        ends = [name for name in folded if name[0] == "*" and not is_pattern(name[1:])]
        self._plain: Final = frozenset(name for name in folded if not is_pattern(name))
        self._begins: Final = tuple(name[:-1] for name in begins)
        self._ends: Final = tuple(name[1:] for name in ends)
        self._others: Final = tuple({*folded} - self._plain - {*begins, *ends})
        # What a pattern of a command line is compared with: names that each of ours stands for.
        self._examples: Final = tuple(
            dict.fromkeys(
                name.replace("*", star).replace("?", "x") for name in folded for star in ("", "x")
            )
        )

    def has(self, name: str) -> bool:
        """Return whether a name is in the list."""
        return (
            name in self._plain
            or name.startswith(self._begins)
            or name.endswith(self._ends)
            or (bool(self._others) and any(is_match(one, name) for one in self._others))
        )

    def meets(self, pattern: str, *, hidden: bool = False) -> bool:
        """Return whether a pattern may give a name of the list; `hidden`: `*` begins with dots."""
        plain = without_brackets(pattern)
        first, last = _SIGN.split(plain, 1)[0], _SIGN.split(plain)[-1]
        return any(
            is_match(plain, name)
            for name in self._examples
            if name.startswith(first)
            and name.endswith(last)
            and (hidden or not name.startswith(".") or pattern.startswith("."))
        )


def is_pattern(text: str) -> bool:
    """Return whether a text is a pattern of names."""
    return any(sign in text for sign in "*?[")


def folded_names(path: str) -> list[str]:
    """Return the names in a path, as file systems compare them that know no case."""
    folded = path.lower() if path.isascii() else "/".join(map(_fold, path.split("/")))
    return [name for name in folded.split("/") if name]


@lru_cache(maxsize=512)
def _fold(name: str) -> str:
    """Return a name as file systems compare it that know no case and no invisible characters."""
    if name.isascii():
        return name.lower()
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(char for char in plain if char.isprintable())


def _endings(names: Iterable[str]) -> str:
    return " ".join(name for name in names if name.startswith("*."))


def without_brackets(pattern: str) -> str:
    """Return a pattern in which a class of characters counts as any one.

    Where a bracket is left over, a class may end elsewhere than it seems to: at the second of
    `[!]x]`, or after one in quotes. Then what comes after the first bracket counts as anything.
    """
    if "[" not in pattern:
        return pattern
    plain = _BRACKETS.sub("?", pattern)
    return f"{pattern.partition('[')[0]}*" if "[" in plain or "]" in plain else plain


def pattern_parts(pattern: str) -> list[str]:
    """Return the names in a pattern, as the programs that read it mean them."""
    return folded_names(pattern.replace("\\", ""))


def is_match(pattern: str, name: str) -> bool:
    """Return whether a pattern of `*` and `?` gives a name."""
    read = at = rest = 0
    star = -1  # the last one that was met; `rest` is what it leaves of the name
    while at < len(name):
        sign = pattern[read : read + 1]
        if sign == "*":
            star, rest = read, at
            read += 1
        elif sign in ("?", name[at]):
            read += 1
            at += 1
        elif star >= 0:
            rest += 1
            read, at = star + 1, rest
        else:
            return False
    return not pattern[read:].strip("*")
