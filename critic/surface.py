"""The manifests of a CompiledContext as an index, built once and kept with the context.

Plain dicts of plain values: `verify` costs the same against ten tools and a hundred thousand.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final, NamedTuple

from jsonschema_rs import Draft202012Validator

from evals.context import CompiledContext, EvidenceItem, ToolCapability
from evals.envelope import MODE_RANK, ApprovalMode
from evals.schemas import compile_schema

# Traits: bits that say which checks a step makes necessary, so that a plan pays for no others.
# The lowest five are the approval mode, 1 << rank, so that any mode above a limit shows at once.
SCHEMED: Final = 1 << 5
EVIDENCED: Final = 1 << 6
UNTRACED: Final = 1 << 7
OUTSIDE: Final = 1 << 8
UNSCHEMED: Final = 1 << 9

_KEPT_AS = "_surface"


class Tool(NamedTuple):
    """One capability, as the checks need it."""

    name: str
    """For messages only: joined names collide, so nothing is ever looked up by it."""
    mode: ApprovalMode
    rank: int
    requires: tuple[str, ...]
    bound_args: Mapping[str, tuple[str, ...]]
    validator: Draft202012Validator | None
    produces: frozenset[str]
    min_tokens: int
    traits: int


NO_TOOL: Final = Tool("", "read_only", -1, (), {}, None, frozenset(), 0, UNTRACED)
"""Stands beside a reason step: no effect, no demands, and any output may come of it."""

UNKNOWN_TOOL: Final = NO_TOOL._replace(traits=UNTRACED | OUTSIDE)
"""Stands beside a step outside the surface, which the surface check refuses."""


class Surface(NamedTuple):
    """Tools by (adapter_id, capability_id), evidence by id.

    `timeless` gives the class of the evidence that never expires, `expiring` class and expiry of
    the rest: most evidence checks need nothing beyond.
    """

    tools: dict[tuple[str, str], Tool]
    evidence: Mapping[str, EvidenceItem]
    timeless: dict[str, str]
    expiring: dict[str, tuple[str, datetime]]


def surface_of(compiled: CompiledContext) -> Surface:
    """The index of a context: built at the first call, the same object at every later one."""
    kept: Surface | None = compiled.__dict__.get(_KEPT_AS)
    if kept is None:
        manifests = compiled.manifests
        tools = {key: _tool(entry) for key, entry in manifests.tools.items()}
        timeless: dict[str, str] = {}
        expiring: dict[str, tuple[str, datetime]] = {}
        for item in manifests.evidence_manifest:
            if item.expires_at is None:
                timeless[item.id] = item.classification
            else:
                expiring[item.id] = (item.classification, item.expires_at)
        kept = Surface(tools, manifests.evidence, timeless, expiring)
        compiled.__dict__[_KEPT_AS] = kept
    return kept


def _tool(entry: ToolCapability) -> Tool:
    rank = MODE_RANK[entry.approval_mode]
    schemed = entry.args_schema is not None
    evidenced = EVIDENCED if entry.requires_evidence or entry.bound_args else 0
    untraced = UNTRACED if entry.produces is None else 0
    return Tool(
        name=f"{entry.adapter_id}.{entry.capability_id}",
        mode=entry.approval_mode,
        rank=rank,
        requires=entry.requires_evidence or (),
        bound_args=entry.bound_args or {},
        validator=compile_schema(entry.args_schema) if schemed else None,
        produces=frozenset(entry.produces or ()),
        min_tokens=entry.min_tokens or 0,
        traits=1 << rank | (SCHEMED if schemed else UNSCHEMED) | evidenced | untraced,
    )
