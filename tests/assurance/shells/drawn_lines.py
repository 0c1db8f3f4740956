"""Command lines to run in real shells: each option of the table, each pair of operators, and more.

They are drawn from a seed. Most are made of the lines that the project has for each entry of the
table, of its usual and hostile lines, and of what shells give a meaning to.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import Final, NamedTuple

from critic.command.command_table import ProgramEntry, ProgramOption
from tests.harness.policy.test_common_lines import (
    LINE_OF,
    LINES,
    effects,
    entry_of,
    options,
    with_option,
)

_JOINTS: Final = (" && ", " || ", "; ", " | ", " & ", "\n", "&&", " |& ", ";", " \\\n ")
_BEGINS: Final = ("cd src", "cd nope", "true", "false", "X=a.py", "(cd src)", "{ cd src; }")
_ENDS: Final = (
    ("touch t", "cat a.py > u"),
    ("cd ..", "touch v"),
    ("! cd nope", "cp a.py w"),
    ("false", "rm b.py"),
)
TIMES: Final = 20
"""How often each option and each pair of operators is drawn."""

_FORMS: Final = (
    *(
        "({})",
        "{{ {}; }}",
        "! {}",
        "timeout 5 {}",
        "time {}",
        'echo "$({})"',
        "({}) > g",
        "nice {}",
    ),
    *("env A=1 {}", "cd src && {}", "cd nope; {}", "{} > n", "{} 2>&1 | cat", "cd src; cd ..; {}"),
)
_REDIRECTS: Final = (
    *(" > n", " >> a.py", " 2>&1", " 2>e", " < a.py", " &> all", " >| f", " <<< x", " <nope >o"),
    *(" > 'q r'", " 3>f", " > src/o", " <<E\nhi\nE\n", " 10>f", " > x{1,2}", " 2 >x", " > out/z"),
)
_WORDS: Final = (
    *("a.py", "b.py", "*.py", "?.py", "'two words.txt'", '"$X"', "a\\ b", "-n", "--", "x{1,2}"),
    *("''", "~", "a#b", "[ab].py", "src/*", '"$(ls b)"', "'it'\\''s'", "!", "=", "$X", "./a.py"),
    *("src/../a.py", "out/o.txt", "out", "src", ".", "src/", "./-n", "~/note", "../tmp/t.txt"),
)
_VALUES: Final = {
    "read": "a.py",
    "list": "src",
    "write": "n",
    "into": "src",
    "rw": "b.py",
    "delete": "b.py",
    "run": "tests",
    "dir": "src",
    "upload": "a.py",
}


class DrawnLine(NamedTuple):
    """A line, and what it was drawn for: an option, a pair of operators, or nothing."""

    text: str
    about: str = ""


def option_lines(seed: int, times: int = TIMES) -> Iterator[DrawnLine]:
    """Yield lines for each option of the table, so many for each: alone, and among others."""
    rng = Random(seed)  # noqa: S311 - lines to try
    known, every = _known_lines(), [*options()]
    for turn in range(times):
        rng.shuffle(every)
        for entry, option in every:
            line = _with_option(LINE_OF[id(entry)], option)
            about = f"{entry.names} {entry.sub} {option.name}"
            yield DrawnLine(line if turn == 0 else _among_others(rng, line, known), about)


def _among_others(rng: Random, line: str, known: list[str]) -> str:
    way = rng.randrange(5)
    if way == 0:
        return rng.choice(_FORMS).format(line)
    if way == 1:
        return line + rng.choice(_REDIRECTS)
    if way == 2:
        return f"{line} {rng.choice(_WORDS)}"
    if way == 3:
        return f"{rng.choice(_BEGINS)}{rng.choice(_JOINTS)}{line}"
    return f"{line}{rng.choice(_JOINTS)}{rng.choice(known)}"


def operator_lines() -> Iterator[DrawnLine]:
    """Yield lines for each pair of operators: 28, with each end of the first two commands."""
    for begin, (middle, last) in product(_BEGINS, _ENDS):
        for first, second in product(_JOINTS, _JOINTS):
            about = f"{first!r} {second!r}"
            yield DrawnLine(f"{begin}{first}{middle}{second}{last}", about)


def _known_lines() -> list[str]:
    known = [command for command, _ in effects()]
    for name in ("usual", "hostile"):
        texts = (LINES / f"{name}.jsonl").read_text("utf-8").splitlines()
        known += [json.loads(text)["command"] for text in texts]
    return known


def random_lines(seed: int) -> Iterator[DrawnLine]:
    """Yield lines without end."""
    rng = Random(seed)  # noqa: S311 - lines to try
    known, every = _known_lines(), [*options()]
    while True:
        parts = [_part(rng, known, every) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
        line = parts[0]
        for part in parts[1:]:
            line += rng.choice(_JOINTS) + part
        yield DrawnLine(rng.choice(_FORMS).format(line) if rng.random() < 0.25 else line)


def _part(
    rng: Random, known: list[str], every: Sequence[tuple[ProgramEntry, ProgramOption]]
) -> str:
    line = rng.choice(known)
    if rng.random() < 0.1:
        entry, option = rng.choice(every)
        line = _with_option(LINE_OF[id(entry)], option)
    if rng.random() < 0.4:
        line = _with_some_option(rng, line)
    if rng.random() < 0.3:
        line = f"{line} {rng.choice(_WORDS)}"
    if rng.random() < 0.25:
        line += rng.choice(_REDIRECTS)
    if rng.random() < 0.1:
        at = rng.randrange(len(line) + 1)
        line = line[:at] + rng.choice("'\"\\$` *?{}#~=;&|<>()-\t") + line[at:]
    return line


def _with_some_option(rng: Random, line: str) -> str:
    try:
        _, _, entry = entry_of(line)
    except (KeyError, IndexError):
        return line
    if not entry.options or entry.free:
        return line
    return _with_option(line, rng.choice([*entry.options.values()]))


def _with_option(line: str, option: ProgramOption) -> str:
    value = "" if option.kind in (None, "?") else _VALUES.get(option.kind, "1")
    return with_option(line, f"{option.name} {value}".strip())
