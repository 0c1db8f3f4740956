"""What replay keeps at hand: within its bounds, and what many records name is not read anew."""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import pytest

from harness.canonical import canonical_bytes
from harness.record import sha256
from harness.record.parts import reference
from harness.replay import log_page
from harness.replay.log_page import Bodies, InputReader
from harness.wire import parse
from tests.harness.log.decisions import proposal

PLANS = [canonical_bytes(proposal(number).plan) for number in range(40)]
SPEC = canonical_bytes(proposal().spec)
STORED = {sha256(data): data for data in (*PLANS, SPEC)}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """Let a reader keep some five plans, and count what it parses."""
    counts: Counter[bytes] = Counter()

    def counting(model: Any, data: bytes) -> Any:
        counts[data] += 1
        return parse(model, data)

    monkeypatch.setattr(log_page, "parse", counting)
    monkeypatch.setattr(log_page, "_PARSED_BYTES", 5 * len(PLANS[0]))
    return counts


def _read(reader: InputReader, name: str, data: bytes) -> None:
    found = reader.read(name, sha256(data), STORED, parsed=True)
    assert found.value is not None
    assert canonical_bytes(found.value) == data


def test_an_input_that_every_record_names_is_parsed_once(parsed: Counter[bytes]) -> None:
    reader = InputReader()
    for plan in PLANS:
        _read(reader, "spec", SPEC)
        _read(reader, "plan", plan)
    assert parsed[SPEC] == 1


def test_what_is_read_again_after_much_else_was_forgotten(parsed: Counter[bytes]) -> None:
    reader = InputReader()
    for plan in PLANS * 2:
        _read(reader, "plan", plan)
    assert set(parsed.values()) == {2}


def test_what_comes_back_counts_as_held(parsed: Counter[bytes]) -> None:
    reader = InputReader()
    for last in range(1, len(PLANS)):
        for plan in PLANS[:last]:
            _read(reader, "plan", plan)
    assert min(parsed.values()) < len(PLANS) // 2, "few plans are kept"
    assert parsed[PLANS[0]] > len(PLANS) // 2, "but not all that were ever read again"


def test_bodies_are_forgotten_beyond_what_the_first_page_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_page, "_MORE_BYTES", 1000)
    stored = {"shared": b"s" * 5000, **{f"p{number}": b"p" * 100 for number in range(500)}}
    asked: Counter[str] = Counter()

    def fetch(digests: Iterable[str]) -> dict[str, bytes]:
        wanted = list(digests)
        asked.update(wanted)
        return {one: stored[one] for one in wanted}

    bodies = Bodies(fetch)
    for number in range(500):
        bodies.make_room()
        assert bodies.fetch(["shared", f"p{number}"])
        assert sum(map(len, bodies.values())) <= 5000 + 1000 + 200
    assert asked["shared"] <= 500 // 9
    assert {asked[f"p{number}"] for number in range(500)} == {1}


def test_a_verdict_is_that_of_its_four_inputs() -> None:
    reader, judged = InputReader(), list[str]()
    names = ("ctx", "compiled", "spec", "plan")
    base = {name: name for name in names}
    other = [{**base, name: "other"} for name in names]
    for digests in (base, *other, base, *other):
        key = "/".join(digests.values())

        def judge(key: str = key) -> Any:
            judged.append(key)
            return key

        assert str(reader.verdict_on(digests, judge)) == key
    assert len(judged) == len({*judged}) == 5


FAULTS = ("altered", "missing", "redacted")
"""From the worst one on."""


@pytest.mark.parametrize(
    "faults", [some for count in range(4) for some in combinations(FAULTS, count)]
)
def test_of_several_faults_of_an_input_the_worst_is_told(faults: tuple[str, ...]) -> None:
    """A part that was altered is not excused by one that was taken out."""
    parts = {name: f'"{name * 20}"'.encode() for name in FAULTS}
    digests = {name: sha256(data) for name, data in parts.items()}
    whole = b"[" + b",".join(parts.values()) + b"]"
    stored = {digests[name]: data for name, data in parts.items()}
    stored[sha256(whole)] = b"[" + b",".join(map(reference, digests.values())) + b"]"
    for fault in faults:
        stored[digests[fault]] = reference(digests[fault]) if fault == "redacted" else b'"x"'
    if "missing" in faults:
        del stored[digests["missing"]]
    found = InputReader().read("plan", sha256(whole), stored, parsed=False)
    told = [bool(found.tampered), bool(found.incomplete), bool(found.redacted)]
    worst = next((at for at, name in enumerate(FAULTS) if name in faults), None)
    assert told == [at == worst for at in range(3)]
    assert worst is None or digests[FAULTS[worst]] in "".join(found[1:4])


@pytest.mark.parametrize(
    "body", [b"", b"{}", PLANS[0][:-1], PLANS[0][:-40] + reference("1" * 64), reference("1" * 64)]
)
def test_what_is_stored_in_the_place_of_an_input_is_no_redaction(body: bytes) -> None:
    digest = sha256(PLANS[0])
    for stored in ({digest: body}, {digest: body, "1" * 64: b"{}"}):
        found = InputReader().read("plan", digest, stored, parsed=True)
        assert (found.value, found.redacted) == (None, "")
        assert found.tampered or (found.incomplete and len(stored) == 1)


def test_an_input_is_read_as_what_it_is_named_whatever_was_read_before() -> None:
    reader = InputReader()
    for first, second in (("plan", "spec"), ("spec", "plan")):
        for name in (first, second, first):
            found = reader.read(name, sha256(PLANS[0]), STORED, parsed=True)
            assert (found.value is None) == (name != "plan"), name
            assert bool(found.unreadable) == (name != "plan")
