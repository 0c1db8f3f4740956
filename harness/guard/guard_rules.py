"""Refuse to guard by a policy that is not meant for these tools, or that nobody has confirmed."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from evals.escaping import escape_name
from harness.errors import HarnessError
from harness.guard.course import OutOfPlace
from harness.policy import Policy


class UnknownTool(HarnessError, ValueError):
    """An agent has tools that its policy does not know: each call of them would be refused."""


def require_known(known: Collection[str], names: Iterable[str]) -> None:
    """Refuse tools that a policy does not know.

    Raises:
        UnknownTool: there are some, with all of them, the nearest names, and what to do.
    """
    unknown = [name for name in dict.fromkeys(names) if name not in known]
    if unknown:
        shown = ", ".join(_show_unknown(name, known) for name in unknown)
        raise UnknownTool(f"the policy has no tool {shown}: add it, or take it from the agent")


def choose_scope(
    known: Collection[str], asked: Sequence[str] | None, otherwise: tuple[str, ...] | None
) -> Sequence[str] | None:
    """Return the tools that a request is for: those that it says, else those of the policy.

    Raises:
        OutOfPlace: it says one that the policy does not know.
    """
    for index, name in enumerate(asked or ()):
        if name not in known:
            shown = _show_unknown(name, known)
            what = f"the policy has no tool {shown}: scope takes names of its tools"
            raise OutOfPlace(f"/scope/{index}", what)
    return otherwise if asked is None else asked


def _show_unknown(name: str, known: Collection[str]) -> str:
    near = get_close_matches(name, known, 1)
    return escape_name(name) + (f" (did you mean {escape_name(near[0])}?)" if near else "")


def require_confirmed(policy: Policy) -> None:
    """Refuse a policy with guesses.

    Raises:
        ValueError: it has some, with the first and what to do.
    """
    if guessed := policy.guessed:
        count = f"{len(guessed)} guess{'' if len(guessed) == 1 else 'es'}"
        raise ValueError(
            f"the policy has {count} that nobody has confirmed, the first at "
            f"{escape_name(guessed[0])}: check each, and delete its comment"
        )
