"""The comparison of a log with a checkpoint: whatever is changed below it is found."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from harness.audit.proofs.checkpoint import Checkpoint, leaf_of
from harness.audit.proofs.comparison import (
    NOTHING,
    Departure,
    LogComparison,
    compare_hashes,
    compare_log,
)
from harness.audit.proofs.merkle import Frontier
from harness.canonical import canonical_json
from harness.record import GENESIS, RawRecord, record_hash
from harness.wire import parse_json

RECORDS, SIGNED = 9, 7
BODIES = (b"", b"{}", b"\0", b"[1]", b"\xff")


class Rows:
    """A log in memory."""

    def __init__(self, rows: Sequence[RawRecord]) -> None:
        self.rows = rows

    def raw(self) -> Iterator[RawRecord]:
        return iter(self.rows)

    def inputs(self, digests: Iterable[str]) -> Mapping[str, bytes]:  # noqa: ARG002 - as the port has it
        return {}


def sealed_row(seq: int, before: str, text: str) -> RawRecord:
    document = {"seq": seq, "prev_hash": before, "text": text}
    document["hash"] = record_hash(document)
    return RawRecord(seq, str(document["hash"]), canonical_json(document))


@cache
def chain(*texts: str) -> tuple[RawRecord, ...]:
    """Return rows that follow each other, one for each text."""
    rows: list[RawRecord] = []
    for seq, text in enumerate(texts, start=1):
        rows.append(sealed_row(seq, rows[-1].hash if rows else GENESIS, text))
    return tuple(rows)


def checkpoint_of(rows: Sequence[RawRecord]) -> Checkpoint:
    tree = Frontier()
    for row in rows:
        tree.append(leaf_of(row.hash))
    return Checkpoint("log", tree.size, tree.root(), rows[0].hash)


OWN = chain(*"abcdefghi")
FOREIGN = chain(*"zyxwvutsr")
CHECKPOINT = checkpoint_of(OWN[:SIGNED])


def kinds(result: LogComparison) -> set[str]:
    return {one.kind for one in result.departures}


def edited(row: RawRecord, **members: str) -> RawRecord:
    """Return a row with other members, whose hash is as it was."""
    return row._replace(body=canonical_json({**parse_json(row.body), **members}))


def other_row(draw: st.DrawFn, row: RawRecord, other: int) -> RawRecord:
    """Draw a row to stand in the place of a row of the log."""
    own = OWN[row.seq - 1]
    before = parse_json(own.body)["prev_hash"]
    return draw(
        st.sampled_from(
            [
                FOREIGN[other],
                *(row._replace(body=body) for body in (*BODIES, OWN[other].body)),
                *(row._replace(hash=own_hash) for own_hash in ("", OWN[other].hash)),
                row._replace(body=edited(own, text="anew").body),
                sealed_row(own.seq, before, "anew"),
            ]
        )
    )


@st.composite
def altered_rows(draw: st.DrawFn) -> list[RawRecord]:
    """Draw rows of the log with some of them removed, moved, exchanged or rewritten."""
    rows = list(OWN)
    places = st.integers(min_value=0, max_value=RECORDS - 1)
    for _ in range(draw(st.integers(min_value=1, max_value=3))):
        place, other = draw(places) % len(rows), draw(places) % len(rows)
        change = draw(st.sampled_from(["cut", "drop", "swap", "other", "other"]))
        if change == "cut":
            rows = rows[: place + 1]
        elif change == "drop" and len(rows) > 1:
            rows.pop(place)
        elif change == "swap":
            rows[place], rows[other] = rows[other], rows[place]
        else:
            rows[place] = other_row(draw, rows[place], other)
    if draw(st.booleans()):  # and the numbers made to fit
        rows = [row._replace(seq=seq) for seq, row in enumerate(rows, start=1)]
    return sorted(rows, key=lambda row: row.seq)


@given(altered_rows())
def test_whatever_is_changed_among_the_signed_records_is_found(rows: list[RawRecord]) -> None:
    result = compare_log(Rows(rows), CHECKPOINT)
    if tuple(rows[:SIGNED]) != OWN[:SIGNED]:
        assert not result
    assert bool(result) is not bool(kinds(result))
    assert all(one.text.isprintable() and "\n" not in one.text for one in result.departures)


@given(st.integers(min_value=SIGNED, max_value=RECORDS))
def test_a_log_that_only_grew_is_as_it_was_signed(size: int) -> None:
    result = compare_log(Rows(OWN[:size]), CHECKPOINT)
    assert (result.departures, result.size, result.first) == ([], size, OWN[0].hash)
    assert result.root == checkpoint_of(OWN[:size]).root


@given(st.integers(min_value=0, max_value=SIGNED - 1))
def test_a_log_made_anew_from_some_record_on_is_a_fork_or_another_log(common: int) -> None:
    fork = chain(*"abcdefghi"[:common], *"ABCDEFGHI"[common:])
    assert kinds(compare_log(Rows(fork), NOTHING)) == set()
    expected = "forked" if common else "exchanged"
    assert kinds(compare_log(Rows(fork), CHECKPOINT)) == {expected}


@given(st.integers(min_value=0, max_value=RECORDS - 1), st.sampled_from(["text", "hash", "more"]))
def test_an_edited_member_at_any_place_is_altered(place: int, name: str) -> None:
    """That the hash is the one that was signed, and is said in the record, hides nothing."""
    rows = [edited(row, **{name: "x"}) if at == place else row for at, row in enumerate(OWN)]
    for checkpoint in (NOTHING, CHECKPOINT):
        result = compare_log(Rows(rows), checkpoint)
        assert kinds(result) == {"altered"}
        assert [one.text.partition(":")[0] for one in result.departures] == [f"record {place + 1}"]


@given(st.permutations(range(RECORDS)).filter(lambda order: order != [*range(RECORDS)]))
def test_records_in_any_other_order_are_reordered(order: list[int]) -> None:
    rows = [OWN[place]._replace(seq=seq) for seq, place in enumerate(order, start=1)]
    assert kinds(compare_log(Rows(rows), CHECKPOINT)) == {"reordered"}


@given(st.integers(min_value=1, max_value=RECORDS - 2))
def test_one_record_in_three_places_is_no_other_order(place: int) -> None:
    """Although its numbers add up to those of the places."""
    rows = list(OWN)
    for at in (place - 1, place + 1):
        rows[at] = OWN[place]._replace(seq=at + 1)
    assert kinds(compare_log(Rows(rows), CHECKPOINT)) in ({"removed"}, {"spliced"})


@given(st.integers(min_value=0, max_value=SIGNED - 1))
def test_a_log_cut_at_any_place_is_truncated(size: int) -> None:
    assert kinds(compare_log(Rows(OWN[:size]), CHECKPOINT)) == {"truncated"}


@given(st.integers(min_value=0, max_value=SIGNED - 1), st.booleans())
def test_a_record_left_out_at_any_place_is_removed(place: int, renumbered: bool) -> None:
    rows = [*OWN[:place], *OWN[place + 1 :]]
    if renumbered:
        rows = [row._replace(seq=seq) for seq, row in enumerate(rows, start=1)]
    assert kinds(compare_log(Rows(rows), CHECKPOINT)) == {"removed"}


@given(st.integers(min_value=1, max_value=SIGNED - 1))
def test_a_foreign_record_at_any_place_is_spliced(place: int) -> None:
    rows = [*OWN[:place], FOREIGN[place], *OWN[place + 1 :]]
    assert kinds(compare_log(Rows(rows), CHECKPOINT)) == {"spliced"}


def test_a_log_that_is_wrong_everywhere_is_told_in_a_few_lines() -> None:
    rows = [row._replace(body=b"{}") for row in OWN]
    result = compare_log(Rows(rows), CHECKPOINT)
    assert kinds(result) == {"altered"}
    assert [one.text for one in result.departures][-1] == "and more"
    assert len(result.departures) == 6


@given(altered_rows(), st.integers(min_value=1, max_value=RECORDS))
def test_hashes_alone_tell_whatever_is_changed_among_them(rows: list[RawRecord], size: int) -> None:
    """The last hash is told of those that were signed alone, and whatever else is a departure."""
    checkpoint = checkpoint_of(OWN[:size])
    pairs = [(row.seq, row.hash) for row in rows]
    found = compare_hashes(iter(pairs), checkpoint)
    if pairs[:size] == [(row.seq, row.hash) for row in OWN[:size]]:
        assert found == OWN[size - 1].hash
    else:
        assert isinstance(found, Departure)


@given(st.integers(0, SIGNED - 1), st.integers(1, RECORDS))
def test_hashes_tell_how_many_are_missing_and_where(place: int, count: int) -> None:
    pairs = [(row.seq, row.hash) for row in (*OWN[:place], *OWN[place + count :])]
    found = compare_hashes(iter(pairs), CHECKPOINT)
    assert isinstance(found, Departure)
    rest = place + count < RECORDS
    assert found.kind == ("removed" if rest else "truncated")
    if not rest:
        assert found.text == f"the checkpoint is of {SIGNED} records, the log holds {place}"


@given(st.integers(0, RECORDS - 1), st.integers(0, RECORDS - 1))
def test_a_record_is_stored_under_the_hash_that_it_has_and_says(place: int, other: int) -> None:
    """Also where nothing was signed."""
    row = OWN[place]._replace(hash=OWN[other].hash)
    rows = [row if at == place else one for at, one in enumerate(OWN)]
    assert ("altered" in kinds(compare_log(Rows(rows), NOTHING))) == (place != other)


def test_damage_of_an_index_is_no_sound_log() -> None:
    assert LogComparison()
    assert not LogComparison(damage=["the index"])
