"""Read programs that run other programs: their words become the words of a command.

Rule 1: the wrapped command is read in place of the wrapper, in the same folders.
Rule 2: `xargs` takes names from what lists names only, through what hands whole lines on, for
        programs whose options do no harm. Errors among them, or text of the line, are no names.
        What `grep` asks for of a list of all files, it asks for by name.
"""

import re
from typing import Final

from critic.command.asked_names import names_let_through
from critic.command.builtin_readers import check_variable, split_assignment
from critic.command.command_table import ProgramEntry
from critic.command.deeds import ENVIRONMENT, Deed, LineWalk, NamedPath, Stdin
from critic.command.operand_kinds import apply_kind
from critic.command.program_options import parse_options
from critic.command.shell_syntax import NotUnderstood, Piece, Word

_SHELL_FLAGS: Final = re.compile(r"-[lceux]+")
_OWN_WORDS: Final = frozenset(
    ("-I", "-i", "-J", "-d", "-a", "--arg-file", "--delimiter", "--replace")
)
_PASSES_NAMES: Final[dict[str, frozenset[str]]] = {
    "sort": frozenset(("-f", "-h", "-n", "-r", "-R", "-u", "-V", "-z", "--reverse", "--unique")),
    "uniq": frozenset(("-d", "-i", "-u", "-z")),
    "head": frozenset(("-n", "-q", "-z", "--lines")),
    "tail": frozenset(("-n", "-q", "-z", "--lines")),
    "grep": frozenset(
        (
            *("-a", "-e", "-E", "-F", "-i", "-m", "-P", "-v", "-w", "-x", "-z", "--invert-match"),
            *("--extended-regexp", "--fixed-strings", "--ignore-case", "--regexp"),
        )
    ),
}
"""What hands whole lines on, and the options with which it still does."""


def run_wrapped(walk: LineWalk, words: tuple[Word, ...], deed: Deed, stdin: Stdin) -> None:
    """Read the command that a wrapper runs.

    Raises:
        NotUnderstood: there is none, or it is not understood.
    """
    if not words:
        raise NotUnderstood(f"{deed.program} without a command")
    deed.wraps = True
    inner = Deed(deed.text, deed.folders, sources=list(deed.sources), assigns=deed.assigns)
    number = walk.finish(deed)
    walk.run_words(words, inner, stdin)
    walk.add_inner(deed, number)


def read_env(walk: LineWalk, words: tuple[Word, ...], deed: Deed, stdin: Stdin) -> None:
    """Read `env`: alone it prints the environment.

    Raises:
        NotUnderstood: an option or a variable is not understood.
    """
    at = 0
    while at < len(words):
        assigned = split_assignment(words[at])
        if assigned is None:
            break
        check_variable(walk, *assigned)
        at += 1
    if at == len(words):
        deed.reads.append(NamedPath(ENVIRONMENT, ENVIRONMENT))
        walk.finish(deed)
        return
    name = words[at].exact
    if name is None or name.startswith("-") or "=" in name:
        raise NotUnderstood(f"this form of env: {words[at].shown}")
    deed.assigns = deed.assigns or at > 0
    run_wrapped(walk, words[at:], deed, stdin)


def read_xargs(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Read `xargs`: the command gets any names of files in the folder.

    Raises:
        NotUnderstood: the names come from elsewhere, or an option of the program may do harm.
    """
    given = parse_options(entry, words, stops=True)
    all_sources = [walk.deeds[number] for number in deed.sources]
    sources = [source for source in all_sources if source.program or source.reads]
    listing = [source for source in sources if source.found]
    if (
        given.names & _OWN_WORDS
        or not listing
        or any(one.feeds or (one.mixes and one.text != deed.text) for one in all_sources)
        or not all(_gives_names(walk, source) for source in sources)
    ):
        raise NotUnderstood("xargs of a list that is not names of files here")
    name = given.operands[0].exact if given.operands else None
    entries = walk.table.entries.get(name or "", {})
    program = entries.get("")
    if program is None or not program.safe:
        raise NotUnderstood(f"xargs with {given.operands[0].shown if given.operands else ''}")
    names = Word((Piece("glob", "**"),))
    deed.wraps = True
    inner = Deed(deed.text, deed.folders, sources=list(deed.sources))
    number = walk.finish(deed)
    walk.run_words([*given.operands, names], inner, "text")
    walk.add_inner(deed, number)
    inner.argv = (*inner.argv[:-1], None)
    inner.note = "the names come from a list"
    for one in listing:
        inner.reads += one.found
    found = [path for one in listing for path in one.found]
    known = all(one.program == "git ls-files" for one in listing)
    for source in sources:
        inner.reads += walk.count_paths(names_let_through(walk, source, found, known=known))


def _gives_names(walk: LineWalk, deed: Deed) -> bool:
    """Return whether a deed prints names that it found, or some of those that it gets."""
    if deed.found:
        return True
    fine = _PASSES_NAMES.get(deed.program)
    entry = walk.table.entries.get(deed.program, {}).get("")
    words = [word for word in deed.argv[1:] if word is not None]
    if fine is None or entry is None or deed.reads or deed.writes:
        return False
    return parse_options(entry, words).names <= fine


def read_shell(walk: LineWalk, words: tuple[Word, ...], deed: Deed, stdin: Stdin) -> bool:
    """Read a shell with a text; return whether it was one, and not a script.

    Raises:
        NotUnderstood: the text is not known or not understood, or comes from the input.
    """
    if len(words) == 2 and words[0].exact == "-n":  # only looks for faults
        apply_kind(walk, "read", words[1], deed)
        walk.finish(deed)
        return True
    flags, at = "", 0
    while at < len(words) and _SHELL_FLAGS.fullmatch(words[at].exact or ""):
        flags += words[at].exact or ""
        at += 1
    rest = words[at:]
    if "c" not in flags:
        if not rest:
            raise NotUnderstood(f"{deed.program} reads its program from its input")
        if rest[0].prefix.startswith("-") or rest[0].exact is None:
            raise NotUnderstood(f"the option {rest[0].shown} of {deed.program}")
        return False
    if len(rest) != 1 or rest[0].exact is None:
        raise NotUnderstood(f"a text for {deed.program} that is known only when it runs")
    deed.wraps = True
    number = walk.finish(deed)
    walk.run_text(rest[0].exact, deed, stdin, extended=deed.program == "bash")
    walk.add_inner(deed, number)
    return True
