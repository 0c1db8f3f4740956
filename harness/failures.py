"""Describe an exception, and say what it means for the call that raised it.

Rule 1: only what is known not to have happened is `failed`. A retry of a failed call needs no
        idempotency key, so a guess could do the same thing twice.
Rule 2: describing an exception never raises, even if the methods of its class do.
"""

from typing import Final

from evals.capability import ToolCapability
from evals.escaping import escape_name
from evals.run import CallStatus
from harness.errors import HarnessError

_LONGEST_NAME: Final = 100

# `type(error).__name__` asks the metaclass, which may raise; these read the class itself.
_read_name: Final = type.__dict__["__name__"].__get__
_read_bases: Final = type.__dict__["__mro__"].__get__


class ToolNotRun(HarnessError):
    """Raise it in a tool function, or derive from it, to say that the call had no effect.

    Such a call is recorded as `failed`, and may be retried without an idempotency key.
    """


def type_name(kind: type) -> str:
    """Return the name of a class: safe to print, at most 100 characters."""
    return escape_name(_read_name(kind))[:_LONGEST_NAME]


def class_name(error: BaseException) -> str:
    """Return the name of the exception's class: safe to print, at most 100 characters."""
    return type_name(type(error))


def describe_failure(error: Exception) -> str:
    """Return a failure on one line that is safe to print: our own errors by their words alone."""
    return str(error) if isinstance(error, HarnessError) else describe_error(error)


def describe_error(error: BaseException) -> str:
    """Return the class and the message of an exception on one line, safe to print."""
    try:
        message = escape_name(str(error))
    except BaseException:  # what a broken `__str__` raises says nothing about the call
        return class_name(error)
    return f"{class_name(error)}: {message}"


def call_status(error: Exception, tool: ToolCapability | None) -> CallStatus:
    """Return the status of a call whose function raised `error`.

    Args:
        error: what the function raised once it was called.
        tool: the capability; None is treated as one that may do anything.
    """
    if _is_timeout(error):
        return "timed_out"
    has_no_effect = tool is not None and tool.approval_mode == "read_only"
    return "failed" if has_no_effect or isinstance(error, ToolNotRun) else "unknown"


def _is_timeout(error: BaseException) -> bool:
    """Return whether the exception, or a class it derives from, is named as a time-out.

    Libraries have time-outs of their own, such as `httpx.ReadTimeout`, which do not derive from
    TimeoutError.
    """
    names = [_read_name(base).lower() for base in _read_bases(type(error))]
    return any("timeout" in name or "timedout" in name for name in names)
