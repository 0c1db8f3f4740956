"""The manifests of a CompiledContext as an index, built once and kept beside the context.

Rule 1: plain dicts of plain values, so `verify` costs the same against ten tools and a hundred
        thousand.
Rule 2: what the index answers is true of the context as it is now. Fields of an envelope never
        change; the JSON inside them (a schema, bindings, evidence content) can be edited in place,
        so the index refers to it, and what it derives from it is checked whenever it is used.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

import orjson

from evals.capability import Binding, Demand, Role, ToolCapability, least_tokens
from evals.json_schemas import CompiledSchema, compile_schema
from evals.kinds import MODE_RANK, ApprovalMode
from evals.manifest import CompiledContext, EvidenceItem, Manifests
from evals.side_table import Beside
from evals.timestamps import is_unexpired

# Traits are bits that say which checks a step makes necessary, so that a plan pays for no others.
# The lowest five are the approval mode, 1 << rank, so that any mode above a limit shows at once.
HAS_ARGS_SCHEMA: Final = 1 << 5
NEEDS_EVIDENCE: Final = 1 << 6
PRODUCES_ANYTHING: Final = 1 << 7
NOT_IN_MANIFEST: Final = 1 << 8
NO_ARGS_SCHEMA: Final = 1 << 9
BOUND: Final = 1 << 10
DEMANDS_CONTENT: Final = 1 << 11


@dataclass(slots=True, eq=False)
class ToolEntry:
    """One capability, as the checks need it. It has slots, since every check reads it per step."""

    name: str
    """For messages only. Joined names collide, so nothing is ever looked up by it."""
    mode: ApprovalMode
    rank: int
    capability: ToolCapability | None
    needs: frozenset[str]
    """The classes of evidence that it requires, whether or not the content matters too."""
    bound_args: Mapping[str, tuple[str, ...] | Binding]
    args_schema: Any
    produces: frozenset[str]
    least_tokens: int
    traits: int
    leaves_args_unchecked: bool = field(default=False, init=False)
    """Whether there is no `args_schema`, or one that accepted any args when it was last asked."""
    _compiled: tuple[bytes, CompiledSchema] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Say that nothing is checked where there is a tool without a schema."""
        self.leaves_args_unchecked = bool(self.traits & NO_ARGS_SCHEMA)

    def validator(self) -> CompiledSchema | None:
        """Return the compiled `args_schema`, or None where there is none.

        It is kept, and compiled again when the schema has been edited in place.

        Raises:
            Exception: an edit left something that is not a JSON Schema.
        """
        if self.args_schema is None:
            return None
        written, compiled = orjson.dumps(self.args_schema), self._compiled
        if compiled is None or compiled[0] != written:
            compiled = self._compiled = written, compile_schema(self.args_schema)
            self.leaves_args_unchecked = compiled[1].accepts_every_object
        return compiled[1]


NO_TOOL: Final = ToolEntry(
    "", "read_only", -1, None, frozenset(), {}, None, frozenset(), 0, PRODUCES_ANYTHING
)
"""The tool of a reason step: it has no effect and no demands, and may produce any output."""

_UNKNOWN_TOOL: Final = replace(NO_TOOL, traits=PRODUCES_ANYTHING | NOT_IN_MANIFEST)
"""The tool of a step that calls what is not in the manifest. The surface check refuses it."""


class _Tools(dict[tuple[str, str], ToolEntry]):
    """Tools by (adapter_id, capability_id). A pair that is missing gives the unknown tool."""

    def __missing__(self, _call: tuple[str, str]) -> ToolEntry:
        return _UNKNOWN_TOOL


class Surface(NamedTuple):
    """Tools by (adapter_id, capability_id); evidence by id, and the class of each piece of it.

    `expiries` says when the evidence that expires does so. `listed` holds the outputs that some
    capability lists in `produces`, `producers` the tools that list each of them, `by_class` the
    evidence of each class, in the order of the manifest. `roles` are those of all tools that have
    any: together they say whether there are roles.
    """

    tools: _Tools
    evidence: Mapping[str, EvidenceItem]
    classes: Mapping[str, str]
    expiries: Mapping[str, datetime]
    listed: frozenset[str]
    producers: Mapping[str, list[tuple[str, str]]]
    by_class: Mapping[str, list[EvidenceItem]]
    manifests: Manifests
    roles: tuple[Mapping[str, Role], ...]

    def class_at(self, as_of: datetime | None) -> Callable[[str], str | None]:
        """Return what tells the class that a pinned ref proves, at one time.

        None is the answer for a ref that is not in the manifest, and for expired evidence.
        """
        if not self.expiries:
            return self.classes.get

        def class_of(ref: str) -> str | None:
            return self.classes.get(ref) if is_unexpired(self.expiries.get(ref), as_of) else None

        return class_of


_KEPT: Final = Beside[Surface]()


def kept_surface(compiled: CompiledContext) -> Surface:
    """Return the index that decides: built at the first call, the same object at later ones.

    It is never handed out. It is kept beside the context: copying, dumping or pickling the context
    in another thread meanwhile is safe, copies start without it, and a holder of the context
    cannot reach it.
    """
    return _KEPT.get(compiled) or _KEPT.keep(compiled, surface_of(compiled))


def surface_of(compiled: CompiledContext) -> Surface:
    """Return a new index of a context, which the caller may look at and change."""
    return _build_surface(compiled)


def _build_surface(compiled: CompiledContext) -> Surface:
    manifests = compiled.manifests
    tools = _Tools({key: _make_entry(entry) for key, entry in manifests.tools.items()})
    items = manifests.evidence_manifest
    classes = {item.id: item.classification for item in items}
    expiries = {item.id: item.expires_at for item in items if item.expires_at is not None}
    producers: dict[str, list[tuple[str, str]]] = {}
    for call, tool in tools.items():
        for output in tool.produces:
            producers.setdefault(output, []).append(call)
    by_class: dict[str, list[EvidenceItem]] = {}
    for item in items:
        by_class.setdefault(item.classification, []).append(item)
    # Kept as they are, even empty: more can be added in place.
    roles = tuple(one.arg_roles for one in manifests.tool_manifest if one.arg_roles is not None)
    listed = frozenset(producers)
    return Surface(
        tools=tools,
        evidence=manifests.evidence,
        classes=classes,
        expiries=expiries,
        listed=listed,
        producers=producers,
        by_class=by_class,
        manifests=manifests,
        roles=roles,
    )


def _make_entry(entry: ToolCapability) -> ToolEntry:
    rank = MODE_RANK[entry.approval_mode]
    # Bindings count even where there are none yet: more can be added in place.
    binds = entry.bound_args is not None
    required = entry.requires_evidence or ()
    needs_evidence = NEEDS_EVIDENCE if required or binds else 0
    demands = any(isinstance(each, Demand) for each in required)
    produces_anything = PRODUCES_ANYTHING if entry.produces is None else 0
    return ToolEntry(
        name=f"{entry.adapter_id}.{entry.capability_id}",
        mode=entry.approval_mode,
        rank=rank,
        capability=entry,
        needs=frozenset(each.class_ if isinstance(each, Demand) else each for each in required),
        bound_args={} if entry.bound_args is None else entry.bound_args,
        args_schema=entry.args_schema,
        produces=frozenset(entry.produces or ()),
        least_tokens=least_tokens(entry),
        traits=1 << rank
        | (NO_ARGS_SCHEMA if entry.args_schema is None else HAS_ARGS_SCHEMA)
        | needs_evidence
        | produces_anything
        | (BOUND if binds else 0)
        | (DEMANDS_CONTENT if demands else 0),
    )
