"""Replay cannot execute a tool: it imports nothing that could, and takes nothing that could."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import harness.replay.engine as replaying
import harness.replay.recheck as rechecking
from harness import record
from harness.replay import document_reading
from tests.support.paths import ROOT

# All that replay may reach of this project. A port, an executor or a loop is not among it.
REACHED = (
    "critic",
    "evals",
    "harness.canonical",
    "harness.errors",
    "harness.record.inputs",
    "harness.record",
    "harness.rules",
    "harness.wire",
    "harness.wire_faults",
)
OWN = (
    *(
        "action_check",
        "begun",
        "record_notes",
        "json_diff",
        "document_reading",
        "engine",
        "log_check",
        "outline",
        "log_page",
        "grown_contexts",
        "known_acts",
        "openings_check",
        "parcels",
    ),
    "problems",
    "reopened_check",
    "other_calls",
    *("recheck", "result", "session_entries", "session_reading", "session_facts", "session_lives"),
    "stretches",
)
OUTSIDE = {
    "abc",
    "collections",
    "collections.abc",
    "contextlib",
    "dataclasses",
    "datetime",
    "enum",
    "functools",
    "hashlib",
    "itertools",
    "operator",
    "orjson",
    "pydantic",
    "pydantic_core",
    "rfc8785",
    "re",
    "types",
    "typing",
}


def _modules_after(statement: str) -> set[str]:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    command = [sys.executable, "-c", script]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(found.stdout.split())


def test_the_import_closure_holds_nothing_that_executes() -> None:
    loaded = _modules_after("import harness.replay.engine, harness.replay.session_reading")
    ours = {name for name in loaded if name.partition(".")[0] in ("critic", "evals", "harness")}
    allowed = {"harness", "harness.log", "harness.replay", *(f"harness.replay.{n}" for n in OWN)}
    strange = {
        name for name in ours - allowed if not name.startswith(tuple(f"{r}." for r in REACHED))
    }
    assert strange <= set(REACHED)
    assert not loaded & {"sqlite3", "harness.runtime", "subprocess"}


def _allowed(node: ast.AST) -> bool:
    match node:
        case ast.Import():
            return {one.name for one in node.names} <= OUTSIDE
        case ast.ImportFrom():
            ours = str(node.module).startswith((*REACHED, "harness.replay."))
            return ours or node.module in OUTSIDE
        case ast.Name():
            return node.id not in ("open", "exec", "eval", "compile", "__import__")
        case _:
            return True


def test_the_modules_import_what_is_listed_and_nothing_by_name() -> None:
    files = [Path(inspect.getfile(rechecking)).parent / f"{name}.py" for name in OWN]
    kept = sorted(Path(inspect.getfile(record)).parent.glob("*.py"))
    for file in [*files, *kept]:
        tree = ast.parse(file.read_text("utf-8"))
        assert all(map(_allowed, ast.walk(tree))), file


def test_nothing_callable_is_taken() -> None:
    assert list(inspect.signature(replaying.replay).parameters) == ["log", "head", "judge"]
    assert list(inspect.signature(rechecking.recheck).parameters) == [
        "document",
        "inputs",
        "before",
        "expected",
        "judge",
    ]
    for function in (replaying.replay, rechecking.recheck):
        for parameter in inspect.signature(function).parameters.values():
            assert "Callable" not in str(parameter.annotation)
    assert inspect.signature(replaying.replay).parameters["judge"].annotation is bool
    port = {name for name in vars(document_reading.RecordedLog) if not name.startswith("_")}
    assert port == {"raw", "inputs"}
    optional = {name for name in vars(document_reading.PartedLog) if not name.startswith("_")}
    assert optional == {"stored", "claims", "named"}
