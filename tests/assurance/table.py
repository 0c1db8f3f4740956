"""The assurance table as the README shows it, rendered from the kept figures and nothing else."""

from pathlib import Path
from typing import Any

import orjson

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "fixtures" / "assurance.json"
README = ROOT / "README.md"

_BEGIN = "<!-- assurance: written by `python -m tests.assurance`, never by hand -->\n"
_END = "<!-- end of assurance -->\n"


def rendered(kept: dict[str, list[dict[str, Any]]]) -> str:
    """The Markdown table of the full run where there is one, else of the quick one."""
    mode = "full" if "full" in kept else "quick"
    lines = [f"| layer ({mode} run) | tried | held | seconds | note |", "|---|---|---|---|---|"]
    lines += [
        f"| {row['layer']} | {row['tried']:,} {row['unit']} | {row['held']:,} "
        f"| {row['seconds']:.0f} | {row['note']} |"
        for row in kept[mode]
    ]
    return "\n".join(lines) + "\n"


def shown() -> str:
    """The table that stands in the README."""
    return README.read_text(encoding="utf-8").partition(_BEGIN)[2].partition(_END)[0]


def rewrite() -> None:
    """Put the table of the kept figures into the README."""
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    table = rendered(orjson.loads(KEPT.read_bytes()))
    README.write_text(before + _BEGIN + table + _END + after, encoding="utf-8")
