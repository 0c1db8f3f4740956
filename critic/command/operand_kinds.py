"""What a value of an option, or an operand, means for a deed, by its kind in the table.

Rule 1: a word that may become several words stands only where any number of words may.
Rule 2: an address is understood up to its host; what of it is not known is sent.
"""

import re
from collections.abc import Callable
from itertools import product
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk, NamedPath
from critic.command.name_expressions import patterns_in_braces
from critic.command.program_options import GivenArguments, GivenOption
from critic.command.shell_syntax import NotUnderstood, Word, plain_word

_NUMBER: Final = re.compile(r"[+-]?\d+")
_PLUGIN: Final = re.compile(r"no:[\w.-]+")
_VERBOSE: Final = re.compile("(?:V|VERBOSE)=[0-9]")
_NAME: Final = re.compile(r"[A-Za-z0-9_,-]+")
_SWITCH: Final = re.compile(
    r"(?!CMAKE_PROJECT)[A-Za-z]\w*(:[A-Z]+)?=(\d+|(?i:on|off|true|false|yes|no))"
    r"|CMAKE_BUILD_TYPE(:STRING)?=(Debug|Release|RelWithDebInfo|MinSizeRel)"
)
_TARGET: Final = re.compile(r"[\w.+/-][\w.:+/-]*")
_PACKAGE: Final = re.compile(
    r"(@[\w.-]+/)?[A-Za-z0-9][\w.-]*(\[[\w,-]+\])?([=<>~!@^]=?[\w.*^~-]+)?"
)
_PACKAGE_NAME: Final = re.compile(r"(@[\w.-]+/)?[\w.-]+")
_ADDRESS: Final = re.compile(r"(?:([a-z]+)://)?([^/?#\s]+)", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!:|\\|\d*$)|[^/]*://")
"""What begins an address (`file:x`, `npm:x`, `https://x`), and not a test or a line of a file
(`a.py::t`, `a.py:12`)."""
_LAYOUT: Final = re.compile("wide|name")
_HOST_OF_REPOSITORY: Final = re.compile(r"(?:https?://)([^/]*)(?:/|$)|([^/]+)/[^/]+/.", re.I)
_HOST_BEFORE: Final = re.compile(r"(?:https?://)?[A-Za-z0-9.-]+(?::\d+)?/")
_WHOLE_HOST: Final = re.compile(r"[a-z]+://[^/?#]+/", re.IGNORECASE)
_PORT: Final = re.compile(r":\d*$")
_LONGEST_QUERY: Final = 100
_FILES_IN_BODY: Final = re.compile(r"(?:^|=)[@<]([^;]*)")
_OPTIONS_IN_FILES: Final = ("read", "list", "rw", "run")
_TEXTS: Final = ("text", "text2", "ref", "script")
_PATHS: Final = ("read", "list", "write", "into", "delete", "rw", "dir", "run", "upload")
_MEANS: Final = {
    **dict.fromkeys(("dev", "serve", "develop"), "start"),
    **dict.fromkeys(("compile", "package", "bundle"), "build"),
    **dict.fromkeys(("unit", "e2e", "spec"), "test"),
    "fmt": "format",
    "typecheck": "type",
}
"""What scripts of some names are run for, by the word that asks for it."""

_PYTHON: Final = re.compile(r"py(py)?[23]?\d*")
"""A script, or an environment of `tox`, of the name of a Python: it is for tests."""

_NEEDS_ITS_NAME: Final = frozenset(
    (
        *(
            "deploy",
            "publish",
            "release",
            "push",
            "upload",
            "prod",
            "production",
            "clean",
            "delete",
        ),
        *("drop", "destroy", "reset", "wipe", "purge", "prune", "migrate", "rollback"),
    )
)
"""Parts of a name that say more than its first does: `test:deploy` is not asked for by `test`."""

_RUNS_FILES: Final = ("bun",)
"""The runners of scripts that run a file of that name where there is no script."""

_FIRST_TEXTS: Final = (("text",), ("script",))


def apply_arguments(
    walk: LineWalk,
    entry: ProgramEntry,
    given: GivenArguments,
    deed: Deed,
    *,
    only_checks: bool = False,
) -> tuple[NamedPath, ...]:
    """Add to a deed what its options and operands mean; return the operands of kind `read`.

    `only_checks`: an option says that operands of kind `rw` are only read.

    Raises:
        NotUnderstood: an operand that the table does not have, or that is not known.
    """
    for one in given.options:
        if one.value is not None and one.option.kind not in (None, "?"):
            apply_kind(walk, one.option.kind, one.value, deed)
            _add_late_value(walk, entry, one, deed)
    skipped = 1 if "script" in given.marks and entry.operands.kinds[:1] in _FIRST_TEXTS else 0
    read: list[NamedPath] = []
    operands = entry.operands
    for number, word in enumerate(given.operands, skipped):
        kind = operands.kind_of(number)
        if kind is None:
            raise NotUnderstood(f"an argument of {deed.program}: {word.shown}")
        tail = operands.repeats and number >= len(operands.kinds) - 1
        if not tail and word.splits:
            raise NotUnderstood(f"a pattern where one word is meant: {word.shown}")
        before = len(deed.reads)
        apply_kind(walk, "read" if only_checks and kind == "rw" else kind, word, deed)
        read += deed.reads[before:] if kind == "read" else []
    fewest = len(operands.kinds) if operands.repeats and operands.needed else 0
    if len(given.operands) + skipped < fewest:
        raise NotUnderstood(f"{deed.program} without an argument")
    return tuple(read)


def _add_late_value(walk: LineWalk, entry: ProgramEntry, one: GivenOption, deed: Deed) -> None:
    """Add a value that follows an operand as a path too: for BSD, options end before that."""
    text = one.value.exact if one.value is not None else None
    names_files = any(kind in _OPTIONS_IN_FILES for kind in entry.operands.kinds)
    names_files = names_files and entry.reader != "git"  # which ends its options nowhere
    if one.is_late and names_files and text and not _NUMBER.fullmatch(text):
        apply_kind(walk, "read", plain_word(text), deed)


def apply_kind(walk: LineWalk, kind: str | None, word: Word, deed: Deed) -> None:
    """Add to a deed what a word means.

    Raises:
        NotUnderstood: the word is not known, or has a form that is not understood.
    """
    if kind in _OPTIONS_IN_FILES and word.prefix.startswith("@"):
        raise NotUnderstood("an argument that begins with @, a file of options")
    if kind in _PATHS and _SCHEME.match(word.prefix):
        raise NotUnderstood(f"an address where a path is meant: {word.shown}")
    if kind in _PATHS:
        _apply_path(walk, str(kind), word, deed)
    elif kind == "plugin":
        if not _PLUGIN.fullmatch(word.exact or ""):
            raise NotUnderstood("a plugin")
    elif kind in _APPLY:
        _APPLY[kind](walk, word, deed)
    elif kind not in _TEXTS:
        raise NotUnderstood(f"a command as an argument: {word.shown}")


def _apply_path(walk: LineWalk, kind: str, word: Word, deed: Deed) -> None:
    if word.exact == "-" and kind in ("read", "list"):
        return
    if kind == "run" and word.exact is not None:
        word = plain_word(word.exact.partition("::")[0])
    paths = walk.at(word, deed.folders)
    match kind:
        case "read":
            deed.reads += paths
        case "list":
            deed.lists += paths
        case "write":
            deed.writes += paths
        case "into":
            deed.into += paths
        case "delete":
            deed.deletes += paths
        case "rw":
            deed.reads += paths
            deed.writes += paths
        case "upload":
            deed.reads += paths
            deed.add_effect("send", "sends a file")
        case _:
            deed.reads += paths
            deed.scripts += paths


def _apply_glob(walk: LineWalk, word: Word, deed: Deed) -> None:
    text = word.exact
    if text is None:
        raise NotUnderstood(f"names that are known only when it runs: {word.shown}")
    if not text.startswith("!"):
        names = patterns_in_braces(text.strip("/"))
        found = product(walk.here(deed), names)
        deed.reads += walk.count_paths(
            NamedPath(one.path, one.real, f"**/{name}") for one, name in found
        )


def _apply_name(_walk: LineWalk, word: Word, _deed: Deed) -> None:
    if not _NAME.fullmatch(word.exact or ""):
        raise NotUnderstood(f"a value that may name a file: {word.shown}")


def _apply_switch(_walk: LineWalk, word: Word, _deed: Deed) -> None:
    if not _SWITCH.fullmatch(word.exact or ""):
        raise NotUnderstood(f"a value that may name a file or a program: {word.shown}")


def _apply_layout(_walk: LineWalk, word: Word, _deed: Deed) -> None:
    if not _LAYOUT.fullmatch(word.exact or ""):
        raise NotUnderstood(f"a layout that may show what is secret: {word.shown}")


def _apply_host(_walk: LineWalk, word: Word, deed: Deed) -> None:
    if not word.exact:
        raise NotUnderstood("a host that is known only when it runs")
    deed.hosts.append(word.exact.lower())


def _apply_repository(_walk: LineWalk, word: Word, deed: Deed) -> None:
    if word.exact is None:
        raise NotUnderstood("a repository that is known only when it runs")
    read = _HOST_OF_REPOSITORY.match(word.exact)
    deed.hosts += [(read[1] or read[2] or "").lower()] if read else []


def _apply_body(walk: LineWalk, word: Word, deed: Deed) -> None:
    deed.add_effect("send", "sends what it is given")
    text = word.exact
    if text is None:
        if word.prefix.startswith(("@", "<")) or word.globs:
            raise NotUnderstood("a file to send that is known only when it runs")
        return
    for paths in _FILES_IN_BODY.findall(text):
        if '"' in paths or "\\" in paths:
            raise NotUnderstood("a file to send, in quotes")
        for path in dict.fromkeys((paths, *paths.split(","))):
            if path not in ("", "-"):
                deed.reads += walk.at(plain_word(path), deed.folders)


def _apply_target(walk: LineWalk, word: Word, deed: Deed) -> None:
    if _VERBOSE.fullmatch(word.exact or "") and deed.program in ("make", "gmake"):
        return
    if not _TARGET.fullmatch(word.exact or "") or "=" in (word.exact or ""):
        raise NotUnderstood(f"the target {word.shown}")
    name = word.exact or ""
    if "/" in name or (deed.program in _RUNS_FILES and "." in name):
        _apply_path(walk, "run", word, deed)
        deed.run_kinds.append(("run",))
        return
    kind, *more = re.split("[:_-]", name)
    if not _NEEDS_ITS_NAME.isdisjoint(more):
        deed.run_kinds.append((name,))
        return
    means = [_MEANS[kind]] if kind in _MEANS else []
    if _PYTHON.fullmatch(kind):
        means = ["test"]
    deed.run_kinds.append((name, kind, *means))


def _apply_package(_walk: LineWalk, word: Word, deed: Deed) -> None:
    text = word.exact or ""
    name = _PACKAGE_NAME.match(text)
    if name is None or not _PACKAGE.fullmatch(text):
        raise NotUnderstood(f"the package {word.shown}")
    deed.packages.append(name[0])


def apply_address(walk: LineWalk, word: Word, deed: Deed) -> None:
    """Add the host of an address; what of it is not known, or long, is sent.

    Raises:
        NotUnderstood: the host is not known, or the address has another form.
    """
    word = _without_pattern(word.fill_in(walk.facts.given.home))
    text = word.exact
    read = _ADDRESS.match(word.prefix)
    scheme = (read[1] or "http").lower() if read else ""
    if word.splits or scheme not in ("http", "https", "file") or read is None:
        raise NotUnderstood(f"an address of this form: {word.shown}")
    if text is None and not _WHOLE_HOST.match(word.prefix):
        raise NotUnderstood(f"a host that is known only when it runs: {word.shown}")
    if any(sign in word.prefix for sign in "[]{}\\"):
        raise NotUnderstood("an address with a pattern")
    if "@" in word.prefix.partition("?")[0]:
        raise NotUnderstood("an address with a user in it, or with a sign that may be one")
    if scheme == "file":
        raise NotUnderstood("an address of a file")
    if text is None or len(text.partition("?")[2]) > _LONGEST_QUERY:
        deed.add_effect("send", "sends a part of the address")
    host = _PORT.sub("", read[2]).lower()
    if not re.fullmatch(r"[a-z0-9._-]+", host):
        raise NotUnderstood(f"an address of this form: {word.shown}")
    deed.hosts.append(host)


def _without_pattern(word: Word) -> Word:
    """Return an address whose signs of a pattern stand after its host as it is.

    Whatever the pattern gives is an address of that host.
    """
    ends_host = _HOST_BEFORE.match(word.prefix)
    return plain_word(word.shown) if word.globs and not word.varies and ends_host else word


_APPLY: Final[dict[str | None, Callable[[LineWalk, Word, Deed], None]]] = {
    "glob": _apply_glob,
    "word": _apply_name,
    "switch": _apply_switch,
    "body": _apply_body,
    "target": _apply_target,
    "pkg": _apply_package,
    "url": apply_address,
    "host": _apply_host,
    "layout": _apply_layout,
    "repo": _apply_repository,
}
