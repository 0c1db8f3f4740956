"""The house: what each module may import, what the pure ones may use, and how large they may be.

A module's floor is its top package. A module that must stay pure, or the folder above it, is
listed in `PURE`; a library that pure modules come to need is listed in `PURE_IMPORTS`, with care.
Every test names each module that breaks its rule, and how.
"""

import ast
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.paths import ROOT


def words(text: str) -> set[str]:
    return set(text.split())


BELOW = {
    "evals": (),
    "critic": ("evals",),
    "harness": ("critic", "evals"),
    "plan_critic_entry": ("harness",),
}
"""The floors, and those that each may import from besides itself."""

BESIDE = ROOT / "harness" / "top-level"
"""What is kept there is installed beside the three packages, not below `harness`."""

PURE = words("""
    evals critic harness.replay harness.record harness.canonical harness.runtime.awaiting
    harness.runtime.canonical_loop harness.runtime.canonical_loop harness.runtime.permit
    harness.runtime.ports harness.loops.revise harness.loops.plan_loop harness.loops.plan_replies
    harness.loops.plan_types harness.loops.feedback harness.loops.taken_repairs
    harness.loops.reflexion harness.loops.supervisor harness.loops.verifying_planner
    harness.loops.actor_critic
    harness.loops.agents.agent harness.loops.critique harness.loops.agents.journal
    harness.loops.agents.journaled harness.loops.model_loop harness.loops.self_refine
    harness.loops.agents.invocation harness.loops.templates harness.loops.code.agent_output
    harness.loops.code.critic_decision harness.loops.code.prompt harness.loops.code.review
    harness.guard.course harness.guard.session_events harness.guard.permits
    harness.single_use harness.guard.guard_rules harness.guard.rulings harness.policy.policy_rules
    harness.guard.guard_state harness.guard.status harness.guard.session_time
    harness.integrations.importers harness.policy.envelopes harness.policy.positions
    harness.policy.faults harness.policy.analysis.policy_lint harness.policy.analysis.lint_finding
    harness.policy.analysis.named_labels harness.policy.analysis.argument_shapes
    harness.policy.analysis.policy_facts harness.policy.analysis.label_lint
    harness.policy.analysis.argument_lint harness.policy.analysis.evidence_lint
    harness.policy.analysis.setting_lint harness.policy.analysis.class_lint
    harness.policy.analysis.reachability_lint harness.policy.analysis.trial_session
    harness.policy.analysis.label_witness harness.policy.analysis.reach
    harness.policy.analysis.origin_lint harness.policy.schema_lint harness.policy.schema_faults
    harness.policy.partial_documents harness.policy.analysis.policy_writing
    harness.policy.schema_parts harness.policy.analysis.samples harness.policy.analysis.backing
    harness.policy.analysis.stories harness.policy.analysis.witness
    harness.policy.analysis.policy_effects harness.policy.analysis.result_effects
    harness.policy.analysis.policy_diff harness.audit.proofs.merkle harness.audit.proofs.comparison
""")
PURE_IMPORTS = words("""
    abc base64 bisect calendar collections collections.abc contextlib copy dataclasses datetime
    difflib enum functools hashlib heapq html itertools json math operator re string tomllib types
    typing urllib.parse
    jsonschema_rs orjson pydantic pydantic.json_schema pydantic_core rfc8785 unicodedata
""")
# For cancellation, without starting an event loop; for locks; for the version, when asked for; for
# modules, when one of their names is asked for; for the processes that replay a log.
ALSO = {
    "harness.runtime.awaiting": {"asyncio"},
    "harness.runtime.canonical_loop": {"asyncio"},
    "harness.loops.plan_loop": {"asyncio"},
    "evals.unread": {"threading"},
    "evals.side_table": {"threading", "weakref"},
    "evals.recent_results": {"threading"},
    "critic.provenance.kept_items": {"threading"},
    "harness.single_use": {"threading"},
    "harness.loops.agents.journal": {"threading"},
    "critic.session.shared_items": {"threading"},
    "critic.session.batch_facts": {"threading"},
    "critic.session.grown": {"threading"},
    "critic.session.sent_log": {"threading"},
    "critic": {"importlib.metadata"},
    "evals.front": {"importlib", "sys"},
    "harness.replay.replay_pool": {
        *("multiprocessing", "multiprocessing.connection", "multiprocessing.process"),
        *("signal", "threading"),
    },
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
UNTRACKED = {"dist", "build", "PKG-INFO"}  # what tools leave in a tree that is not a checkout

MOST = {"evals": 350, "critic": 350, "harness": 500, "plan_critic_entry": 500}
"""Lines of a file, by its floor: what decides is read in short pieces."""

LONGEST, DEEPEST = 40, 3  # lines of a function; levels of nesting

BLOCKS = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def _name_of(path: Path) -> str:
    root = BESIDE if path.is_relative_to(BESIDE) else ROOT
    return ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


@cache
def sources() -> dict[str, Path]:
    """Return every module of the house by its dotted name."""
    tops = [ROOT / name for name in BELOW if (ROOT / name).is_dir()]
    return {_name_of(path): path for top in tops for path in sorted(top.rglob("*.py"))}


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(sources()[module].read_text("utf-8"))


@cache
def nodes(module: str) -> tuple[ast.AST, ...]:
    """Return every node of a module: to walk all trees takes longer than any test of them."""
    return tuple(ast.walk(tree(module)))


def imports(module: str) -> Iterator[str]:
    """Yield the imports anywhere in a module: modules of this house exactly, others as written."""
    for node in nodes(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in sources() else str(node.module)


@cache
def arrows() -> tuple[tuple[str, str], ...]:
    """Return each import of the house: (module, what it imports)."""
    return tuple((module, name) for module in MODULES for name in sorted({*imports(module)}))


def floor(name: str) -> str:
    return name.partition(".")[0]


def within(module: str, packages: Iterable[str]) -> bool:
    return any(module == entry or module.startswith(f"{entry}.") for entry in packages)


def functions(module: str) -> list[Function]:
    return [node for node in nodes(module) if isinstance(node, Function)]


def nesting(node: ast.AST) -> int:
    """Return how many blocks are inside one another below `node`; an elif counts with its if."""
    if isinstance(node, Function | ast.Lambda | ast.ClassDef):
        return 0
    if isinstance(node, ast.If):
        beside = len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)
        inner = node.body if beside else [*node.body, *node.orelse]
        deep = 1 + max(map(nesting, inner))
        return max(deep, nesting(node.orelse[0])) if beside else deep
    below = max(map(nesting, ast.iter_child_nodes(node)), default=0)
    return below + isinstance(node, BLOCKS)


def none_of(lines: Iterable[str]) -> None:
    """Fail with the lines, if there are any."""
    if broken := list(lines):
        pytest.fail("\n".join(broken), pytrace=False)


def order(graph: dict[str, set[str]]) -> list[str]:
    """Return the nodes of a graph without circles, the lowest first."""
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        circle = " -> ".join(error.args[1])
    pytest.fail(f"imports go in a circle: {circle}", pytrace=False)


MODULES = sorted(sources())
PURE_MODULES = [module for module in MODULES if within(module, PURE)]


def test_every_floor_has_modules() -> None:
    assert {*map(floor, MODULES)} == {*BELOW}
    assert len(MODULES) == len({*sources().values()})


def test_imports_point_down() -> None:
    none_of(
        f"{module} imports {name}: {floor(module)} may import "
        f"{' and '.join(BELOW[floor(module)]) or 'none of the others'} only"
        for module, name in arrows()
        if floor(name) in BELOW and floor(name) not in (floor(module), *BELOW[floor(module)])
    )


def test_imports_lead_to_modules_that_exist() -> None:
    none_of(
        f"{module} imports {name}: no such module"
        for module, name in arrows()
        if floor(name) in BELOW and name not in sources()
    )


def test_only_the_test_kit_imports_the_test_kit() -> None:
    kit = ("harness.testing",)
    none_of(
        f"{module} imports {name}: what users run does not depend on the test kit"
        for module, name in arrows()
        if within(name, kit) and not within(module, kit)
    )


def test_no_circle_between_modules() -> None:
    graph = {module: {*imports(module)} & {*sources()} for module in MODULES}
    assert len(order(graph)) == len(MODULES)


def test_no_circle_between_packages() -> None:
    # What is right below `harness` (wire, canonical ...) is a separate package here.
    def package(module: str) -> str:
        parts = module.split(".")
        return ".".join(parts[:2]) if parts[0] == "harness" else parts[0]

    graph: dict[str, set[str]] = {package(module): set() for module in MODULES}
    for module, name in arrows():
        if name in sources() and package(name) != package(module):
            graph[package(module)].add(package(name))
    assert order(graph)[0] == "evals"


def test_the_harness_has_one_door_to_canonical_json() -> None:
    none_of(
        f"{module} imports {name}: import harness.canonical instead"
        for module, name in arrows()
        if name == "evals.canonical_json" and floor(module) == "harness"
        if module != "harness.canonical"
    )


def test_pure_modules_import_nothing_impure() -> None:
    none_of(
        f"{module} imports {name}: it is pure, and may import what PURE_IMPORTS lists"
        for module, name in arrows()
        if within(module, PURE)
        and floor(name) not in BELOW
        and name not in PURE_IMPORTS | ALSO.get(module, set())
    )


def impure_calls(module: str) -> Iterator[str]:
    """Yield the names of calls that reach the world or read a clock without any import."""
    # The loop may ask the clock that is passed in: see below.
    allowed = {"now"} if module == "harness.runtime.canonical_loop" else set()
    for node in nodes(module):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in IMPURE_NAMES:
            yield node.func.id
        if isinstance(node.func, ast.Attribute) and node.func.attr in IMPURE_METHODS - allowed:
            yield node.func.attr


def test_pure_modules_call_nothing_impure() -> None:
    none_of(
        f"{module} calls {name}: it is pure, and reaches no disk, clock, network or chance"
        for module in PURE_MODULES
        for name in impure_calls(module)
    )


def test_the_loop_asks_only_its_own_clock_for_the_time() -> None:
    asked = {
        ast.unparse(node.value)
        for node in nodes("harness.runtime.canonical_loop")
        if isinstance(node, ast.Attribute) and node.attr == "now"
    }
    assert asked
    assert asked <= {"self.clock", "clock"}


def test_what_is_listed_as_pure_exists() -> None:
    none_of(
        f"PURE or ALSO lists {name}: no such module" for name in sorted({*PURE, *ALSO} - {*MODULES})
    )
    used = {name for module in PURE_MODULES for name in imports(module)}
    none_of(f"PURE_IMPORTS lists {name}: no pure module needs it" for name in PURE_IMPORTS - used)


def test_imports_are_absolute_and_named() -> None:
    none_of(
        f"{module}:{node.lineno} imports relatively, or everything: write the full name"
        for module in MODULES
        for node in nodes(module)
        if isinstance(node, ast.ImportFrom)
        and (node.level or "*" in [alias.name for alias in node.names])
    )


def test_no_file_is_too_long_or_a_drawer() -> None:
    lines = {name: len(path.read_text("utf-8").splitlines()) for name, path in sources().items()}
    none_of(
        f"{name} has {lines[name]} lines: split it"
        for name in lines
        if lines[name] >= MOST[floor(name)]
    )
    none_of(f"{name}: name it for its job" for name in lines if name.endswith(".utils"))


def sizes() -> Iterator[tuple[str, int, int]]:
    """Yield every function with its number of lines and its levels of nesting."""
    for module in MODULES:
        for function in functions(module):
            lines = (function.end_lineno or 0) - function.lineno + 1
            yield f"{module}.{function.name}", lines, max(map(nesting, function.body))


@pytest.mark.slow
def test_no_function_is_too_long_or_nests_too_deep() -> None:
    found = list(sizes())
    none_of(f"{name} has {lines} lines: split it" for name, lines, _ in found if lines >= LONGEST)
    none_of(f"{name} nests {deep} deep: flatten it" for name, _, deep in found if deep > DEEPEST)


@pytest.mark.parametrize("module", ["harness", "harness.testing"])
def test_packages_without_a_front_hold_a_docstring_only(module: str) -> None:
    (only,) = tree(module).body
    assert isinstance(only, ast.Expr)
    assert ast.get_docstring(tree(module))


def test_every_module_opens_with_its_job() -> None:
    none_of(
        f"{module} does not say in its first line what it is for"
        for module in MODULES
        if len((ast.get_docstring(tree(module)) or "").partition("\n")[0]) <= 10
    )


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
