"""The chart: every turn is in one box of it, and every box is within the picture."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from evals.kinds import FATES, Fate
from harness.audit.report.report_page import HEIGHT, WIDTH, chart_of
from harness.audit.report.visible_text import make_visible, visible_json

_TIMES = st.datetimes(timezones=st.just(UTC)) | st.datetimes(
    datetime(2026, 1, 1), datetime(2026, 3, 1), timezones=st.just(UTC)
)
_TURNS = st.lists(st.tuples(_TIMES, st.sampled_from(FATES)), max_size=30)


@given(_TURNS)
def test_every_turn_that_did_not_run_as_planned_is_in_one_box_within_the_picture(
    turns: list[tuple[datetime, Fate]],
) -> None:
    chart, others = chart_of(turns), [at for at, fate in turns if fate != "ran"]
    if chart is None:
        at = [one for one, _ in turns]
        assert not others or max(at) - min(at) < timedelta(hours=1)
        return
    assert others
    assert 2 <= len(chart.spans) <= 48
    assert sum(span.fates.total() for span in chart.spans) == len(turns)
    for span in chart.spans:
        counted = {fate for fate, count in span.fates.items() if count}
        assert {box.fate for box in span.boxes} == counted - {"ran"}
        for box in span.boxes:
            assert box.x >= 36
            assert box.x + box.width <= WIDTH + 0.001
            assert box.y >= 9.999
            assert box.y + box.height <= HEIGHT - 23.999
            assert box.height > 0


@given(st.text())
def test_what_is_shown_prints_and_what_prints_is_as_it_was(text: str) -> None:
    shown = make_visible(text)
    assert shown.isprintable()
    assert shown == text or not text.isprintable() or len(text) > 400
    assert all(line.isprintable() for line in visible_json({text: [text]}).split("\n"))


def test_what_is_cut_says_how_long_it_was() -> None:
    assert make_visible("é" * 500) == "é" * 400 + "… (500 characters)"
    assert visible_json("x" * 30_000).endswith("…\n(30002 characters; the rest is in the log)")
    assert visible_json(2**70) == str(2**70)
