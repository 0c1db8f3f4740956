"""The lazy fronts: names that are loaded when they are asked for, and stay what they are."""

import ast
import copy
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import critic
import critic.provenance
import evals
from tests.support.effort import sampled
from tests.support.paths import ROOT

FRONTS = (critic, evals, critic.provenance)


def _in_a_new_process(script: str) -> str:
    command = [sys.executable, "-W", "error", "-c", script]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("front", FRONTS)
def test_a_type_checker_sees_the_names_that_are_loaded(front: ModuleType) -> None:
    tree = ast.parse(Path(str(front.__file__)).read_text("utf-8"))
    seen = {
        alias.name: f"{node.module}"
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen.keys() == set(front.__all__)
    for name, home in seen.items():
        assert getattr(front, name) is getattr(importlib.import_module(home), name)


def test_importing_the_critic_loads_nothing_heavy() -> None:
    loaded = set(_in_a_new_process("import sys, critic; print(*sys.modules)").split())
    ours = {name for name in loaded if name.partition(".")[0] in ("critic", "evals", "harness")}
    assert ours == {"critic", "evals", "evals.front"}
    assert not loaded & {"pydantic", "jsonschema_rs", "orjson", "rfc8785"}


def test_verifying_loads_no_evaluation_advice_or_log() -> None:
    loaded = set(
        _in_a_new_process("import sys; from critic import verify; print(*sys.modules)").split()
    )
    assert "critic.verify" in loaded
    assert not loaded & {"critic.score", "critic.repairs", "critic.consolidate", "sqlite3"}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["verify", "score", "consolidate"])
@pytest.mark.parametrize(
    "before",
    sampled(
        [
            "",
            "import critic.{0}",
            "import critic.{0} as m",
            "from critic.{0} import {0}",
            "critic.{0}",
        ],
        one_in=6,
    ),
)
def test_a_function_is_not_hidden_by_the_module_of_its_name(name: str, before: str) -> None:
    script = f"""
import importlib, critic
{before.format(name)}
importlib.import_module("critic.{name}")
from critic import {name}
assert callable({name}) and callable(critic.{name}) and {name} is critic.{name}
assert {name} is importlib.import_module("critic.{name}").{name}
"""
    _in_a_new_process(script)


def test_all_names_are_given_to_who_asks_for_all() -> None:
    script = "import json; from critic import *; print(json.dumps(sorted(globals())))"
    assert set(critic.__all__) <= set(json.loads(_in_a_new_process(script)))


def test_a_name_can_be_replaced_and_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    real = critic.verify
    monkeypatch.setattr(critic, "verify", None)
    assert critic.verify is None
    monkeypatch.undo()
    assert critic.verify is real


def test_functions_and_classes_are_pickled_by_their_home() -> None:
    for name in ("verify", "score", "Plan", "Refused"):
        assert pickle.loads(pickle.dumps(getattr(critic, name))) is getattr(critic, name)  # noqa: S301
        assert copy.deepcopy(getattr(critic, name)) is getattr(critic, name)


@pytest.mark.parametrize("front", FRONTS)
def test_a_name_that_is_not_there_is_an_attribute_error(front: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{front.__name__}' has no attribute 'nope'"):
        _ = front.nope
    assert set(front.__all__) <= set(dir(front))
