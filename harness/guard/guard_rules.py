"""Turn a policy into what its sessions are judged by."""

from critic.session import SessionRules, SessionTool
from evals.escaping import escape_name
from harness.policy import SESSION_BUDGET, Policy


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
