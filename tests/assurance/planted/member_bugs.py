"""Bugs that leave a member of what is signed, hashed or kept out of what is compared."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_CHECKPOINT: Final = "harness/audit/proofs/checkpoint.py"

MEMBER_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "cosigned-without-its-time",
        _CHECKPOINT,
        "the time of a witness is not among what it signs",
        r'f"cosignature/v1\ntime {seconds}\n{text}"',
        r'f"cosignature/v1\n{text}"',
    ),
    slip(
        "first-record-cut",
        _CHECKPOINT,
        "part of the hash of the first record is not signed",
        r'f"{_FIRST}{self.first}\n"',
        r'f"{_FIRST}{self.first[:40]}\n"',
    ),
    slip(
        "one-signature-is-enough",
        _CHECKPOINT,
        "a forged signature of a key passes beside one that holds",
        "    if not all(_holds(",
        "    if not any(_holds(",
    ),
    slip(
        "proof-to-any-root",
        "harness/audit/proofs/proof_files.py",
        "the root that a proof names is not compared with that of the checkpoint",
        "if (own.root, own.first) == (checkpoint.root, checkpoint.first):",
        "if own.first == checkpoint.first:",
    ),
    slip(
        "emptied-index-is-sound",
        "harness/replay/index_check.py",
        "an index that says nothing of a record where it has to is sound",
        "        if (type(own), own) != (type(kept), kept):",
        "        if own != kept and kept is not None:",
    ),
    slip(
        "any-of-the-hashes",
        "harness/commands/replay/replay_state.py",
        "a state that names more hashes than the log has at its record is taken",
        "frozenset(self.hashes) == link.hashes",
        "frozenset(self.hashes) >= link.hashes",
    ),
)
