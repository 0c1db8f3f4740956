"""The rules of all sessions of one policy: tools by the names that agents use, and limits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from critic.session.session_values import CallValues, FieldTables, denied_by
from evals.capability import ToolCapability, ToolName
from evals.context import RunBudget
from evals.kinds import ApprovalMode
from evals.manifest import CompiledContext, EvidenceClass, EvidenceItem, Manifests
from evals.needs import needs_of
from evals.plan import Plan, ToolStep, parts_by_command
from evals.spec import DecisionSpec

if TYPE_CHECKING:
    from critic.session.shell_rules import ShellRules

CALL_ID, USER_ID, OPERATOR_ID = "call/", "user/", "operator/"
RESERVED_IDS: Final = (CALL_ID, USER_ID, OPERATOR_ID)
"""How the ids of evidence begin that a session makes itself."""
FAILED_CLASS: Final = "failed_result"
"""The class of what a call returned that did not complete. The policy cannot change it."""

_TOOL_CLASS, _OTHER_CLASS = "result:", "result"


def is_default_class(name: str) -> bool:
    """Return whether results take a class that are no item of the class that their tool yields.

    A policy says nothing of the fields of such a class: nothing promises them.
    """
    return name in (FAILED_CLASS, _OTHER_CLASS) or name.startswith(_TOOL_CLASS)


@dataclass(frozen=True, slots=True)
class SessionTool:
    """A tool as a session sees it.

    Attributes:
        result_class: the class of what a completed call returns, as evidence.
        default_class: that of a result that is no item of the former.
        expires_after_s: how many seconds that is fresh; without it, for ever.
        values: finds what its arguments hold.
        told: the tool as late plans are judged by it.
        is_derived: what it returns is made from its arguments, and was read nowhere.
    """

    capability: ToolCapability
    result_class: str
    default_class: str
    expires_after_s: int | None
    values: CallValues
    told: ToolCapability
    is_derived: bool = False

    @classmethod
    def of(
        cls,
        capability: ToolCapability,
        *,
        result_class: str | None = None,
        expires_after_s: int | None = None,
        told: ToolCapability | None = None,
        is_derived: bool = False,
    ) -> "SessionTool":
        """Return a tool. Its results have a class made of its ids, unless one is given."""
        made = f"{_TOOL_CLASS}{capability.adapter_id}.{capability.capability_id}"
        fits = made if len(made) <= _LONGEST_CLASS else _OTHER_CLASS
        pair = capability.adapter_id, capability.capability_id
        values = CallValues({pair: capability})
        late = capability if told is None else told
        derived = is_derived or (late.result is not None and late.result.derived is True)
        return cls(capability, result_class or fits, fits, expires_after_s, values, late, derived)

    @property
    def pair(self) -> tuple[str, str]:
        """The name that plans call the tool by."""
        return self.capability.adapter_id, self.capability.capability_id

    def denied_by(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a no to a call with these arguments is of, as JSON."""
        return denied_by(self.values, self.capability, args)

    @property
    def promises_records(self) -> bool:
        """Whether what it returns is JSON, by the word of the policy."""
        result = self.capability.result
        return result is not None and result.format == "json"


def _number_item(item: EvidenceItem, seq: int) -> EvidenceItem:
    """Return an item of the policy as a session has seen it: before all else."""
    if item.source is None or item.source.seq is not None:
        return item
    source = item.source.model_copy(update={"seq": seq})
    return item.model_copy(update={"source": source})


_LONGEST_CLASS: Final = 128
_MOST_KEPT: Final = 1000
"""How many combinations of tools are kept as they are compiled."""


@dataclass(frozen=True)
class SessionRules:
    """The rules that a session is judged by.

    Attributes:
        digest: the digest of the policy: it is the `pack_version` of every plan.
        tools: by the names that agents call them by.
        spec: the contract. Its required outputs are those of the whole session.
        budget: what the policy chose for the whole session; None where it chose nothing.
        default_budget: what a session may spend otherwise.
        classes: what the items of each class are.
        evidence: what is known before the session begins.
        shell: of a policy with tools that take shell commands, how these are judged.

    Raises:
        ValueError: evidence has an id, or a class a name, that sessions give themselves.
    """

    digest: str
    tools: Mapping[str, SessionTool]
    spec: DecisionSpec
    safety_mode: ApprovalMode
    default_budget: RunBudget
    budget: RunBudget | None = None
    classes: tuple[EvidenceClass, ...] | None = None
    record_fields: tuple[str, ...] | None = None
    evidence: tuple[EvidenceItem, ...] = ()
    shell: "ShellRules | None" = None

    def __post_init__(self) -> None:
        """Refuse what a session could not tell from its own, and number the evidence."""
        for item in self.evidence:
            if item.id.startswith(RESERVED_IDS):
                raise ValueError(f"evidence {item.id}: sessions make ids that begin like this")
        for one in self.classes or ():
            if is_default_class(one.class_):
                raise ValueError(f"class {one.class_}: results have it that are of no class")
        numbered = tuple(_number_item(item, at) for at, item in enumerate(self.evidence))
        object.__setattr__(self, "evidence", numbered)

    @cached_property
    def described(self) -> Manifests:
        """What the manifests of all plans say of evidence."""
        return self.described_with(())

    def described_with(self, classes: Sequence[EvidenceClass]) -> Manifests:
        """Return what manifests with further classes say of evidence."""
        known = self.classes if self.classes is None else (*self.classes, *classes)
        return Manifests(
            tool_manifest=(),
            evidence_manifest=(),
            classes=known,
            record_fields=self.record_fields,
        )

    @cached_property
    def tables(self) -> FieldTables:
        """Who fills which field of the items of each class."""
        return FieldTables(self.described)

    @cached_property
    def batch_spec(self) -> DecisionSpec:
        """The contract of one batch: no outputs are required before the session ends.

        Its calls take no values of one another.
        """
        return self._spec_of(self.spec.model_fields_set - {"late"})

    @cached_property
    def late_spec(self) -> DecisionSpec:
        """The contract of a batch whose calls do, if the spec allows that."""
        return self._spec_of(self.spec.model_fields_set)

    def _spec_of(self, names: Iterable[str]) -> DecisionSpec:
        fields = {name: getattr(self.spec, name) for name in names}
        return DecisionSpec(**{**fields, "required_outputs": ()})

    @cached_property
    def backing_classes(self) -> frozenset[str]:
        """The classes of evidence that arguments are bound to, or that say what tools demand."""
        needs = [needs_of(tool.capability) for tool in self.tools.values()]
        bound = (kind for need in needs for each in need.bound.values() for kind in each.classes)
        demanded = (each.classification for need in needs for each in need.demands)
        return frozenset((*bound, *demanded))

    @cached_property
    def unknown_adapter(self) -> str:
        """An adapter that no tool has. Tools that the policy lacks are looked for there."""
        taken, name = {tool.capability.adapter_id for tool in self.tools.values()}, "unknown"
        while name in taken:
            name += "_"
        return name

    def pair_of(self, name: str) -> tuple[str, str]:
        """Return the name that plans call a tool by, known or not."""
        tool = self.tools.get(name)
        return (self.unknown_adapter, name) if tool is None else tool.pair

    def has_commands(self, names: Iterable[str]) -> bool:
        """Return whether any of some tools takes a shell command."""
        return self.shell is not None and not self.shell.arguments.keys().isdisjoint(names)

    def compiled_for(
        self,
        names: Iterable[str],
        items: tuple[EvidenceItem, ...] = (),
        *,
        is_late: bool = False,
    ) -> CompiledContext:
        """Return the tools of these names, in the order of the policy, with evidence.

        Args:
            is_late: for a plan whose calls take values of one another.
        """
        known = tuple(sorted(self._places.keys() & set(names), key=self._places.__getitem__))
        if items:
            return self._compile_context(known, items, is_late=is_late)
        key = known, is_late
        if key not in self._without_evidence:
            if len(self._without_evidence) >= _MOST_KEPT:
                self._without_evidence.clear()
            self._without_evidence[key] = self._compile_context(known, (), is_late=is_late)
        return self._without_evidence[key]

    def _compile_context(
        self, names: tuple[str, ...], items: tuple[EvidenceItem, ...], *, is_late: bool
    ) -> CompiledContext:
        known = (self.tools[name] for name in names)
        tools = [one.told if is_late else one.capability for one in known]
        if self.has_commands(names) and self.shell is not None:
            tools += self.shell.effects
        manifests = Manifests(
            tool_manifest=tools,
            evidence_manifest=items,
            classes=self.classes,
            record_fields=self.record_fields,
        )
        return CompiledContext(manifests=manifests, pack_version=self.digest)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.tools)}

    @cached_property
    def _without_evidence(self) -> dict[tuple[tuple[str, ...], bool], CompiledContext]:
        return {}

    def scope_for(
        self, scope: tuple[str, ...] | None, called: Sequence[str], plan: Plan
    ) -> tuple[ToolName, ...] | None:
        """Return the tools that the request is for, and what their commands do in a plan.

        Args:
            called: the tools of the batch.
        """
        names = None if scope is None else self.tool_names(scope)
        found = dict.fromkeys(names or ())
        for at, parts in parts_by_command(plan).items():
            if scope is None or called[at] in scope:
                found |= dict.fromkeys(tool_name_at(plan, part) for part in parts)
        return (*found,) if found or names is not None else None

    def tool_names(self, names: tuple[str, ...]) -> tuple[ToolName, ...]:
        """Return those of the tools that are known, each once. They are kept for the next time."""
        found = self._scopes.get(names)
        if found is None:
            if len(self._scopes) >= _MOST_KEPT:
                self._scopes.clear()
            found = self._scopes[names] = self._names_of(names)
        return found

    @cached_property
    def _scopes(self) -> dict[tuple[str, ...], tuple[ToolName, ...]]:
        return {}

    def _names_of(self, names: Iterable[str]) -> tuple[ToolName, ...]:
        pairs = dict.fromkeys(self.tools[name].pair for name in names if name in self.tools)
        return tuple(
            ToolName(adapter_id=adapter, capability_id=capability) for adapter, capability in pairs
        )


def tool_name_at(plan: Plan, step: int) -> ToolName:
    """Return the tool of a step that calls one."""
    planned = plan.steps[step]
    assert isinstance(planned, ToolStep)  # noqa: S101 - only these are asked for
    return ToolName(adapter_id=planned.adapter_id, capability_id=planned.capability_id)
