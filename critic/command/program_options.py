"""Read the options of a program as the table lists them: no abbreviations, no guesses.

Rule 1: an option that the table does not list is not understood.
Rule 2: a word that may become an option, or several words, is not understood, unless no option of
        the program does harm and the word is a pattern of names, or none ends as the word does.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from critic.command.command_table import ProgramEntry, ProgramOption
from critic.command.shell_syntax import MaySplit, NotUnderstood, Word, plain_word

_DIGITS: Final = re.compile(r"-\d+")
_NO_MARKS: Final = frozenset[str]()
_ENDS_AS_NO_OPTION: Final = re.compile(r"\*\.[A-Za-z][\w-]*/?")
"""Patterns of names, none of which is an option of `rm`, though it begin with a dash."""

_LONG: Final = re.compile(r"(--[A-Za-z0-9][\w-]*)=")


class GivenOption(NamedTuple):
    """An option of a command, with its value if it has one.

    `is_late`: it is a letter after an operand, with its value in the next word.
    """

    option: ProgramOption
    value: Word | None
    is_late: bool = False

    @property
    def name(self) -> str:
        """The name of the option, with its dashes."""
        return self.option.name


class GivenArguments(NamedTuple):
    """The options and the operands of a command, in order."""

    options: tuple[GivenOption, ...]
    operands: tuple[Word, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names of the options."""
        return frozenset(given.name for given in self.options)

    @property
    def marks(self) -> frozenset[str]:
        """What the options change."""
        marked = [given.option.marks for given in self.options if given.option.marks]
        return frozenset().union(*marked) if marked else _NO_MARKS


def parse_options(
    entry: ProgramEntry, words: Sequence[Word], *, stops: bool = False
) -> GivenArguments:
    """Return the options and operands of a program; `stops`: options end at the first operand.

    Raises:
        NotUnderstood: an option that the table does not list, or a word that may become one.
    """
    reader = _OptionReader(entry, words)
    reader.read(stops=stops)
    return GivenArguments(tuple(reader.options), tuple(reader.operands))


class _OptionReader:
    def __init__(self, entry: ProgramEntry, words: Sequence[Word]) -> None:
        self._entry: Final = entry
        self._words: Final = words
        self._at = 0
        self.options: list[GivenOption] = []
        self.operands: list[Word] = []

    def read(self, *, stops: bool) -> None:
        while self._at < len(self._words):
            word = self._words[self._at]
            self._at += 1
            if word.exact == "--":
                break
            if word.prefix.startswith("-") and word.exact != "-":
                self._read_option(word)
                continue
            self._refuse_hidden_option(word)
            self.operands.append(word)
            if stops:
                break
        self.operands.extend(self._words[self._at :])
        if stops:  # the rest is another command, which is read by itself
            return
        for word in self.operands:
            if word.splits and word.varies:
                raise MaySplit(f"an argument that may become several: {word.shown}")

    def _refuse_hidden_option(self, word: Word) -> None:
        if self._entry.names == "rm" and _ENDS_AS_NO_OPTION.fullmatch(word.shown):
            return
        if word.exact is None and not word.prefix and (word.varies or not self._entry.safe):
            raise MaySplit(f"an argument that may become an option: {word.shown}")

    def _read_option(self, word: Word) -> None:
        text = word.exact
        if text is None:
            self._read_partly_known(word)
        elif self._entry.digits and _DIGITS.fullmatch(text):
            return
        elif self._is_long(text):
            self._read_long(text)
        else:
            self._read_letters(text)

    def _read_partly_known(self, word: Word) -> None:
        """Read `--name=` before a value that is known only when the line runs, or a pattern."""
        name = _LONG.match(word.prefix)
        option = self._entry.options.get(name[1]) if name else None
        if option is not None and option.kind == "glob" and not word.varies:
            # Names of files that it may become begin with the option too.
            self._add_attached(option, word.shown.partition("=")[2])
            return
        if option is None or option.kind not in ("text", "body") or word.splits:
            raise NotUnderstood(f"an option that is known only when it runs: {word.shown}")
        self.options.append(GivenOption(option, word))

    def _is_long(self, text: str) -> bool:
        if text.startswith("--") or self._entry.dashes == "one":
            return True
        name = text.partition("=")[0]
        return len(name) > 2 and name in self._entry.options

    def _read_long(self, text: str) -> None:
        name, equals, value = text.partition("=")
        if self._entry.dashes == "one" and name.startswith("--"):
            name = name[1:]
        option = self._find(name)
        if option.kind is None:
            if equals:
                raise NotUnderstood(f"a value of the option {name}")
            self.options.append(GivenOption(option, None))
        elif equals or option.kind == "?":
            self._add_attached(option, value)
        else:
            self._read_value(option)

    def _read_letters(self, text: str) -> None:
        for at in range(1, len(text)):
            option = self._find(f"-{text[at]}")
            if option.kind is None:
                self.options.append(GivenOption(option, None))
                continue
            rest = text[at + 1 :]
            if rest or option.kind == "?":
                self._add_attached(option, rest)
            else:
                self._read_value(option)
            return

    def _find(self, name: str) -> ProgramOption:
        option = self._entry.options.get(name)
        if option is None:
            programs = "/".join(self._entry.names.split())
            raise NotUnderstood(f"the option {name} of {programs}")
        return option

    def _add_attached(self, option: ProgramOption, value: str) -> None:
        if option.kind == "text2":
            raise NotUnderstood(f"a value of the option {option.name}")
        self.options.append(GivenOption(option, plain_word(value)))

    def _read_value(self, option: ProgramOption) -> None:
        values = self._words[self._at : self._at + (2 if option.kind == "text2" else 1)]
        self._at += len(values)
        if len(values) < (2 if option.kind == "text2" else 1):
            raise NotUnderstood(f"the option {option.name} without its value")
        for word in values:
            if word.splits:
                raise MaySplit(f"a value that may become several words: {word.shown}")
        late = bool(self.operands) and len(option.name) == 2
        self.options.append(GivenOption(option, values[0], is_late=late))
