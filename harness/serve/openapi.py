"""Make the OpenAPI document: the endpoints, with the schemas of the envelopes, and examples.

Rule 1: a schema admits every body that the service takes. What JSON Schema cannot express is left
        to the service, so a body that a schema admits may be answered by 400.
"""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from critic import Proposal, verify_proposal
from harness.cases import ConsolidateInput
from harness.rules import own_version
from harness.schemas import schemas_of_services
from harness.serve.answering import json_answer
from harness.wire import build

Json = dict[str, Any]

_TOOL: Final[Json] = {
    "adapter_id": "mail",
    "capability_id": "send_mail",
    "approval_mode": "network",
    "args_schema": {
        "type": "object",
        "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
        "required": ["to", "text"],
        "additionalProperties": False,
    },
    "requires_evidence": ["consent"],
}
_CONSENT: Final[Json] = {"id": "consent/17", "classification": "consent"}
_STEP: Final[Json] = {
    "kind": "tool",
    "adapter_id": "mail",
    "capability_id": "send_mail",
    "args": {"to": "ada@example.org", "text": "Your parcel has arrived."},
}


def _proposal(*refs: str) -> Json:
    pinned = {"evidence_refs": list(refs)} if refs else {}
    return {
        "ctx": {"trace_id": "t1", "safety_mode": "network"},
        "compiled": {"manifests": {"tool_manifest": [_TOOL], "evidence_manifest": [_CONSENT]}},
        "spec": {"id": "notify", "required_outputs": []},
        "plan": {"steps": [{**_STEP, **pinned}], "declared_outputs": []},
    }


_GOOD, _UNBACKED = _proposal("consent/17"), _proposal()


def _run() -> Json:
    names = ("adapter_id", "capability_id", "args")
    call = {"step": 0, **{name: _STEP[name] for name in names}, "status": "completed"}
    return {"run_id": "r1", "trace_id": "t1", "proposal": _GOOD, "calls": [call], "outputs": {}}


def _verdicts() -> Json:
    verdict = verify_proposal(build(Proposal, _UNBACKED))
    given = {
        "trace_id": "t1",
        "decision_key": "notify",
        "verify": verdict.wire(),
        "decided_at": "2026-05-09T12:00:00Z",
    }
    return build(ConsolidateInput, given).wire()


_USER: Final = {"type": "identity", "id": "ada@example.org"}
_MAIL: Final = {
    "type": "tool",
    "id": "send_mail",
    "properties": {"arguments": _STEP["args"]},
}
_CALL: Final = {"name": "tools/call"}


def request_examples() -> Mapping[str, Mapping[str, Json]]:
    """Return requests by path and by what they show."""
    question = {"subject": _USER, "action": _CALL, "resource": _MAIL}
    batch = {"subject": _USER, "action": _CALL, "evaluations": [{"resource": _MAIL}]}
    calls = [{"id": "c1", "tool": "read_file", "args": {"path": "bill.txt"}}]
    return {
        "/v1/verify": {"backed by evidence": _GOOD, "refused": _UNBACKED},
        "/v1/score": {"a run": _run()},
        "/v1/consolidate": {"a refusal": _verdicts()},
        "/v1/sessions/{session}/events": {
            "open": {"event": "open", "session": "s1", "request": "Pay the bill in bill.txt"},
            "calls": {"event": "calls", "session": "s1", "calls": calls},
            "close": {"event": "close", "session": "s1"},
        },
        "/access/v1/evaluation": {"a call of a tool": question},
        "/access/v1/evaluations": {
            "each alone": batch,
            "a plan": {**batch, "options": {"evaluations_semantic": "deny_on_first_deny"}},
        },
        "/v1/data/critic/verify": {"a plan": {"input": _GOOD}},
        "/v1/data/critic/verify/ok": {"a plan": {"input": _UNBACKED}},
        "/v1/data/critic/score": {"a run": {"input": _run()}},
        "/v1/data/critic/score/ok": {"a run": {"input": _run()}},
        "/v1/batch/data/critic/verify": {"two plans": {"inputs": {"a": _GOOD, "b": _UNBACKED}}},
        "/v1/batch/data/critic/verify/ok": {"a plan": {"inputs": {"a": _GOOD}}},
        "/v1/batch/data/critic/score": {"a run": {"inputs": {"a": _run()}}},
        "/v1/batch/data/critic/score/ok": {"a run": {"inputs": {"a": _run()}}},
    }


_PARTS: Final = "#/components/schemas/"
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
_KINDS_OF_EVENTS: Final = (
    "Open",
    "Said",
    "Calls",
    "SessionPlan",
    "Ready",
    "Result",
    "Answer",
    "Close",
)
_EVENTS: Final = tuple(f"{name}Event" for name in _KINDS_OF_EVENTS)
_PROBLEM: Final[Json] = {
    "type": "object",
    "properties": {"path": _TEXT, "message": _TEXT},
    "required": ["path", "message"],
}

_OTHER_SCHEMAS: Final[Json] = {
    "PostedEvent": {"anyOf": [{"$ref": f"{_PARTS}{name}"} for name in _EVENTS]},
    "Error": {
        "type": "object",
        "description": "Why there is no answer. Nothing was allowed, and nothing changed.",
        "properties": {
            "error": {**_PROBLEM, "description": "the first problem: where in the body, and what"},
            "errors": {"type": "array", "items": _PROBLEM, "description": "all problems"},
            "critic_error": {**_TEXT, "description": "only there if the critic itself failed"},
        },
        "required": ["error"],
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
        "anyOf": [{"$ref": f"{_PARTS}{name}"} for name in ("EvaluationResponse", "Evaluations")]
    },
    "Evaluations": {
        "type": "object",
        "properties": {
            "evaluations": {
                "type": "array",
                "items": {"$ref": f"{_PARTS}EvaluationResponse"},
            }
        },
        "required": ["evaluations"],
    },
}


_STATUS: Final[Json] = {
    "type": "object",
    "properties": {
        "session": _TEXT,
        "turn": {"type": "integer", "minimum": 0},
        "has_halted": {"type": "boolean"},
        "awaited": {"type": "array", "items": _TEXT},
        "question": {"$ref": f"{_PARTS}Ruling"},
    },
    "required": ["session"],
}
_SESSION: Final[Json] = {
    "name": "session",
    "in": "path",
    "required": True,
    "description": "any text of at most 256 characters, percent-encoded",
    "schema": {"type": "string", "minLength": 1, "maxLength": 256},
}
_INPUT: Final[Json] = {
    "name": "input",
    "in": "query",
    "required": True,
    "description": "the input as JSON",
    "schema": {"type": "string"},
}
_FAULTS: Final[Mapping[int, str]] = {
    400: "the body is not valid: `errors` says where and why",
    401: "a bearer token is missing or wrong",
    403: "the token is not of the kind that may send this",
    408: "the body did not arrive in time",
    413: "the body is too large",
    421: "the header Host names another machine",
    500: "the critic failed: nothing is allowed",
    503: "too much at once, no answer in time, or the log cannot be written: nothing is allowed",
}


_ANSWERS: Final = ("Ruling", "OpeningRuling", "SessionReport")


def _openapi_document() -> Json:
    """Return the document."""
    verdict, ruling = _ref("VerifyVerdict"), {"oneOf": [_ref(name) for name in _ANSWERS]}
    event = _ref("PostedEvent")
    paths: Json = {
        "/v1/verify": _post("Judge a plan before it runs.", _ref("Proposal"), {200: verdict}),
        "/v1/score": _post("Judge a finished run.", _ref("Run"), {200: _ref("ScoreVerdict")}),
        "/v1/consolidate": _post(
            "Pack verdicts into a report.",
            _ref("ConsolidateInput"),
            {200: _ref("CriticReport")},
        ),
        "/v1/sessions/{session}/events": _events(event, ruling),
        "/v1/sessions/{session}/status": _status(),
        "/access/v1/evaluation": _authzen("May this call be made?", "Evaluation"),
        "/access/v1/evaluations": _authzen("May these calls be made?", "Evaluations"),
        "/.well-known/authzen-configuration": _get("Where the AuthZEN endpoints are."),
        **_data("verify", verdict, _ref("Proposal")),
        **_data("score", _ref("ScoreVerdict"), _ref("Run")),
        "/healthz": _get("The process answers."),
        "/readyz": _get("The log, if there is one, would take an append now."),
        "/metrics": _get("Counters for Prometheus.", "text/plain"),
        "/openapi.json": _get("This document."),
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "plan-critic",
            "version": own_version(),
            "description": "Typed verdicts on plans and calls before any side effect.",
        },
        "paths": {path: _finish(path, item) for path, item in paths.items()},
        "security": [{}, {"bearer": []}],
        "components": {
            "schemas": _components(),
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _post(summary: str, body: Json, answers: Mapping[int, Json | None]) -> Json:
    content = {"application/json": {"schema": body}}
    return {
        "post": {
            "summary": summary,
            "requestBody": {"required": True, "content": content},
            "responses": {
                **{str(status): _answer(schema) for status, schema in answers.items()},
                **_faults(415),
            },
        }
    }


def _get(summary: str, kind: str = "application/json") -> Json:
    answer = {"description": "the answer", "content": {kind: {}}}
    return {"get": {"summary": summary, "responses": {"200": answer, **_faults()}}}


def _answer(schema: Json | None) -> Json:
    if schema is None:
        return {"description": "taken in: there is nothing to answer"}
    return {"description": "the answer", "content": {"application/json": {"schema": schema}}}


def _faults(*also: int) -> Json:
    content = {"application/json": {"schema": _ref("Error")}}
    told = {**_FAULTS, 404: "it is not served here", 405: "wrong method", 429: "too many sessions"}
    told |= {415: "the body is not JSON by its headers", 431: "the headers are too large"}
    told |= {409: "the event is in the wrong place: it changed nothing"}
    kept = {*_FAULTS, 404, *also}
    return {
        str(status): {"description": told[status], "content": content} for status in sorted(kept)
    }


def _events(event: Json, ruling: Json) -> Json:
    item = _post("Take in an event of a session.", event, {200: ruling, 204: None})
    item["post"]["responses"] |= _faults(409, 429)
    return {"parameters": [_SESSION], **item}


def _status() -> Json:
    item = _get("The open question of a session, and to its owner where it stands.")
    item["get"]["responses"]["200"]["content"] = {"application/json": {"schema": _STATUS}}
    return {"parameters": [_SESSION], **item}


def _authzen(summary: str, name: str) -> Json:
    return _post(summary, _ref(f"{name}Request"), {200: _ref(f"{name}Response")})


def _data(of: str, verdict: Json, given: Json) -> Json:
    """Return the paths of OPA's data API for one function."""
    paths: Json = {}
    for path, result in ((of, verdict), (f"{of}/ok", {"type": "boolean"})):
        answer = _object(result=result, decision_id={"type": "string"})
        item = _post(f"The document critic/{path}.", _object(input=given), {200: answer})
        item["get"] = {**_get(f"The document critic/{path}.")["get"], "parameters": [_INPUT]}
        paths[f"/v1/data/critic/{path}"] = item
        inputs = _object(inputs={"type": "object", "additionalProperties": {}})
        many = _object(responses={"type": "object"})
        batch = _post(f"The document critic/{path}, many times.", inputs, {200: many, 207: many})
        paths[f"/v1/batch/data/critic/{path}"] = batch
    return paths


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _ref(name: str) -> Json:
    return {"$ref": f"{_PARTS}{name}"}


def _components() -> Json:
    """Return the schemas of the envelopes and of their parts, each under its name once."""
    parts: Json = {}
    for name, schema in schemas_of_services().items():
        moved = json.loads(json.dumps(schema).replace('"#/$defs/', f'"{_PARTS}'))
        inner = moved.pop("$defs", {})
        moved.pop("$schema")
        parts |= {part: body for part, body in inner.items() if part not in parts}
        parts[name] = moved
    for name in _EVENTS:  # an event that leaves out its session has the one of the path
        parts[name]["required"].remove("session")
    return {name: _allow_members(part) for name, part in (parts | _OTHER_SCHEMAS).items()}


_MEMBERS: Final = frozenset({"properties", "additionalProperties", "anyOf", "oneOf", "$ref"})


def _allow_members(schema: Any) -> Any:
    """Write out that an object may have any members: generators take silence for none."""
    if isinstance(schema, list):
        return [_allow_members(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: _allow_members(part) for name, part in schema.items()}
    is_open = schema.get("type") == "object" and not schema.keys() & _MEMBERS
    return {**inner, "additionalProperties": True} if is_open else inner


def _finish(path: str, item: Json) -> Json:
    """Give each method of a path its examples, its operation id and the tag of its protocol."""
    if examples := request_examples().get(path):
        named = {name.replace(" ", "_"): {"value": one} for name, one in examples.items()}
        item["post"]["requestBody"]["content"]["application/json"]["examples"] = named
    for method in item.keys() & {"get", "post"}:
        item[method] |= {"operationId": _operation_id(path, method), "tags": [_tag(path)]}
    return item


_OPERATIONS: Final[Mapping[str, str]] = {
    "/v1/verify": "verifyPlan",
    "/v1/score": "scoreRun",
    "/v1/consolidate": "consolidateVerdicts",
    "/v1/sessions/{session}/events": "postSessionEvent",
    "/v1/sessions/{session}/status": "getSessionStatus",
    "/access/v1/evaluation": "evaluateAccess",
    "/access/v1/evaluations": "evaluateAccessMany",
    "/.well-known/authzen-configuration": "getAuthzenConfiguration",
    "/healthz": "getHealth",
    "/readyz": "getReadiness",
    "/metrics": "getMetrics",
    "/openapi.json": "getOpenapiDocument",
}
"""Clients name their functions by these: an id never changes, whatever becomes of its path."""


def _operation_id(path: str, method: str) -> str:
    document = path.partition("/data/critic/")[2]
    if not document:
        return _OPERATIONS[path]
    many = "Many" if path.startswith("/v1/batch") else ""
    verb = "get" if method == "get" else "query"
    return f"{verb}{document.title().replace('/', '')}{many}"


def _tag(path: str) -> str:
    if "/data/critic/" in path:
        return "opa"
    if path.startswith(("/access/", "/.well-known/")):
        return "authzen"
    if path.startswith("/v1/sessions/"):
        return "sessions"
    return "verdicts" if path.startswith("/v1/") else "service"


class OpenApiEndpoint:
    """The document, which is the same for all services of a process."""

    def __init__(self) -> None:
        """Make it before the first request, unless another service did."""
        _document()

    async def show(self, _request: Request) -> Response:
        """Answer with it."""
        return Response(_document(), media_type="application/json")


@cache
def _document() -> bytes:
    return bytes(json_answer(_openapi_document()).body)
