"""`critic report`: the file that it writes, and what it says of a log that is not sound."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evals.plan import Proposal
from harness.canonical import canonical_json
from harness.log import SqlDecisionLog
from harness.record import Begun, sha256
from harness.record.parts import reference
from harness.wire import build
from tests.harness.audit.report.pages import Page
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON, filled, judged, meddle, proposal, query

pytest.importorskip("jinja2")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "audit.db"
    filled(path, 6).close()
    return path


def _drop_trigger(log: Path) -> None:
    query(log, "DROP TRIGGER records_no_delete")


def _change_hash(log: Path) -> None:
    meddle(log, ("UPDATE records SET hash = ? WHERE seq = 3", ("0" * 64,)))


def _take_input(log: Path) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        (record,) = list(kept.records(6))
    meddle(log, ("DELETE FROM inputs WHERE digest = ?", (record.inputs.plan,)))


def _begin(log: Path) -> None:
    with SqlDecisionLog.open(log) as kept:
        kept.begin(Begun(proposal=proposal(9), begun_at=NOON))


_DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (lambda _: None, "The records hold together"),
    "a record": (
        lambda log: meddle(log, ("DELETE FROM records WHERE seq = 3", ())),
        "record 3 is missing",
    ),
    "two records": (
        lambda log: meddle(log, ("DELETE FROM records WHERE seq IN (1, 2)", ())),
        "records 1 to 2 are missing",
    ),
    "garbage": (
        lambda log: meddle(log, ("UPDATE records SET body = ? WHERE seq = 3", (b"{<b>",))),
        "record 3: tampered",
    ),
    "another record": (
        lambda log: meddle(
            log,
            (
                "UPDATE records SET body = (SELECT body FROM records WHERE seq = 1) WHERE seq = 3",
                (),
            ),
        ),
        "record 3: tampered",
    ),
    "the number before the first": (
        lambda log: meddle(log, ("UPDATE records SET seq = 0 WHERE seq = 3", ())),
        "record 0: tampered",
    ),
    "a negative number": (
        lambda log: meddle(log, ("UPDATE records SET seq = -1 WHERE seq = 3", ())),
        "record -1: tampered",
    ),
    "a number beyond those of JSON": (
        lambda log: meddle(log, ("UPDATE records SET seq = ? WHERE seq = 6", (2**62,))),
        f"record {2**62}: tampered",
    ),
    "a hash": (_change_hash, "record 3: tampered"),
    "an input": (_take_input, "record 6: incomplete"),
    "a trigger": (_drop_trigger, "the log is damaged: trigger records_no_delete is missing"),
    "an end": (_begin, "1 Began, with no end on record"),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("damage", _DAMAGES)
def test_the_page_and_the_exit_status_say_what_verify_says(
    critic: Critic, log: Path, damage: str
) -> None:
    harm, text = _DAMAGES[damage]
    harm(log)
    verified, output = critic("log", "verify", log), log.with_name("audit.html")
    said = critic("report", log, "-o", output)
    is_damage = damage not in ("nothing", "an end")  # that one is open
    assert said.status == verified.status == is_damage
    page = Page(output.read_text(encoding="utf-8"))
    assert text in page.said
    assert ("✔ The records hold together" in page.said) != is_damage
    assert bool(said.err) == is_damage


def test_missing_and_unreadable_records_have_lines(critic: Critic, log: Path) -> None:
    meddle(
        log,
        ("DELETE FROM records WHERE seq IN (2, 3)", ()),
        ("UPDATE records SET body = ? WHERE seq = 5", (b"{",)),
    )
    critic("report", log, "-o", log.with_name("audit.html"))
    rows = Page(log.with_name("audit.html").read_text(encoding="utf-8")).rows
    assert next((seq, row["is"]) for seq, row in rows.items() if "check" in row) == (2, "missing")
    assert rows[2]["said"] == "records 2 to 3 are missing"
    assert (rows[5]["is"], rows[5]["check"]) == ("unreadable", "tampered")


def test_damage_among_the_last_records_is_found_without_the_others(
    critic: Critic, log: Path
) -> None:
    output = log.with_name("audit.html")
    said = critic("report", log, "-o", output, "--last", "2")
    assert (said.status, said.listed, said.err) == (
        0,
        [f"{output}: 2 records", "note: 4 records before record 5 left out: --last N shows more"],
        "",
    )
    meddle(log, ("UPDATE records SET body = replace(body, 'trace_6', 'trace_7') WHERE seq = 6", ()))
    said = critic("report", log, "-o", output, "--last", "2")
    assert (said.status, said.err) == (1, "critic: record 6: tampered\n")


def test_a_gap_before_the_last_records_is_not_hidden(critic: Critic, log: Path) -> None:
    meddle(log, ("DELETE FROM records WHERE seq = 2", ()))
    said = critic("report", log, "-o", log.with_name("audit.html"), "--last", "2")
    assert (said.status, said.err) == (1, "critic: record 2 is missing\n")
    page = Page(log.with_name("audit.html").read_text(encoding="utf-8"))
    assert "record 2 is missing" in page.said


def test_what_was_redacted_is_named_and_the_rest_is_shown(critic: Critic, tmp_path: Path) -> None:
    log, long = tmp_path / "audit.db", canonical_json("secret" * 400)
    wire = proposal().wire()
    wire["compiled"]["manifests"]["evidence_manifest"][0]["subject"] = "secret" * 400
    with SqlDecisionLog.open(log) as kept:
        kept.append(judged(build(Proposal, wire)))
    digest = sha256(long)
    meddle(log, ("UPDATE inputs SET body = ? WHERE digest = ?", (reference(digest), digest)))
    said = critic("report", log, "-o", tmp_path / "audit.html")
    assert (said.status, said.err) == (1, "critic: record 1: redacted\n")
    assert critic("log", "verify", log).status == 1
    text = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "secret" not in text
    detail = Page(text).data("detail-1")
    assert detail["faults"] == ["compiled is redacted or damaged"]
    assert len(detail["plan"]["steps"]) == 2


@pytest.mark.parametrize("name", ["missing.db", "page.html", "."])
def test_a_log_that_cannot_be_read_has_no_page(critic: Critic, log: Path, name: str) -> None:
    log.with_name("page.html").write_text("<p>no log", encoding="utf-8")
    said = critic("report", log.parent / name, "-o", log.with_name("out.html"))
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert not log.with_name("out.html").exists()


def test_the_log_is_never_written_over(critic: Critic, log: Path) -> None:
    before = log.read_bytes()
    link = log.with_name("link.html")
    link.symlink_to(log)
    for output in (log, link):
        said = critic("report", log, "-o", output)
        assert said.status == 2
        assert "is the log: name another file for the page" in said.err
    assert log.read_bytes() == before


@pytest.mark.parametrize("name", ["folder", "no/such/folder/page.html", "null"])
def test_a_page_that_cannot_be_written_leaves_nothing(critic: Critic, log: Path, name: str) -> None:
    log.with_name("folder").mkdir()
    log.with_name("null").symlink_to("/dev/null")
    before = sorted(log.parent.rglob("*"))
    said = critic("report", log, "-o", log.parent / name)
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert sorted(log.parent.rglob("*")) == before


def test_without_the_library_it_says_what_to_install(
    critic: Critic, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    said = critic("report", log, "-o", log.with_name("audit.html"))
    needed = "critic: the page needs one more library: pip install 'plan-critic[report]'\n"
    assert (said.status, said.err) == (2, needed)
    assert not log.with_name("audit.html").exists()


def test_the_page_names_no_folder(critic: Critic, log: Path) -> None:
    critic("report", log, "-o", log.with_name("audit.html"))
    text = log.with_name("audit.html").read_text(encoding="utf-8")
    assert str(log.parent) not in text
    assert "critic log verify audit.db" in text
