"""Bugs that let in again what somebody who has read the rules would try beside provenance."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_DOCUMENTS: Final = "harness/policy/partial_documents.py"

ATTACK_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "document-raises-the-mode",
        _DOCUMENTS,
        "a document that leaves the tools to a policy runs above the policy's own safety mode",
        "MODE_RANK.get(mode, 0) > MODE_RANK[most]",
        "MODE_RANK.get(mode, 0) < MODE_RANK[most]",
    ),
    slip(
        "document-drops-a-limit",
        _DOCUMENTS,
        "a document with a budget of its own is free of the limits that it does not name",
        "return {**known, **given}",
        "return given",
    ),
    slip(
        "id-comes-back",
        "harness/guard/course.py",
        "a call takes the id of one that runs, whose result then counts as its own",
        "if self.session.is_awaited(call.id):",
        "if call.id in ():",
    ),
    slip(
        "time-goes-back",
        "harness/guard/session_time.py",
        "an event with an earlier time makes stale evidence fresh again",
        "if self.latest is not None and as_of < self.latest:",
        "if self.told is not None and as_of < self.told:",
    ),
    slip(
        "time-stands-still",
        "harness/guard/session_time.py",
        "the time that an event told stands, however long ago it was",
        "moment = self.told + max(0, (now - self.read) // _SECOND) * _SECOND",
        "moment = self.told",
    ),
    slip(
        "question-outlives-its-evidence",
        "harness/guard/course.py",
        "a yes counts when what the person was asked on has expired",
        "if event.yes and not is_unexpired(question.expires_at, as_of):",
        "if not event.yes and not is_unexpired(question.expires_at, as_of):",
    ),
    slip(
        "unknown-tool-halts",
        "harness/guard/course.py",
        "a batch of an unknown tool ends a session that halts at a refusal",
        "return self.lapse_question()._replace(answer=ruling)",
        "return Answered(replace(self, has_halted=bool(unknown)), ruling)",
    ),
    slip(
        "question-without-its-arguments",
        "harness/guard/ruling_words.py",
        "a person is asked about a call, and not told all that it would do",
        "args=detach_json(dict(call.args)),",
        "args={},",
    ),
    slip(
        "hidden-end-approved",
        "harness/integrations/mcp/mcp_filter.py",
        "a person approves a call whose arguments are too long to be read",
        "if not is_shown_whole(question):",
        "if not is_shown_whole(question) and not message.is_modern:",
    ),
    slip(
        "cut-answer-dropped",
        "harness/integrations/mcp/mcp_filter.py",
        "an answer that was cut leaves its client waiting",
        "if key is None and len(data) > MAX_DOCUMENT_BYTES:",
        "if key is None and len(data) < MAX_DOCUMENT_BYTES:",
    ),
    slip(
        "running-call-given-up",
        "harness/guard/permits.py",
        "a call that is being made counts as one that was not",
        "return self._used.acquire(blocking=False) or self._missed",
        "return self._used.acquire(blocking=False) or not self._missed",
    ),
    slip(
        "paused-tool-goes-on",
        "harness/integrations/langchain/langchain_gate.py",
        "a tool that paused acts once more under the permit of its first start",
        "if is_same and self.session.waits_for_agent(call.id):",
        "if is_same:",
    ),
    slip(
        "errors-of-each-value-alone",
        "evals/json_schemas.py",
        "what the errors of one value quote is bounded, and a document has a thousand values",
        "        self.explained -= cost\n",
        "",
    ),
    slip(
        "questions-of-each-value-alone",
        "evals/json_schemas.py",
        "what is asked of one value is bounded, and a document has a thousand values",
        "            self.questions -= asked\n",
        "",
    ),
    slip(
        "generated-column",
        "harness/log/sqlite/sqlite_schema.py",
        "a file of a few kilobytes computes gigabytes where it should hold records",
        "if (table, name) in ours and (hidden or is_virtual):",
        "if (table, name) in ours and is_virtual:",
    ),
    slip(
        "public-text-backs-a-target",
        "harness/policy/analysis/origin_lint.py",
        "a policy that lets anybody say who is paid is not linted",
        'yield placed.report_finding("evidence_from_untrusted", path, message)',
        "yield from ()",
    ),
    slip(
        "web-of-a-system",
        "harness/policy/analysis/label_lint.py",
        "a policy that believes web pages as a system of record is not linted",
        'if web and one.author != "public":',
        'if web and one.author == "public":',
    ),
    slip(
        "echo-not-linted",
        "harness/policy/analysis/label_lint.py",
        "a policy that believes what one of its own tools may write is not linted",
        "if text and one.rank != _NETWORK:",
        "if text and one.rank == _NETWORK:",
    ),
)
