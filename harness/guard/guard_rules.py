"""Reject a policy that does not fit the tools, or that nobody has confirmed."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from evals.escaping import escape_name
from harness.errors import HarnessError
from harness.guard.course_answers import OutOfPlace
from harness.policy import Policy


class PolicyError(HarnessError, ValueError):
    """The policy, names, log or clock given to a guard are invalid."""


class UnknownTool(PolicyError):
    """An agent has tools that its policy lacks: each call of them would be refused."""


def require_known(known: Collection[str], names: Iterable[str]) -> None:
    """Reject tools that a policy lacks.

    Raises:
        UnknownTool: there are some; the message lists them with the nearest names and the fix.
    """
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if unknown:
        shown = ", ".join(_show_unknown(name, known) for name in unknown)
        raise UnknownTool(f"the policy has no tool {shown}: add it, or take it from the agent")


def choose_scope(
    known: Collection[str], asked: Sequence[str] | None, otherwise: tuple[str, ...] | None
) -> Sequence[str] | None:
    """Return the tools that a request is for: its own scope, else that of the policy.

    Raises:
        OutOfPlace: it names a tool that the policy lacks.
    """
    for index, name in enumerate(asked or ()):
        if name not in known:
            shown = _show_unknown(name, known)
            what = f"the policy has no tool {shown}: scope takes names of its tools"
            raise OutOfPlace(f"/scope/{index}", what)
    return otherwise if asked is None else asked


def require_scope(known: Collection[str], scope: Any) -> None:
    """Reject a scope with names that a policy lacks. None passes.

    Raises:
        PolicyError: it is not a list of names, or has unknown ones; with the nearest names.
    """
    if scope is None:
        return
    if isinstance(scope, str) or not isinstance(scope, Iterable):
        given = f"the text {escape_name(scope)}" if isinstance(scope, str) else "something else"
        raise PolicyError(f"scope is a list of names of tools, and {given} was given")
    names = [name if isinstance(name, str) else repr(name) for name in scope]
    if unknown := [name for name in dict.fromkeys(names) if name not in known]:
        shown = ", ".join(_show_unknown(name, known) for name in unknown)
        raise PolicyError(f"scope names {shown}, and the policy has no such tool: correct it")


def _show_unknown(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, 1)
    return escape_name(name) + (f" (did you mean {escape_name(near[0])}?)" if near else "")


def require_confirmed(policy: Policy, *, strict: bool) -> None:
    """Reject a policy with guesses, if `strict`.

    Raises:
        PolicyError: it has some; the message has the first one and the fix.
    """
    guessed = policy.guessed if strict else None
    if guessed:
        count = f"{len(guessed)} guess{'' if len(guessed) == 1 else 'es'}"
        raise PolicyError(
            f"the policy has {count} that nobody has confirmed, the first at "
            f"{escape_name(guessed[0])}: check each, and delete its comment"
        )
