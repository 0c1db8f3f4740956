"""What is hashed, signed or pinned is so in every member: each is changed alone, and it is noticed.

The log is one that guards wrote, with records of every kind.
"""

import json
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from sqlite3 import IntegrityError
from typing import Any, NamedTuple

import pytest

from harness.audit.proofs.checkpoint import Checkpoint, SignedCheckpoint, read_checkpoint
from harness.audit.proofs.keys import PublicKey, read_public_key
from harness.audit.proofs.notes import InvalidCheckpoint, NoteSignature
from harness.canonical import canonical_json
from harness.commands.replay.replay_state import ReplayState, check_state, kept_state
from harness.errors import HarnessError, UsageError
from harness.log import SqlDecisionLog
from harness.loops.agents.agent import AgentFailed
from harness.loops.agents.journal import JournalDamaged, MemoryStore
from harness.record import RawRecord
from harness.record.integrity import START, Link, document_errors, link_error, read_text_of
from harness.replay.log_check import CheckedReplay
from tests.harness.console import Critic
from tests.harness.log.decisions import decision, meddle, query
from tests.harness.log.guard_logs import write_guard_log
from tests.harness.loops.agents.journals import journal_of, step
from tests.support.altering import GONE, altered, others_than, paths_in, value_at
from tests.support.effort import examples

Json = dict[str, Any]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log that nobody writes to any more."""
    path = tmp_path_factory.mktemp("guards") / "guards.db"
    write_guard_log(path)
    return path


def alterations(document: Json) -> Iterator[tuple[str, Json]]:
    """Yield a document with each of its values changed, or left out, and with one value more."""
    for path in paths_in(document):
        name = "/".join(map(str, path))
        yield f"{name} left out", altered(document, path, GONE)
        value = value_at(document, path)
        yield f"{name} changed", altered(document, path, others_than(value)[1])
        if isinstance(value, list):
            yield f"{name} with one more", altered(document, path, [*value, "0" * 64])
    yield "a member more", {**document, "zz": 1}


def records(log: Path) -> list[RawRecord]:
    with SqlDecisionLog.open_for_reading(log) as opened:
        return [*opened.raw()]


def one_of_each_kind(log: Path) -> list[RawRecord]:
    found: dict[tuple[str, ...], RawRecord] = {}
    for raw in records(log):
        members = json.loads(raw.body)
        kind = (members.get("kind", ""), *sorted({"run", "begun", "claims", "error"} & {*members}))
        found.setdefault(kind, raw)
    return [*found.values()]


def problems(raw: RawRecord) -> list[str]:
    return [*document_errors(read_text_of(raw), None)]


def test_every_member_of_a_record_is_hashed(kept: Path) -> None:
    tried, chosen = Counter[str](), one_of_each_kind(kept)
    assert len(chosen) >= 6
    for raw in chosen:
        assert not problems(raw)
        for what, document in alterations(json.loads(raw.body)):
            assert problems(raw._replace(body=canonical_json(document))), (raw.seq, what)
            tried[what.rpartition("/")[2]] += 1
        for changed in (raw._replace(seq=raw.seq + 1), raw._replace(hash="0" * 64)):
            assert problems(changed)
    assert sum(tried.values()) >= 400
    assert tried.keys() >= {f"{name} changed" for name in ("seq", "prev_hash", "begun", "claims")}


def test_every_byte_of_a_record_is_hashed(kept: Path) -> None:
    for raw in one_of_each_kind(kept):
        for at in range(0, len(raw.body), max(1, len(raw.body) // examples(400))):
            other = bytes([raw.body[at] ^ 1])
            assert problems(raw._replace(body=raw.body[:at] + other + raw.body[at + 1 :])), at


def test_a_record_that_is_hashed_again_does_not_fit_its_place(kept: Path) -> None:
    first, second, *_ = records(kept)
    link = Link(first.seq, frozenset({first.hash}))
    assert link_error(read_text_of(second), link) is None
    assert link_error(read_text_of(first), START) is None
    for what, document in alterations(json.loads(first.body)):
        if what.startswith("hash "):  # what it claims to be is not in what it is
            continue
        read = read_text_of(first._replace(body=canonical_json(document)))
        forged = Link(first.seq, frozenset({read.own_hash}))
        assert link_error(read_text_of(second), forged) is not None, what


# The tables.

KEYS = {"records": "seq", "inputs": "digest", "claims": "claim", "record_index": "seq"}


def _sound(path: Path) -> bool:
    with SqlDecisionLog.open_for_reading(path) as log:
        replayed = CheckedReplay(log, judge=False)
        statuses = {one.status for one in replayed.answers()}
        return statuses <= {"same", "open"} and bool(replayed.check())


class Cell(NamedTuple):
    """A cell of a table, by the key of its row."""

    table: str
    column: str
    key: Any
    value: Any


def _cells(path: Path) -> list[Cell]:
    """Return a cell of each column, with a value where any row has one."""
    return [
        Cell(table, column, *_row_of(path, table, column, key))
        for table, key in KEYS.items()
        for _, column, *_ in query(path, f"PRAGMA table_info({table})")
    ]


def _row_of(path: Path, table: str, column: str, key: str) -> tuple[Any, Any]:
    order = f"ORDER BY {column} IS NULL, {column} DESC, {key} LIMIT 1"
    select = f"SELECT {key}, {column} FROM {table} {order}"  # noqa: S608 - names of our own
    ((row, value),) = query(path, select)
    return row, value


def _others(value: Any) -> list[Any]:
    match value:
        case bytes():
            return [value[:-2] + bytes([value[-2] ^ 1]) + value[-1:], b""]
        case str():
            return [value[:-2] + ("b" if value[-2:-1] == "a" else "a") + value[-1:], "", None]
        case None:
            return [1, "a"]
        case _:
            return [value + 1, None]


def test_every_column_of_a_log_is_checked(kept: Path, tmp_path: Path) -> None:
    assert _sound(kept)
    cells = _cells(kept)
    assert len(cells) >= 40
    assert sum(cell.value is not None for cell in cells) >= 35
    every = [(cell, other) for cell in cells for other in _others(cell.value)]
    for cell, other in every[:: 1 if examples(100) == 100 else 7]:
        path = Path(shutil.copy(kept, tmp_path / "log.db"))
        where = f"WHERE {KEYS[cell.table]} = ?"
        change = f"UPDATE {cell.table} SET {cell.column} = ? {where}"  # noqa: S608 - the same
        with suppress(HarnessError, IntegrityError):  # it is not even read, or was not changed
            meddle(path, (change, (other, cell.key)))
            assert not _sound(path), (cell, other)
        path.unlink()


# What is signed, and proofs.


class SignedLog(NamedTuple):
    """A log, the checkpoint that it signed and a witness cosigned, and who says so."""

    log: Path
    note: bytes
    older: bytes
    keys: list[PublicKey]


@pytest.fixture
def signed(kept: Path, tmp_path: Path, critic: Critic) -> SignedLog:
    folder = tmp_path / "signed"
    folder.mkdir()
    log = Path(shutil.copy(kept, folder / "log.db"))
    for name in ("operator", "witness"):
        assert critic("log", "key", "--new", folder / name).status == 0
    origin = ("--origin", "a.example/log")
    own = critic("log", "checkpoint", log, "--key", folder / "operator", *origin).out
    (folder / "own").write_text(own, "utf-8")
    trust = ("--public-key", folder / "operator.pub", "--seen", folder / "seen", "--first")
    seen = critic(
        "log", "witness", folder / "own", "--key", folder / "witness", *trust, "--name", "w"
    )
    assert (seen.status, seen.err) == (0, "")
    keys = [read_public_key(folder / f"{name}.pub") for name in ("operator", "witness")]
    return SignedLog(log, seen.out.encode(), own.encode(), keys)


def bytes_changed(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield bytes with one of them changed, left out, or twice."""
    for at in range(0, len(data), max(1, len(data) // examples(600))):
        yield at, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        yield at, data[:at] + data[at + 1 :]
        yield at, data[:at] + data[at : at + 1] + data[at:]


def test_every_byte_of_a_cosigned_checkpoint_is_signed(signed: SignedLog) -> None:
    whole = read_checkpoint(signed.note, "it", signed.keys)
    assert len(whole.note.signatures) == 2
    for at, other in bytes_changed(signed.note):
        if other == signed.note:  # twice the same sign, such as at the end of base64
            continue
        with pytest.raises(InvalidCheckpoint):
            pytest.fail(f"{at}: {read_checkpoint(other, 'it', signed.keys)}")


def test_each_member_of_a_checkpoint_is_signed(signed: SignedLog) -> None:
    given = read_checkpoint(signed.note, "it", signed.keys)
    changed = {
        "origin": given.checkpoint._replace(origin="b.example/log"),
        "size": given.checkpoint._replace(size=given.checkpoint.size + 1),
        "root": given.checkpoint._replace(root=bytes(32)),
        "first": given.checkpoint._replace(first="0" * 64),
    }
    assert changed.keys() == {*Checkpoint._fields}
    for other in changed.values():
        text = other.text()
        spelled = given.note._replace(text=text).note_text().encode()
        with pytest.raises(InvalidCheckpoint, match=r"does not hold|not signed"):
            read_checkpoint(spelled, "it", signed.keys)
    for place, one in enumerate(given.note.signatures):
        for altered_one in (
            one._replace(name=f"{one.name}x"),
            one._replace(key_id=bytes(4)),
            one._replace(signature=bytes(len(one.signature))),
            one._replace(signature=bytes([one.signature[0] ^ 1]) + one.signature[1:]),
        ):
            signatures = [*given.note.signatures]
            signatures[place] = altered_one
            _require_refused(given, signatures, signed.keys)
        # Nor is one signature that holds enough, where another of the same key does not.
        forged = one._replace(signature=bytes(len(one.signature)))
        _require_refused(given, [*given.note.signatures, forged], signed.keys)


def _require_refused(
    given: SignedCheckpoint, signatures: list[NoteSignature], keys: list[PublicKey]
) -> None:
    note = given.note._replace(signatures=tuple(signatures))
    with pytest.raises(InvalidCheckpoint):
        read_checkpoint(note.note_text().encode(), "it", keys)


def test_every_byte_of_a_proof_counts(signed: SignedLog, critic: Critic, tmp_path: Path) -> None:
    """But for the signatures below its checkpoint: those of the checkpoint that is given count."""
    note = tmp_path / "note"
    note.write_bytes(signed.older)
    public = signed.log.with_name("operator.pub")
    trust = ("--checkpoint", note, "--public-key", public)
    made = critic("log", "prove", signed.log, "7", "--checkpoint", note)
    proof = tmp_path / "proof"
    proof.write_text(made.out, "utf-8")
    assert (made.err, critic("log", "check", proof, *trust).status) == ("", 0)
    whole = proof.read_bytes()
    end = whole.rindex(b"\n\n") + 1
    step = max(1, end // examples(300))
    for at in range(0, end, step):
        proof.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert critic("log", "check", proof, *trust).status != 0, (at, whole[at - 20 : at + 20])


def test_every_byte_of_a_proof_of_growth_counts(
    signed: SignedLog, critic: Critic, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_bytes(signed.older)
    with SqlDecisionLog.open(signed.log) as log:
        log.append_all(decision(number) for number in range(1, 4))
    key = ("--key", signed.log.with_name("operator"), "--origin", "a.example/log")
    new.write_text(critic("log", "checkpoint", signed.log, *key).out, "utf-8")
    proof = tmp_path / "proof"
    made = critic("log", "prove", signed.log, "--since", old, "--checkpoint", new)
    proof.write_text(made.out, "utf-8")
    trust = ("--checkpoint", old, "--public-key", signed.log.with_name("operator.pub"))
    assert (made.err, critic("log", "check", proof, *trust).status) == ("", 0)
    whole = proof.read_bytes()
    for at, other in [*bytes_changed(whole)][:: 1 if examples(100) == 100 else 9]:
        if other != whole:
            proof.write_bytes(other)
            assert critic("log", "check", proof, *trust).status != 0, (at, whole[at - 20 : at + 20])


# What a run keeps to go on from.


def test_each_member_of_a_line_of_a_journal_is_chained() -> None:
    store = MemoryStore()
    for number in range(3):
        step(journal_of(store), {"n": number}, {"reply": number}, f"step {number}")
    for value in (AgentFailed("no answer"), {"reply": 9}):  # a second attempt
        with suppress(AgentFailed):
            step(journal_of(store), {"n": 9}, value, "again")
    lines = store.lines()
    assert json.loads(lines[-1])["attempt"] == 2
    tried = 0
    for at, line in enumerate(lines):
        for what, document in alterations(json.loads(line)):
            others = (*lines[:at], canonical_json(document) + b"\n", *lines[at + 1 :])
            with pytest.raises(JournalDamaged):
                pytest.fail(f"{what}: {journal_of(MemoryStore(others)).find('S', 'step 2', {})}")
            tried += 1
    assert tried >= 50


def test_each_member_of_the_state_of_a_replay_is_compared(kept: Path, tmp_path: Path) -> None:
    """Of the counts, which nothing else knows, how many answers they are of."""
    last = records(kept)[-1]
    link = Link(last.seq, frozenset({last.hash}))
    state = ReplayState.of(link, {"same": last.seq}, "9:head", "1:since")
    path = tmp_path / "state"
    tried = set()
    for what, document in alterations(state.model_dump(mode="json")):
        path.write_bytes(canonical_json(document))
        with pytest.raises(UsageError):
            check_state(path, _kept(path), link, range(1, last.seq + 1), 0)
            pytest.fail(what)
        tried.add(what.split()[0].split("/")[0])
    assert tried == {*ReplayState.model_fields} | {"a"}


def _kept(path: Path) -> ReplayState:
    state = kept_state(path, "9:head", "1:since")
    assert state is not None
    return state
