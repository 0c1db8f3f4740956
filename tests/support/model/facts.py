"""The facts that the second statement of `verify` and `score` argues from, found the slow way.

Plain JSON values in, plain values out; no index, no cache, nothing shared with the engine.
"""

import hashlib
from datetime import datetime
from typing import Any

import rfc8785
from jsonschema_rs import Draft202012Validator, RegexOptions

from tests.support.model.text import occurs, stated

Json = dict[str, Any]

RANKS = ["read_only", "local_write", "network", "delegated", "destructive"]


# --- values -----------------------------------------------------------------------------------


def distinct(names: list[Any]) -> list[Any]:
    kept: list[Any] = []
    for name in names:
        if name not in kept:
            kept.append(name)
    return kept


def spelled(value: Any) -> str:
    """Return the RFC 8785 form of a JSON value."""
    return rfc8785.dumps(value).decode()


def scalars(value: Any) -> list[Any]:
    """Return every value inside `value` that is not a container; keys are not values."""
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in scalars(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in scalars(item)]
    return [value]


def pointed(value: Any, pointer: str, *, star: bool) -> list[tuple[list[str | int], Any]]:
    """Return the places that a JSON pointer leads to, each with its value.

    With `star`, the segment `*` leads to every member or element.
    """
    found: list[tuple[list[str | int], Any]] = [([], value)]
    for segment in pointer.split("/")[1:]:
        key = segment.replace("~1", "/").replace("~0", "~")
        inside = [(place, *one) for place, outer in found for one in members(outer)]
        found = [
            ([*place, name], inner)
            for place, name, inner in inside
            if str(name) == key or (star and segment == "*")
        ]
    return found


def members(value: Any) -> list[tuple[str | int, Any]]:
    """Return the members of an object in order of their names, or the elements of an array."""
    if isinstance(value, dict):
        return sorted(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []


def joined(*parts: str | int) -> str:
    """Return the JSON pointer to that place."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def json_type(value: Any) -> str:
    if value is None:
        return "null"
    if value is True or value is False:
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "container" if isinstance(value, (dict, list)) else "number"


def same_scalar(one: Any, other: Any) -> bool:
    return json_type(one) == json_type(other) and bool(one == other)


def same_json(one: Any, other: Any) -> bool:
    return spelled(one) == spelled(other)


def backs(content: Any, value: Any) -> bool:
    if isinstance(content, str):
        text = value if isinstance(value, str) else spelled(value)
        is_a_word_of_prose = isinstance(value, bool) or value is None
        return stated(text, content) if is_a_word_of_prose else occurs(text, content)
    return any(same_scalar(leaf, value) for leaf in scalars(content))


# --- facts of a proposal ----------------------------------------------------------------------


def find_tool(p: Json, step: Json) -> Json | None:
    for tool in p["compiled"]["manifests"]["tool_manifest"]:
        if same_pair(tool, step):
            return dict(tool)
    return None


def find_evidence(p: Json, ref: str) -> Json | None:
    for item in p["compiled"]["manifests"]["evidence_manifest"]:
        if item["id"] == ref:
            return dict(item)
    return None


def find_class(p: Json, name: str) -> Json:
    """Return what the policy says of a class of evidence, if anything."""
    for one in p["compiled"]["manifests"].get("classes", []):
        if one["class"] == name:
            return dict(one)
    return {}


def unexpired(p: Json, thing: Json) -> bool:
    if "expires_at" not in thing:
        return True
    if "as_of" not in p["ctx"]:
        return False
    as_of = datetime.fromisoformat(p["ctx"]["as_of"])
    return as_of < datetime.fromisoformat(thing["expires_at"])


def same_pair(one: Json, other: Json) -> bool:
    if one.get("adapter_id") != other.get("adapter_id"):
        return False
    return bool(one.get("capability_id") == other.get("capability_id"))


def same_args(one: Json, other: Json) -> bool:
    return spelled(one["args"]) == spelled(other["args"])


def digest_of(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def plan_digest(plan: Json) -> str:
    return digest_of(plan)


def is_digest_of(named: str, value: Any) -> bool:
    return named in (digest_of(value), "sha256:" + digest_of(value))


def approved(p: Json, step: int) -> bool:
    """Return whether a person approved the step of exactly this plan, unexpired."""
    late = "takes" in p["plan"]["steps"][step]
    context = {"compiled": p["compiled"], "spec": p["spec"], "trace_id": p["ctx"]["trace_id"]}
    for approval in p["ctx"].get("approvals", []):
        if not is_digest_of(approval["plan_digest"], p["plan"]):
            continue
        if "context_digest" in approval and not is_digest_of(approval["context_digest"], context):
            continue
        if late and "late" not in approval:
            continue
        if covers(p, approval, step) and unexpired(p, approval):
            return True
    return False


def is_called(p: Json, step: Json) -> bool:
    """Return whether a step is a call: in a session, what a command does is none."""
    return "session" not in p["ctx"] or "of" not in step


def covers(p: Json, approval: Json, step: int) -> bool:
    """Return whether an approval lists a step, with all that the command of its call does."""
    steps = p["plan"]["steps"]
    command = steps[step].get("of", step)
    with_it = [at for at, one in enumerate(steps) if one.get("of") == command]
    group = {step, *([command, *with_it] if with_it else [])}
    return "steps" not in approval or all(at in approval["steps"] for at in group)


def tier_faults(p: Json, tool: Json, step: int) -> list[str]:
    spec, rank = p["spec"], RANKS.index(tool["approval_mode"])
    violations = []
    if rank > RANKS.index(p["ctx"]["safety_mode"]):
        violations.append("safety_mode")
    if "approval_mode" in spec and rank > RANKS.index(spec["approval_mode"]):
        violations.append("approval_mode")
    tier = spec.get("approval_required_from")
    waits = "takes" in p["plan"]["steps"][step] and spec.get("late") == "values"
    if tier is not None and rank >= RANKS.index(tier) and not waits and not approved(p, step):
        violations.append("approval_required_from")
    return violations


def wrong_places(schema: Any, value: Any) -> list[list[str | int]]:
    """Return every place in the value that does not satisfy the schema, once, in order."""
    validator = Draft202012Validator(schema, validate_formats=True, pattern_options=RegexOptions())
    places = distinct([list(error.instance_path) for error in validator.iter_errors(value)])
    return sorted(places, key=lambda place: [(isinstance(part, str), part) for part in place])
