"""Bugs in `harness/`: parsing, the loop and its permit, the log and its replay."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_WIRE: Final = "harness/wire.py"
_LOOP: Final = "harness/runtime/canonical_loop.py"
_PERMIT: Final = "harness/runtime/permit.py"
_FAILURES: Final = "harness/failures.py"
_RECORDER: Final = "harness/runtime/recorder.py"
_EXECUTORS: Final = "harness/runtime/executors.py"
_RESULTS: Final = "harness/tool_results.py"
_RECHECK: Final = "harness/replay/recheck.py"
_INTEGRITY: Final = "harness/record/integrity.py"
_RECORD: Final = "harness/record/decision.py"
_CHAIN: Final = "harness/record/chain.py"
_CLOSED: Final = "harness/record/closed_words.py"
_PLAN_TYPES: Final = "harness/loops/plan_types.py"
_PLAN_CALLS: Final = "harness/loops/plan_calls.py"
_ECHO: Final = "harness/loops/echo.py"
_JOURNAL: Final = "harness/loops/agents/journal.py"
_PYDANTIC_AI: Final = "harness/loops/agents/pydantic_ai.py"
_AUTHORITY: Final = "harness/testing/_laws/authority_laws.py"
_PROCESS: Final = "harness/process.py"
_WORKSPACE: Final = "harness/loops/code/workspace.py"
_GATE: Final = "harness/loops/code/check_gate.py"
_GUARD: Final = "harness/loops/code/git_guard.py"
_CONFIG: Final = "harness/loops/code/config.py"
_FILES: Final = "harness/whole_files.py"
_OPENING: Final = "harness/loops/code/session_opening.py"

HARNESS_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "last-key-wins",
        _WIRE,
        "of a key that stands twice in a document the last one wins",
        "allow_inf_nan=False, catch_duplicate_keys=True)",
        "allow_inf_nan=False)",
    ),
    slip(
        "last-key-wins-in-a-log",
        "harness/record/integrity.py",
        "of a key that stands twice in a stored record the last one wins where nothing is hashed",
        "parse_json(data, len(data))",
        '__import__("orjson").loads(data)',
    ),
    slip(
        "mark-let-in",
        _WIRE,
        "a byte-order mark gets the reader's message and not ours",
        r'if data.startswith(b"\xef\xbb\xbf"):',
        r'if data.startswith(b"\xfe\xff"):',
    ),
    slip(
        "one-byte-over",
        _WIRE,
        "a document one byte over the limit is parsed",
        "if len(data) > max_bytes:\n        raise",
        "if len(data) > max_bytes + 1:\n        raise",
    ),
    slip(
        "nulls-written",
        _WIRE,
        "a verdict as bytes holds null for what is absent",
        "to_json(verdict, exclude_none=True)",
        "to_json(verdict)",
    ),
    slip(
        "refused-plan-runs",
        _LOOP,
        "a refused plan is executed",
        "if isinstance(turn.verdict, Refused) or executor is None:",
        "if executor is None:",
    ),
    slip(
        "calls-lost-on-failure",
        _LOOP,
        "an executor that raises takes its calls with it",
        "calls, openings = running.end(), running.openings",
        "calls, openings = running.end()[:0], running.openings",
    ),
    slip(
        "cancelled-unrecorded",
        _LOOP,
        "a cancelled run takes its calls with it",
        "            await self._record_failed(running, reason)\n            raise\n",
        "            running.end()\n            raise\n",
    ),
    slip(
        "permit-used-twice",
        "harness/single_use.py",
        "a permit is good for any number of executions",
        "if not self._used.acquire(blocking=False):",
        "if self._used is None:",
    ),
    slip(
        "permit-for-any-plan",
        _PERMIT,
        "a permit is redeemed with whatever proposal is at hand",
        "(proposal) != self.digest:",
        "(proposal) is None:",
    ),
    slip(
        "permit-never-redeemed",
        _LOOP,
        "an executor that did not redeem its permit completes the plan",
        "if not (running.permit.redeemed or running.is_refused):",
        "if running.permit.redeemed is None:",
    ),
    slip(
        "log-holds-the-report",
        _LOOP,
        "the log is given the very decision that the caller is told of",
        "self._append(detached)",
        "self._append(decision)",
    ),
    slip(
        "late-call-lost",
        _RECORDER,
        "a call that is reported after the execution is accepted and lost",
        "            self._open = False",
        "            self._open = True",
    ),
    slip(
        "call-shared-with-executor",
        _RECORDER,
        "what an executor changes in a call that it reported is changed on record",
        "copied = detached_copy(call)",
        "copied = call",
    ),
    slip(
        "time-out-subclass-failed",
        _FAILURES,
        "a time-out is recognised by the name of its own class alone",
        "for base in _read_bases(type(error))]",
        "for base in _read_bases(type(error))[:1]]",
    ),
    slip(
        "exception-taken-for-proof",
        _FAILURES,
        "a tool with effects that raised is taken not to have had any",
        'return "failed" if has_no_effect or isinstance(error, ToolNotRun) else "unknown"',
        'return "failed" if error is not has_no_effect else "unknown"',
    ),
    slip(
        "output-of-another-tool",
        _EXECUTORS,
        "a tool gives an output that the manifest lets another tool produce",
        "if tool.produces is None or name in tool.produces:",
        "if tool.produces is None or name:",
    ),
    slip(
        "bound-argument-overridden",
        _EXECUTORS,
        "a plan sets an argument that the integrator bound",
        "if taken := sorted(_bound_names(function) & args.keys()):",
        "if taken := sorted(set() & args.keys()):",
    ),
    slip(
        "large-number-rounded",
        _RESULTS,
        "a float that JSON readers round is recorded as a number",
        "return str(int(number)) if rounded_by_readers else number",
        "return number if rounded_by_readers else number + 0",
    ),
    slip(
        "input-not-rehashed",
        "harness/replay/log_page.py",
        "an input is believed to be what its name says",
        "if whole.data is None or sha256(whole.data) != digest:",
        "if whole.data is None:",
    ),
    slip(
        "other-report-is-same",
        _RECHECK,
        "a report that does not follow from its inputs is the same",
        "    if not problems.drift:\n        paths",
        "    if problems.drift:\n        paths",
    ),
    slip(
        "refused-run-rescored",
        _RECHECK,
        "the run of a refused plan is scored when it is replayed",
        "if record.run is not None and verdict.ok and not _is_unscored(record):",
        "if record.run is not None and not _is_unscored(record):",
    ),
    slip(
        "decision-key-believed",
        _RECHECK,
        "a decision_key that is not the spec's is the same",
        "if record.report.decision_key != proposal.spec.id:",
        "if not record.report.decision_key:",
    ),
    slip(
        "attempts-not-judged",
        _RECHECK,
        "the verdict on the last attempt is not derived again",
        '{**given, "plan": plan})) for plan in plans]',
        '{**given, "plan": plan})) for plan in plans[:1]]',
    ),
    slip(
        "follower-blamed",
        _INTEGRITY,
        "the sound follower of a bad record is blamed",
        'claims = (self.raw.hash, self.value.get("hash"), self.own_hash)',
        "claims = (self.own_hash,)",
    ),
    slip(
        "link-not-checked",
        _INTEGRITY,
        "a record may follow any other",
        "if isinstance(claimed, str) and claimed in before.hashes:",
        "if isinstance(claimed, str):",
    ),
    slip(
        "claimed-hash-believed",
        _INTEGRITY,
        "the hash that a record claims is not compared with what it has",
        'if document.value.get("hash") != document.own_hash:',
        'if not document.value.get("hash"):',
    ),
    slip(
        "run-of-another-proposal",
        _RECORD,
        "a run of another proposal is recorded under this one",
        "not _is_same(self.run.proposal, self.proposal):",
        "not _is_same(self.run.proposal, self.run.proposal):",
        hole="foreign_run",
    ),
    slip(
        "changed-run-recorded",
        _RECORD,
        "a run changed in place after the decision is recorded as changed",
        '            self.__dict__["snapshot"] = self._draft_record(held_of(info))\n',
        "            pass\n",
    ),
    slip(
        "early-run-unscored",
        _RECORD,
        "a run that ended early is recorded without a score",
        "self.report.verify.ok and self.report.score is None:",
        "self.report.verify.ok and not (self.report.score or self.error):",
    ),
    slip(
        "folder-not-synced",
        "harness/log/sqlite/sqlite_store.py",
        "a loss of power may undo an acknowledged record",
        '"PRAGMA synchronous = EXTRA"',
        '"PRAGMA synchronous = FULL"',
    ),
    slip(
        "schema-trusted",
        "harness/log/sqlite/sqlite_store.py",
        "functions that a file's own schema names are trusted",
        '"PRAGMA trusted_schema = OFF"',
        '"PRAGMA trusted_schema = ON"',
    ),
    slip(
        "triggers-known-by-name",
        "harness/log/sqlite/sqlite_schema.py",
        "a trigger of the expected name may do anything",
        "if stored[item] != expected[item]",
        "if item.kind != 'trigger' and stored[item] != expected[item]",
    ),
    slip(
        "not-read-back",
        "harness/log/appending.py",
        "what was appended is acknowledged without a look at what is stored",
        "if not write(connection, written):",
        "if write(connection, written) is None:",
    ),
    slip(
        "failed-commit-forgotten",
        "harness/log/appending.py",
        "a log goes on after a commit of unknown outcome without a look at what it holds",
        "            self._standing.doubt(sent)",
        "            self._standing.doubt(())",
    ),
    slip(
        "lost-record-appended-to",
        "harness/log/log_standing.py",
        "a log goes on although it lost the last record that it acknowledged",
        "        if found != self.last and not _holds(connection, [self.last]):",
        "        if found.seq < self.last.seq:",
    ),
    slip(
        "hash-without-its-link",
        _CHAIN,
        "the hash of a record leaves out the hash of the one before",
        "own_hash = sha256(join_object({**drafted.sealed, **place}))",
        'own_hash = sha256(join_object({**drafted.sealed, "seq": place["seq"]}))',
    ),
    slip(
        "messages-that-stay",
        _CLOSED,
        "the messages of findings stay in the record as it is hashed",
        '("refused_at", "run_id",',
        '("message", "refused_at", "run_id",',
    ),
    slip(
        "names-of-arguments-that-stay",
        _CLOSED,
        "the name of an argument stays in the path of a violation",
        '"args" not in inner[:-1] and all(map(_is_step_of_path, inner))',
        'all(map(_is_step_of_path, inner[: inner.index("args")] if "args" in inner else inner))',
    ),
    slip(
        "what-is-left-is-believed",
        _INTEGRITY,
        "what is left of a redacted record is not compared with its hash",
        "is_sealed = {*whole.redacted} == {*gone.values()}",
        "is_sealed = False",
    ),
    slip(
        "last-of-equals-proposed",
        _PLAN_TYPES,
        "of equally bad refused plans the last is proposed",
        "(attempt.judgement.rank, -attempt.round, attempt)",
        "(attempt.judgement.rank, attempt.round, attempt)",
    ),
    slip(
        "verdict-handed-out",
        _PLAN_CALLS,
        "an advisor is handed the very verdict that decides",
        "detached_copy(plan), detached_copy(verdict)",
        "detached_copy(plan), verdict",
    ),
    slip(
        "echo-in-pieces",
        _ECHO,
        "a critic that puts an approval together from pieces of the output approves",
        "return no_issues_shown and critique.score in scores and summary_shown",
        "return False",
    ),
    slip(
        "journal-line-edited",
        _JOURNAL,
        "a reply that was edited in the journal is replayed",
        "if entry.chain != chain_digest(entry, self._head):",
        "if not entry.chain:",
    ),
    slip(
        "money-rounded-down",
        _PYDANTIC_AI,
        "a fraction of a micro that was spent is not counted",
        "to_integral_value(ROUND_CEILING)",
        'to_integral_value("ROUND_FLOOR")',
    ),
    slip(
        "tokens-never-lowered",
        _AUTHORITY,
        "the law of budgets never looks at tokens",
        '(("max_steps", "steps"), ("bucket_tokens", "tokens"))',
        '(("max_steps", "steps"),)',
    ),
    slip(
        "deaf-child-lives",
        _PROCESS,
        "a process that ignores SIGTERM and has closed its output is not killed",
        "        pass\n    finally:\n        _send(process.pid, signal.SIGKILL)\n",
        "        _send(process.pid, signal.SIGKILL)\n    finally:\n",
    ),
    slip(
        "link-replaced-by-file",
        _WORKSPACE,
        "a protected link that a file replaces is not a place that may mean a folder",
        "or _LINK in mode[:14]",
        "or _LINK in mode[7:14]",
    ),
    slip(
        "index-trusted",
        _WORKSPACE,
        "the size and the time of a file say whether it has changed",
        "        self._take_in()\n        if hidden",
        '        self._git.in_tree("add", "-A")\n        if hidden',
    ),
    slip(
        "check-changes-files",
        _GATE,
        "a check may change the files that the critic judges",
        "_show_paths(change.changed_by_checks)",
        "_show_paths(change.changed_by_checks[:0])",
    ),
    slip(
        "repository-replaced",
        _GUARD,
        "another repository in the place of the first one is the same",
        "return (content, *map(_inode, places))",
        "return (content, len(places))",
    ),
    slip(
        "project-lifts-protection",
        _CONFIG,
        "patterns of the project come after those of the user, and can lift them",
        '*("default", "project", "config", "user", "command line"),',
        '*("default", "user", "command line", "project", "config"),',
    ),
    slip(
        "torn-line-kept",
        _FILES,
        "a session goes on behind a torn line, which makes two lines one",
        "            self._file.truncate(self.end)\n",
        "",
    ),
    slip(
        "torn-line-not-synced",
        _FILES,
        "a torn line is cut off, and a crash may bring it back",
        "            os.fsync(self._file.fileno())\n            self.torn = 0\n",
        "            self.torn = 0\n",
    ),
    slip(
        "file-written-in-place",
        _FILES,
        "a file is written under its own name, so that a kill leaves half of it",
        '.with_name(f".critic-{secrets.token_hex(8)}")',
        "",
    ),
    slip(
        "line-not-synced",
        _FILES,
        "the loop goes on before a line of its session is on disk",
        "        os.fsync(self._file.fileno())\n        self._require_own()",
        "        self._require_own()",
    ),
    slip(
        "unreviewed-base",
        _OPENING,
        "an unfinished session's changes become the base of the next one",
        "or _is_success(top, kept) or _is_unchanged(top, kept):",
        "or not _is_success(top, kept) or _is_unchanged(top, kept):",
    ),
    slip(
        "forged-base",
        _OPENING,
        "a session is resumed with a base that is not the one on record",
        "if (kept.digest, kept.base.tree) != (start.base_digest, start.base_tree):",
        "if kept.base.tree != start.base_tree:",
    ),
)
