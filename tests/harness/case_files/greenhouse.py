"""A greenhouse whose tanks are dosed: a policy with a demand, bindings and two kinds of sources."""

from pathlib import Path

GREENHOUSE = """\
[guard]
safety_mode = "destructive"
max_questions = 2

[spec]
id = "greenhouse"
required_outputs = []
provenance = "closed"
approval_required_from = "destructive"

[[class]]
name = "tank_record"
schema.type = "object"
schema.required = ["tank_id", "safe_ml", "ready"]
schema.properties.tank_id.type = "string"
schema.properties.safe_ml.type = "integer"
schema.properties.ready.type = "boolean"
schema.properties.grower.type = "string"
schema.properties.remark.type = "string"
example = { tank_id = "T-41", safe_ml = 250, ready = true, grower = "ines@beds.example" }
fields = { tank_id = "system", safe_ml = "system", ready = "system", grower = "party" }
fresh_s = 600

[[tool]]
adapter_id = "beds"
capability_id = "read_tank"
approval_mode = "read_only"
arg_roles = { tank_id = "locator" }
result = { author = "system", format = "json" }
yields = "tank_record"
args_schema.type = "object"
args_schema.additionalProperties = false
args_schema.required = ["tank_id"]
args_schema.properties.tank_id = { type = "string" }

[[tool]]
adapter_id = "beds"
capability_id = "read_bulletin"
approval_mode = "read_only"
result = { author = "public", web = true }
args_schema.type = "object"
args_schema.additionalProperties = false
args_schema.required = ["topic"]
args_schema.properties.topic = { type = "string" }

[[tool]]
adapter_id = "beds"
capability_id = "dose"
approval_mode = "destructive"
arg_roles = { tank_id = "object", ml = "attribute" }
bound_args.tank_id = { from = ["tank_record"], at = ["/tank_id"] }
bound_args.ml = { from = ["tank_record"], at = ["/safe_ml"] }
bound_together = [["tank_id", "ml"]]
args_schema.type = "object"
args_schema.additionalProperties = false
args_schema.required = ["tank_id", "ml"]
args_schema.properties.tank_id = { type = "string" }
args_schema.properties.ml = { type = "integer", minimum = 1, maximum = 500 }

[[tool.requires_evidence]]
class = "tank_record"
about = { tank_id = "/tank_id" }
content_schema = { properties = { ready = { const = true } }, required = ["ready"] }

[[tool]]
adapter_id = "beds"
capability_id = "message_grower"
approval_mode = "network"
arg_roles = { to = "recipient", text = "content" }
arg_kinds = { to = "address" }
args_schema.type = "object"
args_schema.additionalProperties = false
args_schema.required = ["to", "text"]
args_schema.properties.to = { type = "string" }
args_schema.properties.text = { type = "string" }
"""

TANK = '{ tank_id = "T-41", safe_ml = 250, ready = true }'


def session(must: str, *events: str) -> str:
    """Return a case of a session: each event is the body of one `[[events]]`."""
    tables = "".join(f"\n[[events]]\n{event}\n" for event in events)
    return f'title = "t"\ncommand = "session"\nmust = {must}\n{tables}'


def opened(request: str) -> str:
    return f'event = "open"\nrequest = "{request}"'


def called(name: str, tool: str, args: str) -> str:
    return f'event = "calls"\ncalls = [{{ id = "{name}", tool = "{tool}", args = {args} }}]'


def returned(name: str, output: str) -> str:
    return f'event = "result"\nid = "{name}"\nstatus = "completed"\noutput = {output}'


READ = (called("c1", "read_tank", '{ tank_id = "T-41" }'), returned("c1", TANK))
"""The tank is read, and says how much is safe."""


def plan(must: str, more: str = "", ml: int = 250) -> str:
    """Return a case of a plan that gives one dose."""
    args = f'args = {{ tank_id = "T-41", ml = {ml} }}'
    step = f'kind = "tool", adapter_id = "beds", capability_id = "dose", {args}'
    return f"""\
title = "t"
command = "verify"
must = {must}
{more}

[input]
ctx = {{ trace_id = "t1", as_of = 2026-05-09T09:45:00Z }}
plan.declared_outputs = []
plan.steps = [{{ {step}, evidence_refs = ["tank"] }}]

[[input.compiled.manifests.evidence_manifest]]
id = "tank"
classification = "tank_record"
content = {TANK}
source = {{ author = "system", standing = "named" }}
"""


def write(folder: Path, text: str, name: str = "case.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path
