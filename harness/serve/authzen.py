"""AuthZEN 1.0: read what it asks, as calls of tools that the policy knows, and judge them.

Rule 1: a request is read as the standard has it, and not as an envelope: unknown fields are left
        alone. Duplicate names are refused all the same.
Rule 2: `tools/call` on a resource of type `tool` is a call of that tool with the arguments in its
        properties. Every other action is a call of the tool that is named as the action is, whose
        arguments are the subject, the resource, and the properties of the action.
Rule 3: each call is judged alone, at the time of the request. Those of one request that stops at
        the first denial are one plan: none is permitted unless all are.
Rule 4: a subject of type `user` or `identity` is whom the record is for, if all its calls have
        the same one.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import Response

from critic import Refused, Verified
from critic.replies.wording import word_refusal
from critic.session import Call, Session, verify_batch
from evals.envelope import is_identifier
from harness.canonical import digest
from harness.guard import RequestedCall
from harness.policy import Policy
from harness.policy.policy_rules import catalogue_of, rules_of
from harness.runtime.ports import Clock
from harness.serve.answering import Json, RequestFault, RequestRefused, item_error, json_answer
from harness.serve.document_judging import VerdictDesk
from harness.serve.service import ServiceContext
from harness.wire import InvalidInput, build

_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "subject": ("type", "id"),
    "action": ("name",),
    "resource": ("type", "id"),
}
_SEMANTICS: Final = ("execute_all", "deny_on_first_deny", "permit_on_first_permit")


class AuthzenDecision(NamedTuple):
    """A decision, and what the answer says beside it."""

    decision: bool
    context: Json

    def wire(self) -> Json:
        """Return it as an answer."""
        return {"decision": self.decision, "context": self.context}


class _AuthzenDesk:
    """Judges requests by a policy. Thread-safe."""

    def __init__(self, policy: Policy, desk: VerdictDesk, clock: Clock) -> None:
        """Record where a desk does."""
        self._rules: Final = rules_of(policy)
        self._catalogue: Final = catalogue_of(policy)
        self._scope: Final = policy.scope
        self._shadow: Final = policy.guard.shadow
        self._desk: Final = desk
        self._clock: Final = clock

    def evaluation(self, value: Any) -> Json:
        """Answer an access evaluation request. What cannot be a call of a tool is a no.

        Raises:
            InvalidInput: it is not one.
        """
        asked = _evaluation(value)
        try:
            call = _call_of(asked, 0)
        except InvalidInput as error:
            return _invalid_decision(error).wire()
        return self._judge([call], _user_of([asked])).wire()

    def evaluations(self, value: Any, most: int) -> Json:
        """Answer an access evaluations request: one that asks nothing more is a single one.

        Raises:
            InvalidInput: it is not one, or asks more than `most` questions.
        """
        asked, semantic = _read_many(value, most)
        if not asked:
            return self.evaluation(value)
        if semantic == "deny_on_first_deny":
            judged = self._as_a_plan(value, asked)
        else:
            judged = self._one_by_one(value, asked, stop=semantic == "permit_on_first_permit")
        return {"evaluations": [one.wire() for one in judged]}

    def _one_by_one(self, defaults: Json, asked: list[Any], *, stop: bool) -> list[AuthzenDecision]:
        judged: list[AuthzenDecision] = []
        for at, item in enumerate(asked):
            try:
                question = _merge_item(defaults, item, at)
                one = self._judge([_call_of(question, 0)], _user_of([question]))
            except InvalidInput as error:
                one = _invalid_decision(error)
            judged.append(one)
            if stop and one.decision:
                break
        return judged

    def _as_a_plan(self, defaults: Json, asked: list[Any]) -> list[AuthzenDecision]:
        try:
            questions = [_merge_item(defaults, item, at) for at, item in enumerate(asked)]
            calls = [_call_of(one, at) for at, one in enumerate(questions)]
        except InvalidInput as error:
            return [_invalid_decision(error)]
        plan = self._judge(calls, _user_of(questions))
        return [plan] * len(calls) if plan.decision else [plan]

    def _judge(self, calls: Sequence[Call], user: str | None) -> AuthzenDecision:
        name = f"authzen-{uuid4().hex}"
        session = Session.opened(self._rules, name, "", scope=self._scope, user_id=user)
        batch = session.propose(calls, self._clock.now())
        verdict = verify_batch(batch)
        self._desk.record(batch.proposal, verdict, shadow=self._shadow)
        plan_digest = digest(batch.plan)
        told = word_refusal(batch.proposal, verdict, self._catalogue)
        context = {"critic": told.wire(), "plan_digest": plan_digest}
        if isinstance(verdict, Verified):
            return AuthzenDecision(decision=True, context=context)
        return AuthzenDecision(self._shadow, {**_why_refused(verdict, plan_digest), **context})


def _why_refused(verdict: Refused, plan_digest: str) -> Json:
    if verdict.approvable:
        return {"reason": "approval_required", "evaluation_id": plan_digest}
    return {"reason": verdict.kind}


def _invalid_decision(error: InvalidInput) -> AuthzenDecision:
    fault = RequestFault(400, error.message, error.path)
    return AuthzenDecision(decision=False, context={"error": item_error(fault)})


def _read_many(value: Any, most: int) -> tuple[list[Any], str]:
    """Return the questions of a request, and when to stop."""
    request = _require_object(value, "")
    asked, options = (
        request.get("evaluations", []),
        _require_object(request.get("options", {}), "/options"),
    )
    if not isinstance(asked, list):
        raise InvalidInput("/evaluations", "must be an array")
    if len(asked) > most:
        raise InvalidInput("/evaluations", f"over the limit of {most}: ask in several requests")
    semantic = options.get("evaluations_semantic", _SEMANTICS[0])
    if semantic not in _SEMANTICS:
        listed = ", ".join(_SEMANTICS)
        raise InvalidInput("/options/evaluations_semantic", f"must be one of {listed}")
    return asked, semantic


def _merge_item(defaults: Json, item: Any, at: int) -> Json:
    """Return one question of many, with what it leaves out taken from the request around it."""
    place = f"/evaluations/{at}"
    own = _require_object(item, place)
    merged = {name: _merge_defaults(name, own, defaults) for name in (*_REQUIRED, "context")}
    return _evaluation({name: one for name, one in merged.items() if one is not None}, place)


def _merge_defaults(name: str, own: Json, defaults: Json) -> Any:
    if name not in own:
        return defaults.get(name)
    entity, outer = own[name], defaults.get(name)
    if not isinstance(entity, dict) or not isinstance(outer, dict):
        return entity
    # An entity takes the place of the other as a whole, but for what it cannot be without.
    required = _REQUIRED.get(name, ())
    return {**{part: outer[part] for part in required if part in outer}, **entity}


def _evaluation(value: Any, place: str = "") -> Json:
    """Return the entities of a question: their required parts, and their properties.

    Raises:
        InvalidInput: one is missing, or has another type.
    """
    request = _require_object(value, place)
    entities = {name: _entity(request.get(name), name, f"{place}/{name}") for name in _REQUIRED}
    _require_object(request.get("context", {}), f"{place}/context")
    return entities


def _entity(value: Any, name: str, place: str) -> Json:
    if value is None:
        raise InvalidInput(place, "required field is missing: add it")
    given = _require_object(value, place)
    for part in _REQUIRED[name]:
        if part not in given:
            raise InvalidInput(f"{place}/{part}", "required field is missing: add it")
        if not isinstance(given[part], str):
            raise InvalidInput(f"{place}/{part}", "must be a string")
    if "properties" in given:
        _require_object(given["properties"], f"{place}/properties")
    kept = (*_REQUIRED[name], "properties")
    return {part: given[part] for part in kept if part in given}


def _require_object(value: Any, place: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidInput(place, "must be an object")
    return value


def _user_of(asked: Sequence[Json]) -> str | None:
    """Return the user that all questions are of: rule 4. Another subject, or name, is none."""
    subjects = [one["subject"] for one in asked]
    ids = {one["id"] if one["type"] in ("user", "identity") else "" for one in subjects}
    found = ids.pop() if len(ids) == 1 else ""
    return found if is_identifier(found) else None


def _call_of(asked: Json, at: int) -> Call:
    """Return what is asked as a call: rule 2.

    Raises:
        InvalidInput: the tool is not named by an identifier, or its arguments are not JSON of ours.
    """
    subject, action, resource = (asked[name] for name in _REQUIRED)
    if (resource["type"], action["name"]) == ("tool", "tools/call"):
        tool, args = resource["id"], resource.get("properties", {}).get("arguments", {})
    else:
        tool, args = action["name"], {"subject": subject, "resource": resource}
        if "properties" in action:
            args["properties"] = action["properties"]
    if not is_identifier(tool):
        raise InvalidInput("", "this cannot be a call of a tool: its name is not an identifier")
    try:
        made = build(RequestedCall, {"id": str(at), "tool": tool, "args": args})
    except InvalidInput as error:
        raise InvalidInput("", f"this cannot be a call of a tool: {error}") from None
    return Call(made.id, made.tool, made.args)


EVALUATION: Final = "/access/v1/evaluation"
EVALUATIONS: Final = "/access/v1/evaluations"
AUTHZEN_METADATA: Final = "/.well-known/authzen-configuration"

_HOST: Final = re.compile(r"[A-Za-z0-9._\-:\[\]]{1,255}")


class AuthzenEndpoints:
    """A policy decision point, as the standard has it. Search is not offered."""

    def __init__(self, context: ServiceContext) -> None:
        """Answer by the policy of a service, if it has one."""
        self._context: Final = context
        settings = context.settings
        self._desk: Final = (
            None
            if settings.policy is None
            else _AuthzenDesk(settings.policy, context.desk, settings.clock)
        )

    async def evaluation(self, request: Request) -> Response:
        """Answer one question."""
        return await self._answer_request(request, lambda desk, value: desk.evaluation(value))

    async def evaluations(self, request: Request) -> Response:
        """Answer many."""
        most = self._context.settings.limits.batch
        return await self._answer_request(
            request, lambda desk, value: desk.evaluations(value, most)
        )

    async def _answer_request(
        self, request: Request, ask: Callable[[_AuthzenDesk, Any], Json]
    ) -> Response:
        desk = self._desk
        if desk is None:
            message = "nothing is permitted without a policy: start the service with --policy"
            raise RequestRefused(404, message)
        return await self._context.answer(request, lambda value: json_answer(ask(desk, value)))

    async def metadata(self, request: Request) -> Response:
        """Say where the endpoints are, seen from where this was asked."""
        base = self._context.settings.public_url or _asked_under(request)
        return json_answer(
            {
                "policy_decision_point": base,
                "access_evaluation_endpoint": f"{base}{EVALUATION}",
                "access_evaluations_endpoint": f"{base}{EVALUATIONS}",
            }
        )


def _asked_under(request: Request) -> str:
    host = request.headers.get("host", "")
    if not _HOST.fullmatch(host):
        raise RequestRefused(400, "the header Host does not name a host")
    return f"{request.scope['scheme']}://{host}"
