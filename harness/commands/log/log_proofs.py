"""`critic log key|checkpoint|prove|check|witness|redact`: prove to others what a log holds."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, TextIO

from evals.escaping import escape_line
from harness.audit.proofs.checkpoint import (
    Checkpoint,
    name_checkpoint,
    parse_checkpoint,
    read_checkpoint,
    require_origin,
    sign_checkpoint,
)
from harness.audit.proofs.comparison import NOTHING, Departure, LogComparison, compare_log
from harness.audit.proofs.keys import PublicKey, new_key, read_private_key
from harness.audit.proofs.merkle import is_consistent
from harness.audit.proofs.notes import InvalidCheckpoint, SignedNote, is_key_name
from harness.audit.proofs.proof_files import (
    ProofFile,
    inclusion_error,
    is_proof,
    leads_elsewhere,
    prove_extension,
    prove_record,
    read_proof,
)
from harness.canonical import ascii_json
from harness.clock import SystemClock
from harness.commands.log.note_files import (
    LARGEST_NOTE,
    bytes_of,
    note_of,
    public_keys,
    shown_path,
    signed_checkpoint,
)
from harness.commands.progress import with_progress
from harness.commands.replay.replay_text import count_of_records
from harness.errors import UsageError, escape_text
from harness.log.log_places import is_url
from harness.log.sql import SqlDecisionLog
from harness.record import RawRecord
from harness.replay.engine import Replayer

_NOT_PROVED: Final = 1
_LARGEST: Final = 64 * 1024 * 1024  # bytes of a proof: the largest record in base64


def run(args: argparse.Namespace) -> int:
    """Run the action. Return 1 if a log or a proof is not what was signed."""
    actions = {
        "key": _make_key,
        "checkpoint": _checkpoint,
        "prove": _prove,
        "check": _check,
        "witness": _witness,
        "redact": _redact,
    }
    return actions[args.action](args)


def _make_key(args: argparse.Namespace) -> int:
    public = new_key(Path(args.new))
    sys.stdout.write(f"{shown_path(args.new)}: the private key, for its owner alone\n")
    sys.stdout.write(f"{shown_path(public)}: the public key, for everybody who checks\n")
    return 0


def _checkpoint(args: argparse.Namespace) -> int:
    key = read_private_key(Path(args.key))
    earlier = NOTHING
    if args.since is not None:
        own = PublicKey(key.where, key.public)
        earlier = signed_checkpoint(args.since, [own]).checkpoint
        if args.origin is not None:
            require_origin(earlier, args.origin, shown_path(args.since))
    with SqlDecisionLog.open_for_reading(args.log) as log:
        compared = _compare_log(log, earlier)
        if _report_comparison(compared, log, to=sys.stderr):
            sys.stderr.write("critic: nothing was signed\n")
            return _NOT_PROVED
    origin = args.origin or earlier.origin
    whole = Checkpoint(origin, compared.size, compared.root, compared.first)
    sys.stdout.write(sign_checkpoint(name_checkpoint(whole), key).note.note_text())
    return 0


def _prove(args: argparse.Namespace) -> int:
    if (args.record is None) == (args.since is None):
        raise UsageError("prove takes the number of a RECORD, or --since with an older checkpoint")
    note = None if args.checkpoint is None else note_of(args.checkpoint)
    with SqlDecisionLog.open_for_reading(args.log) as log:
        if args.since is not None:
            proof = _extension(args, log, note)
        else:
            proof = _inclusion(args, log, note)
    sys.stdout.write(proof.file_text())
    return 0


def _inclusion(args: argparse.Namespace, log: SqlDecisionLog, note: SignedNote | None) -> ProofFile:
    documents = Replayer(log, None, judge=False).documents(islice(log.raw(args.record), 1))
    if not documents or documents[0].raw.seq != args.record:
        raise UsageError(f"no such record: {args.record}: the last one is {log.head().seq}")
    if note is not None:
        checkpoint = parse_checkpoint(note.text, shown_path(args.checkpoint))
    else:
        compared = _compare_log(log, NOTHING)
        checkpoint = name_checkpoint(Checkpoint("", compared.size, compared.root, compared.first))
    return prove_record(lambda: _hashes(log), documents[0], checkpoint, note)


def _extension(args: argparse.Namespace, log: SqlDecisionLog, note: SignedNote | None) -> ProofFile:
    if note is None:
        raise UsageError("a proof of growth leads to a signed checkpoint: give --checkpoint")
    old = parse_checkpoint(note_of(args.since).text, shown_path(args.since))
    new = parse_checkpoint(note.text, shown_path(args.checkpoint))
    require_origin(new, old.origin, shown_path(args.checkpoint))
    return prove_extension(lambda: _hashes(log), old, new, note)


def _hashes(log: SqlDecisionLog) -> Iterator[str]:
    """Yield the stored hashes of the records from the first one on."""
    for place, (seq, own_hash) in enumerate(log.hashes(), start=1):
        if seq != place:
            raise InvalidCheckpoint(f"record {place} is missing: replay the log")
        yield own_hash


def _check(args: argparse.Namespace) -> int:
    keys = public_keys(args.public_key)
    signed = signed_checkpoint(args.checkpoint, keys)
    if args.origin is not None:
        require_origin(signed.checkpoint, args.origin, shown_path(args.checkpoint))
    data = b"" if "://" in args.target else _start_of(args.target)
    if is_proof(data):
        return _check_proof(args, signed.checkpoint, keys)
    with SqlDecisionLog.open_for_reading(args.target) as log:
        compared = _compare_log(log, signed.checkpoint)
        return _print_comparison(args, log, compared, signed.checkpoint.size)


def _print_comparison(
    args: argparse.Namespace, log: SqlDecisionLog, compared: LogComparison, size: int
) -> int:
    if args.format == "json":
        departures = [*compared.departures, *(Departure("altered", one) for one in log.problems)]
        told = {
            "signed": size,
            "records": compared.size,
            "redacted": compared.redactions,
            "without_inputs": compared.without_inputs,
        }
        sys.stdout.write(_as_json(departures, **told))
        return _NOT_PROVED if departures else 0
    if _report_comparison(compared, log, to=sys.stdout):
        return _NOT_PROVED
    more = f", {compared.size - size} more follow" if compared.size > size else ""
    sys.stdout.write(f"{count_of_records(size)}: as signed{more}\n")
    return 0


def _check_proof(args: argparse.Namespace, checkpoint: Checkpoint, keys: list[PublicKey]) -> int:
    where = shown_path(args.target)
    proof = read_proof(bytes_of(args.target, _LARGEST), where)
    if proof.record:
        if problem := leads_elsewhere(proof, checkpoint, where):
            raise InvalidCheckpoint(problem)
        error = inclusion_error(proof, checkpoint)
        departure = None if error is None else Departure("altered", error)
        said = f"record {proof.number} of {checkpoint.size}: it is in the log as it was signed"
        said += "" if proof.record[:1] == b"{" else "; it is redacted, and its hash alone is proved"
    else:
        departure, said = _growth(proof, checkpoint, keys, where)
    if args.format == "json":
        proved = {"record": proof.show_record()} if proof.record and departure is None else {}
        sys.stdout.write(_as_json([departure] if departure else [], **proved))
    else:
        said = f"{departure.kind}: {departure.text}" if departure else said
        sys.stdout.write(f"{escape_line(said)}\n")
    return _NOT_PROVED if departure else 0


def _growth(
    proof: ProofFile, old: Checkpoint, keys: list[PublicKey], where: str
) -> tuple[Departure | None, str]:
    new = read_checkpoint(proof.note.encode(), where, keys).checkpoint
    require_origin(new, old.origin, where)
    if proof.number != old.size:
        raise InvalidCheckpoint(
            f"{where}: the proof is from {proof.number} records on, the checkpoint is of {old.size}"
        )
    if is_consistent(old.size, old.root, new.size, new.root, proof.path):
        return None, f"{count_of_records(new.size)}: they extend the {old.size} of the checkpoint"
    return Departure("forked", f"the {new.size} records do not extend the {old.size}"), ""


def _witness(args: argparse.Namespace) -> int:
    from harness.audit.proofs.cosigner import Cosigner  # noqa: PLC0415 - locks a file, as POSIX has it

    if not is_key_name(args.name):
        raise UsageError(f"{escape_text(args.name)}: a name has no spaces and no plus")
    key = read_private_key(Path(args.key))
    keys = public_keys(args.public_key)
    where, data = shown_path(args.checkpoint), bytes_of(args.checkpoint, LARGEST_NOTE)
    proof = read_proof(data, where) if is_proof(data) else None
    given = read_checkpoint(data if proof is None else proof.note.encode(), where, keys)
    cosigner = Cosigner(key, args.name, Path(args.seen), first=args.first)
    signed = cosigner.sign(given, proof, SystemClock().now())
    if isinstance(signed, Departure):
        sys.stderr.write(f"critic: {signed.kind}: {signed.text}: nothing was signed\n")
        return _NOT_PROVED
    sys.stdout.write(signed.note.note_text())
    return 0


def _redact(args: argparse.Namespace) -> int:
    from harness.audit.copies.redaction import redact_log, value_named  # noqa: PLC0415 - writes a log

    wanted = [value_named(one) for one in args.value]
    if is_url(args.new):
        raise UsageError("a copy without some values goes to a file: name one")
    with SqlDecisionLog.open_for_reading(args.log) as log:
        done = redact_log(log, Path(args.new), wanted)
    for line in done.lines():
        sys.stdout.write(f"{line}\n")
    return 0


def _compare_log(log: SqlDecisionLog, checkpoint: Checkpoint) -> LogComparison:
    total = log.head().seq

    def watch(rows: Iterator[RawRecord]) -> Iterator[RawRecord]:
        return with_progress(rows, total)

    return compare_log(log, checkpoint, watch)


def _report_comparison(compared: LogComparison, log: SqlDecisionLog, to: TextIO) -> bool:
    """Print what is wrong with a log and what is worth a look. Return whether anything is wrong."""
    lines = [f"{one.kind}: {one.text}" for one in compared.departures]
    lines += [f"the log is damaged: {problem}" for problem in log.problems]
    wrong = bool(lines)
    if compared.redactions:
        first = ", ".join(map(str, compared.redacted))
        more = ", ..." if compared.redactions > len(compared.redacted) else ""
        count = f"{count_of_records(compared.redactions)} redacted"
        lines.append(f"note: {count}, of which the hash alone is proved: {first}{more}")
    if compared.without_inputs:
        count = count_of_records(compared.without_inputs)
        lines.append(f"note: inputs of {count} are redacted: their digests are proved")
    to.writelines(f"{escape_line(line)}\n" for line in lines)
    return wrong


def _as_json(departures: Sequence[Departure], **more: object) -> str:
    found = [one._asdict() for one in departures]
    return ascii_json({"ok": not found, "departures": found, **more}) + "\n"


def _start_of(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(64)
