"""The picture of the experiment, drawn from its figures; needs the extra `experiments`."""

from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tests.experiments.noisy import LEVELS, Level
from tests.experiments.shown import PICTURE, TOLD

# Told apart by people who see few colours and in print (Okabe and Ito), on white and on dark.
_COLOURS: Final = dict(zip(LEVELS, ("#999999", "#E69F00", "#56B4E9", "#009E73"), strict=True))
_MARKERS: Final = dict(zip(LEVELS, "osD^", strict=True))
_STYLE: Final[Any] = {
    "svg.fonttype": "none",  # text stays text: smaller, and the reader's own font
    "svg.hashsalt": "experiment",  # the same figures give the same bytes
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw(kept: dict[str, Any]) -> None:
    """Write the picture of these figures."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7.6, 3.0), layout="constrained", facecolor="white")
        by_round, by_share = figure.subplots(1, 2, sharey=True)
        _rounds(by_round, kept)
        _mistakes(by_share, kept)
        handles, labels = by_share.get_legend_handles_labels()
        figure.legend(
            handles[::-1], labels[::-1], loc="outside right center", title="told", frameon=False
        )
        about: Any = {"Date": None, "Creator": None}
        figure.savefig(PICTURE, format="svg", metadata=about)


def _rounds(axes: Axes, kept: dict[str, Any]) -> None:
    """Approved within each number of rounds, all worlds together as they were tried."""
    for level in LEVELS:
        found = [group["levels"][level]["approved"] for group in kept["groups"].values()]
        shares = [sum(one["share"] for one in row) / len(row) for row in zip(*found, strict=True)]
        _line(axes, level, [1, 2, 3], shares)
    axes.set(xlabel="rounds", xticks=[1, 2, 3], ylim=(0, 1), ylabel="plans approved")
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.set_title("by rounds", fontsize=9, loc="left")


def _mistakes(axes: Axes, kept: dict[str, Any]) -> None:
    """Approved within all rounds, by how much of what goes wrong is a mistake."""
    found = kept["by_share_of_mistakes"]
    places = [float(one) for one in found]
    for level in LEVELS:
        row = [one[level] for one in found.values()]
        _line(axes, level, places, [one["share"] for one in row])
        low, high = ([one[end] for one in row] for end in ("low", "high"))
        axes.fill_between(places, low, high, color=_COLOURS[level], alpha=0.2, linewidth=0)
    axes.set(xlabel="share of faults that are mistakes", xticks=places)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.set_title("within 3 rounds", fontsize=9, loc="left")


def _line(axes: Axes, level: Level, places: list[Any], shares: list[float]) -> None:
    axes.plot(
        places,
        shares,
        label=TOLD[level],
        color=_COLOURS[level],
        marker=_MARKERS[level],
        markersize=5,
        linewidth=1.6,
    )
