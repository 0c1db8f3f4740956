"""The table of the assurance page, rendered from the kept figures and nothing else.

Rule 1: a layer's figures are kept with the digest of the code that they were measured on.
Rule 2: figures of other code are not shown: the layer is listed as not measured on this code.
Rule 3: code that a layer cannot import is not part of its digest, and a run of it cannot import it.
"""

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from tests.assurance.row import Row
from tests.support.folded import write_folded
from tests.support.paths import FIXTURES, ROOT

KEPT: Final = FIXTURES / "assurance.json"
PAGE: Final = ROOT / ".github" / "docs" / "assurance.md"

_BEGIN: Final = "<!-- assurance: written by `python -m tests.assurance`, never by hand -->\n"
_END: Final = "<!-- end of assurance -->\n"

Kept = dict[str, dict[str, dict[str, Any]]]
"""Layers by name, by `full` or `quick`: `code`, `seconds` and `rows` of each."""

_COMMANDS: Final = "critic.command"
"""The reading of command lines: a package by itself, which plans without a command never load."""
_SESSION: Final = ("session", "session_state", "session_report", "waiting_calls", "proposing")
_TEXTS: Final = ("critic.repairs", "critic.replies")
CLOSED: Final[Mapping[str, Sequence[str]]] = {
    **dict.fromkeys(("model", "proof", "deletion", "laws"), (_COMMANDS,)),
    "late_plans": (_COMMANDS, *_TEXTS, *(f"critic.session.{name}" for name in _SESSION)),
}
"""Modules and packages that a layer cannot import: a verdict needs none of them."""


def code_digest(layer: str) -> str:
    """Return the SHA-256 of the source files of `critic/` and `evals/` that a layer can import.

    Names of files are included.
    """
    digest = hashlib.sha256()
    closed = {ROOT / name.replace(".", "/") for name in CLOSED.get(layer, ())}
    for path in sorted(path for top in ("critic", "evals") for path in (ROOT / top).rglob("*.py")):
        if not closed.isdisjoint((path.with_suffix(""), *path.parents)):
            continue
        data = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT).as_posix()} {len(data)}\n".encode() + data)
    return f"sha256:{digest.hexdigest()}"


def close_modules(names: Iterable[str]) -> None:
    """Let each later import of the modules fail, in this process and in those that it forks.

    A process that is started anew has to close them, too: `closed_modules` are those of this one.

    Raises:
        RuntimeError: one is imported already.
    """
    for name in names:
        if sys.modules.get(name) is not None:
            raise RuntimeError(f"{name} is imported already")
        sys.modules[name] = None  # type: ignore[assignment]  # the documented way to stop an import


def closed_modules() -> list[str]:
    """Return the modules that cannot be imported in this process."""
    return [name for name, module in sys.modules.items() if module is None]


def kept_figures() -> Kept:
    """Return the figures on file."""
    kept: Kept = orjson.loads(KEPT.read_bytes()) if KEPT.exists() else {}
    return kept


def rendered(kept: Kept) -> str:
    """Render the whole table: every row of every layer that was measured on today's code."""
    lines = ["| layer | run | tried | held | seconds | note |", "|---|---|---|---|---|---|"]
    for _, mode, layer in _of_this_code(kept):
        seconds = [f"{layer['seconds']:,.0f}", *[""] * len(layer["rows"])]
        lines += [
            f"| {row['layer']} | {mode} | {row['tried']:,} {row['unit']} | {row['held']:,} "
            f"| {took} | {row['note']} |"
            for row, took in zip(layer["rows"], seconds, strict=False)
        ]
    layers = [layer for _, mode, layer in _of_this_code(kept) if mode == "full"]
    minutes = sum(layer["seconds"] for layer in layers) / 60
    took_all = (
        f"The seconds of a layer are in its first row; the full runs took {minutes:.0f} minutes."
    )
    return "\n".join([*lines, "", took_all, *_not_measured(kept)]) + "\n"


def _of_this_code(kept: Kept) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the layers measured on today's code, the full run where there are both."""
    for name in sorted({name for layers in kept.values() for name in layers}):
        code = code_digest(name)
        for mode in ("full", "quick"):
            layer = kept.get(mode, {}).get(name)
            if layer is not None and layer.get("code") == code:
                yield name, mode, layer
                break


def _not_measured(kept: Kept) -> list[str]:
    measured = {name for name, _, _ in _of_this_code(kept)}
    missing = sorted({name for layers in kept.values() for name in layers} - measured)
    return ["", f"Not measured on this code: {', '.join(missing)}."] if missing else []


def shown() -> str:
    """Return the table that is on the page."""
    return PAGE.read_text(encoding="utf-8").partition(_BEGIN)[2].partition(_END)[0]


def keep(mode: str, name: str, rows: list[Row], seconds: float, code: str) -> None:
    """Keep the rows of one layer in place of those it had, and render the page again.

    `code` is the digest of the code at the start of the run.
    """
    kept = kept_figures()
    figures = [row._asdict() for row in rows]
    layer = {"code": code, "seconds": round(seconds, 1), "rows": figures}
    kept.setdefault(mode, {})[name] = layer
    write_folded(KEPT, orjson.loads(orjson.dumps(kept, option=orjson.OPT_SORT_KEYS)))
    write()


def write() -> None:
    """Write the table into its page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    PAGE.write_text(f"{before}{_BEGIN}{rendered(kept_figures())}{_END}{after}", encoding="utf-8")
