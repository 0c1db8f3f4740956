"""Formats of `critic verify` and `critic score`. Only the one that is asked for is imported."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from harness.commands.formats.judgement import Describe, Reporter


@contextmanager
def reporter(args: argparse.Namespace, describe: Describe) -> Iterator[Reporter]:
    """Yield the reporter for `--format`, and close it when every document has been judged."""
    module = args.format if args.format in ("junit", "sarif", "github") else "lines"
    chosen: Reporter = import_module(f"harness.commands.formats.{module}").reporter(args, describe)
    yield chosen
    chosen.close()
