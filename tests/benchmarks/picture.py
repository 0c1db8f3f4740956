"""The picture of what a decision costs beside its peers, as SVG for light pages and dark ones."""

import math
from collections.abc import Iterable
from html import escape
from typing import Any, Final

from tests.benchmarks.field import PEERS
from tests.benchmarks.report import number
from tests.benchmarks.rows import UNIT
from tests.support.paths import FIXTURES

PICTURE: Final = FIXTURES / "benchmarks.svg"
OURS: Final = {
    "verify, 12 steps, parsed": "critic: verify, parsed",
    "plan bytes to verdict bytes, 12 steps": "critic: plan bytes to verdict bytes",
}

_WIDTH: Final = 760
_LABELS: Final = 290  # pixels to the left of the scale
_VALUES: Final = 62  # pixels to its right
_LINE: Final = 25
_TOP: Final = 52
_DOT: Final = 6
_STYLE: Final = """
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-weight: 600; }
.small { font-size: 11px; fill: #59636e; }
.ours { fill: #0969da; stroke: #0969da; }
.peer { fill: #818b98; stroke: #818b98; }
.grid { stroke: #d1d9e0; stroke-width: 1; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .small { fill: #9198a1; }
  .ours { fill: #4493f8; stroke: #4493f8; }
  .peer { fill: #9198a1; stroke: #9198a1; }
  .grid { stroke: #3d444d; }
}
"""


def drawn(rows: Iterable[dict[str, Any]]) -> str:
    """Return the picture of these figures: the same figures give the same bytes."""
    bars = sorted(_bars(rows), key=lambda bar: bar[1])
    most = max((figure for _, figure, _ in bars), default=10.0)
    decades = math.ceil(math.log10(max(most, 10.0)))
    height = _TOP + _LINE * len(bars) + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{_TITLE}</title><style>{_STYLE}</style>",
        f'<text class="title" x="8" y="20">{_TITLE}</text>',
        f'<text class="small" x="8" y="38">{_SUBTITLE}</text>',
        *(_grid(10**power, decades, height) for power in range(decades + 1)),
        *(_bar(place, bar, decades) for place, bar in enumerate(bars)),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


_TITLE: Final = "A plan of 12 steps: CPU time in units of orjson.loads of its bytes"
_SUBTITLE: Final = "Logarithmic. Each peer does the part that it can; none judges the whole plan."


def _bars(rows: Iterable[dict[str, Any]]) -> Iterable[tuple[str, float, bool]]:
    for row in rows:
        if row["unit"] != UNIT or row["figure"] is None:
            continue
        if row["name"] in OURS:
            yield OURS[row["name"]], row["figure"], True
        elif row["name"].startswith(PEERS):
            yield row["name"].partition(" (")[0], row["figure"], False


def _x(figure: float, decades: int) -> float:
    """Return where a figure is on the scale, which begins at a tenth."""
    share = (math.log10(max(figure, 0.1)) + 1) / (decades + 1)
    return _LABELS + share * (_WIDTH - _LABELS - _VALUES)


def _grid(figure: int, decades: int, height: int) -> str:
    x = _x(figure, decades)
    return (
        f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP - 4}" y2="{height - 22}"/>'
        f'<text class="small" text-anchor="middle" x="{x:.1f}" y="{height - 8}">{figure:,}x</text>'
    )


def _bar(place: int, bar: tuple[str, float, bool], decades: int) -> str:
    name, figure, ours = bar
    y, end = _TOP + place * _LINE, _x(figure, decades)
    kind = "ours" if ours else "peer"
    return (
        f'<text text-anchor="end" x="{_LABELS - 8}" y="{y + 12}">{escape(name)}</text>'
        f'<line class="{kind}" x1="{_LABELS}" x2="{end:.1f}" y1="{y + 8}" y2="{y + 8}"/>'
        f'<circle class="{kind}" cx="{end:.1f}" cy="{y + 8}" r="{_DOT}"/>'
        f'<text x="{end + 12:.1f}" y="{y + 12}">{number(figure)}x</text>'
    )
