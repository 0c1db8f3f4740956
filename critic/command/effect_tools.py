"""The effects of shell commands as ordinary tools, which a plan calls and the checks judge.

Rule 1: the effects are closed. `write_protected` is the tool of no policy: nothing clears it.
Rule 2: what the user did not ask for stands under `object`, and only there. So provenance judges
        it, and a yes to it is of that value, for that effect, and is found again by equality.
Rule 3: no effect takes `carries`, which names confidential data that would get to the network.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from critic.command.path_effects import TIERS
from critic.command.steps import RUN_KINDS
from evals.capability import ToolCapability
from evals.kinds import ApprovalMode
from evals.plan import SHELL_ADAPTER

CARRIES: Final = "carries"
"""The argument that no effect takes."""

_RUNS: Final = (*RUN_KINDS, "script")

EFFECT_TIERS: Final[Mapping[str, ApprovalMode]] = MappingProxyType(
    {
        name: tier
        for effect, tier in TIERS.items()
        for name in (
            [f"run.{kind}" for kind in _RUNS]
            if effect == "run"
            else []
            if effect == "write_protected"
            else [effect]
        )
    }
)
"""The effects that a policy can have, with their tiers as shipped."""

_SCHEMA: Final[Mapping[str, Any]] = MappingProxyType(
    {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            name: {}
            for name in (
                *("command", "content", "folder", "host", "object", "package", "path"),
                *("script", "why"),
            )
        },
    }
)


def effect_tools(tiers: Mapping[str, ApprovalMode]) -> tuple[ToolCapability, ...]:
    """Return the tools of all effects.

    Args:
        tiers: those that a policy gives to some effects; the others have the shipped ones.
    """
    return tuple(
        ToolCapability(
            adapter_id=SHELL_ADAPTER,
            capability_id=name,
            approval_mode=tiers.get(name, tier),
            args_schema={**_SCHEMA},
            arg_roles={"object": "object", **({"content": "content"} if name == "send" else {})},
            may_be_empty=("object",),
        )
        for name, tier in EFFECT_TIERS.items()
    )
