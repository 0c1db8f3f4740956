"""Write edits into the text of a policy, and that as a unified diff. Pure.

Rule 1: what is written reads as the policy that was judged. Where it does not, nothing is written.
Rule 2: all else in the text stays as it is; of JSON, all else that it says.
Rule 3: what an edit writes is marked as a guess: in TOML its line, `# from task t03`.
"""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from evals.escaping import escape_line
from harness.errors import HarnessError
from harness.policy.analysis.toml_spelling import toml_key, toml_value
from harness.policy.envelopes import Policy
from harness.policy.policy_reading import parse_policy
from harness.policy.positions import Parts, TextWalk
from harness.what_if.proposing.json_patch import write_json_edits
from harness.what_if.proposing.policy_edits import (
    PolicyEdit,
    SetValue,
    changes_of,
    edited_wire,
    make_change,
)
from harness.wire import InvalidInput, build

_MARK: Final = "# from task"


class UnwritableEdit(HarnessError):
    """An edit has no place in the text of a policy."""


class TaskEdit(NamedTuple):
    """An edit, and the tasks that it is for."""

    edit: PolicyEdit
    tasks: tuple[str, ...]


class _Spans(TextWalk):
    """Where each value of a TOML text stands, and where each table ends.

    Attributes:
        values: the offsets of each value, by its place.
        ends: the end of the last line of each table that has a header, by its place.
        members: the offsets of the values that stand behind a key on a line of their own.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.values: dict[Parts, tuple[int, int]] = {}
        self.ends: dict[Parts, int] = {(): 0}
        self.members: list[tuple[int, int]] = []
        self.document()

    def value(self, path: Parts) -> None:
        start = self._at
        super().value(path)
        self.values[path] = start, self._at

    def _header(self) -> Parts:
        path = super()._header()
        self.ends[path] = self._at
        return path

    def _member(self, table: Parts) -> None:
        start = self._at
        super()._member(table)
        if table in self.ends:
            self.ends[table] = self._at
            self.members.append((start, self._at))


def write_edits(text: str, edits: Iterable[TaskEdit], asked: Iterable[TaskEdit] = ()) -> str:
    """Return the text of a policy with edits, each marked; those that need a word as comments.

    JSON has no comments: there, those that need a word are left out.

    Raises:
        UnwritableEdit: one has no place in the text.
        InvalidInput: the text is not a policy.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    before = text.replace("\r\n", "\n")
    made = list(edits)
    wire = parse_policy(before.encode()).policy.wire()
    wanted = _without_marks(edited_wire(wire, [one.edit for one in made]))
    if before.lstrip().startswith("{"):
        written = write_json_edits(before, [one.edit for one in made])
    else:
        written = _write_toml(before, wire, made, asked)
    if _without_marks(_read_wire(written)) != wanted:
        raise UnwritableEdit("the edits have no place in the text of the policy: make them by hand")
    return written.replace("\n", newline)


def _write_toml(
    text: str, wire: dict[str, Any], made: Iterable[TaskEdit], asked: Iterable[TaskEdit]
) -> str:
    for one in made:
        for change in changes_of(wire, one.edit):
            text, wire = _write_change(text, change, one), make_change(wire, change)
    for one in asked:
        for change in changes_of(wire, one.edit):
            text = _write_comment(text, change, one)
    return text


def _read_wire(text: str) -> dict[str, Any]:
    try:
        return parse_policy(text.encode()).policy.wire()
    except InvalidInput:
        return {}


def _without_marks(wire: dict[str, Any]) -> Policy | None:
    kept = {name: value for name, value in wire.items() if name != "guessed"}
    return build(Policy, kept) if kept else None


def _write_change(text: str, change: SetValue, of: TaskEdit) -> str:
    """Return the text with one change, and a mark on the line of it."""
    spans = _Spans(text)
    place, value = change.place, change.value
    if change.added and place in spans.values:
        return _insert_element(text, spans, change, of)
    if change.added and place == ("class",):
        return _append_class(text, value, of)
    if change.added:
        value = [value]
    if place in spans.values:
        start, end = spans.values[place]
        return _replace(text, start, end, toml_value(value), of)
    for cut in range(len(place) - 1, -1, -1):
        outer, rest = place[:cut], place[cut:]
        spelled = f"{_join_place(rest)} = {toml_value(value)}"
        if outer in spans.values:
            return _insert_member(text, spans.values[outer], spelled, of)
        if outer in spans.ends and not any(isinstance(part, int) for part in rest):
            return _insert_line(text, spans.ends[outer], f"{spelled}  {_mark_of(of)}")
    raise UnwritableEdit(f"no place was found for {escape_line(of.edit.tool)}: edit it by hand")


def _join_place(place: Sequence[str | int]) -> str:
    return ".".join(toml_key(str(part)) for part in place)


def _mark_of(of: TaskEdit) -> str:
    return f"{_MARK} {', '.join(map(_plain, of.tasks))}"


def _plain(text: str) -> str:
    """Return a text for a comment: one line, and nothing that ends it."""
    return escape_line(text)


def _insert_element(text: str, spans: _Spans, change: SetValue, of: TaskEdit) -> str:
    start, end = spans.values[change.place]
    spelled = toml_value(change.value)
    last = -1
    while (*change.place, last + 1) in spans.values:
        last += 1
    if last < 0:
        return _replace(text, start, end, f"[{spelled}]", of)
    at = spans.values[(*change.place, last)][1]
    return _replace(text, at, at, f", {spelled}", of)


def _insert_member(text: str, span: tuple[int, int], spelled: str, of: TaskEdit) -> str:
    start, end = span
    inner = text[start + 1 : end - 1].rstrip()
    if text[start] != "{":
        raise UnwritableEdit(f"no place was found for {_plain(of.edit.tool)}: edit it by hand")
    if not inner.strip():
        return _replace(text, start, end, f"{{ {spelled} }}", of)
    at = start + 1 + len(inner)
    return _replace(text, at, at, f", {spelled}", of)


def _replace(text: str, start: int, end: int, new: str, of: TaskEdit) -> str:
    """Return the text with other characters at a place, and a mark on the line of its value."""
    written = f"{text[:start]}{new}{text[end:]}"
    members = _Spans(written).members
    last = next((stop for begin, stop in members if begin <= start < stop), start + len(new))
    line_end = written.find("\n", last)
    line_end = len(written) if line_end < 0 else line_end
    comment = written[last:line_end].strip()
    return f"{written[:last]}  {_mark_over(comment, of)}{written[line_end:]}"


def _mark_over(comment: str, of: TaskEdit) -> str:
    """Return the mark of an edit for a line with a comment, with all tasks that it names."""
    if not comment.startswith(f"{_MARK} "):
        return f"{_mark_of(of)}; {comment.lstrip('# ')}" if comment else _mark_of(of)
    named, sign, kept = comment.removeprefix(f"{_MARK} ").partition(";")
    tasks = dict.fromkeys((*named.split(", "), *map(_plain, of.tasks)))
    return f"{_MARK} {', '.join(tasks)}{sign}{kept}"


def _insert_line(text: str, after: int, line: str) -> str:
    """Return the text with a line behind the one that a place is on."""
    at = text.find("\n", after)
    if at < 0:
        return f"{text}\n{line}\n"
    return f"{text[: at + 1]}{line}\n{text[at + 1 :]}"


def _append_class(text: str, value: Any, of: TaskEdit) -> str:
    lines = ["", "[[class]]", *(f"{key} = {toml_value(one)}" for key, one in value.items())]
    lines[-1] += f"  {_mark_of(of)}"
    end = "" if text.endswith("\n") else "\n"
    return text + end + "\n".join(lines) + "\n"


def _write_comment(text: str, change: SetValue, of: TaskEdit) -> str:
    """Return the text with a change as a comment, behind the table that it is about."""
    spans = _Spans(text)
    cut = next(at for at in range(len(change.place), -1, -1) if change.place[:at] in spans.ends)
    spelled = f"{_join_place(change.place[cut:])} = {toml_value(change.value)}"
    if change.added:
        spelled = f"add to {_join_place(change.place[cut:])}: {toml_value(change.value)}"
    tasks = ", ".join(map(_plain, of.tasks))
    return _insert_line(
        text, spans.ends[change.place[:cut]], f"# needs your word, {tasks}: {spelled}"
    )


def unified_patch(name: str, before: str, after: str) -> str:
    """Return a unified diff that `patch` and `git apply` take; "" where nothing changes."""
    lines = difflib.unified_diff(
        _lines(before),
        _lines(after),
        f"a/{name}",
        f"b/{name}",
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Return the lines with their ends: `splitlines` would end some within a string."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])
