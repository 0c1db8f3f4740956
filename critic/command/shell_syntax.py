"""What a command line is made of: words, redirections, commands and how they are joined."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Literal, NamedTuple, TypeAlias

PieceKind = Literal["text", "glob", "variable", "output"]


class NotUnderstood(Exception):
    """A construct of a command line that is not understood, by its name."""

    def __init__(self, construct: str) -> None:
        """Keep the name of the construct, which may quote the line: escape it before showing."""
        super().__init__(construct)
        self.construct = construct


class MaySplit(NotUnderstood):
    """A word that may become several when the line runs, so that options may be among them."""


class Piece(NamedTuple):
    """A part of a word.

    `text`: characters that the program gets. `glob`: `*`, `?` or `[`. `variable`: its name.
    `output`: what the commands of `node` print. `quoted`: it is one word whatever it holds.
    """

    kind: PieceKind
    text: str
    quoted: bool = False
    node: "Node | None" = None


class Word(NamedTuple):
    """A word. `start` and `end` are its place in the text that was read, 0 where it was made.

    `found_below`: folders below which `find` fills in names, once for each name. `is_pathspec`: git
    reads it, which follows no link on the way to a file.
    """

    pieces: tuple[Piece, ...]
    start: int = 0
    end: int = 0
    found_below: tuple[str, ...] = ()
    is_pathspec: bool = False

    @property
    def exact(self) -> str | None:
        """The text that the program gets, or None where that is known only when it runs."""
        if len(self.pieces) == 1:  # which most words have
            return self.pieces[0].text if self.pieces[0].kind == "text" else None
        if any(piece.kind != "text" for piece in self.pieces):
            return None
        return "".join(piece.text for piece in self.pieces)

    @property
    def globs(self) -> bool:
        """Whether it is a pattern of names."""
        return any(piece.kind == "glob" for piece in self.pieces)

    @property
    def varies(self) -> bool:
        """Whether it holds a variable or an output."""
        return self.exact is None and any(
            piece.kind in ("variable", "output") for piece in self.pieces
        )

    @property
    def splits(self) -> bool:
        """Whether it may become no word, or several."""
        return self.exact is None and any(
            piece.kind == "glob" or (piece.kind != "text" and not piece.quoted)
            for piece in self.pieces
        )

    @property
    def prefix(self) -> str:
        """The text that it certainly begins with."""
        exact = self.exact
        if exact is not None:
            return exact
        return "".join(piece.text for piece in takewhile(_is_text, self.pieces))

    @property
    def plain_prefix(self) -> str:
        """The text that it begins with and that no quote or backslash takes part in."""
        first = self.pieces[0] if self.pieces else None
        return first.text if first and first.kind == "text" and not first.quoted else ""

    @property
    def shown(self) -> str:
        """The word for a message, not yet escaped."""
        return "".join(_show(piece) for piece in self.pieces)

    def as_one(self) -> "Word":
        """Return the word as if all of it was quoted."""
        pieces = (
            Piece("text", piece.text) if piece.kind == "glob" else piece._replace(quoted=True)
            for piece in self.pieces
        )
        return self._replace(pieces=tuple(pieces)) if self.varies else self

    def fill_in(self, home: str) -> "Word":
        """Return the word with the home folder in the place of its variable."""
        if not self.varies:
            return self
        pieces = tuple(
            Piece("text", home, quoted=True)
            if piece.kind == "variable" and piece.text == "HOME"
            else piece
            for piece in self.pieces
        )
        return self._replace(pieces=pieces)


def _is_text(piece: Piece) -> bool:
    return piece.kind == "text"


def _show(piece: Piece) -> str:
    match piece.kind:
        case "text" | "glob":
            return piece.text
        case "variable":
            return f"${piece.text}"
        case "output":
            return "$(...)"


def plain_word(text: str) -> Word:
    """Return a word that is exactly this text."""
    return Word((Piece("text", text, quoted=True),))


RedirectKind = Literal["read", "write", "both", "copy", "heredoc", "herestring"]


@dataclass(slots=True)
class Redirect:
    """A redirection. `copy` is `2>&1`; the target of a heredoc is its delimiter."""

    kind: RedirectKind
    descriptor: int | None
    target: Word


@dataclass(slots=True)
class SimpleCommand:
    """Assignments, the words of a program, redirections; `text` is the command as written."""

    assignments: list[tuple[str, Word]]
    words: list[Word]
    redirects: list[Redirect]
    text: str = ""


Joint = Literal["list", "and", "or", "pipe", "not", "subshell", "group", "background"]


@dataclass(slots=True)
class Compound:
    """Commands that are joined."""

    joint: Joint
    nodes: "list[Node]"
    redirects: list[Redirect]


Node: TypeAlias = SimpleCommand | Compound

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of a variable."""


@lru_cache(maxsize=4096)
def quote_word(word: str) -> str:
    """Return a text as one word of a command line, the same way each time."""
    plain = word.isascii() and word.replace("/", "").replace("-", "").replace(".", "").isalnum()
    return word if plain else "'" + word.replace("'", "'\\''") + "'"
