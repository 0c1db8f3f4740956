"""Read documents from files and standard input: whole files, or one document a line."""

import argparse
import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeVar

from evals.escaping import escape_line
from harness.commands.os_errors import explain_os
from harness.errors import escape_text
from harness.wire import MAX_DOCUMENT_BYTES, InvalidInput

_T = TypeVar("_T")

_PIECE = 1 << 20


class InputDocument(NamedTuple):
    """The bytes of one document and where they came from.

    `error` says why the bytes are missing: the file cannot be read, or the document is too large.
    """

    file: str
    """The name as given on the command line; `-` is standard input."""
    data: bytes
    line: int | None = None
    """The number of the line, from 1; None for a whole file."""
    error: str | None = None
    from_lines: bool = False
    """The file is read as JSON Lines."""

    @property
    def source(self) -> str:
        """Return the file, or the line of a file, for a person; safe to print."""
        label = "standard input" if self.file == "-" else escape_text(self.file)
        return label if self.line is None else f"{label} line {self.line}"

    def parse_with(self, parser: Callable[[bytes], _T]) -> _T:
        """Parse the bytes.

        Raises:
            InvalidInput: the document could not be read, or the parser refuses it.
        """
        if self.error is not None:
            raise InvalidInput("", self.error)
        return parser(self.data)


def input_name(name: str) -> str:
    """Return the name of a file on the command line for a person: one line, safe to print."""
    return "standard input" if name == "-" else escape_line(name)


def read_whole(name: str, limit: int | None = None) -> InputDocument:
    """Read one file, or standard input for `-`, as one document of at most `limit` bytes.

    None is the limit of a command without `--max-bytes`, whose message does not name that option.
    """
    try:
        with _open_document(name) as stream:
            return _read_whole(name, stream, limit)
    except OSError as error:
        return InputDocument(name, b"", error=explain_os(error))


def size_limit(args: argparse.Namespace) -> int:
    """Return the size of the largest document to read, in bytes."""
    limit: int = MAX_DOCUMENT_BYTES if args.max_bytes is None else args.max_bytes
    return limit


def documents(args: argparse.Namespace) -> Iterator[InputDocument]:
    """Yield every document named by the arguments, in order. Blank lines are skipped.

    A file that cannot be read, or cannot be read further, yields one document that says why.
    Bytes beyond the size limit are not kept.
    """
    limit = size_limit(args)
    for name in args.files:
        if not (args.lines or name.endswith(".jsonl")):
            yield read_whole(name, limit)
            continue
        try:
            with _open_document(name) as stream:
                yield from _read_lines(name, stream, limit)
        except OSError as error:
            yield InputDocument(name, b"", error=explain_os(error), from_lines=True)


@contextmanager
def _open_document(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed: send it a document, or name a file")
        yield sys.stdin.buffer
        return
    with Path(name).open("rb") as stream:
        yield stream


def _read_whole(name: str, stream: BinaryIO, limit: int | None) -> InputDocument:
    most = MAX_DOCUMENT_BYTES if limit is None else limit
    data = stream.read(most + 1)
    if len(data) <= most:
        return InputDocument(name, data)
    if limit is None:
        return InputDocument(name, b"", error=f"over the limit of {most} bytes: split it")
    return _too_large(name, limit)


def _too_large(name: str, limit: int, line: int | None = None) -> InputDocument:
    message = f"over the limit of {limit} bytes: split it, or raise the limit with --max-bytes"
    return InputDocument(name, b"", line, message, from_lines=line is not None)


def read_lines(name: str, limit: int = MAX_DOCUMENT_BYTES) -> Iterator[InputDocument]:
    """Yield the lines of one file as they arrive, without blank ones. There may be none.

    A file that cannot be read, or cannot be read further, yields one document that says why.
    """
    try:
        with _open_document(name) as stream:
            yield from _written_lines(name, stream, limit)
    except OSError as error:
        yield InputDocument(name, b"", error=explain_os(error))


def _read_lines(name: str, stream: BinaryIO, limit: int) -> Iterator[InputDocument]:
    documents_seen = 0
    for document in _written_lines(name, stream, limit):
        documents_seen += 1
        yield document
    if not documents_seen:
        yield InputDocument(name, b"", error="empty: expected one JSON document", from_lines=True)


def _written_lines(name: str, stream: BinaryIO, limit: int) -> Iterator[InputDocument]:
    number = 0
    while line := stream.readline(limit + 2):
        number += 1
        if len(line) > limit and not line.endswith(b"\n"):
            _skip_line(stream)
        data = line.removesuffix(b"\n").removesuffix(b"\r") if line.endswith(b"\n") else line
        if data.isspace() or not data:
            continue
        if len(data) > limit:
            yield _too_large(name, limit, number)
        else:
            yield InputDocument(name, data, number, from_lines=True)


def _skip_line(stream: BinaryIO) -> None:
    while (piece := stream.readline(_PIECE)) and not piece.endswith(b"\n"):
        pass
