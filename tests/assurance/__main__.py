"""`python -m tests.assurance [--quick] [LAYER ...]`: run the layers, print and keep the table."""

import argparse
import sys
import time
from importlib import import_module

import orjson

from tests.assurance.row import Row
from tests.assurance.table import KEPT, rewrite

LAYERS = (
    "model",
    "proof",
    "deletion",
    "fuzz",
    "same_bytes",
    "crash",
    "conformance",
)


def main() -> int:
    """Exit status 0 when every layer came out as it should."""
    parser = argparse.ArgumentParser(prog="python -m tests.assurance")
    parser.add_argument("layers", nargs="*", metavar="LAYER", help=f"of {', '.join(LAYERS)}")
    parser.add_argument("--quick", action="store_true", help="a sample of each, within 4 minutes")
    args = parser.parse_args()
    if unknown := set(args.layers) - set(LAYERS):
        parser.error(f"no such layer: {', '.join(sorted(unknown))}")
    told: list[tuple[Row, float]] = []
    for name in args.layers or LAYERS:
        began = time.perf_counter()
        rows: list[Row] = import_module(f"tests.assurance.{name}").run(quick=args.quick)
        told += [(row, (time.perf_counter() - began) / len(rows)) for row in rows]
        for row, seconds in told[-len(rows) :]:
            sys.stdout.write(_line(row, seconds))
            sys.stdout.flush()
    if not args.layers:
        _keep(told, "quick" if args.quick else "full")
    return 0 if all(row.met for row, _ in told) else 1


def _line(row: Row, seconds: float) -> str:
    verdict = "ok    " if row.met else "FAILED"
    count = f"{row.held:,} of {row.tried:,} {row.unit}"
    return f"{verdict} {row.layer:<34} {count:<40} {seconds:>7.1f} s  {row.note}\n"


def _keep(told: list[tuple[Row, float]], mode: str) -> None:
    kept = orjson.loads(KEPT.read_bytes()) if KEPT.exists() else {}
    kept[mode] = [{**row._asdict(), "seconds": round(seconds, 1)} for row, seconds in told]
    text = orjson.dumps(kept, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS)
    KEPT.write_bytes(text + b"\n")
    rewrite()


if __name__ == "__main__":
    sys.exit(main())
