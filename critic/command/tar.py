"""Read `tar`: one of `c`, `x` and `t`, with its archive, and no option but those listed here.

It starts a program to compress, through a shell of its own.
"""

import re
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, Folders, LineWalk
from critic.command.shell_syntax import NotUnderstood, Word, plain_word

_MODE: Final = re.compile(r"-?[cxtzjJvpkf]+")
_EXCLUDES: Final = re.compile(r"--exclude=[^\s]+")
_COMPRESSORS: Final = {"z": "gzip", "j": "bzip2", "J": "xz"}


def read_tar(walk: LineWalk, _entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add what `tar` reads and writes, and what it starts.

    Raises:
        NotUnderstood: an option or a path is not understood.
    """
    mode = words[0].exact if words else None
    if mode is None or not _MODE.fullmatch(mode) or len(words) < 2:
        raise NotUnderstood("tar of this form")
    action = {*mode} & {*"cxt"}
    if len(action) != 1 or "f" not in mode or (mode.startswith("-") and not mode.endswith("f")):
        raise NotUnderstood("tar of this form")
    archive = words[1]
    is_pipe = archive.exact == "-"
    if archive.exact is None or ":" in archive.exact or archive.exact.startswith("-") != is_pipe:
        raise NotUnderstood("an archive of this form")
    folders, files = _read_rest(walk, words[2:], deed)
    _add_compressors(walk, deed, mode)
    if action == {"c"}:
        for word in files:
            deed.reads += walk.at(word, folders)
        deed.writes += [] if is_pipe else walk.at(archive, deed.folders)
        return
    deed.reads += [] if is_pipe else walk.at(archive, deed.folders)
    if action == {"x"}:
        deed.into += walk.at(plain_word("."), folders)
        deed.brings = True
        walk.fill(deed.into)
        walk.age(deed.into, itself=False)


def _read_rest(
    walk: LineWalk, words: tuple[Word, ...], deed: Deed
) -> tuple[Folders, tuple[Word, ...]]:
    """Return the folders in which it works, and the names of files."""
    folders, files, at = deed.folders, list[Word](), 0
    while at < len(words):
        text = words[at].exact
        if text == "-C" and at + 1 < len(words) and folders is deed.folders and not files:
            folders = tuple(path.written for path in walk.at(words[at + 1], folders))
            at += 1
        elif text is None or not _EXCLUDES.fullmatch(text):
            if not words[at].prefix or words[at].prefix.startswith(("-", "@")):
                raise NotUnderstood(f"the option {words[at].shown} of tar")
            files.append(words[at])
        at += 1
    return folders, tuple(files)


def _add_compressors(walk: LineWalk, deed: Deed, mode: str) -> None:
    for letter, program in _COMPRESSORS.items():
        if letter not in mode and "c" in mode:
            continue
        for words in (
            ("/bin/sh", "-c", program),
            ("/bin/sh", "-c", f"{program} -d"),
            (program,),
            (program, "-d"),
        ):
            argv = tuple(map(plain_word, words))
            helper = Deed(deed.text, deed.folders, program, runs=True, argv=argv, wraps=True)
            walk.finish(helper)
