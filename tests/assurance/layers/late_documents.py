"""Late plans with what their calls return, for the layer `deletion`.

Each is small and stands for one reason why a step is opened, or why it is not.
"""

from functools import cached_property
from typing import Any, Final

from critic import Proposal
from harness.wire import build
from tests.support.model.facts import Json

Use = tuple[str, str, str]
"""A document, a part of its outputs, an operation: what the entries of the lists are named by.

A part begins with the id of its step.
"""

_NOW: Final = "2026-05-09T10:00:00Z"
_LATER: Final = "2026-05-09T10:01:00Z"
_IBAN: Final = "DE89370400440532013000"
_MIA: Final = "mia@corp.example"


class Document:
    """A late plan that `verify` passes, and how each of its calls ends, in the order of its steps.

    Attributes:
        opened: how many of its steps are opened.
    """

    def __init__(self, name: str, proposal: Json, *ends: Json, opened: int) -> None:
        """Say how the calls end, beside that they completed."""
        self.name: Final = name
        self.proposal: Final = proposal
        self.opened: Final = opened
        self.ends: Final[list[Json]] = [
            {"status": "completed", "as_of": _NOW, **end} for end in ends
        ]

    @cached_property
    def built(self) -> Proposal:
        """The proposal as an envelope."""
        return build(Proposal, self.proposal)


_WINDOW: Final[Json] = {
    "class": "window",
    "content_schema": {"properties": {"open": {"const": True}}, "required": ["open"]},
    "about": {"id": "/payment_id"},
}
_BOUND: Final[Json] = {
    "bound_args": {
        "id": {"from": ["order"], "at": ["/payment/id"]},
        "amount": {"from": ["order"], "at": ["/payment/amount"]},
    },
    "bound_together": [["id", "amount"]],
    "requires_evidence": [_WINDOW],
}
_ARGS: Final[Json] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "amount": {"type": "integer", "minimum": 1, "maximum": 100},
    },
}
_ORDER: Final[Json] = {"payment": {"id": "pay_1", "amount": 50}, "status": "paid"}
_OPEN: Final[Json] = {"payment_id": "pay_1", "open": True}


def _tool(name: str, mode: str = "read_only", **fields: Any) -> Json:
    return {"adapter_id": "shop", "capability_id": name, "approval_mode": mode, **fields}


def _step(name: str, **fields: Any) -> Json:
    named = {"kind": "tool", "adapter_id": "shop", "capability_id": name, "id": name}
    return {**named, "args": {}, **fields}


def _take(arg: str, at: str, step: str = "look") -> Json:
    return {"arg": arg, "step": step, "at": at}


def _end(output: Any, **fields: Any) -> Json:
    return {"output": output, **fields}


_END: Final[Json] = {}
"""Of the last step nothing is read."""


def _plan(tools: list[Json], *steps: Json, spec: Json | None = None, **manifests: Any) -> Json:
    given: Json = {"tool_manifest": tools, "evidence_manifest": [], **manifests}
    return {
        "ctx": {
            "trace_id": "t",
            "safety_mode": "destructive",
            "scope": [{"adapter_id": "shop", "capability_id": "pay"}],
        },
        "compiled": {"manifests": given},
        "spec": {"id": "s", "required_outputs": [], "late": "sources", **(spec or {})},
        "plan": {"steps": list(steps), "declared_outputs": []},
    }


def _paying(*takes: Json, spec: Json | None = None, look: Json | None = None, **pay: Any) -> Json:
    """Return a plan that looks something up and pays by it."""
    args = pay.pop("args", {})
    manifests = {name: pay.pop(name) for name in ("classes", "evidence_manifest") if name in pay}
    tools = [_tool("look", **(look or {})), _tool("pay", "destructive", **pay)]
    steps = _step("look"), _step("pay", args=args, takes=list(takes))
    return _plan(tools, *steps, spec=spec, **manifests)


def _refund(spec: Json | None = None, look: Json | None = None, **fields: Any) -> Json:
    """Return the plan of a refund whose evidence its own steps return."""
    tools = [
        _tool("look", yields="order", **(look or {})),
        _tool("window", yields="window"),
        _tool("pay", "destructive", args_schema=_ARGS, **_BOUND),
    ]
    pay = _step("pay", args={"id": "pay_1"}, takes=[_take("/amount", "/payment/amount")])
    pay |= {"evidence_steps": ["look", "window"], **fields}
    return _plan(tools, _step("look"), _step("window"), pay, spec=spec)


def _sending(look: Json, at: str, said: str | None = None, **more: Any) -> Json:
    """Return a plan that pays to an account that was found, under `closed` provenance."""
    source = {"author": "user", "standing": "named"}
    evidence = (
        []
        if said is None
        else [{"id": "user/1", "classification": "request", "content": said, "source": source}]
    )
    return _paying(
        _take("/to", at),
        spec={"provenance": "closed"},
        look={"result": look, **more},
        arg_roles={"to": "recipient"},
        args_schema={"properties": {"to": {"type": "string"}}},
        evidence_manifest=evidence,
    )


_BY_SYSTEM: Final[Json] = {"author": "system"}


def _read_out(said: str) -> Json:
    """Return a plan that pays to an account that a model finds in a text."""
    source = {"author": "user", "standing": "named"}
    tools = [
        _tool("look", result={"author": "public"}),
        _tool("read", result={"author": "public", "derived": True}),
        _tool("pay", "destructive", arg_roles={"to": "recipient"}, args_schema=_TEXT_TO),
    ]
    return _plan(
        tools,
        _step("look"),
        _step("read", takes=[_take("/text", "/text")]),
        _step("pay", takes=[_take("/to", "/iban", "read")]),
        spec={"provenance": "open"},
        evidence_manifest=[
            {"id": "user/1", "classification": "request", "content": said, "source": source}
        ],
    )


def _contested() -> Json:
    tools = [
        _tool("look", result={"author": "member", "format": "json"}),
        _tool("window", result={"author": "public"}),
        _tool("pay", "destructive", arg_roles={"to": "recipient"}, args_schema=_TEXT_TO),
    ]
    return _plan(
        tools,
        *(_step("look"), _step("window")),
        _step("pay", takes=[_take("/to", "/sender")], depends_on=["window"]),
        spec={"provenance": "closed", "party_recipients": "allow"},
        record_fields=["sender"],
    )


def _of_a_class(author: str) -> Json:
    schema = {"required": ["owner", "note"], "properties": {"note": {"type": "string"}}}
    return _paying(
        _take("/to", "/owner"),
        spec={"provenance": "closed"},
        look={"result": {"author": author, "format": "json"}, "yields": "account"},
        arg_roles={"to": "recipient"},
        args_schema=_TEXT_TO,
        classes=[{"class": "account", "fields": {"owner": "system"}, "schema": schema}],
    )


_TEXT_TO: Final[Json] = {"properties": {"to": {"type": "string"}}}


def late_documents() -> list[Document]:
    """Return the plans; each is a new one."""
    bounded: Json = {"args_schema": _ARGS}
    return [
        Document("refund", _refund(), _end(_ORDER), _end(_OPEN), _END, opened=3),
        Document(
            "refund of another",
            _refund(),
            _end({**_ORDER, "payment": {"id": "pay_2", "amount": 50}}),
            *(_end(_OPEN), _END),
            opened=2,
        ),
        Document(
            "refund too late",
            _refund(),
            *(_end(_ORDER), _end({**_OPEN, "open": False}), _END),
            opened=2,
        ),
        Document(
            "refund without the amount",
            _refund(),
            *(_end({**_ORDER, "payment": {"id": "pay_1", "total": 50}}), _end(_OPEN), _END),
            opened=2,
        ),
        Document(
            "refund of an old order",
            _refund(look={"expires_after_s": 60}),
            *(_end(_ORDER), _end(_OPEN), {"as_of": _LATER}),
            opened=2,
        ),
        Document(
            "the only one",
            _paying(_take("/amount", "/*/amount"), **bounded),
            *(_end([{"amount": 5, "name": "x"}]), _END),
            opened=2,
        ),
        Document(
            "two where one is",
            _paying(_take("/amount", "/*/amount"), **bounded),
            *(_end([{"amount": 5}, {"amount": 6}]), _END),
            opened=1,
        ),
        Document(
            "the first one",
            _paying(_take("/amount", "/0/amount"), **bounded),
            *(_end([{"amount": 5}, {"amount": 6}]), _END),
            opened=2,
        ),
        Document(
            "null at the place",
            _paying(_take("/amount", "/amount"), **bounded),
            *(_end({"amount": None, "total": 5}), _END),
            opened=1,
        ),
        Document(
            "too much",
            _paying(_take("/amount", "/amount"), **bounded),
            *(_end({"amount": 5000, "total": 5}), _END),
            opened=1,
        ),
        Document(
            "a list that is filled",
            _paying(_take("/to/0", "/a"), _take("/to/1", "/b"), args={"to": []}),
            *(_end({"a": "x", "b": "y"}), _END),
            opened=2,
        ),
        Document(
            "an object as a whole",
            _paying(
                _take("/order", "/payment"),
                args_schema={
                    "properties": {
                        "order": {
                            "type": "object",
                            "required": ["id", "amount"],
                            "properties": {"id": {"type": "string"}, **_ARGS["properties"]},
                            "additionalProperties": False,
                        }
                    }
                },
            ),
            *(_end(_ORDER), _END),
            opened=2,
        ),
        Document(
            "not of its schema",
            _paying(
                _take("/amount", "/amount"),
                look={"output_schema": {"properties": {"id": {"type": "string"}}}},
                **bounded,
            ),
            *(_end({"amount": 5, "id": 7}), _END),
            opened=1,
        ),
        Document(
            "more than its schema knows",
            _paying(
                _take("/amount", "/amount"),
                look={
                    "output_schema": {"properties": {"amount": {}}, "additionalProperties": False}
                },
                **bounded,
            ),
            *(_end({"amount": 5, "id": "x"}), _END),
            opened=1,
        ),
        Document(
            "a failed source",
            _paying(_take("/amount", "/amount"), **bounded),
            *(_end({"amount": 5}, status="failed", error="busy"), _END),
            opened=1,
        ),
        Document(
            "a text that is JSON",
            _paying(
                _take("/amount", "/amount"),
                look={"result": {"author": "system", "format": "json"}},
                **bounded,
            ),
            *(_end('{"amount": 5}'), _END),
            opened=2,
        ),
        Document(
            "a text that is no JSON",
            _paying(
                _take("/amount", "/amount"),
                look={"result": {"author": "system", "format": "json"}},
                **bounded,
            ),
            *(_end('{"amount": 5'), _END),
            opened=1,
        ),
        Document(
            "an account of a system",
            _sending(_BY_SYSTEM, "/iban"),
            _end({"iban": _IBAN, "note": "x"}),
            _END,
            opened=2,
        ),
        Document(
            "an account that was read out",
            _read_out(f"Pay the bill to {_IBAN}"),
            *(_end({"text": f"IBAN {_IBAN}"}), _end({"iban": _IBAN, "note": "x"}), _END),
            opened=3,
        ),
        Document(
            "an account that the reader makes up",
            _read_out("Pay the bill"),
            *(_end({"text": "no account"}), _end({"iban": _IBAN, "note": "x"}), _END),
            opened=2,
        ),
        Document(
            "an account that a text contests",
            _contested(),
            *(_end({"sender": _MIA, "note": "x"}), _end({"text": f"write to {_MIA}"}), _END),
            opened=2,
        ),
        Document(
            "what has to stay",
            _plan(
                [
                    _tool("look", yields="hidden"),
                    _tool("window"),
                    _tool("pay", "destructive"),
                ],
                *(_step("look"), _step("window")),
                _step("pay", takes=[_take("/memo", "/text", "window")], depends_on=["look"]),
                spec={"confined_evidence": ["hidden"]},
            ),
            *(_end({"code": "zeta-9914-kilo"}), _end({"text": "zeta-9914-kilo", "a": 1}), _END),
            opened=2,
        ),
        Document(
            "the same twice",
            _plan(
                [_tool("look"), _tool("pay", "destructive", **bounded)],
                _step("look"),
                _step("pay", takes=[_take("/amount", "/a")]),
                _step("pay", takes=[_take("/amount", "/b")], id="again"),
            ),
            *(_end({"a": 5, "b": 5}), _end({"paid": True}), _END),
            opened=2,
        ),
        Document(
            "a field of a class",
            _of_a_class("system"),
            *(_end({"owner": _MIA, "note": "x"}), _END),
            opened=2,
        ),
    ]


def _listed(*entries: tuple[str, str, str, str]) -> dict[Use, str]:
    """Return entries by document, part and operation: each names some parts and operations."""
    return {
        (document, part, operation): reason
        for document, parts, operations, reason in entries
        for part in parts.split()
        for operation in operations.split()
    }


_ALL: Final = "delete null mistype"
_NOT_TAKEN: Final = "nothing takes it, and nobody demands it"

UNREAD: Final = _listed(
    ("refund", "look/status", _ALL, _NOT_TAKEN),
    ("the only one", "look/0/name", _ALL, _NOT_TAKEN),
    ("the first one", "look/1 look/1/amount", _ALL, "the first element is taken, whoever follows"),
    ("an object as a whole", "look/status", _ALL, _NOT_TAKEN),
    ("an account of a system", "look/note", _ALL, _NOT_TAKEN),
    ("an account that was read out", "read/note", _ALL, _NOT_TAKEN),
)
"""Where the openings may stay exactly as they were."""

_NO_SCHEMA: Final = "the tool takes anything: it is sent as it stands in the output"

SENDS: Final = _listed(
    ("the first one", "look/0", "delete", "the next element is the first one then"),
    ("a list that is filled", "look/a look/b", "mistype", _NO_SCHEMA),
    ("an account that was read out", "look/text", "mistype", _NO_SCHEMA),
    ("an account that the reader makes up", "look/text", "mistype", _NO_SCHEMA),
)
"""Where a step may send another value: the one that stands in the output."""

_ONE_LEFT: Final = "`*` is the only value, and one is left"
_UNSEEN: Final = "what was not returned contests nothing"
_NOT_HELD: Final = "what was not returned, or is not sent, is not kept from leaving"

LIFTS: Final = _listed(
    ("two where one is", "look/0 look/1", _ALL, _ONE_LEFT),
    ("two where one is", "look/0/amount look/1/amount", "delete", _ONE_LEFT),
    ("null at the place", "look/amount", "mistype", "null became a value, which is sent"),
    ("not of its schema", "look/id", "delete mistype", "what is left keeps the output_schema"),
    ("more than its schema knows", "look/id", "delete", "what is left keeps the output_schema"),
    ("an account that a text contests", "window", "delete mistype", _UNSEEN),
    ("an account that a text contests", "window/text", _ALL, _UNSEEN),
    ("what has to stay", "look", "delete mistype", _NOT_HELD),
    ("what has to stay", "look/code", _ALL, _NOT_HELD),
    ("what has to stay", "window/text", "mistype", _NOT_HELD),
)
"""Where a step that was refused may be opened."""
