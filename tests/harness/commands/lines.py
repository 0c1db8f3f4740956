"""The refund example as lines for the command line, and the answers it should give to them."""

import json
from typing import Any

from critic.replies.wording import word_refusal
from tests.support.examples import good_proposal, proposal_of, refused_proposal
from tests.support.judging import judge_proposal

GOOD = json.dumps(good_proposal()).encode()
REFUSED = json.dumps(refused_proposal()).encode()
GOOD_SAID = judge_proposal(proposal_of(good_proposal())).wire()
_REFUSED = proposal_of(refused_proposal())
REFUSED_SAID = word_refusal(_REFUSED, judge_proposal(_REFUSED)).wire()
_BESIDE = ("file", "line", "trace_id", "errors")
"""What the command line prints beside a verdict or an error."""


def read(lines: list[str]) -> list[Any]:
    """Return the bare verdicts and errors."""
    return [
        {name: value for name, value in json.loads(line).items() if name not in _BESIDE}
        for line in lines
    ]


def origins(lines: list[str]) -> list[dict[str, Any]]:
    """Return what is printed beside the verdicts and errors."""
    return [
        {name: value for name, value in json.loads(line).items() if name in _BESIDE}
        for line in lines
    ]
