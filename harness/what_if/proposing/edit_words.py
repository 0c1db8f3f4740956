"""Say in words what an edit changes, and what stops a task. Pure; safe to print."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from evals.escaping import escape_line, escape_name
from harness.canonical import canonical_json
from harness.what_if.proposing.edit_openings import EditOpening
from harness.what_if.proposing.policy_edits import EditKind, PolicyEdit
from harness.what_if.proposing.task_judge import TaskStop

_LONGEST: Final = 60
_QUOTED: Final = re.compile(r"^[\w -]*?\[[^\]]*\] ")
_ITEM: Final = re.compile(r"\bcall/\d+ \[(\w+)[^\]]*\](?: \([^)]*\))?")
_STEP: Final = re.compile(r"^step \d+ ")
_HELP: Final = re.compile(
    r": (?:name it in the request|ask for it in the request|needs approval"
    r"|two doubts about one step.*)$"
)


_TEXTS: Final[Mapping[EditKind, str]] = {
    "open": "tier of {tool}: {value}",
    "fields": "fields of {tool}: {place} = {value}",
    "scope": "scope: {tool}",
    "makes": "{tool} makes {place}: {value}",
    "locator": "role of {tool} {place}: locator",
    "fresh": "results of {tool} are fresh for {value} s",
    "object": "role of {tool} {place}: object",
    "member": "author of {tool}: member",
    "follows": "{tool} follows {value}",
    "empty": "{tool} may leave out {value}",
    "names": "fields of {tool}: {place} = {value}",
    "system": "author of {tool}: system",
    "role": "role of {tool} {place}: {value}",
    "tier": "tier of {tool}: {value}",
}


def edit_text(edit: PolicyEdit) -> str:
    """Return what an edit changes, on one line."""
    # Behind a kind stands where it has to be said.
    value = edit.value.partition(" ")[0] if edit.kind == "makes" else edit.value
    tool, place, shown = map(escape_name, (edit.tool, edit.place, value))
    return _TEXTS[edit.kind].format(tool=tool, place=place, value=shown)


def stop_text(stop: TaskStop) -> str:
    """Return where a task stops, and why: the tool, the argument and its value, the source."""
    where = f"{escape_name(stop.tool)} {escape_name(stop.path)}".rstrip()
    value = "" if not stop.path else f" {_show_value(stop.value)}"
    reason = _HELP.sub("", _ITEM.sub(r"\1", stop.reason))
    if stop.path:
        reason = _QUOTED.sub("", reason).removeprefix("appears ")
    return f"{where}{value}: {escape_line(reason)}"


def refusal_text(reasons: Sequence[str]) -> str:
    """Return why a plan is refused, without the step and what would help."""
    reason = _HELP.sub("", _STEP.sub("", reasons[0])) if reasons else ""
    return escape_line(reason)


def _show_value(value: object) -> str:
    shown = canonical_json(value).decode()
    return escape_line(shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}...")


def opening_text(opening: EditOpening) -> str:
    """Return what a result may choose, and whether a person is asked then."""
    asked = "a person is asked" if opening.action == "ask" else "nobody is asked"
    source, tool, argument = map(escape_name, (opening.source, opening.tool, opening.argument))
    return f"what {source} returns chooses {argument} of {tool}; {asked}"
