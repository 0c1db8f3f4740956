"""The facts that the second statement of `verify` and `score` argues from, found the slow way.

Plain JSON values in, plain values out; no index, no cache, nothing shared with the engine.
"""

import hashlib
import unicodedata
from datetime import datetime
from typing import Any

import rfc8785
from jsonschema_rs import Draft202012Validator, RegexOptions

Json = dict[str, Any]

RANKS = ["read_only", "local_write", "network", "delegated", "destructive"]
JOINERS = ".:/#@+=~-"
MARKS = {"Mn", "Mc", "Me", "Cf", "Pc", "Nd", "Nl", "No"}


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


SIGNS = "-+.\u2010\u2011\u2012\u2013\u2212\uff0b\uff0d"


MASKS = "*\u00b7\u2022\u2026\u2217"


def is_token_character(char: str) -> bool:
    return char.isalnum() or unicodedata.category(char) in MARKS


def tokens(text: str) -> list[tuple[int, int]]:
    """Return the start and the end of each token of the text."""
    found: list[tuple[int, int]] = []
    position = 0
    while position < len(text):
        if is_token_character(text[position]):
            found.append((signs_start(text, position), token_end(text, position)))
            position = found[-1][1]
        position += 1
    return found


def signs_start(text: str, start: int) -> int:
    """Return where the signs of a number start, or what masks its first digits."""
    if not text[start].isdecimal():
        return start
    signed = start - len(text[:start]) + len(text[:start].rstrip(SIGNS))
    if signed < start:
        return signed
    masked = len(text[:start].rstrip(MASKS))
    return masked if start - masked >= 3 else start


def token_end(text: str, start: int) -> int:
    """Return the end of the token whose first character is at `start`."""
    end = start
    while True:
        while end < len(text) and is_token_character(text[end]):
            end += 1
        after = join_end(text, end)
        if after == end:
            return end
        end = after


def join_end(text: str, end: int) -> int:
    """Return where a token that paused at `end` goes on, or `end` if it does not."""
    after = end
    while after < len(text) and text[after] in JOINERS:
        after += 1
    if after < len(text) and is_token_character(text[after]):
        return after
    if not text[end - 1].isdecimal():
        return end
    if text[end : end + 1] in (",", "'", "\u2019") and text[end + 1 : end + 2].isdecimal():
        return end + 1
    masks = len(text[end:]) - len(text[end:].lstrip(MASKS))
    return end + masks if masks >= 3 else end


def occurs(value: str, text: str) -> bool:
    """Return whether the text holds the value as a whole, without cutting a token in two."""
    if not any(is_token_character(char) for char in value):
        return value == text
    spans = tokens(text)
    for start in range(len(text) - len(value) + 1):
        end = start + len(value)
        cut = [one for one in spans if one[0] < start < one[1] or one[0] < end < one[1]]
        if text[start:end] == value and not cut:
            return True
    return False


def backs(content: Any, value: Any) -> bool:
    if isinstance(content, str):
        return occurs(value if isinstance(value, str) else spelled(value), content)
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
    context = {"compiled": p["compiled"], "spec": p["spec"], "trace_id": p["ctx"]["trace_id"]}
    for approval in p["ctx"].get("approvals", []):
        if not is_digest_of(approval["plan_digest"], p["plan"]):
            continue
        if "context_digest" in approval and not is_digest_of(approval["context_digest"], context):
            continue
        if step in approval.get("steps", [step]) and unexpired(p, approval):
            return True
    return False


def tier_faults(p: Json, tool: Json, step: int) -> list[str]:
    spec, rank = p["spec"], RANKS.index(tool["approval_mode"])
    violations = []
    if rank > RANKS.index(p["ctx"]["safety_mode"]):
        violations.append("safety_mode")
    if "approval_mode" in spec and rank > RANKS.index(spec["approval_mode"]):
        violations.append("approval_mode")
    tier = spec.get("approval_required_from")
    if tier is not None and rank >= RANKS.index(tier) and not approved(p, step):
        violations.append("approval_required_from")
    return violations


def wrong_places(schema: Any, value: Any) -> list[list[str | int]]:
    """Return every place in the value that does not satisfy the schema, once, in order."""
    validator = Draft202012Validator(schema, pattern_options=RegexOptions())
    places = distinct([list(error.instance_path) for error in validator.iter_errors(value)])
    return sorted(places, key=lambda place: [(isinstance(part, str), part) for part in place])
