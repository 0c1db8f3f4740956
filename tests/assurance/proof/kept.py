"""Keep which formulas the solver has answered for, so that the tests need not ask it again.

The answers follow from the sources of the formulas, the constants of the engine in them, and z3.
`python -m tests.assurance.proof` asks for every lemma and keeps the digest of the first two.
"""

import hashlib
import inspect
import json
from typing import Final

from critic.provenance import origins, worth
from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.kinds import MODE_RANK
from evals.plan_verdicts import MOST_LISTED
from tests.support.paths import FIXTURES, ROOT

PROOFS: Final = FIXTURES / "proofs.json"
SOURCES: Final = (
    *("encoding", "falsehoods", "laws", "lemma", "lemmas", "proofs", "solver", "sums", "worlds"),
    "worth_lemmas",
)
"""The modules that say what is asked, and how."""

_CONSTANTS: Final = (
    *(dict(MODE_RANK), MOST_LISTED, DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS),
    *(inspect.getsource(worth), inspect.getsource(origins)),
)


def digest_of_formulas() -> str:
    """Return the digest of everything in this project that the answers follow from."""
    digest = hashlib.sha256(json.dumps(_CONSTANTS).encode())
    for name in SOURCES:
        data = (ROOT / "tests" / "assurance" / "proof" / f"{name}.py").read_bytes()
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return f"sha256:{digest.hexdigest()}"


def are_answered() -> bool:
    """Return whether all was proven, possible and refuted for these very formulas."""
    if not PROOFS.exists():
        return False
    kept: object = json.loads(PROOFS.read_bytes())
    return kept == {"formulas": digest_of_formulas()}


def keep() -> None:
    """Keep that these formulas were answered for."""
    PROOFS.write_text(json.dumps({"formulas": digest_of_formulas()}) + "\n", "utf-8")
