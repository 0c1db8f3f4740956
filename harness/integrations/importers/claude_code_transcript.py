"""Session files of Claude Code. Their form is not documented: what is not known is left out."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.integrations.importers.anthropic import asked_for, turn_of
from harness.integrations.importers.transcript import (
    LeftOut,
    Recorded,
    RecordedBatch,
    RecordedCall,
    RecordedResult,
    RecordedRun,
    left_out,
    require_mapping,
)

Lines = list[tuple[str, Any]]
"""The lines of a file, each with its place."""

_NOT_MADE: Final = left_out("denied", "the result of a call that did not run:")


def claude_code(lines: Lines) -> Iterator[RecordedRun]:
    """Yield the sessions of a file, in the order of their first lines."""
    sessions: dict[str | None, Lines] = {}
    for path, value in lines:
        line = require_mapping(value, path)
        name = line.get("sessionId")
        sessions.setdefault(name if type(name) is str else None, []).append((path, line))
    known = {name: own for name, own in sessions.items() if name is not None}
    for name, own in (known or sessions).items():
        yield RecordedRun(name, _read_session(own))


def _read_session(lines: Lines) -> Iterator[Recorded]:
    kept, refused = list[tuple[str, Mapping[str, Any]]](), set[str]()
    for path, line in lines:
        reason = _why_skipped(line)
        if reason is None:
            kept.append((path, line["message"]))
            refused |= {path} if _was_refused(line) else set()
        else:
            yield reason
    turns = _turns(kept)
    for path, message in kept:
        if message.get("role") != "assistant":
            for one in turn_of(message, f"{path}/message"):
                unmade = path in refused and isinstance(one, RecordedResult)
                yield _NOT_MADE if unmade else one
        elif calls := turns.pop(_turn_name(path, message), None):
            yield RecordedBatch(tuple(calls))


def _why_skipped(line: Mapping[str, Any]) -> LeftOut | None:
    """Return why a line is left out, if it is."""
    kind = line.get("type")
    if kind not in ("user", "assistant") or type(line.get("message")) is not dict:
        return left_out(kind, "a line of the type")
    if line.get("isSidechain") is True:
        return LeftOut("a line of a sub-agent")
    if line.get("isMeta") is True or line.get("isCompactSummary") is True:
        return LeftOut("a line that the user did not write")
    return None


def _was_refused(line: Mapping[str, Any]) -> bool:
    """Return whether the result on a line is the refusal of a call that did not run."""
    decided = line.get("permissionDecision")
    rejected = type(decided) is dict and decided.get("decision") == "reject"
    return rejected or line.get("toolDenialKind") is not None


def _turns(lines: list[tuple[str, Mapping[str, Any]]]) -> dict[str, list[RecordedCall]]:
    """Return the calls of each message of the model: it may stand on several lines."""
    turns: dict[str, list[RecordedCall]] = {}
    for path, message in lines:
        if message.get("role") == "assistant":
            calls, _ = asked_for(message.get("content"), f"{path}/message/content")
            turns.setdefault(_turn_name(path, message), []).extend(calls)
    return turns


def _turn_name(path: str, message: Mapping[str, Any]) -> str:
    name = message.get("id")
    return name if type(name) is str else path
