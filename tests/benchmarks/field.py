"""The cost of other libraries for the same plans, each for the part of the work that it can do.

Every one is set up at its best: policies, model and schema are compiled beforehand, and it is given
what suits it: plain values that cost it nothing to make, or the bytes. None of them sees more than
one step or one field at a time, or says which evidence is missing: the figures are for scale.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import version
from types import GenericAlias
from typing import Any, Final

import orjson

from critic import Plan
from tests.benchmarks import plans
from tests.benchmarks.rows import PER_BATCH, STEPS, UNIT, loads_plans
from tests.benchmarks.timing import Cost, Row, of_thread

Json = dict[str, Any]
Inputs = Callable[[int], Sequence[Any]]

TIERS = ("read_only", "local_write", "network", "delegated", "destructive")
MODES = {(adapter, capability): mode for adapter, capability, mode, _ in plans.DESK}

_CASBIN_MODEL = """
[request_definition]
r = sub, act
[policy_definition]
p = sub, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.act == p.act
"""


def _wires(batch: int) -> list[Json]:
    return [plans.plan_wire(STEPS, batch * PER_BATCH + n) for n in range(PER_BATCH)]


def _modes(wire: Json) -> list[str]:
    return [MODES[step["adapter_id"], step["capability_id"]] for step in wire["steps"]]


def cedar_requests(wire: Json) -> list[Json]:
    """Return a request for each step: may this agent act at this tier, on this tool and amount?"""
    return [
        {
            "principal": 'Agent::"planner"',
            "action": f'Action::"{mode}"',
            "resource": f'Tool::"{step["adapter_id"]}.{step["capability_id"]}"',
            "context": {"amount": step["args"]["amount"]},
        }
        for step, mode in zip(wire["steps"], _modes(wire), strict=True)
    ]


def cedar() -> tuple[Callable[[Any], list[bool]], Callable[[Any], list[bool]]]:
    """Both ways to ask Cedar about the requests of a plan: step by step, and in one batch."""
    cedarpy = import_module("cedarpy")
    text = "\n".join(
        f'permit(principal == Agent::"planner", action == Action::"{tier}", resource)'
        " when { context.amount <= 5000000 };"
        for tier in TIERS
    )
    policies, entities = cedarpy.PolicySet.from_str(text), cedarpy.Entities.from_json_str("[]")

    def each(requests: list[Json]) -> list[bool]:
        return [cedarpy.is_authorized(one, policies, entities).allowed for one in requests]

    def batch(requests: list[Json]) -> list[bool]:
        return [one.allowed for one in cedarpy.is_authorized_batch(requests, policies, entities)]

    return each, batch


def casbin() -> Callable[[Any], list[bool]]:
    """Ask Casbin about the tier of each step."""
    engine = import_module("casbin")
    model = engine.Model()
    model.load_model_from_text(_CASBIN_MODEL)
    enforcer = engine.Enforcer(model)
    for tier in TIERS:
        enforcer.add_policy("planner", tier)
    return lambda modes: [enforcer.enforce("planner", mode) for mode in modes]


def json_schema() -> Callable[[Any], list[bool]]:
    """Validate the parsed JSON of a plan against the JSON Schema of plans."""
    validator = import_module("jsonschema").Draft202012Validator(Plan.model_json_schema())
    return lambda wire: [validator.is_valid(wire)]


def json_schema_rs() -> Callable[[Any], list[bool]]:
    """Do the same with the validator in Rust, which this project uses for args and outputs."""
    validator = import_module("jsonschema_rs").validator_for(Plan.model_json_schema())
    return lambda wire: [validator.is_valid(wire)]


def msgspec_plan() -> Callable[[bytes], Any]:
    """Decode the bytes of a plan into typed structures: names and types, and no rule beyond."""
    msgspec = import_module("msgspec")
    strict = {"forbid_unknown_fields": True}
    texts, text, number = list[str], str | None, int | None
    fields: list[Any] = [("kind", str), ("adapter_id", str), ("capability_id", str), ("args", Json)]
    fields += [("id", text, None), ("estimated_tokens", number, None)]
    fields += [(name, texts, []) for name in ("requires_evidence", "evidence_refs", "depends_on")]
    steps: Any = GenericAlias(list, (msgspec.defstruct("Step", fields, **strict),))
    members = [("steps", steps), ("declared_outputs", texts), ("trace_id", text, None)]
    plan = msgspec.defstruct("Plan", members, **strict)
    return lambda data: [msgspec.json.decode(data, type=plan)]


def _requests(batch: int) -> Sequence[Any]:
    return [cedar_requests(wire) for wire in _wires(batch)]


def _tiers(batch: int) -> Sequence[Any]:
    return [_modes(wire) for wire in _wires(batch)]


def _parsed(batch: int) -> Sequence[Any]:
    return [orjson.loads(orjson.dumps(wire)) for wire in _wires(batch)]


def _written(batch: int) -> Sequence[bytes]:
    return [orjson.dumps(wire) for wire in _wires(batch)]


def _cedar_jobs() -> list[tuple[str, Cost]]:
    each, batch = cedar()
    return [
        ("cedarpy is_authorized, per step", of_thread(each, _requests)),
        ("cedarpy is_authorized_batch, per plan", of_thread(batch, _requests)),
    ]


def _casbin_jobs() -> list[tuple[str, Cost]]:
    return [("casbin enforce, per step", of_thread(casbin(), _tiers))]


def _jsonschema_jobs() -> list[tuple[str, Cost]]:
    return [("jsonschema is_valid, per plan", of_thread(json_schema(), _parsed))]


def _jsonschema_rs_jobs() -> list[tuple[str, Cost]]:
    return [("jsonschema-rs is_valid, per plan", of_thread(json_schema_rs(), _parsed))]


def _msgspec_jobs() -> list[tuple[str, Cost]]:
    return [("msgspec decode, from bytes", of_thread(msgspec_plan(), _written))]


PEERS: Final = ("cedarpy ", "casbin ", "jsonschema ", "jsonschema-rs ", "msgspec ")
"""How the names of their rows begin."""

FIELD: tuple[tuple[str, Callable[[], list[tuple[str, Cost]]]], ...] = (
    ("cedarpy", _cedar_jobs),
    ("pycasbin", _casbin_jobs),
    ("jsonschema", _jsonschema_jobs),
    ("jsonschema-rs", _jsonschema_rs_jobs),
    ("msgspec", _msgspec_jobs),
)


def field_rows(missing: list[str]) -> list[Row]:
    """Return the rows of what is installed. The names of what is not are added to `missing`."""
    rows: list[Row] = []
    for distribution, jobs in FIELD:
        try:
            release = version(distribution)
            rows += [
                Row(f"{name} ({release})", UNIT, None, work, loads_plans()) for name, work in jobs()
            ]
        except ImportError:
            missing.append(distribution)
    return rows
