"""Bugs of the service: whose session it is, whose yes counts, what a protocol leaves out."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_APP: Final = "harness/serve/app.py"
_AUTHZEN: Final = "harness/serve/authzen.py"
_DESK: Final = "harness/serve/document_judging.py"
_ENDPOINTS: Final = "harness/serve/endpoints.py"
_LIMITS: Final = "harness/serve/request_limits.py"
_LOG: Final = "harness/serve/service_log.py"
_OPA: Final = "harness/serve/opa.py"
_REGISTER: Final = "harness/serve/session_register.py"
_TOKENS: Final = "harness/serve/bearer_tokens.py"

SERVE_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "session-of-anybody-unheard-of",
        _REGISTER,
        "who has no token speaks in a session of which nobody knows who opened it",
        "return name in self._owners and _may_speak(self._owners[name], asker)",
        "return _may_speak(self._owners.get(name), asker)",
    ),
    slip(
        "session-ends-during-an-event",
        _REGISTER,
        "a session is ended while an event of it is being answered",
        "        self._since.pop(name, None)\n        try:",
        "        try:",
    ),
    slip(
        "first-of-two-events-ends-the-use",
        _REGISTER,
        "of two events at once, the first that is answered lets the session end",
        "            if not self._in_use[name]:\n                del self._in_use[name]\n",
        "            if name in self._in_use:\n                del self._in_use[name]\n",
    ),
    slip(
        "opened-again-is-told-ended",
        _REGISTER,
        "a session that was opened again is told to have ended",
        "            self._ended.pop(name, None)\n",
        "",
    ),
    slip(
        "kept-sessions-end",
        _REGISTER,
        "sessions that go on elsewhere are told to have ended",
        "for name in () if self._are_kept else found:",
        "for name in found:",
    ),
    slip(
        "owner-forgotten-of-a-new-life",
        _REGISTER,
        "a session that was opened again meanwhile loses its owner",
        "if name not in self._in_use and name not in self._since:",
        "if name not in self._in_use:",
    ),
    slip(
        "owner-kept-after-the-end",
        _REGISTER,
        "the id of a closed session stays with the token that opened it",
        "            self._owners.pop(name, None)\n\n    def overdue",
        "            pass\n\n    def overdue",
    ),
    slip(
        "opa-takes-an-agents-yes",
        _OPA,
        "an agent hands in its own approvals through the data API",
        "return own_yes_only(self._context.asker(request), rule)",
        "return rule",
    ),
    slip(
        "score-takes-an-agents-yes",
        _ENDPOINTS,
        "an agent hands in its own approvals with a run",
        "own_yes_only(asker, self._score)",
        "self._score",
    ),
    slip(
        "opa-batch-without-end",
        _OPA,
        "one request asks any number of questions",
        "            if len(inputs) > most:",
        "            if len(inputs) > most * most:",
    ),
    slip(
        "permit-on-first-permit-goes-on",
        _AUTHZEN,
        "calls after the first that is permitted are judged and recorded as well",
        "            if stop and one.decision:",
        "            if stop and not one.decision:",
    ),
    slip(
        "properties-of-the-default-entity",
        _AUTHZEN,
        "an entity of a question takes properties from that of the request around it",
        "return {**{part: outer[part] for part in required if part in outer}, **entity}",
        "return {**outer, **entity}",
    ),
    slip(
        "user-of-the-first-question",
        _AUTHZEN,
        "a plan for two users is recorded as one of them",
        'found = ids.pop() if len(ids) == 1 else ""',
        'found = ids.pop() if ids else ""',
    ),
    slip(
        "user-of-any-subject",
        _AUTHZEN,
        "a service that asks is recorded as a user",
        'one["id"] if one["type"] in ("user", "identity") else ""',
        'one["id"]',
    ),
    slip(
        "action-without-its-properties",
        _AUTHZEN,
        "a call is judged without the properties of its action",
        '            args["properties"] = action["properties"]\n',
        "            pass\n",
    ),
    slip(
        "authzen-without-scope",
        _AUTHZEN,
        "a policy's scope does not count for questions of AuthZEN",
        "scope=self._scope, ",
        "",
    ),
    slip(
        "authzen-shadow-recorded-as-refused",
        _AUTHZEN,
        "a shadow permits, and its record says that nothing ran",
        "self._desk.record(batch.proposal, verdict, shadow=self._shadow)",
        "self._desk.record(batch.proposal, verdict)",
    ),
    slip(
        "status-for-anybody",
        _ENDPOINTS,
        "another agent reads where a session stands",
        "        if not self._register.may_speak(named, asker):",
        "        if not self._register.knows(named):",
    ),
    slip(
        "approver-sees-the-calls",
        _ENDPOINTS,
        "who may only answer sees which calls run",
        "    if not asker.is_agent:\n        return asked\n",
        "",
    ),
    slip(
        "given-up-with-the-request",
        _ENDPOINTS,
        "an event whose request timed out is given up half done",
        "asyncio.shield(task)",
        "task",
    ),
    slip(
        "recalled-for-everybody",
        _ENDPOINTS,
        "a session that another process held is noted without who opened it",
        '    return "" if asker.token is None else asker.token.hex()',
        '    return ""',
    ),
    slip(
        "not-recalled-before-an-event",
        _ENDPOINTS,
        "a session that another process held does not go on here",
        "        await self._recall(sessions, event.session)\n",
        "        if isinstance(event, OpenEvent):\n"
        "            await self._recall(sessions, event.session)\n",
    ),
    slip(
        "event-of-another-session",
        _ENDPOINTS,
        "a body names another session than its path",
        "    if event.session != session:",
        "    if not event.session:",
    ),
    slip(
        "log-failure-with-status-500",
        _ENDPOINTS,
        "a log that is busy is told as a failure for good",
        "    return fault_told(message) or LogFault(",
        "    return LogFault(",
    ),
    slip(
        "metrics-without-a-token",
        _APP,
        "what a service decides is counted for everybody who can connect",
        '*("/healthz", "/readyz", "/openapi.json", AUTHZEN_METADATA),',
        '*("/healthz", "/readyz", "/openapi.json", "/metrics", AUTHZEN_METADATA),',
    ),
    slip(
        "two-hosts",
        _APP,
        "a request with a second header Host passes for one of this machine",
        "    if len(hosts) != 1:\n        return False",
        "    if not hosts:\n        return False",
    ),
    slip(
        "hooks-beside-approvers",
        _APP,
        "a hook tells what its user said where approvers have tokens of their own",
        "if settings.hooks is not None and settings.approvers is None:",
        "if settings.hooks is not None:",
    ),
    slip(
        "refused-requests-leave-a-place",
        _APP,
        "requests without a token use up the room of the others",
        "            if entered:\n                room.leave()",
        "            if entered or room.requests:\n                room.leave()",
    ),
    slip(
        "yes-to-an-opening-from-an-agent",
        _DESK,
        "an agent approves the opening of a step of its own run",
        '        _require_no_yes_to_openings(_member(value, "openings"))\n',
        "",
    ),
    slip(
        "waived-by-an-agent",
        _DESK,
        "an agent waives a question in a document",
        '("session", "approved"), ("session", "waived")',
        '("session", "approved")',
    ),
    slip(
        "partial-run-by-its-own-tools",
        _DESK,
        "a run that leaves out its spec is scored without the policy",
        'isinstance(value, dict) and _leaves_out(value.get("proposal"))',
        "_leaves_out(value)",
    ),
    slip(
        "refused-run-has-a-score",
        _DESK,
        "what ran of a refused plan is recorded with a score",
        "            score=scored if verdict.ok else None,",
        "            score=scored,",
    ),
    slip(
        "tokens-of-the-group",
        _TOKENS,
        "a file of tokens that others can read is taken",
        "stat.S_IRWXO | stat.S_IWGRP",
        "stat.S_IWOTH | stat.S_IWGRP",
    ),
    slip(
        "second-token-looked-at",
        _TOKENS,
        "of two tokens in one request the first counts",
        "if len(given) == 1 else None",
        "if given else None",
    ),
    slip(
        "approver-is-an-agent",
        _TOKENS,
        "who approves may report calls as well",
        "return Asker(approver, is_agent=False)",
        "return Asker(approver)",
    ),
    slip(
        "held-bytes-never-given-back",
        _LIMITS,
        "a service takes no more bodies after some megabytes",
        "            self._bytes -= len(data)",
        "            self._bytes -= 0",
    ),
    slip(
        "body-of-another-length",
        _LIMITS,
        "a body without a length is read without a limit",
        "            if len(data) + len(chunk) > self.limits.max_bytes:",
        "            if len(chunk) > self.limits.max_bytes:",
    ),
    slip(
        "ready-by-an-old-look",
        _LOG,
        "a service calls itself ready by what its log was once",
        "self._look.done() and self._monotonic() - self._at >= _PAUSE_S",
        "self._look.done() and self._monotonic() - self._at < 0",
    ),
    slip(
        "opened-log-tried-at-each-request",
        _LOG,
        "a log that cannot be opened is tried by every request",
        "self._next_try = self._monotonic() + _PAUSE_S",
        "self._next_try = self._monotonic()",
    ),
    slip(
        "well-again-unsaid",
        _LOG,
        "nobody is told that the log takes appends again",
        '            self._problems.clear()\n            _print_line("it takes appends again")',
        "            self._problems.clear()",
    ),
    slip(
        "yes-to-the-second-opening",
        "harness/serve/document_judging.py",
        "what a person approved of the second opening of a run is taken from an agent",
        "enumerate(openings if isinstance(openings, list) else ())",
        "enumerate(openings[:1] if isinstance(openings, list) else ())",
    ),
    slip(
        "well-after-a-look",
        "harness/serve/service_log.py",
        "a log that can be read is said to take appends again",
        "        return self._call(lambda log: log.head())\n",
        "        head = self._call(lambda log: log.head())\n"
        "        self._tell_well()\n"
        "        return head\n",
    ),
    slip(
        "one-kind-of-failure-told",
        "harness/serve/service_log.py",
        "while a log fails in one way, those who run the service do not hear of another",
        "        if kind not in self._problems:\n",
        "        if not self._problems:\n",
    ),
)
"""Most of them are about the second one: another token, session, process or question."""
