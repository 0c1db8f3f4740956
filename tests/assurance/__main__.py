"""`python -m tests.assurance [--quick] [LAYER ...]`: run the layers, print and keep the table.

Where layers are named, only these run, and only their rows of the kept table are renewed.
"""

import argparse
import sys
import time
from importlib import import_module

from tests.assurance.row import Row
from tests.assurance.table import keep

LAYERS = (
    "model",
    "proof",
    "deletion",
    "fuzz",
    "same_bytes",
    "crash",
    "conformance",
    "laws",
    "planted",
    "mutation",
)


def main() -> int:
    """Exit status 0 when every layer came out as it should."""
    parser = argparse.ArgumentParser(prog="python -m tests.assurance")
    parser.add_argument("layers", nargs="*", metavar="LAYER", help=f"of {', '.join(LAYERS)}")
    parser.add_argument("--quick", action="store_true", help="a sample of each, within 4 minutes")
    parser.add_argument("--dry", action="store_true", help="keep nothing")
    args = parser.parse_args()
    if unknown := set(args.layers) - set(LAYERS):
        parser.error(f"no such layer: {', '.join(sorted(unknown))}")
    met = True
    for name in args.layers or LAYERS:
        began = time.perf_counter()
        rows: list[Row] = import_module(f"tests.assurance.{name}").run(quick=args.quick)
        seconds = (time.perf_counter() - began) / len(rows)
        for row in rows:
            sys.stdout.write(_line(row, seconds))
            sys.stdout.flush()
            met &= row.met
        if not args.dry:
            keep("quick" if args.quick else "full", name, rows, seconds)
    return 0 if met else 1


def _line(row: Row, seconds: float) -> str:
    verdict = "ok    " if row.met else "FAILED"
    count = f"{row.held:,} of {row.tried:,} {row.unit}"
    return f"{verdict} {row.layer:<34} {count:<40} {seconds:>7.1f} s  {row.note}\n"


if __name__ == "__main__":
    sys.exit(main())
