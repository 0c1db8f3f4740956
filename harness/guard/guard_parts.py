"""Build the parts of a guard from values, paths or URLs."""

import os
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path
from typing import Any

from evals.escaping import escape_name
from harness.clock import SystemClock
from harness.guard.guard_rules import PolicyError
from harness.guard.recording import GuardLog
from harness.guard.session_journal import KeepsSessions
from harness.policy import Policy
from harness.runtime.ports import Clock

PathText = str | os.PathLike[str]
"""The path of a file, or the URL of a log."""


def policy_at(given: Policy | PathText) -> Policy:
    """Return a policy, or read it from the file at a path.

    Raises:
        InvalidPolicy, OSError: the file is not a policy, or cannot be read.
        PolicyError: it is neither a policy nor a path.
    """
    if isinstance(given, str | os.PathLike):
        from harness.policy import read_policy  # noqa: PLC0415 - who has a policy reads none

        return read_policy(Path(given))
    if not isinstance(given, Policy):
        raise PolicyError(f"policy is a Policy or the path of its file, {_show_given(given)}")
    return given


def log_at(given: GuardLog | PathText | None, opened: ExitStack) -> GuardLog | None:
    """Return a log, or open the one at a path or URL; `opened` closes that one.

    Raises:
        LogError: it is not a log, or cannot be opened.
        PolicyError: it is neither a log nor a place.
    """
    if isinstance(given, str | os.PathLike):
        from harness.log import SqlDecisionLog  # noqa: PLC0415 - who has a log opens none

        return opened.enter_context(closing(SqlDecisionLog.open(given)))
    if given is not None and not _has_method(given, "append"):
        hint = ": did you mean SqlDecisionLog.open(...)?" if isinstance(given, type) else ""
        raise PolicyError(f"log is a log, or its path or URL, {_show_given(given)}{hint}")
    return given


def clock_from(given: Clock | None) -> Clock:
    """Return a clock; by default, that of this machine.

    Raises:
        PolicyError: it has no `now`.
    """
    if given is None:
        return SystemClock()
    if not _has_method(given, "now") or isinstance(given, datetime):
        name = "FixedClock" if isinstance(given, datetime) else "SystemClock"
        name = escape_name(given.__name__) if isinstance(given, type) else name
        raise PolicyError(f"clock has a now(), {_show_given(given)}: did you mean {name}(...)?")
    return given


def keeper_of(log: GuardLog | None, given: KeepsSessions | None) -> KeepsSessions | None:
    """Return the place that keeps open sessions: the log if it can, else the other place.

    Raises:
        PolicyError: it cannot keep sessions, or a log of the guard keeps them already.
    """
    if given is None:
        return log if isinstance(log, KeepsSessions) else None
    if isinstance(given, type) or not isinstance(given, KeepsSessions):
        hint = ": did you mean SessionFolder(Path(...))?" if isinstance(given, str | Path) else ""
        what = f"sessions is a log or a SessionFolder, {_show_given(given)}{hint}"
        raise PolicyError(what)
    if log is not None and id(given) != id(log):
        raise PolicyError("a guard with a log keeps its sessions there: leave `sessions` out")
    return given


def _has_method(given: Any, name: str) -> bool:
    return not isinstance(given, type) and callable(getattr(given, name, None))


def _show_given(given: Any) -> str:
    if isinstance(given, type):
        return f"and the class {escape_name(given.__name__)} was given"
    return f"and {escape_name(type(given).__name__)} was given"
