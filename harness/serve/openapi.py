"""Make the OpenAPI document: the endpoints, with the schemas of the envelopes, and examples.

Rule 1: a schema admits every body that the service takes. What JSON Schema cannot express is left
        to the service, so a body that a schema admits may be answered by 400.
"""

import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from harness.schemas import schemas
from harness.serve.examples import request_examples
from harness.serve.openapi_parts import OTHER_SCHEMAS

Json = dict[str, Any]

_PARTS: Final = "#/components/schemas/"
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
    408: "the body did not arrive in time",
    413: "the body is too large",
    421: "the header Host names another machine",
    500: "the critic failed: nothing is allowed",
    503: "too much at once, or no answer in time: nothing is allowed",
}


def openapi_document() -> Json:
    """Return the document."""
    verdict, ruling = _ref("VerifyVerdict"), {"oneOf": [_ref("Ruling"), _ref("SessionReport")]}
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
        "/access/v1/evaluation": _authzen("May this call be made?", "Evaluation"),
        "/access/v1/evaluations": _authzen("May these calls be made?", "Evaluations"),
        "/.well-known/authzen-configuration": _get("Where the AuthZEN endpoints are."),
        **_data("verify", verdict, _ref("Proposal")),
        **_data("score", _ref("ScoreVerdict"), _ref("Run")),
        "/healthz": _get("The process answers."),
        "/readyz": _get("The log, if there is one, can be read."),
        "/metrics": _get("Counters for Prometheus.", "text/plain"),
        "/openapi.json": _get("This document."),
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "plan-critic",
            "version": _version(),
            "description": "Typed verdicts on plans and calls before any side effect.",
        },
        "paths": {path: _with_examples(path, item) for path, item in paths.items()},
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
    content = {"application/json": {"schema": {"type": "object"}}}
    told = {**_FAULTS, 404: "it is not served here", 405: "wrong method", 429: "too many sessions"}
    told |= {415: "the body is not JSON by its headers", 431: "the headers are too large"}
    kept = {*_FAULTS, 404, *also}
    return {
        str(status): {"description": told[status], "content": content} for status in sorted(kept)
    }


def _events(event: Json, ruling: Json) -> Json:
    item = _post("Take in an event of a session.", event, {200: ruling, 204: None})
    conflict = {"description": "the event is in the wrong place: it changed nothing"}
    content = {"application/json": {"schema": _ref("EventError")}}
    responses = item["post"]["responses"]
    responses |= {"409": {**conflict, "content": content}, **_faults(429)}
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
    for name, schema in schemas().items():
        moved = json.loads(json.dumps(schema).replace('"#/$defs/', f'"{_PARTS}'))
        inner = moved.pop("$defs", {})
        moved.pop("$schema")
        parts |= {part: body for part, body in inner.items() if part not in parts}
        parts[name] = moved
    return parts | OTHER_SCHEMAS


def _with_examples(path: str, item: Json) -> Json:
    if examples := request_examples().get(path):
        named = {name.replace(" ", "_"): {"value": one} for name, one in examples.items()}
        item["post"]["requestBody"]["content"]["application/json"]["examples"] = named
    return item


def _version() -> str:
    try:
        return version("plan-critic")
    except PackageNotFoundError:
        return "0+unknown"
