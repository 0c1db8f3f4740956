"""The laws of two sessions that one agent holds, and of the ids of calls. Each docstring is one."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any, Final

from harness.integrations.seam.guarded import AskedCall
from harness.policy import Policy
from harness.testing._seams.scene import policy_of_scene
from harness.testing._seams.stage import (
    ALL_RAN,
    LOOKUP,
    NO,
    REFUND,
    WHOLE_BATCH,
    YES,
    Part,
    Stage,
)

_ORDERS: Final = ((True,), (True, False), (False, False, True))
"""At which pauses the other session goes on: at each, at every second one, at every third."""

_SESSIONS: Final = (("s1", "S1"), ("s/1", "s/10"))
_DEAR: Final = (LOOKUP, REFUND._replace(args={"order_id": "1", "cents": 99_999}))
_OTHER: Final = (LOOKUP, REFUND._replace(args={"order_id": "2", "cents": 7}))


def _rename_calls(calls: tuple[AskedCall, ...], names: Mapping[str, str]) -> tuple[AskedCall, ...]:
    return tuple(call._replace(id=names.get(call.id, call.id)) for call in calls)


_LATER: Final = {"c1": "d1", "c2": "d2"}
_TWICE: Final = Part((WHOLE_BATCH, _rename_calls(WHOLE_BATCH, _LATER)))
_SWAPPED: Final = Part((_rename_calls(_OTHER, {"c1": "c2", "c2": "c1"}),))
_ONCE: Final = Part((WHOLE_BATCH,))
_REFUSED: Final = Part((_DEAR,))
_YES, _NO = (YES,), (NO,)
_UNASKED: Final = (
    (_ONCE, _REFUSED),
    (_REFUSED, _ONCE),
    (_ONCE, _SWAPPED),
    (_TWICE, _TWICE),
    (Part(((LOOKUP,),), failing=True), _ONCE),
)
_ASKED: Final = (
    (_ONCE._replace(replies=_YES), _ONCE._replace(replies=_NO)),
    (_ONCE._replace(replies=_NO), Part((_OTHER,), _YES)),
    (_ONCE, _ONCE._replace(replies=_YES)),
    (_TWICE._replace(replies=_NO), _TWICE._replace(replies=_YES)),
)
_SUB_AGENTS: Final = ((_ONCE, _REFUSED), (Part((_OTHER,)), _ONCE))
_NAMES: Final = (
    {"c1": "c2", "c2": "c1", "d1": "c1-1", "d2": "C1"},
    {"c1": "c/1", "c2": "C/1", "d1": "1", "d2": "c/1/1"},
)
"""Other ids of the same calls, and none of them for two."""


def two_sessions_are_answered_as_each_alone(stage: Stage) -> None:
    """Two sessions that one agent holds, and that take turns, are each answered as alone."""
    budget = {"max_steps": 4, "bucket_tokens": 1000}
    _require_apart(stage, _UNASKED, policy=policy_of_scene("destructive", budget=budget))


def an_answer_counts_in_its_session(stage: Stage) -> None:
    """What a person says in one session of an agent is said in no other."""
    _require_apart(stage, _ASKED, policy=policy_of_scene("destructive", asks=True))


def sub_agents_of_two_sessions_are_apart(stage: Stage) -> None:
    """A sub-agent that two sessions run at once acts in the session of each."""
    budget = {"max_steps": 3, "bucket_tokens": 1000}
    policy = policy_of_scene("destructive", budget=budget)
    _require_apart(stage, _SUB_AGENTS, policy=policy, has_sub_agent=True)


def renamed_calls_are_answered_the_same(stage: Stage) -> None:
    """Calls with other ids, of which no two are one, are answered the same."""
    policy, later = policy_of_scene("destructive"), _rename_calls(_OTHER, _LATER)
    for turns in ((WHOLE_BATCH, later), (_DEAR, later)):
        named = stage.play_alone(Part(turns), policy)
        for names in _NAMES:
            renamed = Part(tuple(_rename_calls(calls, names) for calls in turns))
            found = stage.play_alone(renamed, policy)
            stage.require_same(named.rename(names), found, f"where ids are renamed by {names}")


def ids_that_come_again_change_nothing(stage: Stage) -> None:
    """Calls of a later turn with ids of an earlier one are answered as with ids of their own."""
    policy = policy_of_scene("destructive")
    for first, second in ((WHOLE_BATCH, _OTHER), (_DEAR, WHOLE_BATCH), (WHOLE_BATCH, _DEAR)):
        _require_new(stage, Part((first, second)), policy)


def an_answer_to_an_id_is_to_one_call(stage: Stage) -> None:
    """A person is asked about each call, also about one with an id that they said yes or no to."""
    policy = policy_of_scene("destructive", asks=True)
    for second, *replies in ((WHOLE_BATCH, YES, NO), (_OTHER, YES, YES), (_OTHER, NO, YES)):
        _require_new(stage, Part((WHOLE_BATCH, second), tuple(replies)), policy)


def a_yes_to_an_id_runs_no_later_call(stage: Stage) -> None:
    """What a person approved once runs once, though a later turn asks for it by the same ids."""
    policy = policy_of_scene("destructive", asks=True)
    for second in (WHOLE_BATCH, _OTHER):
        found = stage.play_alone(Part((WHOLE_BATCH, second), (YES, NO)), policy)
        stage.require_same(found._replace(ran=tuple(ALL_RAN)), found, "where nobody said yes again")


def _require_apart(stage: Stage, pairs: Sequence[tuple[Part, Part]], **how: Any) -> None:
    for pair, order, names in zip(pairs, cycle(_ORDERS), cycle(_SESSIONS), strict=False):
        first, second = (
            part._replace(session=name) for part, name in zip(pair, names, strict=True)
        )
        among = stage.play_both((first, second), order, **how)
        for part, found in zip((first, second), among, strict=True):
            where = f"in {part.session} of {names}, in the order {order}"
            stage.require_same(stage.play_alone(part, **how), found, where)


def _require_new(stage: Stage, part: Part, policy: Policy) -> None:
    """Require that the calls of a second turn are answered as if their ids were new."""
    first, second = part.turns
    new = part._replace(turns=(first, _rename_calls(second, _LATER)))
    expected = stage.play_alone(new, policy).rename({"d1": "c1", "d2": "c2"})
    stage.require_same(expected, stage.play_alone(part, policy), "where ids come again")
