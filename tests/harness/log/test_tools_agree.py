"""The tools of a log agree on a log that guards wrote, with each other and before and after a copy.

Fixtures of logs know no guard: they have no claims, no parts that records share, no turns that are
open or shadowed. Whatever a tool says of this log, another one says the same.
"""

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet
import pytest

from harness.audit.copies.redaction import Wanted, redact_log, value_named
from harness.audit.report.collecting import collect
from harness.log import SqlDecisionLog
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from harness.record.fates import OF_INPUTS
from harness.record.index_row import OF_CTX, OF_PLAN, IndexRow
from harness.record.integrity import StoredDocument
from harness.record.parts import pieces_of, reference, references
from harness.replay import replay
from harness.replay.engine import Replayer
from harness.replay.log_check import LogCheck, check_log
from tests.harness.commands.log.proving import WHY
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON
from tests.harness.log.guard_logs import write_guard_log
from tests.support.effort import examples, sampled

Json = dict[str, Any]


class Written(NamedTuple):
    """A log that guards wrote, and what they answered."""

    path: Path
    rulings: list[Json]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Return a log that nobody writes to any more."""
    path = tmp_path_factory.mktemp("guards") / "guards.db"
    return Written(path, write_guard_log(path))


@pytest.fixture
def kept(written: Written) -> Path:
    return written.path


@pytest.fixture
def guards(kept: Path, tmp_path: Path) -> Path:
    """A copy of the log of one's own."""
    return Path(shutil.copy(kept, tmp_path / "guards.db"))


def listed(critic: Critic, log: Path, *filters: str) -> list[Json]:
    said = critic("log", "list", log, "--records", "--format", "json", *filters)
    assert (said.status, said.warned) == (0, "")
    return [json.loads(line) for line in said.lines]


def stats(critic: Critic, log: Path, *filters: str) -> Json:
    said = critic("log", "stats", log, "--format", "json", *filters)
    assert (said.status, said.warned) == (0, "")
    counted: Json = json.loads(said.out)
    return counted


def test_the_log_has_what_the_laws_are_about(guards: Path, critic: Critic) -> None:
    rows = listed(critic, guards)
    assert {row["status"] for row in rows} == {
        *("begun", "completed", "partial", "refused_by_critic", "shadow"),
        *("critic_error", "closed"),
    }
    assert len({row["trace"] for row in rows}) == 3
    assert sum("open" in row for row in rows) == 2
    assert sum("ended_by" in row for row in rows) >= 7
    assert sum(row.get("action") == "ask" for row in rows) == 4
    assert {row.get("answered") for row in rows} == {None, "yes", "no", "lapsed"}
    assert sum(row.get("error") is not None for row in rows) >= 2
    with SqlDecisionLog.open_for_reading(guards) as log:
        claims = [claim for claim, _ in log.all_claims()]
        bodies = dict(log.bodies())
        assert not log.problems
    assert {claim.split()[0] for claim in claims} == {"approval", "begun", "opened", "step"}
    named = Counter(one for body in bodies.values() for one in {*references(body)})
    assert sum(count > 1 for count in named.values()) >= 5, "parts that several have"
    assert sum(any(references(bodies[one])) for one in named) >= 3, "parts that have parts"


# Copies.


class Stored(NamedTuple):
    """What a log says of itself, and what each record depends on.

    `needs` are the digests of inputs and parts that a record is put together of.
    """

    answers: dict[int, str]
    hashes: list[tuple[int, str]]
    claims: list[tuple[str, int]]
    bodies: dict[str, bytes]
    rows: dict[int, IndexRow]
    needs: dict[int, frozenset[str]]
    check: LogCheck


def rows_of(listing: Listing, **wanted: Any) -> list[Listed]:
    return [one for one in listing.rows(Filters(**wanted)) if isinstance(one, Listed)]


def stored(path: Path) -> Stored:
    with SqlDecisionLog.open_for_reading(path) as log:
        listing = Listing(log)
        documents = Replayer(log, None, judge=False).documents(log.raw())
        return Stored(
            answers={one.seq: one.status for one in replay(log)},
            hashes=[*log.hashes()],
            claims=sorted(log.all_claims()),
            bodies=dict(log.bodies()),
            rows={
                one.row.seq: one.row for one in listing.rows(Filters()) if isinstance(one, Listed)
            },
            needs={one.raw.seq: _needs(log, one) for one in documents},
            check=check_log(log),
        )


def _needs(log: SqlDecisionLog, document: StoredDocument) -> frozenset[str]:
    named = {*document.digests.values()}
    bodies = [next(log.stored_records(document.raw.seq)).body, *log.stored(named).values()]
    return frozenset({*named, *pieces_of(bodies, log.stored)})


VALUES = [
    *("26:/inputs/compiled", "21:/asked", "15:/inputs/ctx/approvals", "18:/inputs/ctx"),
    *("5:/run/calls", "11:/run", "9:/inputs/ctx", "15:/inputs/plan/steps/0/args"),
    *("1:/inputs/compiled", "17:/inputs/spec", "23:/inputs/ctx/session", "2:/inputs/plan"),
    "9:/inputs/compiled/manifests/evidence_manifest/1/content",
    "20:/inputs/compiled/manifests/evidence_manifest/2/content/rows/10/note",
]
"""Values that a copy leaves out: in a record, an input, a part that many have, a part of a part."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("value", sampled(VALUES, one_in=3))
def test_a_copy_without_a_value_is_the_log_without_that_value(
    value: str, kept: Path, tmp_path: Path
) -> None:
    before = stored(kept)
    with SqlDecisionLog.open_for_reading(kept) as log:
        wanted, why = Wanted([value_named(value)]), {"by": "raj", "because": "x"}
        done = redact_log(log, tmp_path / "copy.db", wanted, **why, now=NOON)
    after, taken = stored(tmp_path / "copy.db"), {*done.digests}
    touched = {number for number, needed in before.needs.items() if needed & taken}
    touched.add(value_named(value).seq)
    for number, row in before.rows.items():
        # The facts of later turns follow from all before them, which are not all there any more.
        follows = any(before.rows[one].trace == row.trace and one < number for one in touched)
        allowed = {before.answers[number], *(("redacted",) if follows else ())}
        assert after.answers[number] in ({"redacted"} if number in touched else allowed), number
        _same_row(row, after.rows[number], of_redacted=number in touched)
    assert (after.hashes[:-1], after.claims) == (before.hashes, before.claims)
    assert after.rows[len(after.hashes)].status == "redacted"
    assert (after.check.damage, after.check.notes) == ((), before.check.notes)
    _only_that_is_gone(before, after, taken)


def _same_row(before: IndexRow, after: IndexRow, *, of_redacted: bool) -> None:
    """What a copy says of a record is what the log said, or nothing."""
    pairs = zip(before._fields, before, after, strict=True)
    differs = {name: kept for name, said, kept in pairs if said != kept}
    assert not differs or of_redacted, differs
    facts: Any = differs.pop("facts", before.facts)
    assert (before.facts & ~OF_INPUTS) == (facts & ~OF_INPUTS)
    assert (facts & OF_INPUTS) | before.facts == before.facts
    assert differs.keys() <= OF_CTX | OF_PLAN | {*_OF_RUN}
    assert {*differs.values()} <= {None, 0}


_OF_RUN = ("tokens", "wall_ms", "cost_micros")


def _only_that_is_gone(before: Stored, after: Stored, taken: set[str]) -> None:
    """Nothing else is missing but what only the values had that were taken out."""
    missing = before.bodies.keys() - after.bodies.keys()
    values = [before.bodies[one] for one in taken & before.bodies.keys()]
    assert missing <= {*pieces_of(values, lambda names: _some(before.bodies, names))}
    for digest, body in after.bodies.items():
        assert body == (reference(digest) if digest in taken else before.bodies[digest])


def _some(bodies: Mapping[str, bytes], names: list[str]) -> dict[str, bytes]:
    return {name: bodies[name] for name in names if name in bodies}


def test_checkpoints_and_proofs_of_the_log_hold_for_its_copy(
    guards: Path, critic: Critic, tmp_path: Path
) -> None:
    assert critic("log", "key", "--new", tmp_path / "key").status == 0
    signed = critic("log", "checkpoint", guards, "--key", tmp_path / "key", "--origin", "a.example")
    note = tmp_path / "note"
    note.write_text(signed.out, "utf-8")
    trust = ("--checkpoint", note, "--public-key", tmp_path / "key.pub")
    copy, left_out = tmp_path / "copy.db", "11:/run"
    assert critic("log", "redact", guards, copy, "--value", left_out, *WHY).status == 0
    assert critic("log", "check", copy, *trust).status == 0
    whole = len(listed(critic, guards))
    for log in (guards, copy):
        for seq in range(1, whole + 1, 5):  # 11, which is redacted, is among them
            proof = tmp_path / "proof"
            proof.write_text(
                critic("log", "prove", log, str(seq), "--checkpoint", note).out, "utf-8"
            )
            assert critic("log", "check", proof, *trust).status == 0, (log, seq)


# What the tools say of one log.


def test_what_is_shown_counted_listed_and_exported_is_the_same(
    guards: Path, critic: Critic, tmp_path: Path
) -> None:
    rows = listed(critic, guards)
    counted = stats(critic, guards)
    statuses = Counter(row["status"] for row in rows)
    assert counted["statuses"] == statuses
    assert counted["records"] == len(rows)
    _refusals_are_those(counted, rows)
    for row in rows:
        shown = json.loads(critic("log", "show", guards, str(row["seq"]), "--format", "json").out)
        assert _said_of(shown) == (row["status"], row["trace"], row.get("plan"))
    _events_are_those(critic, guards, rows)
    _columns_are_those(critic, guards, tmp_path / "log.parquet", rows)


def _said_of(shown: Json) -> tuple[Any, ...]:
    report = shown.get("report", {})
    kind = report.get("status") or shown["kind"]
    kind = "shadow" if report and shown["action"] == "shadow" else kind
    plan = shown.get("inputs", {}).get("plan")
    plan = plan if isinstance(plan, str) else shown.get("digests", {}).get("plan", plan)
    return kind, report.get("trace_id") or shown.get("trace_id"), plan


def turns_of(rows: list[Json]) -> list[Json]:
    """Return the first record of each turn."""
    of_turns = [row for row in rows[::-1] if row["status"] != "closed"]
    return [*{(r["trace"], r.get("turn"), r.get("plan")): r for r in of_turns}.values()][::-1]


def _refusals_are_those(counted: Json, rows: list[Json]) -> None:
    turns = turns_of(rows)
    refused = [row for row in turns if row["fate"] in ("refused", "asked_no")]
    assert counted["fates"] == Counter(row["fate"] for row in turns)
    assert counted["turns"] == len(turns)
    assert counted["refused"] == {"turns": len(refused), "share": len(refused) / len(turns)}
    kinds = Counter(row["kind"] for row in refused)
    assert counted["refusals"]["by_kind"] == kinds
    assert counted["refusals"]["by_tool"] == Counter(row["tool"] for row in refused)
    assert counted["refusals"]["by_day"].keys() <= counted["turns_by_day"].keys()
    days = Counter(row["at"][:10] for row in refused)
    assert {day: count for day, count in counted["refusals"]["by_day"].items() if count} == days
    assert counted["turns_by_day"] == Counter(row["at"][:10] for row in turns)
    scored = sum("scores" in row for row in rows)
    assert {one["scored"] for one in counted["scores"].values()} == {scored}
    asked = {(row["trace"], row["plan"]) for row in rows if row.get("action") == "ask"}
    said = {(row["trace"], row["plan"]) for row in rows if row.get("answered") in ("yes", "no")}
    assert counted["questions"]["asked"] == len(asked)
    assert counted["questions"]["yes"] + counted["questions"]["no"] == len(asked & said)
    for name, most in (("slowest", "wall_ms"), ("costliest", "cost_micros")):
        largest = sorted((row[most] for row in rows if most in row), reverse=True)
        assert [one[most] for one in counted[name]] == largest[: len(counted[name])]
        assert counted[name]


def _events_are_those(critic: Critic, log: Path, rows: list[Json]) -> None:
    said = critic("log", "export", log, "--to", "opa", "-o", "-")
    events = [json.loads(line) for line in said.lines]
    assert [one["req_id"] for one in events] == [row["seq"] for row in rows]
    for event, row in zip(events, rows, strict=True):
        logged = {
            name: value for name, value in event["custom"]["log"].items() if name != "prev_hash"
        }
        assert logged == row
        assert event["timestamp"] == row["at"]
        if "trace" in row and "input" in event and "ctx" in event["input"]:
            assert event["input"]["ctx"]["trace_id"] == row["trace"]


def _columns_are_those(critic: Critic, log: Path, path: Path, rows: list[Json]) -> None:
    assert critic("log", "export", log, "--to", "parquet", "-o", path).status == 0
    table = pyarrow.parquet.read_table(path).to_pylist()
    with SqlDecisionLog.open_for_reading(log) as opened:
        listed_rows = rows_of(Listing(opened))
    texts = [{name: row.get(name) for name in ("error", "said")} for row in rows]
    assert table == [
        {**one.row._asdict(), **told, "ended_by": one.ended_by, "fate": one.fate}
        for one, told in zip(listed_rows, texts, strict=True)
    ]
    assert [row["seq"] for row in table] == [row["seq"] for row in rows]


FILTERS: list[tuple[str, str]] = [
    *(("status", one) for one in ("begun", "completed", "partial", "refused_by_critic")),
    *(("status", one) for one in ("critic_error", "open", "shadow")),
    *(("kind", one) for one in ("missing_evidence", "violates_decision_spec", "safety")),
    *(("check", one) for one in ("surface", "approval", "evidence")),
    *(("tool", one) for one in ("transfer", "desk/transfer", "desk/read_note", "no_such_tool")),
    *(("mode", one) for one in ("destructive", "read_only")),
    *(("session", one) for one in ("alpha/1", "béta 2", "shade")),
    *(("since", "2026-05-12"), ("until", "2026-05-12"), ("until", "2026-05-14T00:00:00Z")),
    *(("min-cost", "1"), ("max-cost", "900"), ("text", "IBAN-4711"), ("text", "verify passed")),
]


def _passes(row: Json, name: str, wanted: str) -> bool:
    """Return whether a listed record is one that a filter asks for, by what is listed of it."""
    cost = row.get("cost_micros")
    tools = [*row.get("tools", ()), *(one.rpartition("/")[2] for one in row.get("tools", ()))]
    at = wanted if "T" in wanted else f"{wanted}T00:00:00Z"
    texts = f"{row.get('said', '')}\n{row.get('error', '')}".lower()
    passed: dict[str, bool] = {
        "status": row.get("open", False) if wanted == "open" else row["status"] == wanted,
        "kind": wanted in row.get("kinds", ()),
        "check": wanted in row.get("checks", ()),
        "tool": wanted in tools,
        "mode": row.get("mode") == wanted,
        "session": row.get("session") == wanted,
        "since": row["at"] >= at,
        "until": row["at"] < at,
        "min-cost": cost is not None and cost >= int(wanted or 0) if wanted.isdecimal() else False,
        "max-cost": cost is not None and cost <= int(wanted or 0) if wanted.isdecimal() else False,
        "text": wanted.lower() in texts,
    }
    return passed[name]


def _turn_of(row: Json) -> tuple[Any, ...]:
    return row["trace"], row.get("turn"), row.get("plan")


def test_each_filter_finds_what_is_listed_so(guards: Path, critic: Critic) -> None:
    rows = listed(critic, guards)
    found = {}
    every = examples(100) == 100
    for name, wanted in FILTERS[:: 1 if every else 3]:
        expected = [row for row in rows if _passes(row, name, wanted)]
        assert listed(critic, guards, f"--{name}", wanted) == expected, (name, wanted)
        first = {_turn_of(row): row for row in rows[::-1]}
        of_whole = name in ("since", "until")  # the time of a turn is that of its first record
        turns = [_turn_of(row) for row in expected if not of_whole or first[_turn_of(row)] == row]
        whole = [row for row in rows if _turn_of(row) in turns]
        whole = [row for row in whole if row["status"] != "closed"]  # it is of no turn
        assert stats(critic, guards, f"--{name}", wanted)["records"] == len(whole)
        said = critic("log", "export", guards, "--to", "opa", "-o", "-", f"--{name}", wanted)
        assert [json.loads(line)["req_id"] for line in said.lines] == [
            row["seq"] for row in expected
        ]
        found[name, wanted] = len(expected)
    some = [filter for filter, count in found.items() if 0 < count < len(rows)]
    assert len(some) >= (20 if every else 6), found
    both = listed(critic, guards, "--session", "alpha/1", "--status", "completed")
    assert both == [
        row for row in rows if (row.get("session"), row["status"]) == ("alpha/1", "completed")
    ]
    assert both


def test_the_page_counts_what_the_log_counts(guards: Path, critic: Critic) -> None:
    rows, counted = listed(critic, guards), stats(critic, guards)
    with SqlDecisionLog.open_for_reading(guards) as log:
        page = collect(log, 10_000, 1 << 26)
        replayed = Counter(one.status for one in replay(log, judge=False))
    assert page.answers == replayed
    assert [row["seq"] for row in page.rows] == [row["seq"] for row in rows]
    of_turns = [row["seq"] for row in rows if row["status"] != "closed"]
    assert sorted(seq for turn in page.turns for seq in turn.records) == of_turns
    assert page.tallies.by_fate == {fate: n for fate, n in counted["fates"].items() if n}
    for name, tally in page.tallies.scores.items():
        score = counted["scores"][name]
        assert len(tally.scores) == score["scored"]
        assert tally.mean == pytest.approx(score["mean"])
    assert counted["budgets"]["tokens"]["measured"] == 2
    for name, what in (("max_steps", "steps"), ("bucket_tokens", "tokens")):
        turns = {
            page.turns.place[use.seq].number for use in page.tallies.budgets[name].uses.values()
        }
        assert len(turns) == page.tallies.budgets[name].measured, "a turn is measured once"
        assert page.tallies.budgets[name].over <= counted["budgets"][what]["over"]
    assert {*page.details.numbers()} == {*of_turns}


def test_the_page_has_the_questions_that_were_asked(written: Written) -> None:
    asked = [one for one in written.rulings if one["action"] == "ask"]
    denied = [one for one in written.rulings if one.get("note") == "denied by ada"]
    with SqlDecisionLog.open_for_reading(written.path) as log:
        turns = [one for one in collect(log, 10_000, 1 << 26).turns if one.asked is not None]
    assert [one.reason for one in turns] == [one["verdict"]["reasons"][0] for one in asked]
    answers = Counter((one.answer, one.approver) for one in turns)
    assert answers == {("yes", "ada"): 2, ("no", "ada"): len(denied), ("lapsed", None): 1}


@pytest.mark.slow
def test_a_replay_says_the_same_however_it_is_run(
    guards: Path, critic: Critic, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    assert critic("log", "redact", guards, copy, "--value", "9:/inputs/ctx", *WHY).status == 0
    alone = critic("replay", copy, "--format", "json")
    assert critic("replay", copy, "--format", "json", "--jobs", "2") == alone
    told = [json.loads(line) for line in alone.lines]
    assert {one["status"] for one in told if "status" in one} >= {"same", "redacted", "open"}
    with SqlDecisionLog.open_for_reading(copy) as log:
        hashes = dict(log.hashes())
    for seq in (1, 4, 12, 31, 38):
        since = critic("replay", copy, "--format", "json", "--since", f"{seq}:{hashes[seq]}")
        rest = [one for one in map(json.loads, since.lines) if "status" in one]
        assert rest == [one for one in told if one.get("seq", 0) > seq and "status" in one]


@pytest.mark.parametrize(
    "change",
    sampled(
        [
            *(("--safety-mode", "read_only"), ("--safety-mode", "local_write")),
            ("--budget", "max_steps=0"),
        ],
        one_in=3,
    ),
)
def test_what_if_says_the_same_by_rows_and_by_columns(
    guards: Path, critic: Critic, change: tuple[str, str]
) -> None:
    file = guards.with_suffix(".parquet")
    assert critic("log", "export", guards, "--to", "parquet", "--plans", "-o", file).status == 0
    by_rows = critic("what-if", guards, *change, "--format", "json")
    assert critic("what-if", file, *change, "--format", "json") == by_rows
    matrix = json.loads(by_rows.lines[-1])["what_if"]
    rows = listed(critic, guards)
    own = [row for row in rows if row["status"] not in ("begun", "critic_error", "closed")]
    turns = {(row.get("trace"), row.get("turn"), row.get("plan")) for row in own}
    assert matrix["judged"] == len(turns)
    assert matrix["tighter"] > 0
