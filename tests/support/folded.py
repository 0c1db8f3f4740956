"""Figures and scenes on file, as a person reads them."""

import json
import sys
from pathlib import Path
from typing import Any

from harness.cases import folded_json


def write_folded(path: Path, value: Any) -> None:
    """Write JSON, what fits into 100 columns on one line; make the folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{folded_json(value)}\n", encoding="utf-8")


def main(paths: list[str]) -> None:
    """Fold files that are written by hand: `python -m tests.support.folded FILE ...`."""
    for path in map(Path, paths):
        write_folded(path, json.loads(path.read_bytes()))


if __name__ == "__main__":
    main(sys.argv[1:])
