"""Put a policy together from the records of its sessions, to propose edits of it. Pure.

A record has the tools of its plan, the classes, and what the spec and the context say. So a policy
is known as far as it was used. Two things are not on record: how long results are fresh, and the
name of a tool where it is not its capability, unless a result says it.

What shell commands do is in the tools and in the scope of a record, too. A policy names none of it:
it has a table, and the tiers that differ from the shipped ones.
"""

from typing import Any, Final

from critic.command.effect_tools import EFFECT_TIERS
from critic.command.file_tools import CommandArgument
from critic.session.session_rules import CALL_ID, OPERATOR_ID, USER_ID, is_default_class
from evals.plan import SHELL_ADAPTER
from harness.policy.analysis.backing import ToolPair
from harness.policy.envelopes import SESSION_BUDGET, Policy
from harness.policy.shell_settings import ShellSettings
from harness.wire import InvalidInput, build

Json = dict[str, Any]

_OF_SESSION: Final = (CALL_ID, USER_ID, OPERATOR_ID)


class LoggedPolicy:
    """A policy as records tell it. Where they differ, the last one counts."""

    def __init__(self) -> None:
        """Begin without a record."""
        self._tools: Final[dict[ToolPair, Json]] = {}
        self._effects: Final[dict[str, str]] = {}
        self._acting: Final[dict[ToolPair, Json]] = {}
        self._source: Json = {}
        self._classes: Final[dict[str, Json]] = {}
        self._evidence: Final[dict[str, Json]] = {}
        self._results: Final[dict[str, str]] = {}
        self._scopes: Final[dict[str, tuple[ToolPair, ...] | None]] = {}
        self._ctx: Json = {}
        self._spec: Json = {}
        self._fields: list[str] | None = None
        self.expires = False
        """Whether results expired after a time, which no record says."""

    def add_record(
        self, trace: str, ctx: Json, compiled: Json, spec: Json, plan: Json | None = None
    ) -> None:
        """Take in what a record of a session says of its policy, as JSON.

        Args:
            plan: it says by which argument a tool acts on this machine, and by which table.
        """
        manifests = compiled["manifests"]
        self._ctx, self._spec, self._fields = ctx, spec, manifests.get("record_fields")
        for tool in manifests["tool_manifest"]:
            self._add_tool(tool)
        for step in [] if plan is None else plan["steps"]:
            self._add_reading(step)
        for one in manifests.get("classes", ()):
            own = {name: one[name] for name in ("fields", "schema") if name in one}
            self._classes[one["class"]] = {"name": one["class"], **own}
        for item in manifests["evidence_manifest"]:
            self._add_item(item)
        self._scopes.setdefault(trace, scope_told(ctx))

    def _add_tool(self, tool: Json) -> None:
        pair = tool["adapter_id"], tool["capability_id"]
        if is_effect(pair):
            self._effects[pair[1]] = tool["approval_mode"]
        else:
            self._tools[pair] = tool

    def _add_reading(self, step: Json) -> None:
        """Add how the command of a step was read: the argument, and the table of programs."""
        shell = step.get("shell")
        if shell is None:
            return
        argument = CommandArgument.read(shell)
        pair = step["adapter_id"], step["capability_id"]
        match argument.kind:
            case "command":
                self._acting[pair] = {"shell": argument.names[0], "approval_mode": "destructive"}
            case "path":
                self._acting[pair] = {"writes": [*argument.names]}
            case "patch":
                self._acting[pair] = {"patches": argument.names[0]}
        self._source = shell

    def _add_item(self, item: Json) -> None:
        if not item["id"].startswith(_OF_SESSION):
            self._evidence[item["id"]] = item
        elif item["id"].startswith(CALL_ID):
            self.expires |= "expires_at" in item
            called = item["subject"].split(" ")[0]
            self._results.setdefault(called, item["classification"])

    def to_policy(self) -> Policy:
        """Return the policy, without what is on no record.

        Raises:
            harness.wire.InvalidInput: the records make no policy, or one with a table of programs
                that is another one by now.
        """
        if self._source and ShellSettings.table_from(self._source) is None:
            raise InvalidInput("/shell/table", "commands were read by a table that is not here now")
        names = {pair: self._name_of(pair) for pair in self._tools}
        guard = {"safety_mode": self._ctx["safety_mode"], **self._limits(names)}
        return build(
            Policy,
            {
                **({} if self._fields is None else {"record_fields": self._fields}),
                **({"shell": self._shell_wire()} if self._source else {}),
                "guard": guard,
                "spec": self._spec,
                "class": [*self._classes.values()],
                "tool": [self._tool_of(pair, name) for pair, name in names.items()],
                "evidence": [*self._evidence.values()],
            },
        )

    def _shell_wire(self) -> Json:
        """Return the table, and the tiers of effects that are not the shipped ones."""
        tiers = {
            name: tier for name, tier in self._effects.items() if tier != EFFECT_TIERS.get(name)
        }
        table: Json = {
            name: self._source[name] for name in ("table", "command") if name in self._source
        }
        return {**table, **({"tiers": tiers} if tiers else {})}

    def _limits(self, names: dict[ToolPair, str]) -> Json:
        """Return the budget, and the scope that all sessions had, if it is one."""
        budget = self._ctx.get("run_budget")
        found: Json = {} if budget in (None, SESSION_BUDGET.wire()) else {"budget": budget}
        scope, *others = {*self._scopes.values()}
        if scope is not None and not others:
            found["scope"] = [names[pair] for pair in scope if pair in names]
        return found

    def _name_of(self, pair: ToolPair) -> str:
        """Return the name of a tool, as far as its results say it: two tools never share one."""
        made = f"result:{'.'.join(pair)}"
        told = next((name for name, kind in self._results.items() if kind == made), pair[1])
        is_shared = any(one[1] == told and one != pair for one in self._tools)
        return ".".join(pair) if is_shared else told

    def _tool_of(self, pair: ToolPair, name: str) -> Json:
        kind = self._results.get(name, "result")
        yields = {} if is_default_class(kind) else {"yields": kind}
        return {**self._tools[pair], "name": name, **yields, **self._acting.get(pair, {})}


def is_effect(pair: ToolPair) -> bool:
    """Return whether a tool of a record is a thing that shell commands do, and none of a policy."""
    return pair[0] == SHELL_ADAPTER and pair[1] in EFFECT_TIERS


def scope_told(ctx: Json) -> tuple[ToolPair, ...] | None:
    """Return the tools that a request is for, by the context of a record; None if for any.

    The effects of commands stand there, too, where the turn has some.
    """
    if "scope" not in ctx:
        return None
    listed = [(one["adapter_id"], one["capability_id"]) for one in ctx["scope"]]
    own = tuple(pair for pair in listed if not is_effect(pair))
    return own if own or not listed else None
