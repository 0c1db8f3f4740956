"""Check the laws of streams on a guard: see `harness.testing.laws`."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any, Final, NamedTuple

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from harness.policy import Policy
from harness.testing._laws.law_context import LawBroken
from harness.testing._laws.law_settings import quiet_settings
from harness.testing._streams.guard_trial import OpenGuard, plain_guard
from harness.testing._streams.identity_laws import (
    a_session_that_is_opened_again_is_a_new_one,
    renamed_ids_rename_the_answers,
    two_streams_are_answered_as_each_alone,
    what_was_taken_in_is_not_taken_in_again,
)
from harness.testing._streams.permit_laws import a_permit_stands_until_its_call_ends
from harness.testing._streams.source_laws import OF_SOURCES, public_texts_raise_no_ruling
from harness.testing._streams.stream_trial import StreamTrial
from harness.testing._streams.time_laws import each_ruling_is_that_of_verify_at_its_time


class _StreamLaw(NamedTuple):
    check: Callable[[StreamTrial], None]
    meets: tuple[str, ...]


_RULED: Final = ("allow", "ask", "refuse", "error")
_LAWS: Final[dict[str, _StreamLaw]] = {
    law.check.__name__: law
    for law in (
        _StreamLaw(
            two_streams_are_answered_as_each_alone,
            (*_RULED, "both halted", "asked and answered", "near ids"),
        ),
        _StreamLaw(renamed_ids_rename_the_answers, (*_RULED, "odd ids", "plain ids")),
        _StreamLaw(
            what_was_taken_in_is_not_taken_in_again,
            ("open again", "result again", "answer again", "close again"),
        ),
        _StreamLaw(a_session_that_is_opened_again_is_a_new_one, _RULED),
        _StreamLaw(
            a_permit_stands_until_its_call_ends,
            (
                *("permit ended by use", "permit ended by a result", "permit ended by a halt"),
                *("an id that is awaited", "permit ended by the close"),
            ),
        ),
        _StreamLaw(
            each_ruling_is_that_of_verify_at_its_time,
            (*_RULED, "before an expiry", "at an expiry", "after an expiry", "an earlier time"),
        ),
        _StreamLaw(public_texts_raise_no_ruling, OF_SOURCES),
    )
}

GUARD_LAWS: Final = tuple(_LAWS)
"""The names of the laws of a guard."""


def describe_guard_law(law: str) -> str:
    """Return a law of a guard as a sentence.

    Raises:
        KeyError: there is no such law.
    """
    return (_LAWS[law].check.__doc__ or "").partition("\n")[0]


def check_guard(
    policy: Policy,
    law: str,
    *,
    open_guard: OpenGuard = plain_guard,
    cannot: Collection[str] = (),
    settings: hypothesis_settings | None = None,
) -> None:
    """Check a law of `GUARD_LAWS` on whatever takes the events of sessions.

    Args:
        policy: what sessions are guarded by.
        open_guard: opens a guard of a policy that records in a log; a `Guard`, unless given.
        cannot: what streams of this policy never meet: a law fails if it met too little.
        settings: Hypothesis settings; the current profile without a deadline, unless given.

    Raises:
        LawBroken: it does not hold, or the streams did not meet what it is about.
        KeyError: there is no such law.
    """
    __tracebackhide__ = True  # a failure is about the streams, not about lines of the kit
    body, meets = _LAWS[law]
    met = Counter[str]()

    def try_law(data: st.DataObject) -> None:
        __tracebackhide__ = True
        try:
            draw: Any = data.draw
            body(StreamTrial(draw, policy, open_guard, met))
        except LawBroken as broken:
            said = describe_guard_law(law)
            raise LawBroken(f"law {law} is broken: {said}\n{broken}") from None

    try_law.__name__ = try_law.__qualname__ = law
    quiet_settings(settings)(given(st.data())(try_law))()
    missed = [name for name in meets if not {name} & {*cannot, *_beyond(policy)} and not met[name]]
    if missed:
        raise LawBroken(f"law {law} says nothing here: no stream met {', '.join(missed)}")


def _beyond(policy: Policy) -> Collection[str]:
    """Return what no stream of a policy meets, by the settings of its guard."""
    guard = policy.guard
    asks = guard.on_ask == "ask" and guard.max_questions and not guard.shadow
    halts = guard.on_refusal == "halt" and not guard.shadow
    return {
        *(() if asks else ("ask", "answer again", "asked and answered")),
        *(() if halts else ("both halted", "permit ended by a halt")),
        *(("refuse",) if guard.shadow else ()),
        *(OF_SOURCES if policy.spec.provenance is None or not policy.tool else ()),
    }
