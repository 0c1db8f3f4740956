"""Bugs by which one tool of a log says something else than another, or than the log itself."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

TOOLS_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "parts-of-others-dropped",
        "harness/audit/copies/redaction.py",
        "a part of a redacted value is left out of the copy although other values have it",
        "        if digest in upto.digests and digest not in below:\n            kept",
        "        if digest not in upto.digests and digest not in below:\n            kept",
    ),
    slip(
        "what-one-member-took-is-lost-to-others",
        "harness/audit/copies/redaction.py",
        "a part that nothing names any more stays in the copy of a log",
        "*log.stored(apart), *taken}",
        "*log.stored(apart)}",
    ),
    slip(
        "cut-texts-not-searched",
        "harness/audit/copies/value_search.py",
        "a reason that was cut in the middle of a value keeps its beginning",
        " or self._is_cut_in(folded)",
        "",
    ),
    slip(
        "copy-not-read-again",
        "harness/audit/copies/redaction.py",
        "a copy is kept although it still holds the value",
        "            require_gone(target, wanted.sought)",
        "            pass",
    ),
    slip(
        "text-of-a-row-again",
        "harness/record/index_row.py",
        "the index says what a record says, and keeps it when the record loses it",
        '"kind": _name(kind),',
        '"kind": _name(kind) or _name(member_of(report, "rationale")),',
    ),
    slip(
        "unread-records-do-not-match",
        "harness/audit/tables/text_search.py",
        "a record that cannot be searched for a text counts as one without it",
        '                    self.problems[f"record {one.raw.seq} cannot be read"] = None',
        "                    pass",
    ),
    slip(
        "text-or-content",
        "harness/commands/log/log_filters.py",
        "a search for a text and a content finds what has the content alone",
        "found.numbers if texts is None else found.numbers & texts.numbers",
        "found.numbers",
    ),
    slip(
        "claims-on-steps-not-copied",
        "harness/audit/copies/copying.py",
        "a copy lets a session begin anew under its id",
        "source.all_claims() if one[1] <= upto.seq)",
        'source.all_claims() if not one[0].startswith("opened"))',
    ),
    slip(
        "any-end-ends-it",
        "harness/log/search/query.py",
        "an execution that is open counts as ended once any other has ended",
        "AND claims.claim = 'begun ' || records.hash)",
        "AND claims.claim LIKE 'begun %')",
    ),
    slip(
        "first-inputs-exported",
        "harness/commands/recorded.py",
        "every event of an export has the inputs of the first",
        "        if before != digest:",
        "        if not shown:",
    ),
    slip(
        "calls-not-measured",
        "harness/audit/report/tallies.py",
        "the page counts what runs took only where the run itself says it",
        "took = measures_of_run(run)",
        'took = measures_of_run(run.model_copy(update={"calls": ()}))',
    ),
)
