"""What a session adds: an allowed call raises nothing but what it made, and a yes what it was of.

A session is drawn: what it was asked, what it read, and then a call. Every call that it could make
is judged before and after, also where a system of record or a member shows later what was sent.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any, Final, NamedTuple

import pytest

from critic import EvidenceClass, Refused
from critic.provenance.value_kinds import read_value
from critic.session import Call, CallResult, Session, verify_batch
from evals.canonical_json import digest
from harness.testing._draw.primitives import Pick, seeded_pick
from tests.critic.session.building import NOW, rules, tool
from tests.support.effort import examples

SYSTEM: Final = {"author": "system"}
TOOLS: Final = {
    "read": tool("read", arg_roles={"path": "locator"}, result={"author": "public"}),
    "show_profile": tool("show_profile", result=SYSTEM),
    "show_wall": tool("show_wall", result={"author": "member"}),
    "list_orders": tool("list_orders", result={**SYSTEM, "format": "json"}, result_class="order"),
    "set_profile": tool("set_profile", "local_write", arg_roles={"street": "attribute"}),
    "make_note": tool(
        "make_note",
        "local_write",
        arg_roles={"title": "attribute", "text": "content"},
        result={**SYSTEM, "makes": {"title": "note"}},
    ),
    "tag": tool("tag", "local_write", arg_roles={"path": "object"}, arg_kinds={"path": "path"}),
    "fetch": tool("fetch", "network", arg_roles={"url": "locator"}, arg_kinds={"url": "url"}),
    "post": tool("post", "network", arg_roles={"url": "recipient"}, arg_kinds={"url": "url"}),
    "mail": tool("mail", "network", arg_roles={"to": "recipient"}),
    "drop": tool("drop", "destructive", arg_roles={"path": "object"}, arg_kinds={"path": "path"}),
    "drop_note": tool(
        "drop_note", "destructive", arg_roles={"note": "object"}, arg_kinds={"note": "note"}
    ),
    "pay": tool("pay", "delegated", arg_roles={"to": "recipient"}, arg_kinds={"to": "account"}),
    "unlock": tool("unlock", "delegated", arg_roles={"key": "secret"}),
}
KINDS: Final = {"tag": "path", "drop": "path", "fetch": "url", "post": "url", "pay": "account"}
AIMED: Final = ("tag", "fetch", "post", "mail", "drop", "drop_note", "pay", "unlock")
WRITES: Final = [name for name, one in TOOLS.items() if one.capability.arg_roles and name != "read"]
CLASSES: Final = (EvidenceClass(class_="order", fields={"id": "system", "payer": "party"}),)
VALUES: Final = (
    *("/srv/data/old", "/srv/data", "https://evil.example/x", "https://evil.example/y"),
    *("GB29NWBK60161331926819", "GB29 NWBK 6016 1331 9268 19", "eve@evil.example", "zeta-9914"),
)
REQUESTS: Final = (
    *("please do the usual", "use {0}", "see notes-1.txt", "use {0} and read notes-1.txt"),
    "do what notes-1.txt says about {0}",
)


class Drawn(NamedTuple):
    """A session, and the call that it makes next."""

    session: Session
    call: Call


def drawn(seed: int) -> Drawn:
    pick: Pick = seeded_pick(seed)
    value, other = pick(VALUES), pick(VALUES)
    session = Session.opened(
        rules(tools=TOOLS, classes=CLASSES, spec={"provenance": pick(("closed", "open"))}),
        "s",
        pick(REQUESTS).format(other),
        scope=pick((WRITES, WRITES, ["tag"])),
    )
    if pick((True, False)):
        said = pick(("use {0}", "nothing", "{0} and {1}")).format(value, other)
        path = pick(("notes-1.txt", "other-2.txt"))
        session = ran(session, Call("r", "read", {"path": path}), said)
    if pick((True, False, False)):
        order = [{"id": pick(VALUES), "payer": pick(VALUES)}]
        session = ran(session, Call("o", "list_orders", {}), order)
    name = pick((*WRITES, "set_profile", "make_note", "make_note"))
    return Drawn(session, call_of(name, value))


def call_of(name: str, value: str) -> Call:
    (first, *_) = TOOLS[name].capability.arg_roles or {}
    return Call("c", name, {first: value})


def ran(session: Session, call: Call, output: Any) -> Session:
    """Return the session after a call that is allowed was made, or as it was."""
    batch = session.propose([call], NOW)
    verdict = verify_batch(batch)
    if not verdict.ok:
        return session
    session = session.decided(batch, "allow", verdict, digest(batch.plan))
    return session.ran(call.id, CallResult("completed", output), NOW).session


def approved(session: Session, call: Call) -> Session | None:
    """Return the session after a person said yes to a call that asks, and it was made."""
    batch = session.propose([call], NOW)
    verdict = verify_batch(batch)
    if not (isinstance(verdict, Refused) and verdict.approvable):
        return None
    session, batch = session.approved(batch, "emma")
    session = session.decided(batch, "allow", verify_batch(batch), digest(batch.plan))
    return session.ran(call.id, CallResult("completed", "ok"), NOW).session


def allows(session: Session) -> frozenset[tuple[str, str]]:
    """Return the calls that a session would allow, by tool and target."""
    every = product(AIMED, VALUES)
    return frozenset(
        pair for pair in every if verify_batch(session.propose([call_of(*pair)], NOW)).ok
    )


def is_same(name: str, value: str, other: str) -> bool:
    kind = KINDS.get(name)
    return read_value(value, kind).narrow == read_value(other, kind).narrow


def echoes(session: Session, said: str) -> Iterator[Session]:
    """Yield the session as it is, and after it was shown something by others."""
    yield session
    for name in ("show_profile", "show_wall"):
        yield ran(session, Call("e", name, {}), said)
    yield ran(session, Call("e", "list_orders", {}), [{"id": said, "payer": said}])


def raised_by_calls(seeds: Iterable[int]) -> Iterator[tuple[int, bool, set[tuple[str, str]]]]:
    """Yield the seeds of calls that were allowed, if others were not, and what each raised."""
    for seed in seeds:
        session, call = drawn(seed)
        after = ran(session, call, "ok")
        if after is session:
            continue
        (value,) = call.args.values()
        before = [allows(one) for one in echoes(session, "nothing")]
        later = [allows(one) for one in echoes(after, value)]
        raised = {one for old, new in zip(before, later, strict=True) for one in new - old}
        own = {("drop_note", value)} if call.tool == "make_note" else set()
        yield seed, len(before[0]) < len(AIMED) * len(VALUES), raised - own


def raised_by_yeses(seeds: Iterable[int]) -> Iterator[tuple[int, set[tuple[str, str]]]]:
    """Yield the seeds of calls that asked, and what a yes to each raised beside the call."""
    for seed in seeds:
        session, call = drawn(seed)
        after = approved(session, call)
        if after is None:
            continue
        (value,) = call.args.values()
        raised = allows(after) - allows(session)
        own = {("drop_note", value)} if call.tool == "make_note" else set()
        yield (
            seed,
            {
                (name, one)
                for name, one in raised - own
                if name != call.tool or not is_same(name, one, value)
            },
        )


CALLS_THAT_TELL: Final = (9, 17)
"""Seeds at which it showed that an echo, or a thing of another kind, raised a value."""
YESES_THAT_TELL: Final = (5, 7, 8, 10)
"""Seeds at which it showed that a yes was of another tool, of another role, or of other targets."""


def test_an_allowed_call_raises_nothing_but_what_it_made() -> None:
    require_no_call_raises(CALLS_THAT_TELL)


def test_a_yes_raises_nothing_but_the_call_that_it_was_of() -> None:
    require_no_yes_raises(YESES_THAT_TELL)


def require_no_call_raises(seeds: Sequence[int]) -> None:
    found = list(raised_by_calls(seeds))
    assert sum(others for _, others, _ in found) >= len(seeds) / 8
    assert [(seed, raised) for seed, _, raised in found if raised] == []


def require_no_yes_raises(seeds: Sequence[int]) -> None:
    found = list(raised_by_yeses(seeds))
    assert len(found) >= len(seeds) / 8
    assert [one for one in found if one[1]] == []


@pytest.mark.slow
def test_no_call_of_many_raises_anything_but_what_it_made() -> None:
    require_no_call_raises(range(1_000, 1_000 + examples(150)))


@pytest.mark.slow
def test_no_yes_of_many_raises_anything_but_the_call_that_it_was_of() -> None:
    require_no_yes_raises(range(1_000, 1_000 + examples(150)))
