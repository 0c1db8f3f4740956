"""The policy of a team as one value: its tools, its spec, its evidence, the settings of the guard.

All names are those of the wire. Two parts exist in policies only: the settings of the guard; and of
a tool its name, the class of its results as evidence, and how long they are fresh.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import Discriminator, Field, GetJsonSchemaHandler, Tag, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from critic import (
    ApprovalMode,
    CompiledContext,
    DecisionSpec,
    EvidenceClass,
    EvidenceItem,
    Manifests,
    RunBudget,
    RunContext,
    ToolCapability,
    ToolName,
    ToolResult,
)
from evals.capability import FieldWriter, KeywordNamed, require_pointers
from evals.context import DEFAULT_SESSION_STEPS, DEFAULT_SESSION_TOKENS
from evals.envelope import (
    ARRAY,
    MEMBERS,
    OPTIONAL,
    RESTRICTION,
    Array,
    Count,
    Envelope,
    Identifier,
)
from evals.escaping import escape_name
from evals.json_schemas import JsonSchema
from evals.json_value import PresentJson, Text
from evals.pointers import Pointer
from harness.canonical import digest
from harness.policy.tool_summary import summary_fault

SESSION_BUDGET: Final = RunBudget(
    max_steps=DEFAULT_SESSION_STEPS, bucket_tokens=DEFAULT_SESSION_TOKENS
)
"""What a session may spend whose policy has no budget."""

_LONGEST_IDENTIFIER: Final = 128


def _scope_form(value: Any) -> str:
    return "all" if isinstance(value, str) else "names"


Scope = Annotated[
    Annotated[Literal["all"], Tag("all")] | Annotated[tuple[Text, ...], ARRAY, Tag("names")],
    Discriminator(_scope_form),
]
"""The tools that every request is for: all of them, or some by the names that agents use."""


class GuardSettings(Envelope):
    """The settings of the guard for each session.

    `on_refusal`: the model gets an answer and may continue, or the run halts. `on_ask`: a person is
    asked, or nobody is there and the answer is no. `shadow` allows everything and records the
    rulings that were not enforced. `scope` lists the tools that requests are for by default.
    `budget` is for a whole session. A yes to a question counts for at most
    `question_expires_after_s`, and while its evidence is fresh. With `say = "none"`, a model learns
    that its call did not run, but not why. With `turns = "ordered"`, which needs `late` of the
    spec, each call of a turn that has effects waits for the calls before it that only read.
    """

    safety_mode: ApprovalMode
    on_refusal: Literal["answer", "halt"] = "answer"
    on_ask: Literal["ask", "refuse"] = "ask"
    max_questions: Count = 3
    question_expires_after_s: Annotated[Count | None, RESTRICTION] = None
    shadow: bool = False
    scope: Annotated[Scope | None, OPTIONAL] = None
    budget: Annotated[RunBudget | None, RESTRICTION] = None
    say: Annotated[Literal["none"] | None, RESTRICTION] = None
    turns: Annotated[Literal["ordered"] | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            safety_mode: ApprovalMode,
            on_refusal: Literal["answer", "halt"] = ...,
            on_ask: Literal["ask", "refuse"] = ...,
            max_questions: int = ...,
            question_expires_after_s: int = ...,
            shadow: bool = ...,
            scope: Literal["all"] | Array[str] | None = None,
            budget: RunBudget = ...,
            say: Literal["none"] = ...,
            turns: Literal["ordered"] | None = None,
        ) -> None: ...


class PolicyClass(KeywordNamed):
    """A class of results: who fills which field, their schema, how long they are fresh.

    `example` is an item of the class for tools that read the policy. It decides nothing.
    """

    name: Identifier
    fields: Annotated[dict[Text, FieldWriter] | None, OPTIONAL, MEMBERS] = None
    schema_: Annotated[JsonSchema | None, RESTRICTION] = Field(None, alias="schema")
    example: Annotated[PresentJson, OPTIONAL] = None
    fresh_s: Annotated[Count | None, RESTRICTION] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            name: str,
            fields: Mapping[str, FieldWriter] | None = None,
            schema_: dict[str, Any] | bool = ...,
            example: Any = None,
            fresh_s: int = ...,
        ) -> None: ...

    @property
    def evidence_class(self) -> EvidenceClass:
        """The entry of the manifests."""
        schema: dict[str, Any] = {} if self.schema_ is None else {"schema_": self.schema_}
        return EvidenceClass(class_=self.name, fields=self.fields or {}, **schema)

    @model_validator(mode="after")
    def _pointers_of_fields(self) -> Self:
        require_pointers("fields", self.fields or ())
        return self


_OF_LATE_PLANS: Final = {"output_schema", "yields", "expires_after_s"}


class PolicyTool(ToolCapability):
    """A tool as agents know it. `name` is its `capability_id` by default.

    `yields` is the class of its results as evidence, which are fresh for `expires_after_s` seconds:
    sessions make them of it. `requested = "always"` adds it to the scope. `must_reach = false`: no
    call of it is meant to pass; the laws of a policy demand one of every other tool. `summary`
    describes a call to the person who approves it, with arguments in braces. `shell` names the
    argument that is a shell command: in sessions, what the command does is judged in its place, and
    `approval_mode` counts only in plans. `writes` names the arguments that are paths of files which
    are written, `patches` the one that is a patch of files: in sessions such a write is judged as
    that of a command, too.
    """

    name: Annotated[Identifier | None, OPTIONAL] = None
    requested: Annotated[Literal["always"] | None, OPTIONAL] = None
    must_reach: Annotated[bool | None, OPTIONAL] = None
    summary: Annotated[Text | None, OPTIONAL] = None
    shell: Annotated[Text | None, OPTIONAL] = None
    writes: Annotated[tuple[Text, ...] | None, OPTIONAL, ARRAY] = None
    patches: Annotated[Text | None, OPTIONAL] = None

    if TYPE_CHECKING:  # fields as the wire has them: see rule 4 of `evals.envelope`

        def __init__(self, **fields: object) -> None: ...

    @model_validator(mode="after")
    def _summary_of_its_arguments(self) -> Self:
        if self.summary is not None and (fault := summary_fault(self.__dict__)) is not None:
            raise PydanticCustomError("summary", "summary: {fault}", {"fault": fault})
        return self

    @model_validator(mode="after")
    def _acts_by_one_argument(self) -> Self:
        if len(self.acting_arguments) > 1:
            raise PydanticCustomError(
                "acts_twice", "shell, writes and patches exclude one another: keep one"
            )
        return self

    @property
    def acting_arguments(self) -> "tuple[tuple[tuple[str, ...], ActingKind], ...]":
        """The arguments by which calls act on this machine, with their kind, if there are any."""
        named: tuple[tuple[tuple[str, ...], ActingKind], ...] = (
            (() if self.shell is None else (self.shell,), "command"),
            (self.writes or (), "path"),
            (() if self.patches is None else (self.patches,), "patch"),
        )
        return tuple(one for one in named if one[0])

    @property
    def called(self) -> str:
        """The name that agents use for the tool."""
        return self.name or self.capability_id

    @property
    def pair(self) -> tuple[str, str]:
        """The name that plans use for the tool: adapter_id and capability_id."""
        return self.adapter_id, self.capability_id

    @property
    def result_class(self) -> str | None:
        """The class of its results as evidence: `yields`, or one made of its ids.

        None if the ids are too long for an identifier.
        """
        made = f"result:{self.adapter_id}.{self.capability_id}"
        return self.yields or (made if len(made) <= _LONGEST_IDENTIFIER else None)

    @property
    def capability(self) -> ToolCapability:
        """The entry of the tool manifest. What only late plans are judged by is left out."""
        names = (self.model_fields_set & ToolCapability.model_fields.keys()) - _OF_LATE_PLANS
        fields = {name: getattr(self, name) for name in names}
        if self.result is not None and self.result.derived:
            kept = self.result.model_fields_set - {"derived"}
            fields["result"] = ToolResult(**{name: getattr(self.result, name) for name in kept})
        return ToolCapability(**fields)

    def told_of_results(self, expiries: Mapping[tuple[str, str], int]) -> dict[str, Any]:
        """Return what late plans are judged by: the class of its results, their schema, their age.

        Args:
            expiries: for how many seconds results are fresh, by the ids of their tool.
        """
        said: dict[str, Any] = {} if self.yields is None else {"yields": self.yields}
        if self.output_schema is not None:
            said["output_schema"] = self.output_schema
        if self.pair in expiries:
            said["expires_after_s"] = expiries[self.pair]
        return said | ({} if self.result is None else {"result": self.result})


class AcceptedFinding(Envelope):
    """A finding of the lint that the team has read and accepts, with the reason.

    Without a `tool`, it covers all tools, and findings about none. It decides nothing.
    """

    finding: Identifier
    tool: Annotated[Identifier | None, OPTIONAL] = None
    reason: Annotated[Text, Field(min_length=1)]

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(self, *, finding: str, reason: str, tool: str | None = None) -> None: ...


class _ShellSection:
    """Marks the section `[shell]`, whose class is loaded with the first one."""

    @staticmethod
    def read(value: Any) -> Any:
        from harness.policy.shell_settings import ShellSettings  # noqa: PLC0415 - few have it

        return ShellSettings.model_validate(value)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(cls.read)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, _schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        from harness.policy.shell_settings import ShellSettings  # noqa: PLC0415 - few have it

        return handler(ShellSettings.__pydantic_core_schema__)


if TYPE_CHECKING:
    from critic.command.file_tools import ActingKind
    from harness.policy.shell_settings import ShellSettings as ShellSection
else:
    ShellSection = _ShellSection


class Policy(KeywordNamed):
    """A policy file, which a team writes, reviews and tests.

    The names of tools, their pairs of ids, the names of classes and the ids of evidence are unique.
    The scope lists tools of the policy. `guessed` lists the places, as JSON pointers, that nobody
    has confirmed; in TOML, each has a comment after its value, `# guessed` or `# TODO`.
    """

    guessed: Annotated[tuple[Pointer, ...] | None, OPTIONAL, ARRAY] = None
    record_fields: Annotated[tuple[Text, ...] | None, OPTIONAL, ARRAY] = None
    guard: GuardSettings
    spec: DecisionSpec
    class_: Annotated[tuple[PolicyClass, ...], ARRAY] = Field((), alias="class")
    tool: Annotated[tuple[PolicyTool, ...], ARRAY] = ()
    evidence: Annotated[tuple[EvidenceItem, ...], ARRAY] = ()
    accept: Annotated[tuple[AcceptedFinding, ...], ARRAY] = ()
    shell: Annotated[ShellSection | None, OPTIONAL] = None

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            guessed: Array[str] | None = None,
            record_fields: Array[str] | None = None,
            guard: GuardSettings,
            spec: DecisionSpec,
            class_: Array[PolicyClass] = ...,
            tool: Array[PolicyTool] = ...,
            evidence: Array[EvidenceItem] = ...,
            accept: Array[AcceptedFinding] = ...,
            shell: ShellSection | None = None,
        ) -> None: ...

    @property
    def classes(self) -> tuple[EvidenceClass, ...] | None:
        """The classes of evidence for manifests; None without any."""
        return tuple(one.evidence_class for one in self.class_) or None

    @property
    def tools(self) -> Mapping[str, PolicyTool]:
        """The tools by the names that agents use."""
        return MappingProxyType({tool.called: tool for tool in self.tool})

    @cached_property
    def scope(self) -> tuple[str, ...] | None:
        """The tools that requests are for by default, by name; None if that is unknown.

        Sessions and plans take their default scope from here.
        """
        listed = self.guard.scope
        if listed == "all":
            return tuple(self.tools)
        always = [name for name, tool in self.tools.items() if tool.requested]
        if listed is None and not always:
            return None
        return tuple(dict.fromkeys((*(listed or ()), *always)))

    @cached_property
    def scope_names(self) -> tuple[ToolName, ...] | None:
        """The scope for contexts, by the ids of the tools."""
        if self.scope is None:
            return None
        tools = self.tools
        return tuple(
            ToolName(
                adapter_id=tools[name].adapter_id,
                capability_id=tools[name].capability_id,
            )
            for name in self.scope
        )

    def expiries(self) -> dict[tuple[str, str], int]:
        """Return for how many seconds results are fresh, by the ids of their tool."""
        fresh = {one.name: one.fresh_s for one in self.class_}
        limits = {
            tool.pair: (tool.expires_after_s, fresh.get(tool.yields or "")) for tool in self.tool
        }
        known = {pair: [one for one in each if one is not None] for pair, each in limits.items()}
        return {pair: min(each) for pair, each in known.items() if each}

    def digest(self) -> str:
        """Return the SHA-256 of the policy's canonical JSON, as 64 hexadecimal digits.

        Guesses and accepted findings are left out: confirming or accepting one changes no decision,
        and ends no open session. The table that `shell` names is part of it.
        """
        names = self.model_fields_set - {"guessed", "accept"}
        policy = self
        if names != self.model_fields_set:
            policy = Policy(**{name: getattr(self, name) for name in names})
        found = digest(policy)
        return found if self.shell is None else self.shell.with_table(found)

    def compiled(
        self, names: Collection[str] | None = None, evidence: Iterable[EvidenceItem] = ()
    ) -> CompiledContext:
        """Return the context for a planner: the tools and evidence of the policy, and more.

        What late plans are judged by is in it where the spec allows them.

        Args:
            names: the names of the tools to include; all of them by default.
            evidence: further items, such as the results of a session.

        Raises:
            pydantic.ValidationError: two items of evidence have one id.
        """
        tools = (tool for tool in self.tool if names is None or tool.called in names)
        manifests = Manifests(
            tool_manifest=[*self._entries(tools)],
            evidence_manifest=[*self.evidence, *evidence],
            classes=self.classes,
            record_fields=self.record_fields,
        )
        return CompiledContext(manifests=manifests, pack_version=self.digest())

    def _entries(self, tools: Iterable[PolicyTool]) -> Iterator[ToolCapability]:
        """Return the entries of the tool manifest for plans, late ones if the spec allows them."""
        expiries = self.expiries()
        return (self.told_entry(tool, expiries) for tool in tools)

    def told_entry(
        self, tool: PolicyTool, expiries: Mapping[tuple[str, str], int]
    ) -> ToolCapability:
        """Return the entry of a tool with what late plans are judged by, if the spec allows them.

        Args:
            expiries: for how many seconds results are fresh, by the ids of their tool.
        """
        if self.spec.late is None:
            return tool.capability
        return tool.capability.model_copy(update=tool.told_of_results(expiries))

    def context(self, trace_id: str, as_of: datetime | str | None = None) -> RunContext:
        """Return the context of one plan, with the safety mode, scope and budget of the guard."""
        budget = self.guard.budget
        limits: dict[str, Any] = {} if budget is None else {"run_budget": budget}
        return RunContext(
            trace_id=trace_id,
            safety_mode=self.guard.safety_mode,
            as_of=as_of,
            scope=self.scope_names,
            **limits,
        )

    @model_validator(mode="after")
    def _require_unique_names(self) -> Self:
        _require_unique((tool.called for tool in self.tool), "tools have the name")
        _require_unique(("/".join(tool.pair) for tool in self.tool), "tools have the ids")
        _require_unique((one.name for one in self.class_), "classes have the name")
        _require_unique((item.id for item in self.evidence), "pieces of evidence have the id")
        return self

    @model_validator(mode="after")
    def _require_table(self) -> Self:
        for tool in self.tool:
            if tool.acting_arguments and self.shell is None:
                raise PydanticCustomError(
                    "no_table",
                    'tool {name} acts on this machine: add [shell] with table = "common-1"',
                    {"name": escape_name(tool.called)},
                )
        return self

    @model_validator(mode="after")
    def _ordered_turns_are_late(self) -> Self:
        if self.guard.turns is not None and self.spec.late is None:
            raise PydanticCustomError(
                "needs_late", 'turns = "ordered" of the guard needs late in the spec: add it'
            )
        return self

    @model_validator(mode="after")
    def _require_known_scope(self) -> Self:
        known = self.tools
        for name in self.scope or ():
            if name not in known:
                raise PydanticCustomError(
                    "unknown_tool",
                    "no tool is called {name}: add it, or remove it from the scope",
                    {"name": escape_name(name)},
                )
        return self


def _require_unique(names: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise PydanticCustomError(
                "duplicate_entry",
                "two {what} {name}: keep one",
                {"what": what, "name": escape_name(name)},
            )
        seen.add(name)
