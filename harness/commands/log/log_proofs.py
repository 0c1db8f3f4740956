"""`critic log key|checkpoint|prove|witness|redact`: prove the contents of a log to others."""

import argparse
import sys
from itertools import islice
from pathlib import Path

from harness.audit.proofs.checkpoint import (
    Checkpoint,
    name_checkpoint,
    parse_checkpoint,
    read_checkpoint,
    require_origin,
    sign_checkpoint,
)
from harness.audit.proofs.comparison import NOTHING, Departure
from harness.audit.proofs.keys import PublicKey, new_key, read_private_key
from harness.audit.proofs.notes import SignedNote, is_key_name
from harness.audit.proofs.proof_files import (
    ProofFile,
    is_proof,
    prove_extension,
    prove_record,
    read_proof,
    stored_hashes,
)
from harness.audit.proofs.proved_records import content_of
from harness.clock import SystemClock
from harness.commands.log.checked_rows import CheckedRows, trace_of_session
from harness.commands.log.note_files import (
    LARGEST_NOTE,
    LARGEST_PROOF,
    bytes_of,
    note_of,
    public_keys,
    signed_checkpoint,
)
from harness.commands.log.proof_checks import (
    NOT_PROVED,
    compare_with_progress,
    report_comparison,
)
from harness.errors import UsageError, escape_text
from harness.log.log_places import is_url
from harness.log.search.listing import Listing
from harness.log.sql import SqlDecisionLog
from harness.replay.engine import Replayer
from harness.whole_files import show_path


def run(args: argparse.Namespace) -> int:
    """Run the action. Return 1 if a log or a proof differs from what was signed."""
    actions = {
        "key": _make_key,
        "checkpoint": _checkpoint,
        "prove": _prove,
        "witness": _witness,
        "redact": _redact,
    }
    return actions[args.action](args)


def _make_key(args: argparse.Namespace) -> int:
    public = new_key(Path(args.new))
    sys.stdout.write(f"{show_path(args.new)}: the private key, for its owner alone\n")
    sys.stdout.write(f"{show_path(public)}: the public key, for everybody who checks\n")
    return 0


def _checkpoint(args: argparse.Namespace) -> int:
    key = read_private_key(Path(args.key))
    earlier = NOTHING
    if args.since is not None:
        own = PublicKey(key.where, key.public)
        earlier = signed_checkpoint(args.since, [own]).checkpoint
        if args.origin is not None:
            require_origin(earlier, args.origin, show_path(args.since))
    with SqlDecisionLog.open_for_reading(args.log) as log:
        compared = compare_with_progress(log, earlier)
        if report_comparison(compared, log, to=sys.stderr):
            sys.stderr.write("critic: nothing was signed\n")
            return NOT_PROVED
    origin = args.origin or earlier.origin
    whole = Checkpoint(origin, compared.size, compared.root, compared.first)
    sys.stdout.write(sign_checkpoint(name_checkpoint(whole), key).note.note_text())
    return 0


def _prove(args: argparse.Namespace) -> int:
    if (args.record is None) == (args.since is None):
        raise UsageError("prove takes the number of a RECORD, or --since with an older checkpoint")
    if args.with_inputs and args.record is None:
        raise UsageError("--with-inputs is for the proof of a RECORD: growth has no inputs")
    note = None if args.checkpoint is None else note_of(args.checkpoint)
    with SqlDecisionLog.open_for_reading(args.log) as log:
        if args.since is not None:
            proof = _extension(args, log, note)
        else:
            proof = _inclusion(args, log, note)
    text = proof.file_text()
    if len(text) > LARGEST_PROOF:
        raise UsageError(f"the proof has over {LARGEST_PROOF} bytes: leave out --with-inputs")
    sys.stdout.write(text)
    return 0


def _inclusion(args: argparse.Namespace, log: SqlDecisionLog, note: SignedNote | None) -> ProofFile:
    documents = Replayer(log, None, judge=False).documents(islice(log.raw(args.record), 1))
    if not documents or documents[0].raw.seq != args.record:
        raise UsageError(f"no such record: {args.record}: the last one is {log.head().seq}")
    if note is not None:
        checkpoint = parse_checkpoint(note.text, show_path(args.checkpoint))
    else:
        compared = compare_with_progress(log, NOTHING)
        checkpoint = name_checkpoint(Checkpoint("", compared.size, compared.root, compared.first))
    document, inputs = documents[0], None
    if args.with_inputs:
        inputs = {name: log.whole_input(one) for name, one in document.digests.items()}
    content = content_of(document, inputs)
    return prove_record(
        lambda: stored_hashes(log.hashes()), document.raw, content, checkpoint, note
    )


def _extension(args: argparse.Namespace, log: SqlDecisionLog, note: SignedNote | None) -> ProofFile:
    if note is None:
        raise UsageError("a proof of growth leads to a signed checkpoint: give --checkpoint")
    old = parse_checkpoint(note_of(args.since).text, show_path(args.since))
    new = parse_checkpoint(note.text, show_path(args.checkpoint))
    require_origin(new, old.origin, show_path(args.checkpoint))
    return prove_extension(lambda: stored_hashes(log.hashes()), old, new, note)


def _witness(args: argparse.Namespace) -> int:
    from harness.audit.proofs.cosigner import Cosigner  # noqa: PLC0415 - locks a file, as POSIX has it

    if not is_key_name(args.name):
        raise UsageError(f"{escape_text(args.name)}: a name has no spaces and no plus")
    key = read_private_key(Path(args.key))
    keys = public_keys(args.public_key)
    where, data = show_path(args.checkpoint), bytes_of(args.checkpoint, LARGEST_NOTE)
    proof = read_proof(data, where) if is_proof(data) else None
    given = read_checkpoint(data if proof is None else proof.note.encode(), where, keys)
    cosigner = Cosigner(key, args.name, Path(args.seen), first=args.first)
    signed = cosigner.sign(given, proof, SystemClock().now())
    if isinstance(signed, Departure):
        sys.stderr.write(f"critic: {signed.kind}: {signed.text}: nothing was signed\n")
        return NOT_PROVED
    sys.stdout.write(signed.note.note_text())
    return 0


def _redact(args: argparse.Namespace) -> int:
    from harness.audit.copies.redaction import (  # noqa: PLC0415 - writes a log
        Wanted,
        redact_log,
        value_named,
    )
    from harness.audit.copies.value_search import SoughtValues  # noqa: PLC0415 - as above

    if not (args.value or args.containing or args.trace or args.session):
        raise UsageError(
            "redact takes --value, --containing, --trace or --session: say what to take out"
        )
    sought = SoughtValues(args.containing) if args.containing else None
    values = [value_named(one) for one in args.value]
    if is_url(args.new):
        raise UsageError("a copy without some values goes to a file: name one")
    with SqlDecisionLog.open_for_reading(args.log) as log:
        said = {"by": args.by, "because": args.because}
        trace = args.trace
        if args.session is not None:
            trace = trace_of_session(CheckedRows(log, Listing(log)), args.session)
        wanted = Wanted(values, sought, trace)
        done = redact_log(log, Path(args.new), wanted, **said, now=SystemClock().now())
    for line in done.lines():
        sys.stdout.write(f"{line}\n")
    for line in done.warnings():
        sys.stderr.write(f"{line}\n")
    return 0
