"""The experiment as the page on loops shows it, rendered from the kept figures alone."""

import json
from typing import Any, Final

from tests.support.paths import ROOT

KEPT: Final = ROOT / "fixtures" / "experiment_revise.json"
PICTURE: Final = ROOT / "fixtures" / "experiment_revise.svg"
PAGE: Final = ROOT / ".github" / "docs" / "loops.md"

TOLD: Final = {
    "nothing": "nothing",
    "kind": "the refusal kind",
    "violations": "all violations",
    "repairs": "violations with repairs",
}
_BEGIN: Final = "<!-- experiment: written by `python -m tests.experiments.revise` -->\n"
_END: Final = "<!-- end of experiment -->\n"


def rendered(kept: dict[str, Any]) -> str:
    """Return the Markdown table, with the picture below it."""
    names = list(kept["groups"])
    counts = [f"{name} ({group['plans']} plans)" for name, group in kept["groups"].items()]
    head = ["told of a refusal", *counts, *(f"steps kept, {name}" for name in names)]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for level, told in TOLD.items():
        found = [group["levels"][level] for group in kept["groups"].values()]
        cells = [_interval(one["approved"][-1]) for one in found]
        cells += [f"{one['steps_kept']:.0%}" for one in found]
        lines.append("| " + " | ".join([told, *cells]) + " |")
    alt = "Plans approved, by rounds and by the share of mistakes, for each of the four"
    return "\n".join([*lines, "", f"![{alt}](../../fixtures/{PICTURE.name})"]) + "\n"


def _interval(found: dict[str, float]) -> str:
    return f"{found['share']:.0%} ({found['low']:.0%} to {found['high']:.0%})"


def shown() -> str:
    """Return what the page shows."""
    return PAGE.read_text(encoding="utf-8").partition(_BEGIN)[2].partition(_END)[0]


def kept() -> dict[str, Any]:
    """Return the figures of the last run."""
    found: dict[str, Any] = json.loads(KEPT.read_bytes())
    return found


def rewrite() -> None:
    """Write the kept figures into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    PAGE.write_text(before + _BEGIN + rendered(kept()) + _END + after, encoding="utf-8")
