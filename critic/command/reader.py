"""Read the words of a command line: quotes, escapes, variables, patterns, braces.

Rule 1: a construct that bash, dash and zsh do not read alike is not understood.
Rule 2: a word is what the shell hands to the program, or says which part of it is not known.
Rule 3: each character is looked at a bounded number of times.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final, NoReturn

from critic.command.shell_syntax import NAME, Node, NotUnderstood, Piece, Word

_MOST_BYTES: Final = 16 * 1024
_MOST_ALTERNATIVES: Final = 20
_MOST_PIECES: Final = 500
_ENDS_WORD: Final = " \t\n;&|<>()"
_LONE_BRACKET: Final = re.compile(r"[\[\]](?=[\s;&|)]|$)")
_LONE_TILDE: Final = re.compile(r"~(?=[/\s;&|)]|$)")
_EMPTY_BRACES: Final = re.compile(r"\{[A-Za-z0-9_]*\}")
_BRACES: Final = re.compile(r"\{([A-Za-z0-9_./-]*(?:,[A-Za-z0-9_./-]*)+)\}")
_BRACED_NAME: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_COUNT: Final = re.compile(r"#(?=[\s\"';]|$)")
_PLAIN: Final = re.compile(r"[^ \t\n;&|<>()\\'\"$`*?\[{~]+")
_PLAIN_WORD: Final = re.compile(r"(?!=)[\w!#%+,./:=@^}-]+(?=[ \t\n;&|<>()]|$)", re.ASCII)
_PLAIN_IN_QUOTES: Final = re.compile(r"[^\"$`\\\n]+")
_CONTROL: Final = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f\\ud800-\\udfff]")
_Add = Callable[[Piece], None]


class WordReader(ABC):
    """A place in a command line, and what reads a word from there."""

    def __init__(self, text: str, *, extended: bool) -> None:
        """Begin at the start of a text; `extended`: the shell is bash or zsh, and not dash.

        Raises:
            NotUnderstood: the text is too long, or holds a control character.
        """
        if len(text) > _MOST_BYTES or len(text.encode("utf-8", "surrogatepass")) > _MOST_BYTES:
            raise NotUnderstood("a command over 16 KiB")
        if _CONTROL.search(text):
            raise NotUnderstood("a control character")
        self.text: Final = text
        self.at = 0
        self.extended: Final = extended

    @abstractmethod
    def read_list(self, end: str) -> Node:
        """Read commands up to `end`, which stays unread."""

    @property
    @abstractmethod
    def awaits_heredoc(self) -> bool:
        """Whether the next line is the text of a heredoc."""

    def fail(self, construct: str) -> NoReturn:
        """Say that a construct is not understood."""
        raise NotUnderstood(construct)

    def peek(self, length: int = 1) -> str:
        """Return the next characters; fewer at the end."""
        return self.text[self.at : self.at + length]

    def read_words(self) -> list[Word]:
        """Read one word: several where braces list alternatives."""
        start = self.at
        if plain := _PLAIN_WORD.match(self.text, start):  # which most words are
            self.at = plain.end()
            return [Word((Piece("text", plain[0]),), start, self.at)]
        if _LONE_BRACKET.match(self.text, start):
            self.at += 1
            return [Word((Piece("text", self.text[start]),), start, self.at)]
        return [Word(tuple(one), start, self.at) for one in self._read_alternatives(start)]

    def _read_alternatives(self, start: int) -> list[list[Piece]]:
        if self.peek() == "=":
            self.fail("a word that begins with = (zsh)")
        alternatives: list[list[Piece]] = [[]]

        def add(piece: Piece) -> None:
            for one in alternatives:
                _append(one, piece)

        while self.at < len(self.text) and self.peek() not in _ENDS_WORD:
            if self.peek() == "{":
                alternatives = self._read_braces(alternatives)
            elif self.peek() == "~":
                self._read_tilde(start, alternatives[0], add)
            else:
                self._read_piece(add)
        if len(alternatives) > _MOST_ALTERNATIVES:
            self.fail("more than 20 alternatives")
        if len(alternatives[0]) > _MOST_PIECES:
            self.fail("a word of more than 500 parts")
        return alternatives

    def _read_piece(self, add: _Add) -> None:
        char = self.peek()
        match char:
            case "\\":
                self._read_escape(add)
            case "'":
                self._read_single_quotes(add)
            case '"':
                self._read_double_quotes(add)
            case "$":
                self._read_dollar(add, quoted=False)
            case "`":
                self.fail("a backquote")
            case "*" | "?" | "[":
                self.at += 1
                add(Piece("glob", char))
            case _:
                self._read_plain(add)

    def _read_plain(self, add: _Add) -> None:
        plain = _PLAIN.match(self.text, self.at)
        if plain is None or not plain[0].isprintable():
            self.fail("a character that does not print")
        self.at = plain.end()
        add(Piece("text", plain[0]))

    def _read_escape(self, add: _Add) -> None:
        char = self.text[self.at + 1 : self.at + 2]
        if char in ("", "\n"):
            self.fail("a backslash at the end" if not char else "a word over two lines")
        self.at += 2
        add(Piece("text", char, quoted=True))

    def _read_single_quotes(self, add: _Add) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.fail("an open quote")
        quoted = self.text[self.at + 1 : end]
        if self.awaits_heredoc and "\n" in quoted:
            self.fail("a line break in quotes before a heredoc")
        self.at = end + 1
        add(Piece("text", quoted, quoted=True))

    def _read_double_quotes(self, add: _Add) -> None:
        self.at += 1
        add(Piece("text", "", quoted=True))
        while (char := self.peek()) != '"':
            if not char:
                self.fail("an open quote")
            if char == "`":
                self.fail("a backquote")
            if char == "$":
                self._read_dollar(add, quoted=True)
            elif char == "\\":
                self._read_escape_in_quotes(add)
            else:
                self._refuse_line_break(char)
                plain = _PLAIN_IN_QUOTES.match(self.text, self.at)
                self.at = plain.end() if plain else self.at + 1
                add(Piece("text", plain[0] if plain else char, quoted=True))
        self.at += 1

    def _read_escape_in_quotes(self, add: _Add) -> None:
        char = self.text[self.at + 1 : self.at + 2]
        if char == "\n":
            self._refuse_line_break(char)
            self.at += 2
            return
        escaped = char in ("$", "`", '"', "\\")
        add(Piece("text", char if escaped else "\\", quoted=True))
        self.at += 2 if escaped else 1

    def _refuse_line_break(self, char: str) -> None:
        if char == "\n" and self.awaits_heredoc:
            self.fail("a line break in quotes before a heredoc")

    def _read_dollar(self, add: _Add, *, quoted: bool) -> None:
        self.at += 1
        char = self.peek()
        if name := NAME.match(self.text, self.at):
            self.at = name.end()
            if self.peek() in ("[", ":"):
                self.fail("a variable with [ or : after it")
            add(Piece("variable", name[0], quoted))
        elif char == "{":
            braced = _BRACED_NAME.match(self.text, self.at)
            if braced is None:
                self.fail("an expansion of this form: ${")
            self.at = braced.end()
            add(Piece("variable", braced[1], quoted))
        elif char == "?" or (char == "#" and _COUNT.match(self.text, self.at)):
            self.at += 1
            add(Piece("variable", char, quoted=True))
        elif char == "(":
            add(Piece("output", "", quoted, self._read_output()))
        elif self._is_plain_dollar(char, quoted=quoted):
            add(Piece("text", "$", quoted))
        else:
            self.fail(f"an expansion of this form: ${char}")

    def _is_plain_dollar(self, char: str, *, quoted: bool) -> bool:
        if quoted:
            return char != "" and char in "\" |)/,.'"
        return char == "" or char in " \t\n;&|)"

    def _read_output(self) -> Node:
        if self.peek(2) == "((":
            self.fail("arithmetic")
        if self.awaits_heredoc:
            self.fail("a substitution before a heredoc")
        self.at += 1
        node = self.read_list(")")
        if self.awaits_heredoc:
            self.fail("a heredoc that ends outside its brackets")
        self.at += 1
        return node

    def _read_tilde(self, start: int, pieces: list[Piece], add: _Add) -> None:
        if self.at == start:
            if not _LONE_TILDE.match(self.text, self.at):
                self.fail("a tilde of this form")
            self.at += 1
            add(Piece("variable", "HOME", quoted=True))
            return
        nothing_yet = not any(piece.text or piece.kind == "output" for piece in pieces)
        if nothing_yet or self.text[self.at - 1] in "=:":
            self.fail("a tilde of this form")
        self.at += 1
        add(Piece("text", "~"))

    def _read_braces(self, alternatives: list[list[Piece]]) -> list[list[Piece]]:
        if empty := _EMPTY_BRACES.match(self.text, self.at):
            self.at = empty.end()
            if self.peek() in ("<", ">"):
                self.fail("a file descriptor with a name")
            for one in alternatives:
                _append(one, Piece("text", empty[0]))
            return alternatives
        listed = _BRACES.match(self.text, self.at)
        if not self.extended or listed is None or ".." in listed[1] or len(alternatives) > 1:
            self.fail("braces of this form")
        self.at = listed.end()
        (base,) = alternatives
        return [[*base, Piece("text", one, quoted=True)] for one in listed[1].split(",")]


def _append(pieces: list[Piece], piece: Piece) -> None:
    """Add a piece to a word; text joins text that is quoted alike."""
    last = pieces[-1] if pieces else None
    if last and last.kind == piece.kind == "text" and last.quoted == piece.quoted:
        pieces[-1] = Piece("text", last.text + piece.text, piece.quoted)
    else:
        pieces.append(piece)
