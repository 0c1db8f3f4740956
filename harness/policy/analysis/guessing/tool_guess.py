"""Guess all labels of one tool, with the reasons."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from harness.policy.analysis.guessing.guess_tables import KIND_WORDS
from harness.policy.analysis.guessing.result_guess import ResultGuess, guess_result, is_web
from harness.policy.analysis.guessing.role_guess import RoleGuess, guess_roles, traits_of
from harness.policy.analysis.guessing.tier_guess import (
    TierGuess,
    guess_tier,
    snake_case,
    words_of,
)
from harness.policy.analysis.named_labels import holds_sentences

_MAKING: Final = frozenset({"create"})
"""What fails where there is such a file. To write or save one replaces it."""


class ToolDescription(NamedTuple):
    """The description of a tool before anybody has decided anything.

    Attributes:
        args: the schema of each argument by its name.
        returns: the JSON Schema of its results; None if it is unknown.
        hints_at_destruction: whether its server hints at it.
        needs_approval: whether its framework asks a person before each call.
    """

    name: str
    description: str = ""
    args: Mapping[str, Any] = {}
    returns: Any = None
    hints_at_destruction: bool = False
    needs_approval: bool = False


class ToolGuess(NamedTuple):
    """The guessed labels of a tool.

    Attributes:
        kinds: the kinds of arguments whose names tell them.
        makes: the arguments that name a new file of the agent.
        is_read: whether a person has to say who writes its results.
    """

    tier: TierGuess
    roles: Mapping[str, RoleGuess]
    kinds: Mapping[str, str]
    result: ResultGuess
    makes: Mapping[str, str]
    is_read: bool


def guess_labels(tool: ToolDescription) -> ToolGuess:
    """Return the labels of a tool, none laxer than its description supports."""
    tier = guess_tier(
        tool.name, tool.description, tool.args, hints_at_destruction=tool.hints_at_destruction
    )
    if tool.needs_approval:
        tier = TierGuess("destructive", "its framework asks for approval")
    web = is_web(tool.name, tool.description, tool.args)
    traits = traits_of(tool.name, is_read=tier.is_read, is_web=web)
    roles, kinds = guess_roles(traits, tool.args)
    makes = {
        name: "path"
        for name, found in roles.items()
        if found.role == "object"
        and tier.tier == "local_write"
        and next(iter(words_of(tool.name)), "") in _MAKING
        and KIND_WORDS["path"].fullmatch(snake_case(name))
    }
    result = guess_result(tool.name, tool.returns, deals_with_web=web)
    if holds_sentences(tuple(words_of(tool.name))):
        result = result._replace(author="public")  # its policy does not say that it is a number
    return ToolGuess(tier, roles, kinds, result, makes, traits.is_read)
