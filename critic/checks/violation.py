"""Make a violation: the step is left out where the whole plan is meant."""

from critic.verdicts import Check, RefusalKind, Violation


def violation_of(
    check: Check, kind: RefusalKind, reason: str, step: int | None, path: str
) -> Violation:
    """Return the violation. `path` is a JSON pointer into the plan."""
    if step is None:
        return Violation(check=check, kind=kind, reason=reason, path=path)
    return Violation(check=check, kind=kind, reason=reason, offending_step=step, path=path)
