"""Documents from files and standard input: whole, or one per line, each within the size limit."""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from evals.escaping import escape_name
from harness.commands.complaint import explain_os
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput

T = TypeVar("T")

_PIECE = 1 << 20


class InputDocument(NamedTuple):
    """The bytes of one document, where they came from, and why they could not be read, if so."""

    source: str
    data: bytes
    from_lines: bool
    unreadable: OSError | None = None

    def parsed_by(self, parser: Callable[[bytes], T]) -> T:
        """What the parser makes of the bytes.

        Raises:
            InvalidInput: the document could not be read, or the parser refuses it.
        """
        if self.unreadable is not None:
            raise InvalidInput("", explain_os(self.unreadable))
        return parser(self.data)


def size_limit(args: argparse.Namespace) -> int:
    """The largest document to read, in bytes."""
    limit: int = MAX_DOCUMENT_BYTES if args.max_bytes is None else args.max_bytes
    return limit


def documents(args: argparse.Namespace) -> Iterator[InputDocument]:
    """Every document the arguments name, in order. Bytes beyond the limit are not kept.

    A file that cannot be read, or cannot be read further, gives one document that says why.
    """
    limit = size_limit(args)
    for name in args.files:
        lines = args.lines or name.endswith(".jsonl")
        try:
            with _opened(name) as stream:
                yield from _lines(name, stream, limit) if lines else [_whole(name, stream, limit)]
        except OSError as error:
            yield InputDocument(_label(name), b"", lines, unreadable=error)


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as stream:
        yield stream


def _label(name: str) -> str:
    return "standard input" if name == "-" else escape_name(name)


def _whole(name: str, stream: BinaryIO, limit: int) -> InputDocument:
    # One byte over the limit is enough for the parser to refuse it by size.
    return InputDocument(_label(name), stream.read(limit + 1), from_lines=False)


def _lines(name: str, stream: BinaryIO, limit: int) -> Iterator[InputDocument]:
    number = 0
    while line := stream.readline(limit + 2):
        number += 1
        if len(line) > limit and not line.endswith(b"\n"):
            _skip_line(stream)
        data = line.removesuffix(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line
        yield InputDocument(f"{_label(name)} line {number}", data, from_lines=True)
    if number == 0:
        yield InputDocument(_label(name), b"", from_lines=True)


def _skip_line(stream: BinaryIO) -> None:
    while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
        pass
