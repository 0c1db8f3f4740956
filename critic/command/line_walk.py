"""Walk through a line as a shell does: which command runs in which folders, and reads from whom.

Rule 1: `A && B` starts B in A's folder of success, `A || B` in that of failure, `A; B` in both.
Rule 2: where shells differ on the folder (`cd` in a pipe, or behind `&`), the line is not
        understood.
Rule 3: what a command reads from is every command before it in its pipe, and in its `$(...)`.
"""

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from critic.command.aged_paths import AgedPaths
from critic.command.builtin_readers import check_variable
from critic.command.command_table import CommandTable
from critic.command.deeds import (
    ENVIRONMENT,
    Deed,
    Folders,
    LineWalk,
    NamedPath,
    Stdin,
    join_folders,
)
from critic.command.lines import read_line
from critic.command.programs import read_program
from critic.command.shell_facts import KnownFacts, join_path
from critic.command.shell_syntax import (
    Compound,
    Node,
    NotUnderstood,
    Redirect,
    SimpleCommand,
    Word,
)

_SHOWN_VARIABLES: Final = frozenset(
    (
        *("?", "$", "#", "!", "HOME", "PWD", "OLDPWD", "PATH", "USER", "LOGNAME", "UID", "EUID"),
        *("PPID", "SHELL", "HOSTNAME", "RANDOM", "SECONDS", "LINENO", "SHLVL", "TMPDIR", "EDITOR"),
        *("VIRTUAL_ENV", "CONDA_PREFIX", "JAVA_HOME", "GOPATH", "GOROOT", "PYTHONPATH", "PAGER"),
        *("NODE_PATH", "VISUAL", "DISPLAY", "BASH_VERSION", "ZSH_VERSION", "OSTYPE", "MACHTYPE"),
    )
)
"""Variables that no program keeps a secret in. Any other counts as the whole environment."""

_NETWORK: Final = re.compile(r"/dev/(?:tcp|udp)(?:/([^/]*))?(?:/.*)?", re.DOTALL)
_MOST_WRAPPERS: Final = 8
_MOST_SHELLS: Final = 3
_MOST_ASKED: Final = 50
_Ends: TypeAlias = tuple[Folders, Folders]
"""The folders after success, and after failure."""


def walk_line(
    text: str, facts: KnownFacts, table: CommandTable, *, splits: bool = True
) -> list[Deed]:
    """Return what the commands of a line do, in the order in which they are written.

    Args:
        splits: without it, the line is read as if each variable and each output were quoted.

    Raises:
        NotUnderstood: something in the line is not understood.
    """
    walk = _Walk(facts, table, AgedPaths(), splits=splits)
    node = read_line(text, extended=facts.given.shell in ("bash", "zsh"))
    start = (join_path("/", facts.given.cwd),)
    walk.walk(node, start, [])
    if walk.is_concurrent and walk.aged:
        # What ages a path may run before what is written before it.
        again = _Walk(facts, table, walk.aged, splits=splits)
        again.walk(node, start, [])
    if sum(map(_count_asked, walk.deeds)) > _MOST_ASKED:
        raise NotUnderstood("more than 50 scripts, packages and hosts")
    return walk.deeds


def _count_asked(deed: Deed) -> int:
    return len(deed.does) + len(deed.run_kinds) + len(deed.packages) + len(deed.hosts)


class _Walk(LineWalk):
    def __init__(
        self, facts: KnownFacts, table: CommandTable, aged: AgedPaths, *, splits: bool
    ) -> None:
        super().__init__(facts, table, aged)
        self._splits: Final = splits
        self.is_concurrent = False
        self._depth = self._wrappers = 0
        self._assigned: dict[str, list[int]] = {}
        self._set: frozenset[str] = frozenset()  # variables that certainly have a value of the line

    def run_words(self, words: Sequence[Word], deed: Deed, stdin: Stdin) -> None:
        self._wrappers += 1
        if self._wrappers > _MOST_WRAPPERS:
            raise NotUnderstood("a program in a program, more than 8 deep")
        read_program(self, tuple(words), deed, stdin, wrapped=True)
        self._wrappers -= 1

    def run_text(self, text: str, deed: Deed, stdin: Stdin, *, extended: bool) -> None:
        self._depth += 1
        if self._depth > _MOST_SHELLS:
            raise NotUnderstood("a shell in a shell, more than 3 deep")
        outer, self._set = self._set, frozenset()  # what is not exported is not there
        self.walk(read_line(text, extended=extended), deed.folders, stdin)
        self._set = outer
        self._depth -= 1

    def walk(self, node: Node, folders: Folders, stdin: Stdin) -> _Ends:
        """Walk through a node, which starts in one of some folders."""
        if isinstance(node, SimpleCommand):
            return self._walk_simple(node, folders, stdin)
        match node.joint:
            case "list":
                for inner in node.nodes:
                    folders = join_folders(*self.walk(inner, folders, stdin))
                return folders, folders
            case "and" | "or":
                return self._walk_and_or(node, folders, stdin)
            case "not":
                succeeded, failed = self.walk(node.nodes[0], folders, stdin)
                return failed, succeeded
            case "subshell" | "group":
                ends = self._walk_brackets(node, folders, stdin)
                return ends if node.joint == "group" else (folders, folders)
            case "background" | "pipe":
                self._walk_apart(node, folders, stdin)
                return folders, folders

    def _walk_and_or(self, node: Compound, folders: Folders, stdin: Stdin) -> _Ends:
        left, right = node.nodes
        succeeded, failed = self.walk(left, folders, stdin)
        certain = self._set
        then, otherwise = self.walk(right, succeeded if node.joint == "and" else failed, stdin)
        self._set = certain  # the right side may not run
        if node.joint == "and":
            return then, join_folders(failed, otherwise)
        return join_folders(succeeded, then), otherwise

    def _walk_apart(self, node: Compound, folders: Folders, stdin: Stdin) -> None:
        """Walk through commands that run beside one another, each reading from those before."""
        self.is_concurrent = True
        certain = self._set
        if node.joint == "background":
            stdin = "text"
        for one in node.nodes:
            start, self._set = len(self.deeds), certain
            if join_folders(*self.walk(one, folders, stdin)) != folders:
                raise NotUnderstood("cd in the background, or in a pipe, where shells differ")
            before = stdin if isinstance(stdin, list) else []
            stdin = [*before, *range(start, len(self.deeds))]
        self._set = certain

    def _walk_brackets(self, node: Compound, folders: Folders, stdin: Stdin) -> _Ends:
        outer = Deed("( ... )" if node.joint == "subshell" else "{ ... }", folders, wraps=True)
        stdin = self._redirect_all(node.redirects, outer, stdin)
        number, certain = len(self.deeds) - 1, self._set
        ends = self.walk(node.nodes[0], folders, stdin)
        if node.joint == "subshell":
            self._set = certain
        self.add_inner(outer, number)
        return ends

    def _redirect_all(self, redirects: list[Redirect], outer: Deed, stdin: Stdin) -> Stdin:
        """Finish a deed for the redirections of a command; return where the command reads from.

        They are a deed of their own: no reader of a program takes away what they do.
        """
        if not redirects:
            return stdin
        for redirect in redirects:
            stdin = self._redirect(redirect, outer, stdin)
        number = self.finish(outer)
        return [*(stdin if isinstance(stdin, list) else []), number]

    def _redirect(self, redirect: Redirect, deed: Deed, stdin: Stdin) -> Stdin:
        match redirect.kind:
            case "copy":
                deed.mixes = True
                return stdin
            case "heredoc":
                deed.feeds = True
                return "text"
            case "herestring":
                deed.feeds = True
                self._add_parts(redirect.target, deed)
                return "text"
            case "read" | "write" | "both":
                self._redirect_file(redirect, deed)
        is_input = redirect.kind in ("read", "both") and redirect.descriptor in (None, 0)
        return "file" if is_input else stdin

    def _redirect_file(self, redirect: Redirect, deed: Deed) -> None:
        word = redirect.target.fill_in(self.facts.given.home)
        if word.exact is None:
            raise NotUnderstood(
                f"a redirection to what is known only when it runs: {redirect.target.shown}"
            )
        for path in self.at(word, deed.folders):
            network = _NETWORK.fullmatch(path.path)
            if network:
                deed.add_effect("send", "sends through a redirection")
                deed.hosts.append((network[1] or "").lower())
                continue
            if redirect.kind != "write":
                deed.reads.append(path)
            if redirect.kind != "read":
                deed.writes.append(path)

    def _add_parts(self, word: Word, deed: Deed) -> None:
        """Walk through the commands in a word, and add the secrets of the environment in it."""
        for piece in word.pieces:
            if piece.node is not None:
                start, certain = len(self.deeds), self._set
                self.walk(piece.node, deed.folders, [])
                self._set = certain
                deed.sources.extend(range(start, len(self.deeds)))
            elif piece.kind == "variable":
                deed.sources += self._assigned.get(piece.text, [])
                if not self._is_shown(piece.text):
                    deed.reads.append(NamedPath(ENVIRONMENT, ENVIRONMENT))

    def _is_shown(self, variable: str) -> bool:
        """Return whether what a variable holds is of the line, or known to be no secret."""
        if variable in self._set or variable in _SHOWN_VARIABLES:
            return True
        return self.names.is_plain_variable(variable)

    def _walk_simple(self, command: SimpleCommand, folders: Folders, stdin: Stdin) -> _Ends:
        deed, start = Deed(command.text, folders), len(self.deeds)
        inside = False
        for name, value in command.assignments:
            named = name == "PYTHONPATH" and bool(command.words)
            inside = inside or named
            check_variable(self, name, value, alone=not command.words, inside=named)
            self._add_parts(value, deed)
        outer = Deed(command.text, folders, wraps=True)
        if command.redirects:
            stdin = self._redirect_all(command.redirects, outer, stdin)
        number = len(self.deeds) - 1
        ends = self._walk_words(command, deed, stdin, inside=inside)
        if command.redirects:
            self.add_inner(outer, number)
        for one in self.deeds[start:]:
            one.assigns = one.assigns or bool(command.assignments)
        return ends

    def _walk_words(
        self, command: SimpleCommand, deed: Deed, stdin: Stdin, *, inside: bool
    ) -> _Ends:
        deed.sources += stdin if isinstance(stdin, list) else []
        for word in command.words:
            self._add_parts(word, deed)
        if not command.words:
            return self._finish_without_program(command, deed)
        if _is_cd(command.words):
            return self._walk_cd(command.words, deed)
        start = len(self.deeds)
        words = command.words if self._splits else [word.as_one() for word in command.words]
        read_program(self, tuple(words), deed, stdin, wrapped=False)
        if inside and not any("run" in one.does for one in self.deeds[start:]):
            raise NotUnderstood("PYTHONPATH for a program that runs no code of the repository")
        return deed.folders, deed.folders

    def _finish_without_program(self, command: SimpleCommand, deed: Deed) -> _Ends:
        if command.redirects and self.facts.given.shell in (None, "zsh"):
            raise NotUnderstood("a redirection alone, for which zsh runs cat")
        number = self.finish(deed)
        for name, _ in command.assignments:
            self._assigned.setdefault(name, []).append(number)
        self._set |= {name for name, _ in command.assignments}
        return deed.folders, deed.folders

    def _walk_cd(self, words: list[Word], deed: Deed) -> _Ends:
        texts = [word.fill_in(self.facts.given.home).exact for word in words[1:]]
        if texts[:1] == ["--"]:
            texts = texts[1:]
        target = texts[0] if texts else self.facts.given.home
        if len(texts) > 1 or not target or target[0] in "-+":
            raise NotUnderstood("cd of this form")
        deed.program = "cd"
        moved = (join_path(folder, target, follow_dots=True) for folder in deed.folders)
        self.finish(deed)
        return tuple(dict.fromkeys(moved)), deed.folders


def _is_cd(words: list[Word]) -> bool:
    return words[0].exact == "cd"
