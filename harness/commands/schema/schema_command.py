"""`critic schema`: the JSON Schemas of the envelopes."""

import argparse
import sys

from harness.commands.misspelt import nearest
from harness.errors import UsageError
from harness.schemas import render_schemas, schemas


def run(args: argparse.Namespace) -> int:
    """Print one schema, or all of them as one object by name, and return the exit status."""
    by_name = schemas()
    if args.name is not None and args.name not in by_name:
        known = sorted(by_name)
        near = nearest(args.name, known)
        raise UsageError(f"no such envelope: {near}name one of {', '.join(known)}")
    shown = by_name if args.name is None else by_name[args.name]
    sys.stdout.buffer.write(render_schemas(shown))
    return 0
