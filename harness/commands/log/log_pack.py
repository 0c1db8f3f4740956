"""`critic log pack`: decisions with their inputs and proofs as one page that checks itself."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.audit.packs.pack_contents import Pack, PackedRecord
from harness.audit.packs.pack_page import render_pack
from harness.audit.proofs.checkpoint import SignedCheckpoint, signers_of
from harness.audit.proofs.notes import in_base64
from harness.audit.proofs.proof_files import inclusion_paths, stored_hashes
from harness.audit.proofs.proved_records import check_recorded, input_bytes, sealed_parts
from harness.commands.known_heads import print_head
from harness.commands.log.checked_rows import CheckedRow, CheckedRows, trace_of_session
from harness.commands.log.log_filters import damage_texts, warn
from harness.commands.log.note_files import (
    LARGEST_PROOF,
    public_keys,
    signed_checkpoint,
)
from harness.errors import UsageError, escape_text
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record import RawRecord
from harness.record.parts import whole_of
from harness.replay.index_check import IndexedReader, RowRead
from harness.rules import own_version
from harness.whole_files import replace_file, show_path

_PAGE: Final = 32  # records in memory together


def run(args: argparse.Namespace) -> int:
    """Write the page. Return 1 if the log is damaged, or its index differs from its records."""
    output = Path(args.output)
    keys = public_keys(args.public_key)
    signed = signed_checkpoint(args.checkpoint, keys)
    with SqlDecisionLog.open_for_reading(args.log) as log:
        head, problems, note = log.head(), list(log.problems), ""
        numbers = sorted(set(args.record or ()))
        if not numbers:
            rows = CheckedRows(log, Listing(log))
            trace = args.trace if args.session is None else trace_of_session(rows, args.session)
            numbers = [
                one.row.seq
                for one in rows.rows(Filters(trace=trace))
                if isinstance(one, CheckedRow)
            ]
            problems, note = rows.problems, rows.note
        if not numbers:
            raise UsageError(f"no record is of trace {escape_text(args.trace)}")
        pack = _pack(log, numbers, signed, [*signers_of(signed, keys).known])
    page = render_pack(pack).encode()
    if len(page) > LARGEST_PROOF:
        raise UsageError(f"the page would have over {LARGEST_PROOF} bytes: pack fewer records")
    if output.exists() and "://" not in args.log and output.samefile(args.log):
        raise UsageError(f"{escape_text(args.log)} is the log: name another file for the page")
    replace_file(output, [page])
    count = f"{len(numbers)} record{'' if len(numbers) == 1 else 's'}"
    sys.stdout.write(f"{show_path(output)}: {count}, of {signed.checkpoint.size} signed\n")
    print_head(head, "text", note)
    return warn(damage_texts(problems))


def _pack(
    log: SqlDecisionLog, numbers: list[int], signed: SignedCheckpoint, keys: list[str]
) -> Pack:
    """Return the pack of records, each compared with its hash and each input with its digest."""
    raws, bodies, redacted = list[RawRecord](), dict[str, str](), dict[str, None]()
    texts = list[str | None]()
    for one in _read(log, numbers):
        raws.append(one.document.raw)
        texts.append(_pack_record(one, bodies, redacted))
    paths = inclusion_paths(lambda: stored_hashes(log.hashes()), raws, signed.checkpoint)
    records = [
        PackedRecord(
            seq=raw.seq,
            path=tuple(map(in_base64, path)),
            **({"hash": raw.hash} if text is None else {"body": text}),
        )
        for raw, text, path in zip(raws, texts, paths, strict=True)
    ]
    return Pack(
        version=own_version(),
        note=signed.note.note_text(),
        keys=tuple(keys),
        records=tuple(records),
        inputs=bodies,
        redacted=tuple(redacted),
    )


def _read(log: SqlDecisionLog, numbers: list[int]) -> Iterator[RowRead]:
    reader, waiting = IndexedReader(log), list(numbers)
    while page := waiting[:_PAGE]:
        del waiting[:_PAGE]
        found = {one.document.raw.seq: one for one in reader.read(page)}
        for number in page:
            if number not in found:
                raise UsageError(f"no such record: {number}: the last one is {log.head().seq}")
            yield found[number]


def _pack_record(one: RowRead, bodies: dict[str, str], redacted: dict[str, None]) -> str | None:
    """Return the hashed text of a record, and add its inputs; None if it is redacted."""
    document = one.document
    check_recorded(document)
    if document.redacted and not document.own_hash:
        return None
    redacted.update(dict.fromkeys(document.gone.values()))
    bodies.update({digest: text.decode() for digest, text in sealed_parts(document).items()})
    for name, digest in document.digests.items():
        whole = whole_of(one.page.bodies.get(digest, b""), one.page.bodies)
        data = input_bytes(document.raw.seq, document, name, whole)
        if whole.redacted:
            redacted[digest] = None
        else:
            bodies[digest] = data.decode()
    return document.sealed.decode()
