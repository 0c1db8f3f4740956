"""Values that are taken out together, or stand in several places: none stays, nothing else goes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from evals.plan import Proposal
from harness.audit.copies import redaction
from harness.audit.copies.copying import require_sound
from harness.audit.copies.redaction import Redaction, Wanted, redact_log, value_named
from harness.audit.copies.value_search import SoughtValues
from harness.errors import UsageError
from harness.log import LogDamaged, SqlDecisionLog
from harness.replay import check_log, replay
from harness.wire import build
from tests.harness.log.decisions import NOON, decision, judged, proposal, run_of

ADA: Final = "Ada Lovelace of 12 St James Square, born 10 December 1815, " * 20
BABBAGE: Final = "Charles Babbage of 1 Dorset Street, born 26 December 1791, " * 20
SMALL: Final = "UK12345678901234567890"
CUSTOMER: Final = "1:/run/outputs/receipt/customer"
BOTH: Final = {"receipt": {"customer": ADA, "other": BABBAGE}, "kept": "x" * 600}


def append_run(log: SqlDecisionLog, number: int, outputs: Any) -> None:
    proposed = proposal(number)
    log.append(judged(proposed, run_of(proposed, number, outputs=outputs)))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlDecisionLog]:
    """Yield a log of four runs: two of both texts, and two of the small one."""
    with SqlDecisionLog.open(tmp_path / "log") as opened:
        append_run(opened, 1, BOTH)
        append_run(opened, 2, {**BOTH, "more": "y"})
        append_run(opened, 3, {"account": SMALL})
        append_run(opened, 4, {"note": f"paid to {SMALL}"})
        yield opened


def taken_out(log: SqlDecisionLog, new: Path, *named: str, **wanted: Any) -> Redaction:
    values = [value_named(one) for one in named]
    how = {"by": "raj", "because": "a request", "now": NOON}
    return redact_log(log, new, Wanted(values=values, **wanted), **how)  # type: ignore[arg-type]


def holds(path: Path, text: str) -> bool:
    return text[:59].encode() in path.read_bytes()


def statuses(path: Path) -> list[str]:
    with SqlDecisionLog.open_for_reading(path) as copy:
        assert check_log(copy).text() == ""
        return [one.status for one in replay(copy)]


@pytest.mark.parametrize("named", [("3:/run", "3:/texts"), ("3:/texts", "3:/run")])
def test_two_members_of_one_record_both_go(
    named: tuple[str, ...], log: SqlDecisionLog, tmp_path: Path
) -> None:
    with SqlDecisionLog.open_for_reading(tmp_path / "log") as source:
        said = next(one.report.rationale for one in source.records(3))
    found = taken_out(log, tmp_path / "new", *named)
    assert len(found.digests) == 2
    with SqlDecisionLog.open_for_reading(tmp_path / "new") as copy:
        (raw,) = [one for one in copy.stored_records(3) if one.seq == 3]
    assert SMALL.encode() not in raw.body
    assert said.encode() not in raw.body
    assert statuses(tmp_path / "new") == ["same", "same", "redacted", "same", "same"]


def test_what_a_trace_and_a_value_name_goes_with_both(log: SqlDecisionLog, tmp_path: Path) -> None:
    append_run(log, 5, {"of": "z" * 600})
    found = taken_out(log, tmp_path / "new", sought=SoughtValues([SMALL]), trace="trace_5")
    assert not holds(tmp_path / "new", SMALL)
    assert not holds(tmp_path / "new", "z" * 600)
    assert holds(tmp_path / "new", ADA)
    assert found.holding == 0


def test_a_part_that_is_named_twice_is_counted_once(log: SqlDecisionLog, tmp_path: Path) -> None:
    sought = SoughtValues([ADA[:59]])
    alone = taken_out(log, tmp_path / "alone", sought=sought)
    both = taken_out(log, tmp_path / "both", CUSTOMER, sought=sought)
    assert (alone.parts, alone.digests, len(both.digests)) == (both.parts + 1, {}, 1)
    assert not holds(tmp_path / "both", ADA)


def append_items(log: SqlDecisionLog, number: int, *items: Any, **run: Any) -> None:
    """Append a plan with further evidence, each large enough to be a part of its own."""
    value = proposal(number).wire()
    for at, content in enumerate(items):
        item = {"id": f"ev_{at + 2}", "classification": "profile", "content": content}
        value["compiled"]["manifests"]["evidence_manifest"].append(item)
    proposed = build(Proposal, value)
    log.append(judged(proposed, run_of(proposed, number, **run) if run else None))


def test_parts_that_others_have_too_stay_with_their_own_and_no_other_does(tmp_path: Path) -> None:
    both, one, two, ran = {"a": "p" * 700, "b": "q" * 700}, "r" * 700, "s" * 700, "t" * 700
    with SqlDecisionLog.open(tmp_path / "log") as log:
        append_items(log, 1, both, one)
        append_items(log, 2, both, two)
        append_items(log, 3, ran, outputs={"receipt": ran})
        assert taken_out(log, tmp_path / "new", "1:/inputs/compiled").kept > 0
        assert taken_out(log, tmp_path / "ran", "3:/inputs/compiled").kept > 0
    held = {
        path: [letter for letter in "pqrst" if holds(tmp_path / path, letter * 700)]
        for path in ("new", "ran")
    }
    assert held == {"new": ["p", "q", "s", "t"], "ran": ["p", "q", "r", "s", "t"]}
    assert statuses(tmp_path / "new") == ["redacted", "same", "same", "same"]
    assert statuses(tmp_path / "ran") == ["same", "same", "redacted", "same"]
    with SqlDecisionLog.open_for_reading(tmp_path / "new") as copy:
        taken_out(copy, tmp_path / "again", "2:/inputs/compiled")
    assert [one for one in "pqrst" if holds(tmp_path / "again", one * 700)] == ["t"]
    assert statuses(tmp_path / "again") == ["redacted", "redacted", "same", "same", "same"]


def test_a_record_of_which_a_part_is_gone_is_not_taken_out_as_if_whole(
    log: SqlDecisionLog, tmp_path: Path
) -> None:
    taken_out(log, tmp_path / "new", CUSTOMER)
    with SqlDecisionLog.open_for_reading(tmp_path / "new") as copy:
        for named in (CUSTOMER, "1:/run", "1:/run/outputs", "1:/run/outputs/receipt/other"):
            with pytest.raises(UsageError, match="redacted before"):
                taken_out(copy, tmp_path / "not", named)
        assert taken_out(copy, tmp_path / "again", "4:/run").parts == 0


def test_it_is_said_where_the_same_bytes_still_are_and_who_holds_the_value(
    log: SqlDecisionLog, tmp_path: Path
) -> None:
    append_run(log, 3, {"account": SMALL})
    found = taken_out(log, tmp_path / "new", "3:/run/outputs/account")
    assert (found.found, found.holding) == (("record 5",), 2)
    assert [one.partition(" of the")[0] for one in found.warnings()] == ["note: 2 records"]
    assert [*found.lines()][-1] == "note: the same bytes are also in record 5"


def test_what_is_appended_meanwhile_is_no_part_of_the_copy(
    log: SqlDecisionLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def grow(given: SqlDecisionLog) -> None:
        require_sound(given)
        append_run(given, 6, {"late": "late text, " * 80})

    monkeypatch.setattr(redaction, "require_sound", grow)
    taken_out(log, tmp_path / "new", "3:/run")
    assert not holds(tmp_path / "new", "late text, " * 80)
    assert statuses(tmp_path / "new") == ["same", "same", "redacted", "same", "same"]


def test_a_copy_that_is_not_the_log_is_none(
    log: SqlDecisionLog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(_source: Any, target: SqlDecisionLog, *_: Any) -> None:
        target.append(decision(9))

    monkeypatch.setattr(redaction, "fill_log", fill)
    with pytest.raises(LogDamaged, match="another head"):
        taken_out(log, tmp_path / "new", "3:/run")
    assert not (tmp_path / "new").exists()
