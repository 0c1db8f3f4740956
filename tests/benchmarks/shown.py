"""What the page of costs shows of the figures on file, rendered from them and nothing else.

`python -m tests.benchmarks.shown` writes it anew.
"""

from collections.abc import Iterable
from typing import Any, Final

from tests.benchmarks.kept import kept
from tests.benchmarks.picture import PICTURE, drawn
from tests.benchmarks.report import number
from tests.support.paths import ROOT

PAGE: Final = ROOT / ".github" / "docs" / "cost.md"

_BEGIN: Final = "<!-- benchmarks: written by `python -m tests.benchmarks`, never by hand -->\n"
_END: Final = "<!-- end of benchmarks -->\n"


def every(found: dict[str, Any]) -> str:
    """Render the whole table, with the reasons of what misses its limit."""
    on = found["machine"]
    about = f"{on['processor']}, {on['cores']} cores, {on['system']}, {on['python']}"
    code = found["code"].partition(":")[2][:12]
    lines = [f"Measured on {about}; code {code}.", "", _table(found["rows"])]
    reasons = [
        f"- {row['name']} ({row['unit']}): {row['reason']}"
        for row in found["rows"]
        if "reason" in row
    ]
    if reasons:
        lines += ["Why a limit is missed:", "", *reasons, ""]
    if found["not_installed"]:
        lines += [f"Not installed: {', '.join(found['not_installed'])}.", ""]
    counts = found["counts"]
    lines += [
        f"Instructions on file, for {counts['conditions']['python']}:",
        "",
        "| work | instructions |",
        "|---|---|",
        *(f"| {name} | {count:,} |" for name, count in counts["instructions"].items()),
    ]
    return "\n".join(lines) + "\n"


def _table(rows: Iterable[dict[str, Any]]) -> str:
    lines = ["| work | in units of | at most | measured |", "|---|---|---|---|"]
    for row in rows:
        limit = "" if row["limit"] is None else f"{row['limit']:g}x"
        lines.append(f"| {row['name']} | {row['unit']} | {limit} | {_measured(row)} |")
    return "\n".join(lines) + "\n"


def _measured(row: dict[str, Any]) -> str:
    if row["figure"] is None:
        return str(row["missing"])
    return f"{number(row['figure'])}x{' (missed)' if row['met'] is False else ''}"


def shown() -> str:
    """Return what is between the marks of the page."""
    return PAGE.read_text(encoding="utf-8").partition(_BEGIN)[2].partition(_END)[0]


def write() -> None:
    """Write the table into the page, and the picture."""
    found = kept()
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    PAGE.write_text(f"{before}{_BEGIN}{every(found)}{_END}{after}", encoding="utf-8")
    PICTURE.write_text(drawn(found["rows"]), encoding="utf-8")


if __name__ == "__main__":
    write()
