"""Which labels no case needs: each is taken out by itself, and nothing else."""

from pathlib import Path

from evals.escaping import pointer
from harness.case_files.case_reading import ReadCase, read_case_file
from harness.case_files.case_runs import judge_read_case
from harness.case_files.label_coverage import Coverage, cover_labels, labels_of
from harness.policy import parse_policy
from tests.harness.case_files.greenhouse import (
    GREENHOUSE,
    READ,
    TANK,
    called,
    opened,
    plan,
    session,
    write,
)

DOCUMENT = parse_policy(GREENHOUSE.encode(), syntax="toml")
DOSE = called("c2", "dose", '{ tank_id = "T-41", ml = 250 }')
APART = (
    plan('{ because = "bound_together" }')
    .replace('evidence_refs = ["tank"]', 'evidence_refs = ["tank", "other"]')
    .replace("safe_ml = 250", "safe_ml = 90")
    + '\n[[input.compiled.manifests.evidence_manifest]]\nid = "other"\n'
    + 'classification = "tank_record"\n'
    + f"content = {TANK.replace('T-41', 'T-42')}\n"
)


def covered(folder: Path, *texts: str, policy: str = GREENHOUSE, **most: int) -> Coverage:
    cases = list[ReadCase]()
    document = parse_policy(policy.encode(), syntax="toml")
    for at, text in enumerate(texts):
        cases.append(read_case_file(write(folder, text, f"{at}.toml")))
        assert judge_read_case(cases[-1], document.policy)
    return cover_labels(document, cases, **most)


def unneeded(folder: Path, *texts: str, policy: str = GREENHOUSE) -> set[str]:
    return {one.name for one in covered(folder, *texts, policy=policy).unneeded}


def test_a_label_that_a_case_needs_is_not_named(tmp_path: Path) -> None:
    approved = plan("{ ok = true }", "approved = true")
    loose = {"dose.bound_together", "dose.bound_args.ml", "dose.arg_roles.ml"}
    assert loose <= unneeded(tmp_path, approved)
    too_much = plan('{ because = "bound_args" }', "approved = true", ml=300)
    asks = plan('{ because = "approval_required_from" }')
    found = unneeded(tmp_path, approved, APART, too_much, asks)
    assert loose & found == {"dose.arg_roles.ml"}
    assert not {"spec.approval_required_from", "dose.approval_mode"} & found


def test_a_label_that_lets_something_pass_is_needed_by_what_passes(tmp_path: Path) -> None:
    asked = session('["allow", "ask"]', opened("Read tank T-41 and dose it."), *READ, DOSE)
    found = unneeded(tmp_path, asked)
    assert "read_tank.yields" not in found, "the dose has no evidence without it"
    assert "dose.bound_together" in found
    assert "message_grower.arg_kinds.to" in found, "no case calls it"


def test_each_is_told_with_its_line_and_place(tmp_path: Path) -> None:
    told = {one.name: one for one in covered(tmp_path, plan("{ asks = true }")).unneeded}
    group = told["dose.bound_together"]
    assert (group.path, group.text) == (
        "/tool/2/bound_together/0",
        "deleting dose.bound_together changes no case",
    )
    lines = GREENHOUSE.splitlines()
    assert lines[group.line - 1].startswith("bound_together")
    tier = told["message_grower.approval_mode"]
    assert tier.text == "putting message_grower.approval_mode to read_only changes no case"
    assert lines[tier.line - 1] == 'approval_mode = "network"'
    assert told["read_tank.result.author"].text.startswith("putting read_tank.result.author to pub")


def test_every_label_is_taken_out_alone(tmp_path: Path) -> None:
    found = covered(tmp_path, plan("{ asks = true }"))
    labels = [
        label
        for label in labels_of(DOCUMENT.policy.wire())
        if pointer(*label.place) in DOCUMENT.lines
    ]
    names = [label.name for label in labels]
    assert len({*names}) == len(names) == len(found.unneeded) + found.needed
    for word in ("fields.grower", "fresh_s", "schema", "max_questions", "about.tank_id", ".web"):
        assert any(word in name for name in names), word


def test_what_says_the_default_is_no_label(tmp_path: Path) -> None:
    more = GREENHOUSE.replace("max_questions = 2", 'on_ask = "ask"\nshadow = false')
    assert not {"guard.on_ask", "guard.shadow"} & unneeded(
        tmp_path, plan("{ asks = true }"), policy=more
    )


def test_the_effort_is_bounded_and_what_is_left_is_counted(tmp_path: Path) -> None:
    some = covered(tmp_path, plan("{ asks = true }"), most=9)
    assert (some.untried > 9, some.needed + len(some.unneeded) > 9) == (True, True)
    assert covered(tmp_path, plan("{ asks = true }"), most=0).needed == 0


def test_a_ceiling_of_the_spec_is_deleted_and_not_lowered(tmp_path: Path) -> None:
    more = GREENHOUSE.replace(
        'provenance = "closed"', 'provenance = "closed"\napproval_mode = "network"'
    )
    refused = plan('{ refuses = true, because = "approval_mode" }')
    assert "spec.approval_mode" not in unneeded(tmp_path, refused, policy=more)
    passes = session('["allow"]', opened("Read tank T-41."), READ[0])
    found = {one.name: one.text for one in covered(tmp_path, passes, policy=more).unneeded}
    assert found["spec.approval_mode"] == "deleting spec.approval_mode changes no case"
