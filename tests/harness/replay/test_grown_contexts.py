"""A context that goes on from the last one of its session is read as it would be by itself."""

import json
from collections.abc import Callable
from contextlib import suppress
from operator import is_
from pathlib import Path
from typing import Any, Final

import pytest

from critic import CompiledContext
from harness.canonical import canonical_bytes
from harness.log import SqlDecisionLog
from harness.record import sha256
from harness.record.parts import SMALLEST, GrowingArray, part_document, references
from harness.replay import grown_contexts, replay
from harness.replay.grown_contexts import GrownContexts
from harness.wire import InvalidInput, parse
from tests.harness.log.decisions import body_of, meddle, query
from tests.harness.replay.forging import forged
from tests.harness.replay.session_logs import EVENTS, SESSION_LOGS, Rewriting, at, nothing
from tests.support.effort import sampled
from tests.support.guarding import Json, answers_to, call, close, desk, guard_of, open_, result

READS: Final = 26
"""So many that some items of evidence become one part, and some turns are folded."""


def reads(first: int, count: int) -> list[Any]:
    """Return events of calls that each return another text."""
    pages = range(first, first + count)
    return [
        event
        for page in pages
        for event in (
            call("read_note", name=f"page {page}"),
            result(f"this is page {page} of {'many ' * 20}"),
        )
    ]


LONG: Final = [
    *EVENTS[:-1],
    *reads(0, READS),
    call("make_note", name="z.md", text="x"),
    result("made"),
]


OTHER: Final = [
    open_(request="Read the pages, then shred old.md"),
    *(call("shred", name="old.md"), result("done")),
    *reads(100, READS),
    close(),
]


def policy() -> Json:
    wire = desk()
    wire["guard"]["budget"] = {"max_steps": 500, "bucket_tokens": 10**9}
    return wire


def record(path: Path, *sessions: list[Any], change: Callable[[Json], Any] | None = None) -> Path:
    """Record sessions, a few events of each in turn."""
    with SqlDecisionLog.open(path) as log:
        kept: Any = log if change is None else Rewriting(log, change)
        guards = [guard_of(policy(), log=kept) for _ in sessions]
        for start in range(0, max(map(len, sessions)), 5):
            for guard, events in zip(guards, sessions, strict=True):
                answers = answers_to(guard, events[start : start + 5])
                assert all("error" not in one for one in answers.values()), answers
    return path


def answers_of(path: Path) -> list[Any]:
    with SqlDecisionLog.open_for_reading(path) as log:
        return list(replay(log))


def answers_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the answers where each context is read as a whole."""
    with monkeypatch.context() as patched:
        patched.setattr(GrownContexts, "read", lambda *_: None)
        return answers_of(path)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return whether each context that is looked up goes on from another."""
    found, read = list[bool](), GrownContexts.read

    def reading(*given: Any) -> Any:
        one = read(*given)
        found.append(one is not None)
        return one

    monkeypatch.setattr(GrownContexts, "read", reading)
    return found


@pytest.fixture(scope="module")
def long_log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return record(tmp_path_factory.mktemp("long") / "log.db", LONG).read_bytes()


@pytest.fixture
def path(tmp_path: Path, long_log: bytes) -> Path:
    """Return a log of one long session."""
    path = tmp_path / "log.db"
    path.write_bytes(long_log)
    return path


def statuses(answers: list[Any]) -> set[str]:
    return {one.status for one in answers}


def test_of_a_session_all_contexts_but_the_first_go_on_from_one_before(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each set of tools that it calls, that is: what follows the evidence is read once."""
    expected = answers_alone(path, monkeypatch)
    found = counted(monkeypatch)
    assert answers_of(path) == expected
    assert statuses(expected) == {"same"}
    assert found.count(False) <= 5
    assert found.count(True) > READS


def with_session(events: list[Any], name: str) -> list[Any]:
    return [{**event, "session": name} for event in events]


@pytest.mark.slow
def test_two_sessions_at_once_go_on_each_from_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = record(tmp_path / "log.db", LONG, [{**event, "session": "t"} for event in OTHER])
    expected = answers_alone(path, monkeypatch)
    found = counted(monkeypatch)
    assert answers_of(path) == expected
    assert statuses(expected) == {"same"}
    assert found.count(False) <= 10
    assert found.count(True) > 2 * READS


@pytest.mark.slow
def test_two_sessions_of_one_id_at_once_follow_each_from_its_own(tmp_path: Path) -> None:
    """There are two only where a log cannot tell the guard of the one of the other."""
    path = record(tmp_path / "log.db", LONG, OTHER, change=nothing)
    assert statuses(answers_of(path)) == {"same"}


def parts_of(path: Path) -> list[str]:
    """Return the digests of all that is stored of contexts, each whole and in its parts."""
    stored = dict(query(path, "SELECT digest, body FROM inputs"))
    waiting = [
        json.loads(body_of(path, seq))["inputs"]["compiled"]
        for (seq,) in query(path, "SELECT seq FROM records")
    ]
    found: dict[str, None] = {}
    while waiting:
        digest = waiting.pop()
        if digest in stored and digest not in found:
            found[digest] = None
            waiting += references(stored[digest])
    return sorted(found)


def altered(body: bytes) -> bytes:
    """Return a stored body with another letter in it, outside of its references."""
    for old, new in ((b"page", b"pagf"), (b"author", b"authos"), (b"evidence", b"evidencf")):
        if old in body:
            return body.replace(old, new, 1)
    return body[:-33] + bytes(33)


def named_in(path: Path, digest: str) -> set[int]:
    """Return the numbers of the records whose contexts hold a part."""
    stored = dict(query(path, "SELECT digest, body FROM inputs"))
    found = set[int]()
    for (seq,) in query(path, "SELECT seq FROM records"):
        waiting, seen = [json.loads(body_of(path, seq))["inputs"]["compiled"]], set[str]()
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += references(stored.get(one, b""))
        if digest in seen:
            found.add(seq)
    return found


@pytest.mark.slow
def test_an_altered_part_is_noticed_in_each_record_that_holds_it(
    path: Path, long_log: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = parts_of(path)
    assert len(parts) > 2 * READS
    for digest in parts[:: len(parts) // 6]:
        path.write_bytes(long_log)
        holders = named_in(path, digest)
        [(stored,)] = query(path, "SELECT body FROM inputs WHERE digest = ?", digest)
        body = altered(stored)
        meddle(path, ("UPDATE inputs SET body = ? WHERE digest = ?", (body, digest)))
        answers = answers_of(path)
        wrong = {one.seq for one in answers if one.status != "same"}
        assert holders <= wrong, digest
        assert answers == answers_alone(path, monkeypatch)


@pytest.mark.slow
def test_a_missing_part_is_noticed_in_each_record_that_holds_it(
    path: Path, long_log: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    for digest in parts_of(path)[::12]:
        path.write_bytes(long_log)
        holders = named_in(path, digest)
        meddle(path, ("DELETE FROM inputs WHERE digest = ?", (digest,)))
        answers = answers_of(path)
        assert holders <= {one.seq for one in answers if one.status != "same"}
        assert answers == answers_alone(path, monkeypatch)


CHANGES: Final[dict[str, Callable[[Json], Any]]] = {
    "another item": lambda ctx: ctx["evidence"][-3].update(content="page 0 of others"),
    "one of the first": lambda ctx: ctx["evidence"][1].update(content="iban-9"),
    "one less": lambda ctx: ctx["evidence"].pop(2),
    "another order": lambda ctx: ctx["evidence"].insert(2, ctx["evidence"].pop(3)),
    "an expiry": lambda ctx: ctx["evidence"][-2].update(expires_at="2030-01-01T00:00:00Z"),
    "another author": lambda ctx: ctx["evidence"][-2]["source"].update(author="system"),
    "nothing sent": lambda ctx: ctx["session"].pop("sent"),
    "a step less": lambda ctx: ctx["spent"].update(steps=ctx["spent"]["steps"] - 1),
    "a tool more": lambda ctx: ctx["session"]["ran"].append(
        {"adapter_id": "desk", "capability_id": "list_mail"}
    ),
    "a tool less": lambda ctx: ctx["session"]["ran"].pop(0),
    "nothing made": lambda ctx: ctx["session"].pop("own"),
    "nothing approved": lambda ctx: ctx["session"].pop("approved"),
    "a call less": lambda ctx: ctx["spent"]["calls"].pop(0),
    "what was sent is a number": lambda ctx: ctx["session"]["sent"][0].update(values=[1]),
}


@pytest.mark.slow
@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sampled(CHANGES, one_in=3))
@pytest.mark.parametrize("turn", sampled([12, 30], one_in=2))
def test_what_differs_between_two_records_of_a_session_is_noticed(
    turn: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every hash is right: a forger made them all anew."""
    path = record(tmp_path / "log.db", LONG, change=at(turn, CHANGES[name]))
    answers = answers_of(path)
    first = next(one for one in answers if one.status != "same")
    assert first.status == "tampered"
    assert first.reasons[0].startswith("session facts do not follow from earlier records: ")
    assert answers == answers_alone(path, monkeypatch)


@pytest.mark.slow
def test_what_is_different_in_the_second_of_two_sessions_is_noticed(tmp_path: Path) -> None:
    def change(ctx: Json) -> None:
        items = ctx["evidence"]
        if ctx["session"]["turn"] == 12 and "page 105" in str(items):
            items[-2].update(content="page 999")

    for at_once in (True, False):
        sessions = [(LONG, OTHER)] if at_once else [(LONG,), (OTHER,)]
        path = tmp_path / f"{at_once}.db"
        for each in sessions:
            record(path, *each, change=change)
        wrong = [one for one in answers_of(path) if one.status != "same"]
        assert wrong
        assert wrong[0].status == "tampered"
        assert "evidence" in wrong[0].reasons[0]


def test_a_permit_of_other_inputs_is_noticed(path: Path) -> None:
    begun = [
        one
        for (one,) in query(path, "SELECT seq FROM records ORDER BY seq")
        if json.loads(body_of(path, one)).get("kind") == "begun"
    ]
    forged(path, begun[-1], lambda document: document.update(permit="0" * 64))
    wrong = {one.seq: one for one in answers_of(path) if one.status != "same"}
    assert "its permit is not of its inputs" in wrong[begun[-1]].reasons


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sampled(list(SESSION_LOGS), one_in=4))
def test_each_log_of_sessions_has_the_answers_that_it_has_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    SESSION_LOGS[name](tmp_path / "log.db")
    expected = answers_alone(tmp_path / "log.db", monkeypatch)
    assert answers_of(tmp_path / "log.db") == expected


OPENING: Final = b'{"manifests":{"evidence_manifest":['
ENDING: Final = b'],"tool_manifest":[]}}'


class Bare:
    """Contexts of evidence alone, stored as a guard stores them."""

    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}
        self._array = GrowingArray(self.bodies, SMALLEST)
        self._wholes: list[bytes] = []
        self.contexts = GrownContexts()

    def add(self, text: str) -> bytes:
        """Add an item, and return its bytes."""
        item = f'{{"classification":"k","content":"{text}","id":"e/{len(self._wholes)}"}}'.encode()
        self._wholes.append(item)
        self._array.add(item, item)
        return item

    def read(self, behind: bytes = b"", opening: bytes = OPENING) -> Any:
        """Read the context, or one with other bytes at the end of its evidence or before it."""
        end = behind + ENDING
        whole = opening + b",".join(self._wholes) + end
        body = opening + b",".join(self._array.elements()) + end
        found = self.contexts.read(sha256(whole), body, self.bodies)
        if found is None:
            with suppress(InvalidInput):
                value = parse(CompiledContext, whole)
                self.contexts.note(body, whole, value, self.bodies)
            return None
        assert found.value == parse(CompiledContext, whole)
        assert canonical_bytes(found.value) == whole
        assert found.proposal.hexdigest() == sha256(b'{"compiled":' + whole)
        return found.value


def bare_of(count: int) -> Bare:
    made = Bare()
    for number in range(count):
        made.add(f"text {number} that is long enough for a part of its own, as most are")
        made.read()
    return made


def test_items_that_became_one_part_are_those_that_were_read() -> None:
    made, missed = Bare(), 0
    items: tuple[Any, ...] = ()
    for number in range(130):
        made.add(f"text {number} that is long enough for a part of its own, as most are")
        value = made.read()
        missed += value is None
        items = items if value is not None else ()
        if value is not None:
            now = value.manifests.evidence_manifest
            assert all(map(is_, now, items))
            items = now
    assert missed == 2, "the first of all, and where the first part of many items begins"
    assert made.read() is not None


SLIPS: Final = {
    "another sign between two": b';{"classification":"k","id":"z"}',
    "nothing behind a comma": b",",
    "a space": b', {"classification":"k","id":"z"}',
    "another order": b',{"id":"z","classification":"k"}',
    "a number with a zero": b',{"classification":"k","content":1.0,"id":"z"}',
    "a name twice": b',{"classification":"k","id":"z","id":"z"}',
    "an id that is there": b',{"classification":"k","id":"e/1"}',
    "no item": b",7",
    "more behind the evidence": b',{"classification":"k","id":"z"}],"record_fields":["x"',
    "other evidence behind it": b',{"classification":"k","id":"z"}],"evidence_manifest":[',
    "an escape": b',{"classification":"k","content":"\\u0041","id":"z"}',
}


@pytest.mark.parametrize("name", SLIPS)
def test_what_is_not_all_of_a_context_in_its_canonical_form_is_left_to_the_whole(name: str) -> None:
    """The digest is right: it was recorded so."""
    made = bare_of(4)
    assert made.read(SLIPS[name]) is None
    assert made.read() is not None


def test_inline_items_and_the_same_context_go_on_too() -> None:
    made = bare_of(4)
    assert made.read(b',{"classification":"k","id":"z"}') is not None
    assert made.read() is not None


def test_another_beginning_is_left_to_the_whole() -> None:
    made = bare_of(4)
    assert made.read(opening=b" " + OPENING) is None


def test_what_is_described_otherwise_is_another_context() -> None:
    """The same tools stand behind its evidence, and the same items are in it."""
    classes = [
        OPENING.replace(b'{"ev', b'{"classes":[{"class":"k","fields":{"x":"%s"}}],"ev' % writer)
        for writer in (b"system", b"public")
    ]
    made = Bare()
    made.add("one item that is long enough for a part of its own, as most of them are")
    for opening in (OPENING, *classes):
        assert made.read(opening=opening) is None
    made.add("another that is long enough for a part of its own, as most of them are")
    for opening in (OPENING, *classes):
        assert made.read(opening=opening) is not None


def test_what_is_held_for_later_contexts_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    contexts = GrownContexts()
    for number in range(40):
        made = Bare()
        made.contexts = contexts
        made.add(f"session {number}, which has one item that is long enough for a part")
        made.read()
        made.add(f"session {number}, which has another that is long enough for a part")
        assert made.read() is not None
    assert len(contexts._known) == grown_contexts._MOST
    assert len(contexts._frames) == 1
    monkeypatch.setattr(grown_contexts, "_MOST_BYTES", 1_000)
    bare_of(9)
    made = Bare()
    made.contexts = contexts
    made.add("x" * 600)
    made.read()
    assert sum(one.size for one in contexts._known) <= 1_000


def test_a_context_is_that_of_the_digest_under_which_it_is_stored() -> None:
    items = [
        {"id": f"call/{at}", "classification": "result", "content": f"{at} " * 200}
        for at in range(4)
    ]

    def stored(count: int) -> tuple[str, bytes, dict[str, bytes], CompiledContext]:
        manifests = {"evidence_manifest": items[:count], "tool_manifest": []}
        value = parse(CompiledContext, json.dumps({"manifests": manifests}).encode())
        whole = canonical_bytes(value)
        apart = part_document(whole)
        return sha256(whole), apart.body, dict(apart.pieces), value

    contexts, (_, body, pieces, first) = GrownContexts(), stored(2)
    contexts.note(body, canonical_bytes(first), first, pieces)
    digest, body, pieces, grown = stored(4)
    for other in ("f" * 64, digest.upper(), digest[:-1], ""):
        assert contexts.read(other, body, pieces) is None
    found = contexts.read(digest, body, pieces)
    assert found is not None
    assert found.value == grown
