"""The engine as a program of the protocol: `python -m tests.conformance.engine verify`."""

import sys

from critic import Proposal, Run, consolidate, score, verify_proposal
from harness.cases import Command, ConsolidateInput
from harness.wire import parse
from tests.conformance.serving import Json, serve


def answer(command: Command, document: bytes) -> Json:
    """Return the verdict in wire form.

    Raises:
        harness.wire.InvalidInput: the document is not what the command takes.
    """
    match command:
        case "verify":
            proposal = parse(Proposal, document)
            return verify_proposal(proposal).wire()
        case "score":
            return score(parse(Run, document)).wire()
        case "consolidate":
            given = parse(ConsolidateInput, document)
            return consolidate(
                trace_id=given.trace_id,
                decision_key=given.decision_key,
                verify=given.verify,
                score=given.score,
                decided_at=given.decided_at,
            ).wire()


if __name__ == "__main__":
    sys.exit(serve(answer, sys.argv[1:]))
