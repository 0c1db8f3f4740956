"""The house: which module stands on which floor, what it may import, and how large it may be.

A new module is listed in `FLOORS`. If it must stay pure, it stands in `PURE` or below a folder
that does; a library that pure modules come to need is listed in `PURE_IMPORTS`, with a thought.
"""

import ast
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.paths import ROOT


def words(text: str) -> set[str]:
    return set(text.split())


FLOORS = {
    "evals": """
        evals evals.approval evals.binding evals.canonical evals.context evals.cost evals.envelope
        evals.evidence evals.field evals.timestamps evals.json_value evals.latency evals.measure
        evals.plan evals.policy evals.run evals.safety evals.schemas evals.scorecard evals.escaping
        evals.utility evals.verdict
    """,
    "critic": """
        critic critic.caveats critic.checks critic.consolidate critic.prepared
        critic.repairs critic.repairs.advise critic.repairs.apply critic.repairs.kinds
        critic.repairs.options critic.repairs.places critic.score critic.surface critic.verdicts
        critic.verify
    """,
    "harness": """
        harness harness._toplevel.plan_critic_entry harness._toplevel.plan_critic_entry.console
        harness._toplevel.plan_critic_entry.pytest_plugin harness.agents harness.agents.agent harness.agents.command
        harness.agents.invocation harness.agents.journal harness.agents.journal_file
        harness.agents.journaled harness.agents.model harness.agents.pydantic_ai
        harness.agents.retry harness.agents.retrying harness.agents.usage
        harness.canonical harness.cases harness.cli harness.clock
        harness.codeloop harness.codeloop.agents harness.codeloop.config
        harness.codeloop.decision harness.codeloop.errors harness.codeloop.gate
        harness.codeloop.git harness.codeloop.loop harness.codeloop.prompt
        harness.codeloop.record harness.codeloop.scribe harness.codeloop.sessions
        harness.codeloop.workspace harness.commands harness.commands.advice_text
        harness.commands.complaint
        harness.commands.demo harness.commands.doctor harness.commands.documents
        harness.commands.exit_status harness.commands.formats harness.commands.formats.github
        harness.commands.formats.judgement harness.commands.formats.junit
        harness.commands.formats.lines harness.commands.formats.sarif
        harness.commands.judging harness.commands.log harness.commands.code_loop
        harness.commands.output harness.commands.pipeline harness.commands.progress
        harness.commands.replay harness.commands.run harness.commands.schema
        harness.commands.score harness.commands.sessions harness.commands.verify
        harness.errors harness.log harness.log.errors harness.log.schema
        harness.log.sql harness.log.sqlite harness.log.statements harness.log.store
        harness.log.tables harness.loops harness.loops.actor_critic
        harness.loops.critique harness.loops.echo harness.loops.loop_stream
        harness.loops.model_loop harness.loops.plan_calls harness.loops.plan_judgement
        harness.loops.plan_loop
        harness.loops.plan_replies harness.loops.plan_types harness.loops.self_refine
        harness.loops.templates harness.loops.verifying_planner harness.process
        harness.record harness.replay harness.replay.diff harness.replay.engine
        harness.replay.integrity harness.replay.log_check harness.replay.recheck
        harness.replay.result
        harness.runtime harness.runtime.executors harness.runtime.loop
        harness.runtime.permit harness.runtime.planners harness.runtime.ports
        harness.runtime.revise harness.schemas harness.testing harness.testing._draw
        harness.testing._draw.bounds harness.testing._draw.hostile
        harness.testing._draw.json_values harness.testing._draw.near_miss
        harness.testing._draw.near_miss_facts harness.testing._draw.near_miss_scope
        harness.testing._draw.near_misses harness.testing._draw.plans
        harness.testing._draw.primitives harness.testing._draw.runs
        harness.testing._draw.worlds harness.testing._draw.worlds_given
        harness.testing._laws harness.testing._laws.evaluators
        harness.testing._laws.renaming harness.testing._laws.trial
        harness.testing._laws.verify harness.testing._pytest
        harness.testing._pytest.items harness.testing._pytest.sources
        harness.testing.laws harness.testing.plugin harness.testing.strategies
        harness.wire
    """,
}
BELOW = {"evals": {"evals"}, "critic": {"evals", "critic"}, "harness": {*FLOORS}}

PURE = words("""
    evals critic harness.replay harness.record harness.canonical
    harness.runtime.loop harness.runtime.permit harness.runtime.ports harness.runtime.revise
    harness.loops.plan_loop harness.loops.plan_replies harness.loops.plan_types
    harness.loops.verifying_planner
    harness.loops.actor_critic harness.agents.agent harness.loops.critique harness.loops.echo
    harness.loops.loop_stream harness.loops.plan_calls harness.loops.plan_judgement
    harness.agents.journal harness.agents.journaled harness.loops.model_loop
    harness.loops.self_refine harness.agents.invocation harness.loops.templates
    harness.codeloop.decision harness.codeloop.prompt
""")
PURE_IMPORTS = words("""
    collections collections.abc contextlib copy dataclasses datetime functools hashlib itertools
    math operator re string types typing
    jsonschema_rs orjson pydantic pydantic.json_schema pydantic_core rfc8785
""")
# For cancellation and locks, without starting an event loop or a thread; and for the version, when
# it is asked for.
ALSO = {
    "harness.runtime.loop": {"asyncio"},
    "harness.runtime.permit": {"threading"},
    "harness.loops.plan_loop": {"asyncio"},
    "critic": {"importlib.metadata"},
}

# What reaches the world or reads a clock without any import: by name, and as a method.
IMPURE_NAMES = words("open print input breakpoint eval exec compile __import__ globals vars")
IMPURE_METHODS = words("""
    now utcnow today time time_ns monotonic perf_counter fromtimestamp getenv urandom getLogger
    read_text write_text read_bytes write_bytes open random uuid4 sleep create_task run_in_executor
""")

TOP_LEVEL = words(
    "pyproject.toml README.md LICENSE CHANGELOG.md critic evals harness tests fixtures"
)
UNTRACKED = {"dist", "build", "PKG-INFO"}  # what tools leave in a tree that is no checkout

BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def sources() -> dict[str, Path]:
    """Every module of the three packages by its dotted name."""
    return {_name_of(path): path for top in FLOORS for path in sorted((ROOT / top).rglob("*.py"))}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(sources()[module].read_text("utf-8"))


def imports(module: str) -> Iterator[str]:
    """What a module imports anywhere in it: modules of this house exactly, others as written."""
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in sources() else str(node.module)


def floor(name: str) -> str:
    return name.partition(".")[0]


def is_pure(module: str) -> bool:
    return any(module == entry or module.startswith(f"{entry}.") for entry in PURE)


def functions(module: str) -> list[Function]:
    return [node for node in ast.walk(tree(module)) if isinstance(node, Function)]


def nesting(node: ast.AST) -> int:
    """How many blocks stand in one another below `node`; an elif stands beside its if."""
    if isinstance(node, Function | ast.Lambda | ast.ClassDef):
        return 0
    if isinstance(node, ast.If):
        beside = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        inner = node.body if beside else [*node.body, *node.orelse]
        deep = 1 + max(map(nesting, inner))
        return max(deep, nesting(node.orelse[0])) if beside else deep
    below = max(map(nesting, ast.iter_child_nodes(node)), default=0)
    return below + isinstance(node, BLOCKS)


def without_circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as circle:
        pytest.fail(f"imports go in a circle: {' -> '.join(circle.args[1])}")


MODULES = sorted(sources())
every_module = pytest.mark.parametrize("module", MODULES)


def test_every_module_is_listed_once_on_its_own_floor() -> None:
    listed = [name for names in FLOORS.values() for name in names.split()]
    assert {*MODULES} - {*listed} == set(), "list these modules, each on its floor"
    assert {*listed} - {*MODULES} == set(), "these modules are gone"
    assert len({*listed}) == len(listed), "a module is listed twice"
    assert all(floor(name) == key for key in FLOORS for name in FLOORS[key].split())


@every_module
def test_imports_point_down(module: str) -> None:
    ours = {name for name in imports(module) if floor(name) in FLOORS}
    assert ours <= set(sources()), "imports a module of this house that does not exist"
    assert {*map(floor, ours)} <= BELOW[floor(module)]


def test_no_circle_between_modules() -> None:
    graph = {module: {*imports(module)} & {*sources()} for module in MODULES}
    assert len(without_circle(graph)) == len(MODULES)


def test_no_circle_between_packages() -> None:
    # What stands right below `harness` (wire, canonical ...) is a package of its own here.
    def package(module: str) -> str:
        parts = module.split(".")
        return ".".join(parts[:2]) if parts[0] == "harness" else parts[0]

    graph: dict[str, set[str]] = {}
    for module in MODULES:
        used = {package(name) for name in imports(module) if name in sources()}
        graph.setdefault(package(module), set()).update(used - {package(module)})
    assert without_circle(graph)[0] == "evals"


@pytest.mark.parametrize("module", [name for name in MODULES if is_pure(name)])
def test_a_pure_module_reaches_nothing(module: str) -> None:
    external = {name for name in imports(module) if floor(name) not in FLOORS}
    assert external <= PURE_IMPORTS | ALSO.get(module, set())
    calls = [node.func for node in ast.walk(tree(module)) if isinstance(node, ast.Call)]
    assert not {call.id for call in calls if isinstance(call, ast.Name)} & IMPURE_NAMES
    methods = {call.attr for call in calls if isinstance(call, ast.Attribute)}
    asked_for = {"now"} if module == "harness.runtime.loop" else set()  # of the clock passed in
    assert methods & IMPURE_METHODS == asked_for


def test_the_loop_asks_only_its_own_clock_for_the_time() -> None:
    asked = {
        ast.unparse(node.value)
        for node in ast.walk(tree("harness.runtime.loop"))
        if isinstance(node, ast.Attribute) and node.attr == "now"
    }
    assert asked
    assert asked <= {"self.clock", "clock"}


def test_what_is_listed_as_pure_exists() -> None:
    assert {*PURE, *ALSO} <= set(MODULES)
    used = {name for module in MODULES if is_pure(module) for name in imports(module)}
    assert used >= PURE_IMPORTS, "a library that no pure module needs any more"


@every_module
def test_imports_are_absolute_and_named(module: str) -> None:
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert "*" not in [alias.name for alias in node.names]


@every_module
def test_sizes(module: str) -> None:
    assert len(sources()[module].read_text("utf-8").splitlines()) < 350
    assert sources()[module].name != "utils.py"
    for function in functions(module):
        lines = (function.end_lineno or 0) - function.lineno + 1
        assert lines < 40, f"{function.name} has {lines} lines"
        assert max(map(nesting, function.body)) <= 3, f"{function.name} nests too deep"


@pytest.mark.parametrize("module", ["harness", "harness.testing"])
def test_packages_that_pytest_loads_hold_a_docstring_only(module: str) -> None:
    (only,) = tree(module).body
    assert isinstance(only, ast.Expr)
    assert ast.get_docstring(tree(module))


@every_module
def test_every_module_opens_with_its_job(module: str) -> None:
    head = ast.get_docstring(tree(module)) or ""
    assert len(head.partition("\n")[0]) > 10


def top_level() -> set[str]:
    git = shutil.which("git")
    if git is not None and (ROOT / ".git").exists():
        listed = subprocess.run(
            [git, "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True
        ).stdout.split("\0")
        return {name.split("/")[0] for name in listed if name}
    found = {path.name for path in ROOT.iterdir()} - UNTRACKED
    return {name for name in found if not name.endswith((".egg-info", "__pycache__"))}


def test_the_top_level_holds_what_it_should_and_no_more() -> None:
    shown = {name for name in top_level() if not name.startswith(".")}
    assert shown <= TOP_LEVEL
    assert shown >= {"pyproject.toml", "README.md", "critic", "evals", "harness"}
