"""Render what was collected as one file of HTML.

Rule 1: the page loads nothing, and its policy forbids what it does not hold: the hashes of its one
        style sheet and its one script are all that may apply.
Rule 2: the template escapes every text, and data for the script is JSON that cannot end its
        element. The script sets text, never HTML.
Rule 3: the same log gives the same bytes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from evals.kinds import FATES, AnswerKind, Fate
from harness.audit.report.collecting import Collected
from harness.audit.report.content_policy import content_policy
from harness.audit.report.page_turns import PageTurn
from harness.audit.report.page_words import (
    CHECK_WORDS,
    EXPLAINED,
    FATE_LOOKS,
    FATE_WORDS,
    RECORD_WORDS,
    REFUSAL_WORDS,
    WORRIES,
    Tone,
    fate_style,
    tone_of,
)
from harness.audit.report.record_rows import row_of_turn
from harness.audit.report.visible_text import data_text, make_visible
from harness.errors import UsageError
from harness.record.index_row import OF_NO_TURN

WIDTH: Final = 720
HEIGHT: Final = 200
_LEFT, _TOP, _BOTTOM = 36, 10, 24
_MOST: Final = 48
"""Spans of time, at most."""
_MONDAY: Final = datetime(1, 1, 1, tzinfo=UTC)
_UNITS: Final = (
    (3600, "hour"),
    (6 * 3600, "6 hours"),
    (86400, "day"),
    (7 * 86400, "week"),
    (28 * 86400, "4 weeks"),
    (364 * 86400, "52 weeks"),
)


class Box(NamedTuple):
    """One box of a bar, in units of the picture."""

    fate: Fate
    x: float
    y: float
    width: float
    height: float


class ChartSpan(NamedTuple):
    """The turns of one span of time. Those that ran as planned have no box."""

    label: str
    fates: Counter[Fate]
    boxes: tuple[Box, ...]


class Tick(NamedTuple):
    """A mark of an axis: where it is, and what it says."""

    at: float
    text: str


class Chart(NamedTuple):
    """The chart, and its numbers for a table."""

    unit: str
    spans: tuple[ChartSpan, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def chart_of(turns: Sequence[tuple[datetime, Fate]]) -> Chart | None:
    """Return the chart, or None where there is nothing to compare: fewer than two spans."""
    if all(fate == _AS_PLANNED for _, fate in turns):
        return None
    seconds = [_seconds(at) for at, _ in turns]
    first, last = min(seconds), max(seconds)
    size, unit = _unit(last - first)
    start, end = first // size, last // size
    if start == end:
        return None
    fates: defaultdict[int, Counter[Fate]] = defaultdict(Counter)
    for at, fate in turns:
        fates[_seconds(at) // size - start][fate] += 1
    highest = max(one.total() - one[_AS_PLANNED] for one in fates.values())
    width = (WIDTH - _LEFT) / (end - start + 1)
    spans = tuple(
        ChartSpan(
            _label((start + n) * size, size),
            fates[n],
            _boxes(fates[n], n, width, highest),
        )
        for n in range(end - start + 1)
    )
    step = -(-len(spans) // 6)
    across = tuple(
        Tick(_LEFT + width * (n + 0.5), spans[n].label) for n in range(0, len(spans), step)
    )
    return Chart(unit, spans, across, _scale(highest))


def _seconds(moment: datetime) -> int:
    return (moment - _MONDAY) // timedelta(seconds=1)


def _unit(seconds: int) -> tuple[int, str]:
    for size, unit in _UNITS:
        if seconds // size < _MOST - 1:
            return size, unit
    years = seconds // (364 * 86400 * (_MOST - 2)) + 1
    return 364 * 86400 * years, f"{52 * years} weeks"


def _label(seconds: int, size: int) -> str:
    start = _MONDAY + timedelta(seconds=seconds)
    # `strftime` writes the year 1 as `1`.
    return start.isoformat()[: 10 if size >= 86400 else 16].replace("T", " ")


def _boxes(fates: Counter[Fate], number: int, width: float, highest: int) -> tuple[Box, ...]:
    tall = (HEIGHT - _TOP - _BOTTOM) / highest
    wide, x, y = min(width * 0.8, 40.0), _LEFT + width * number, float(HEIGHT - _BOTTOM)
    x += (width - wide) / 2
    boxes = []
    for fate in FATES:
        if fate != _AS_PLANNED and (count := fates[fate]):
            y -= count * tall
            boxes.append(
                Box(fate, round(x, 2), round(y, 2), round(wide, 2), round(count * tall, 2))
            )
    return tuple(boxes)


def _scale(highest: int) -> tuple[Tick, ...]:
    tall, floor = HEIGHT - _TOP - _BOTTOM, HEIGHT - _BOTTOM
    values = (0, highest) if highest % 2 else (0, highest // 2, highest)
    return tuple(Tick(floor - tall * value / highest, str(value)) for value in values)


class _Worry(NamedTuple):
    """The turns of a fate that a reader should look at, and the first of them."""

    fate: Fate
    words: str
    tone: Tone
    meaning: str
    total: int
    first: list[PageTurn]


_MOST_LINKS: Final = 12


def _worries_of(found: Collected) -> list[_Worry]:
    """Return what a reader should look at first; nothing of what did not happen."""
    shown = []
    for fate, meaning in WORRIES.items():
        turns = [one for one in found.turns_of(fate) if fate != "ran_after_yes" or one.overruled]
        if turns:
            first, words = turns[:_MOST_LINKS], FATE_WORDS[fate]
            shown.append(_Worry(fate, words, tone_of(fate), meaning, len(turns), first))
    return shown


_AS_PLANNED: Final[Fate] = "ran"
_MOST_SAID: Final = 20
_MOST_QUESTIONS: Final = 200
_ANSWERED: Final[Mapping[AnswerKind | None, str]] = {
    "yes": "yes, by",
    "no": "no, by",
    "lapsed": "it expired without an answer",
    None: "no answer is on record",
}


def render_page(found: Collected, name: str) -> Iterator[str]:
    """Yield the pieces of the page. `name` is what the page calls the log.

    Raises:
        UsageError: the library that renders it is not installed.
    """
    try:
        import jinja2  # noqa: PLC0415 - an extra of its own
        from markupsafe import Markup  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            "the page needs one more library: pip install 'plan-critic[report]'"
        ) from None
    # Ours, or JSON without any character of markup: the only texts that are not escaped.
    own = {"css": _style(), "js": _file("page.js")} | _data(found)
    safe = {part: Markup(text) for part, text in own.items()}  # noqa: S704
    blocks = ((id_, Markup(text)) for id_, text in found.details.blocks())  # noqa: S704
    template = _template_of(jinja2)
    facts = _facts(found, name)
    pieces: Iterator[str] = template.generate(
        **facts, **safe, blocks=blocks, policy=content_policy(_style(), _file("page.js"))
    )
    return pieces


@cache
def _template_of(jinja2: Any) -> Any:
    """Return the template of the page. To compile it takes longer than to render a short log."""
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_file("page.html"))


def _file(name: str) -> str:
    return (files("harness.audit.report") / "files" / name).read_text(encoding="utf-8")


def _style() -> str:
    return _file("page.css") + fate_style()


def _data(found: Collected) -> dict[str, str]:
    """Return the JSON that the list needs. The script runs on it before the details are read."""
    kept = found.details.numbers()
    rows = [row | {"more": 1} if row["seq"] in kept else row for row in found.rows]
    words: dict[str, Mapping[Any, str]] = {
        "is": RECORD_WORDS,
        "fate": FATE_WORDS,
        "why": REFUSAL_WORDS,
        "more": EXPLAINED,
    }
    legend: dict[str, Any] = {name: dict(said) for name, said in words.items()}
    legend["tone"] = {one: tone_of(one) for one in FATES}
    legend["apart"] = OF_NO_TURN
    turns = [row_of_turn(one, found.turns) for one in found.turns]
    data = {"legend": legend, "rows": rows, "turns": turns}
    return {name: data_text(value) for name, value in data.items()}


def _facts(found: Collected, name: str) -> dict[str, Any]:
    tallies, answers, kinds = found.tallies, found.answers, found.tallies.kinds
    asked = [turn for turn in found.turns if turn.asked is not None]
    said = [gap.text() for gap in found.gaps]
    said += [f"the log is damaged: {make_visible(one)}" for one in found.problems]
    said += [
        f"record {seq}: {one.status}: {make_visible('; '.join(one.reasons))}"
        for seq, one in found.checked.items()
        if one.status != "open"
    ]
    return {
        "name": make_visible(name),
        "found": found,
        "unsound": _unsound(found),
        "answers": [f"{answers[one]:,} {CHECK_WORDS[one]}" for one in CHECK_WORDS if answers[one]],
        "tallies": tallies,
        "checked": answers.total(),
        "said": said[:_MOST_SAID],
        "unsaid": max(len(said) - _MOST_SAID, 0),
        "fates": [(one, FATE_LOOKS[one], tallies.by_fate[one]) for one in FATES],
        "lost": [(one, RECORD_WORDS[one], number) for one, number in tallies.lost.items()],
        "worries": _worries_of(found),
        "kinds": [(one, REFUSAL_WORDS[one], kinds[one]) for one in REFUSAL_WORDS if kinds[one]],
        "chart": chart_of(tallies.fates),
        "size": (WIDTH, HEIGHT),
        "words": FATE_WORDS,
        "answered": _ANSWERED,
        "visible": make_visible,
        "budgets": [one for one in tallies.budgets.values() if one.measured],
        "policies": [*found.policies.list_shown()],
        "questions": asked[-_MOST_QUESTIONS:],
        "asked": Counter(turn.answer for turn in asked),
        "period": _period(found),
    }


def _unsound(found: Collected) -> str:
    """Return the heading of a log that is not sound.

    Of records with redacted values it does not say that they hold: the rest may be unproved.
    """
    if found.gaps or found.problems or found.answers.keys() - {"same", "open", "redacted"}:
        return "The log is not as it should be"
    return "Values were taken out of records"


def _period(found: Collected) -> tuple[str, str] | None:
    times = sorted(row["at"] for row in found.rows if "at" in row)
    return (times[0], times[-1]) if times else None
