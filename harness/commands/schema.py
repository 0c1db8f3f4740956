"""`critic schema`: the JSON Schemas of the envelopes."""

import argparse
import sys

from harness.errors import UsageError
from harness.schemas import render_schemas, schemas


def run(args: argparse.Namespace) -> int:
    """Print one schema, or all of them as one object by name, and return the exit status."""
    known = schemas()
    if args.name is not None and args.name not in known:
        raise UsageError(f"no such envelope: name one of {', '.join(sorted(known))}")
    shown = known if args.name is None else known[args.name]
    sys.stdout.buffer.write(render_schemas(shown))
    return 0
