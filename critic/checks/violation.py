"""Findings of a check, cheap to make and to count, and how they become violations of a verdict."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from critic.checks.grounds import Ground
from evals.kinds import Check, RefusalKind
from evals.plan_verdicts import Violation

_LONGEST_PATH: Final = 1000
"""Characters. The keys of args can have any length, and a path is in each of 1,000 violations."""


class Wording(NamedTuple):
    """What a violation says: its reason, a JSON pointer into the plan, and the facts behind it."""

    reason: str
    path: str
    ground: Ground


class Found(NamedTuple):
    """One reason to refuse, before it is listed. It is put into words only if it is listed.

    `approvable`: an approval of this exact plan would clear it. `stale` is the id of an item that
    has expired and that would say what is missing.
    """

    check: Check
    kind: RefusalKind
    step: int | None
    words: Callable[[], Wording]
    approvable: bool = False
    stale: str | None = None

    def violation(self) -> Violation:
        """Return it as a verdict lists it: the step is left out where the whole plan is meant.

        Where the path is over 1,000 characters, it is that of the nearest part of the plan around
        it with a shorter one.
        """
        reason, path, _ = self.words()
        fields: dict[str, Any] = {"check": self.check, "kind": self.kind, "reason": reason}
        fields["path"] = _shorten_path(path)
        if self.step is not None:
            fields["offending_step"] = self.step
        if self.approvable:
            fields["approvable"] = True
        if self.stale is not None:
            fields["stale"] = self.stale
        # Validated as the constructor does, without its step for None, which takes as long.
        listed: Violation = Violation.__pydantic_validator__.validate_python(fields)
        return listed


def _shorten_path(path: str) -> str:
    if len(path) <= _LONGEST_PATH:
        return path
    return path[: path.rindex("/", 0, _LONGEST_PATH + 1)]
