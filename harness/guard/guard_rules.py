"""Turn a policy into what its sessions are judged by."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

from critic.session import SessionRules, SessionTool
from evals.escaping import escape_name
from harness.errors import HarnessError
from harness.policy import SESSION_BUDGET, Policy


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


def rules_of(policy: Policy) -> SessionRules:
    """Return the rules of all sessions under a policy. Make them once: schemas are compiled.

    Raises:
        ValueError: the policy gives evidence an id, or a class a name, that sessions give.
    """
    expiries = policy.expiries()
    tools = {
        name: SessionTool.of(
            tool.capability,
            result_class=tool.result_class,
            expires_after_s=expiries.get(tool.pair),
        )
        for name, tool in policy.tools.items()
    }
    return SessionRules(
        digest=policy.digest(),
        tools=tools,
        spec=policy.spec,
        safety_mode=policy.guard.safety_mode,
        default_budget=SESSION_BUDGET,
        budget=policy.guard.budget,
        classes=policy.classes,
        record_fields=policy.record_fields,
        evidence=policy.evidence,
    )
