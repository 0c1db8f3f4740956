"""The words of the guesses, one by one: no verb changes its tier, and no noun is lost, unseen."""

from collections.abc import Iterator

import pytest

from harness.policy.analysis.guessing.tier_guess import guess_tier

DESTRUCTIVE = """
    activate administer allowlist archive arm authorise authorize backfill ban bill bind
    blacklist block blocklist bounce broadcast burn buy cancel capture charge claim clear close
    collect confiscate deactivate debit decommission delete denylist deploy deprovision destroy
    disable disarm disburse discard discharge disconnect dismiss dispense donate drop erase
    evacuate evict exchange exec execute expel expire fine fire flash flush forfeit forget
    freeze give halt hire impersonate inject install invoke kick kill launch license liquidate
    lock merge migrate mint moderate nuke offboard onboard override overwrite patch pay payout
    prescribe promote provision purchase purge quarantine rebalance reboot recall recharge
    reconcile redeem refund reimburse release remit remove repay rescind reset restart restore
    retire retract return_money reverse revert revoke rollback rotate run sell settle shred shut
    shutdown spend stake stop suspend terminate tip topup trade transfer trash trigger truncate
    undeploy unfreeze uninstall unlock unpair unregister unstake upgrade vacuum void waive
    whitelist wipe wire withdraw
"""
DELEGATED = """
    accept ack acknowledge add adjust admit allocate amend annotate apply appoint approve assign
    attach award backup book change click comment commit complete configure connect copy correct
    create decline defer delegate demote deny dim dispatch duplicate enable endorse enlarge
    enrich enroll enter escalate excuse exempt expand export extend fill finalise finalize flag
    follow fulfil fulfill grade grant hide hold import insert invite issue join link lower map
    mark match modify move mute nominate open order pack pair park pause pick pin place play
    postpone prioritise prioritize propose push put raise reassign rebook receive reclassify
    record redact redirect refer register reinstate reject relocate renew renumber reopen
    reorder repair replace report request reroute reschedule reserve resize resolve restock
    resume route scale schedule serve set share ship sign silence snooze star start submit
    subscribe swap switch sync synchronise synchronize toggle triage turn unassign unfollow
    unhide unmute unpin unshare unsubscribe update vote water
"""
ABOUT = """
    balance contents details history info limit limits lines list options policy rate rates status
    summary terms window
"""
VERBS_THAT_ARE_NOUNS = ("charge", "issue", "order", "refund", "transfer", "withdraw")
VERBS_THAT_STAY = ("cancel", "delete", "erase", "purge", "remove", "reset", "revoke", "wipe")


def verbs_with_tiers() -> Iterator[tuple[str, str]]:
    for tier, verbs in (("destructive", DESTRUCTIVE), ("delegated", DELEGATED)):
        yield from ((verb, tier) for verb in verbs.split())


@pytest.mark.parametrize(("verb", "tier"), [*verbs_with_tiers()])
def test_a_verb_that_acts_has_its_tier(verb: str, tier: str) -> None:
    found = guess_tier(f"{verb}_parcel", "", ())
    assert (found.tier, found.is_open) == (tier, False)


@pytest.mark.parametrize("noun", ABOUT.split())
def test_a_verb_before_a_noun_that_is_about_it_is_left_open(noun: str) -> None:
    for verb in VERBS_THAT_ARE_NOUNS:
        for name in (f"{verb}_{noun}", f"{verb}{noun.title()}"):
            found = guess_tier(name, f"Returns what it says of one {noun}.", ())
            assert (found.tier, found.is_open) == ("destructive", True), name
            assert found.why == f"{verb} is a noun before {noun}"


def test_the_name_of_a_service_stands_before_such_a_noun_too() -> None:
    assert guess_tier("acme_refund_window", "", ())[:3] == (
        *("destructive", "refund is a noun before window", True),
    )


@pytest.mark.parametrize("verb", VERBS_THAT_STAY)
def test_a_verb_that_stays_one_is_not_open(verb: str) -> None:
    assert guess_tier(f"{verb}_history", "", ())[:3] == ("destructive", verb, False)


def test_another_act_that_destroys_is_not_open() -> None:
    for name, text in (
        ("refund_window", "Returns the window, then wipes it."),
        ("refund_and_delete_history", ""),
        ("refund_status", "Deletes the status."),
    ):
        found = guess_tier(name, text, ())
        assert (found.tier, found.is_open) == ("destructive", False), name
