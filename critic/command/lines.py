"""Read a command line: lists, pipes, brackets, redirections, heredocs.

Rule 1: what is not read alike by bash, dash and zsh is not understood (see `reader`).
Rule 2: lists end where the shell ends them: at `;`, `&`, a line break, or the bracket.
Rule 3: the text of a heredoc is known, or the line is not understood.
"""

import re
from dataclasses import dataclass
from typing import Final

from critic.command.reader import WordReader
from critic.command.shell_syntax import (
    Compound,
    Node,
    Piece,
    Redirect,
    RedirectKind,
    SimpleCommand,
    Word,
    plain_word,
)

_MOST_DEPTH: Final = 6
_MOST_COMMANDS: Final = 200
_MOST_WORDS: Final = 2_000
_RESERVED: Final = frozenset(
    (
        *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case"),
        *("esac", "in", "function", "select", "coproc", "[[", "]]", "{", "}", "!"),
        *("repeat", "foreach", "end", "nocorrect", "noglob"),
    )
)
_BLANKS: Final = re.compile(r"(?:[ \t]|\\\n)+|#[^\n]*")
_SKIPPED: Final = frozenset(" \t\\#")
_OPERATOR: Final = re.compile(r"(\d*)(<<<|<<-|<<|<>|<&|>>|>&|>\||&>>|&>|<|>)")
_KIND: Final[dict[str, RedirectKind]] = {"<": "read", "<>": "both"}
_NUMBER_PATTERN: Final = re.compile(r"<\d*-\d*>")
_CLOSES_GROUP: Final = re.compile(r"\}(?=[\s;&|)]|$)")
_OPENS_GROUP: Final = re.compile(r"\{[ \t\n]")
_NEGATES: Final = re.compile(r"![ \t]")
_ASSIGNS: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_ARRAY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_DESCRIPTOR: Final = re.compile(r"\d|-")
_EXPANDS: Final = re.compile(r"[$`\\]")


def read_line(text: str, *, extended: bool) -> Node:
    """Return the commands of a line; `extended`: its shell is bash or zsh, and not dash.

    Raises:
        NotUnderstood: something in the line is not understood.
    """
    reader = _LineReader(text, extended=extended)
    node = reader.read_list("")
    if reader.awaits_heredoc:
        reader.fail("a heredoc without its end")
    return node


@dataclass(slots=True)
class _Heredoc:
    redirect: Redirect
    delimiter: str
    strips_tabs: bool
    quoted: bool


class _LineReader(WordReader):
    def __init__(self, text: str, *, extended: bool) -> None:
        super().__init__(text, extended=extended)
        self._heredocs: list[_Heredoc] = []
        self._depth = 0
        self._commands = self._words = 0

    @property
    def awaits_heredoc(self) -> bool:
        return bool(self._heredocs)

    def read_list(self, end: str) -> Node:
        self._depth += 1
        if self._depth > _MOST_DEPTH:
            self.fail("brackets in brackets, more than 6 deep")
        nodes: list[Node] = []
        self._skip_lines()
        while not self._is_at_end(end):
            nodes.append(self._end_command(self._read_and_or(), end))
            self._skip_lines()
        if not nodes:
            self.fail("an empty command")
        if end and self.awaits_heredoc:
            self.fail("a heredoc that ends outside its brackets")
        self._depth -= 1
        return Compound("list", nodes, [])

    def _is_at_end(self, end: str) -> bool:
        if self.at >= len(self.text):
            if end:
                self.fail(f"a missing {end}")
            return True
        if end == "}":
            return _CLOSES_GROUP.match(self.text, self.at) is not None
        return end != "" and self.peek() == end

    def _end_command(self, node: Node, end: str) -> Node:
        """Read what ends a command of a list."""
        self._skip_blanks()
        char = self.peek()
        if char == "&":
            self.at += 1
            return Compound("background", [node], [])
        if char == ";":
            if self.peek(2) in (";;", ";&"):
                self.fail("the end of a case: ;;")
            self.at += 1
        elif char == "\n":
            self._read_line_break()
        elif char and not (end == ")" and char == end):
            self.fail(f"an unexpected {char}")
        return node

    def _read_and_or(self) -> Node:
        left = self._read_pipeline()
        self._skip_blanks()
        while (operator := self.peek(2)) in ("&&", "||"):
            self.at += 2
            self._skip_lines()
            right = self._read_pipeline()
            left = Compound("and" if operator == "&&" else "or", [left, right], [])
            self._skip_blanks()
        return left

    def _read_pipeline(self) -> Node:
        self._skip_blanks()
        negated = _NEGATES.match(self.text, self.at) is not None
        if negated:
            self.at += 1
            self._skip_blanks()
            if _NEGATES.match(self.text, self.at):
                self.fail("! twice")
        parts = [self._read_command()]
        self._skip_blanks()
        while self.peek() == "|" and self.peek(2) != "||":
            with_errors = self.peek(2) == "|&"
            self.at += 2 if with_errors else 1
            if with_errors:
                parts[-1].redirects.append(Redirect("copy", 2, plain_word("1")))
            self._skip_lines()
            parts.append(self._read_command())
            self._skip_blanks()
        node = parts[0] if len(parts) == 1 else Compound("pipe", parts, [])
        return Compound("not", [node], []) if negated else node

    def _read_command(self) -> Node:
        self._commands += 1
        if self._commands > _MOST_COMMANDS:
            self.fail("more than 200 commands")
        self._skip_blanks()
        if self.peek() == "(":
            if self.peek(2) == "((":
                self.fail("two open brackets: ((")
            return self._read_bracket(")")
        if _OPENS_GROUP.match(self.text, self.at):
            return self._read_bracket("}")
        return self._read_simple()

    def _read_bracket(self, end: str) -> Node:
        self.at += 1
        inner = self.read_list(end)
        self.at += 1
        redirects = []
        self._skip_blanks()
        while (redirect := self._read_redirect()) is not None:
            redirects.append(redirect)
            self._skip_blanks()
        if self.peek() and self.peek() not in "\n;&|)":
            self.fail("a word after a bracket")
        return Compound("subshell" if end == ")" else "group", [inner], redirects)

    def _read_simple(self) -> Node:
        start, command = self.at, SimpleCommand([], [], [])
        self._skip_blanks()
        while not self._ends_simple():
            redirect = self._read_redirect()
            if redirect is not None:
                command.redirects.append(redirect)
            else:
                self._read_word_of(command)
            self._skip_blanks()
        command.text = self.text[start : self.at].strip()
        if not (command.assignments or command.words or command.redirects):
            self.fail(f"an unexpected {self.peek() or 'end'}")
        return command

    def _ends_simple(self) -> bool:
        char = self.peek()
        return char == "" or char in "\n;|)" or (char == "&" and self.peek(2) != "&>")

    def _read_word_of(self, command: SimpleCommand) -> None:
        if self.peek() == "(":
            self.fail("a bracket inside a command")
        start = self.at
        words = self.read_words()
        if self.peek() == "(":
            self.fail("a function, a pattern or an array: (")
        if not command.words:
            if (assigned := _ASSIGNS.match(words[0].plain_prefix)) and self.text[start] != "\\":
                command.assignments.append(self._assignment(assigned, words))
                return
            if _ARRAY.match(self.text, start):
                self.fail("an array")
            if (written := self.text[start : self.at]) in _RESERVED:
                self.fail(f"the reserved word {written}")
        command.words.extend(words)
        self._words += len(words)
        if self._words > _MOST_WORDS:
            self.fail("more than 2,000 words")

    def _assignment(self, assigned: re.Match[str], words: list[Word]) -> tuple[str, Word]:
        if len(words) > 1 or assigned[2]:
            self.fail("an assignment of this form")
        (word,) = words
        first, *others = word.pieces
        rest = Piece("text", first.text[assigned.end() :])
        return assigned[1], Word((rest, *others), word.start + assigned.end(), word.end)

    def _read_redirect(self) -> Redirect | None:
        found = _OPERATOR.match(self.text, self.at)
        if found is None or (found[1] and found[2].startswith("&")):
            return None
        self._refuse_what_differs(found)
        descriptor = int(found[1]) if found[1] else None
        self.at = found.end()
        if self.peek() == "(":
            self.fail("a process substitution")
        start, target = self._read_target()
        match found[2]:
            case "<<" | "<<-":
                written = self.text[start : self.at]
                return self._await_heredoc(found[2], descriptor, target, written)
            case "<<<":
                return Redirect("herestring", descriptor, target)
            case "<&" | ">&":
                return self._copy_descriptor(found[2], descriptor, target)
            case operator:
                return Redirect(_KIND.get(operator, "write"), descriptor, target)

    def _refuse_what_differs(self, found: re.Match[str]) -> None:
        if len(found[1]) > 1:  # a descriptor for bash, an argument for zsh and dash
            self.fail("a file descriptor of several digits")
        if _NUMBER_PATTERN.match(self.text, self.at):
            self.fail("a pattern of numbers (zsh)")
        if found[2].startswith("&") and not self.extended:  # for dash, the command ends at the &
            self.fail("a redirection with &>, which dash does not know")

    def _read_target(self) -> tuple[int, Word]:
        """Return the target of a redirection, and where it begins."""
        self._skip_blanks()
        if not self.peek() or self.peek() in "\n;&|<>()":
            self.fail("a redirection without a target")
        if self.peek() == "!":
            self.fail("a target that begins with ! (zsh)")
        start = self.at
        words = self.read_words()
        if len(words) != 1 or self.peek() == "(":
            self.fail("a redirection to several files")
        return start, words[0]

    def _copy_descriptor(self, operator: str, descriptor: int | None, target: Word) -> Redirect:
        if target.exact is not None and _DESCRIPTOR.fullmatch(target.exact):
            return Redirect("copy", descriptor, target)
        if operator == "<&" or descriptor is not None or _DESCRIPTOR.match(target.exact or "-"):
            self.fail("a file descriptor of this form")
        return Redirect("write", descriptor, target)

    def _await_heredoc(
        self, operator: str, descriptor: int | None, delimiter: Word, written: str
    ) -> Redirect:
        end = delimiter.exact
        if not end or "\n" in end:
            self.fail("a delimiter of a heredoc of this form")
        redirect = Redirect("heredoc", descriptor, plain_word(end))
        quoted = any(quote in written for quote in "'\"\\")
        self._heredocs.append(_Heredoc(redirect, end, operator == "<<-", quoted))
        return redirect

    def _read_line_break(self) -> None:
        self.at += 1
        for heredoc in self._heredocs:
            self._read_heredoc(heredoc)
        self._heredocs = []

    def _read_heredoc(self, heredoc: _Heredoc) -> None:
        start = self.at
        while True:
            if self.at >= len(self.text):
                self.fail("a heredoc without its end")
            begin, end = self.at, self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            self.at = min(end + 1, len(self.text))
            line = self.text[begin:end]
            if (line.lstrip("\t") if heredoc.strips_tabs else line) == heredoc.delimiter:
                break
        if not heredoc.quoted and _EXPANDS.search(self.text, start, begin):
            self.fail("a heredoc that expands its text")

    def _skip_blanks(self) -> None:
        """Skip blanks, a comment, and line breaks after a backslash."""
        while self.text[self.at : self.at + 1] in _SKIPPED:
            skipped = _BLANKS.match(self.text, self.at)
            if skipped is None:
                return
            self.at = skipped.end()
            if self._heredocs and "\n" in skipped[0]:
                self.fail("a line that goes on before a heredoc")

    def _skip_lines(self) -> None:
        """Skip blanks, comments and line breaks."""
        self._skip_blanks()
        while self.peek() == "\n":
            self._read_line_break()
            self._skip_blanks()
