"""Bugs of the audit: what a copy, a proof, a settlement or the gate no longer notices."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_BOOTSTRAP: Final = "harness/audit/gate/bootstrap.py"
_CHECKPOINT: Final = "harness/audit/proofs/checkpoint.py"
_COPYING: Final = "harness/audit/copies/copying.py"
_HELD: Final = "harness/audit/copies/held_parts.py"
_KEYS: Final = "harness/audit/proofs/keys.py"
_NOTES: Final = "harness/audit/proofs/notes.py"
_PROVED: Final = "harness/audit/proofs/proved_records.py"
_READING: Final = "harness/audit/gate/run_reading.py"
_REDACTION: Final = "harness/audit/copies/redaction.py"
_RELEASE: Final = "harness/audit/gate/release_decision.py"
_SETTLE: Final = "harness/audit/settlements.py"
_TEXT: Final = "harness/commands/replay/replay_text.py"

AUDIT_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "searched-what-is-gone",
        "harness/commands/log/log_filters.py",
        "a search says that no turn has a name where the contexts of turns were taken out",
        "        if unseen := len(self._find_unseen(listing)):",
        "        if unseen := len(self._find_unseen(listing)) * bool(turns):",
    ),
    slip(
        "question-of-the-last-record",
        "harness/audit/report/page_turns.py",
        "the page says under Question what the last record of a turn says",
        "        turn.asked, turn.question = record.seq, turn.reason",
        "        turn.asked = record.seq\n    if turn.asked:\n        turn.question = turn.reason",
    ),
    slip(
        "settlement-never-overtaken",
        "harness/audit/report/page_turns.py",
        "the page tells a settlement as the truth that a result overtook",
        "            yield seq, said, self._ended.get(own_hash)",
        "            yield seq, said, self._ended.get(said)",
    ),
    slip(
        "settlement-ends-it",
        "harness/commands/log/log_text.py",
        "a settlement is shown as the end of an execution of which a result came in",
        "        found = end_of(found[1])",
        "        found = None",
    ),
    slip(
        "shadow-policy-unsaid",
        "harness/audit/report/page_policies.py",
        "the page says nothing of a policy that is not enforced any more",
        '"refuse": "enforced", "shadow": "not enforced"}',
        '"refuse": "enforced", "shadow": "enforced"}',
    ),
    slip(
        "end-not-in-the-pack",
        "harness/commands/log/proof_checks.py",
        "a check of a pack says of an end that the pack holds that it is not there",
        "        ends = _ends_in(found)",
        "        ends = _ends_in({})",
    ),
    slip(
        "turn-on-both-sides",
        "harness/log/search/turns.py",
        "a turn is found before a moment and after it, where one of its records is",
        "        elif began:",
        "        elif began is not None:",
    ),
    slip(
        "journal-copied-with-the-value",
        _COPYING,
        "a journal that holds the value in an earlier step is copied",
        "any(without.hold_bytes(row.body) for row in rows)",
        "without.hold_bytes(rows[-1].body)",
    ),
    slip(
        "claims-of-later-records",
        _COPYING,
        "a copy has claims of records that it does not have",
        "one for one in source.all_claims() if one[1] <= upto.seq",
        "one for one in source.all_claims() if one[1]",
    ),
    slip(
        "copied-into-a-used-schema",
        _COPYING,
        "a log is copied into a database that holds parts of another",
        "if target.head().seq or next(iter(target.digests()), None) is not None:",
        "if target.head().seq:",
    ),
    slip(
        "damaged-log-copied",
        _COPYING,
        "a log of which something is missing is copied as a sound one",
        '_SOUND: Final = frozenset({"same", "open", "redacted"})',
        '_SOUND: Final = frozenset({"same", "open", "redacted", "incomplete"})',
    ),
    slip(
        "remains-in-claims",
        _HELD,
        "a value that stands in a claim stays in the copy unsaid",
        "for claim, seq in log.all_claims() if sought.hold(claim)]",
        "for claim, seq in log.all_claims() if seq > last and sought.hold(claim)]",
    ),
    slip(
        "remains-in-the-index",
        _HELD,
        "a value in the last rows of the index stays in the copy unsaid",
        "for first in range(1, last + 1, _PAGE):",
        "for first in range(1, last - _PAGE, _PAGE):",
    ),
    slip(
        "value-where-nothing-is-taken-out",
        _HELD,
        "a copy is made although a record holds the value where it stays",
        "    if stay:\n        more",
        "    if stay and not held:\n        more",
    ),
    slip(
        "members-of-the-other-record",
        _HELD,
        "of a record that is cut for two reasons, one member stays",
        "{seq: {**self.members.get(seq, {}), **other.members.get(seq, {})} for seq in numbers},",
        "{seq: self.members.get(seq) or other.members.get(seq, {}) for seq in numbers},",
    ),
    slip(
        "redacted-for-no-reason",
        _REDACTION,
        "a redaction is recorded without a reason",
        "    if not redacted.because.strip():",
        "    if not redacted.because:",
    ),
    slip(
        "part-of-another-value-dropped",
        _REDACTION,
        "a part that another record names too is lost with the one that is taken out",
        "        if digest in upto.digests and digest not in below:",
        "        if digest in below:",
    ),
    slip(
        "new-failure-of-another-case",
        _RELEASE,
        "a failure that is new in a case is made up for by one that is gone in another",
        "        if case in known and count > before[case]:",
        "        if case in known and count > before.total():",
    ),
    slip(
        "missing-cases-all",
        _RELEASE,
        "cases that the candidate lacks are not told",
        "    if not missing or missing == cases:",
        "    if len(missing) < 2 or missing == cases:",
    ),
    slip(
        "compared-out-of-order",
        _RELEASE,
        "turns of a session are compared with other turns of it",
        "return self.decision_key, self.trace_id, -1 if self.turn is None else self.turn",
        "return self.decision_key, self.trace_id, 0",
    ),
    slip(
        "asked-turns-decide-nothing",
        _RELEASE,
        "a release that asks more often passes",
        'is_state = name == "open turns" and check.status == "inconclusive"',
        'is_state = name in ("open turns", "asked turns") and check.status == "inconclusive"',
    ),
    slip(
        "within-by-observation",
        _RELEASE,
        "what is observed within its bound passes, whatever may be",
        '"pass" if interval.high <= most else "inconclusive"',
        '"pass" if interval.observed <= most else "inconclusive"',
    ),
    slip(
        "critic-failures-of-the-candidate",
        _RELEASE,
        "a critic that fails more often passes",
        '"pass" if after <= before else "inconclusive"',
        '"pass" if after <= 2 * before else "inconclusive"',
    ),
    slip(
        "tokens-of-the-baseline",
        _RELEASE,
        "a candidate that takes tokens is not compared where the baseline measured none",
        "not any(measure in run.measures for run in both)",
        "not any(measure in run.measures for run in before)",
    ),
    slip(
        "idle-runs-measured",
        _RELEASE,
        "runs without a call make the mean of what runs take smaller",
        "([run for run in side if not run.is_idle] for side in (baseline, candidate))",
        "(list(side) for side in (baseline, candidate))",
    ),
    slip(
        "gate-counts-records",
        _READING,
        "a turn counts as often as it has records",
        "turns.setdefault(said.turn, _Turn())",
        'turns.setdefault(TurnKey("", one.answer.seq, ""), _Turn())',
    ),
    slip(
        "gap-is-one-record",
        _READING,
        "many records that are missing count as one",
        "unread += said.last - said.first + 1",
        "unread += 1",
    ),
    slip(
        "part-of-a-measure",
        _READING,
        "a measure that some calls lack counts as that of the run",
        "return own or all(getattr(call, of_call) is not None for call in run.calls)",
        "return own or any(getattr(call, of_call) is not None for call in run.calls)",
    ),
    slip(
        "first-verdict-of-a-turn",
        _READING,
        "a turn that was ruled on again counts by its first verdict",
        "            self.case, self.is_verified, run = said.decision\n",
        "            self.case, now, run = said.decision\n"
        "            self.is_verified = self.is_verified or now\n",
    ),
    slip(
        "pairs-drawn-apart",
        _BOOTSTRAP,
        "what differs between cases widens the interval",
        "    if is_paired:\n        means",
        "    if is_paired and len(baseline) < 2:\n        means",
    ),
    slip(
        "one-key-signed",
        _CHECKPOINT,
        "a checkpoint counts that one of the keys has not signed",
        "own = [key for key in keys if every or _signatures_of(key, note, checkpoint)]",
        "own = [key for key in keys if _signatures_of(key, note, checkpoint)]",
    ),
    slip(
        "first-signature-of-a-key",
        _CHECKPOINT,
        "of two signatures of a key one that does not hold is not noticed",
        "    if not all(_holds(one",
        "    if not any(_holds(one",
    ),
    slip(
        "cosigned-at-any-time",
        _CHECKPOINT,
        "the time of a cosignature is not signed",
        'return f"cosignature/v1\\ntime {seconds}\\n{text}".encode()',
        'return f"cosignature/v1\\ntime 0\\n{text}".encode()',
    ),
    slip(
        "cosigned-twice",
        _CHECKPOINT,
        "a witness that signs again takes away the signature of another key of its name",
        "(one.name, one.key_id) != (name, own_id)",
        "one.name != name",
    ),
    slip(
        "size-in-another-spelling",
        _NOTES,
        "a checkpoint is read whose size is spelled in another way than it was signed",
        "return int(text) if plain and str(int(text)) == text else None",
        "return int(text) if plain else None",
    ),
    slip(
        "key-under-any-id",
        _KEYS,
        "a public key is taken under the id of another one",
        "    if key_id(name, raw[0], raw[1:]).hex() != told:",
        "    if len(told) != 8:",
    ),
    slip(
        "key-that-the-group-reads",
        _KEYS,
        "a private key signs that others could have read",
        "_OTHERS: Final = 0o077",
        "_OTHERS: Final = 0o007",
    ),
    slip(
        "input-of-another-name",
        _PROVED,
        "an input of a proof passes under the digest of another",
        "sha256(canonical_json(value)) != named[name]:",
        "sha256(canonical_json(value)) not in named.values():",
    ),
    slip(
        "proof-without-some-inputs",
        _PROVED,
        "an input that a proof leaves out is not missed",
        "set(inputs) != set(named)",
        "not set(inputs) <= set(named)",
    ),
    slip(
        "record-of-another-place",
        _PROVED,
        "a record passes in the place of another",
        "    if told != seq:",
        "    if told is None:",
    ),
    slip(
        "settled-twice",
        _SETTLE,
        "an execution that has ended is settled once more",
        "    if ended_by is not None:",
        "    if ended_by == seq:",
    ),
    slip(
        "carried-not-exported",
        "harness/commands/log/log_export.py",
        "a log is not exported from which the end of a session was taken out",
        '    **{name: f"/custom/{name}" for name in SEALED},',
        '    **{name: f"/custom/{name}" for name in SEALED if name != "carried"},',
    ),
    slip(
        "shadow-told-as-stopped",
        "harness/audit/report/told_words.py",
        "the page says of a call of a shadow that it was not run",
        "        return ToldWords(_word_unenforced(said, asked))",
        "        return ToldWords(said)",
    ),
    slip(
        "ran-without-its-run",
        "harness/audit/tables/table_rows.py",
        "a table says of a call that it ran where the run was taken out",
        '    unmade = None if "run" in hidden else _ran_unseen(turn.facts, bool(made))',
        "    unmade = _ran_unseen(turn.facts, bool(made))",
    ),
    slip(
        "damaged-log-called-sound",
        _TEXT,
        "a log with executions without an end is called sound, though its tables were changed",
        'is_said = counts["open"] and is_sound(counts) and check',
        'is_said = counts["open"] and is_sound(counts)',
    ),
    slip(
        "tables-of-what-was-taken-out",
        "harness/audit/tables/table_folder.py",
        "tables keep what was taken out of the log that they name",
        "        if isinstance(one, Listed) and one.row.seq > before.last.seq:",
        "        if isinstance(one, Listed) and one.row.seq <= before.last.seq:",
    ),
    slip(
        "redacted-end-forgotten",
        _READING,
        "of a turn whose end is redacted the gate says what the records left of it say",
        "            turn.facts |= one.facts\n",
        "            turn.facts |= one.facts & turn.facts\n",
    ),
    slip(
        "settled-for-no-reason",
        _SETTLE,
        "a settlement is recorded without a reason",
        "    if not because.strip():",
        "    if because is None:",
    ),
)
"""Most of them show something as sound that is not."""
