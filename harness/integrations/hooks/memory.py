"""The memory of the hooks of one session, in addition to the state of its guard."""

from hashlib import sha256
from typing import Annotated, Any

from evals.context import CallId, SessionId, Sha256
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.json_value import JsonObject
from harness.canonical import canonical_json
from harness.integrations.hooks.dialect import HookEvent
from harness.wire import parse

_MOST_CALLS = 1000
"""How many calls are remembered that never ended, such as those that a person refused."""


class KnownCall(Envelope):
    """A call that may run: it was allowed, or its agent was told to ask.

    `key` is the canonical JSON of the tool and its arguments, hashed. `asked` is the digest of the
    plan that the question was about. `folder` is where the call was to work, `agent` the
    sub-agent that makes it. `shown` says that the agent asks its user about it: its `tool` and
    `args` are kept as long as that lasts. `ended` says that it was given up: nothing runs any more,
    and no result came.
    """

    id: CallId
    key: Sha256
    asked: Annotated[Sha256 | None, OPTIONAL] = None
    folder: Annotated[str | None, OPTIONAL] = None
    agent: Annotated[str | None, OPTIONAL] = None
    shown: Annotated[bool | None, OPTIONAL] = None
    tool: Annotated[CallId | None, OPTIONAL] = None
    args: Annotated[JsonObject | None, OPTIONAL] = None
    ended: Annotated[bool | None, OPTIONAL] = None

    def change_fields(self, **changed: Any) -> "KnownCall":
        """Return the call with other values."""
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return KnownCall(**{**fields, **changed})


class HookMemory(Envelope):
    """The calls of a session that may run and have not ended. `made` counts ids that were made.

    `root` is the folder of the project, found when the session began: no command moves it.
    """

    dialect: Identifier
    session: SessionId
    made: Count = 0
    root: Annotated[str | None, OPTIONAL] = None
    calls: Annotated[tuple[KnownCall, ...], ARRAY] = ()

    def with_root(self, root: str) -> "HookMemory":
        """Return the memory with the folder of the project, if it has none yet."""
        return self if self.root is not None else self._change_fields(root=root)

    def name_call(self, event: HookEvent) -> tuple["HookMemory", str]:
        """Return the id of a call that is about to be made, and the memory after that."""
        if event.call is not None:
            return self, event.call
        return self._change_fields(made=self.made + 1), f"hook/{self.made + 1}"

    def to_note(self) -> str:
        """Return the memory as the note of its session."""
        return self.model_dump_json(exclude_none=True)

    def find_call(self, event: HookEvent) -> KnownCall | None:
        """Return the call that ended: the first of its id, or else of its tool and arguments."""
        key = None if event.call is not None else call_key(event)
        found = (one for one in self.calls if event.call == one.id or key == one.key)
        return next(found, None)

    def left_calls(self, event: HookEvent) -> tuple[KnownCall, ...]:
        """Return the calls that are over without a result: those of the agent that is at its end.

        The end of the session is the end of all its agents.
        """
        over = (one for one in self.calls if not one.ended)
        if event.name == "SessionEnd":
            return tuple(over)
        return tuple(one for one in over if one.agent == event.agent)

    def show_question(self, event: HookEvent) -> "HookMemory":
        """Return the memory once the user is asked about a call: the last such one not shown.

        Of those before it the user may never have been asked: they broke off.
        """
        key = call_key(event)
        asked = (one for one in self.calls[::-1] if one.asked is not None and one.key == key)
        call = next((one for one in asked if not (one.shown or one.ended)), None)
        if call is None:
            return self
        return self._put_back(call.change_fields(shown=True, tool=event.tool, args=event.args))

    def give_up(self, call: KnownCall) -> "HookMemory":
        """Return the memory with a call that is not waited for any more."""
        return self._put_back(call.change_fields(ended=True, tool=None, args=None))

    def _put_back(self, call: KnownCall) -> "HookMemory":
        calls = tuple(call if one.id == call.id else one for one in self.calls)
        return self._change_fields(calls=calls)

    def plus(self, call: KnownCall) -> "HookMemory":
        """Return the memory with one more call, in the place of an earlier one of its id."""
        others = self.minus(call.id).calls
        return self._change_fields(calls=(*others[-_MOST_CALLS + 1 :], call))

    def minus(self, call: str) -> "HookMemory":
        """Return the memory without a call."""
        return self._change_fields(calls=tuple(one for one in self.calls if one.id != call))

    def _change_fields(self, **changed: Any) -> "HookMemory":
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return HookMemory(**{**fields, **changed})


def call_key(event: HookEvent) -> str:
    """Return what tells a call from every other: its tool and its arguments."""
    return sha256(canonical_json([event.tool, event.args])).hexdigest()


def parse_memory(data: bytes) -> HookMemory:
    """Return the memory that was kept beside a session.

    Raises:
        InvalidInput: it is none.
    """
    return parse(HookMemory, data)
