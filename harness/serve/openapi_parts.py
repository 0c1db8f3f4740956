"""The schemas of what is read in the words of other standards, and not as an envelope."""

from typing import Any, Final

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
_OBJECT: Final[Json] = {"type": "object"}


def _entity(*required: str) -> Json:
    properties = {**dict.fromkeys(required, _TEXT), "properties": _OBJECT}
    return {"type": "object", "properties": properties, "required": list(required)}


_QUESTION: Final[Json] = {
    "subject": _entity("type", "id"),
    "action": _entity("name"),
    "resource": _entity("type", "id"),
    "context": _OBJECT,
}
_OPTIONS: Final[Json] = {
    "type": "object",
    "properties": {
        "evaluations_semantic": {
            "enum": ["execute_all", "deny_on_first_deny", "permit_on_first_permit"]
        }
    },
}
_DECISION: Final[Json] = {
    "type": "object",
    "properties": {"decision": {"type": "boolean"}, "context": _OBJECT},
    "required": ["decision"],
}
_EVENTS: Final = ("Open", "Said", "Calls", "Result", "Answer", "Close")

OTHER_SCHEMAS: Final[Json] = {
    # An event without its session has the one of the path.
    "PostedEvent": {
        "type": "object",
        "properties": {
            "event": {"enum": [name.lower() for name in _EVENTS]},
            "session": {"type": "string", "minLength": 1, "maxLength": 256},
        },
        "required": ["event"],
        "anyOf": [
            {"required": ["session"], "$ref": f"#/components/schemas/{name}Event"}
            for name in _EVENTS
        ]
        + [{"not": {"required": ["session"]}}],
    },
    "EvaluationRequest": {
        "type": "object",
        "properties": _QUESTION,
        "required": ["subject", "action", "resource"],
    },
    "EvaluationResponse": _DECISION,
    "EvaluationsRequest": {
        "type": "object",
        # What each of the questions leaves out is taken from here: parts may be missing.
        "properties": {"evaluations": {"type": "array"}, "options": _OPTIONS},
    },
    "EvaluationsResponse": {
        "anyOf": [
            _DECISION,
            {
                "type": "object",
                "properties": {"evaluations": {"type": "array", "items": _DECISION}},
                "required": ["evaluations"],
            },
        ]
    },
}
