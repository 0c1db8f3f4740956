"""Build the facts around a plan: what was seen and said before it, and approvals.

Sources of values count only if a spec has `provenance`. Then a plan is tried under a few stories,
from a request that names everything to a text that anybody wrote.
"""

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Final, NamedTuple, get_args

from critic import Plan, digest
from critic.provenance.value_kinds import ValueForm
from evals.pointers import segments
from harness.canonical import canonical_json
from harness.policy.analysis.backing import ToolPair, scalars_of
from harness.policy.analysis.samples import put_value, samples
from harness.policy.envelopes import Policy, PolicyTool

Json = dict[str, Any]

_SESSION: Final = "witness"
_RESULT: Final = "result"
_MOST_CHANGED: Final = 6
"""How many fields are tried that another policy has filled by somebody else."""


class Story(NamedTuple):
    """The facts around a plan.

    Attributes:
        evidence: further items besides those of the policy, as JSON.
        approved: whether a person approved this plan.
        scoped: whether the scope has the tools of the plan.
        ran: the tools that ran before.
        own: the things that the session made, with their kinds.
        as_of: the time of the verdict; None for that of the search.
    """

    evidence: tuple[Json, ...] = ()
    approved: bool = False
    scoped: bool = False
    ran: tuple[ToolPair, ...] = ()
    own: tuple[tuple[str, str], ...] = ()
    as_of: str | None = None

    def context(self, plan: Plan) -> Json:
        """Return the fields of a RunContext for the story, as JSON."""
        found: Json = {}
        if self.approved:
            approval = {"approval_id": "a1", "plan_digest": digest(plan), "approver": "someone"}
            found["approvals"] = [approval]
        if self.scoped:
            found["scope"] = _tool_names(pair_of(step) for step in plan.wire()["steps"])
        session: Json = {"ran": _tool_names(self.ran)} if self.ran else {}
        if self.own:
            session["own"] = [{"kind": kind, "value": one} for kind, one in self.own]
        if session:
            found["session"] = {"id": _SESSION, "turn": 1, **session}
        if self.as_of is not None:
            found["as_of"] = self.as_of
        return found


def _tool_names(pairs: Iterable[ToolPair]) -> list[Json]:
    named = dict.fromkeys(pair for pair in pairs if pair != ("", ""))
    return [{"adapter_id": adapter, "capability_id": name} for adapter, name in named]


def pair_of(step: Json) -> ToolPair:
    """Return the tool that a step in wire form calls; empty names for a reason step."""
    return step.get("adapter_id", ""), step.get("capability_id", "")


class Stories:
    """Yields the stories that may distinguish an accepting policy from a refusing one."""

    def __init__(self, accepting: Policy, refusing: Policy) -> None:
        policies = (accepting, refusing)
        self._judged = any(policy.spec.provenance for policy in policies)
        self._asked = self._judged or any(policy.spec.approval_required_from for policy in policies)
        self._records = _records_of(accepting, refusing)
        self._changed = [*_changed_records(accepting, refusing)][:_MOST_CHANGED]
        kinds = {kind for policy in policies for tool in policy.tool for kind in _kinds_of(tool)}
        self._kinds = sorted({*get_args(ValueForm), *kinds})

    def stories_of(
        self,
        steps: list[Json],
        items: Iterable[Json],
        tool: PolicyTool | None,
        other: PolicyTool | None,
    ) -> Iterator[Story]:
        """Yield the stories to try the steps under, the smallest first.

        Args:
            items: the evidence that the steps pin.
            tool: the tool of interest, as the accepting policy has it.
            other: the same tool as the refusing policy has it.
        """
        told = [Story(tuple(items))]
        if self._judged:
            told += self._with_sources(steps, told[0], tool, other)
        for approved in (False, True) if self._asked else (False,):
            yield from (facts._replace(approved=approved) for facts in told)

    def _with_sources(
        self, steps: list[Json], bare: Story, tool: PolicyTool | None, other: PolicyTool | None
    ) -> Iterator[Story]:
        values = _texts_in(steps)
        requested = _add_items(bare, _request(values))
        yield requested._replace(scoped=True)
        yield requested
        if ran := tuple(sorted(_followed_tools(tool) - _followed_tools(other))):
            yield requested._replace(ran=ran)
        for name in changed_roles(tool, other):
            others = [
                {**step, "args": _drop_argument(step.get("args", {}), name)} for step in steps
            ]
            yield from self._of_origins(
                bare, _texts_in(others), _texts_in([_keep_argument(steps[0], name)])
            )
        for changed in self._changed:
            yield from changed.holding_one(bare, steps)
        if "url" in {*_kinds_of(tool)} - {*_kinds_of(other)}:
            pages = [one.rpartition("/")[0] if "://" in one else one for one in values]
            yield _add_items(bare, _request(pages))._replace(scoped=True)
        asked = _request([])
        for record in self._records:
            yield _add_items(bare, asked, record.item(values, "named"))._replace(scoped=True)
        yield _add_items(bare, asked, _result_item(" ".join(values), "ambient"))._replace(
            scoped=True
        )

    def _of_origins(self, bare: Story, requested: list[str], values: list[str]) -> Iterator[Story]:
        """Yield each origin for some values that the request does not name."""
        told = _add_items(bare, _request(requested))._replace(scoped=True)
        yield told
        yield told._replace(own=tuple(product(self._kinds, values)))
        text = " ".join(values)
        for record in self._records:
            rival = _result_item(text, "ambient", 2)
            yield _add_items(told, record.item(values, "ambient"), rival)
            yield _add_items(told, record.item(values, "led"))
        for standing in ("named", "reached"):
            for author in ({"author": "member"}, {}, {"web": True}):
                yield _add_items(told, _result_item(text, standing, **author))
        yield _add_items(told, _result_item(text, "named", author="system"))


class _Record(NamedTuple):
    """A field of the records of a class, to fill with values."""

    class_: str
    field: str

    def item(self, values: list[str], standing: str) -> Json:
        item = _result_item({self.field: values}, standing)
        return {**item, "classification": self.class_}


class _ChangedField(NamedTuple):
    """A field of a class that satisfies its schema, in records of one author."""

    class_: str
    way: tuple[str, ...]
    record: Any
    author: str

    def holding_one(self, bare: Story, steps: list[Json]) -> Iterator[Story]:
        """Yield the stories with one value in this place only, and the others in the request."""
        values = _texts_in(steps)
        for at, value in enumerate(values):
            others = values[:at] + values[at + 1 :]
            content = put_value(self.record, self.way, value)
            for standing in ("named", "ambient"):
                item = _result_item(content, standing, author=self.author)
                asked = _add_items(bare, _request(others), {**item, "classification": self.class_})
                yield asked._replace(scoped=True)


def _changed_records(accepting: Policy, refusing: Policy) -> Iterator[_ChangedField]:
    """Yield the fields with another owner in the refusing policy, by author."""
    others = {one.name: one.fields or {} for one in refusing.class_}
    for one in accepting.class_:
        for name, writer in (one.fields or {}).items():
            if others.get(one.name, {}).get(name) == writer:
                continue
            way = segments(name) if name.startswith("/") else (name,)
            known = [] if one.schema_ is None else samples(one.schema_)
            records = [one.example, *(each for each in known if isinstance(each, dict)), {}]
            record = next(each for each in records if isinstance(each, dict))
            for author in ("public", "member"):
                yield _ChangedField(one.name, way, record, author)


def _records_of(accepting: Policy, refusing: Policy) -> list[_Record]:
    """Return a field of a system and one of a party, changed ones if possible.

    If no class has one, it is one of `record_fields`, which name parties.
    """
    found: dict[str, _Record] = {}
    own, others = _fields_of(accepting), _fields_of(refusing)
    for changed in (True, False):
        for record, writer in own.items():
            if writer in ("system", "party") and (others.get(record) != writer) is changed:
                found.setdefault(writer, record)
    named, known = (policy.record_fields or () for policy in (accepting, refusing))
    fields = [name for name in named if name not in known] or [*named] or ["id"]
    return [*found.values(), _Record(_RESULT, fields[0])]


def _fields_of(policy: Policy) -> dict[_Record, str]:
    return {
        _Record(one.name, name): writer
        for one in policy.class_
        for name, writer in (one.fields or {}).items()
        if not name.startswith("/")
    }


def _kinds_of(tool: PolicyTool | None) -> Iterable[str]:
    return () if tool is None else (tool.arg_kinds or {}).values()


def _add_items(facts: Story, *items: Json) -> Story:
    return facts._replace(evidence=(*facts.evidence, *items))


def _request(values: list[str]) -> Json:
    """Return the user's request, with every value that the steps act on."""
    source = {"author": "user", "standing": "named"}
    # Bare words and short numbers may mean anything.
    text = " ".join(f"#{one}" if one.isdigit() else f'"{one}"' for one in values) or "go on"
    return {"id": "user/1", "classification": "request", "content": text, "source": source}


def _result_item(content: Any, standing: str, number: int = 1, **source: Any) -> Json:
    """Return the result of a tool; its author is anybody unless `source` names one."""
    return {
        "id": f"call/{number}",
        "classification": _RESULT,
        "content": content,
        "source": {"author": "public", "standing": standing, **source},
    }


def _texts_in(steps: list[Json]) -> list[str]:
    values = [scalar for step in steps for scalar in scalars_of(step.get("args", {}))]
    shown = (
        value if isinstance(value, str) else canonical_json(value).decode() for value in values
    )
    return list(dict.fromkeys(shown))


def _followed_tools(tool: PolicyTool | None) -> set[ToolPair]:
    followed = tool.follows if tool is not None else None
    return {(one.adapter_id, one.capability_id) for one in followed or ()}


def changed_roles(tool: PolicyTool | None, other: PolicyTool | None) -> list[str]:
    """Return the arguments with another role in the other policy."""
    if tool is None or other is None:
        return []
    own, others = tool.arg_roles or {}, other.arg_roles or {}
    names = {name for name in (*own, *others) if own.get(name) != others.get(name)}
    return sorted({name.split("/")[1] if name.startswith("/") else name for name in names})


def _keep_argument(step: Json, name: str) -> Json:
    """Return a step with one of its arguments."""
    args = step.get("args", {})
    return {**step, "args": {name: args[name]} if name in args else {}}


def _drop_argument(args: Json, name: str) -> Json:
    return {key: value for key, value in args.items() if key != name}
