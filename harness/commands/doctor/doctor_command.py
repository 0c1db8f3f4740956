"""`critic doctor`: check this installation before importing anything of it."""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

_PACKAGES = ("critic", "evals", "harness")
_LIBRARIES = ("pydantic", "orjson", "jiter", "jsonschema_rs", "rfc8785", "tqdm")

_Diagnosis = tuple[bool, str]
"""Whether it is in order, and the line that says so or says what to do."""


def run(args: argparse.Namespace) -> int:
    """Print one line per check, with the fix beside every problem. Exit status 1 with any."""
    del args
    problems = 0
    for check in (_python, _packages, _this_folder, _dependencies, _self_test):
        for sound, line in check():
            problems += not sound
            sys.stdout.write(f"{'ok   ' if sound else 'ERROR'} {line}\n")
        if problems:
            break
    last = "fix the problems above, then run it again" if problems else "all sound"
    sys.stdout.write(f"{last}\n")
    return 1 if problems else 0


def _python() -> Iterator[_Diagnosis]:
    version = ".".join(map(str, sys.version_info[:3]))
    sound = sys.version_info >= (3, 11)
    yield sound, f"Python {version}" + ("" if sound else ": plan-critic needs 3.11 or newer")


def _packages() -> Iterator[_Diagnosis]:
    """Other distributions ship a top-level `evals` or `harness` too; the first on the path wins."""
    root = Path(__file__).resolve().parents[3]
    for name in _PACKAGES:
        spec = find_spec(name)
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        if origin is not None and origin.parents[1] == root:
            yield True, f"package {name} is plan-critic's"
            continue
        other = "missing" if origin is None else f"shadowed by {str(origin.parent)!a}"
        is_installed = origin is not None and "site-packages" in origin.parts
        owners = metadata.packages_distributions().get(name, []) if is_installed else []
        source = f" (installed by: {', '.join(owners)})" if owners else ""
        fix = "rename or uninstall the other one, or keep its folder off the import path"
        yield False, f"package {name} is {other}{source}: {fix}"


def _this_folder() -> Iterator[_Diagnosis]:
    """`python -m`, a script and pytest put their folder first on the path; `critic` does not."""
    here = Path.cwd()
    if (here / "harness" / "commands" / "doctor").is_dir():  # a checkout of plan-critic
        return
    for name in _PACKAGES:
        folder = here / name
        if (folder / "__init__.py").is_file() or folder.with_suffix(".py").is_file():
            yield (
                False,
                f"package {name} is shadowed in this folder by {str(folder)!a}: "
                "programs and tests started here import that one; rename it",
            )
        elif any(folder.glob("*.py")):
            yield (
                False,
                f"package {name} of plan-critic shadows {str(folder)!a}, a folder without "
                f"__init__.py: nothing in it can be imported as {name}; rename it",
            )


def _dependencies() -> Iterator[_Diagnosis]:
    for name in _LIBRARIES:
        try:
            import_module(name)
        except Exception as error:
            yield (
                False,
                f"{name} cannot be imported ({type(error).__name__}): install plan-critic again",
            )
        else:
            yield True, f"{name} {_distribution_version(name)}"


def _distribution_version(name: str) -> str:
    owners = metadata.packages_distributions().get(name, [name])
    try:
        return metadata.version(owners[0])
    except metadata.PackageNotFoundError:
        return "(version unknown)"


def _self_test() -> Iterator[_Diagnosis]:
    """Judge the two example plans: one must be refused and one must pass."""
    try:
        judged = [_judge(name) for name in ("plan_a.json", "plan_b.json")]
    except Exception as error:
        yield False, f"the example plans cannot be judged ({type(error).__name__}): {str(error)!a}"
        return
    sound = judged == ["missing_evidence", "ok"]
    yield sound, f"the example plans are judged {', '.join(judged)}"


def _judge(name: str) -> str:
    critic, wire = import_module("critic"), import_module("harness.wire")
    proposal = wire.parse(
        critic.Proposal, import_module("harness.commands.judge.pipeline").example(name)
    )
    verdict = critic.verify_proposal(proposal)
    return "ok" if verdict else str(verdict.kind)
