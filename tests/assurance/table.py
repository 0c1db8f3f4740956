"""The assurance table as the README shows it, rendered from the kept figures and nothing else."""

from typing import Any

import orjson

from tests.assurance.row import Row
from tests.support.paths import ROOT

KEPT = ROOT / "fixtures" / "assurance.json"
README = ROOT / "README.md"

_BEGIN = "<!-- assurance: written by `python -m tests.assurance`, never by hand -->\n"
_LAYOUT = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
_END = "<!-- end of assurance -->\n"


def rendered(kept: dict[str, dict[str, Any]]) -> str:
    """The Markdown table of the full run, with rows of the quick one where there is no other."""
    lines = ["| layer | run | tried | held | seconds | note |", "|---|---|---|---|---|---|"]
    for name in sorted({name for layers in kept.values() for name in layers}):
        mode = "full" if name in kept.get("full", {}) else "quick"
        layer = kept[mode][name]
        took = [f"{layer['seconds']:,.0f}", *[""] * len(layer["rows"])]
        lines += [
            f"| {row['layer']} | {mode} | {row['tried']:,} {row['unit']} | {row['held']:,} "
            f"| {seconds} | {row['note']} |"
            for row, seconds in zip(layer["rows"], took, strict=False)
        ]
    minutes = sum(layer["seconds"] for layer in kept.get("full", {}).values()) / 60
    told = f"A layer's seconds stand in its first row; the full runs took {minutes:.0f} minutes."
    return "\n".join([*lines, "", told]) + "\n"


def shown() -> str:
    """The table that stands in the README."""
    return README.read_text(encoding="utf-8").partition(_BEGIN)[2].partition(_END)[0]


def keep(mode: str, name: str, rows: list[Row], seconds: float) -> None:
    """Keep the rows of one layer, in place of those it had, and renew the README."""
    kept = orjson.loads(KEPT.read_bytes()) if KEPT.exists() else {}
    layer = {"seconds": round(seconds, 1), "rows": [row._asdict() for row in rows]}
    kept.setdefault(mode, {})[name] = layer
    KEPT.write_bytes(orjson.dumps(kept, option=_LAYOUT) + b"\n")
    text = README.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    README.write_text(before + _BEGIN + rendered(kept) + _END + after, encoding="utf-8")
