"""The digest of the rules: of the source of the code that decides, as it is installed.

A record holds it beside the version of the rules, so that changed code under an unchanged version
shows in replay. Decision 18 says what counts.
"""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from harness.canonical import canonical_json

_PACKAGES: Final = ("critic", "evals")

# Advice is never part of a verdict.
_NO_RULES: Final = frozenset({"critic/repairs"})


@cache
def rules_digest() -> str | None:
    """Return the digest of the rules, as 64 lower-case hexadecimal digits.

    It is the SHA-256 of a canonical JSON object that holds the SHA-256 of each source file under
    its path, such as `critic/verify.py`, with line ends as `\n`. Files are read once per process.
    None where the package is installed without its sources.
    """
    try:
        sources = {
            path: hashlib.sha256(source.replace(b"\r\n", b"\n")).hexdigest()
            for package in _PACKAGES
            for path, source in _sources(files(package), package)
        }
    except OSError:
        return None
    return hashlib.sha256(canonical_json(sources)).hexdigest() if sources else None


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        inner = f"{path}/{entry.name}"
        if entry.is_dir() and inner not in _NO_RULES:
            yield from _sources(entry, inner)
        elif entry.name.endswith(".py"):
            yield inner, entry.read_bytes()
