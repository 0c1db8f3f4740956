"""The second statement of the rules as a program: `python -m tests.conformance.second verify`.

Of verify and score it says what decides and gives no reasons: check those with `--verdicts-only`.
It shares no rule with the engine, only the reading of bytes, so it says nothing of what makes a
document invalid.
"""

import sys

from critic import Proposal, Run
from harness.cases import Command, ConsolidateInput
from harness.wire import parse
from tests.conformance.serving import Json, serve
from tests.support.model.report import consolidate_model
from tests.support.model.score import score_model
from tests.support.model.verify import verify_model

_HARD = ("policy", "safety")


def answer(command: Command, document: bytes) -> Json:
    """Return the report, or the deciding part of the verdict.

    Raises:
        harness.wire.InvalidInput: the document is not what the command takes.
    """
    match command:
        case "verify":
            return verify_model(parse(Proposal, document).wire())
        case "score":
            scores = score_model(parse(Run, document).wire())
            ok = all(scores[name]["status"] != "fail" for name in _HARD)
            return {"ok": ok, "scorecard": {"scores": scores}}
        case "consolidate":
            return consolidate_model(parse(ConsolidateInput, document).wire())


if __name__ == "__main__":
    sys.exit(serve(answer, sys.argv[1:]))
