"""Bugs beside the doors of a service: who comes in, who shares its log, and when it ends."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_APP: Final = "harness/serve/app.py"
_AUTHZEN: Final = "harness/serve/authzen.py"
_DESK: Final = "harness/serve/document_judging.py"
_FAULTS: Final = "harness/serve/log_faults.py"
_LIMITS: Final = "harness/serve/request_limits.py"
_LOG: Final = "harness/serve/service_log.py"
_METRICS: Final = "harness/serve/telemetry.py"
_OPA: Final = "harness/serve/opa.py"
_RUNNING: Final = "harness/serve/running.py"
_SERVICE: Final = "harness/serve/service.py"

DOOR_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "doors-that-begin-like-open-ones",
        _APP,
        "a path that begins like an open one is answered without a token",
        'elif scope["path"] not in _OPEN_TO_ALL:',
        'elif not scope["path"].startswith(tuple(_OPEN_TO_ALL)):',
    ),
    slip(
        "stranger-takes-room",
        _APP,
        "whoever has no token takes the room of those who have one",
        "            self._check_asker(scope)\n            room.enter()\n            entered = "
        "True\n",
        "            room.enter()\n            entered = True\n            "
        "self._check_asker(scope)\n",
    ),
    slip(
        "second-answer-after-half-a-one",
        _APP,
        "an answer that broke off is followed by another one",
        "        if reply.status:  # half an answer was sent: the server closes the connection\n"
        "            raise error\n",
        "",
    ),
    slip(
        "failure-named-by-its-path",
        _APP,
        "a failure is printed with the path that somebody asked for",
        "        if fault.is_ours:\n            "
        "self._context.report_failure(self._route(scope), fault.message, fault.kind)\n",
        '        if fault.is_ours:\n            self._context.report_failure(scope["path"], '
        "fault.message, fault.kind)\n",
    ),
    slip(
        "first-of-two-request-ids",
        _APP,
        "a request with two ids is answered as the first of them",
        "if len(given) != 1 or not 0 < len(given[0]) <= _LONGEST_ID:",
        "if not given or not 0 < len(given[0]) <= _LONGEST_ID:",
    ),
    slip(
        "request-id-that-cannot-be-printed",
        _APP,
        "control characters of a request come back",
        "if shown.isascii() and shown.isprintable() else []",
        "if shown.isascii() else []",
    ),
    slip(
        "counted-by-the-last-name",
        _APP,
        "requests are counted by another name of their door",
        "for route in reversed(routes)",
        "for route in routes",
    ),
    slip(
        "alike-said-without-tokens",
        _APP,
        "a service without tokens says that every token may approve",
        "alike = settings.tokens is not None and settings.approvers is None",
        "alike = settings.approvers is None",
    ),
    slip(
        "second-input-of-a-query",
        _OPA,
        "of two inputs in one query the first is decided",
        "if len(given) != 1:",
        "if not given:",
    ),
    slip(
        "disk-waited-for-in-the-loop",
        _OPA,
        "everybody waits for the disk of one query",
        "inline = len(data) <= INLINE_BYTES and not self._context.desk.is_recorded\n        "
        "return await self._context.pool.run(\n            lambda: _decide",
        "inline = len(data) <= INLINE_BYTES\n        return await self._context.pool.run(\n     "
        "       lambda: _decide",
    ),
    slip(
        "opening-lost-in-a-document",
        _DESK,
        "a run with a refused opening is recorded without it, or not at all",
        "opening=refused_opening(run.openings) if run is not None and verdict.ok else None,",
        "opening=None,",
    ),
    slip(
        "user-of-some-calls",
        _AUTHZEN,
        "a plan for a user and a service is recorded as the user's",
        'ids = {one["id"] if one["type"] in ("user", "identity") else "" for one in subjects}',
        'ids = {one["id"] for one in subjects if one["type"] in ("user", "identity")}',
    ),
    slip(
        "why-no-call-unsaid",
        _AUTHZEN,
        "a question that is no call is denied without a reason",
        'return AuthzenDecision(decision=False, context={"error": item_error(fault)})',
        "return AuthzenDecision(decision=False, context={})",
    ),
    slip(
        "call-of-no-tool",
        _AUTHZEN,
        "tools/call on a record is judged as a call of a tool of its name",
        'if (resource["type"], action["name"]) == ("tool", "tools/call"):',
        'if action["name"] == "tools/call":',
    ),
    slip(
        "head-goes-back",
        _LOG,
        "a log that lost its end is not seen in its head",
        "        self._seen = max(self._seen, head.seq)\n",
        "        self._seen = head.seq\n",
    ),
    slip(
        "log-of-another-closed",
        _LOG,
        "a service closes a log that others still use",
        "if self._open is not None and self._log is not None:",
        "if self._log is not None:",
    ),
    slip(
        "each-who-asks-looks",
        _LOG,
        "a slow look at a log is begun again by each who asks",
        "if self._look is None or (self._look.done() and self._monotonic() - self._at >= "
        "_PAUSE_S):",
        "if self._look is None or self._monotonic() - self._at >= _PAUSE_S:",
    ),
    slip(
        "look-ends-with-who-began-it",
        _LOG,
        "whoever stops waiting ends the look of all others",
        "await asyncio.shield(self._look)",
        "await self._look",
    ),
    slip(
        "near-failure-untold",
        _FAULTS,
        "a kind of a failure is told as one that is not known",
        "kinds = (_FAULTS[kind] for kind in type(error).__mro__ if kind in _FAULTS)",
        "kinds = (_FAULTS[kind] for kind in (type(error),) if kind in _FAULTS)",
    ),
    slip(
        "come-again-in-vain",
        _FAULTS,
        "what no second try will record is said to be tried again",
        "return RETRY if self.status == 503 else {}",
        "return RETRY",
    ),
    slip(
        "log-left-open",
        _SERVICE,
        "a service leaves the log open that it opened",
        "        if isinstance(self.log, ServiceLog):\n            self.log.close()",
        "        if self.log is None:\n            self.log.close()",
    ),
    slip(
        "size-that-is-no-number",
        _LIMITS,
        "a size that is no number is taken for a small one",
        "if not declared.isdecimal() or int(declared) > self.limits.max_bytes:",
        "if declared.isdecimal() and int(declared) > self.limits.max_bytes:",
    ),
    slip(
        "coding-of-another-name",
        _LIMITS,
        "a body in a coding that is not known is read as it is",
        'if request.headers.get("content-encoding", "identity").lower() != "identity":',
        'if request.headers.get("content-encoding", "identity").lower() in ("gzip", "br"):',
    ),
    slip(
        "timeout-counted-as-failure",
        _LIMITS,
        "an answer that took too long is counted as a failure of the critic",
        'headers=RETRY, is_ours=True, kind="timeout")',
        "headers=RETRY, is_ours=True)",
    ),
    slip(
        "work-begun-after-the-end",
        _LIMITS,
        "a service that ends begins what waited",
        "self._threads.shutdown(wait=True, cancel_futures=True)",
        "self._threads.shutdown(wait=True)",
    ),
    slip(
        "refusals-of-one-kind",
        _METRICS,
        "refusals are counted without their kind",
        'self._verdicts.labels("verify", verdict.kind if not verdict.ok else "ok").inc()',
        'self._verdicts.labels("verify", "refused" if not verdict.ok else "ok").inc()',
    ),
    slip(
        "socket-of-the-group",
        _RUNNING,
        "others of the group ask a service on a socket",
        "_ONLY_OWNER: Final = 0o177",
        "_ONLY_OWNER: Final = 0o117",
    ),
    slip(
        "mask-left-narrow",
        _RUNNING,
        "each file that is made later is for its owner alone",
        "    finally:\n        os.umask(before)\n",
        "",
    ),
    slip(
        "socket-of-a-newer-service",
        _RUNNING,
        "a service removes the socket of the one after it",
        "if _identity(Path(path).lstat()) == _identity(bound):",
        "if Path(path).lstat().st_ino == bound.st_ino:",
    ),
    slip(
        "signal-unsaid",
        _RUNNING,
        "a service that a signal ended says that it ended by itself",
        "return received[0] if received else 0",
        "return 0",
    ),
    slip(
        "each-look-is-a-request",
        _RUNNING,
        "a service that had one request never ends by itself",
        "        if requests != self._requests:\n            self._requests, self._since = "
        "requests, self._monotonic()\n",
        "        if requests != self._requests:\n            self._since = self._monotonic()\n",
    ),
    slip(
        "gone-and-still-there",
        _RUNNING,
        "a service that nobody can find goes on",
        "return waited >= self._seconds or is_gone or self._is_outdated()",
        "return waited >= self._seconds or self._is_outdated()",
    ),
    slip(
        "ends-while-it-answers",
        _RUNNING,
        "a service ends by itself while it answers",
        "if self._limit is None or counter % _TICKS or self.server_state.tasks:",
        "if self._limit is None or counter % _TICKS:",
    ),
)
