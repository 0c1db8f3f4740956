"""Judge every fixture case and print one hash of all that came out, and how many cases there were.

Run by itself in a fresh interpreter, under the environment that the caller wants to compare.
"""

import hashlib
import sys
from typing import Any, Final

import orjson

from critic import Proposal, Run, consolidate, digest, score, verify_proposal
from evals.run import refused_opening
from evals.timestamps import parse_time
from harness.canonical import canonical_bytes, canonical_json
from harness.cases import Case, run_case
from harness.record import GENESIS, Decision, Head, draft, seal_record
from harness.wire import parse
from tests.support.large_cases import every_case

DECIDED_AT: Final = parse_time("2026-05-09T09:45:00Z")


def told(case: Case) -> list[bytes]:
    """Return the outcome of a case; for valid input also its digests, its report and its record."""
    found = run_case(case)
    said = [canonical_json(found.wire())]
    if found.verdict is None or case.command == "consolidate":
        return said
    if case.command == "verify":
        return [*said, *recorded(parse(Proposal, case.document()), None)]
    run = parse(Run, case.document())
    return [*said, digest(run).encode(), *recorded(run.proposal, run)]


def recorded(given: Proposal, run: Run | None) -> list[bytes]:
    """Return the digests of proposal and parts, the verdict as sent, the report, the record."""
    verdict = verify_proposal(given)
    digests = [digest(one).encode() for one in (given, given.ctx, given.compiled, given.plan)]
    kept = run if verdict.ok and run is not None and run.trace_id == given.ctx.trace_id else None
    report = consolidate(
        trace_id=given.ctx.trace_id,
        decision_key=given.spec.id,
        verify=verdict,
        score=None if kept is None else score(kept),
        opening=None if kept is None else refused_opening(kept.openings),
        decided_at=DECIDED_AT,
    )
    parts: dict[str, Any] = {
        "proposal": given,
        "report": report,
        "action": "allow" if verdict.ok else "refuse",
        **({} if kept is None else {"run": kept}),
    }
    body = seal_record(draft(Decision(**parts)), Head(0, GENESIS)).body
    sent = verdict.__pydantic_serializer__.to_json(verdict, exclude_none=True)
    return [*digests, sent, canonical_bytes(report), body]


def main() -> None:
    """Print one line of JSON: the hash, the number of cases, the version of this interpreter."""
    total, count = hashlib.sha256(), 0
    for case in every_case().values():
        for part in told(case):
            total.update(hashlib.sha256(part).digest())
        count += 1
    shown = {"hash": total.hexdigest(), "cases": count, "version": sys.version.split()[0]}
    sys.stdout.write(orjson.dumps(shown).decode() + "\n")


if __name__ == "__main__":
    main()
