"""Bugs of shell commands: a line is read as less than what it does."""

from typing import Final

from tests.assurance.planted.bug import Bug, Edit, slip

_AGED: Final = "critic/command/aged_paths.py"
_AWK: Final = "critic/command/awk.py"
_BUILTINS: Final = "critic/command/builtin_readers.py"
_CURL: Final = "critic/command/curl.py"
_DEEDS: Final = "critic/command/deeds.py"
_EDGES: Final = "critic/command/data_edges.py"
_EFFECTS: Final = "critic/command/path_effects.py"
_ENTRIES: Final = "critic/command/command_table.py"
_FACTS: Final = "critic/command/shell_facts.py"
_FIND: Final = "critic/command/find.py"
_GIT: Final = "critic/command/git_commands.py"
_LINES: Final = "critic/command/lines.py"
_MOVES: Final = "critic/command/file_moves.py"
_NAMES: Final = "critic/command/place_names.py"
_OPERANDS: Final = "critic/command/operand_kinds.py"
_OPTIONS: Final = "critic/command/program_options.py"
_PARTS: Final = "critic/command/plan_parts.py"
_PROGRAMS: Final = "critic/command/programs.py"
_READER: Final = "critic/command/reader.py"
_RUNNERS: Final = "critic/command/code_runners.py"
_SED: Final = "critic/command/sed.py"
_STEPS: Final = "critic/command/steps.py"
_TABLE: Final = "harness/policy/shell_settings.py"
_TAR: Final = "critic/command/tar.py"
_WALK: Final = "critic/command/line_walk.py"
_WORDS: Final = "critic/command/request_words.py"
_WRAPPERS: Final = "critic/command/wrappers.py"
_LOADS: Final = "CommandTable.model_validate(tomllib.loads(text))"


def _table_slip(name: str, breaks: str, old: str, new: str) -> Bug:
    """Return a bug of the shipped table, which is loaded with another text in its place."""
    loads = f"CommandTable.model_validate(tomllib.loads(text.replace({old!r}, {new!r})))"
    return slip(f"table-{name}", _TABLE, breaks, _LOADS, loads)


COMMAND_BUGS: Final[tuple[Bug, ...]] = (
    # Words and lines.
    slip(
        "quote-in-a-word-ends-it",
        _READER,
        "a backslash before a letter stays",
        'add(Piece("text", char, quoted=True))\n\n    def _read_single',
        'add(Piece("text", f"\\\\{char}", quoted=True))\n\n    def _read_single',
    ),
    slip(
        "dollar-in-quotes-is-text",
        _READER,
        "a substitution in double quotes is no command",
        'add(Piece("output", "", quoted, self._read_output()))',
        'add(Piece("text", "", quoted)) if self._read_output() and quoted else self.fail("$(")',
    ),
    slip(
        "braces-lose-one",
        _READER,
        "the last alternative in braces is lost",
        'for one in listed[1].split(",")]',
        'for one in listed[1].split(",")[:-1]]',
    ),
    slip(
        "tilde-is-a-name",
        _READER,
        "a tilde is a file of that name",
        'add(Piece("variable", "HOME", quoted=True))',
        'add(Piece("text", "~", quoted=True))',
    ),
    slip(
        "equals-is-a-word",
        _READER,
        "a word that zsh takes for the path of a program is plain",
        'if self.peek() == "=":\n            self.fail("a word that begins with = (zsh)")',
        'if self.peek() == "==":\n            self.fail("a word that begins with = (zsh)")',
    ),
    slip(
        "control-characters-pass",
        _READER,
        "a carriage return is a part of a word",
        "if _CONTROL.search(text):",
        "if _CONTROL.match(text):",
    ),
    slip(
        "comment-runs-on",
        _LINES,
        "a comment hides the line after it",
        r'_BLANKS: Final = re.compile(r"(?:[ \t]|\\\n)+|#[^\n]*")',
        r'_BLANKS: Final = re.compile(r"(?:[ \t]|\\\n)+|#[^;]*")',
    ),
    slip(
        "heredoc-that-expands",
        _LINES,
        "a substitution in a heredoc is text",
        'self.fail("a heredoc that expands its text")',
        "pass",
    ),
    slip(
        "heredoc-ends-anywhere",
        _LINES,
        "a heredoc ends at a line that begins with its delimiter",
        'if (line.lstrip("\\t") if heredoc.strips_tabs else line) == heredoc.delimiter:',
        'if line.lstrip("\\t").startswith(heredoc.delimiter):',
    ),
    slip(
        "several-digits-are-a-descriptor",
        _LINES,
        "10>f is a redirection in each shell",
        "if len(found[1]) > 1:",
        "if len(found[1]) > 9:",
    ),
    slip(
        "reserved-words-are-programs",
        _LINES,
        "a loop is a program called for",
        "if (written := self.text[start : self.at]) in _RESERVED:",
        "if (written := self.text[start : self.at].upper()) in _RESERVED:",
    ),
    slip(
        "function-is-a-program",
        _LINES,
        "a bracket behind a word is a subshell",
        'if self.peek() == "(":\n            self.fail("a function, a pattern or an array: (")',
        'if self.peek(2) == "((":\n            self.fail("a function, a pattern or an array: (")',
    ),
    slip(
        "reads-and-writes-is-a-read",
        _LINES,
        "<> makes no file",
        '_KIND: Final[dict[str, RedirectKind]] = {"<": "read",',
        '_KIND: Final[dict[str, RedirectKind]] = {"<": "read", "<>": "read",',
    ),
    slip(
        "process-substitution-is-a-word",
        _LINES,
        "the commands of <( ) are not read",
        'if self.peek() == "(":\n            self.fail("a process substitution")',
        'if self.peek() == ")":\n            self.fail("a process substitution")',
    ),
    # Folders.
    slip(
        "cd-in-a-pipe",
        _WALK,
        "a cd in a pipe moves nothing",
        "if join_folders(*self.walk(one, folders, stdin)) != folders:",
        "if join_folders(*self.walk(one, folders, stdin)) == ():",
    ),
    slip(
        "subshell-moves",
        _WALK,
        "a cd in brackets lasts behind them, and one in braces does not",
        'return ends if node.joint == "group" else (folders, folders)',
        'return ends if node.joint == "subshell" else (folders, folders)',
    ),
    slip(
        "not-keeps-its-ends",
        _WALK,
        "what follows ! succeeds where it succeeded",
        "return failed, succeeded",
        "return succeeded, failed",
    ),
    slip(
        "beside-one-another-in-order",
        _WALK,
        "commands that run beside one another are read in order",
        "if walk.is_concurrent and walk.aged:",
        "if not walk.is_concurrent and walk.aged:",
    ),
    slip(
        "network-redirection-is-a-file",
        _WALK,
        "/dev/tcp is a file that is written",
        "            if network:\n",
        "            if not network and path.path == '/dev/tcp':\n",
    ),
    slip(
        "secret-variable-is-text",
        _WALK,
        "a token of the environment is text",
        "if not self._is_shown(piece.text):",
        'if piece.text == "TOKEN":',
    ),
    slip(
        "assigned-without-source",
        _WALK,
        "what a variable took from a command is forgotten",
        "self._assigned.setdefault(name, []).append(number)",
        "self._assigned.setdefault(name, [])",
    ),
    # Paths.
    slip(
        "dots-taken-before-links",
        _DEEDS,
        "a path is resolved without the link before its ..",
        'path = join_path(self.facts.real_path(parent or "/"), last)',
        'path = join_path("/", written, follow_dots=True)',
    ),
    slip(
        "aged-below-only",
        _AGED,
        "what may be a link now is read as the file that it was",
        "return path in self._themselves or not self._below.isdisjoint(_above(path))",
        "return not self._below.isdisjoint(_above(path))",
    ),
    slip(
        "aged-patterns-pass",
        _AGED,
        "a pattern of names takes what may be a link now",
        "if has_pattern and self._themselves:",
        "if has_pattern and not self._below:",
    ),
    slip(
        "below-by-prefix",
        _FACTS,
        "a folder whose name begins alike is inside",
        'return path == folder or path.startswith(folder.rstrip("/") + "/")',
        'return path == folder or path.startswith(folder.rstrip("/"))',
    ),
    slip(
        "unsafe-path-passes",
        _FACTS,
        "programs by name run where the project can write a folder of PATH",
        "return self.given.path_safe is not False",
        "return self.given.path_safe is not False or not self._path_safe",
    ),
    slip(
        "real-path-alone",
        _EFFECTS,
        "a link inside that is not followed counts where it leads alone",
        "return is_below(path.real, self._facts.root) and is_below(path.path, self._facts.root)",
        "return is_below(path.path, self._facts.root)",
    ),
    slip(
        "temporary-folder-itself",
        _EFFECTS,
        "the folder for temporary files is itself temporary",
        "any(is_below(one, folder) and one != folder for folder in TEMPORARY_FOLDERS)",
        "any(is_below(one, folder) for folder in TEMPORARY_FOLDERS)",
    ),
    slip(
        "names-unknown-in-the-top-folder",
        _EFFECTS,
        "files of any names are written into the project",
        'in_top = path.pattern != "" or any(is_below(top, path.real) for top in tops)',
        'in_top = path.pattern != ""',
    ),
    slip(
        "protected-in-one-case",
        _NAMES,
        "a protected name in capitals is plain",
        "    folded = path.lower() if path.isascii() else",
        "    folded = path if path.isascii() else",
    ),
    slip(
        "hidden-names-are-not-met",
        _NAMES,
        "what find meets begins with no dot",
        'hidden = pattern.startswith("**/")',
        'hidden = pattern.startswith("**/.")',
    ),
    slip(
        "endings-of-secrets-lost",
        _NAMES,
        "a pattern with the ending of a secret is general",
        'return self._secret_endings.meets(part) and part.strip("*?.") != ""',
        'return self._secret_endings.has(part) and part.strip("*?.") != ""',
    ),
    # Options and operands.
    slip(
        "dashes-end-nothing",
        _OPTIONS,
        "what stands behind -- is read as options",
        'if word.exact == "--":\n                break',
        'if word.exact == "--":\n                continue',
    ),
    slip(
        "letters-without-their-value",
        _OPTIONS,
        "the next word is an operand, and no value of a letter",
        'if rest or option.kind == "?":',
        "if rest or option.kind:",
    ),
    slip(
        "unknown-letter-passes",
        _OPTIONS,
        "letters behind the first one are not looked up",
        "for at in range(1, len(text)):",
        "for at in range(1, min(2, len(text))):",
    ),
    slip(
        "hidden-option-passes",
        _OPTIONS,
        "a pattern that may become an option is an operand",
        "if word.exact is None and not word.prefix and (word.varies or not self._entry.safe):",
        "if word.exact is None and not word.prefix and word.varies:",
    ),
    slip(
        "last-kind-repeats",
        _ENTRIES,
        "an operand too many has the kind of the last one",
        "return self.kinds[-1] if self.repeats else None",
        "return self.kinds[-1] if self.kinds else None",
    ),
    slip(
        "file-of-options-is-a-path",
        _OPERANDS,
        "an operand with @ is a path",
        'if kind in _OPTIONS_IN_FILES and word.prefix.startswith("@"):',
        'if kind in _OPTIONS_IN_FILES and word.prefix == "@":',
    ),
    slip(
        "user-in-an-address",
        _OPERANDS,
        "the name before @ is the host",
        'if "@" in word.prefix.partition("?")[0]:',
        'if "@x" in word.prefix.partition("?")[0]:',
    ),
    slip(
        "rewritten-is-read",
        _OPERANDS,
        "what is rewritten in place is only read",
        'case "rw":\n            deed.reads += paths\n            deed.writes += paths',
        'case "rw":\n            deed.reads += paths',
    ),
    # Programs and small languages.
    slip(
        "script-behind-a-harmless-name",
        _PROGRAMS,
        "a file of the project with the name of a program is that program",
        'if deed.scripts and "/" in name:',
        'if deed.run_kinds and "/" in name:',
    ),
    slip(
        "program-of-any-folder",
        _PROGRAMS,
        "a program in any folder bin is that of the system",
        r'_SYSTEM: Final = re.compile(r"/(?:usr/)?(?:local/)?s?bin/([\w.+\[-]+)")',
        r'_SYSTEM: Final = re.compile(r"/(?:.*/)?s?bin/([\w.+\[-]+)")',
    ),
    slip(
        "sed-flag-runs",
        _SED,
        "the flag e of s is a flag like any other",
        '_FLAGS: Final = re.compile(r"[gpiIM0-9]*")',
        '_FLAGS: Final = re.compile(r"[gpeiIM0-9]*")',
    ),
    slip(
        "sed-reads-on",
        _SED,
        "the text of r, R and w is a label",
        'elif command in (":", "b", "t", "T"):',
        'elif command in (":", "b", "t", "T", "r"):',
    ),
    slip(
        "awk-prints-into-files",
        _AWK,
        "a print of awk compares",
        'return before.replace(">", "") + after if "print" in signs',
        'return before.replace(">", "") + after.replace(">", "") if "print" in signs',
    ),
    slip(
        "find-narrows-too-late",
        _FIND,
        "a name narrows what was deleted before it",
        'if text == "-name" and not read.name and not read.deletes and not read.commands:',
        'if text == "-name" and not read.name:',
    ),
    slip(
        "find-other-names-forgotten",
        _FIND,
        "only the first -name tells what is found",
        "if text in _NAMES and not (self._negates and self._has_one_branch):",
        "if text in _NAMES and self._negates and self._has_one_branch:",
    ),
    slip(
        "env-sets-anything",
        _WRAPPERS,
        "env sets variables that decide what programs do",
        "check_variable(walk, *assigned)\n        at += 1",
        "at += 1",
    ),
    slip(
        "variables-by-their-exact-name",
        _BUILTINS,
        "a variable that decides what programs do takes a plain value",
        "if walk.names.is_never_set(name):",
        "if walk.names.is_never_set(name) and text is None:",
    ),
    slip(
        "other-repository-passes",
        _GIT,
        "git runs in a repository that is not the project's",
        'if walk.facts.repository(folder) != "own":',
        'if walk.facts.repository(folder) == "none":',
    ),
    slip(
        "secret-in-a-revision",
        _GIT,
        "a path in a revision is no path",
        'if text is not None and ":" in text and not',
        'if text is not None and "::" in text and not',
    ),
    slip(
        "push-that-overwrites",
        _GIT,
        "a push with a + before a branch is like any other",
        'r"::|://|^[+:]|@|/.*:"',
        'r"::|://|^:|@|/.*:"',
    ),
    slip(
        "tar-leaves-names-alone",
        _TAR,
        "what tar unpacks may be no link",
        "        walk.age(deed.into, itself=False)",
        "        walk.age((), itself=False)",
    ),
    slip(
        "hard-link-writes-nothing",
        _MOVES,
        "a second name of a file leaves it alone",
        "is_hard = walk.facts.given.root, not given.names & _SYMBOLIC",
        "is_hard = walk.facts.given.root, bool(given.names & _SYMBOLIC)",
    ),
    Bug(
        "moved-away-stays",
        "what mv takes away stays",
        (
            Edit(_MOVES, "deed.writes += sources", "deed.reads += sources"),
            Edit(
                _MOVES,
                "deed.into += [path for path in sources if not path.pattern]",
                "deed.reads += [path for path in sources if not path.pattern]",
            ),
        ),
    ),
    slip(
        "python-flags-hide-a-program",
        _RUNNERS,
        "any flag of python is skipped",
        "return word.exact in _PYTHON_FLAGS",
        'return word.prefix.startswith("-") and word.exact != "-m"',
    ),
    slip(
        "curl-changes-nothing",
        _CURL,
        "a request that may change something is read",
        'if name in ("-X", "--request", "--method") and text not in _ONLY_READS:',
        'if name in ("-X", "--method") and text not in _ONLY_READS:',
    ),
    # Steps, edges and words.
    slip(
        "files-connect-nothing",
        _EDGES,
        "a file that was written does not lead to who reads it",
        "waiting += self._writers_of(self._deeds[one])",
        "waiting += ()",
    ),
    slip(
        "fetch-carries-nothing",
        _STEPS,
        "a secret in the address of what is read does not leave",
        'sends = step.effect in ("fetch", "send")',
        'sends = step.effect == "send"',
    ),
    slip(
        "outside-is-not-confidential",
        _STEPS,
        "what is read outside the project may leave",
        '_CONFIDENTIAL: Final = ("read_secret", "read_outside")',
        '_CONFIDENTIAL: Final = ("read_secret",)',
    ),
    slip(
        "missing-facts-pass",
        _STEPS,
        "a line is understood while facts are missing",
        "    if known.needs:\n        return CommandSteps((_unknown",
        "    if known.needs and not deeds:\n        return CommandSteps((_unknown",
    ),
    slip(
        "turn-fits-together",
        _PARTS,
        "commands of one turn never change what another one means",
        "if len(read) > 1 and not _fit_together(",
        "if len(read) > 9 and not _fit_together(",
    ),
    slip(
        "forbidden-is-asked-for",
        _WORDS,
        "what was forbidden later is asked for",
        "said = said.without(taken).with_more(wanted)",
        "said = said.with_more(wanted)",
    ),
    slip(
        "name-alone-asks-to-delete",
        _WORDS,
        "a file is deleted because it was named",
        "named = (self._names_path(path, self._said.deletions) for path in paths)",
        "named = (self._names_path(path, self._said.names) for path in paths)",
    ),
    # The table.
    _table_slip("tee-reads", "what tee writes is read", '"write*"', '"read*"'),
    _table_slip(
        "sed-in-place",
        "sed -i writes nothing",
        "-E -i?!write -n",
        "-E -i? -n",
    ),
    _table_slip("pre", "rg takes a program", "-0 -a -A=text", "--pre=text -0 -a -A=text"),
    _table_slip("hard-reset", "a hard reset loses nothing", "--hard!discard", "--hard"),
    _table_slip("find-in-python", "a key is no secret", "*.pem *.key", "*.pem"),
    _table_slip("hooks", "hooks of a project may be written", ".gnupg .husky", ".gnupg"),
    _table_slip("path", "PATH takes any value", "CI DEBUG", "CI PATH DEBUG"),
)
