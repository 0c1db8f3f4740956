"""Bugs of the log: what it loses, takes twice, or lists falsely."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_APPENDING: Final = "harness/log/appending.py"
_FILE: Final = "harness/log/sqlite/sqlite_store.py"
_IDLE: Final = "harness/log/idle_connections.py"
_LISTING: Final = "harness/log/search/listing.py"
_OPENING: Final = "harness/log/log_opening.py"
_PASSWORDS: Final = "harness/log/passwords.py"
_QUERY: Final = "harness/log/search/query.py"
_READING: Final = "harness/log/log_reading.py"
_REMAINDER: Final = "harness/log/remainder.py"
_ROWS: Final = "harness/log/journal_rows.py"
_SETTLED: Final = "harness/log/log_settlements.py"
_SQL: Final = "harness/log/sql.py"
_STANDING: Final = "harness/log/log_standing.py"
_STATEMENTS: Final = "harness/log/statements.py"
_STATISTICS: Final = "harness/log/search/log_statistics.py"
_TURNS: Final = "harness/log/search/turns.py"
_WRITING: Final = "harness/log/log_writing.py"

LOG_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "claims-of-one-commit",
        _APPENDING,
        "two appends of one commit make the same claim, and take the commit of the others with it",
        "own = self._own_claims(append, {**made, **claims}, before)",
        "own = self._own_claims(append, made, before)",
    ),
    slip(
        "claims-of-one-append",
        _APPENDING,
        "two records of one append make the same claim",
        "if one in made or one in own or claims.count(one) > 1]",
        "if one in made or claims.count(one) > 1]",
    ),
    slip(
        "handed-over-elsewhere",
        _APPENDING,
        "a log object appends after another process handed the log over",
        "if found != before and handed_over_at(connection) is not None:",
        "if not found.seq and handed_over_at(connection) is not None:",
    ),
    slip(
        "size-of-a-body-in-parts",
        _APPENDING,
        "a document over the limit is recorded where it is kept in parts",
        "return document.size if isinstance(document, Parted) else len(document)",
        "return len(document.body) if isinstance(document, Parted) else len(document)",
    ),
    slip(
        "record-over-the-limit",
        _APPENDING,
        "a record over the limit is recorded where its run is kept in parts",
        "self._check_size(len(whole.body))",
        "self._check_size(len(stored.body))",
    ),
    slip(
        "known-before-the-commit",
        _APPENDING,
        "inputs count as stored although their commit failed, so a record names what is not there",
        "        return Written(records, inputs, claims, index, steps)",
        "        self._known.add(inputs)\n"
        "        return Written(records, inputs, claims, index, steps)",
    ),
    slip(
        "step-behind-another-session",
        _APPENDING,
        "of two sessions in one commit the second one is refused its step",
        "here = [one for one, _ in before if one.session == step.session]",
        "here = [one for one, _ in before]",
    ),
    slip(
        "step-behind-an-end",
        _APPENDING,
        "a session goes on in the commit in which it ended",
        "last = 0 if here[-1].is_end else here[-1].number",
        "last = here[-1].number",
    ),
    slip(
        "first-record-of-a-step",
        _ROWS,
        "a step names the first record that it caused, and the later ones are missed",
        "seq = decided[-1] if decided else self.seq",
        "seq = decided[0] if decided else self.seq",
    ),
    slip(
        "chain-of-one",
        _SETTLED,
        "an execution that came along and was settled then cannot be ended by who knows",
        "    while found := records_numbered(connection, numbers):\n",
        "    if found := records_numbered(connection, numbers):\n",
    ),
    slip(
        "came-along-is-no-standing",
        _SETTLED,
        "an execution that came from another log cannot be ended by who knows",
        '_STANDING: Final = frozenset({"settled", "begun"})',
        '_STANDING: Final = frozenset({"settled"})',
    ),
    slip(
        "came-along-is-settled",
        _SETTLED,
        "an execution that came from another log is told as settled by a person",
        'if last is not None and _kind(last) == "settled":',
        "if last is not None and _kind(last) in _STANDING:",
    ),
    slip(
        "part-of-a-commit",
        _STANDING,
        "a log goes on that holds a part of what was committed as a whole",
        "            if not _holds(connection, doubted):\n",
        "            if not _holds(connection, doubted[-1:]):\n",
    ),
    slip(
        "first-of-an-append-acknowledged",
        _STANDING,
        "a log goes on although it lost the last records of an append",
        "self.last = Head(sent[-1].seq, sent[-1].hash)",
        "self.last = Head(sent[0].seq, sent[0].hash)",
    ),
    slip(
        "anything-under-a-digest",
        _WRITING,
        "a record names an input of which the log holds something else",
        "return whole is not None and sha256(whole) == digest",
        "return whole is not None and len(digest) == 64",
    ),
    slip(
        "row-behind-those-written",
        _WRITING,
        "a record that appears behind the appended ones is not noticed before the commit",
        "rows_after(connection, RECORDS, written[0].seq - 1, len(written) + 1)",
        "rows_after(connection, RECORDS, written[0].seq - 1, len(written))",
    ),
    slip(
        "claims-not-read-back",
        _WRITING,
        "an append is acknowledged whose claim the log did not keep",
        "        and stored_claims(connection, written.claims) == written.claims\n",
        "",
    ),
    slip(
        "one-other-at-a-time",
        _REMAINDER,
        "names that were taken out are left where many are",
        "            while other is not None and other < name:\n",
        "            if other is not None and other < name:\n",
    ),
    slip(
        "gap-of-one",
        _READING,
        "a single record that is missing is no gap",
        "            if seq > last + 1:\n",
        "            if seq > last + 2:\n",
    ),
    slip(
        "until-and-with",
        _QUERY,
        "a record of the very time at which a search ends is among what is found",
        '"until": "at_us < :f_until"',
        '"until": "at_us <= :f_until"',
    ),
    slip(
        "cost-of-the-bound",
        _QUERY,
        "a record that cost the very bound is not found",
        '"most_cost": "cost_micros <= :f_most_cost"',
        '"most_cost": "cost_micros < :f_most_cost"',
    ),
    slip(
        "tool-by-its-beginning",
        _QUERY,
        "a search for a tool finds those whose names begin with its name",
        '"f_capability": f"/{tool} "',
        '"f_capability": f"/{tool}"',
    ),
    slip(
        "kind-by-a-part",
        _QUERY,
        "a search for a kind finds those that contain its name",
        '{"f_kind": f" {self.kind} ",',
        '{"f_kind": f"{self.kind}",',
    ),
    slip(
        "turns-of-one-plan",
        _TURNS,
        "two turns of a session with the same plan are one turn with one fate",
        '_KEY: Final = "trace, turn, plan"',
        '_KEY: Final = "trace, plan"',
    ),
    slip(
        "wanted-by-its-last-record",
        _TURNS,
        "a turn is found only where its last record passes the filters",
        "        self._wanted[turn] |= wanted\n",
        "        self._wanted[turn] = wanted\n",
    ),
    slip(
        "window-of-a-log-with-gaps",
        _LISTING,
        "of a log with gaps only the first few thousand records are listed",
        "after = page[-1][0] if len(page) == _WINDOW else upto",
        "after = upto",
    ),
    slip(
        "gaps-in-front",
        _LISTING,
        "a gap in front of the first record that is found is not said",
        "            while gap is not None and gap.last < listed.row.seq:\n",
        "            while gap is not None and gap.first > 1 and gap.last < listed.row.seq:\n",
    ),
    slip(
        "answered-after-all-and-lapsed",
        _STATISTICS,
        "a question that lapsed and was answered when it was put again is counted twice",
        "if facts & _UNANSWERED == RecordFacts.LAPSED)",
        "if facts & RecordFacts.LAPSED)",
    ),
    slip(
        "used-up-is-over",
        _STATISTICS,
        "a turn that used all of its budget counts as over it",
        'f"sum(CASE WHEN {one} > max_{one} THEN 1 ELSE 0 END), "',
        'f"sum(CASE WHEN {one} >= max_{one} THEN 1 ELSE 0 END), "',
    ),
    slip(
        "second-format",
        _OPENING,
        "a log is opened that another version has written to as well",
        "    if formats != [LOG_FORMAT]:\n",
        "    if LOG_FORMAT not in formats:\n",
    ),
    slip(
        "password-among-the-options",
        _PASSWORDS,
        "a password that is given as an option of a URL is printed",
        r'    re.compile(r"(:/+[^\s?]*\?)\S*"),' + "\n",
        "",
    ),
    slip(
        "connection-of-the-parent",
        _IDLE,
        "a forked process goes on over a connection of its parent",
        "        if self._process != os.getpid():\n",
        "        if self._process < 0:\n",
    ),
    slip(
        "exchanged-file-appended-to",
        _FILE,
        "an append goes to a file that is not at the path any more",
        "            if opened.file == self._file_at_path():\n",
        "            if opened.file is not None:\n",
    ),
    slip(
        "log-behind-a-link",
        _FILE,
        "a symbolic link is opened as a log",
        "            status = self._path.lstat()\n",
        "            status = self._path.stat()\n",
    ),
    slip(
        "first-names-asked-for",
        _STATEMENTS,
        "of many digests or claims only the first hundreds are looked up",
        "    while part := list(islice(distinct, _MANY)):\n",
        "    if part := list(islice(distinct, _MANY)):\n",
    ),
    slip(
        "opened-after-the-end",
        _SQL,
        "a log that was handed over is appended to once it is opened again",
        "            log._shut, log._is_handed_over = GOES_ON, True",
        "            log._is_handed_over = True",
    ),
    slip(
        "page-without-its-first-row",
        _READING,
        "a record that is larger than a page ends the reading, and the rest is not there",
        "        page.append(row)\n        "
        "size += len(row[-1]) if isinstance(row[-1], bytes) else 0\n        "
        "if size > _BYTES:\n            "
        "break",
        "        size += len(row[-1]) if isinstance(row[-1], bytes) else 0\n        "
        "if size > _BYTES:\n            "
        "break\n        "
        "page.append(row)",
    ),
    slip(
        "page-that-repeats",
        _READING,
        "a page that begins with the rows of the one before is read, again and again",
        "before = [after, *numbers] if after is not None else numbers",
        "before = numbers",
    ),
    slip(
        "number-twice-in-a-page",
        _READING,
        "a record that a damaged index gives twice is read twice",
        "if any(number >= following for number, following in pairwise(before)):",
        "if any(number > following for number, following in pairwise(before)):",
    ),
    slip(
        "first-page-of-sessions",
        _READING,
        "open sessions beyond the first page are not there",
        "        while page := self._some_sessions(after):\n            "
        "yield from page\n            "
        "after = page[-1]",
        "        if page := self._some_sessions(after):\n            yield from page",
    ),
    slip(
        "part-missing-is-nothing",
        _READING,
        "an input that lacks a part is read as empty",
        "return {digest: self._whole_body(body).data or body for digest, body in bodies.items()}",
        'return {digest: self._whole_body(body).data or b"" for digest, body in bodies.items()}',
    ),
    slip(
        "first-of-the-names",
        _READING,
        "of several records that are asked for by their hashes one is found",
        "return {raw.hash: raw for raw in records_named(connection, hashes)}",
        "return {raw.hash: raw for raw in records_named(connection, [*hashes][:1])}",
    ),
    slip(
        "claims-lost-by-an-end",
        _SETTLED,
        "a decision that ends a settlement claims nothing else",
        "claims = tuple(begun_claim(standing) if one == claim else one for one in drafted.claims)",
        "claims = (begun_claim(standing),)",
    ),
    slip(
        "settled-once-more",
        _SETTLED,
        "what a person settled is settled by another one",
        'if named is None or "kind" in drafted.members:',
        "if named is None:",
    ),
    slip(
        "check-by-its-end",
        _QUERY,
        "a search for a check finds those whose names end alike",
        'values["f_check"] = f" {self.check} "',
        'values["f_check"] = f"{self.check} "',
    ),
    slip(
        "none-of-them-is-all",
        _QUERY,
        "a search that found nothing by its words lists the whole log",
        "if self.numbers is not None:  # NULL",
        "if self.numbers:  # NULL",
    ),
    slip(
        "ended-and-not-open",
        _QUERY,
        "executions that ended are listed as open",
        "_OPEN: Final = f\"status = 'begun' AND NOT EXISTS {ENDED_BY}\"",
        "_OPEN: Final = f\"status = 'begun' AND {ENDED_BY} IS NOT NULL\"",
    ),
    slip(
        "settlement-without-its-end",
        _QUERY,
        "a settlement that a decision ended is listed as the last word",
        "CASE WHEN status IN ('begun', 'settled') THEN {ENDED_BY} END",
        "CASE WHEN status = 'begun' THEN {ENDED_BY} END",
    ),
    slip(
        "gap-behind-a-number",
        _QUERY,
        "a record that is missing is not said where another has a number below 1",
        "return self.rows == 0 or (self.first == 1 and self.last == self.rows)",
        "return self.rows == 0 or self.last == self.rows",
    ),
    slip(
        "session-by-its-spelling",
        _QUERY,
        "a session whose name has a quote is not found",
        '            values["f_session"] = name_column(self.session)',
        '            values["f_session"] = self.session',
    ),
    slip(
        "tenant-for-user",
        _QUERY,
        "a search for a tenant finds the users of that name",
        '"tenant": "of_tenant = :f_tenant"',
        '"tenant": "of_user = :f_tenant"',
    ),
    slip(
        "gap-late",
        _LISTING,
        "of two gaps before a row one comes behind it",
        "while gap is not None and gap.last < listed.row.seq:",
        "if gap is not None and gap.last < listed.row.seq:",
    ),
    slip(
        "rows-without-records-uncounted",
        _LISTING,
        "a row without a record is not said where another record has no row",
        "others = index.rows - (records.rows - lacking) if self._whole else 0",
        "others = index.rows - records.rows if self._whole else 0",
    ),
    slip(
        "as-many-rows-as-records",
        _LISTING,
        "a row without a record is listed, as another record has none",
        "self._paired = self._whole and index == records",
        "self._paired = self._whole and index.rows == records.rows",
    ),
    slip(
        "turn-by-its-last-record",
        _TURNS,
        "a turn is what its last record says of it",
        "        self._facts[turn] |= facts\n",
        "        self._facts[turn] = facts\n",
    ),
    slip(
        "open-forgotten",
        _TURNS,
        "an execution without an end is not open in what is shown",
        "return self._replace(facts=said | (self.facts & UNTIL_ENDED))",
        "return self._replace(facts=said)",
    ),
)
"""Most of them lose something that was acknowledged, or let a thing be claimed again."""
