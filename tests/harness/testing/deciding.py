"""What decides by equality outside of a guard: in `verify`, in logs, proofs, pins and tokens."""

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from critic import Proposal, Run, context_digest, digest, score, verify_proposal
from harness.audit.proofs.checkpoint import Checkpoint, read_checkpoint, require_origin
from harness.audit.proofs.checkpoint import sign_checkpoint as signed_by
from harness.audit.proofs.keys import PublicKey, new_key, read_private_key, read_public_key
from harness.audit.proofs.notes import ED25519, InvalidCheckpoint
from harness.canonical import canonical_json
from harness.commands.known_heads import parse_head
from harness.integrations.hooks.dialect import HookEvent
from harness.integrations.hooks.memory import HookMemory, KnownCall, call_key
from harness.integrations.mcp.mcp_pins import PINNED, PinFile
from harness.log.search.listing import Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record import AlreadyClaimed, Begun, Decision, UsedApproval
from harness.replay import replay
from harness.runtime.permit import issue_permit
from harness.serve.bearer_tokens import BearerTokens
from harness.testing.equalities import Equality
from harness.wire import build
from tests.harness.log.decisions import NOON, decision, filled, judged, proposal, run_of
from tests.harness.testing.deciding_at_seams import of_seams
from tests.support.examples import good_proposal, good_run
from tests.support.model.facts import Json
from tests.support.sightings import SCOPE, VALUE, answer, request
from tests.support.sightings import proposal as seen

Path_ = tuple[str | int, ...]

_PLAN: Final[Path_] = ("plan", "steps", 1)
_TOOLS: Final[Path_] = ("compiled", "manifests", "tool_manifest", 1)
_ITEMS: Final[Path_] = ("compiled", "manifests", "evidence_manifest")

OF_REFUNDS: Final[Mapping[Path_, str]] = {
    (*_PLAN, "adapter_id"): "text",
    (*_PLAN, "capability_id"): "text",
    (*_PLAN, "args", "id"): "text",
    (*_PLAN, "args", "amount_inr"): "json",
    (*_PLAN, "depends_on", 0): "text",
    (*_PLAN, "requires_evidence", 0): "text",
    (*_PLAN, "evidence_refs", 0): "text",
    (*_PLAN, "evidence_refs", 1): "text",
    ("plan", "declared_outputs", 0): "text",
    ("plan", "trace_id"): "text",
    ("ctx", "trace_id"): "text",
    ("spec", "required_outputs", 0): "text",
    (*_TOOLS, "adapter_id"): "text",
    (*_TOOLS, "capability_id"): "text",
    (*_TOOLS, "produces", 0): "text",
    (*_TOOLS, "requires_evidence", 0, "class"): "text",
    (*_TOOLS, "requires_evidence", 0, "about", "id"): "text",
    (*_TOOLS, "bound_args", "id", "from", 0): "text",
    (*_TOOLS, "bound_args", "id", "at", 0): "text",
    (*_ITEMS, 0, "id"): "text",
    (*_ITEMS, 0, "classification"): "text",
    (*_ITEMS, 0, "content", "payment_id"): "text",
    (*_ITEMS, 1, "id"): "text",
    (*_ITEMS, 1, "classification"): "text",
    (*_ITEMS, 1, "content", "payment", "id"): "text",
    (*_ITEMS, 1, "content", "payment", "amount_inr"): "json",
}
"""The places of the refund of which every near miss refuses it, each with its table."""


def at(document: Any, path: Path_) -> Any:
    for name in path:
        document = document[name]
    return document


def put(document: Json, path: Path_, value: Any) -> Json:
    altered: Json = json.loads(json.dumps(document))
    at(altered, path[:-1])[path[-1]] = value
    return altered


def put_in(document: Json, path: Path_, tried: Callable[[Json], bool]) -> Callable[[Any], bool]:
    """Return what tries a value at this place of a document."""
    return lambda near: tried(put(document, path, near))


def passes(wire: Json) -> bool:
    return verify_proposal(build(Proposal, wire)).ok


def of_refunds() -> Iterator[Equality]:
    wire = good_proposal()
    for path, kind in OF_REFUNDS.items():
        name = "/".join(map(str, path))
        yield Equality(name, at(wire, path), put_in(wire, path, passes), kind)


def of_approvals() -> Iterator[Equality]:
    """An approval holds for its plan, in its context, and for its steps."""
    wire = put(good_proposal(), ("spec", "approval_required_from"), "destructive")
    proposed = build(Proposal, wire)
    approval = {
        "approval_id": "a",
        "plan_digest": digest(proposed.plan),
        "context_digest": context_digest(proposed.ctx, proposed.compiled, proposed.spec),
        "steps": [1],
        "approver": "ada",
    }

    def holds(**changed: Any) -> bool:
        return passes(put(wire, ("ctx", "approvals"), [{**approval, **changed}]))

    yield Equality(
        "the plan of an approval",
        approval["plan_digest"],
        lambda near: holds(plan_digest=near),
        "digest",
    )
    yield Equality(
        "the context of an approval",
        approval["context_digest"],
        lambda near: holds(context_digest=near),
        "digest",
    )
    # A step that is named twice is that step.
    same = ("one more",)
    yield Equality(
        "the steps of an approval", [1], lambda near: holds(steps=near), "json", same=same
    )


def of_spent_calls() -> Iterator[Equality]:
    """A destructive call that was made is refused as a repeat; another one is none."""
    wire = good_proposal()
    step = at(wire, _PLAN)
    made = {name: step[name] for name in ("adapter_id", "capability_id")}
    made["args_digest"] = sha256(canonical_json(step["args"])).hexdigest()

    def repeats(**changed: Any) -> bool:
        calls = {"steps": 1, "calls": [{**made, **changed}]}
        return not passes(put(wire, ("ctx", "spent"), calls))

    yield Equality(
        "the adapter of a spent call", made["adapter_id"], lambda near: repeats(adapter_id=near)
    )
    yield Equality(
        "the capability of a spent call", made["capability_id"], lambda n: repeats(capability_id=n)
    )
    yield Equality(
        "the arguments of a spent call",
        made["args_digest"],
        lambda near: repeats(args_digest=near),
        "digest",
    )


def of_provenance() -> Iterator[Equality]:
    """A value is the session's where the session has it, and a tool is in scope by both names."""

    def in_scope(**changed: Any) -> bool:
        scope = [{**SCOPE[0], **changed}]
        return answer(seen(request(f"Write to {VALUE}"), scope=scope)) == "allow"

    yield Equality("the adapter of a scope", "shop", lambda near: in_scope(adapter_id=near))
    yield Equality("the tool of a scope", "transmit", lambda near: in_scope(capability_id=near))


def of_confinement() -> Iterator[Equality]:
    """What evidence of a confined class holds is not sent; a class that must be there has to be."""
    wire = good_proposal()
    kept = {"id": "k", "classification": "Secret_a", "content": "the launch code is zeta-9914"}
    items = [*at(wire, _ITEMS), kept]
    wire = put(wire, _ITEMS, items)
    call = {"adapter_id": "web", "capability_id": "post", "approval_mode": "network"}
    tools = [*at(wire, _TOOLS[:-1]), call]
    wire = put(wire, _TOOLS[:-1], tools)
    names = {name: call[name] for name in ("adapter_id", "capability_id")}
    sent = {"kind": "tool", **names, "args": {"text": kept["content"]}}
    sending = put(wire, ("plan", "steps"), [*wire["plan"]["steps"], sent])

    def refused(name: str, near: Any) -> bool:
        return not passes(put(sending, ("spec", name), [near]))

    assert passes(sending)
    yield Equality("a confined class", "Secret_a", lambda n: refused("confined_evidence", n))
    required = good_proposal()["plan"]["steps"][1]["requires_evidence"][0]
    yield Equality(
        "a class that the spec requires",
        required,
        lambda near: passes(put(good_proposal(), ("spec", "required_evidence"), [near])),
    )


def of_runs() -> Iterator[Equality]:
    """A run is of the plan if it made the very calls, in the same trace."""
    wire = good_run()
    for path, kind in {
        ("calls", 1, "adapter_id"): "text",
        ("calls", 1, "capability_id"): "text",
        ("calls", 1, "args"): "json",
        ("trace_id",): "text",
    }.items():
        yield Equality(
            f"of a run: {'/'.join(map(str, path))}",
            at(wire, path),
            put_in(wire, path, lambda run: score(build(Run, run)).ok),
            kind,
        )


def of_decisions() -> Iterator[Equality]:
    """A report is of the decision that names its trace and its spec."""
    made = decision(1, kind="partial")
    wire: Json = {"proposal": made.proposal.wire(), "report": made.report.wire()}
    wire["action"] = made.action
    for name in ("trace_id", "decision_key"):
        yield Equality(
            f"the {name} of a report",
            wire["report"][name],
            put_in(wire, ("report", name), lambda one: bool(build(Decision, one))),
        )


def of_permits() -> Iterator[Equality]:
    """The permit of the loop is redeemed for the very proposal that was verified."""
    wire = good_proposal()
    whole = {"args": at(wire, _PLAN)["args"], "trace": wire["ctx"]["trace_id"]}

    def redeems(near: Any) -> bool:
        if not isinstance(near, dict) or near.keys() != whole.keys():
            return False
        altered = put(put(wire, (*_PLAN, "args"), near["args"]), ("ctx", "trace_id"), near["trace"])
        permit = issue_permit(build(Proposal, wire))
        return bool(permit.redeem(build(Proposal, altered)))

    yield Equality("a proposal redeemed for what was verified", whole, redeems, "json")


def of_heads(folder: Path) -> Iterator[Equality]:
    with filled(folder / "heads.db", 2) as log:
        head = log.head()
    name = f"{head.seq}:{head.hash}"

    def is_head(near: Any) -> bool:
        named = parse_head(near)
        if named is None:
            return False
        with SqlDecisionLog.open_for_reading(folder / "heads.db") as log:
            return [one.status for one in replay(log, head=named, judge=False)] == ["same"] * 2

    yield Equality(
        "a head",
        name,
        lambda near: isinstance(near, str) and is_head(near),
        "digest",
        also={
            "another number": f"1:{head.hash}",
            "a zero before it": f"0{name}",
            "a digit of another script": f"\u0662:{head.hash}",
        },
    )


def of_claims(folder: Path) -> Iterator[Equality]:
    """A log refuses a second execution with one approval of one plan, and a second end of one."""
    plan = digest(proposal(1).plan)
    used = {"approval_id": "turn-1/Ab", "plan_digest": plan}

    def begun(number: int, **approval: Any) -> Begun:
        used = (UsedApproval(**approval),)
        return Begun(proposal=proposal(number), begun_at=NOON, approvals=used)

    log = SqlDecisionLog.open(folder / "claims.db")
    begins = log.begin(begun(1, **used)).hash
    log.append(decision(1).model_copy(update={"begun": begins}))

    def is_claimed(**changed: Any) -> bool:
        return bool(log.claims(begun(2, **{**used, **changed}).snapshot.claims))

    yield Equality("a used approval", used["approval_id"], lambda n: is_claimed(approval_id=n))
    other = "ab" * 32
    yield Equality(
        "the plan of a used approval",
        plan,
        lambda near: is_claimed(plan_digest=near),
        "digest",
        also={"another plan": other},
    )
    log.begin(begun(4, approval_id="z", plan_digest=plan))
    ends = log.head().hash
    log.append(judged(proposal(4), run_of(proposal(4), 4), begun=ends))

    def has_ended(near: Any) -> bool:
        again = judged(proposal(4), run_of(proposal(4), 4), begun=near)
        return bool(log.claims(again.snapshot.claims))

    _require_claimed(log, begun(2, **used))
    yield Equality("the end of an execution", ends, has_ended, "digest")
    state = "session 0aB1"
    log.append(judged(proposal(3), claims=(state,)))

    def goes_on(near: Any) -> bool:
        return bool(log.claims([near])) if isinstance(near, str) else False

    yield Equality("the claim on a state", state, goes_on)


def _require_claimed(log: SqlDecisionLog, again: Begun) -> None:
    """Require that a log refuses what claims again. What it looks up is what it refuses by."""
    try:
        log.begin(again)
    except AlreadyClaimed:
        return
    raise AssertionError("a second execution began with one approval")


def of_filters(folder: Path) -> Iterator[Equality]:
    """A search of a log finds what has the very name."""
    with SqlDecisionLog.open(folder / "filters.db") as log:
        log.append(judged(proposal(1), run_of(proposal(1))))

    listing = Listing(SqlDecisionLog.open_for_reading(folder / "filters.db"))

    def finds(**wanted: Any) -> bool:
        return any(True for _ in listing.rows(Filters(**wanted)))

    def of(field: str, exact: str) -> Equality:
        return Equality(
            f"the {field} that a search names, {exact}",
            exact,
            lambda near: isinstance(near, str) and finds(**{field: near}),
        )

    yield of("trace", "trace_1")
    yield of("tool", "payments/refund")
    yield of("tool", "refund")
    yield of("mode", "destructive")
    yield of("status", "completed")


def of_notes(folder: Path) -> Iterator[Equality]:
    """A key verifies under its own name; a checkpoint is of its own log, and of its key's."""
    folder.joinpath("keys").mkdir()
    new_key(folder / "keys" / "one")
    private = read_private_key(folder / "keys" / "one")
    raw = read_public_key(folder / "keys" / "one.pub").raw
    origin = "example.com/Audit"
    spelled = signed_by(Checkpoint(origin, 1, bytes(32)), private).note.note_text().encode()

    def verifies(raw: bytes = raw, name: str = origin, kind: int = ED25519) -> bool:
        try:
            read_checkpoint(spelled, "it", [PublicKey("a key", raw, name, kind)])
        except InvalidCheckpoint:
            return False
        return True

    # A key in PEM has no name: it is of whoever signs as the log.
    unnamed = ("an empty text",)

    def is_of(near: Any) -> bool:
        require_origin(Checkpoint(origin, 1, bytes(32)), near, "it")
        return True

    yield Equality(
        "the name of a key",
        origin,
        lambda near: isinstance(near, str) and verifies(name=near),
        same=unnamed,
    )
    yield Equality("the origin of a checkpoint", origin, lambda n: isinstance(n, str) and is_of(n))
    yield Equality(
        "a public key",
        raw.hex(),
        lambda near: (
            isinstance(near, str)
            and len(bytes.fromhex(near)) == 32
            and verifies(raw=bytes.fromhex(near))
        ),
        "digest",
        same=(
            "another case",
            "upper case",
            "a space before it",
            "a space after it",
            "a line end after it",
        ),
    )


TOOL_OF_SERVER: Final[Json] = {
    "name": "issue_refund",
    "title": "Refund",
    "description": "Refund an order, of 1 to 50",
    "inputSchema": {"type": "object", "properties": {"cents": {"minimum": 1}}},
    "outputSchema": {"type": "object", "required": ["id", "cents"]},
    "annotations": {"destructiveHint": True, "title": "Refund"},
}


def of_pins(folder: Path) -> Iterator[Equality]:
    """A tool of a server is the one that was pinned if it says the same of itself."""
    pins = PinFile(folder / "pins.json")
    pins.check("refund", TOOL_OF_SERVER)
    kept = pins.path.read_bytes()
    assert TOOL_OF_SERVER.keys() == {*PINNED}

    def is_known(name: Any, tool: Any) -> bool:
        pins.path.write_bytes(kept)
        pins.check(name, tool)
        return PinFile(pins.path).read().changed == {} and pins.path.read_bytes() == kept

    for member in PINNED:
        kind = "text" if isinstance(TOOL_OF_SERVER[member], str) else "json"
        yield Equality(
            f"the {member} of a pinned tool",
            TOOL_OF_SERVER[member],
            put_in(TOOL_OF_SERVER, (member,), lambda tool: is_known("refund", tool)),
            kind,
            # What is null in it is absent: one protocol spells what another leaves out.
            same=() if kind == "text" else ("one more that is null",),
        )
    yield Equality(
        "the name of a pin",
        "refund",
        lambda near: isinstance(near, str) and is_known(near, TOOL_OF_SERVER),
    )


def of_tokens() -> Iterator[Equality]:
    token = "tok-Ab.17/x"  # noqa: S105 - nobody has it
    tokens = BearerTokens([b"another", token.encode()])

    def accepts(near: Any) -> bool:
        return isinstance(near, str) and tokens.accept(
            [(b"host", b"x"), (b"authorization", b"Bearer " + near.encode())]
        )

    # What stands around a token is whitespace of the header.
    spaces = ("a space before it", "a space after it")
    yield Equality("a bearer token", token, accepts, same=spaces)


def of_hooks() -> Iterator[Equality]:
    """A result is of the call with its id, or else of the one with its tool and arguments."""
    asked = HookEvent("PreToolUse", "call", session="s", tool="Bash", args={"command": "ls 1"})
    by_id = HookMemory(
        dialect="d", session="s", calls=(KnownCall(id="toolu_Ab1", key=call_key(asked)),)
    )
    ended = asked._replace(name="PostToolUse", kind="result")

    def knows(**changed: Any) -> bool:
        return by_id.find_call(ended._replace(**changed)) is not None

    yield Equality(
        "the call of a hook",
        "toolu_Ab1",
        lambda near: near is not None and knows(call=near),
    )
    yield Equality("the tool of a hook", "Bash", lambda near: knows(tool=near))
    yield Equality("the arguments of a hook", asked.args, lambda near: knows(args=near), "json")
    of_agent = KnownCall(id="toolu_Ab1", key=call_key(asked), agent="agent-7")
    of_sub_agent = HookMemory(dialect="d", session="s", calls=(of_agent,))
    end = asked._replace(name="SubagentStop")
    yield Equality(
        "the sub-agent of a hook",
        "agent-7",
        lambda near: bool(of_sub_agent.left_calls(end._replace(agent=near))),
    )


def others(folder: Path) -> Iterator[Equality]:
    """Return what decides by equality besides a guard."""
    yield from of_refunds()
    yield from of_approvals()
    yield from of_spent_calls()
    yield from of_provenance()
    yield from of_confinement()
    yield from of_runs()
    yield from of_decisions()
    yield from of_permits()
    yield from of_heads(folder)
    yield from of_claims(folder)
    yield from of_filters(folder)
    yield from of_notes(folder)
    yield from of_pins(folder)
    yield from of_tokens()
    yield from of_hooks()
    yield from of_seams()
