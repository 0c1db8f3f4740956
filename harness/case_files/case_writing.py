"""Write the case of a recorded session: its events, and what was said to each turn. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from critic import Refused, Verified
from evals.kinds import RecordedAction
from harness.cases import folded_json
from harness.errors import HarnessError
from harness.expected_rulings import judged_ruling
from harness.policy.analysis.toml_spelling import toml_key, toml_value

Json = dict[str, Any]


class NoCase(HarnessError, ValueError):
    """A session cannot be written as a case. The message is one line, safe to print."""


def expected_of(
    action: RecordedAction | Literal["stop"], verdict: Verified | Refused
) -> str | Json:
    """Return what a case demands of a turn: what was said to it, and why it was refused.

    A shadow let it run, whatever it said. A refusal that a yes would clear has no reason of the
    verdict: nobody was there to be asked, or a person had said no. Of a `stop` it is not known
    whether somebody was asked, so it has a reason alone.
    """
    if action == "stop" and isinstance(verdict, Refused):
        first = judged_ruling(verdict).violations[0]
        return {"because": first.name or first.check}
    if action != "refuse":
        return "ask" if action == "ask" else "allow"
    named = judged_ruling(verdict).violations
    listed = () if isinstance(verdict, Verified) else verdict.violations
    reasons = (
        one.name
        for one, violation in zip(named, listed, strict=True)
        if one.name is not None and not violation.approvable
    )
    because = next(reasons, None)
    return "refuse" if because is None else {"refuses": True, "because": because}


def case_as_json(title: str, must: Sequence[str | Json], events: Sequence[Json]) -> str:
    """Return a case of a session as JSON for a person to read."""
    case = {"title": title, "command": "session", "must": list(must), "events": list(events)}
    return f"{folded_json(case)}\n"


def case_as_toml(title: str, must: Sequence[str | Json], events: Sequence[Json]) -> str:
    """Return a case of a session as TOML.

    Raises:
        NoCase: an event holds null, which TOML does not have.
    """
    lines = [f"title = {toml_value(title)}", 'command = "session"', "must = ["]
    lines += [f"  {toml_value(one)}," for one in must]
    lines.append("]")
    for at, event in enumerate(events):
        if _has_null(event):
            raise NoCase(f"event {at} holds null, which TOML lacks: --format json writes it")
        lines += ["", "[[events]]"]
        lines += [f"{toml_key(name)} = {toml_value(value)}" for name, value in event.items()]
    return "\n".join(lines) + "\n"


def _has_null(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(_has_null, value)))
