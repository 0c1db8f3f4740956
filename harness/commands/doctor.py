"""`critic doctor`: is this installation sound? Imports nothing of it until that is shown."""

import argparse
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

_HOUSE = ("critic", "evals", "harness")
_NEEDS = ("pydantic", "orjson", "jiter", "jsonschema_rs", "rfc8785", "sqlalchemy", "tqdm")


def run(args: argparse.Namespace) -> int:
    """Print one line per check, with the mend beside every fault. Exit status 1 with any fault."""
    del args
    faults = 0
    for check in (_python, _packages, _dependencies, _self_test):
        for sound, line in check():
            faults += not sound
            sys.stdout.write(f"{'ok   ' if sound else 'FAULT'} {line}\n")
        if faults:
            break
    sys.stdout.write("all sound\n" if not faults else "mend the faults above, then run it again\n")
    return 1 if faults else 0


Diagnosis = tuple[bool, str]


def _python() -> Iterator[Diagnosis]:
    version = ".".join(map(str, sys.version_info[:3]))
    sound = sys.version_info >= (3, 11)
    yield sound, f"Python {version}" + ("" if sound else ": plan-critic needs 3.11 or newer")


def _packages() -> Iterator[Diagnosis]:
    """Other distributions ship a top-level `evals` or `harness` too; the first on the path wins."""
    here = Path(__file__).resolve().parents[2]
    for name in _HOUSE:
        spec = find_spec(name)
        origin = Path(spec.origin).resolve() if spec and spec.origin else None
        sound = origin is not None and origin.parents[1] == here
        if sound:
            yield True, f"package {name} is plan-critic's"
            continue
        other = "missing" if origin is None else f"shadowed by {str(origin.parent)!a}"
        owners = ", ".join(metadata.packages_distributions().get(name, [])) or "unknown"
        mend = "uninstall the other one, or use a virtual environment for plan-critic alone"
        yield False, f"package {name} is {other} (installed by: {owners}): {mend}"


def _dependencies() -> Iterator[Diagnosis]:
    for name in _NEEDS:
        try:
            import_module(name)
        except Exception as error:
            yield (
                False,
                f"{name} cannot be imported ({type(error).__name__}): install plan-critic again",
            )
        else:
            yield True, f"{name} {_version(name)}"


def _version(name: str) -> str:
    owners = metadata.packages_distributions().get(name, [name])
    try:
        return metadata.version(owners[0])
    except metadata.PackageNotFoundError:
        return "(version unknown)"


def _self_test() -> Iterator[Diagnosis]:
    """The two plans of the example must be told apart, or nothing this installation says counts."""
    try:
        judged = [_judge(name) for name in ("plan_a.json", "plan_b.json")]
    except Exception as error:
        yield False, f"the example plans cannot be judged ({type(error).__name__}): {str(error)!a}"
        return
    sound = judged == ["missing_evidence", "ok"]
    yield sound, f"the example plans are judged {', '.join(judged)}"


def _judge(name: str) -> str:
    critic, wire = import_module("critic"), import_module("harness.wire")
    proposal = wire.parse(critic.Proposal, import_module("harness.commands.pipeline").example(name))
    verdict = critic.verify_proposal(proposal)
    return "ok" if verdict else str(verdict.kind)
