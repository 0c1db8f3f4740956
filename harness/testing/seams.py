"""The contract of integrations: what holds of every agent of a framework that a guard holds.

    from harness.testing.seams import SEAM_FEATURES, check_seam, seam_laws

    CANNOT: dict[str, str] = {}  # features of SEAM_FEATURES that it lacks, and why

    @pytest.mark.parametrize("law", seam_laws(CANNOT))
    def test_the_contract_holds(law: str) -> None:
        check_seam(play, law)

    def test_the_page_says_what_it_can_and_cannot() -> None:
        assert not undocumented(PAGE.read_text("utf-8"), CANNOT)

`play(scene) -> Trace` plays a scene with the real framework and a scripted model. A law that does
not hold raises `SeamBroken`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final, NamedTuple

from harness.testing._seams import approval_laws, call_laws, two_scenes
from harness.testing._seams.scene import HELPER, LAST_WORDS, Scene, ScriptedTurn, Trace
from harness.testing._seams.stage import Play, SeamBroken, Stage

__all__ = [
    "HELPER",
    "LAST_WORDS",
    "SEAM_FEATURES",
    "Scene",
    "ScriptedTurn",
    "SeamBroken",
    "Trace",
    "check_seam",
    "describe_seam_law",
    "seam_laws",
    "undocumented",
]

SEAM_FEATURES: Final = (
    "streaming",
    "unreadable arguments",
    "calls with one id",
    "ids that come again",
    "rewritten arguments",
    "sub-agents",
    "approval",
    "approval of some calls",
    "edits by a person",
    "answer in another process",
)
"""What an integration may lack, if it says so: each has a row in the table of its page."""


class _Law(NamedTuple):
    check: Callable[[Stage], None]
    needs: tuple[str, ...] = ()


_ASKS: Final = ("approval",)
_AGAIN: Final = ("ids that come again",)
_LAWS: Final[dict[str, _Law]] = {
    law.check.__name__: law
    for law in (
        _Law(call_laws.an_allowed_batch_runs_once),
        _Law(call_laws.a_refused_batch_runs_nothing),
        _Law(call_laws.a_halt_ends_the_run),
        _Law(call_laws.a_broken_guard_runs_nothing),
        _Law(call_laws.a_broken_integration_runs_nothing),
        _Law(call_laws.a_shadow_runs_and_hides_nothing),
        _Law(call_laws.an_unknown_tool_runs_nothing),
        _Law(call_laws.huge_numbers_run_nothing),
        _Law(call_laws.unreadable_arguments_run_nothing, ("unreadable arguments",)),
        _Law(call_laws.two_calls_with_one_id_run_nothing, ("calls with one id",)),
        _Law(call_laws.rewritten_arguments_are_refused, ("rewritten arguments",)),
        _Law(call_laws.spent_steps_count_across_turns),
        _Law(call_laws.the_ruling_is_recorded_before_a_tool_starts),
        _Law(call_laws.a_failed_call_is_told),
        _Law(call_laws.a_sub_agent_is_guarded, ("sub-agents",)),
        _Law(approval_laws.nothing_runs_before_the_answer, _ASKS),
        _Law(approval_laws.a_no_runs_nothing, _ASKS),
        _Law(approval_laws.a_no_holds, _ASKS),
        _Law(approval_laws.silence_runs_nothing, _ASKS),
        _Law(approval_laws.headless_runs_nothing),
        _Law(approval_laws.the_same_batch_twice_asks_twice, _ASKS),
        _Law(approval_laws.another_digest_runs_nothing, _ASKS),
        _Law(approval_laws.one_yes_and_one_no_run_one, (*_ASKS, "approval of some calls")),
        _Law(approval_laws.edited_arguments_are_ruled_on, (*_ASKS, "edits by a person")),
        _Law(
            approval_laws.an_answer_in_another_process_counts,
            (*_ASKS, "approval of some calls", "answer in another process"),
        ),
        _Law(
            approval_laws.rewritten_arguments_are_not_approved,
            (*_ASKS, "rewritten arguments"),
        ),
        _Law(two_scenes.two_sessions_are_answered_as_each_alone),
        _Law(two_scenes.an_answer_counts_in_its_session, _ASKS),
        _Law(two_scenes.sub_agents_of_two_sessions_are_apart, ("sub-agents",)),
        _Law(two_scenes.renamed_calls_are_answered_the_same),
        _Law(two_scenes.ids_that_come_again_change_nothing, _AGAIN),
        _Law(two_scenes.an_answer_to_an_id_is_to_one_call, (*_ASKS, *_AGAIN)),
        _Law(two_scenes.a_yes_to_an_id_runs_no_later_call, _ASKS),
    )
}
_STREAMED: Final = " streamed"


def seam_laws(cannot: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of the laws for an integration that lacks these features.

    Raises:
        ValueError: one of them is not a feature that it may lack.
    """
    if unknown := sorted({*cannot} - {*SEAM_FEATURES}):
        raise ValueError(f"an integration cannot lack {', '.join(unknown)}")
    ways = ("",) if "streaming" in cannot else ("", _STREAMED)
    return tuple(
        f"{name}{way}"
        for name, law in _LAWS.items()
        if not {*law.needs} & {*cannot}
        for way in ways
    )


def check_seam(play: Play, law: str) -> None:
    """Check that a law of `seam_laws` holds of an integration.

    Raises:
        SeamBroken: it does not hold.
        KeyError: there is no such law.
    """
    name = law.removesuffix(_STREAMED)
    _LAWS[name].check(Stage(play, law, streams=name != law))


def describe_seam_law(law: str) -> str:
    """Return a law as a sentence.

    Raises:
        KeyError: there is no such law.
    """
    return (_LAWS[law.removesuffix(_STREAMED)].check.__doc__ or "").partition("\n")[0]


def undocumented(page: str, cannot: Mapping[str, str]) -> list[str]:
    """Return the features whose row in the table of a page does not say what the contract shows.

    A row begins with the feature; its next cell begins with `yes`, or with `no` and the reason.
    """
    return [
        feature
        for feature in SEAM_FEATURES
        if not re.search(_row(feature, cannot.get(feature)), page, flags=re.MULTILINE)
    ]


def _row(feature: str, reason: str | None) -> str:
    cell = "yes" if reason is None else f"no: {re.escape(reason)}"
    return rf"^\| {re.escape(feature)} \| {cell}"
