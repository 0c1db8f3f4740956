"""The small alphabet that generated proposals and runs are spelled in.

Few of everything, and all of it close to something else: names that join to the same string,
classes that differ in case, numbers that are equal but not the same type, texts that hold a value
whole or in part, instants that are one instant in two zones. A table maps a field to its options;
an option that occurs twice is drawn twice as often; `ABSENT` leaves the field out. Options are
shared between draws: replace them, never change them.
"""

from typing import Any, Final

Table = dict[str, tuple[Any, ...]]

ABSENT: Final = object()
_ = ABSENT

MODES = ("read_only", "local_write", "network", "delegated", "destructive")
PAIRS = (("a", "b.c"), ("a.b", "c"), ("a", "b"), ("a.b", "b.c"))
REFS = ("e1", "e2", "e3", "kg:k:e1")
FORGED = "kg:k:forged"
HOSTILE = "<b>\n\u001b[31m'\u202e"

AS_OF = "2026-05-09T10:00:00Z"
EXPIRIES = (
    "2026-05-09T10:00:00Z",
    "2026-05-09T15:30:00+05:30",
    "2026-05-09T09:59:59.999999Z",
    "2026-05-09T10:00:00.000001Z",
    "2026-05-09T12:00:00.5+02:00",
    "2027-01-01T00:00:00Z",
)

NUMBERS = (
    *(1, 1.0, True, "1", 0, -0.0, False, None, "null"),
    *(24500, 24500.0, "24500", 244500, "244500", 0.1, -1, "-1"),
)
WORDS = (
    "pay_1",
    "pay",
    "k",
    "",
    "-",
    "24,500",
    "e\u0301",
    "pay_1\u200dx",
    "a b",
    "pay_1.",
    "1e+21",
)
SECRETS = ("abcdefgh", "xxabcdefghxx", "abcdefg", "Abcdefgh")
"""Strings of eight characters and of seven, around what is confined."""
SCALARS = NUMBERS + WORDS + SECRETS + (1e21,)
SHAPES: tuple[Any, ...] = (
    *SCALARS,
    [],
    {},
    [1, "pay_1"],
    {"1": "pay_1"},
    {"abcdefgh": [True, 1.0]},
    {"n": "no 244500!"},
    [[None, {"deep": [24500]}]],
    ["24500", 24500],
)
TEXTS = (
    "1",
    "refund 24500 for pay_1.",
    "24,500 and 1,2",
    "(-1) -0.1 +1 ..5",
    "0.1, -1; 24500.",
    "pay_1-x,1.0 pay-1",
    "true null 1.0 1",
    "a.-b 1-1 0. 1",
    "id=pay_1",
    "pay_1\u200dx e\u0301 1e+21",
    "1\u0663 24500,k",
    "pay_1 pay_1\u0301",
    "-",
    "",
)
CONTENTS = (
    _,
    *(scalar for scalar in SCALARS if scalar is not None),
    *TEXTS,
    *TEXTS,
    [],
    {},
    {"n": 1, "id": "pay_1", "no": None},
    ["24500", {"x": None, "y": [True, 0.1]}],
    {"1": "k", "abcdefgh": "pay_1"},
    {"s": ["abcdefgh", -0.0], "t": "Abcdefg"},
    {"x": "k", "n": [244500, 24500]},
    {"x": {"id": "pay_1"}, "y": ["k", {"id": 1.0}], "a/b": "pay_1", "0": "1", "*": "a b"},
    [24500.0, "1", "a b", ""],
)
SCHEMAS = (
    {"type": "object"},
    {"properties": {"x": {"type": "integer"}}},
    {"required": ["x", "y"], "properties": {"y": {"maxLength": 2, "pattern": "^p"}}},
    {"additionalProperties": False, "properties": {"x": {}}},
    {"properties": {"x": {"enum": [1, "1"]}, "y": {"items": {"type": "string"}}}},
    True,
    False,
)
OUTPUT_SCHEMAS = ({"type": "integer"}, {"minLength": 3}, {"const": 1}, True, False)

OPEN = {"required": ["open"], "properties": {"open": {"const": True}}}
DEMANDS: tuple[dict[str, Any], ...] = (
    {"class": "k"},
    {"class": "k", "content_schema": {"type": "object"}},
    {"class": "k", "content_schema": {"required": ["n"]}},
    {"class": "K", "content_schema": True},
    {"class": "k", "content_schema": OPEN},
    {"class": "k", "about": {"x": ""}},
    {"class": "k", "about": {"x": "/id"}},
    {"class": "k", "about": {"x": "/1", "y": "/s"}},
    {"class": "K", "content_schema": {"type": "array"}, "about": {"y": ""}},
)
POINTERS: tuple[list[str], ...] = (
    *([], [""], ["/id"], ["/n"], ["/*"], ["/0", "/1"], ["/n/*", "/x"]),
    *(["/y/*/id", "/x/id"], ["/a~1b"], ["/x/*"], ["/01", "/-"]),
)
CLASS_LISTS: tuple[list[str], ...] = ([], ["k"], ["k"], ["K"], ["k", "k.x"], ["k", "K", "k"])
OUTPUT_LISTS: tuple[list[str], ...] = ([], ["o1"], ["o1"], ["o1", "O1"], ["o1", "o2", "o1"])
COUNTS = (0, 1, 3, 3999, 4000, 4001, 8001, 2**53 - 1)

ROLE_NAMES = (
    *("recipient", "object", "attribute", "locator", "secret", "code", "content", "time"),
)
ROLES: tuple[dict[str, str], ...] = tuple({"x": role} for role in ROLE_NAMES)
TOOLS = tuple({"adapter_id": adapter, "capability_id": name} for adapter, name in PAIRS)
SOURCES: tuple[dict[str, Any], ...] = (
    {"author": "user", "standing": "named"},
    {"author": "operator", "standing": "ambient"},
    {"author": "system", "standing": "ambient"},
    {"author": "system", "standing": "reached"},
    *(
        {"author": author, "standing": standing}
        for author in ("member", "public")
        for standing in ("named", "reached", "led", "ambient")
    ),
    *({"author": "public", "standing": one, "web": True} for one in ("named", "reached")),
    {"author": "member", "standing": "ambient", "web": True},
)

TOOL: Table = {
    "approval_mode": MODES,
    "requires_evidence": (
        *(_, _, _, *CLASS_LISTS, *([demand] for demand in DEMANDS)),
        *(["k", DEMANDS[1], "K", "k"], [DEMANDS[3], DEMANDS[3]]),
    ),
    "bound_args": (
        *(_, _, {"x": ["k"]}, {"y": ["K"], "x": ["k", "K"]}, {"y": []}),
        {"z": ["k"], HOSTILE: ["k"]},
        *({"x": {"from": ["k"], "at": pointers}} for pointers in POINTERS),
        {"x": {"from": ["k", "K"]}, "y": {"from": ["k"], "optional": True}},
        {"x": {"from": ["k"], "optional": True, "at": ["/*"]}, "y": ["k", "K"]},
        {"x": ["k"], "y": {"from": ["K", "k"], "at": ["", "/*", "/*/*"]}},
    ),
    "bound_together": (_, _, _, [["x"]], [["x", "y"]], [["y", "x"], ["x", "y"]], [["z", HOSTILE]]),
    "args_schema": (_, _, _, _, _, *SCHEMAS),
    "produces": (_, _, *OUTPUT_LISTS),
    "min_tokens": (_, _, _, *COUNTS[:5]),
    "arg_roles": (_, _, *ROLES, {"x": "content", "y": "attribute"}, {"/y/1": "object"}),
    "result": (
        _,
        _,
        {"author": "public", "web": True},
        {"author": "system", "makes": {"x": "note"}},
    ),
    "follows": (_, _, [TOOLS[0]], [TOOLS[3], TOOLS[1]]),
}
ITEM: Table = {
    "classification": ("k", "k", "K", "k.x"),
    "content": CONTENTS,
    "expires_at": (_, _, _, *EXPIRIES),
    "source": (_, _, *SOURCES),
}
STEP: Table = {
    "id": (_, "s1", "s2", "s3"),
    "depends_on": (_, _, _, [], ["s1"], ["s2", "s2"], ["s9", "s1"]),
    "requires_evidence": (_, _, _, *CLASS_LISTS),
    "evidence_refs": (
        *(_, [], ["e1"], ["e2"], ["e1", "e2"], ["e2", "e2"], ["e1", "e2", "e3"]),
        *(["kg:k:e1"], ["e3", FORGED]),
    ),
    "estimated_tokens": (_, _, 0, 1, 1, 3000, 4000),
}
ARGS: Table = {"x": (_, *SCALARS), "y": (_, _, _, *SHAPES), HOSTILE: (_, _, _, _, 1, "pay_1")}
SPEC: Table = {
    "required_outputs": OUTPUT_LISTS,
    "required_evidence": (_, _, _, *CLASS_LISTS),
    "approval_mode": (_, _, _, *MODES),
    "approval_required_from": (_, _, _, *MODES),
    "output_schemas": (_, *({"o1": schema} for schema in OUTPUT_SCHEMAS)),
    "confined_evidence": (_, _, [], ["k"], ["K", "k"]),
    "provenance": (_, _, _, _, "closed", "open"),
    "party_recipients": (_, _, "allow", "ask"),
}
BUDGET: Table = {
    "max_steps": (_, _, 0, 2, 3, 12),
    "bucket_tokens": (_, _, 0, 4000, 8000),
    "wall_ms": (_, 0, 100),
    "cost_micros": (_, 0, 100),
}
SPENT: Table = {
    "steps": (_, 0, 1, 9, 2**53 - 1),
    "tokens": (_, 0, 1, 4000, 2**53 - 1),
    "calls": (_, _, [], [{"step": 0}], [{"step": 1}, {"step": 2, "prefix": "sha256:"}], [{}]),
}
"""A spent call names a step of the plan until `settle.settled` gives it that call's digest."""
_YES: dict[str, Any] = {"role": "recipient", "tool": TOOLS[0], "approval_mode": "destructive"}
SESSIONS: tuple[dict[str, Any], ...] = (
    {"id": "s", "turn": 1},
    {"id": "s", "turn": 2, "ran": [TOOLS[0], TOOLS[3]], "own": [{"kind": "text", "value": "k"}]},
    {"id": "s", "turn": 2, "approved": [{**_YES, "value": "PAY_1"}, {**_YES, "value": 24500}]},
    {"id": "s", "turn": 3, "approved": [{**_YES, "value": 1, "expires_at": AS_OF}]},
    {"id": "s", "turn": 3, "waived": [{"tool": TOOLS[1], "targets": ["pay_1"]}]},
    {"id": "s", "turn": 3, "sent": [{"seq": 3, "values": ["pay_1", 24500]}]},
)
CTX: Table = {
    "trace_id": ("t", "t", "t", "T"),
    "safety_mode": (*MODES, "destructive"),
    "run_id": (_, "r", "r", "R"),
    "as_of": (_, AS_OF, AS_OF, AS_OF),
    "scope": (_, _, _, [], [TOOLS[0]], [TOOLS[1], TOOLS[2]]),
    "session": (_, _, _, *SESSIONS),
}
APPROVAL: Table = {
    "approval_id": ("ap",),
    "plan_digest": ("right", "right", "sha256:right", "RIGHT", "wrong"),
    "steps": (_, _, [], [0], [0, 1, 2, 3], [1, 1]),
    "approver": ("someone",),
    "expires_at": (_, _, _, *EXPIRIES),
    "context_digest": (_, _, _, "right", "sha256:right", "wrong"),
}
PLAN: Table = {
    "declared_outputs": OUTPUT_LISTS[1:],
    "plan_id": (_, "p"),
    "trace_id": (_, _, "t", "T"),
}
MEASURES = (_, _, 0, 50, 99, 100, 101, 200, 201)
CALL: Table = {
    "status": ("completed", "completed", "failed", "timed_out", "unknown"),
    "tokens": (_, *COUNTS),
    "cost_micros": MEASURES,
    "attempt": (_, 0, 1, 2, 2, 3),
    "idempotency_key": (_, "i1", "i1", "i2", ""),
}
RUN: Table = {
    "run_id": ("r", "r", "r", "R"),
    "trace_id": ("t", "t", "t", "T"),
    "wall_ms": MEASURES,
    "tokens": (_, _, *COUNTS),
    "cost_micros": MEASURES,
}
OUTPUTS: Table = {"o1": (_, *SHAPES), "o2": (_, 1, None, ["abcdefghi"]), "abcdefgh": (_, _, _, 1)}
