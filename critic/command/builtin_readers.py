"""Read programs and parts of shells whose arguments have a form of their own, but do little."""

import re
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk
from critic.command.operand_kinds import apply_arguments
from critic.command.program_options import parse_options
from critic.command.shell_syntax import NAME, NotUnderstood, Word, plain_word

_FORMAT: Final = re.compile(
    r"(?:[^%]|%%|%[-+ #0]*[\d*]*(?:\.[\d*]*)?[sbqdiouxXeEfFgGaAc])*", re.DOTALL
)
_NUMBER_FORMAT: Final = re.compile(r"%[^%a-zA-Z]*[diouxXeEfFgGaAc]|%[^%a-zA-Z]*\*")
_NUMBER: Final = re.compile(r"-?[\d.]+")
_PLAIN_VALUE: Final = re.compile(r"[\w.,:@+-]*")
_COUNT: Final = re.compile(r"\d{0,9}")
_TRUTH_VALUE: Final = re.compile(r"\d{0,9}|true|false|yes|no|on|off", re.IGNORECASE)
_LOCALES: Final = ("LANG", "LC_")
_LOCALE: Final = re.compile(r"|C|POSIX|[\w.]+\.utf-?8", re.IGNORECASE)
_SET_OPTIONS: Final = frozenset(("-e", "-u", "-x", "-o"))
_SET_NAMES: Final = frozenset(("errexit", "nounset", "pipefail", "xtrace"))
_FOLDERS: Final = re.compile(r"(\.|[\w-]+)(/[\w-]+)*(:(\.|[\w-]+)(/[\w-]+)*)*")
_ASSIGNS: Final = re.compile(rf"({NAME.pattern})=")
_DATE_OPTIONS: Final = frozenset(("-u", "-R", "-I", "-d", "--utc", "--iso-8601", "--date"))
_HOST_OPTIONS: Final = frozenset(("-f", "-s", "-i", "-I"))
_COMPUTES: Final = frozenset(("-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_WHOLE_NUMBER: Final = re.compile(r"-?\d{1,18}")
_TEST_SIGNS: Final = frozenset(("-v", "-R", "(", ")", "-a", "-o"))


def check_variable(
    walk: LineWalk, name: str, value: Word, *, alone: bool = False, inside: bool = False
) -> None:
    """Refuse a variable that decides what programs do, or a value that may.

    `alone`: no program follows. `inside`: code of the repository is run, by folders inside it.

    Raises:
        NotUnderstood: the variable or its value is not harmless.
    """
    text = value.exact
    if inside and name == "PYTHONPATH" and _FOLDERS.fullmatch(text or ""):
        return
    if text is not None and walk.names.is_fine_value(name, text):
        return
    if walk.names.is_never_set(name):
        raise NotUnderstood(f"the variable {name}, which decides what programs do")
    if name.startswith(_LOCALES) and not _LOCALE.fullmatch(text or ""):
        raise NotUnderstood(f"a value of the variable {name}, by which a shell reads characters")
    if walk.names.is_computed(name) and not _COUNT.fullmatch(text or ""):
        raise NotUnderstood(f"a value of the variable {name}, which a shell computes")
    if alone:
        return
    if walk.names.is_plain_variable(name) and text is not None and _PLAIN_VALUE.fullmatch(text):
        return
    if text is None or not _TRUTH_VALUE.fullmatch(text):
        raise NotUnderstood(f"a value of the variable {name}")


def split_assignment(word: Word) -> tuple[str, Word] | None:
    """Return the name and the value of a word `NAME=VALUE` that is known, or None."""
    text = word.exact
    found = _ASSIGNS.match(text) if text is not None else None
    if found is None or text is None:
        return None
    return found[1], plain_word(text[found.end() :])


def read_printf(
    _walk: LineWalk, _entry: ProgramEntry, words: tuple[Word, ...], _deed: Deed
) -> None:
    """Refuse numbers, which zsh computes: `printf %d 'a[$(id)]'`."""
    form = words[0].exact if words else None
    if form is None or form.startswith("-"):
        raise NotUnderstood("printf without a known format")
    if not _FORMAT.fullmatch(form):
        raise NotUnderstood("a format of printf that may set a variable")
    if _NUMBER_FORMAT.search(form) and not _all_match(_NUMBER, words[1:]):
        raise NotUnderstood("a number that printf may compute (zsh)")


def read_exit(_walk: LineWalk, _entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Refuse a status that is computed."""
    if len(words) > 1 or not all((word.exact or "").isdecimal() for word in words):
        raise NotUnderstood(f"{deed.program} of a value that may be computed")


def read_test(_walk: LineWalk, _entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Refuse tests of values that are computed, and tests that are joined."""
    texts = [word.exact for word in words]
    if deed.program == "[" and texts[-1:] != ["]"]:
        raise NotUnderstood("[ without ]")
    for text in texts:
        if text is None or text in _TEST_SIGNS or "$" in text or "`" in text or len(texts) > 5:
            raise NotUnderstood("a test of this form")
    if not _COMPUTES.isdisjoint(texts):
        left = [text or "" for text in texts if text not in _COMPUTES | {"!", "]"}]
        if not all(map(_WHOLE_NUMBER.fullmatch, left)):
            raise NotUnderstood("a number that a test may compute (zsh)")


def read_clock(_walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Refuse what sets the time or the name of the machine."""
    given = parse_options(entry, words)
    if deed.program == "date":
        known = all((word.exact or "").startswith("+") for word in given.operands)
        options = given.names <= _DATE_OPTIONS
    else:
        known = not given.operands
        options = given.names <= _HOST_OPTIONS
    if not known or not options:
        raise NotUnderstood(f"this form of {deed.program}")


def read_set(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Refuse `set` alone, which prints all variables."""
    if not words:
        raise NotUnderstood("set alone, which prints all variables")
    given = parse_options(entry, words)
    named = {one.value.exact for one in given.options if one.value is not None}
    if given.operands or not given.names <= _SET_OPTIONS or not named <= _SET_NAMES:
        raise NotUnderstood("set of this form, which may change how the line is read")
    apply_arguments(walk, entry, given, deed)


def read_export(walk: LineWalk, _entry: ProgramEntry, words: tuple[Word, ...], _deed: Deed) -> None:
    """Refuse `export` alone, which prints the environment, and variables that decide.

    A plain value of any other variable is fine, as long as no program follows that may read it.
    """
    if not words:
        raise NotUnderstood("export alone, which prints the environment")
    for word in words:
        assigned = split_assignment(word)
        if assigned is None:
            raise NotUnderstood("export of this form")
        name, value = assigned
        text = value.exact or ""
        check_variable(walk, name, value, alone=_PLAIN_VALUE.fullmatch(text) is not None)
        known = walk.names.is_plain_variable(name) or walk.names.is_fine_value(name, text)
        if not known and not _TRUTH_VALUE.fullmatch(text):
            walk.exported = name


def _all_match(pattern: re.Pattern[str], words: tuple[Word, ...]) -> bool:
    return all(pattern.fullmatch(word.exact or "") for word in words)
