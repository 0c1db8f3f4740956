"""Compare what a line did in a jail with what was read from it: nothing may happen unforeseen."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final, NamedTuple

from critic.command.command_table import CommandTable
from critic.command.deeds import Deed, NamedPath
from critic.command.shell_facts import ShellFacts, ShellName, is_below
from critic.command.shell_syntax import NotUnderstood, Word
from critic.command.steps import read_deeds, read_steps
from tests.assurance.shells.drawn_lines import DrawnLine
from tests.assurance.shells.jail import Called, Jail
from tests.support.shell_worlds import World

WORLD: Final = World(links={"/w/out": "/home/u/docs"})
_NEVER: Final = re.compile(r"\b(sleep|yes|tail\s.*-[a-zA-Z]*[fF])\b|/dev/(zero|urandom|random)")
"""Lines that would go on for ever."""


class Tally(NamedTuple):
    """What was tried in one shell, and the lines that did what was not read from them.

    `idle`: lines that were understood and in which no program ran and no file changed. `abouts` are
    what lines were drawn for; `understood_abouts`, those of which one was understood.
    """

    lines: int = 0
    understood: int = 0
    programs: int = 0
    files: int = 0
    idle: int = 0
    unforeseen: tuple[tuple[str, str], ...] = ()
    abouts: tuple[str, ...] = ()
    understood_abouts: tuple[str, ...] = ()

    def plus(self, other: "Tally") -> "Tally":
        """Return both together."""
        return Tally(
            self.lines + other.lines,
            self.understood + other.understood,
            self.programs + other.programs,
            self.files + other.files,
            self.idle + other.idle,
            (*self.unforeseen, *other.unforeseen),
            (*dict.fromkeys((*self.abouts, *other.abouts)),),
            (*dict.fromkeys((*self.understood_abouts, *other.understood_abouts)),),
        )


def hear_lines(
    jail: Jail, shell: ShellName, lines: Iterator[DrawnLine], most: int, table: CommandTable
) -> Tally:
    """Run lines until so many were understood, and return what came of it."""
    jail.plant()
    before, tally = jail.files(), Tally()
    abouts, understood = dict[str, None](), dict[str, None]()
    for line, about in lines:
        tally = tally._replace(lines=tally.lines + 1)
        abouts[about] = None
        deeds = _read(line, shell, table)
        if deeds is None or _NEVER.search(line) or "\0" in line:
            continue
        called = jail.run(line, tally.lines % 2)
        after = jail.files()
        changed = {one for one in before.keys() | after.keys() if before.get(one) != after.get(one)}
        first = next(unforeseen(deeds, called, changed), None)
        understood[about] = None
        tally = tally._replace(
            understood=tally.understood + 1,
            programs=tally.programs + len(called),
            files=tally.files + len(changed),
            idle=tally.idle + (not called and not changed),
            unforeseen=(*tally.unforeseen, *([] if first is None else [(line, first)])),
        )
        if changed:
            jail.plant()
            before = jail.files()
        if tally.understood >= most:
            break
    return tally._replace(abouts=tuple(abouts), understood_abouts=tuple(understood))


def _read(line: str, shell: ShellName, table: CommandTable) -> tuple[Deed, ...] | None:
    facts = WORLD.facts("/w", shell)
    read = read_steps(line, facts, table)
    known: ShellFacts = WORLD.answer(read.needs, facts) if read.needs else facts
    try:
        return read_deeds(line, known, table)
    except NotUnderstood:
        return None


def unforeseen(deeds: tuple[Deed, ...], called: list[Called], changed: set[str]) -> Iterator[str]:
    """Yield the programs that were called, and the paths that changed, that no deed says."""
    programs = [({*map(_real, deed.folders)}, pattern_of(deed.argv)) for deed in deeds if deed.runs]
    for folder, *words in called:
        text = "".join(f"{word}\0" for word in words)
        if not any(folder in at and re.fullmatch(form, text, re.DOTALL) for at, form in programs):
            yield f"{folder}: {words}"
    if any("system" in deed.does for deed in deeds):
        return  # it is asked about as a whole, whatever it writes
    exact, below = set[str](), set[str]()
    for deed in deeds:
        for path in deed.writes:
            (below if path.pattern else exact).update(_spellings(path))
        for path in chain(deed.into, deed.deletes):
            below.update(_spellings(path))
    for place in sorted(changed - exact):
        if not any(is_below(place, one) for one in below):
            yield place


def pattern_of(words: tuple[Word | None, ...]) -> str:
    """Return the expression that the words of a program match, each with a NUL behind it."""
    parts = []
    for at, word in enumerate(words):
        one = "".join(
            re.escape(piece.text) if piece.kind == "text" else "[^\0]*"
            for piece in (word.pieces if word else ())
        )
        if at == 0:
            one = one.rpartition("/")[2]  # a stub knows its name alone
        several = word is None or word.splits
        parts.append("(?:[^\0]*\0)*" if several else f"{one}\0")
    return "".join(parts)


def _spellings(path: NamedPath) -> set[str]:
    return {_real(one) for one in (path.path, path.real)} | {path.path}


def _real(path: str) -> str:
    return WORLD.real_path(path)
