"""The data API of OPA: `/v1/data/critic/...`, and `/v1/batch/data/critic/...` for many inputs.

Rule 1: an answer always has a result, and where nothing was decided it says no. A client that takes
        an undefined result for "no opinion" would let the plan run.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from critic import Refused, ScoreVerdict, Verified
from harness.serve.answering import Json, RequestRefused, error_shape, fault_of, json_answer
from harness.serve.document_judging import own_yes_only
from harness.serve.request_limits import INLINE_BYTES
from harness.serve.service import ServiceContext
from harness.wire import InvalidInput, parse_json

_Rule = Callable[[Any], Any]

DATA: Final = "/v1/data/"
BATCH: Final = "/v1/batch/data/"
_RULES: Final = ("critic/verify", "critic/verify/ok", "critic/score", "critic/score/ok")


class OpaEndpoints:
    """The verdicts, as documents of a policy."""

    def __init__(self, context: ServiceContext) -> None:
        """Judge with the desk of a service."""
        self._context: Final = context
        verify, score = self._rule_of(context.desk.verify), self._rule_of(context.desk.score)
        rules = (verify, lambda given: verify(given)["ok"], score, lambda given: score(given)["ok"])
        self._rules: Final[Mapping[str, _Rule]] = dict(zip(_RULES, rules, strict=True))

    def _rule_of(self, judge: Callable[[Any], Verified | Refused | ScoreVerdict]) -> _Rule:
        def rule(given: Any) -> Json:
            verdict = judge(given)
            self._context.metrics.count_verdict(verdict)
            return verdict.wire()

        return rule

    async def data(self, request: Request) -> Response:
        """Answer with the document at a path: for the input in the body, or in the query of GET."""
        rule = self._rule(request)
        if request.method != "POST":
            return await self._answer_query(request, rule)

        def judge(body: Any) -> Response:
            if not isinstance(body, dict) or "input" not in body:
                raise InvalidInput("/input", "required field is missing: add it")
            return _decide_rule(rule, body["input"])

        return await self._context.answer(request, judge)

    async def _answer_query(self, request: Request, rule: _Rule) -> Response:
        given = request.query_params.getlist("input")
        if len(given) != 1:
            raise RequestRefused(400, "give one input: ?input= and JSON, percent-encoded")
        data = given[0].encode()
        limit = self._context.settings.limits.max_bytes
        inline = len(data) <= INLINE_BYTES and not self._context.desk.is_recorded
        return await self._context.pool.run(
            lambda: _decide_rule(rule, parse_json(data, limit)), inline=inline
        )

    async def batch(self, request: Request) -> Response:
        """Answer with the document at a path, for each of the inputs in the body."""
        rule = self._rule(request)
        path, most = request.url.path, self._context.settings.limits.batch

        def judge(body: Any) -> Response:
            inputs = body.get("inputs") if isinstance(body, dict) else None
            if not isinstance(inputs, dict):
                raise InvalidInput("/inputs", "must be an object: each input under a name")
            if len(inputs) > most:
                raise InvalidInput("/inputs", f"over the limit of {most}: ask in several requests")
            answers = {name: self._one_of_many(rule, one, path) for name, one in inputs.items()}
            return _join_answers(answers)

        return await self._context.answer(request, judge)

    def _one_of_many(self, rule: _Rule, given: Any, path: str) -> tuple[int, Json]:
        """Return the status and the answer for one input. A failure is that of this input alone.

        Its status is 500 whoever is at fault: clients read no other beside 200.
        """
        try:
            return 200, {"decision_id": _decision_id(), "result": rule(given)}
        except Exception as error:
            fault = fault_of(error)
            if fault.is_ours:
                self._context.report_failure(BATCH, fault.message, fault.kind)
            shown = error_shape(DATA)(fault, path.removeprefix("/v1/batch"))
            return 500, {"decision_id": _decision_id(), **shown}

    def _rule(self, request: Request) -> _Rule:
        rule = self._rules.get(request.path_params["path"])
        if rule is None:
            raise RequestRefused(404, f"no such document: there are {', '.join(self._rules)}")
        return own_yes_only(self._context.asker(request), rule)


def _decide_rule(rule: _Rule, given: Any) -> Response:
    return json_answer({"decision_id": _decision_id(), "result": rule(given)})


def _decision_id() -> str:
    return str(uuid4())


def _join_answers(answers: Mapping[str, tuple[int, Json]]) -> Response:
    failed = any(status != 200 for status, _ in answers.values())
    responses = {
        name: {"http_status_code": str(status), **answer} if failed else answer
        for name, (status, answer) in answers.items()
    }
    batch = {"batch_decision_id": _decision_id(), "responses": responses}
    return json_answer(batch, 207 if failed else 200)
