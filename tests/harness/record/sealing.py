"""The sealed form of a record as the documentation says it: a second reading of the rule."""

import copy
import hashlib
from collections.abc import Iterator
from typing import Any

import rfc8785


def sealed_form(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record, without its hash, as its hash is taken of it."""
    sealed: dict[str, Any] = copy.deepcopy(record)
    texts: list[str] = []
    for holder, name in _places(sealed):
        if holder[name] not in texts:
            texts.append(holder[name])
        holder[name] = str(texts.index(holder[name]))
    for name in {"asked", "attempts", "carried", "run"} & {*sealed}:
        sealed[name] = sha256_of(sealed[name])
    return {**sealed, "texts": sha256_of(texts)} if texts else sealed


def _places(record: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield where the texts of a record are, in their order."""
    yield from ((record, name) for name in ("because", "error") if name in record)
    yield from _places_of_report(record["report"]) if "report" in record else ()
    if "where" in record:
        yield record, "where"


def _places_of_report(report: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    yield report, "rationale"
    card = report.get("score", {}).get("scorecard", {})
    yield from ((card, name) for name in ("intent",) if name in card)
    findings = [
        one for _, verdict in sorted(card.get("scores", {}).items()) for one in verdict["findings"]
    ]
    of_finding = ("evidence_ref", "message")
    yield from ((one, name) for one in findings for name in of_finding if name in one)
    verify = report["verify"]
    for some in ("caveats", "reasons"):
        yield from ((verify[some], at) for at in range(len(verify.get(some, []))))
    for violation in verify.get("violations", []):
        if "/args/" in violation.get("path", ""):
            yield violation, "path"
        yield from ((violation, name) for name in ("reason", "stale") if name in violation)


def sha256_of(value: Any) -> str:
    """Return the SHA-256 of the canonical bytes of a value."""
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()
