"""The JSON Schemas of the envelopes, for programs in other languages.

Rule 1: a schema accepts every document that the wire accepts. What JSON Schema cannot express
        (unique ids, nesting, 1.0 not an integer, contradictory verdicts) is left to the wire.
Rule 2: an optional field is left out: it is not required, it has no default null, and null is
        refused for it.
Rule 3: one schema has one byte form, and the checked-in files are these bytes.
"""

import copy
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final

from pydantic import TypeAdapter

from critic import (
    Advice,
    Approval,
    ApprovedValue,
    Binding,
    CompiledContext,
    Condition,
    CriticReport,
    DecisionSpec,
    Demand,
    EvaluatorVerdict,
    EvidenceClass,
    EvidenceItem,
    Finding,
    Manifests,
    Opening,
    OwnValue,
    Plan,
    Proposal,
    ReasonStep,
    Refused,
    Run,
    RunBudget,
    RunContext,
    Scorecard,
    Scores,
    ScoreVerdict,
    SentValues,
    SessionFacts,
    Source,
    Spent,
    SpentCall,
    Step,
    Take,
    ToolCall,
    ToolCapability,
    ToolName,
    ToolResult,
    ToolStep,
    Verified,
    VerifyVerdict,
    Violation,
    WaivedCall,
)
from critic.session import SessionReport
from evals.schema_keywords import KEYWORDS
from harness.cases import Case, ConsolidateInput, folded_json
from harness.guard import (
    AnswerEvent,
    CallsEvent,
    CloseEvent,
    EventError,
    OpenEvent,
    OpeningRuling,
    ReadyEvent,
    ResultEvent,
    Ruling,
    SaidEvent,
    SessionPlanEvent,
)
from harness.policy.envelopes import AcceptedFinding, GuardSettings, Policy, PolicyClass, PolicyTool
from harness.record import DecisionRecord

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

_ENVELOPES: Final[tuple[tuple[str, Any], ...]] = (
    ("Proposal", Proposal),
    ("RunContext", RunContext),
    ("RunBudget", RunBudget),
    ("Spent", Spent),
    ("SpentCall", SpentCall),
    ("Approval", Approval),
    ("SessionFacts", SessionFacts),
    ("ApprovedValue", ApprovedValue),
    ("OwnValue", OwnValue),
    ("SentValues", SentValues),
    ("WaivedCall", WaivedCall),
    ("CompiledContext", CompiledContext),
    ("Manifests", Manifests),
    ("ToolCapability", ToolCapability),
    ("ToolName", ToolName),
    ("ToolResult", ToolResult),
    ("Demand", Demand),
    ("Binding", Binding),
    ("EvidenceClass", EvidenceClass),
    ("EvidenceItem", EvidenceItem),
    ("Source", Source),
    ("DecisionSpec", DecisionSpec),
    ("Plan", Plan),
    ("Step", Step),
    ("ToolStep", ToolStep),
    ("ReasonStep", ReasonStep),
    ("Take", Take),
    ("Run", Run),
    ("ToolCall", ToolCall),
    ("Opening", Opening),
    ("VerifyVerdict", VerifyVerdict),
    ("Verified", Verified),
    ("Refused", Refused),
    ("Violation", Violation),
    ("Condition", Condition),
    ("ScoreVerdict", ScoreVerdict),
    ("Scorecard", Scorecard),
    ("Scores", Scores),
    ("EvaluatorVerdict", EvaluatorVerdict),
    ("Finding", Finding),
    ("CriticReport", CriticReport),
    ("Advice", Advice),
    ("DecisionRecord", DecisionRecord),
    ("OpenEvent", OpenEvent),
    ("SaidEvent", SaidEvent),
    ("CallsEvent", CallsEvent),
    ("SessionPlanEvent", SessionPlanEvent),
    ("ReadyEvent", ReadyEvent),
    ("ResultEvent", ResultEvent),
    ("AnswerEvent", AnswerEvent),
    ("CloseEvent", CloseEvent),
    ("Ruling", Ruling),
    ("OpeningRuling", OpeningRuling),
    ("SessionReport", SessionReport),
    ("EventError", EventError),
    ("ConsolidateInput", ConsolidateInput),
    ("Case", Case),
    ("Policy", Policy),
    ("PolicyClass", PolicyClass),
    ("PolicyTool", PolicyTool),
    ("AcceptedFinding", AcceptedFinding),
    ("GuardSettings", GuardSettings),
)

_OF_LOOPS: Final = {
    "RevisionRequest": "harness.loops.plan_types",
    "FeedbackEntry": "harness.loops.feedback",
}
"""The envelopes that only planners read, each with its module: a service has no use for them."""

# What `evals.timestamps` reads: `format` alone is an annotation, which few validators check.
_TIME_PATTERN: Final = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(\.[0-9]{1,6}0*)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
)

_JSON_SCHEMA: Final = {"type": ["object", "boolean"]}
"""The schema of fields that contain a JSON Schema: the wire judges their content."""


def schemas() -> dict[str, Schema]:
    """Return the JSON Schema (draft 2020-12, self-contained) of every envelope, by name."""
    of_loops = {name: getattr(import_module(module), name) for name, module in _OF_LOOPS.items()}
    return schemas_of_services() | {name: _schema(name, it) for name, it in of_loops.items()}


def schemas_of_services() -> dict[str, Schema]:
    """Return the schemas of every envelope that is not of the loops, which stay unloaded."""
    return copy.deepcopy(_derive_schemas())  # the caller's own, to change as it likes


def render_schemas(schema: Schema) -> bytes:
    """Render the bytes of a schema file: what fits on a line on one line."""
    return f"{folded_json(schema)}\n".encode()


@cache
def _derive_schemas() -> dict[str, Schema]:
    return {name: _schema(name, envelope) for name, envelope in _ENVELOPES}


def _schema(name: str, envelope: Any) -> Schema:
    body = _plain_schema(TypeAdapter(envelope).json_schema())
    parts = body.pop("$defs", {})
    named = {"$schema": DIALECT, "title": name, **body}
    return {**named, "$defs": parts} if parts else named


def _plain_schema(schema: Any) -> Any:
    """Return the schema in standard keywords only, as strict as the wire and not stricter."""
    if not isinstance(schema, dict):
        return schema
    plain = {keyword: _part(keyword, value) for keyword, value in _kept_keywords(schema)}
    if "discriminator" in schema:
        plain["required"] = [schema["discriminator"]["propertyName"]]
    if "patternProperties" in schema:
        plain["additionalProperties"] = False
    if schema.get("format") == "date-time":
        plain["pattern"] = _TIME_PATTERN
    if schema.get("default", ...) is None and not {"type", "$ref", "oneOf", "anyOf"} & set(plain):
        plain["not"] = {"type": "null"}
    return plain


def _kept_keywords(schema: Schema) -> Iterator[tuple[str, Any]]:
    for keyword, value in schema.items():
        absent = keyword == "default" and value is None
        if keyword not in ("title", "discriminator") and not absent:
            yield keyword, value


def _part(keyword: str, value: Any) -> Any:
    match KEYWORDS[keyword].form if keyword in KEYWORDS else None:
        case "one":
            return _plain_schema(value)
        case "list":
            return [_plain_schema(item) for item in value]
        case "names":
            return {name: _property(name, item) for name, item in value.items()}
    return value


def _property(name: str, schema: Schema) -> Schema:
    plain: Schema = _plain_schema(schema)
    if name in ("args_schema", "content_schema"):
        return dict(_JSON_SCHEMA)
    if name == "output_schemas":
        names = {pattern: dict(_JSON_SCHEMA) for pattern in plain["patternProperties"]}
        return {**plain, "patternProperties": names}
    return plain
