"""`python -m tests.assurance [--quick] [LAYER ...]`: run the layers, print and keep the figures.

Where layers are named, only these run, and only their figures are renewed.
"""

import argparse
import subprocess
import sys
import time
from importlib import import_module
from typing import Any

from tests.assurance.row import Row
from tests.assurance.table import CLOSED, close_modules, code_digest, keep, write

LAYERS = (
    "model",
    "late_plans",
    "proof",
    "deletion",
    "fuzz",
    "same_bytes",
    "crash",
    "conformance",
    "laws",
    "shell",
    "planted",
    "mutation",
)
BY_NAME = ("mutation_harness",)
"""Layers that run only when they are named: survivors are left, and a full run takes hours."""
OF_FILES = ("mutation", "mutation_harness")
"""Layers that can take some files only."""


def main() -> int:
    """Run the layers; exit status 0 when every layer held."""
    parser = argparse.ArgumentParser(prog="python -m tests.assurance")
    parser.add_argument(
        "layers", nargs="*", metavar="LAYER", help=f"of {', '.join((*LAYERS, *BY_NAME))}"
    )
    parser.add_argument("--quick", action="store_true", help="a sample of each, within 4 minutes")
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="FILE",
        help=f"the mutants of these files and folders ({', '.join(OF_FILES)})",
    )
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    parser.add_argument("--table", action="store_true", help="write the tables, and run nothing")
    args = parser.parse_args()
    if args.table:
        write()
        return 0
    if unknown := set(args.layers) - {*LAYERS, *BY_NAME}:
        parser.error(f"no such layer: {', '.join(sorted(unknown))}")
    layers: list[str] = args.layers or [*LAYERS]
    if args.only and not (len(layers) == 1 and layers[0] in OF_FILES):
        parser.error(f"--only needs one layer of {', '.join(OF_FILES)}")
    if len(layers) == 1:
        restricted = {"only": args.only} if args.only else {}
        held = _held(layers[0], restricted, quick=args.quick, dry=args.dry or bool(args.only))
        return 0 if held else 1
    # Each in a separate process: some import the engine anew, and what another layer has imported
    # would go on holding the old one.
    flags = [f"--{name}" for name in ("quick", "dry") if getattr(args, name)]
    command = [sys.executable, "-m", "tests.assurance", *flags]
    return max([subprocess.call([*command, name]) for name in layers])


def _held(name: str, restricted: dict[str, Any], *, quick: bool, dry: bool) -> bool:
    """Run one layer and print its rows. A restricted run is not kept in the tables."""
    began, code = time.perf_counter(), code_digest(name)
    close_modules(CLOSED.get(name, ()))
    rows: list[Row] = import_module(f"tests.assurance.layers.{name}").run(quick=quick, **restricted)
    seconds = time.perf_counter() - began
    sys.stdout.writelines(map(_line, rows))
    sys.stdout.write(f"       {name} took {seconds:,.1f} s\n")
    sys.stdout.flush()
    if not dry:
        keep("quick" if quick else "full", name, rows, seconds, code)
    return all(row.met for row in rows)


def _line(row: Row) -> str:
    verdict = "ok    " if row.met else "FAILED"
    count = f"{row.held:,} of {row.tried:,} {row.unit}"
    return f"{verdict} {row.layer:<34} {count:<40} {row.note}\n"


if __name__ == "__main__":
    sys.exit(main())
