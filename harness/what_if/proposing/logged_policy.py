"""Put a policy together from the records of its sessions, to propose edits of it. Pure.

A record has the tools of its plan, the classes, and what the spec and the context say. So a policy
is known as far as it was used. Two things are not on record: how long results are fresh, and the
name of a tool where it is not its capability, unless a result says it.
"""

from typing import Any, Final

from critic.session.session_rules import CALL_ID, OPERATOR_ID, USER_ID, is_default_class
from harness.policy.analysis.backing import ToolPair
from harness.policy.envelopes import SESSION_BUDGET, Policy
from harness.wire import build

Json = dict[str, Any]

_OF_SESSION: Final = (CALL_ID, USER_ID, OPERATOR_ID)


class LoggedPolicy:
    """A policy as records tell it. Where they differ, the last one counts."""

    def __init__(self) -> None:
        """Begin without a record."""
        self._tools: Final[dict[ToolPair, Json]] = {}
        self._classes: Final[dict[str, Json]] = {}
        self._evidence: Final[dict[str, Json]] = {}
        self._results: Final[dict[str, str]] = {}
        self._scopes: Final[dict[str, tuple[ToolPair, ...] | None]] = {}
        self._ctx: Json = {}
        self._spec: Json = {}
        self._fields: list[str] | None = None
        self.expires = False
        """Whether results expired after a time, which no record says."""

    def add_record(self, trace: str, ctx: Json, compiled: Json, spec: Json) -> None:
        """Take in what a record of a session says of its policy, as JSON."""
        manifests = compiled["manifests"]
        self._ctx, self._spec, self._fields = ctx, spec, manifests.get("record_fields")
        for tool in manifests["tool_manifest"]:
            self._tools[tool["adapter_id"], tool["capability_id"]] = tool
        for one in manifests.get("classes", ()):
            own = {name: one[name] for name in ("fields", "schema") if name in one}
            self._classes[one["class"]] = {"name": one["class"], **own}
        for item in manifests["evidence_manifest"]:
            self._add_item(item)
        listed = ctx.get("scope")
        scope = listed and tuple((one["adapter_id"], one["capability_id"]) for one in listed)
        self._scopes.setdefault(trace, scope)

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
            harness.wire.InvalidInput: the records make no policy.
        """
        names = {pair: self._name_of(pair) for pair in self._tools}
        guard = {"safety_mode": self._ctx["safety_mode"], **self._limits(names)}
        return build(
            Policy,
            {
                **({} if self._fields is None else {"record_fields": self._fields}),
                "guard": guard,
                "spec": self._spec,
                "class": [*self._classes.values()],
                "tool": [self._tool_of(pair, name) for pair, name in names.items()],
                "evidence": [*self._evidence.values()],
            },
        )

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
        return {**self._tools[pair], "name": name, **yields}
