"""`critic log check`: compare a log or a proof with a signed checkpoint, and show the result.

Rule 1: nothing of a proof is printed before every hash in it has been recomputed.
Rule 2: the key identifies the signer. A proof that no given key signed exits with 2.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final, TextIO

from evals.escaping import escape_line, escape_name
from harness.audit.packs.pack_contents import check_pack, packed_keys
from harness.audit.packs.pack_page import is_pack, read_pack, render_pack
from harness.audit.proofs.checkpoint import (
    Checkpoint,
    Signers,
    read_checkpoint,
    require_origin,
    signers_of,
)
from harness.audit.proofs.comparison import Departure, LogComparison, compare_log
from harness.audit.proofs.keys import PublicKey
from harness.audit.proofs.merkle import is_consistent
from harness.audit.proofs.notes import InvalidCheckpoint
from harness.audit.proofs.proof_files import (
    ProofFile,
    included_record,
    is_proof,
    leads_elsewhere,
    read_proof,
)
from harness.audit.proofs.proved_records import ProvedRecord
from harness.canonical import ascii_json
from harness.commands.log.log_filters import warn
from harness.commands.log.log_text import RecordShown, describe_end, record_lines
from harness.commands.log.note_files import (
    LARGEST_PROOF,
    bytes_of,
    public_keys,
    signed_checkpoint,
)
from harness.commands.progress import with_progress
from harness.commands.replay.replay_text import count_of_records
from harness.errors import UsageError
from harness.log.sql import SqlDecisionLog
from harness.record import RawRecord
from harness.rules import own_version
from harness.whole_files import show_path

NOT_PROVED: Final = 1
"""The exit status for a log or a proof that is not what was signed."""

_UNSIGNED: Final = 2

_NOT_CHECKED: Final = (
    "no signature was checked, and anybody could have made it: give --public-key with the key of "
    "who signed it"
)
_LIMITS: Final = (
    "not proved: that what was recorded is true, that it is all that happened, or what came later"
)
_TRUST: Final = (
    "trust this key only if you have it from the owner of the log: anyone can make a proof "
    "with a key of their own"
)


def run(args: argparse.Namespace) -> int:
    """Run the action. Return 1 if the log or the proof is not what was signed, 2 if nobody is
    known to have signed it."""
    keys = public_keys(args.public_key)
    start = b"" if "://" in args.target else _start_of(args.target)
    if is_proof(start):
        return _check_proof(args, keys)
    if is_pack(start):
        return _check_pack(args, keys)
    if args.checkpoint is None or not keys:
        raise UsageError("a log is compared with --checkpoint, and that needs a --public-key")
    signed = _given_checkpoint(args, keys)
    with SqlDecisionLog.open_for_reading(args.target) as log:
        compared = compare_with_progress(log, signed)
        return _print_comparison(args, log, compared, signed.size)


def _given_checkpoint(args: argparse.Namespace, keys: list[PublicKey]) -> Checkpoint:
    checkpoint = signed_checkpoint(args.checkpoint, keys).checkpoint
    if args.origin is not None:
        require_origin(checkpoint, args.origin, show_path(args.checkpoint))
    return checkpoint


def _start_of(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(64)


def _check_proof(args: argparse.Namespace, keys: list[PublicKey]) -> int:
    where = show_path(args.target)
    proof = read_proof(bytes_of(args.target, LARGEST_PROOF), where)
    if args.checkpoint is not None and not keys:
        raise UsageError("--checkpoint counts with the key of who signed it: give --public-key")
    if not proof.content:
        return _check_growth(args, proof, keys)
    checkpoint, signers = _signed_in(args, proof, keys)
    found = included_record(proof, checkpoint)
    if isinstance(found, str):
        return _print_departure(args, Departure("altered", found))
    if args.format == "json":
        told = {"record": found.wire() or found.own_hash, "inputs": found.input_names}
        sys.stdout.write(_proved_json(told, checkpoint, signers))
    else:
        lines = _record_lines(proof.number, found, checkpoint, signers, {})
        said = (*lines, *_trust_lines(signers))
        sys.stdout.writelines(f"{escape_line(line)}\n" for line in said)
    return 0 if signers.known else warn([f"{where}: {_NOT_CHECKED}"]) and _UNSIGNED


def _check_pack(args: argparse.Namespace, keys: list[PublicKey]) -> int:
    where, data = show_path(args.target), bytes_of(args.target, LARGEST_PROOF)
    pack = read_pack(data, where)
    own = read_checkpoint(pack.note.encode(), where, packed_keys(pack, where))
    checkpoint = own.checkpoint
    if args.origin is not None:
        require_origin(checkpoint, args.origin, where)
    if args.checkpoint is not None:
        _require_same(_given_checkpoint(args, keys), checkpoint, where)
    read_checkpoint(pack.note.encode(), where, keys, every=args.checkpoint is None)
    found = check_pack(pack, checkpoint)
    if isinstance(found, str):
        return _print_departure(args, Departure("altered", found))
    is_own = pack.version == own_version()
    if is_own and render_pack(pack).encode() != data:
        text = "the page is not the one that this program writes around what it proves"
        return _print_departure(args, Departure("altered", text))
    signers = signers_of(own, keys)
    if args.format == "json":
        told = [one.wire() or {"seq": seq, "hash": one.own_hash} for seq, one in found.items()]
        sys.stdout.write(_proved_json({"records": told, "page": is_own}, checkpoint, signers))
    else:
        ends = _ends_in(found)
        lines = chain.from_iterable(
            _record_lines(seq, one, checkpoint, signers, ends) for seq, one in found.items()
        )
        sys.stdout.writelines(f"{escape_line(line)}\n" for line in lines)
        if not is_own:
            by = escape_name(pack.version[:80])
            sys.stdout.write(f"not checked: the page around it, which version {by} wrote\n")
        sys.stdout.writelines(f"{escape_line(line)}\n" for line in _trust_lines(signers))
    return 0 if signers.known else warn([f"{where}: {_NOT_CHECKED}"]) and _UNSIGNED


def _require_same(given: Checkpoint, own: Checkpoint, where: str) -> None:
    if given != own:
        raise InvalidCheckpoint(
            f"{where}: the pack leads to a checkpoint of {own.size} records, not to this one of "
            f"{given.size}: pack it again with --checkpoint"
        )


def _signed_in(
    args: argparse.Namespace, proof: ProofFile, keys: list[PublicKey]
) -> tuple[Checkpoint, Signers]:
    """Return the checkpoint that a proof leads to, and who signed it."""
    where, alone = show_path(args.target), args.checkpoint is None
    if alone and keys and not proof.is_signed:
        raise InvalidCheckpoint(f"{where}: nobody signed it: give --checkpoint with a signed one")
    given = None if alone else signed_checkpoint(args.checkpoint, keys)
    if given is not None and (problem := leads_elsewhere(proof, given.checkpoint, where)):
        raise InvalidCheckpoint(problem)
    notes = [] if given is None else [given]
    if proof.is_signed:
        notes.append(read_checkpoint(proof.note.encode(), where, keys, every=alone))
    checkpoint = notes[0].checkpoint if notes else proof.checkpoint(where)
    if args.origin is not None:
        require_origin(checkpoint, args.origin, where)
    signers = [signers_of(one, keys) for one in notes]
    unknown = dict.fromkeys(name for one in signers for name in one.unknown)
    return checkpoint, Signers(signers[0].known if signers else {}, [*unknown])


def _proved_json(told: dict[str, Any], checkpoint: Checkpoint, signers: Signers) -> str:
    told |= {
        "checkpoint": {"origin": checkpoint.origin, "records": checkpoint.size},
        "signed_by": [*signers.known],
        "not_checked": [*signers.unknown],
    }
    return _as_json([], **told, **({} if signers.known else {"ok": False}))


_Ends = Mapping[str, tuple[int, str]]
"""What ends an execution, by the hash of the record that began or settled it."""


def _ends_in(found: Mapping[int, ProvedRecord]) -> _Ends:
    """Return the ends of executions that proved records have."""
    named = ((one.record.get("begun"), seq, one.own_hash) for seq, one in found.items())
    return {begun: (seq, own) for begun, seq, own in named if isinstance(begun, str)}


def _record_lines(
    number: int, found: ProvedRecord, checkpoint: Checkpoint, signers: Signers, ends: _Ends
) -> Iterator[str]:
    """Yield the lines for a record: that it is proven, the decision, and the checks."""
    place = f"record {number} of {checkpoint.size}"
    signed = "in the log as it was signed" if signers.known else "under the checkpoint in the file"
    redacted = "" if found.record else "; it is redacted, and its hash alone is proved"
    yield f"{place}: it is {signed}{redacted}"
    if found.record:
        shown = RecordShown.of(found.shown_wire())
        end = describe_end(found.record, ends.get, "how it ended is not in the proof")
        yield from record_lines(shown, end)
    yield f"checked: the hash of record {number}, and its place among the {checkpoint.size}"
    digests = found.record.get("inputs", {})
    for name in found.input_names:
        yield f"checked: input {name} has the digest that the record names, {digests[name]}"
    if found.inputs is None and digests:
        yield "not in the proof: its inputs, with the calls: prove it --with-inputs"


def _trust_lines(signers: Signers) -> Iterator[str]:
    """Yield the signers, and what the proof does not show."""
    yield from (f"signed by: {key} (in {where})" for key, where in signers.known.items())
    yield from (f"not checked: a signature of {name}" for name in signers.unknown)
    yield _LIMITS
    yield _TRUST if signers.known else f"not proved: who signed it: {_NOT_CHECKED}"


def _check_growth(args: argparse.Namespace, proof: ProofFile, keys: list[PublicKey]) -> int:
    if args.checkpoint is None:
        raise UsageError("a proof of growth starts at a checkpoint that you have: --checkpoint")
    where, old = show_path(args.target), _given_checkpoint(args, keys)
    new = read_checkpoint(proof.note.encode(), where, keys).checkpoint
    require_origin(new, old.origin, where)
    if proof.number != old.size:
        raise InvalidCheckpoint(
            f"{where}: the proof is from {proof.number} records on, the checkpoint is of {old.size}"
        )
    if not is_consistent(old.size, old.root, new.size, new.root, proof.path):
        text = f"the {new.size} records do not extend the {old.size}"
        return _print_departure(args, Departure("forked", text))
    said = f"{count_of_records(new.size)}: they extend the {old.size} of the checkpoint\n"
    sys.stdout.write(_as_json([]) if args.format == "json" else said)
    return 0


def _print_departure(args: argparse.Namespace, found: Departure) -> int:
    said = f"{escape_line(f'{found.kind}: {found.text}')}\n"
    sys.stdout.write(_as_json([found]) if args.format == "json" else said)
    return NOT_PROVED


def _print_comparison(
    args: argparse.Namespace, log: SqlDecisionLog, compared: LogComparison, size: int
) -> int:
    if args.format == "json":
        damage = (*log.problems, *compared.damage)
        departures = [*compared.departures, *(Departure("altered", one) for one in damage)]
        told = {
            "signed": size,
            "records": compared.size,
            "redacted": compared.redactions + compared.without_members,
            "without_inputs": compared.without_inputs,
        }
        sys.stdout.write(_as_json(departures, **told))
        return NOT_PROVED if departures else 0
    if report_comparison(compared, log, to=sys.stdout):
        return NOT_PROVED
    more = f", {compared.size - size} more follow" if compared.size > size else ""
    sys.stdout.write(f"{count_of_records(size)}: as signed{more}\n")
    return 0


def compare_with_progress(log: SqlDecisionLog, checkpoint: Checkpoint) -> LogComparison:
    """Compare a log with a checkpoint, with progress on a terminal."""
    total = log.head().seq

    def watch(rows: Iterator[RawRecord]) -> Iterator[RawRecord]:
        return with_progress(rows, total)

    return compare_log(log, checkpoint, watch)


def report_comparison(compared: LogComparison, log: SqlDecisionLog, to: TextIO) -> bool:
    """Print the problems and remarks of a log. Return whether there are problems."""
    lines = [f"{one.kind}: {one.text}" for one in compared.departures]
    lines += [f"the log is damaged: {problem}" for problem in (*log.problems, *compared.damage)]
    wrong = bool(lines)
    if compared.redactions:
        first = ", ".join(map(str, compared.redacted))
        more = ", ..." if compared.redactions > len(compared.redacted) else ""
        count = f"{count_of_records(compared.redactions)} redacted"
        lines.append(f"note: {count}, of which the hash alone is proved: {first}{more}")
    if compared.without_members:
        count = count_of_records(compared.without_members)
        lines.append(f"note: parts of {count} are redacted: their digests are proved")
    if compared.without_inputs:
        count = count_of_records(compared.without_inputs)
        lines.append(f"note: inputs of {count} are redacted: their digests are proved")
    to.writelines(f"{escape_line(line)}\n" for line in lines)
    return wrong


def _as_json(departures: Sequence[Departure], **more: object) -> str:
    found = [one._asdict() for one in departures]
    return ascii_json({"ok": not found, "departures": found} | more) + "\n"
