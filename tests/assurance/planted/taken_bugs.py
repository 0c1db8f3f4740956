"""Bugs of what is taken out, what is said of records, and the service of hooks."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_HOOKS: Final = "harness/integrations/hooks/hook_service.py"
_REDACTION: Final = "harness/audit/copies/redaction.py"
_TEXTS: Final = "harness/audit/record_texts.py"

TAKEN_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "copy-with-another-head",
        _REDACTION,
        "a copy that is not the log is handed out as one",
        "        if target.head() != upto.head:\n            raise "
        'LogDamaged(f"{show_path(new)}: the copy has another head: try again")\n',
        "",
    ),
    slip(
        "remains-in-records-unsaid",
        _REDACTION,
        "it is not said which records still have the bytes that were taken out",
        "    for raw in target.stored_records():\n        if any(one in raw.body for one in "
        'removed):\n            yield f"record {raw.seq}"',
        "",
    ),
    slip(
        "parts-of-what-was-taken-stay",
        _REDACTION,
        "the parts of a value that was taken out stay in the copy",
        "if digest in upto.digests and digest not in cut.dropped:\n            yield digest, ref",
        "if digest in upto.digests:\n            yield digest, ref",
    ),
    slip(
        "appended-parts-copied",
        _REDACTION,
        "what is appended meanwhile is in the copy, and searched by nobody",
        "        if digest in upto.digests and digest not in cut.dropped:\n            yield "
        "digest, ref",
        "        if digest not in cut.dropped:\n            yield digest, ref",
    ),
    slip(
        "parts-of-kept-parts-dropped",
        _REDACTION,
        "what others have too loses its own parts",
        "    kept |= below.intersection(pieces_of(list(read_stored(kept).values()), "
        "read_stored))\n",
        "    del read_stored\n",
    ),
    slip(
        "who-holds-it-unsaid",
        _REDACTION,
        "it is not said that other records hold the value too",
        "        holding = records_holding(target, SoughtValues(told)) if told else 0",
        "        holding = 0",
    ),
    slip(
        "trace-beside-a-value-stays",
        _REDACTION,
        "where a value is named too, the trace is not taken out",
        "return held if wanted.trace is None else held.join(parts_of_trace(log, wanted.trace, "
        "last))",
        "return held if wanted.trace is None or held else held.join(parts_of_trace(log, "
        "wanted.trace, last))",
    ),
    slip(
        "part-counted-twice",
        _REDACTION,
        "a part that is named twice is counted twice",
        "count = len(held.digests - {*taken})",
        "count = len(held.digests)",
    ),
    slip(
        "first-of-two-members-stays",
        _REDACTION,
        "of two members of one record the first stays in the copy",
        "rows.setdefault(place.seq, {})[place.member] = place.digest",
        "rows[place.seq] = {place.member: place.digest}",
    ),
    slip(
        "errors-of-later-calls-unsearched",
        _TEXTS,
        "a text is found in the error of the first call alone",
        '*(_text_of(call, "error") for call in calls))',
        '*(_text_of(call, "error") for call in calls[:1]))',
    ),
    slip(
        "reopened-said-closed",
        _TEXTS,
        "a session that was reopened is said to be closed",
        'said = "the session was reopened, with its carried state"',
        'said = "the session was closed"',
    ),
    slip(
        "service-ends-with-its-agent",
        _HOOKS,
        "the service of hooks ends with the agent that started it",
        "            start_new_session=True,  # it outlives the agent\n",
        "",
    ),
    slip(
        "lock-of-everybody",
        _HOOKS,
        "whoever is on the machine keeps the service of hooks from starting",
        "os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)",
        "os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)",
    ),
    slip(
        "service-without-its-lock",
        _HOOKS,
        "each hook starts a service of its own",
        "pass_fds=(lock,)",
        "pass_fds=()",
    ),
    slip(
        "no-record-and-still-its-author-s",
        "harness/what_if/changed_turns.py",
        "what is no record of its class counts as written by its reader",
        "if is_anyones and item.source is not None:",
        "if is_anyones and item.source is None:",
    ),
)
