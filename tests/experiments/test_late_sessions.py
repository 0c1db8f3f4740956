"""Sessions with late calls that others wrote: each event is answered as they say.

The runs are beside the project, in `../shared/corpus/late`, and are read there. Where they are not
there these tests are skipped; on a build server (`CI` is set) that is a failure instead.
"""

import json
import os
from pathlib import Path
from typing import Any, Final

import pytest

from critic import Verified
from harness.guard import EventError, Guard, OpeningRuling, Ruling, SessionReport
from harness.log import SqlDecisionLog
from harness.policy import Policy
from harness.replay import check_log, replay
from harness.wire import build
from tests.support.paths import ROOT

RUNS: Final = ROOT.parent / "shared" / "corpus" / "late" / "runs.jsonl"
NO_DIGEST: Final = "0" * 64


def runs() -> list[dict[str, Any]]:
    """Return the runs."""
    if not RUNS.is_file():
        told = f"the sessions with late calls are not here: {RUNS} is missing"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    return list(map(json.loads, RUNS.read_text("utf-8").splitlines()))


def told(answer: Any) -> dict[str, Any]:
    """Return an answer in the words of the runs."""
    if isinstance(answer, EventError):
        return {"error": True}
    if isinstance(answer, SessionReport):
        return {"status": answer.status}
    if not isinstance(answer, Ruling | OpeningRuling):
        return {}
    said: dict[str, Any] = {"action": answer.action, "turn": answer.turn}
    verdict = answer.verdict
    if isinstance(verdict, Verified):
        found = [f"{one.kind}@{one.step}" for one in verdict.conditions or ()]
        said |= {"conditions": found} if found else {}
    elif verdict is not None:
        said |= {"kind": verdict.kind, "approvable": verdict.approvable}
        said |= {"offending_step": verdict.offending_step}
    return said | ({"args": answer.args} if isinstance(answer, OpeningRuling) else {})


def played(guard: Guard, events: list[dict[str, Any]]) -> dict[int, Any]:
    """Return the answers to the events, by their positions."""
    answers, asked = dict[int, Any](), dict[str, str]()
    for at, event in enumerate(events):
        named = event.get("plan_digest")
        known = {} if named is None else {"plan_digest": asked.get(named, NO_DIGEST)}
        answers[at] = guard.handle_line(json.dumps({**event, **known}).encode())
        digest = getattr(answers[at], "plan_digest", None)
        asked |= {} if digest is None else {"$LAST": digest, f"$FOR:{at}": digest}
    return answers


@pytest.mark.parametrize("is_kept", [False, True], ids=["alone", "in a log"])
def test_every_session_is_answered_as_it_says(is_kept: bool, tmp_path: Path) -> None:
    wrong = list[Any]()
    for number, run in enumerate(runs()):
        policy = build(Policy, run["policy"])
        place = tmp_path / f"log{number}"
        with Guard(policy, log=str(place) if is_kept else None) as guard:
            answers = played(guard, run["events"])
            if guard.is_open("s1"):
                guard.close("s1")
        for meant in run["answers"]:
            said = told(answers[meant["for"]])
            if any(said.get(name) != meant[name] for name in meant if name != "for"):
                wrong.append((run["name"], meant, said))
        if is_kept:
            with SqlDecisionLog.open(place) as log:
                odd = [one for one in replay(log) if one.status != "same"]
                wrong += [(run["name"], one) for one in odd]
                assert check_log(log) is not None
    assert not wrong
