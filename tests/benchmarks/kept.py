"""The figures on file: `fixtures/benchmarks.json`, and what they were measured on.

Nothing in it names the machine or the day: a kind of processor, versions, and the digest of the
code.
"""

import hashlib
import platform
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count
from pathlib import Path
from typing import Any, Final

import orjson

from tests.support.folded import write_folded
from tests.support.paths import FIXTURES, ROOT

KEPT: Final = FIXTURES / "benchmarks.json"
_VERSIONS: Final = ("orjson", "pydantic", "pydantic_core", "jiter", "jsonschema_rs")


def kept() -> dict[str, Any]:
    """Return what is on file."""
    found: dict[str, Any] = orjson.loads(KEPT.read_bytes()) if KEPT.exists() else {}
    return found


def keep(**members: Any) -> None:
    """Put members on file in place of those of the same name."""
    write_folded(KEPT, {**kept(), **members})


def code_digest() -> str:
    """Return the SHA-256 of every source file of the three packages, names included.

    It stands for the commit, whose own digest cannot be written into it.
    """
    digest = hashlib.sha256()
    tops = ("critic", "evals", "harness")
    for path in sorted(path for top in tops for path in (ROOT / top).rglob("*.py")):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(data)}\n".encode() + data)
    return f"sha256:{digest.hexdigest()}"


def version_of(distribution: str) -> str:
    """Return the installed version of a distribution, or `absent`."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def machine() -> dict[str, Any]:
    """Return the kind of machine and the versions of what the figures depend on."""
    return {
        "processor": _processor(),
        "cores": cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: version_of(name) for name in _VERSIONS},
    }


def _processor() -> str:
    """Return the model of the processor, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, "unknown")
