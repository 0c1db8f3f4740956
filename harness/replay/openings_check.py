"""Check the openings of a recorded run: each is derived again, and compared byte for byte. Pure."""

from evals.plan import Proposal, is_late_plan
from harness.canonical import canonical_bytes, canonical_json
from harness.record import DecisionRecord
from harness.record.integrity import StoredDocument
from harness.replay.json_diff import differences
from harness.replay.problems import Problems


def check_openings(
    document: StoredDocument, record: DecisionRecord, proposal: Proposal, problems: Problems
) -> None:
    """Note the openings of a decision that do not follow from its inputs and its calls."""
    run = record.run
    if run is None or not run.openings:
        return
    if not is_late_plan(proposal.plan):
        problems.contradiction("the run has openings, and its plan is not late")
        return
    lost = [one for one in run.openings if one.after > len(run.calls)]
    problems.incomplete += [
        f"the opening of step {one.step} follows {one.after} calls, of which there are "
        f"{len(run.calls)}"
        for one in lost[:1]
    ]
    from critic.late.opened_run import open_run  # noqa: PLC0415 - for late plans only

    opened = open_run(run.run_of(proposal))
    for index, verdict in enumerate(opened.verdicts):
        recorded = document.value["run"]["openings"][index]["verdict"]
        if canonical_json(recorded) != canonical_bytes(verdict):
            above = f"/run/openings/{index}/verdict"
            problems.differences += differences(recorded, verdict.wire(), above)
            problems.contradiction(f"opening {index}: its verdict does not follow from its inputs")
    if opened.fault is not None and not lost:
        problems.contradiction(
            f"opening {len(opened.verdicts)} does not follow from the run: {opened.fault}"
        )
