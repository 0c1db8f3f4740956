"""The manifests of a CompiledContext as an index, built once and kept with the context.

Plain dicts of plain values: `verify` costs the same against ten tools and a hundred thousand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple

from jsonschema_rs import Draft202012Validator

from evals.context import CompiledContext, EvidenceItem, ToolCapability
from evals.envelope import MODE_RANK, ApprovalMode
from evals.schemas import compile_schema

# Traits: bits that say which checks a step makes necessary, so that a plan pays for no others.
# The lowest five are the approval mode, 1 << rank, so that any mode above a limit shows at once.
HAS_ARGS_SCHEMA: Final = 1 << 5
NEEDS_EVIDENCE: Final = 1 << 6
PRODUCES_ANYTHING: Final = 1 << 7
NOT_IN_MANIFEST: Final = 1 << 8
UNSCHEMED: Final = 1 << 9
BOUND: Final = 1 << 10

_KEPT_AS = "_surface"


@dataclass(slots=True, eq=False)
class ToolEntry:
    """One capability, as the checks need it. Slots, since every check reads them at every step."""

    name: str
    """For messages only: joined names collide, so nothing is ever looked up by it."""
    mode: ApprovalMode
    rank: int
    requires: tuple[str, ...]
    needs: frozenset[str]
    bound_args: Mapping[str, tuple[str, ...]]
    validator: Draft202012Validator | None
    produces: frozenset[str]
    min_tokens: int
    traits: int


NO_TOOL: Final = ToolEntry(
    "", "read_only", -1, (), frozenset(), {}, None, frozenset(), 0, PRODUCES_ANYTHING
)
"""Stands beside a reason step: no effect, no demands, and any output may come of it."""

UNKNOWN_TOOL: Final = replace(NO_TOOL, traits=PRODUCES_ANYTHING | NOT_IN_MANIFEST)
"""Stands beside a step outside the surface, which the surface check refuses."""


class Tools(dict[tuple[str, str], ToolEntry]):
    """Tools by (adapter_id, capability_id). Whatever is not in it is the unknown tool."""

    def __missing__(self, _call: tuple[str, str]) -> ToolEntry:
        return UNKNOWN_TOOL


Pin = tuple[str | None, datetime | None]
"""What pinning a piece of evidence is worth: its class, and until when."""

NO_PIN: Final[Pin] = (None, None)
"""The pin of a ref that is not in the manifest."""


class Surface(NamedTuple):
    """Tools by (adapter_id, capability_id); evidence by id, whole and as a pin."""

    tools: Tools
    evidence: Mapping[str, EvidenceItem]
    pins: dict[str, Pin]


def surface_of(compiled: CompiledContext) -> Surface:
    """The index of a context: built at the first call, the same object at every later one."""
    kept: Surface | None = compiled.__dict__.get(_KEPT_AS)
    if kept is None:
        manifests = compiled.manifests
        tools = Tools({key: _tool(entry) for key, entry in manifests.tools.items()})
        pins: dict[str, Pin] = {
            item.id: (item.classification, item.expires_at) for item in manifests.evidence_manifest
        }
        kept = Surface(tools, manifests.evidence, pins)
        compiled.__dict__[_KEPT_AS] = kept
    return kept


def _tool(entry: ToolCapability) -> ToolEntry:
    rank = MODE_RANK[entry.approval_mode]
    schemed = entry.args_schema is not None
    evidenced = NEEDS_EVIDENCE if entry.requires_evidence or entry.bound_args else 0
    untraced = PRODUCES_ANYTHING if entry.produces is None else 0
    bound = BOUND if entry.bound_args else 0
    return ToolEntry(
        name=f"{entry.adapter_id}.{entry.capability_id}",
        mode=entry.approval_mode,
        rank=rank,
        requires=entry.requires_evidence or (),
        needs=frozenset(entry.requires_evidence or ()),
        bound_args=entry.bound_args or {},
        validator=compile_schema(entry.args_schema) if schemed else None,
        produces=frozenset(entry.produces or ()),
        min_tokens=entry.min_tokens or 0,
        traits=1 << rank
        | (HAS_ARGS_SCHEMA if schemed else UNSCHEMED)
        | evidenced
        | untraced
        | bound,
    )
