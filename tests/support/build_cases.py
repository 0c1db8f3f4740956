"""Rebuild the expected outcomes in the fixtures: `python -m tests.support.build_cases`.

Renews the `expect` of every case file and the checked-in schemas, and prints what changed. What a
person wrote (`must`, titles, inputs) is never touched: a case whose verdict contradicts its `must`
is printed, left as it was, and makes the exit status 1.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from harness.cases import Contradiction, case_files, update_file
from harness.schemas import render_schemas, schemas
from harness.wire import InvalidInput
from tests.support.paths import FIXTURES


def stale_schemas(folder: Path) -> Iterator[Path]:
    """Rewrite the schema files that differ; yields each it wrote or removed."""
    current = {f"{name}.json": render_schemas(schema) for name, schema in schemas().items()}
    for path in folder.glob("*.json"):
        if path.name not in current:
            path.unlink()
            yield path
    for name, data in current.items():
        path = folder / name
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
            yield path


def main() -> int:
    """Rebuild everything; 1 if a case contradicts what it must be."""
    status = 0
    for path in case_files(FIXTURES / "cases"):
        shown = path.relative_to(FIXTURES.parent)
        try:
            if update_file(path):
                sys.stdout.write(f"renewed {shown}\n")
        except (Contradiction, InvalidInput) as error:
            sys.stdout.write(f"WRONG   {shown}: {error}\n")
            status = 1
    for path in stale_schemas(FIXTURES / "schemas"):
        sys.stdout.write(f"renewed {path.relative_to(FIXTURES.parent)}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
