"""The picture of the experiment, drawn from its figures alone: two bars for each way to guard.

Plain SVG, so that nothing has to be installed. Colours follow the reader's light or dark theme, and
are told apart by people who see few colours (Okabe and Ito).
"""

from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape

SETTINGS: Final = {
    "closed": "closed",
    "open": "open",
    "closed, headless": "closed, nobody to ask",
    "closed, without scope": "closed, no scope given",
}
"""The settings that are drawn, and what they are called."""

DEFENCES: Final = {
    "tool filter": (72.2, 6.8),
    "detector of injections": (41.2, 7.9),
    "request repeated": (84.5, 27.8),
    "spotlighting": (72.2, 41.7),
}
"""Defences as AgentDojo (Debenedetti et al., 2024) published them for gpt-4o-2024-05-13 and its
attack `important_instructions`: good tasks done and attacks that succeeded, in percent."""
UNDEFENDED: Final = (69.1, 47.7)

_WIDTH: Final = 760
_ROW: Final = 24
_BAR: Final = 14
_LEFT, _ATTACKS = 168, 250
_GOOD_AT, _GOOD = 492, 156
_MOST_GOOD: Final = 0.5
"""The share of good runs at the right end of their scale."""

_STYLE: Final = """
text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #1f2328 }
.faint { fill: #59636e } .bold { font-weight: 600 }
.refused { fill: #0072b2 } .asked { fill: #e69f00 } .stopped { fill: #7d8590 }
.rest { fill: #d8dee4 } .line { stroke: #d0d7de }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .faint { fill: #9198a1 } .refused { fill: #56b4e9 }
.stopped { fill: #8b949e } .rest { fill: #30363d } .line { stroke: #3d444d }
}
"""


class Part(NamedTuple):
    """A piece of a bar: its colour and its share of the whole."""

    colour: str
    share: float


class Row(NamedTuple):
    """One way to guard: the parts of its bars, and what is written beside them."""

    name: str
    attacks: list[Part]
    attacks_text: str
    good: list[Part]
    good_text: str


def drawn(kept: dict[str, Any]) -> str:
    """Return the picture of these figures as SVG."""
    guarded = [_guarded(name, kept["settings"][key]) for key, name in SETTINGS.items()]
    others = [_defence(name, *found) for name, found in DEFENCES.items()]
    parts = [*_head(), *_legend(40)]
    y = 84
    parts += [*_group("the guard, on recorded runs", y), *_rows(guarded, y + 12)]
    y += 12 + _ROW * len(guarded) + 32
    parts += [
        *_group("other defences, as published: attacks stopped; good tasks lost", y),
        *_rows(others, y + 12),
    ]
    height = y + 12 + _ROW * len(others) + 4
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    title = "Attacks stopped, and good runs refused or asked about"
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">\n'
        f"<style>{_STYLE}</style>\n{body}\n</svg>\n"
    )


def _guarded(name: str, found: dict[str, Any]) -> Row:
    share = {key: one["found"] / one["total"] for key, one in found.items()}
    attacks = [
        Part("refused", share["attacks refused"]),
        Part("asked", share["attacks asked"]),
    ]
    good = [Part("refused", share["good refused"]), Part("asked", share["good asked"])]
    return Row(
        name,
        attacks,
        f"{1 - share['attacks missed']:.1%}",
        good,
        f"{share['good refused']:.1%} + {share['good asked']:.1%}",
    )


def _defence(name: str, done: float, succeeded: float) -> Row:
    """Return the row of a published defence, beside the same agent without one."""
    stopped = 1 - succeeded / UNDEFENDED[1]
    lost = max(1 - done / UNDEFENDED[0], 0)
    good = f"{lost:.1%} lost" if lost else "none lost"
    return Row(name, [Part("stopped", stopped)], f"{stopped:.1%}", [Part("stopped", lost)], good)


def _head() -> list[str]:
    return [
        _text(_LEFT, 20, "attacks stopped", "bold"),
        _text(_GOOD_AT, 20, "good runs refused or asked about", "bold"),
    ]


def _legend(y: int) -> list[str]:
    parts, x = list[str](), _LEFT
    for colour, told in (("refused", "refused"), ("asked", "a person is asked")):
        parts += [_rect(x, y - 9, 10, colour, 10), _text(x + 15, y, told, "faint")]
        x += 80
    return [*parts, _text(_GOOD_AT, y, f"scale ends at {_MOST_GOOD:.0%}", "faint")]


def _group(name: str, y: int) -> list[str]:
    line = f'<line class="line" x1="0" x2="{_WIDTH}" y1="{y - 20}" y2="{y - 20}"/>'
    return [line, _text(0, y, name, "bold")]


def _rows(rows: list[Row], top: int) -> list[str]:
    parts = list[str]()
    for index, row in enumerate(rows):
        y = top + index * _ROW
        parts.append(_text(0, y + 11, row.name, ""))
        parts += _bar(_LEFT, y, _ATTACKS, row.attacks)
        parts.append(_text(_LEFT + _ATTACKS + 8, y + 11, row.attacks_text, ""))
        scaled = [Part(part.colour, part.share / _MOST_GOOD) for part in row.good]
        parts += _bar(_GOOD_AT, y, _GOOD, scaled)
        parts.append(_text(_GOOD_AT + _GOOD + 8, y + 11, row.good_text, ""))
    return parts


def _bar(x: float, y: int, width: int, bar: list[Part]) -> list[str]:
    parts = [_rect(x, y, width, "rest")]
    for part in bar:
        parts.append(_rect(x, y, part.share * width, part.colour))
        x += part.share * width
    return parts


def _rect(x: float, y: int, width: float, colour: str, height: int = _BAR) -> str:
    place = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}"'
    return f'<rect class="{colour}" {place}/>'


def _text(x: float, y: int, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y}">{escape(text)}</text>'
