"""The documents show the figures on file, and no limit is missed without its reason."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.benchmarks import report
from tests.benchmarks.kept import KEPT, code_digest, kept, machine
from tests.benchmarks.picture import PICTURE, drawn
from tests.benchmarks.reasons import REASONS
from tests.benchmarks.report import entries, table, unexplained
from tests.benchmarks.rows import UNIT
from tests.benchmarks.shown import every, shown
from tests.benchmarks.timing import Figure, Row, Unbuilt

FIX = "figures that are not on file: `python -m tests.benchmarks.shown`"


def a_figure(limit: float | None, median: float, name: str = "a row") -> Figure:
    row = Row(name, "a unit", limit, lambda _: 0.0, lambda _: 1.0)
    return Figure(row, median, 1.0, 3.25, 14_000.0, 7)


MISSING = Unbuilt("another", "a unit", 3.0, "not built: no --jobs")


def test_the_page_shows_every_figure_on_file() -> None:
    assert shown() == every(kept()), FIX


def test_the_picture_shows_the_figures_on_file() -> None:
    assert PICTURE.read_text(encoding="utf-8") == drawn(kept()["rows"]), FIX


def test_no_limit_is_missed_without_its_reason() -> None:
    assert unexplained(kept()["rows"]) == [], "say why in tests/benchmarks/reasons.py"


def test_no_reason_is_left_where_the_limit_is_met() -> None:
    found = {(row["name"], row["unit"]): row.get("reason") for row in kept()["rows"]}
    stale = {row: text for row, text in REASONS.items() if found.get(row) != text}
    assert not stale, "take these reasons out, or measure again"


def test_the_file_names_no_machine_and_no_day() -> None:
    text = KEPT.read_text(encoding="utf-8")
    assert not re.search(r"\d{4}-\d\d-\d\d|/home|/root|/tmp|/work", text)
    found = kept()
    assert found["machine"].keys() == machine().keys()
    assert found["code"].startswith("sha256:")
    assert len(found["code"]) == len(code_digest())
    names = [(row["name"], row["unit"]) for row in found["rows"]]
    assert len(names) == len(set(names))


def test_the_table_says_what_was_measured_and_what_is_not_built() -> None:
    lines = table([a_figure(2.0, 2.5), a_figure(None, 0.5)], [MISSING]).splitlines()
    assert len(lines) == 4
    assert " ".join(lines[1].split()) == "a row 2x 2.50x (1.00..3.25) MISSED 14.00 us a unit"
    assert " ".join(lines[3].split()) == "another 3x - not built: no --jobs a unit"


def test_what_misses_its_limit_is_kept_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    met, missed = a_figure(3.0, 2.5, "met"), a_figure(2.0, 2.5, "missed")
    bare = entries([met, missed], [MISSING])
    assert unexplained(bare) == ["missed (a unit)", "another (a unit)"]
    reasons = {(name, "a unit"): f"why {name}" for name in ("met", "missed", "another")}
    monkeypatch.setattr(report, "REASONS", reasons)
    kept_rows = entries([met, missed], [MISSING])
    assert unexplained(kept_rows) == []
    assert [row.get("reason") for row in kept_rows] == [None, "why missed", "why another"]
    assert bare[0] == {
        "name": "met",
        "unit": "a unit",
        "limit": 3.0,
        "figure": 2.5,
        "low": 1.0,
        "high": 3.25,
        "met": True,
        "measure": "cpu",
        "cost": 14000,
        "rounds": 7,
    }


def bars(*figures: tuple[str, float]) -> list[dict[str, Any]]:
    return [{"name": name, "unit": UNIT, "figure": figure} for name, figure in figures]


def test_the_picture_has_a_bar_for_each_peer_in_order_of_cost() -> None:
    picture = drawn(bars(("casbin enforce (2)", 30.0), ("verify, 12 steps, parsed", 2.0)))
    root = ElementTree.fromstring(picture)  # noqa: S314 - we wrote it
    names = [str(text.text) for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert names.index("critic: verify, parsed") < names.index("casbin enforce")
    assert {"2.00x", "30.00x", "1x", "10x", "100x"} <= set(names)
    assert "prefers-color-scheme: dark" in picture
