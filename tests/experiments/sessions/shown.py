"""The experiment as its page shows it, rendered from the kept figures alone.

Kept are sums over all groups and reasons without values: nothing of the recordings themselves.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from tests.experiments.sessions.picture import drawn
from tests.support.folded import write_folded
from tests.support.paths import FIXTURES, ROOT

KEPT: Final = FIXTURES / "experiment_sessions.json"
PAGE: Final = ROOT / ".github" / "docs" / "guard-measured.md"
PICTURE: Final = PAGE.with_suffix(".svg")

BEGIN: Final = "<!-- sessions: written by `python -m tests.experiments.sessions --publish` -->\n"
END: Final = "<!-- end of sessions -->\n"
_FEWEST: Final = 2
"""How often a reason was given that is listed by itself."""

_PLAIN: Final = (
    (re.compile(r"^nothing doubted: .*"), "nothing was doubted"),
    (re.compile(r"^step \.\. "), ""),
    (re.compile(r"calls \S+?(?=,| with| which)"), "calls a tool"),
    (re.compile(r"\.\. \.\. \("), "a result ("),
    (re.compile(r" \.\."), ""),
)


def plain(reason: str) -> str:
    """Return a reason without the names and values in it."""
    for pattern, text in _PLAIN:
        reason = pattern.sub(text, reason)
    return reason


def merged(reasons: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return how often each reason was given, without names and values, the commonest first."""
    found: Counter[str] = Counter()
    for reason, count in reasons:
        found[plain(reason)] += count
    return dict(found.most_common())


def rendered(kept: dict[str, Any]) -> str:
    """Return the tables, with the picture between them."""
    settings = kept["settings"]
    whole = [name for name in settings if not _label(name)]
    labels = ["closed", *(name for name in settings if _label(name))]
    alt = "Attacks stopped, and good runs refused or asked about, compared with other defences"
    return "\n".join(
        [
            *_table(settings, whole, "mode", lambda name: name),
            f"\n![{alt}]({PICTURE.name})\n",
            "### What each label is worth\n",
            *_table(settings, labels, "left out", lambda name: _label(name) or "nothing"),
            "\n### Attacks by somebody who knows the rules\n",
            *_adapted(kept["adapted"]),
            "\n### The reasons\n",
            *_reasons(kept["reasons"]),
            "",
        ]
    )


def _label(setting: str) -> str | None:
    """Return the label that a setting leaves out, as code."""
    found = re.fullmatch(r"closed, without (?!scope)(\w+)", setting)
    return f"`{found[1]}`" if found else None


def _table(settings: dict[str, Any], names: list[str], head: str, told: Any) -> list[str]:
    columns = ("attacks stopped", "refused", "asked", "good runs refused", "asked")
    lines = [f"| {' | '.join([head, *columns])} |", "|---" * (len(columns) + 1) + "|"]
    for name in names:
        found = settings[name]
        cells = [
            _stopped(found["attacks missed"]),
            *map(_shown, (found["attacks refused"], found["attacks asked"])),
            *map(_shown, (found["good refused"], found["good asked"])),
        ]
        lines.append(f"| {' | '.join([told(name), *cells])} |")
    return lines


def _adapted(modes: dict[str, dict[str, dict[str, int]]]) -> list[str]:
    """Return a row for each family: what passes and asks, of what is left to an outsider.

    The last column counts what passes in the first mode although the labels say that an outsider
    cannot do it.
    """
    heads = [f"{mode}: {what}" for mode in modes for what in ("pass", "asked")]
    head = ["attack", "sessions", "left to an outsider", *heads, "others that pass"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, first in next(iter(modes.values())).items():
        cells = [_kind(name), f"{first['total']:,}", f"{first['left']:,}"]
        for one in (found[name] for found in modes.values()):
            cells += [f"**{one['left_passed']}**", f"{one['left_asked']:,}"]
        cells.append(str(first["passed"] - first["left_passed"]))
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def open_families(kept: dict[str, Any]) -> list[str]:
    """Return how the page begins to tell of each family of which some pass: with its figures."""
    closed, open_ = (kept["adapted"][mode] for mode in ("closed", "open"))
    return [
        f"- **{_kind(name)}** ({one['left_passed']} of {one['left']} in `closed`, "
        f"{open_[name]['left_passed']} in `open`):"
        for name, one in closed.items()
        if one["left_passed"] or open_[name]["left_passed"]
    ]


def _kind(family: str) -> str:
    """Return the name of a family without the number before it."""
    return family.partition(" ")[2]


def _stopped(missed: dict[str, Any]) -> str:
    share = 1 - missed["found"] / missed["total"]
    return f"**{share:.1%}** ({1 - missed['high']:.1%} to {1 - missed['low']:.1%})"


def _shown(one: dict[str, Any]) -> str:
    return f"{one['found'] / one['total']:.1%} ({one['low']:.1%} to {one['high']:.1%})"


def _reasons(reasons: dict[str, dict[str, dict[str, int]]]) -> list[str]:
    lines = ["| mode | what | runs | last reason that was given |", "|---|---|---|---|"]
    for mode, outcomes in reasons.items():
        for outcome, found in outcomes.items():
            common = {reason: count for reason, count in found.items() if count >= _FEWEST}
            others = sum(found.values()) - sum(common.values())
            listed = [*common.items(), *([("others", others)] if others else [])]
            lines += [f"| {mode} | {outcome} | {count} | {reason} |" for reason, count in listed]
    return lines


def shown() -> str:
    """Return what the page shows."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def kept_figures() -> dict[str, Any]:
    """Return the figures of the last run."""
    found: dict[str, Any] = json.loads(KEPT.read_bytes())
    return found


def publish(kept: dict[str, Any]) -> None:
    """Keep figures, draw them, and write them into the page."""
    write_folded(KEPT, kept)
    PICTURE.write_text(drawn(kept), encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + rendered(kept) + END + after, encoding="utf-8")
