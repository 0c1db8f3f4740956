"""What a drawn proposal has of the rules that are not in every proposal."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tests.support.model.facts import Json


def _tools(p: Json) -> list[Json]:
    tools: list[Json] = p["compiled"]["manifests"]["tool_manifest"]
    return tools


def _demands(p: Json) -> list[Json]:
    required = (one for tool in _tools(p) for one in tool.get("requires_evidence", ()))
    return [one for one in required if isinstance(one, dict)]


def _bindings(p: Json) -> list[Json]:
    bound = (one for tool in _tools(p) for one in tool.get("bound_args", {}).values())
    return [one for one in bound if isinstance(one, dict)]


def _classes(p: Json) -> list[Json]:
    classes: list[Json] = p["compiled"]["manifests"].get("classes", [])
    return classes


def _any_has(values: list[Any], *names: str) -> bool:
    return any(any(name in one for name in names) for one in values)


def _of_session(p: Json, name: str) -> bool:
    return bool(p["ctx"].get("session", {}).get(name))


def _lists_needed(p: Json) -> bool:
    listed = {output for tool in _tools(p) for output in tool.get("produces", ())}
    return not listed.isdisjoint(p["spec"]["required_outputs"])


_HAS: Final[Mapping[str, Callable[[Json], bool]]] = {
    "a demand with a schema": lambda p: _any_has(_demands(p), "content_schema"),
    "a demand about an argument": lambda p: _any_has(_demands(p), "about"),
    "a binding at a pointer": lambda p: _any_has(_bindings(p), "at"),
    "an optional binding": lambda p: any(one.get("optional") for one in _bindings(p)),
    "arguments bound together": lambda p: _any_has(_tools(p), "bound_together"),
    "a listed output": _lists_needed,
    "confined evidence": lambda p: bool(p["spec"].get("confined_evidence")),
    "calls of earlier turns": lambda p: bool(p["ctx"].get("spent", {}).get("calls")),
    "an approval in a context": lambda p: _any_has(p["ctx"].get("approvals", []), "context_digest"),
    "closed": lambda p: p["spec"].get("provenance") == "closed",
    "open": lambda p: p["spec"].get("provenance") == "open",
    "parties are recipients": lambda p: p["spec"].get("party_recipients") == "allow",
    "roles": lambda p: _any_has(_tools(p), "arg_roles"),
    "kinds of arguments": lambda p: _any_has(_tools(p), "arg_kinds"),
    "arguments that may be empty": lambda p: _any_has(_tools(p), "may_be_empty"),
    "record fields": lambda p: bool(p["compiled"]["manifests"].get("record_fields")),
    "classes with fields": lambda p: _any_has(_classes(p), "fields"),
    "a class with a schema": lambda p: _any_has(_classes(p), "schema"),
    "a scope": lambda p: bool(p["ctx"].get("scope")),
    "approved values": lambda p: _of_session(p, "approved"),
    "what the session sent": lambda p: _of_session(p, "sent"),
    "things of the session's own": lambda p: _of_session(p, "own"),
    "a waived scope": lambda p: _of_session(p, "waived"),
}

FEATURES: Final = tuple(_HAS)


def features(proposal: Json) -> Iterator[str]:
    """Yield the names of what the proposal has, of `FEATURES`."""
    return (name for name, has in _HAS.items() if has(proposal))
