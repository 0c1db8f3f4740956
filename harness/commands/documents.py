"""Documents from files and standard input: whole, or one per line, each within the size limit."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from evals.text import printable
from harness.wire import MAX_DOCUMENT_BYTES

_PIECE = 1 << 20


class Document(NamedTuple):
    """The bytes of one document, and where they came from."""

    source: str
    data: bytes
    from_lines: bool


def documents(args: argparse.Namespace) -> Iterator[Document]:
    """Every document the arguments name, in order. Bytes beyond the limit are not kept.

    Raises:
        OSError: a file cannot be read.
    """
    limit = args.max_bytes if args.max_bytes is not None else MAX_DOCUMENT_BYTES
    for name in args.files:
        lines = args.lines or name.endswith(".jsonl")
        with _opened(name) as stream:
            yield from _lines(name, stream, limit) if lines else [_whole(name, stream, limit)]


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as stream:
        yield stream


def _label(name: str) -> str:
    return "standard input" if name == "-" else printable(name)


def _whole(name: str, stream: BinaryIO, limit: int) -> Document:
    # One byte over the limit is enough for the parser to refuse it by size.
    return Document(_label(name), stream.read(limit + 1), from_lines=False)


def _lines(name: str, stream: BinaryIO, limit: int) -> Iterator[Document]:
    number = 0
    while line := stream.readline(limit + 1):
        number += 1
        if not line.endswith(b"\n") and len(line) > limit:
            _skip_line(stream)
        yield Document(f"{_label(name)} line {number}", line.rstrip(b"\r\n"), from_lines=True)
    if number == 0:
        yield Document(_label(name), b"", from_lines=True)


def _skip_line(stream: BinaryIO) -> None:
    while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
        pass
