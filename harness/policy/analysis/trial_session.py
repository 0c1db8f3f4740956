"""Try small sessions under a policy, and find who can choose the target of a call.

A session opens with a request, reads something, and makes a call with a value from there alone. It
is judged as a guard judges it: nothing here decides what is allowed.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from critic import EvidenceItem, Refused, Verified
from critic.session import Action, Call, CallResult, Session, verify_batch
from evals.json_schemas import compile_schema
from evals.pointers import segments
from harness.canonical import canonical_json, digest
from harness.policy.analysis.backing import backed_steps, scalars_of
from harness.policy.analysis.policy_facts import PolicyFacts, ToolFacts
from harness.policy.analysis.samples import NAMED_VALUES, OUTSIDERS_VALUES, put_value, samples
from harness.policy.envelopes import Policy
from harness.policy.policy_rules import rules_of
from harness.wire import InvalidInput, build

Json = dict[str, Any]

_SESSION: Final = "trial"
_NOW: Final = datetime(2000, 1, 1, tzinfo=UTC)
_MOST_ARGS: Final = 24


class TrialCall(NamedTuple):
    """A call of a session, and its result if it runs."""

    tool: ToolFacts
    args: Json
    output: Any = "done"


class Choice(NamedTuple):
    """A call with one value that was read, in one argument; the user asked for all others.

    Attributes:
        before: the calls before it: those that back it, then the one that returns the value.
        spoken: the values in the request.
        outside: evidence from outside, as JSON.
    """

    sink: ToolFacts
    name: str
    value: Any
    args: Json
    before: tuple[TrialCall, ...]
    spoken: tuple[Any, ...]
    outside: tuple[Json, ...] = ()

    @property
    def calls(self) -> tuple[TrialCall, ...]:
        """All calls, in order."""
        return *self.before, TrialCall(self.sink, self.args)

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """The tools that are called."""
        return {one.tool.tool.pair for one in self.calls}


class TrialRuling(NamedTuple):
    """The ruling on the last judged call, with its reasons."""

    action: Action
    is_last: bool
    reasons: tuple[str, ...]


def judge_choice(policy: Policy, choice: Choice) -> Action | None:
    """Return the ruling on the last call; None if an earlier one may not run."""
    judged = play_choice(policy, choice)
    return judged.action if judged.is_last else None


def play_choice(policy: Policy, choice: Choice, *, approver: str | None = None) -> TrialRuling:
    """Play a session until a call may not run, with a yes to each question.

    A session that cannot be played, such as with an invalid sample, is refused.
    """
    try:
        return _play(policy, choice, approver)
    except (InvalidInput, ValueError) as error:
        return TrialRuling("refuse", False, (str(error),))


def choice_events(policy: Policy, choice: Choice) -> tuple[Json, ...]:
    """Return a session as the events that `critic guard` reads, up to its last call."""
    opened = _open_event(_with_tools(policy, choice.pairs), choice)
    events = [opened]
    for index, one in enumerate(choice.calls):
        call = {"id": f"c{index}", "tool": one.tool.tool.called, "args": one.args}
        ended = {"event": "result", "id": f"c{index}", "status": "completed", "output": one.output}
        events += [{"event": "calls", "calls": [call]}, ended]
    return tuple({**event, "session": _SESSION} for event in events[:-1])


def _open_event(small: Policy, choice: Choice) -> Json:
    names = [tool.called for tool in small.tool]
    words = " and ".join(name.replace("_", " ") for name in names)
    request = f"Please {words}: {', '.join(map(_quote, choice.spoken))}."
    return {"event": "open", "request": request, "scope": names}


def _play(policy: Policy, choice: Choice, approver: str | None) -> TrialRuling:
    small = _with_tools(policy, choice.pairs)
    if choice.outside:
        held = tuple(build(EvidenceItem, item) for item in choice.outside)
        small = small.model_copy(update={"evidence": (*small.evidence, *held)})
    opened = _open_event(small, choice)
    session = Session.opened(rules_of(small), _SESSION, opened["request"], scope=opened["scope"])
    for index, one in enumerate(choice.calls):
        session, verdict = _play_call(session, f"c{index}", one, approver)
        is_last = index == len(choice.calls) - 1
        if is_last or not verdict.ok:
            break
    action: Action = "allow" if verdict.ok else "ask" if verdict.approvable else "refuse"
    return TrialRuling(action, is_last, () if verdict.ok else tuple(verdict.reasons))


def _play_call(
    session: Session, name: str, one: TrialCall, approver: str | None
) -> tuple[Session, Verified | Refused]:
    """Return the session after a call, with its result if it may run, and the ruling."""
    batch = session.propose([Call(name, one.tool.tool.called, one.args)], _NOW)
    verdict = verify_batch(batch)
    if not verdict.ok and verdict.approvable and approver is not None:
        session, batch = session.approved(batch, approver)
        verdict = verify_batch(batch)
    action: Action = "allow" if verdict.ok else "refuse"
    session = session.decided(batch, action, verdict, digest(batch.plan))
    if verdict.ok:
        done = CallResult(status="completed", output=one.output)
        session = session.ran(name, done, _NOW).session
    return session, verdict


def _with_tools(policy: Policy, pairs: set[tuple[str, str]]) -> Policy:
    """Return the policy with these tools only: others do not matter for the rulings."""
    tools = tuple(tool for tool in policy.tool if tool.pair in pairs)
    guard = policy.guard.model_copy(update={"scope": None})  # it may name others; sessions say one
    return policy.model_copy(update={"tool": tools, "guard": guard})


def _quote(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else canonical_json(value).decode()


# --- the calls of a session ---------------------------------------------------------------------


def choices_of(
    facts: PolicyFacts, source: ToolFacts, sink: ToolFacts, name: str
) -> Iterator[Choice]:
    """Yield sessions in which a result of the source chooses one argument of a call of the sink."""
    read = _read_args(source)
    if read is None:
        return
    for args, value in _chosen_args(sink, name):
        backing = _find_backing(facts, _needed_items(sink, args), sink, value=value)
        others = {key: one for key, one in args.items() if key != name}
        spoken = [*scalars_of(others), *scalars_of(read)]
        if backing is None or value in spoken:
            continue
        spoken += [one for play in backing for one in scalars_of(play.args) if one != value]
        for output in _outputs_holding(facts, source, value):
            before = (TrialCall(source, read, output), *backing)
            yield Choice(sink, name, value, args, before, tuple(spoken))


def asked_choices(facts: PolicyFacts, sink: ToolFacts) -> Iterator[Choice]:
    """Yield sessions in which the user asks for a call and everything that it needs.

    Evidence that no tool yields and the policy does not hold is made up, as from outside.
    """
    for args in _sample_args(sink):
        needed = _needed_items(sink, args)
        outside = [
            item
            for item in needed
            if item["classification"] not in facts.yielding
            and item["classification"] not in facts.held
        ]
        backing = _find_backing(facts, [item for item in needed if item not in outside], sink)
        if backing is not None:
            spoken = [*scalars_of(args)]
            spoken += [one for play in backing for one in scalars_of(play.args)]
            yield Choice(sink, "", None, args, tuple(backing), tuple(spoken), tuple(outside))


def _needed_items(sink: ToolFacts, args: Json) -> list[Json]:
    """Return the evidence that a call needs."""
    found = next(iter(backed_steps(sink.tool, [args], None)), None)
    return list(found[1]) if found else []


def backing_choices(facts: PolicyFacts, source: ToolFacts, sink: ToolFacts) -> Iterator[Choice]:
    """Yield sessions in which the source returns what the sink needs as evidence."""
    for args in _sample_args(sink)[:_MOST_ARGS]:
        backing = _find_backing(facts, _needed_items(sink, args), sink, preferred=source)
        if backing is None or not any(play.tool is source for play in backing):
            continue
        spoken = [*scalars_of(args)]
        spoken += [one for play in backing for one in scalars_of(play.args)]
        yield Choice(sink, "", None, args, tuple(backing), tuple(spoken))
        return


def _outputs_holding(facts: PolicyFacts, source: ToolFacts, value: Any) -> Iterator[Any]:
    """Yield results that hold a value: as text, and in each field of a record."""
    result = source.tool.result
    text = value if isinstance(value, str) else canonical_json(value).decode()
    if result is None or result.format != "json":
        yield f"Take {text} for it."
        return
    table = facts.classes.get(source.tool.yields or "")
    fields = [*((table.fields if table else None) or {}), *(facts.policy.record_fields or ())]
    schema = table.schema_ if table and table.schema_ is not None else True
    records = [one for one in samples(schema) if isinstance(one, dict)][-1:] or [{}]
    for field in fields:
        place = segments(field) if field[:1] == "/" else (field,)
        yield put_value(records[0], place, value)
    yield {**records[0], "text": text}


def _read_args(source: ToolFacts) -> Json | None:
    found = _sample_args(source)
    return found[0] if found else None


def _sample_args(tool: ToolFacts) -> list[Json]:
    """Return arguments that a tool accepts, the most complete ones first."""
    schema = tool.shapes.schema
    named = [dict.fromkeys(names, NAMED_VALUES["text"]) for names in (tool.arguments, tool.roles)]
    found = [one for one in (*samples(schema), *named, {}) if isinstance(one, dict)]
    fits = compile_schema(schema).is_valid
    honest = (_with_honest_values(tool, one, fits) for one in found)
    return sorted(filter(fits, honest), key=len, reverse=True)[:_MOST_ARGS]


def _with_honest_values(tool: ToolFacts, args: Json, fits: Callable[[Any], bool]) -> Json:
    """Return arguments with texts that a request can clearly name, if the schema allows them."""
    for name in [name for name, value in args.items() if isinstance(value, str)]:
        values = ({**args, name: text} for text in _of_kind(tool, name, NAMED_VALUES))
        args = next(filter(fits, values), args)
    return args


def _of_kind(tool: ToolFacts, name: str, values: Mapping[str, str]) -> list[str]:
    """Return values for an argument, those of its kind first."""
    kind = (tool.tool.arg_kinds or {}).get(name)
    if kind is None:
        kind = "address" if tool.roles.get(name) == "recipient" else "text"
    first = values.get(kind, values["text"])
    return [first, *(one for one in values.values() if one != first)]


def _chosen_args(sink: ToolFacts, name: str) -> Iterator[tuple[Json, Any]]:
    """Yield arguments of a call, one of them with a value that nobody asked for."""
    fits = compile_schema(sink.shapes.schema).is_valid
    known = _sample_args(sink)
    shown: str | None = None
    values: list[Any] = [
        *_of_kind(sink, name, OUTSIDERS_VALUES),
        *(one[name] for one in known if name in one),
    ]
    if sink.roles.get(name) == "content":
        values, shown = [f"See {OUTSIDERS_VALUES['url']}"], OUTSIDERS_VALUES["url"]
    for args in known[:2]:
        for value in values:
            form = next((one for one in (value, [value]) if fits({**args, name: one})), None)
            if form is not None and not isinstance(value, dict | list | bool):
                yield {**args, name: form}, shown or value


def _find_backing(
    facts: PolicyFacts,
    items: list[Json],
    sink: ToolFacts,
    *,
    preferred: ToolFacts | None = None,
    value: Any = None,
) -> list[TrialCall] | None:
    """Return the calls whose results are the evidence for a call; None if nothing yields it.

    Args:
        preferred: the tool to use where it yields the evidence.
        value: the value to look up, if a call accepts it: whoever chose it chose the lookup too.
    """
    plays: list[TrialCall] = []
    for item in items:
        yielding = facts.yielding.get(item["classification"], [])
        source = preferred if preferred in yielding else next(iter(yielding), None)
        read = None if source is None or source is sink else _read_args(source)
        if source is None or read is None:
            if item["classification"] not in facts.held:
                return None
            continue
        output = _like_example(facts, item["classification"], item["content"])
        plays.append(TrialCall(source, _looking_up(source, read, value), output))
    return plays


def _like_example(facts: PolicyFacts, name: str, content: Any) -> Any:
    """Return the content with the further members of the example of its class."""
    table = facts.classes.get(name)
    example = table.example if table is not None else None
    if isinstance(example, dict) and isinstance(content, dict):
        return {**example, **content}
    return content


def _looking_up(source: ToolFacts, args: Json, value: Any) -> Json:
    fits = compile_schema(source.shapes.schema).is_valid
    for name, role in source.roles.items():
        if role == "locator" and name in args and fits({**args, name: value}):
            args = {**args, name: value}
    return args
