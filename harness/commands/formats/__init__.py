"""Output formats of verdicts. Only the requested one is imported."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from harness.commands.arguments import CI_FORMATS
from harness.commands.formats.judgement import Describe, Reporter


@contextmanager
def reporter(args: argparse.Namespace, describe: Describe) -> Iterator[Reporter]:
    """Yield the reporter for `--format`, and close it when every document has been judged."""
    chosen: Reporter
    if args.format in CI_FORMATS:
        entries = import_module("harness.commands.formats.format_entries")
        chosen = entries.entry_reporter(args.format, args.command)
    else:
        chosen = import_module("harness.commands.formats.format_lines").reporter(args, describe)
    yield chosen
    chosen.close()
