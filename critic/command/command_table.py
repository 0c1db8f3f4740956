"""The table of programs as a value: what each does with its options and arguments.

One entry is one program, or some of its subcommands:

    [[command]]
    names = "grep egrep"                      # programs that take the same arguments
    opts = "-n -e=text!script -r!folder --color?"
    args = "script read*"

Rule 1: `opts` is all options. A token is `NAME` (a flag), `NAME=KIND` (with a value, attached or in
        the next word) or `NAME?` (with an attached value or none), and then a `!MARK` for each
        way in which the option changes what the program does. An option has no other spelling.
Rule 2: `args` is the kinds of the operands, in order. The last may end in `*` (any number, none
        too) or `+` (at least one). What is left over is not understood.
Rule 3: `sub` makes the entry one of subcommands; `compose/ps` is two words. A program is looked up
        by its longest subcommand, and without one in its entry that has no `sub`, if there is one.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import field_validator, model_validator
from pydantic_core import PydanticCustomError

from critic.command.name_lists import PlaceNames, VariableNames
from critic.command.place_names import GuardedNames
from evals.envelope import ARRAY, Envelope
from evals.escaping import escape_name
from evals.json_value import Text

ArgumentKind = Literal[
    "text",
    "text2",
    "glob",
    "word",
    "switch",
    "layout",
    "script",
    "ref",
    "plugin",
    "read",
    "list",
    "write",
    "into",
    "rw",
    "delete",
    "dir",
    "run",
    "target",
    "pkg",
    "url",
    "host",
    "repo",
    "body",
    "upload",
    "cmd",
]
"""What a value is to its program.

`text`: nothing that the world sees; `text2`: two such words. `word`: a text of letters, digits and
`-_,`, where any other may name a file or code (`--format=./x.js`). `switch`:
`NAME=VALUE` with a number, a truth value or a type of build. `layout`: how a list is printed,
`wide` or by `name`; others print what is in the things listed. `script`: a program of the entry's
small language. `ref`: a revision. `plugin`: `no:NAME`, nothing else is understood. `glob`: a
pattern of the names that are read.
`read`, `list`, `write`, `delete`: a path, and what is done with it and with what is below.
`into`: files of any name are written below the path. `rw`: read, and rewritten in place. `dir`: a
folder whose code runs. `run`: a path whose code runs, up to `::`.
`target`: what is run, by name (`make test`); it joins the kinds of `run`. `pkg`: a package.
`url`, `host`: whom the program asks. `repo`: an address, `HOST/OWNER/REPO`, or what names no host.
`body`: what is sent; `@PATH` sends a file. `upload`: a path whose content is sent. `cmd`: the rest
of the words are another command.
"""

OptionMark = Literal["script", "write", "check", "folder", "names", "send", "discard", "need"]
"""What an option changes.

`script`: it stands for the first operand. `write`: operands of kind `read` are rewritten in place.
`check`: operands of kind `rw` are only read. `folder`: without an operand, the folder is meant.
`names`: the output is names of files in the folder. `send`, `discard`: the program does that.
`need`: one of the options with this mark must be there.
"""

SmallLanguage = Literal[
    "find",
    "sed",
    "awk",
    "jq",
    "git",
    "curl",
    "tar",
    "printf",
    "test",
    "clock",
    "cd",
    "export",
    "set",
    "exit",
    "env",
    "xargs",
    "shell",
    "interpreter",
    "coverage",
    "runner",
    "npx",
    "npm",
    "pip",
    "copy",
    "move",
    "link",
    "mkdir",
    "chmod",
    "gzip",
    "zip",
    "unzip",
    "compiler",
]
"""Readers in code, for programs whose arguments are a language of their own or that do more."""

OwnEffect = Literal["run", "install", "system", "fetch", "send", "commit", "discard"]
"""What a program does by itself, beside what its options and operands say."""

_OPTION: Final = re.compile(r"([-+][^\s=?!]+)(?:=([a-z0-9]+)|(\?))?((?:![a-z]+)*)")
_OPERAND: Final = re.compile(r"([a-z0-9]+)([*+]?)")
_KINDS: Final = frozenset(get_args(ArgumentKind))
_MARKS: Final = frozenset(get_args(OptionMark))


@dataclass(frozen=True, slots=True)
class ProgramOption:
    """An option. `kind` is that of its value, None for a flag, "?" if a value may be attached."""

    name: str
    kind: str | None
    marks: frozenset[str]


@dataclass(frozen=True, slots=True)
class OperandKinds:
    """The kinds of operands, in order; the last one may repeat, and then may be missing."""

    kinds: tuple[str, ...]
    repeats: bool
    needed: bool

    def kind_of(self, number: int) -> str | None:
        """Return the kind of the operand at a place, or None where there is none."""
        if number < len(self.kinds):
            return self.kinds[number]
        return self.kinds[-1] if self.repeats else None


class ProgramEntry(Envelope):
    """A program, or some of its subcommands. All texts are words with blanks between them.

    `effect`: what it does by itself; `host`: whom it asks by itself. `run`: for `effect = "run"`,
    what code of the repository is run for: the name of the step, then words that ask for it too.
    `reader`: the code that reads its arguments. `free`: its arguments are not read at all.
    `safe`: none of its options does harm, so that names of files may stand where options may.
    `folder`: without an operand, the folder is meant. `lists_names`: its output is names of files.
    `before`: as `opts`, for options that stand before the subcommand of any entry of its programs.
    `passes`: words after `--` go unread to the code of the repository that runs.
    `digits`: `-20` is an option. `dashes = "one"`: `-name` is one option, never several letters.
    `builtin`: a part of shells. `only_builtin`: there is no such program.
    """

    names: Text
    sub: Text = ""
    opts: Text = ""
    args: Text = ""
    effect: OwnEffect | Literal[""] = ""
    run: Text = ""
    host: Text = ""
    reader: SmallLanguage | Literal[""] = ""
    free: bool = False
    safe: bool = False
    folder: bool = False
    lists_names: bool = False
    before: Text = ""
    passes: bool = False
    digits: bool = False
    dashes: Literal["one", "two"] = "two"
    builtin: Literal["", "also", "only"] = ""

    @cached_property
    def options(self) -> Mapping[str, ProgramOption]:
        """Return the options by name."""
        return MappingProxyType({one.name: one for one in map(_option, self.opts.split())})

    @cached_property
    def entry_before(self) -> "ProgramEntry | None":
        """Return what reads the options before a subcommand; None where there are none."""
        return ProgramEntry(names=self.names, opts=self.before) if self.before.split() else None

    @cached_property
    def needs_option(self) -> bool:
        """Return whether one of some options must be there."""
        return any("need" in option.marks for option in self.options.values())

    @cached_property
    def operands(self) -> OperandKinds:
        """Return the kinds of the operands."""
        return _operands(self.args)

    @cached_property
    def run_kinds(self) -> tuple[str, ...]:
        """Return what the code is run for: the name of the step first."""
        return tuple(self.run.split())

    @cached_property
    def keys(self) -> tuple[tuple[str, str], ...]:
        """Return each program with each subcommand; the words of one have a `/` between them."""
        subs = self.sub.split() or [""]
        return tuple((name, sub) for name in self.names.split() for sub in subs)

    @field_validator("names")
    @classmethod
    def _names_a_program(cls, names: str) -> str:
        if not names.split():
            raise _fault("names has no program")
        return names

    @field_validator("opts", "before")
    @classmethod
    def _has_one_reading(cls, opts: str) -> str:
        names = [_option(token).name for token in opts.split()]
        if twice := sorted((Counter(names) - Counter(set(names))).keys()):
            raise _fault(f"opts lists {escape_name(twice[0])} twice")
        return opts

    @field_validator("args")
    @classmethod
    def _has_kinds(cls, args: str) -> str:
        _operands(args)
        return args

    @model_validator(mode="after")
    def _check(self) -> Self:
        runs = bool(self.run.split()) or "target" in self.operands.kinds
        if (self.effect == "run") != runs:
            raise _fault('effect = "run" goes with the words of run, or with a target in args')
        if self.dashes == "two" and (hidden := _hidden_option(tuple(self.options))):
            raise _fault("opts: {} hides {}: leave one out, or write {}".format(*hidden))
        before = tuple(_option(token).name for token in self.before.split())
        if hidden := _hidden_option(before):
            raise _fault("before: {} hides {}: leave one out".format(*hidden))
        return self


def _hidden_option(names: tuple[str, ...]) -> tuple[str, str, str] | None:
    """Return an option that reads as letters or as one, the letter, and the way out."""
    for name in names:
        letter = name[:2]
        if len(name) > 2 and letter != "--" and name[0] == "-" and letter in names:
            return escape_name(name), escape_name(letter), 'dashes = "one"'
    return None


@lru_cache(maxsize=4_096)  # tables name the same ones again and again
def _option(token: str) -> ProgramOption:
    read = _OPTION.fullmatch(token)
    if read is None:
        raise _fault(
            f"opts: {escape_name(token)} is no option: write NAME, NAME=KIND or NAME?, then !MARK"
        )
    marks = frozenset(read[4].split("!")[1:])
    if read[2] is not None and read[2] not in _KINDS:
        raise _unknown_word(f"opts: {escape_name(token)}", "kind", read[2], _KINDS)
    if not marks <= _MARKS:
        raise _unknown_word(f"opts: {escape_name(token)}", "mark", min(marks - _MARKS), _MARKS)
    return ProgramOption(read[1], read[2] or read[3], marks)


def _operands(args: str) -> OperandKinds:
    tokens = [_OPERAND.fullmatch(token) for token in args.split()]
    kinds = []
    for number, token in enumerate(tokens, 1):
        if token is None or (token[2] and number < len(tokens)):
            raise _fault(f"args: {escape_name(args)}: write kinds, the last one with * or +")
        if token[1] not in _KINDS:
            raise _unknown_word(f"args: {escape_name(args)}", "kind", token[1], _KINDS)
        kinds.append(token[1])
    sign = tokens[-1][2] if tokens and tokens[-1] else ""
    return OperandKinds(tuple(kinds), repeats=bool(sign), needed=sign != "*")


def _unknown_word(where: str, what: str, word: str, known: frozenset[str]) -> PydanticCustomError:
    near = [f"did you mean {one}? " for one in get_close_matches(word, sorted(known), 1)]
    listed = f"{''.join(near)}known are {', '.join(sorted(known))}"
    return _fault(f"{where}: no {what} is called {escape_name(word)}: {listed}")


def _fault(text: str) -> PydanticCustomError:
    return PydanticCustomError("program_entry", "{fault}", {"fault": text})


class CommandTable(Envelope):
    """What is known of programs, of variables and of names."""

    command: Annotated[tuple[ProgramEntry, ...], ARRAY]
    variables: VariableNames
    places: PlaceNames

    @model_validator(mode="after")
    def _check(self) -> Self:
        seen = set[tuple[str, str]]()
        for key in (key for entry in self.command for key in entry.keys):
            if key in seen:
                raise _fault(f"two entries for {escape_name(' '.join(key).strip())}")
            seen.add(key)
        return self

    @cached_property
    def entries(self) -> Mapping[str, Mapping[str, ProgramEntry]]:
        """Return the entries by program, and there by subcommand."""
        found: dict[str, dict[str, ProgramEntry]] = {}
        for entry in self.command:
            for name, sub in entry.keys:
                found.setdefault(name, {})[sub] = entry
        return MappingProxyType({name: MappingProxyType(subs) for name, subs in found.items()})

    @cached_property
    def names(self) -> GuardedNames:
        """Return the lists of names, ready to be asked."""
        return GuardedNames(
            protected=self.places.protected,
            secret=self.places.secret,
            secret_folders=self.places.secret_folders,
            not_secret=self.places.not_secret,
            made_again=self.places.made_again,
            plain_variables=self.variables.plain,
            never_set=self.variables.never,
            computed=self.variables.computed,
            fine_values=self.variables.values,
        )
