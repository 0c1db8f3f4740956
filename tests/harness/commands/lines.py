"""The refund example as lines for the command line, and the answers it should give to them."""

import json
from typing import Any

from tests.support.examples import good_proposal, proposal_of, refused_proposal
from tests.support.judging import judge_proposal

GOOD = json.dumps(good_proposal()).encode()
REFUSED = json.dumps(refused_proposal()).encode()
GOOD_SAID = judge_proposal(proposal_of(good_proposal())).wire()
REFUSED_SAID = judge_proposal(proposal_of(refused_proposal())).wire()
EMPTY = {"error": {"path": "", "message": "empty: expected one JSON document"}}


def read(lines: list[str]) -> list[Any]:
    return [json.loads(line) for line in lines]
