"""Wrong on purpose, to show that the kit notices it: `python -m tests.conformance.wrong MISTAKE`.

Each mistake is one that a real implementation could make.
"""

import copy
import sys
from collections.abc import Callable
from typing import Final

from harness.cases import Command
from harness.wire import InvalidInput
from tests.conformance import engine
from tests.conformance.serving import Json, serve

Mistake = Callable[[Command, bytes], Json]

_seen: list[bytes] = []


def _accepts(command: Command, document: bytes) -> Json:
    """Pass plans that only their last violation refuses."""
    verdict = engine.answer(command, document)
    if command == "verify" and len(verdict.get("violations", ())) == 1:
        return {"ok": True, "reasons": [], "caveats": []}
    return verdict


def _first_only(command: Command, document: bytes) -> Json:
    """Stop at the first violation."""
    verdict = engine.answer(command, document)
    if "violations" in verdict:
        verdict["violations"] = verdict["violations"][:1]
    return verdict


def _lenient(command: Command, document: bytes) -> Json:
    """Judge a document that is not valid."""
    try:
        return engine.answer(command, document)
    except InvalidInput:
        return {"ok": True, "reasons": [], "caveats": []}


def _astray(command: Command, document: bytes) -> Json:
    """Report every error at the document as a whole."""
    try:
        return engine.answer(command, document)
    except InvalidInput as error:
        raise InvalidInput("", error.message) from None


def _rounded(command: Command, document: bytes) -> Json:
    """Round scores to one digit."""
    verdict = copy.deepcopy(engine.answer(command, document))
    if command == "score":
        for one in verdict["scorecard"]["scores"].values():
            one["score"] = round(one["score"], 1)
    return verdict


def _reworded(command: Command, document: bytes) -> Json:
    """Give other reasons for the same decisions."""
    verdict = engine.answer(command, document)
    return {**verdict, "reasons": ["because"]} if command == "verify" else verdict


def _nulls(command: Command, document: bytes) -> Json:
    """Write null for absent fields."""
    verdict = engine.answer(command, document)
    return {"refused_at": None, "kind": None, "offending_step": None, **verdict}


def _stops(command: Command, document: bytes) -> Json:
    """End after ten documents."""
    _seen.append(document)
    if len(_seen) > 10:
        sys.exit("out of patience")
    return engine.answer(command, document)


MISTAKES: Final[dict[str, Mistake]] = {
    "accepts": _accepts,
    "first_only": _first_only,
    "lenient": _lenient,
    "astray": _astray,
    "rounded": _rounded,
    "reworded": _reworded,
    "nulls": _nulls,
    "stops": _stops,
}


if __name__ == "__main__":
    sys.exit(serve(MISTAKES[sys.argv[1]], sys.argv[2:]))
