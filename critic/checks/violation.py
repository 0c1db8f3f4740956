"""What a check finds, cheap to make, and how it becomes a violation that a verdict lists."""

from typing import Any, Final, NamedTuple

from critic.verdicts import Check, RefusalKind, Violation

_LONGEST_PATH: Final = 1000
"""Characters. The keys of args can have any length, and a path is in each of 1,000 violations."""


class Found(NamedTuple):
    """One reason to refuse, before it is listed. `path` is a JSON pointer into the plan."""

    check: Check
    kind: RefusalKind
    reason: str
    step: int | None
    path: str
    approvable: bool = False

    def violation(self) -> Violation:
        """Return it as a verdict lists it: the step is left out where the whole plan is meant.

        Where the path is over 1,000 characters, it is that of the nearest part of the plan around
        it with a shorter one.
        """
        optional: dict[str, Any] = {} if self.step is None else {"offending_step": self.step}
        if self.approvable:
            optional["approvable"] = True
        path = _shortened(self.path)
        return Violation(
            check=self.check, kind=self.kind, reason=self.reason, path=path, **optional
        )


def violation_of(
    check: Check,
    kind: RefusalKind,
    reason: str,
    step: int | None,
    path: str,
    *,
    approvable: bool = False,
) -> Found:
    """Return what a check found. `path` is a JSON pointer into the plan.

    `approvable`: an approval of this exact plan would clear it.
    """
    return Found(check, kind, reason, step, path, approvable)


def _shortened(path: str) -> str:
    if len(path) <= _LONGEST_PATH:
        return path
    return path[: path.rindex("/", 0, _LONGEST_PATH + 1)]
