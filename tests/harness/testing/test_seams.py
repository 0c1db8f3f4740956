"""The contract of integrations: what keeps it passes, and every planted mistake breaks it."""

from typing import Any

import pytest

from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession
from harness.integrations.seam.ruling_replies import GuardHalted, SeamRuling
from harness.testing.seams import (
    SEAM_FEATURES,
    Scene,
    SeamBroken,
    check_seam,
    describe_seam_law,
    seam_laws,
    undocumented,
)
from tests.support.effort import sampled
from tests.support.tiny_agent import Office, TinyAgent, play_tiny


@pytest.mark.one_in(4)
@pytest.mark.parametrize("law", sampled(seam_laws(), one_in=2))
def test_an_agent_that_keeps_the_contract_passes(law: str) -> None:
    check_seam(play_tiny, law)
    assert describe_seam_law(law).endswith(".")


class Unguarded(TinyAgent):
    """Runs everything."""

    def turn(self, calls: tuple[AskedCall, ...]) -> bool:
        for call in calls:
            self.scene.tools[call.tool](**call.args)  # type: ignore[arg-type]
        return True


class RulesCallByCall(TinyAgent):
    """Has no plan seam: a refused batch runs in part."""

    def turn(self, calls: tuple[AskedCall, ...]) -> bool:
        return all(TinyAgent.turn(self, (call,)) for call in calls)


class RunsBeforeTheAnswer(TinyAgent):
    def asked(self, _ruling: SeamRuling, calls: tuple[AskedCall, ...]) -> Any:
        for call in calls:
            self.scene.tools[call.tool](**call.args)  # type: ignore[arg-type]
        self.scene.ask([call.id for call in calls])
        return ()


class TakesSilenceForYes(TinyAgent):
    def asked(self, ruling: SeamRuling, calls: tuple[AskedCall, ...]) -> Any:
        answered = super().asked(ruling, calls)
        for call in calls if answered is None else ():
            self.scene.tools[call.tool](**call.args)  # type: ignore[arg-type]
        return answered


class IgnoresTheDigest(TinyAgent):
    """Takes an answer to another plan for one to this."""

    def asked(self, ruling: SeamRuling, calls: tuple[AskedCall, ...]) -> Any:
        self.scene.foreign_digest = None
        return super().asked(ruling, calls)


class RemembersTheYes(TinyAgent):
    """Asks about a call once, and never again."""

    yes = False

    def asked(self, ruling: SeamRuling, calls: tuple[AskedCall, ...]) -> Any:
        if self.yes:
            for call in calls:
                self.scene.tools[call.tool](**call.args)  # type: ignore[arg-type]
            return ()
        self.yes = True
        return super().asked(ruling, calls)


class RunsTheEditedArguments(TinyAgent):
    """Checks what the model asked for, and runs what it was changed to."""

    def call(self, call: AskedCall) -> None:
        asked = next(one for turn in self.scene.turns for one in turn.calls if one.id == call.id)
        if self.session.start(asked):
            rewritten = self.scene.rewrites.get(call.id, call.args)
            self.told[call.id] = self.made(call, dict(rewritten))  # type: ignore[arg-type]


class SwallowsFailures(TinyAgent):
    """Goes on where the guard failed."""

    def call(self, call: AskedCall) -> None:
        super().call(call)
        if "the check of this call failed" in self.told[call.id]:
            self.scene.tools[call.tool](**call.args)  # type: ignore[arg-type]


class SwallowsItsOwnErrors(TinyAgent):
    def turn(self, calls: tuple[AskedCall, ...]) -> bool:
        try:
            return super().turn(calls)
        except RuntimeError:
            for call in calls:
                self.scene.tools[call.tool](**call.args)  # type: ignore[arg-type]
            return True


class NeverHalts(TinyAgent):
    def halting(self, ruling: SeamRuling) -> SeamRuling:
        return ruling


class HaltsWithoutTheVerdict(TinyAgent):
    def halting(self, ruling: SeamRuling) -> SeamRuling:
        try:
            return super().halting(ruling)
        except GuardHalted:
            raise RuntimeError("stopped") from None


class HidesTools(TinyAgent):
    @property
    def tools(self) -> Any:
        return {name: tool for name, tool in super().tools.items() if name != "drop_table"}


class TellsNothing(TinyAgent):
    """Leaves the refused calls without an answer."""

    def call(self, call: AskedCall) -> None:
        super().call(call)
        if not self.scene.ran:
            self.told.clear()


class StopsAtARefusal(TinyAgent):
    def call(self, call: AskedCall) -> None:
        super().call(call)
        if "not run: it is not allowed" in self.told.get(call.id, ""):
            raise RuntimeError("refused")


class TellsNoResults(TinyAgent):
    def made(self, call: AskedCall, args: dict[str, Any]) -> str:
        return str(self.tools[call.tool](**args))


class TellsSuccess(TinyAgent):
    """Says that a call completed that raised."""

    def made(self, call: AskedCall, args: dict[str, Any]) -> str:
        try:
            output = str(self.tools[call.tool](**args))
        except RuntimeError:
            output = "closed"
        self.session.ended(call.id, "completed", output=output)
        return output


class RunsTwice(TinyAgent):
    def made(self, call: AskedCall, args: dict[str, Any]) -> str:
        self.tools[call.tool](**args)
        return super().made(call, args)


class RecordsAfterwards(TinyAgent):
    """Runs a tool, and then asks whether it may."""

    def turn(self, calls: tuple[AskedCall, ...]) -> bool:
        self.scene.tools["lookup"]("1")
        return super().turn(calls)


class ReadsLeniently(TinyAgent):
    """Hands arguments on as they are once a lenient reader has read them."""

    def turn(self, calls: tuple[AskedCall, ...]) -> bool:
        lenient = {"order_id": "1", "cents": 5}
        read = [
            call._replace(args=lenient) if isinstance(call.args, str) else call for call in calls
        ]
        return super().turn(tuple(read))


class LosesTwins(TinyAgent):
    """Keeps one call of each id."""

    def turn(self, calls: tuple[AskedCall, ...]) -> bool:
        return super().turn(tuple({call.id: call for call in calls}.values()))


class MakesWhatItDoesNotKnow(TinyAgent):
    def call(self, call: AskedCall) -> None:
        if call.tool not in ("lookup", "issue_refund", "ask_helper"):
            self.scene.journal.append(f"ran {call.tool}")
        super().call(call)


class ForgetsTheSession(TinyAgent):
    """Begins anew with each turn."""

    turns = 0

    def turn(self, calls: tuple[AskedCall, ...]) -> bool:
        self.turns += 1
        self.session = GuardedSession(self.scene.guard, f"{self.scene.session}-{self.turns}")
        self.session.began(self.scene.request)
        return super().turn(calls)


class GivesSubAgentsASessionOfTheirOwn(TinyAgent):
    def run(self) -> bool:
        if self.is_outer or not self.scene.has_sub_agent:
            return super().run()
        self.session = GuardedSession(self.scene.guard, "inner")
        self.session.began(self.scene.request)
        return all(self.turn(turn.calls) for turn in self.scene.turns)


class LeavesSubAgentsAlone(TinyAgent):
    def helper(self, task: str) -> str:
        for turn in self.scene.turns:
            for call in turn.calls:
                self.scene.tools[call.tool](**call.args)  # type: ignore[arg-type]
        return task


class AnswersForAll(TinyAgent):
    """Takes a yes to one call for a yes to all."""

    def asked(self, ruling: SeamRuling, calls: tuple[AskedCall, ...]) -> Any:
        replies = self.scene.ask([call.id for call in calls]) or {}
        best = max(replies.values(), key=lambda reply: reply.yes, default=CallReply(yes=False))
        self.scene.replies = lambda ids: dict.fromkeys(ids, best)
        return super().asked(ruling, calls)


class OneOffice(Office):
    def session(self, scene: Scene) -> GuardedSession:
        known = next(iter(self.sessions.values()), None)
        return super().session(scene) if known is None else known


class OneSessionForAll(TinyAgent):
    """Acts in the session that came first."""

    office = OneOffice


class RunsIdsOnce(TinyAgent):
    """Makes no call whose id it has seen."""

    def call(self, call: AskedCall) -> None:
        if call.id not in self.told:
            super().call(call)


class TellsCallsInLowerCase(TinyAgent):
    """Tells calls whose ids differ in case as one."""

    def call(self, call: AskedCall) -> None:
        super().call(call)
        self.told[call.id.lower()] = self.told.pop(call.id)


class HasAnAgentForEach(TinyAgent):
    """Plays two scenes through an agent each, which shows nothing."""

    def __init__(self, scene: Scene, *, is_sub_agent: bool = False) -> None:
        scene.shared = None
        super().__init__(scene, is_sub_agent=is_sub_agent)


PLANTED: dict[type[TinyAgent], str] = {
    Unguarded: "an_allowed_batch_runs_once",
    RulesCallByCall: "a_refused_batch_runs_nothing",
    RunsBeforeTheAnswer: "nothing_runs_before_the_answer",
    TakesSilenceForYes: "silence_runs_nothing",
    IgnoresTheDigest: "another_digest_runs_nothing",
    RemembersTheYes: "the_same_batch_twice_asks_twice",
    RunsTheEditedArguments: "rewritten_arguments_are_refused",
    SwallowsFailures: "a_broken_guard_runs_nothing",
    SwallowsItsOwnErrors: "a_broken_integration_runs_nothing",
    NeverHalts: "a_halt_ends_the_run",
    HaltsWithoutTheVerdict: "a_halt_ends_the_run",
    HidesTools: "a_shadow_runs_and_hides_nothing",
    TellsNothing: "a_refused_batch_runs_nothing",
    StopsAtARefusal: "a_refused_batch_runs_nothing",
    TellsNoResults: "an_allowed_batch_runs_once",
    TellsSuccess: "a_failed_call_is_told",
    RunsTwice: "an_allowed_batch_runs_once",
    RecordsAfterwards: "the_ruling_is_recorded_before_a_tool_starts",
    ReadsLeniently: "unreadable_arguments_run_nothing",
    LosesTwins: "two_calls_with_one_id_run_nothing",
    MakesWhatItDoesNotKnow: "an_unknown_tool_runs_nothing",
    ForgetsTheSession: "spent_steps_count_across_turns",
    GivesSubAgentsASessionOfTheirOwn: "a_sub_agent_is_guarded",
    LeavesSubAgentsAlone: "a_sub_agent_is_guarded",
    AnswersForAll: "one_yes_and_one_no_run_one",
    OneSessionForAll: "two_sessions_are_answered_as_each_alone",
    TellsCallsInLowerCase: "renamed_calls_are_answered_the_same",
    HasAnAgentForEach: "an_answer_counts_in_its_session",
    RunsIdsOnce: "ids_that_come_again_change_nothing",
}
"""Each planted mistake, and the law that shows it."""


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.__name__)
def test_a_planted_mistake_breaks_its_law(planted: type[TinyAgent]) -> None:
    assert _breaks(planted, PLANTED[planted])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("law", seam_laws(("streaming",)))
def test_every_law_is_broken_by_a_planted_mistake(law: str) -> None:
    own_first = sorted(PLANTED, key=lambda planted: PLANTED[planted] != law)
    assert any(_breaks(planted, law) for planted in own_first)


def _breaks(planted: type[TinyAgent], law: str) -> bool:
    try:
        check_seam(lambda scene: planted(scene).play(), law)
    except SeamBroken as error:
        assert str(error).startswith(law)
        return True
    return False


def test_a_lack_is_declared_by_its_name_and_documented() -> None:
    with pytest.raises(ValueError, match="an integration cannot lack trust"):
        seam_laws(("trust",))
    assert not any(law.endswith("streamed") for law in seam_laws(("streaming",)))
    assert len(seam_laws(SEAM_FEATURES)) < len(seam_laws()) / 2
    rows = "\n".join(f"| {feature} | yes |" for feature in SEAM_FEATURES)
    assert undocumented(rows, {}) == []
    assert undocumented(rows, {"streaming": "it has none"}) == ["streaming"]
    assert undocumented("| streaming | no: it has none |", {"streaming": "it has none"}) == [
        *SEAM_FEATURES[1:]
    ]
