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
events of `harness.loops.code.code_events`, which lists them in their order;
`critic loop --format json` prints the same events, one JSON object a line.
`load(sessions_folder(), loop.session)` reads the record back.
"""

from typing import TYPE_CHECKING

from evals.front import lazy_front

if TYPE_CHECKING:
    from harness.loops.code.code_errors import CodeLoopError
    from harness.loops.code.code_events import CodeLoopEvent, ProgressListener
    from harness.loops.code.code_loop import CodeLoop
    from harness.loops.code.session_files import (
        DamagedSession,
        RecordedSession,
        load,
        sessions_folder,
    )
    from harness.loops.code.session_lines import GateRules, SessionEnd, SessionOutcome
    from harness.loops.code.session_opening import UnreviewedChanges, open_session, resume_session
    from harness.loops.code.session_recorder import CodeLoopJob

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

if not TYPE_CHECKING:  # so that a misspelt name stays an error to a type checker
    __getattr__ = lazy_front(
        __name__,
        {
            "harness.loops.code.code_errors": "CodeLoopError",
            "harness.loops.code.code_events": "CodeLoopEvent ProgressListener",
            "harness.loops.code.code_loop": "CodeLoop",
            "harness.loops.code.session_files": (
                "DamagedSession RecordedSession load sessions_folder"
            ),
            "harness.loops.code.session_lines": "GateRules SessionEnd SessionOutcome",
            "harness.loops.code.session_opening": "UnreviewedChanges open_session resume_session",
            "harness.loops.code.session_recorder": "CodeLoopJob",
        },
    )


def __dir__() -> list[str]:
    return sorted(__all__)
