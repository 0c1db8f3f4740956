"""What a person is shown of a value that is not there yet. Loaded with the first of them.

Rule: of each value its argument and role, whose result it is and at which place, who can have
written that, what the schema of the tool asks of it, and what has to back it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from critic.provenance import tool_roles
from critic.provenance.late_roles import roles_at
from critic.replies.quoting import Pen
from critic.replies.schema_texts import word_schema_at
from critic.session.call_batch import Batch, Call, CallTake
from critic.session.session_rules import SessionRules
from evals.capability import ToolCapability
from evals.escaping import escape_name
from evals.needs import needs_of
from evals.pointers import array_index, segments

_WRITTEN: Final = {
    "public": "which anybody can write",
    "party": "which others write",
    "member": "which others write",
    "system": "which a system of record writes",
}
"""From the writer who is believed least."""
_DERIVED: Final = "which is made from what the call is given"


def word_late_values(batch: Batch, call: Call) -> str:
    """Return what is known of the values that a call takes, each on a line of its own."""
    tools = {one.id: one.tool for one in batch.calls if one.tool in batch.rules.tools}
    words = _Words(batch.rules, batch.rules.tools[call.tool].told)
    known = [(take, tools[take.call]) for take in call.takes if take.call in tools]
    return "".join(f"\n{words.word_value(take, source)}" for take, source in known)


class _Words:
    def __init__(self, rules: SessionRules, tool: ToolCapability) -> None:
        self._rules, self._tool, self._pen = rules, tool, Pen()
        self._roles, self._needs = tool_roles(tool), needs_of(tool)
        self._fields = {one.class_: one.fields for one in rules.classes or ()}

    def word_value(self, take: CallTake, source: str) -> str:
        """Return what is known of one value, by the name of the tool that returns it."""
        at = f" at {escape_name(take.at)}" if take.at else ""
        said = f"what {escape_name(source)} returns{at} (call {escape_name(take.call)})"
        parts = [f"{escape_name(take.arg)}{self._role(take)}: {said}, {self._writer(take, source)}"]
        return "; ".join([*parts, *self._bounds(take), *self._word_backing(take)])

    def _role(self, take: CallTake) -> str:
        if self._rules.spec.provenance is None:
            return ""
        roles = dict.fromkeys(roles_at(self._roles, segments(take.arg)).roles)
        return f" ({', '.join(roles)})" if roles else ""

    def _writer(self, take: CallTake, source: str) -> str:
        tool = self._rules.tools[source].told
        author = "public" if tool.result is None else tool.result.author
        if tool.result is not None and tool.result.derived:
            return _DERIVED
        is_record = tool.result is not None and tool.result.format == "json"
        at, fields = segments(take.at), self._fields.get(tool.yields or "", {})
        near = [(way, fields[name]) for name in fields for way in _ways_to(name) if _meet(way, at)]
        is_field = is_record and any(len(way) <= len(at) for way, _ in near)
        writers = {*(writer for _, writer in near), *(() if is_field else (author,))}
        return next(said for writer, said in _WRITTEN.items() if writer in writers)

    def _bounds(self, take: CallTake) -> Iterator[str]:
        indexes = [(array_index(part), part) for part in segments(take.arg)]
        path = tuple(part if index is None else index for index, part in indexes)
        if said := word_schema_at(self._pen, self._tool.args_schema, path):
            kind, *limits = said
            yield f"{kind}, {' and '.join(limits)}" if limits else kind

    def _word_backing(self, take: CallTake) -> Iterator[str]:
        bound = self._needs.bound.get(segments(take.arg)[0])
        if bound is not None:
            yield f"evidence of class {self._pen.names(bound.classes, last='or')} backs it"


def _ways_to(field: str) -> list[tuple[str, ...]]:
    """Return where a field of a class is: a name is a member of the whole, or of each element."""
    return [segments(field)] if field.startswith("/") else [(field,), ("*", field)]


def _meet(way: Sequence[str], at: Sequence[str]) -> bool:
    """Return whether one of two places may be the other, or in it."""
    return all(
        part in (name, "*") or (name == "*" and array_index(part) is not None)
        for name, part in zip(way, at, strict=False)
    )
