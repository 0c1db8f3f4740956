"""The code loop: an actor changes a working directory, gates and a critic judge the change.

    job = CodeLoopJob(
        task="fix the failing tests",
        folder=Path("."),
        actor=("my-agent", "--write"),
        critic=("my-agent", "--read-only"),
        max_iterations=3,
        timeout=3600.0,
        gate=GateRules(commands=(("pytest", "-q"),), protected=("tests/",), timeout=600.0),
    )
    with open_session(job, listener=MyListener()) as loop:
        end = asyncio.run(loop.run())
    print(loop.session, end.outcome)

`resume_session(session)` goes on with a session that did not end in success. A listener gets the
events of `harness.codeloop.events`, which lists them in their order; `critic loop --format json`
prints the same events, one JSON object a line. `load(sessions_folder(), loop.session)` reads the
record back.
"""

from harness.codeloop.errors import CodeLoopError
from harness.codeloop.events import CodeLoopEvent, ProgressListener
from harness.codeloop.loop import CodeLoop
from harness.codeloop.opening import UnreviewedChanges, open_session, resume_session
from harness.codeloop.record import GateRules, SessionEnd, SessionOutcome
from harness.codeloop.session_recorder import CodeLoopJob
from harness.codeloop.sessions import DamagedSession, RecordedSession, load, sessions_folder

__all__ = [
    "CodeLoop",
    "CodeLoopError",
    "CodeLoopEvent",
    "CodeLoopJob",
    "DamagedSession",
    "GateRules",
    "ProgressListener",
    "RecordedSession",
    "SessionEnd",
    "SessionOutcome",
    "UnreviewedChanges",
    "load",
    "open_session",
    "resume_session",
    "sessions_folder",
]
