"""What came of one session in a scene, so that it can be compared with what comes of it alone."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from critic import Refused
from harness.record import Decision
from harness.testing._seams.scene import Scene, Trace

_SUFFIX: Final = re.compile(r"\.[0-9a-f]{32}$")
"""What an integration may add to the name of a session, so that it is not there yet."""


class SceneOutcome(NamedTuple):
    """What came of one session: what ran, who was asked, what was told and what is recorded.

    What may run side by side is sorted.
    """

    ran: tuple[str, ...]
    asked: tuple[tuple[str, ...], ...]
    told: Mapping[str, str]
    said: str | None
    ended: str
    recorded: tuple[Any, ...]

    def rename(self, names: Mapping[str, str]) -> "SceneOutcome":
        """Return what comes of the same calls with other ids. Of two that get one, the renamed."""
        kept = {name: words for name, words in self.told.items() if name not in names}
        given = {names[name]: words for name, words in self.told.items() if name in names}
        return self._replace(
            asked=tuple(tuple(sorted(names.get(one, one) for one in ids)) for ids in self.asked),
            told={**kept, **given},
        )


def find_outcome(scene: Scene, trace: Trace, decisions: Iterable[Decision]) -> SceneOutcome:
    """Return what came of the session of a scene."""
    asked = [line.split()[1:] for line in scene.journal if line.startswith("asked")]
    return SceneOutcome(
        ran=tuple(sorted(scene.ran)),
        asked=tuple(tuple(sorted(ids)) for ids in asked),
        told=dict(trace.told),
        said=trace.said,
        ended=type(trace.ended).__name__,
        recorded=tuple(
            _decision_parts(one) for one in decisions if _session_of(one) == scene.session
        ),
    )


def _session_of(decision: Decision) -> str:
    return _SUFFIX.sub("", decision.proposal.ctx.trace_id)


def _decision_parts(decision: Decision) -> Any:
    calls = () if decision.run is None else decision.run.calls
    ended = sorted((one.capability_id, str(one.args), one.status, one.error) for one in calls)
    verdict = decision.report.verify
    kind = verdict.kind if isinstance(verdict, Refused) else "verified"
    return kind, [step.wire() for step in decision.proposal.plan.steps], ended
