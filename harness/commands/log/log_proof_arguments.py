"""The parsers of the actions of `critic log` for proofs."""

import argparse
from typing import Final

from harness.commands.arguments import Commands, add, positive_number

_EXITS: Final = (
    "Exit status: 0 done, or it holds; 1 the log or the proof is not what was signed, and what "
    "became of it is named; 2 a key, a checkpoint, a proof or the log cannot be used."
)


def add_log_proofs(actions: Commands) -> None:
    """Add key, checkpoint, prove, check, witness and redact to `critic log`."""
    key = _add(actions, "key", "make an Ed25519 key: FILE, for its owner alone, and FILE.pub")
    key.add_argument("--new", required=True, metavar="FILE", help="the private key to make")
    checkpoint = _add(actions, "checkpoint", "sign what a log holds now, and print it")
    checkpoint.add_argument("log", metavar="LOG")
    _add_private_key(checkpoint)
    checkpoint.add_argument(
        "--origin", metavar="NAME", help="the name of the log (default: after its first record)"
    )
    checkpoint.add_argument(
        "--since", metavar="FILE", help="the last checkpoint of it, which it has to extend"
    )
    _add_prove(actions)
    _add_check(actions)
    _add_pack(actions)
    _add_witness(actions)
    _add_redact(actions)


def _add_redact(actions: Commands) -> None:
    redact = _add(actions, "redact", "copy a log without some values: their digests stay")
    redact.add_argument("log", metavar="LOG")
    redact.add_argument("new", metavar="NEW", help="the copy, which must not exist")
    redact.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="RECORD:POINTER",
        help="what to take out, such as 2:/run/outputs or 1:/inputs/plan; may be repeated",
    )
    redact.add_argument(
        "--containing",
        action="append",
        default=[],
        metavar="VALUE",
        help="take out every part that holds this text or number, however it is spelled; may be "
        "repeated",
    )
    whose = redact.add_mutually_exclusive_group()
    whose.add_argument(
        "--trace", metavar="ID", help="take out what was planned, known, run and said in this trace"
    )
    whose.add_argument("--session", metavar="ID", help="the same for the trace of this session")
    redact.add_argument("--by", required=True, metavar="WHO", help="who takes it out")
    redact.add_argument("--because", required=True, metavar="TEXT", help="why it has to go")


def _add(actions: Commands, name: str, summary: str) -> argparse.ArgumentParser:
    action = add(actions, name, summary, _EXITS)
    action.set_defaults(module="log_proofs")  # not that of `log`
    return action


def _add_prove(actions: Commands) -> None:
    prove = _add(actions, "prove", "print the proof that a record is in a log, or of its growth")
    prove.add_argument("log", metavar="LOG")
    prove.add_argument(
        "record", type=positive_number, nargs="?", metavar="RECORD", help="its number"
    )
    prove.add_argument(
        "--checkpoint", metavar="FILE", help="what the proof leads to (default: the log as it is)"
    )
    prove.add_argument(
        "--with-inputs",
        action="store_true",
        help="put the plan, context, spec and tools into the proof: it shows the decision itself",
    )
    prove.add_argument(
        "--since", metavar="FILE", help="prove that the checkpoint extends this older one"
    )


def _add_check(actions: Commands) -> None:
    check = _add(
        actions, "check", "compare a log with a signed checkpoint, or show a proof or a pack"
    )
    check.set_defaults(module="proof_checks")
    check.add_argument("target", metavar="LOG|PROOF|PAGE")
    check.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="what was signed of the log; a proof of a record holds one, and leads to yours too",
    )
    _add_public_keys(check, required=False)
    check.add_argument("--origin", metavar="NAME", help="the name that the log must have")
    check.add_argument("--format", choices=("text", "json"), default="text")


def _add_pack(actions: Commands) -> None:
    pack = _add(actions, "pack", "write decisions with their proofs as a page that checks itself")
    pack.set_defaults(module="log_pack")
    pack.add_argument("log", metavar="LOG")
    which = pack.add_mutually_exclusive_group(required=True)
    which.add_argument("--trace", metavar="ID", help="every record of this trace")
    which.add_argument("--session", metavar="ID", help="every record of this session's trace")
    which.add_argument(
        "--record",
        type=positive_number,
        action="append",
        metavar="N",
        help="the record with this number; may be repeated",
    )
    pack.add_argument("-o", "--output", required=True, metavar="FILE", help="replaced if it exists")
    pack.add_argument(
        "--checkpoint", required=True, metavar="FILE", help="the signed one that they lead to"
    )
    _add_public_keys(pack)


def _add_witness(actions: Commands) -> None:
    witness = _add(actions, "witness", "sign a checkpoint of another's log, and print it")
    witness.add_argument("checkpoint", metavar="CHECKPOINT|PROOF")
    _add_public_keys(witness)
    _add_private_key(witness)
    witness.add_argument("--name", required=True, help="the name of the witness")
    witness.add_argument(
        "--seen", required=True, metavar="FILE", help="where the last one that was signed is kept"
    )
    witness.add_argument(
        "--first", action="store_true", help="there is no such file yet: trust the first one"
    )


def _add_private_key(action: argparse.ArgumentParser) -> None:
    action.add_argument("--key", required=True, metavar="FILE", help="the private key to sign with")


def _add_public_keys(action: argparse.ArgumentParser, *, required: bool = True) -> None:
    action.add_argument(
        "--public-key",
        required=required,
        default=[],
        action="append",
        metavar="FILE",
        help="public key of a signer; repeat it to require several signatures",
    )
