"""Bugs of second lives: a session that was closed forgets what bound it, or keeps its authority."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_LEDGER: Final = "critic/session/ledger.py"
_REOPENING: Final = "harness/guard/reopening.py"
_SESSION: Final = "critic/session/session.py"

LIFE_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "no-forgotten-in-a-second-life",
        _REOPENING,
        "what a person said no to is asked again",
        "asked=carried.asked, denied=denied)",
        "asked=carried.asked)",
    ),
    slip(
        "questions-anew-in-a-second-life",
        _REOPENING,
        "each life asks as many questions as the policy allows one session",
        "session=again, asked=carried.asked,",
        "session=again,",
    ),
    slip(
        "budget-anew-in-a-second-life",
        _LEDGER,
        "each life has the steps of a whole session",
        "            steps=spent.steps or 0,\n",
        "",
    ),
    slip(
        "acts-forgotten-in-a-second-life",
        _LEDGER,
        "a destructive call is repeated by closing the session in between",
        "            made=made_calls(MadeCall(0, at, call) for at, call in"
        " enumerate(spent.calls or ())),\n",
        "",
    ),
    slip(
        "echo-forgotten-in-a-second-life",
        _REOPENING,
        "what an earlier life sent comes back as somebody else's word",
        "session.after_life(turns, carried.spent, carried.sent or ())",
        "session.after_life(turns, carried.spent, ())",
    ),
    slip(
        "echo-of-a-later-place",
        _SESSION,
        "what an earlier life sent is no echo of what comes back first",
        'update={"seq": len(self.trail)}',
        'update={"seq": len(self.trail) + 9}',
    ),
    slip(
        "turns-from-one-in-a-second-life",
        _REOPENING,
        "a turn of one life has the number of another's",
        "session.after_life(turns, carried.spent,",
        "session.after_life(0, carried.spent,",
    ),
    slip(
        "halted-session-goes-on",
        _REOPENING,
        "a session that halted at a refusal goes on after it was closed",
        "    if carried.has_halted:",
        "    if False:",
    ),
    slip(
        "second-life-of-another-policy",
        _REOPENING,
        "a session goes on under a policy that it was not closed under",
        "    if carried.policy_digest != session.rules.digest:",
        "    if False:",
    ),
    slip(
        "second-life-of-another-session",
        _REOPENING,
        "the close of one session is gone on from as another",
        "    if closed.trace_id != session.trace_id:",
        "    if False:",
    ),
    slip(
        "edited-close-taken",
        _REOPENING,
        "a close that was edited is gone on from",
        'if document.own_hash == raw.hash and document.kind == "closed":',
        'if document.kind == "closed":',
    ),
)
