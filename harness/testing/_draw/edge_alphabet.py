"""The small alphabet that proposals and runs on the edge are spelled in.

Few of everything, and all of it close to something else: names that join to the same string,
classes that differ in case, numbers that are equal but not the same type, texts that hold a value
whole or in part, instants that are one instant in two zones.
"""

from typing import Any, Final, get_args

from evals.capability import Role
from evals.kinds import MODES
from harness.testing._draw.primitives import ABSENT, FieldOptions, Json

_: Final = ABSENT

TOOL_PAIRS = (("a", "b.c"), ("a.b", "c"), ("a", "b"), ("a.b", "b.c"))
REFS = ("e1", "e2", "e3", "kg:k:e1")
FORGED = "kg:k:forged"
HOSTILE = "<b>\n\u001b[31m'\u202e"

AS_OF = "2026-05-09T10:00:00Z"
LAPSED = (AS_OF, "2026-05-09T15:30:00+05:30", "2026-05-09T09:59:59.999999Z")
LATER = ("2026-05-09T10:00:00.000001Z", "2026-05-09T12:00:00.5+02:00", "2027-01-01T00:00:00Z")
EXPIRIES = (*LAPSED, *LATER)

_NUMBERS = (
    *(1, 1.0, True, "1", 0, -0.0, False, None, "null"),
    *(24500, 24500.0, "24500", 244500, "244500", 0.1, -1, "-1"),
)
_WORDS = (
    *("pay_1", "pay", "k", "", "-", "24,500", "e\u0301", "pay_1\u200dx", "a b", "pay_1.", "1e+21"),
)
_SECRETS = ("abcdefgh", "xxabcdefghxx", "abcdefg", "Abcdefgh")
"""Strings of eight characters and of seven, around what is confined."""
_SCALARS = _NUMBERS + _WORDS + _SECRETS + (1e21,)
_SHAPES: tuple[Any, ...] = (
    *_SCALARS,
    *([], {}, [1, "pay_1"], {"1": "pay_1"}, {"abcdefgh": [True, 1.0]}, {"n": "no 244500!"}),
    *([[None, {"deep": [24500]}]], ["24500", 24500]),
)
_TEXTS = (
    *("1", "refund 24500 for pay_1.", "24,500 and 1,2", "(-1) -0.1 +1 ..5", "0.1, -1; 24500."),
    *("pay_1-x,1.0 pay-1", "true null 1.0 1", "a.-b 1-1 0. 1", "id=pay_1"),
    *("pay_1\u200dx e\u0301 1e+21", "1\u0663 24500,k", "pay_1 pay_1\u0301", "-", ""),
)
_CONTENTS = (
    _,
    *(scalar for scalar in _SCALARS if scalar is not None),
    *_TEXTS,
    *_TEXTS,
    *([], {}, {"n": 1, "id": "pay_1", "no": None}, ["24500", {"x": None, "y": [True, 0.1]}]),
    *({"1": "k", "abcdefgh": "pay_1"}, {"s": ["abcdefgh", -0.0], "t": "Abcdefg"}),
    {"x": "k", "n": [244500, 24500]},
    {"x": {"id": "pay_1"}, "y": ["k", {"id": 1.0}], "a/b": "pay_1", "0": "1", "*": "a b"},
    [24500.0, "1", "a b", ""],
)
_SCHEMAS = (
    *({"type": "object"}, {"properties": {"x": {"type": "integer"}}}),
    {"required": ["x", "y"], "properties": {"y": {"maxLength": 2, "pattern": "^p"}}},
    {"additionalProperties": False, "properties": {"x": {}}},
    *({"properties": {"x": {"enum": [1, "1"]}, "y": {"items": {"type": "string"}}}}, True, False),
)
_OUTPUT_SCHEMAS = ({"type": "integer"}, {"minLength": 3}, {"const": 1}, True, False)

OPEN = {"required": ["open"], "properties": {"open": {"const": True}}}
_DEMANDS: tuple[Json, ...] = (
    *({"class": "k"}, {"class": "k", "content_schema": {"type": "object"}}),
    {"class": "k", "content_schema": {"required": ["n"]}},
    *({"class": "K", "content_schema": True}, {"class": "k", "content_schema": OPEN}),
    *({"class": "k", "about": {"x": ""}}, {"class": "k", "about": {"x": "/id"}}),
    {"class": "k", "about": {"x": "/1", "y": "/s"}},
    {"class": "K", "content_schema": {"type": "array"}, "about": {"y": ""}},
)
_POINTERS: tuple[list[str], ...] = (
    *([], [""], ["/id"], ["/n"], ["/*"], ["/0", "/1"], ["/n/*", "/x"]),
    *(["/y/*/id", "/x/id"], ["/a~1b"], ["/x/*"], ["/01", "/-"]),
)
_CLASS_LISTS: tuple[list[str], ...] = ([], ["k"], ["k"], ["K"], ["k", "k.x"], ["k", "K", "k"])
_OUTPUT_LISTS: tuple[list[str], ...] = ([], ["o1"], ["o1"], ["o1", "O1"], ["o1", "o2", "o1"])
_COUNTS = (0, 1, 3, 3999, 4000, 4001, 8001, 2**53 - 1)

ROLE_NAMES: Final[tuple[str, ...]] = get_args(Role)
_ROLES: tuple[dict[str, str], ...] = tuple({"x": role} for role in ROLE_NAMES)
_TOOLS = tuple({"adapter_id": adapter, "capability_id": name} for adapter, name in TOOL_PAIRS)
SOURCES: tuple[Json, ...] = (
    *({"author": "user", "standing": "named"}, {"author": "operator", "standing": "ambient"}),
    *({"author": "system", "standing": "ambient"}, {"author": "system", "standing": "reached"}),
    *(
        {"author": author, "standing": standing}
        for author in ("member", "public")
        for standing in ("named", "reached", "led", "ambient")
    ),
    *({"author": "public", "standing": one, "web": True} for one in ("named", "reached")),
    {"author": "member", "standing": "ambient", "web": True},
)

TOOL: Final[FieldOptions] = {
    "approval_mode": MODES,
    "requires_evidence": (
        *(_, _, _, *_CLASS_LISTS, *([demand] for demand in _DEMANDS)),
        *(["k", _DEMANDS[1], "K", "k"], [_DEMANDS[3], _DEMANDS[3]]),
    ),
    "bound_args": (
        *(_, _, {"x": ["k"]}, {"y": ["K"], "x": ["k", "K"]}, {"y": []}),
        {"z": ["k"], HOSTILE: ["k"]},
        *({"x": {"from": ["k"], "at": pointers}} for pointers in _POINTERS),
        {"x": {"from": ["k", "K"]}, "y": {"from": ["k"], "optional": True}},
        {"x": {"from": ["k"], "optional": True, "at": ["/*"]}, "y": ["k", "K"]},
        {"x": ["k"], "y": {"from": ["K", "k"], "at": ["", "/*", "/*/*"]}},
    ),
    "bound_together": (_, _, _, [["x"]], [["x", "y"]], [["y", "x"], ["x", "y"]], [["z", HOSTILE]]),
    "args_schema": (_, _, _, _, _, *_SCHEMAS),
    "produces": (_, _, *_OUTPUT_LISTS),
    "min_tokens": (_, _, _, *_COUNTS[:5]),
    "arg_roles": (_, _, *_ROLES, {"x": "content", "y": "attribute"}, {"/y/1": "object"}),
    "result": (
        *(_, _, {"author": "public", "web": True}),
        {"author": "system", "makes": {"x": "note"}},
    ),
    "follows": (_, _, [_TOOLS[0]], [_TOOLS[3], _TOOLS[1]]),
}
ITEM: Final[FieldOptions] = {
    "classification": ("k", "k", "K", "k.x"),
    "content": _CONTENTS,
    "expires_at": (_, _, _, *EXPIRIES),
    "source": (_, _, *SOURCES),
}
STEP: Final[FieldOptions] = {
    "id": (_, "s1", "s2", "s3"),
    "depends_on": (_, _, _, [], ["s1"], ["s2", "s2"], ["s9", "s1"]),
    "requires_evidence": (_, _, _, *_CLASS_LISTS),
    "evidence_refs": (
        *(_, [], ["e1"], ["e2"], ["e1", "e2"], ["e2", "e2"], ["e1", "e2", "e3"]),
        *(["kg:k:e1"], ["e3", FORGED]),
    ),
    "estimated_tokens": (_, _, 0, 1, 1, 3000, 4000),
}
ARGS: Final[FieldOptions] = {
    "x": (_, *_SCALARS),
    "y": (_, _, _, *_SHAPES),
    HOSTILE: (_, _, _, _, 1, "pay_1"),
}
SPEC: Final[FieldOptions] = {
    "required_outputs": _OUTPUT_LISTS,
    "required_evidence": (_, _, _, *_CLASS_LISTS),
    "approval_mode": (_, _, _, *MODES),
    "approval_required_from": (_, _, _, *MODES),
    "output_schemas": (_, *({"o1": schema} for schema in _OUTPUT_SCHEMAS)),
    "confined_evidence": (_, _, [], ["k"], ["K", "k"]),
    "provenance": (_, _, _, _, "closed", "open"),
    "party_recipients": (_, _, "allow", "ask"),
}
BUDGET: Final[FieldOptions] = {
    "max_steps": (_, _, 0, 2, 3, 12),
    "bucket_tokens": (_, _, 0, 4000, 8000),
    "wall_ms": (_, 0, 100),
    "cost_micros": (_, 0, 100),
}
SPENT: Final[FieldOptions] = {
    "steps": (_, 0, 1, 9, 2**53 - 1),
    "tokens": (_, 0, 1, 4000, 2**53 - 1),
    "calls": (_, _, [], [{"step": 0}], [{"step": 1}, {"step": 2, "prefix": "sha256:"}], [{}]),
}
"""A spent call names a step of the plan until `settle.settled` gives it that call's digest."""
_YES: Json = {"role": "recipient", "tool": _TOOLS[0], "approval_mode": "destructive"}
_SESSIONS: tuple[Json, ...] = (
    {"id": "s", "turn": 1},
    {"id": "s", "turn": 2, "ran": [_TOOLS[0], _TOOLS[3]], "own": [{"kind": "text", "value": "k"}]},
    {"id": "s", "turn": 2, "approved": [{**_YES, "value": "PAY_1"}, {**_YES, "value": 24500}]},
    {"id": "s", "turn": 3, "approved": [{**_YES, "value": 1, "expires_at": AS_OF}]},
    {"id": "s", "turn": 3, "waived": [{"tool": _TOOLS[1], "targets": ["pay_1"]}]},
    {"id": "s", "turn": 3, "sent": [{"seq": 3, "values": ["pay_1", 24500]}]},
)
CTX: Final[FieldOptions] = {
    "trace_id": ("t", "t", "t", "T"),
    "safety_mode": (*MODES, "destructive"),
    "run_id": (_, "r", "r", "R"),
    "as_of": (_, AS_OF, AS_OF, AS_OF),
    "scope": (_, _, _, [], [_TOOLS[0]], [_TOOLS[1], _TOOLS[2]]),
    "session": (_, _, _, *_SESSIONS),
}
APPROVAL: Final[FieldOptions] = {
    "approval_id": ("ap",),
    "plan_digest": ("right", "right", "sha256:right", "RIGHT", "wrong"),
    "steps": (_, _, [], [0], [0, 1, 2, 3], [1, 1]),
    "approver": ("someone",),
    "expires_at": (_, _, _, *EXPIRIES),
    "context_digest": (_, _, _, "right", "sha256:right", "wrong"),
}
PLAN: Final[FieldOptions] = {
    "declared_outputs": _OUTPUT_LISTS[1:],
    "plan_id": (_, "p"),
    "trace_id": (_, _, "t", "T"),
}
_MEASURES = (_, _, 0, 50, 99, 100, 101, 200, 201)
CALL: Final[FieldOptions] = {
    "step": (0, 1, 2, 5),
    "status": ("completed", "completed", "failed", "timed_out", "unknown"),
    "tokens": (_, *_COUNTS),
    "cost_micros": _MEASURES,
    "attempt": (_, 0, 1, 2, 2, 3),
    "idempotency_key": (_, "i1", "i1", "i2", ""),
    "duration_ms": (_, _, _, 0, 100_000),
}
