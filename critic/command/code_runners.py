"""Read programs that run code of the repository: interpreters, package managers, their runners."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from critic.command.command_table import ProgramEntry
from critic.command.deeds import Deed, LineWalk, Stdin
from critic.command.operand_kinds import apply_arguments, apply_kind
from critic.command.program_options import parse_options
from critic.command.shell_facts import is_below
from critic.command.shell_syntax import NotUnderstood, Word, plain_word
from critic.command.wrappers import run_wrapped

_ISOLATES: Final = frozenset(("-I", "-P"))
"""The flags with which Python looks for modules in no folder of the line."""

_PYTHON_FLAGS: Final = _ISOLATES | {"-u", "-B", "-q"}
_PYTHON_MODULES: Final = frozenset(
    ("pytest", "ruff", "mypy", "black", "isort", "pip", "flake8", "pylint", "tox", "nox")
)
_RUNS_SCRIPTS_FIRST: Final = frozenset(("pnpm", "yarn"))
"""The managers that run a script or a program of the project, and hand on what follows its name."""

_FETCHES: Final = frozenset(("-y", "--yes"))
_NPX_FLAGS: Final = _FETCHES | {"--no-install", "--no"}
_NPX_PROGRAMS: Final = frozenset(
    (
        *("tsc", "eslint", "stylelint", "prettier", "vitest", "jest", "mocha", "playwright"),
        *("cypress", "vue-tsc", "pyright", "markdownlint-cli2"),
        *("vite", "next", "astro", "nuxt", "webpack", "rollup", "turbo", "nx"),
    )
)
_TEST_PROGRAMS: Final = ("jest", "vitest", "pytest")
_UNITTEST: Final = ProgramEntry(
    names="unittest",
    opts="-b -c -f -k=text -p=text -q -s=run -t=dir -v --buffer --failfast --quiet --verbose",
    args="run*",
    effect="run",
    run="test",
)
_ANY_SCRIPT: Final = ProgramEntry(names="script", opts="--check --fix --write", args="run*")
_SHELL_SIGNS: Final = '$`"\\;&<>\n'
_EDITABLE: Final = ("-e", "--editable")
_FORMATTERS: Final = frozenset(("ruff", "black", "isort", "prettier"))
_FORMATS: Final = ("lint", "format", "check")
_MODULE_KINDS: Final[dict[str, tuple[str, ...]]] = {
    **{name: (name, *_FORMATS) for name in _FORMATTERS},
    "pip": ("pip", "install", "packages", "dependencies"),
    "json.tool": ("json.tool",),
    "venv": ("venv", "virtualenv"),
}
"""What modules are run for that are programs of their own, or do little."""

_RUN: Final = ("run",)


def run_script(walk: LineWalk, script: Word, deed: Deed) -> None:
    """Add that code of the repository is run by the path of its file.

    Raises:
        NotUnderstood: the path is not known.
    """
    paths = walk.at(script, deed.folders, what="a script")
    deed.scripts += paths
    deed.reads += paths
    deed.does["run"] = "runs a script"
    deed.run_kinds = [_RUN]


def read_interpreter(
    walk: LineWalk, words: tuple[Word, ...], deed: Deed, stdin: Stdin
) -> tuple[Word, ...] | None:
    """Add the script that an interpreter runs; or return the words of a module that is a program.

    Raises:
        NotUnderstood: the program is on the command line or on the input, or not known.
    """
    del stdin
    if deed.program.startswith("python"):
        flags = [word.exact for word in takewhile(_is_python_flag, words)]
        words = words[len(flags) :]
        if len(words) > 1 and words[0].exact == "-m":
            return _read_module(walk, words[1:], deed, isolated=not _ISOLATES.isdisjoint(flags))
    if deed.program == "node" and words and words[0].exact == "--test":
        _add_tests(walk, words[1:], deed)
        return None
    if not words:
        raise NotUnderstood(f"{deed.program} reads its program from its input")
    if words[0].exact is None or words[0].exact.startswith("-"):
        raise NotUnderstood(f"a program text or an option of {deed.program}: {words[0].shown}")
    for word in words[1:]:
        if word.exact is None:
            raise NotUnderstood(f"an argument that is known only when it runs: {word.shown}")
    run_script(walk, words[0], deed)
    return None


def _add_tests(walk: LineWalk, words: tuple[Word, ...], deed: Deed) -> None:
    for word in words:
        if word.exact is None or word.exact.startswith("-"):
            raise NotUnderstood(f"the option {word.shown} of {deed.program}")
        apply_kind(walk, "run", word, deed)
    deed.does["run"] = "runs tests"
    deed.run_kinds = [("test",)]


def _is_python_flag(word: Word) -> bool:
    return word.exact in _PYTHON_FLAGS


def _read_module(
    walk: LineWalk, words: tuple[Word, ...], deed: Deed, *, isolated: bool
) -> tuple[Word, ...] | None:
    """Add what a module does. It is code of the project: Python looks for it in the folder first.

    `isolated`: it does not.
    """
    name, rest = words[0].exact, words[1:]
    deed.run_kinds = [_MODULE_KINDS[name]] if name in _MODULE_KINDS else []
    if isolated:
        deed.does.clear()
        deed.run_kinds.clear()
    else:
        deed.does["run"] = f"runs the module {name}, of the project if it has one"
        deed.scripts += walk.here(deed)
    if name in _PYTHON_MODULES:
        return words
    if name == "unittest":
        deed.reads += walk.here(deed)
        apply_arguments(walk, _UNITTEST, parse_options(_UNITTEST, rest), deed)
        deed.does["run"] = "runs tests"
        deed.run_kinds = [_UNITTEST.run_kinds]
    elif name == "json.tool" and len(rest) < 2 and all(one.prefix[:1] != "-" for one in rest):
        for word in rest:
            apply_kind(walk, "read", word, deed)
    elif name == "venv" and len(rest) == 1 and rest[0].prefix[:1] != "-":
        apply_kind(walk, "write", rest[0], deed)  # names that are known
    else:
        raise NotUnderstood(f"python -m {words[0].shown}")
    return None


def is_known_binary(name: str | None) -> bool:
    """Return whether a name is that of a program which projects install for themselves."""
    return name in _NPX_PROGRAMS


def name_kinds(program: str) -> tuple[str, ...]:
    """Return what a program is run for that has no kinds of its own."""
    return (program, *_FORMATS) if program in _FORMATTERS else (program,)


def read_npx(walk: LineWalk, words: tuple[Word, ...], deed: Deed) -> tuple[Word, ...]:
    """Return the words of the program that `npx` runs, which the project has installed.

    With the flag that says yes to a download, it is a package that is installed. Other managers
    than `npx` run a script of that name first.

    Raises:
        NotUnderstood: it may be fetched when it runs.
    """
    fetches = False
    if deed.program in _RUNS_SCRIPTS_FIRST:
        deed.add_effect("run", "runs a script of that name if there is one")
        deed.scripts += walk.here(deed)
    while words and words[0].exact in _NPX_FLAGS:
        fetches = fetches or words[0].exact in _FETCHES
        words = words[1:]
    if not words or words[0].exact not in _NPX_PROGRAMS:
        shown = words[0].shown if words else ""
        raise NotUnderstood(f"{deed.program} {shown}: a program that is fetched when it runs")
    if fetches:
        deed.packages.append(words[0].exact)
        deed.add_effect("install", f"fetches {words[0].exact} where it is not there")
    return words


def read_npm(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the script that `npm` runs; what it is given after `--` is read as for tests.

    Raises:
        NotUnderstood: an option is not understood.
    """
    texts = [word.exact for word in words]
    own = _own_words(entry, words) if deed.program in _RUNS_SCRIPTS_FIRST else len(words)
    if "--" in texts[:own]:
        own = texts.index("--")
    passed = words[own + 1 :] if "--" in texts[own : own + 1] else words[own:]
    if passed:
        _check_passed(walk, passed, deed)
    words = words[:own]
    apply_arguments(walk, entry, parse_options(entry, words), deed)
    deed.scripts += walk.here(deed)


def _own_words(entry: ProgramEntry, words: tuple[Word, ...]) -> int:
    """Return how many words are for the manager itself: all that follow are for the script."""
    at = 0
    while at < len(words) and (words[at].exact or "").partition("=")[0] in entry.options:
        at += 1
    return min(at + len(entry.operands.kinds), len(words))


def _check_passed(walk: LineWalk, words: tuple[Word, ...], deed: Deed) -> None:
    """Read what is passed on, with the options of programs that run tests."""
    if any(sign in word.shown for word in words for sign in _SHELL_SIGNS):
        raise NotUnderstood("what a script is given may be read by a shell")
    known = [walk.table.entries.get(name, {}).get("") for name in _TEST_PROGRAMS]
    faults = list[NotUnderstood]()
    for program in (*filter(None, known), _ANY_SCRIPT):
        trial = Deed(deed.text, deed.folders, deed.program)
        try:
            apply_arguments(walk, program, parse_options(program, words), trial)
        except NotUnderstood as fault:
            faults.append(fault)
        else:
            deed.reads += trial.reads
            deed.writes += trial.writes
            deed.scripts += trial.scripts
            return
    raise faults[0] if faults else NotUnderstood("what is passed on to a script")


def refuse_guarded(walk: LineWalk, words: tuple[Word, ...]) -> None:
    """Refuse what is passed on unread if it names what is protected or secret.

    Raises:
        NotUnderstood: it does.
    """
    for word in words:
        for text in (word.shown, word.shown.rpartition("=")[2]):
            if walk.names.is_protected(text) or walk.names.is_secret(text):
                raise NotUnderstood(f"what is passed on to code of the project: {word.shown}")


def ask_about_itself(program: str, entries: Mapping[str, ProgramEntry], deed: Deed) -> None:
    """Add that a program which loads code of the project does so before it answers."""
    alone = [entries[""]] if "" in entries else [*entries.values()]
    loads = [one for one in alone if one.effect == "run" and one.reader != "interpreter"]
    if loads:
        deed.add_effect("run", "may load code of the project first")
        deed.run_kinds = deed.run_kinds or [
            (loads[0].run_kinds if "" in entries else ()) or (program,)
        ]


def read_pip(walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed) -> None:
    """Add the packages that `pip install` installs; `.` is the project itself, whose code runs.

    Raises:
        NotUnderstood: an address, an archive, an option, or a list from elsewhere.
    """
    values = {at + 1 for at, word in enumerate(words) if word.exact in _EDITABLE}
    packages = tuple(word for at, word in enumerate(words) if word.exact != "." or at in values)
    apply_arguments(walk, entry, parse_options(entry, packages), deed)
    root, lists = walk.facts.given.root, [one for one in deed.reads if one not in deed.scripts]
    if not all(is_below(spelled, root) for path in lists for spelled in path.spellings):
        raise NotUnderstood("a list of packages outside the project")
    if len(packages) < len(words):
        deed.scripts += walk.here(deed)
    if deed.scripts:
        deed.add_effect("run", "builds what it installs")
        deed.run_kinds = [("install", "build")]


def read_coverage(
    walk: LineWalk, entry: ProgramEntry, words: tuple[Word, ...], deed: Deed, stdin: Stdin
) -> None:
    """Read what `coverage run` runs: what Python would, given the same words.

    Raises:
        NotUnderstood: an option or what is run is not understood.
    """
    given = parse_options(entry, words, stops=True)
    module = (plain_word("-m"),) if "-m" in given.names else ()
    run_wrapped(walk, (plain_word("python3"), *module, *given.operands), deed, stdin)


def read_runner(walk: LineWalk, words: tuple[Word, ...], deed: Deed, stdin: Stdin) -> None:
    """Read the command that `uv run`, `poetry run` or `bundle exec` runs.

    Raises:
        NotUnderstood: another subcommand, or an option before the command.
    """
    verb = "exec" if deed.program == "bundle" else "run"
    if len(words) < 2 or words[0].exact != verb:
        raise NotUnderstood(f"{deed.program} {words[0].shown if words else ''}")
    if words[1].exact is None or words[1].exact.startswith("-"):
        raise NotUnderstood(f"the option {words[1].shown} of {deed.program} {verb}")
    deed.note = "may install what the lock file says"
    first = len(walk.deeds)
    run_wrapped(walk, words[1:], deed, stdin)
    if not any("run" in one.does for one in walk.deeds[first:]):
        # The project may have a script of that name, and builds itself before.
        name = walk.deeds[-1].program
        deed.add_effect("run", f"runs {name} of the project")
        deed.run_kinds = [name_kinds(name)]
