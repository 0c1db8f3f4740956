"""The wall: what an allow depends on is INNER, and INNER depends on nothing else.

A reviewer who asks what can make a call run that should not reads INNER, and `SECURITY.md` names
it. `OUTER` are tools over it: they read, compare, show and serve, and none of them decides.

The budgets count the lines of this project that an entry makes Python load. A merge lowers them;
to raise one needs a decision that says what the lines are for.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.meta.test_floors import MODULES, imports, nodes, none_of, sources, within
from tests.support.paths import ROOT

LOOSE = tuple(
    f"harness.{name}"
    for name in (
        *("canonical", "cases", "clock", "errors", "expected_rulings", "failures", "rules"),
        "locking",
        "tool_results",
        *("single_use", "whole_files", "wire", "wire_faults"),
    )
)
"""What every zone may use: it decides nothing, and is read with INNER."""

INNER = (
    *("evals", "critic", "harness.policy", "harness.record", "harness.guard", "harness.runtime"),
    "harness.log",
)
OUTER = (
    *("harness.policy.analysis", "harness.replay", "harness.what_if", "harness.audit"),
    *("harness.loops", "harness.integrations", "harness.serve", "harness.commands"),
    "harness.case_files",
    *("harness.testing", "harness.cli", "harness.schemas", "harness.process"),
    "plan_critic_entry",
)

HANDS_ON = {"harness.policy"}
"""Fronts with names of OUTER, each loaded when it is first asked for."""

BUDGETS = {
    "from critic import verify, Proposal": 6_590,
    "from harness.guard import Guard": 27_120,
    "from harness.guard import Guard\n"
    "from harness.policy import read_policy\n"
    "from harness.log import SqlDecisionLog": 30_720,
}
"""The most lines of this project that a statement may load."""

_OPEN = """
from harness.guard import CallsEvent, Guard, OpenEvent, RequestedCall, ResultEvent
from harness.policy import read_policy
guard = Guard(read_policy("fixtures/examples/agent/critic.toml"){log})
guard.handle(OpenEvent(session="s", request="Refund order ord_1 please."))
call = RequestedCall(id="c1", tool="find_order", args={{"order": "ord_1"}})
ruled = guard.handle(CallsEvent(session="s", calls=[call]))
assert ruled.action == "allow", ruled
guard.permit("s", "c1").redeem("find_order", {{"order": "ord_1"}})
guard.handle(ResultEvent(session="s", id="c1", status="completed", output={{"order": "ord_1"}}))
"""
RULINGS = {
    "a plan": (
        "from pathlib import Path\n"
        "from critic import Proposal, verify_proposal\n"
        "from harness.wire import parse\n"
        "document = Path('fixtures/refund/plan_c.json').read_bytes()\n"
        "assert not verify_proposal(parse(Proposal, document))",
        4_330,
    ),
    "a call, by provenance": (_OPEN.format(log=""), 18_150),
    "a call, by provenance, recorded": (
        "import tempfile\nfrom harness.log import SqlDecisionLog\n"
        "log = SqlDecisionLog.open(tempfile.mkdtemp() + '/audit.db')\n"
        + _OPEN.format(log=", log=log"),
        20_000,
    ),
    "a command": (
        "from harness.guard import Guard, RequestedCall\n"
        "from harness.integrations.hooks.install import shipped_policy\n"
        "from harness.policy import parse_policy\n"
        "guard = Guard(parse_policy(shipped_policy('claude-code'), syntax='toml').policy)\n"
        "guard.open('s', 'x')\n"
        "facts = {'root': '/w', 'cwd': '/w', 'home': '/h', 'path_safe': True}\n"
        "args = {'command': 'pwd', 'cwd': '/w'}\n"
        "call = RequestedCall(id='c', tool='Bash', args=args, shell=facts)\n"
        "assert guard.calls('s', [call])",
        25_090,
    ),
}
"""The most lines of code, without blank lines, comments and docstrings, that a ruling loads."""

_LOADED = """
import json, sys
{statement}
ours = ("evals", "critic", "harness")
files = [m.__file__ for n, m in sys.modules.items() if n.partition(".")[0] in ours]
print(json.dumps(files))
"""


def is_outer(module: str) -> bool:
    return within(module, OUTER)


def test_every_module_is_in_a_zone() -> None:
    none_of(
        f"{module} is in no zone: list it in INNER, LOOSE or OUTER"
        for module in MODULES
        if module != "harness" and not within(module, (*INNER, *LOOSE, *OUTER))
    )
    none_of(f"{zone}: no such module" for zone in (*INNER, *LOOSE, *OUTER) if zone not in MODULES)


def test_nothing_inner_imports_what_is_outer_at_load_or_later() -> None:
    none_of(
        f"{module} imports {name}: what an allow depends on may not"
        for module in MODULES
        if not is_outer(module) and module not in HANDS_ON
        for name in imports(module)
        if is_outer(name)
    )


def named_modules(module: str) -> set[str]:
    """Return the modules of this project that strings of a module name, as `import_module` does."""
    texts = (
        node.value
        for node in nodes(module)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return {text for text in texts if re.fullmatch(r"[\w.]+", text) and text in sources()}


def test_nothing_inner_names_what_is_outer() -> None:
    none_of(
        f"{module} names {name}: what an allow depends on may not import it by its name"
        for module in MODULES
        if not is_outer(module) and module not in HANDS_ON
        for name in sorted(named_modules(module))
        if is_outer(name)
    )


def files_after(statement: str) -> list[str]:
    """Return the files of this project that are loaded once a statement was executed."""
    command = [sys.executable, "-c", _LOADED.replace("{statement}", statement)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files: list[str] = json.loads(done.stdout)
    return files


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "most"), BUDGETS.items())
def test_what_an_entry_loads_can_be_read(statement: str, most: int) -> None:
    files = files_after(statement)
    lines = sum(Path(file).read_text("utf-8").count("\n") for file in files)
    assert lines <= most, f"{lines} lines: {sorted(files)}"


def code_lines(source: str) -> int:
    """Return how many lines hold code: no blank lines, no comments, no docstrings."""
    holders = ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef
    texts: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        for part in node.body if isinstance(node, holders) else ():
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                texts |= set(range(part.lineno, (part.end_lineno or 0) + 1))
    lines = enumerate(source.split("\n"), 1)
    return sum(at not in texts and bool(re.match(r"\s*[^\s#]", line)) for at, line in lines)


def test_lines_of_code_are_counted() -> None:
    counted = "X = 1  # one", "def f():", '    return """a', 'b"""'
    left_out = '"""Head."""', "", '"""Of X."""', "# none"
    source = "\n".join((*left_out[:2], counted[0], *left_out[2:], *counted[1:3], "", counted[3]))
    assert code_lines(source) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "most"), RULINGS.values(), ids=RULINGS)
def test_what_a_ruling_loads_can_be_read(statement: str, most: int) -> None:
    files = files_after(statement)
    lines = sum(code_lines(Path(file).read_text("utf-8")) for file in files)
    assert lines <= most, f"{lines} lines of code: {sorted(files)}"


def test_the_page_on_security_names_the_inner_zone() -> None:
    page = (ROOT / ".github" / "SECURITY.md").read_text("utf-8")
    none_of(
        f"SECURITY.md does not name {folder}"
        for folder in (f"{zone.replace('.', '/')}/" for zone in INNER)
        if f"`{folder}`" not in page
    )
