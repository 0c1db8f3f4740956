"""The digest of the rules: of the source of the code that decides, as it is installed.

A record holds it beside the version of the rules, so that changed code under an unchanged version
shows in replay. Decision 18 says what counts. The digest of all code tells installations apart
that replay one log together.
"""

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from harness.canonical import canonical_json

_PACKAGES: Final = ("critic", "evals")

# Advice is never part of a verdict.
_NO_RULES: Final = frozenset({"critic/repairs"})

# Installed beside the packages, and kept among them in a checkout.
_APART: Final = frozenset({"harness/top-level"})


def own_version() -> str:
    """Return the version of this program as it is installed."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - takes a while

    try:
        return version("plan-critic")
    except PackageNotFoundError:
        return "unknown"


@cache
def rules_digest() -> str | None:
    """Return the digest of the rules, as 64 lower-case hexadecimal digits.

    It is the SHA-256 of a canonical JSON object that holds the SHA-256 of each source file under
    its path, such as `critic/verify.py`, with line ends as `\n`. Files are read once per process.
    None where the package is installed without its sources.
    """
    return _digest(_PACKAGES, _NO_RULES)


@cache
def code_digest() -> str | None:
    """Return the digest of all code: as `rules_digest`, of every source file of this project."""
    return _digest((*_PACKAGES, "harness"), _APART)


def _digest(packages: Iterable[str], left_out: frozenset[str]) -> str | None:
    try:
        sources = {
            path: hashlib.sha256(source.replace(b"\r\n", b"\n")).hexdigest()
            for package in packages
            for path, source in _sources(files(package), package, left_out)
        }
    except OSError:
        return None
    return hashlib.sha256(canonical_json(sources)).hexdigest() if sources else None


def _sources(
    folder: Traversable, path: str, left_out: frozenset[str]
) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        inner = f"{path}/{entry.name}"
        if entry.is_dir() and inner not in left_out:
            yield from _sources(entry, inner, left_out)
        elif entry.name.endswith(".py"):
            yield inner, entry.read_bytes()
