"""The OpenAPI document: valid, true of what is answered, and met by requests made from it."""

import json
import re
import subprocess
import sys
from contextlib import suppress
from typing import Any, Final

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from jsonschema_rs import validator_for
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from harness.schemas import schemas_of_services
from harness.serve.openapi import request_examples
from tests.harness.serve.asking import app_of, ask
from tests.support.effort import sampled
from tests.support.guarding import desk
from tests.support.paths import ROOT

SERVICE: Final = app_of(desk(), loopback_only=False)
DOCUMENT: Final = ask(SERVICE, "/openapi.json").json()
EXAMPLES: Final = [
    (path, name, body) for path, named in request_examples().items() for name, body in named.items()
]
SERVED: Final = schemathesis.openapi.from_asgi("/openapi.json", SERVICE)
FOUND: Final[Any] = SERVED.get_all_operations()
OPERATIONS: Final = [found.ok() for found in FOUND]
MODES: Final = [
    pytest.param(GenerationMode.POSITIVE, id="POSITIVE"),
    pytest.param(GenerationMode.NEGATIVE, id="NEGATIVE", marks=pytest.mark.slow),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "operation", sampled(OPERATIONS, one_in=3), ids=lambda operation: operation.label
)
def test_what_is_made_from_the_document_is_answered_as_it_says(
    operation: Any, mode: GenerationMode
) -> None:
    @settings(
        max_examples=4,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def answered(case: Any) -> None:
        # Schemas admit more than the service takes: what they cannot say is answered by 400.
        case.call_and_validate(excluded_checks=[positive_data_acceptance])

    with suppress(Unsatisfiable):  # what takes nothing cannot be given anything invalid
        answered()


def validator(schema: Any) -> Any:
    return validator_for({**schema, "components": DOCUMENT["components"]})


@pytest.mark.parametrize(("path", "name", "body"), EXAMPLES)
def test_each_example_is_valid_and_answered_as_the_document_says(
    path: str, name: str, body: Any
) -> None:
    operation = DOCUMENT["paths"][path]["post"]
    content = operation["requestBody"]["content"]["application/json"]
    assert body in [one["value"] for one in content["examples"].values()]
    assert validator(content["schema"]).is_valid(body)
    app = app_of(desk())
    if body.get("event", "open") != "open":
        opened = request_examples()[path]["open"]
        ask(app, path.replace("{session}", "s1"), opened)
    answer = ask(app, path.replace("{session}", "s1"), body)
    assert answer.status_code in (200, 204), answer.text
    answered = operation["responses"][str(answer.status_code)]
    if answer.content:
        schema = answered["content"]["application/json"]["schema"]
        assert validator(schema).is_valid(answer.json()), answer.text


def test_every_schema_is_there_once_and_leads_to_others_that_are() -> None:
    parts = DOCUMENT["components"]["schemas"]
    assert parts.keys() >= schemas_of_services().keys()
    named = {ref.partition('"')[0] for ref in json.dumps(DOCUMENT).split('"#/')[1:]}
    assert {ref.removeprefix("components/schemas/") for ref in named} <= parts.keys()
    for schema in parts.values():
        assert validator(schema)


def test_every_operation_has_an_id_and_every_error_is_one_component() -> None:
    operations = [
        operation
        for item in DOCUMENT["paths"].values()
        for method, operation in item.items()
        if method in ("get", "post")
    ]
    named = [operation["operationId"] for operation in operations]
    assert len(named) == len(set(named)) > 20
    assert all(re.fullmatch("[a-z][A-Za-z]+", name) for name in named)
    errors = {
        json.dumps(answer["content"]["application/json"]["schema"])
        for operation in operations
        for status, answer in operation["responses"].items()
        if not status.startswith("2")
    }
    assert errors == {'{"$ref": "#/components/schemas/Error"}'}


ERROR: Final = validator({"$ref": "#/components/schemas/Error"})
LATE: Final = {"event": "result", "id": "c1", "status": "completed"}


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        *((path, {"surely": "wrong"}, 400) for path in request_examples() if "access" not in path),
        ("/access/v1/evaluation", {"subject": 1}, 400),
        ("/access/v1/evaluations", {"evaluations": 1}, 400),
        ("/v1/sessions/s1/events", LATE, 409),
        ("/v1/sessions/s1/status", None, 404),
        ("/v1/nowhere", None, 404),
        ("/v1/verify", None, 405),
        ("/v1/data/critic/nothing", None, 404),
    ],
)
def test_every_error_says_where_and_what_under_one_name(path: str, body: Any, status: int) -> None:
    answer = ask(SERVICE, path.replace("{session}", "s1"), body)
    assert answer.status_code == status
    assert ERROR.is_valid(answer.json()), answer.text
    assert answer.json()["error"]["message"]


@pytest.mark.slow
def test_a_service_and_its_document_load_no_loop() -> None:
    program = """if True:
        import sys, harness.serve.app, harness.serve.openapi
        harness.serve.openapi.OpenApiEndpoint()  # makes the document
        print(*(name for name in sys.modules if name.startswith("harness.loops")))
    """
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


def test_every_endpoint_is_in_the_document() -> None:
    templates = {route.path.replace(":any_text", "") for route in SERVICE.routes}
    templates -= {"/health", "/health/live", "/health/ready"}
    templates -= {"/v1/data/{path:path}", "/v1/batch/data/{path:path}"}
    assert templates <= DOCUMENT["paths"].keys()


def test_the_document_is_the_same_each_time_and_names_no_place() -> None:
    again = ask(app_of(), "/openapi.json").json()
    assert again == DOCUMENT
    assert str(ROOT) not in json.dumps(again)
