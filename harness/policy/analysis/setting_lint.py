"""Find settings under which nothing is judged, asked or limited."""

from typing import Final

from critic import MODE_RANK
from critic.provenance.tool_words import stems_of_name, words_of_name
from evals.capability import Role
from evals.escaping import escape_name
from harness.policy.analysis.lint_finding import Findings, LintFinding
from harness.policy.analysis.policy_facts import PolicyFacts, ToolFacts

_NETWORK: Final = MODE_RANK["network"]
_ACTED_ON: Final = frozenset({"recipient", "object", "attribute", "secret"})
"""The roles of a call that does more than fetch."""
_DELEGATED: Final = MODE_RANK["delegated"]
_MOST_QUESTIONS: Final = 20
_MOST_OF_COMMAND_LINES: Final = 200
COMMAND_LINE_AGENTS: Final = frozenset({"claude-code", "codex", "cursor", "gemini", "qwen-code"})
"""The adapters of agents whose user sits before them, and is asked about many commands."""
_MOST_STEPS: Final = 10**5
_MOST_TOKENS: Final = 10**9


def lint_settings(facts: PolicyFacts) -> Findings:
    """Yield the findings about the guard and the spec."""
    yield from _provenance(facts)
    yield from _approval(facts)
    yield from _guard(facts)


def _provenance(facts: PolicyFacts) -> Findings:
    """Yield that sources are not judged, although a tool has roles or no other protection."""
    if facts.provenance is not None:
        return
    asked = facts.policy.spec.approval_required_from
    open_to_all = [
        one
        for one in facts.effects
        if one.tool.arg_roles
        or (not one.needed_classes and (asked is None or one.rank < MODE_RANK[asked]))
    ]
    with_roles = [one for one in (*open_to_all, *facts.tools) if one.tool.arg_roles]
    if open_to_all and not open_to_all[0].tool.arg_roles:
        message = (
            f"nothing asks where the values of {open_to_all[0].tool.called} come from: write "
            'provenance = "closed" and arg_roles'
        )
    elif with_roles:
        message = (
            f"{with_roles[0].tool.called} has arg_roles, and nothing asks where its values come "
            'from: write provenance = "closed"'
        )
    else:
        return
    yield LintFinding("provenance_off", "/spec", message)


def _approval(facts: PolicyFacts) -> Findings:
    """Yield that no call needs a person, although some act in their name without evidence."""
    spec = facts.policy.spec
    top = [one for one in facts.effects if one.rank >= _DELEGATED and not _is_proven(one)]
    if spec.approval_required_from is None and top:
        most = max(top, key=lambda one: one.rank)
        message = (
            f"no call of {most.tool.called} needs a person, whatever it does: write "
            f'approval_required_from = "{most.tool.approval_mode}"'
        )
        yield LintFinding("nobody_is_asked", "/spec", message)
    elif spec.approval_required_from is None and facts.policy.shell is not None:
        message = (
            "no command of a shell needs a person, not even one that is not understood: write "
            'approval_required_from = "destructive"'
        )
        yield LintFinding("nobody_is_asked", "/spec", message)


def _is_proven(one: ToolFacts) -> bool:
    """Return whether evidence decides about the calls of a tool, rather than roles."""
    return bool(one.needed_classes) and not one.tool.arg_roles


def _guard(facts: PolicyFacts) -> Findings:
    guard = facts.policy.guard
    if guard.shadow:
        message = "shadow lets every call run, and only records what it would refuse: remove it"
        yield LintFinding("shadow_on", "/guard/shadow", message)
    agents = any(one.tool.adapter_id in COMMAND_LINE_AGENTS for one in facts.tools)
    most = _MOST_OF_COMMAND_LINES if agents else _MOST_QUESTIONS
    if guard.max_questions > most:
        many = guard.max_questions
        message = f"max_questions is {many}, and nobody reads so many: write {most} at most"
        yield LintFinding("no_question_limit", "/guard/max_questions", message)
    if guard.budget is None:
        return
    for name, value, limit in (
        ("max_steps", guard.budget.max_steps, _MOST_STEPS),
        ("bucket_tokens", guard.budget.bucket_tokens, _MOST_TOKENS),
    ):
        if value > limit:
            message = f"{name} is {value}, which no session reaches: write what one needs"
            yield LintFinding("no_budget", f"/guard/budget/{name}", message)


def lint_scope(facts: PolicyFacts) -> Findings:
    """Yield the tools that run only if the request has all words of their names.

    Without any scope in the policy it is a note, since `open` may give one.
    """
    if facts.provenance != "closed":
        return
    scope = facts.policy.scope
    listed = frozenset(scope or ())
    for one in facts.effects:
        roles = set((one.tool.arg_roles or {}).values())
        fetches = "locator" in roles and not roles & _ACTED_ON
        if one.rank < _NETWORK or fetches or one.tool.follows or one.tool.called in listed:
            continue
        message = f"it runs only where {_describe_request(one, roles)}: add it to [guard] scope"
        yield one.report_finding("only_scope_allows", "", message, is_latent=scope is None)


def _describe_request(one: ToolFacts, roles: set[Role]) -> str:
    """Return the words that a request needs so that a tool outside the scope may run."""
    name = one.tool.capability_id
    words = [word for word in dict.fromkeys(words_of_name(name)) if stems_of_name(word)]
    shown = " and ".join(map(escape_name, words))
    said = f"the request has the word{'s' if len(words) > 1 else ''} {shown}" if words else ""
    named = "it names every recipient" if one.rank == _NETWORK and "recipient" in roles else ""
    return " or ".join(filter(None, (said, named))) or "open has a scope with it"
