"""Read the words of one program: find its entry in the table, and the reader of its arguments.

Rule 1: a program is known by its name, from a folder of the system; a path to another file runs
        code of the repository.
Rule 2: what the table does not have is not understood.
"""

import re
from collections.abc import Callable
from typing import Final

from critic.command.asked_names import names_looked_for
from critic.command.awk import read_awk, read_jq
from critic.command.builtin_readers import (
    read_clock,
    read_exit,
    read_export,
    read_printf,
    read_set,
    read_test,
)
from critic.command.code_runners import (
    ask_about_itself,
    is_known_binary,
    name_kinds,
    read_coverage,
    read_interpreter,
    read_npm,
    read_npx,
    read_pip,
    read_runner,
    refuse_guarded,
    run_script,
)
from critic.command.command_table import ProgramEntry
from critic.command.curl import read_curl
from critic.command.deeds import Deed, LineWalk, NamedPath, Stdin
from critic.command.file_moves import (
    read_chmod,
    read_compiler,
    read_copy,
    read_gzip,
    read_link,
    read_mkdir,
    read_move,
    read_unzip,
    read_zip,
)
from critic.command.find import read_find
from critic.command.git_commands import read_git
from critic.command.operand_kinds import apply_arguments
from critic.command.program_options import GivenArguments, parse_options
from critic.command.sed import read_sed
from critic.command.shell_facts import is_below
from critic.command.shell_syntax import NotUnderstood, Word
from critic.command.tar import read_tar
from critic.command.wrappers import read_env, read_shell, read_xargs, run_wrapped

_SYSTEM: Final = re.compile(r"/(?:usr/)?(?:local/)?s?bin/([\w.+\[-]+)")
_SLASHES: Final = re.compile(r"/(?:\.?/)+")
_INSTALLED: Final = re.compile(
    r"(?:\./|.*/)?(?:node_modules/\.bin|\.?venv/bin)/([\w.-]+)", re.DOTALL
)
_WRAPPER: Final = re.compile(r"(?:.*/)?(gradlew|mvnw)", re.DOTALL)
_VERSIONED: Final = re.compile(r"python3\.\d+")
_ASKS_ABOUT_ITSELF: Final = frozenset(("--version", "--help"))
_NO_PROGRAMS: Final = frozenset(("env", "xargs", "shell", "test", "cd", "export", "set", "exit"))
_Reader = Callable[[LineWalk, ProgramEntry, tuple[Word, ...], Deed], None]
_READERS: Final[dict[str, _Reader]] = {
    "find": read_find,
    "sed": read_sed,
    "awk": read_awk,
    "jq": read_jq,
    "curl": read_curl,
    "tar": read_tar,
    "unzip": read_unzip,
    "printf": read_printf,
    "test": read_test,
    "clock": read_clock,
    "export": read_export,
    "set": read_set,
    "exit": read_exit,
    "npm": read_npm,
    "pip": read_pip,
    "copy": read_copy,
    "move": read_move,
    "link": read_link,
    "mkdir": read_mkdir,
    "chmod": read_chmod,
    "gzip": read_gzip,
    "zip": read_zip,
    "compiler": read_compiler,
}


def read_program(
    walk: LineWalk, words: tuple[Word, ...], deed: Deed, stdin: Stdin, *, wrapped: bool
) -> None:
    """Add what a program does, and finish its deed; `wrapped`: another program starts it.

    Raises:
        NotUnderstood: the program or its arguments are not understood.
    """
    home = walk.facts.given.home
    words = tuple(word.fill_in(home) for word in words)
    name = words[0].exact
    if not name:
        raise NotUnderstood(f"a program that is known only when it runs: {words[0].shown}")
    deed.argv = words
    program = _find_program(walk, words[0], name, deed)
    if program is None:
        _refuse_exported(walk)
        walk.finish(deed)
        return
    deed.program = program
    entries = walk.table.entries.get(program)
    if not entries:
        raise NotUnderstood(f"the program {name}")
    builtin = next(iter(entries.values())).builtin
    outside = wrapped or "/" in name
    if builtin == "only" and outside:
        raise NotUnderstood(f"{name} as a program")
    deed.runs = not builtin or outside
    if deed.runs:
        _refuse_exported(walk)
    if deed.runs and "/" not in name and not walk.facts.has_safe_path():
        raise NotUnderstood("programs by name, where the project can write a folder of PATH")
    _read_arguments(walk, program, words[1:], deed, stdin)
    if deed.scripts and "/" in name:  # a file of the project, whatever its name promises
        deed.add_effect("run", "runs a program of the project")
        deed.run_kinds = deed.run_kinds or [(program,)]


def _refuse_exported(walk: LineWalk) -> None:
    if walk.exported:
        raise NotUnderstood(f"a program after export gave {walk.exported} a value")


def _find_program(walk: LineWalk, word: Word, name: str, deed: Deed) -> str | None:
    """Return the name of a program in the table, or None for a script, which is added."""
    if "/" not in name:
        return "python3" if _VERSIONED.fullmatch(name) else name
    if system := _SYSTEM.fullmatch(_SLASHES.sub("/", name)):
        return "python3" if _VERSIONED.fullmatch(system[1]) else system[1]
    deed.runs = True
    installed = _INSTALLED.fullmatch(name) or _WRAPPER.fullmatch(name)
    if installed and installed[1] in walk.table.entries:
        deed.scripts += walk.at(word, deed.folders)
        return installed[1]
    deed.program = name
    run_script(walk, word, deed)
    if not all(is_below(path.real, walk.facts.given.root) for path in deed.scripts):
        raise NotUnderstood(f"a program outside the project, by its path: {name}")
    return None


def _read_arguments(
    walk: LineWalk, program: str, words: tuple[Word, ...], deed: Deed, stdin: Stdin
) -> None:
    entries = walk.table.entries[program]
    reader = next(iter(entries.values())).reader
    only = words[0].exact if len(words) == 1 else None
    if only in _ASKS_ABOUT_ITSELF and reader not in _NO_PROGRAMS and only not in entries:
        ask_about_itself(program, entries, deed)
        walk.finish(deed)
        return
    if program == "git":
        read_git(walk, words, deed)
        walk.finish(deed)
        return
    entry, rest = _find_entry(program, walk, words)
    if entry.effect:
        deed.add_effect(entry.effect)
    deed.hosts += entry.host.split()
    if entry.passes:
        cut = next((at for at, word in enumerate(rest) if word.exact == "--"), len(rest))
        refuse_guarded(walk, rest[cut:])
        rest = rest[:cut]
    _apply_reader(walk, entry, rest, deed, stdin)


def _find_entry(
    program: str, walk: LineWalk, words: tuple[Word, ...]
) -> tuple[ProgramEntry, tuple[Word, ...]]:
    entries = walk.table.entries[program]
    leading = entries[""].entry_before if "" in entries else None
    if leading is not None and len(words) > 1 and words[0].prefix.startswith("-"):
        words = parse_options(leading, words, stops=True).operands
    first = words[0].exact if words else None
    second = words[1].exact if len(words) > 1 else None
    if f"{first}/{second}" in entries:
        return entries[f"{first}/{second}"], words[2:]
    if first not in entries and "exec" in entries and is_known_binary(first):
        return entries["exec"], words
    if first and first in entries:
        return entries[first], words[1:]
    if "" not in entries:
        raise NotUnderstood(f"{program} {words[0].shown if words else ''}".strip())
    return entries[""], words


def _add_shown_names(walk: LineWalk, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the folders elsewhere whose names a pattern gives to a program that only shows text."""
    for word in words:
        known = word.fill_in(walk.facts.given.home)
        if known.globs and not known.varies and (known.prefix[:1] == "/" or ".." in known.prefix):
            deed.lists += walk.at(known, deed.folders)


def _apply_reader(
    walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed, stdin: Stdin
) -> None:
    if entry.free or {*entry.operands.kinds} == {"text"}:
        _add_shown_names(walk, words, deed)
    if entry.free:
        walk.finish(deed)
        return
    if _apply_wrapper(walk, entry, words, deed, stdin):
        return
    read = _READERS.get(entry.reader)
    if read is not None:
        read(walk, entry, words, deed)
    else:
        given = _read_plain(walk, entry, words, deed)
        if "cmd" in entry.operands.kinds:
            place = entry.operands.kinds.index("cmd")
            run_wrapped(walk, given.operands[place:], deed, stdin)
            return
    if not deed.run_kinds and entry.run_kinds:
        deed.run_kinds = [entry.run_kinds]
    if not deed.is_finished:
        walk.finish(deed)
    walk.age_links(deed.deletes)


def _apply_wrapper(
    walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed, stdin: Stdin
) -> bool:
    """Read what runs another program; return whether it is one."""
    if entry.reader == "env":
        read_env(walk, words, deed, stdin)
    elif entry.reader == "xargs":
        read_xargs(walk, entry, words, deed)
    elif entry.reader == "coverage":
        read_coverage(walk, entry, words, deed, stdin)
    elif entry.reader == "runner":
        read_runner(walk, words, deed, stdin)
    elif entry.reader == "shell":
        if not read_shell(walk, words, deed, stdin):
            run_script(walk, words[0], deed)
            walk.finish(deed)
    elif entry.reader == "npx":
        _read_other(walk, read_npx(walk, words, deed), deed, stdin)
    elif entry.reader == "interpreter":
        module = read_interpreter(walk, words, deed, stdin)
        if module is not None:
            _read_other(walk, module, deed, stdin)
        else:
            walk.finish(deed)
    else:
        return False
    return True


def _read_other(walk: LineWalk, words: tuple[Word, ...], deed: Deed, stdin: Stdin) -> None:
    """Read the arguments of a program that a runner stands for."""
    deed.program = words[0].exact or ""
    if deed.program not in walk.table.entries:
        raise NotUnderstood(f"the program {deed.program}")
    _read_arguments(walk, deed.program, words[1:], deed, stdin)
    if "run" in deed.does and not deed.run_kinds:
        deed.run_kinds = [name_kinds(deed.program)]


def _read_plain(
    walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed
) -> GivenArguments:
    """Add what options and operands mean by the table alone."""
    needs = entry.needs_option
    wraps = "cmd" in entry.operands.kinds
    looks_up = needs and entry.builtin == "only"  # otherwise it runs the program that it names
    given = parse_options(entry, words, stops=wraps or looks_up)
    marks = given.marks
    if needs and "need" not in marks:
        raise NotUnderstood(f"{deed.program} of this form")
    if wraps:
        _check_wrapper(walk, entry, given, deed)
        return given
    read = apply_arguments(walk, entry, given, deed, only_checks="check" in marks)
    if (entry.folder or "folder" in marks) and not _names_paths(entry, given):
        read = _add_folder(walk, entry, deed, only_checks="check" in marks)
    if "write" in marks:
        deed.writes += read
    if "names" in marks or entry.lists_names:
        deed.found = list(deed.reads or deed.lists)
    if entry.lists_names:
        deed.found += walk.count_paths(names_looked_for(entry, given, deed.found))
    if "send" in marks:
        deed.add_effect("send")
    if "discard" in marks:
        deed.add_effect("discard")
    return given


def _check_wrapper(walk: LineWalk, entry: ProgramEntry, given: GivenArguments, deed: Deed) -> None:
    place = entry.operands.kinds.index("cmd")
    if len(given.operands) <= place:
        raise NotUnderstood(f"{deed.program} without a command")
    if any(word.splits for word in given.operands[:place]):
        raise NotUnderstood(f"an argument of {deed.program} that may become several")
    trial = GivenArguments(given.options, ())
    apply_arguments(walk, entry, trial, deed)


def _names_paths(entry: ProgramEntry, given: GivenArguments) -> bool:
    """Return whether an operand is a path."""
    skipped = 1 if "script" in given.marks else 0
    kinds = (entry.operands.kind_of(at + skipped) for at in range(len(given.operands)))
    return any(kind not in ("text", "script", "ref", "target") for kind in kinds)


def _add_folder(
    walk: LineWalk, entry: ProgramEntry, deed: Deed, *, only_checks: bool
) -> tuple[NamedPath, ...]:
    """Add the folder of a program without operands; return it if it is read."""
    folder = walk.here(deed)
    kind = entry.operands.kinds[-1] if entry.operands.kinds else "read"
    if kind == "list":
        deed.lists += folder
        return ()
    deed.reads += folder
    if kind == "rw" and not only_checks:
        deed.writes += folder
    if kind in ("run", "target"):
        deed.scripts += folder
    return tuple(folder)
