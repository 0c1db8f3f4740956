"""Bugs in coverage, confinement, repeats over turns, approvals, and what a refusal lists."""

from typing import Final

from tests.assurance.planted.bug import Bug, Edit, slip

_COVERAGE: Final = "critic/checks/coverage_check.py"
_SURFACE: Final = "critic/checks/surface_check.py"
_APPROVALS: Final = "critic/checks/approval_check.py"
_LOOP: Final = "critic/checks/loop_check.py"
_VERIFY: Final = "critic/verify.py"
_CONFINEMENT: Final = "evals/confinement.py"
_APPROVAL: Final = "evals/approval.py"

_WHAT_LEAVES: Final[tuple[Bug, ...]] = (
    slip(
        "any-step-covers",
        _COVERAGE,
        "a reason step covers an output that a tool of the manifest lists",
        "        outputs = outputs & case.surface.listed\n",
        "        return set()\n",
    ),
    slip(
        "network-sends-nothing",
        _SURFACE,
        "confined content may be sent at network, and is found after it was",
        "        if tool.rank >= _NETWORK or index in commands\n",
        "        if tool.rank > _NETWORK or index in commands\n",
    ),
    slip(
        "network-leaves-nothing",
        _SURFACE,
        "a plan that reaches network and no more is not searched",
        "for rank in MODE_RANK.values() if rank >= _NETWORK)",
        "for rank in MODE_RANK.values() if rank > _NETWORK)",
    ),
    slip(
        "first-item-confined",
        _SURFACE,
        "of each confined class only the first item is looked for",
        "for item in case.surface.by_class.get(name, ())]",
        "for item in case.surface.by_class.get(name, ())[:1]]",
    ),
    slip(
        "first-argument-searched",
        _SURFACE,
        "confined content is looked for in the first argument of a call only",
        'in sorted(fields["args"].items(), key=itemgetter(0))\n',
        'in sorted(fields["args"].items(), key=itemgetter(0))[:1]\n',
    ),
    slip(
        "six-digits-leak",
        _CONFINEMENT,
        "confined numbers of six digits leak",
        "FEWEST_DIGITS: Final = 6",
        "FEWEST_DIGITS: Final = 7",
    ),
    slip(
        "digits-with-their-sign",
        _CONFINEMENT,
        "a sign or a point counts as a digit of a number",
        "sum(map(str.isdigit, spelled)) >= FEWEST_DIGITS",
        "len(spelled) >= FEWEST_DIGITS",
    ),
    slip(
        "numbers-leak",
        _CONFINEMENT,
        "a confined number that is sent as a number is not found",
        "            yield _spell_number(current)\n",
        "            yield from ()\n",
    ),
    slip(
        "whole-texts-only",
        _CONFINEMENT,
        "confined content is found only where it is all that a value says",
        "next((refs[text] for text in refs if text in one), None) for one in searched]",
        "next((refs[text] for text in refs if text == one), None) for one in searched]",
    ),
)

_TURNS: Final[tuple[Bug, ...]] = (
    slip(
        "calls-forgotten",
        _LOOP,
        "a refund that was paid in an earlier turn is paid again",
        "spent = case.ctx.spent.calls if case.ctx.spent else None",
        "spent = None",
    ),
    slip(
        "prefix-hides-a-repeat",
        _LOOP,
        "an earlier call whose digest is spelled with sha256: is another call",
        'call.args_digest.removeprefix("sha256:")',
        "call.args_digest",
    ),
    slip(
        "repeat-in-plan-asks",
        _LOOP,
        "a person may approve one destructive call twice in one plan",
        '"step with the same args")\n            yield Found("loop", "loop_guard", index, words)',
        '"step with the same args")\n            yield Found("loop", "loop_guard", index, words, '
        "True)",
    ),
    slip(
        "repeat-in-plan-cleared",
        _LOOP,
        "an approval clears a repeat within the plan",
        "        if key in made:\n",
        "        if key in made and not case.is_approved(index):\n",
    ),
    slip(
        "repeat-never-cleared",
        _LOOP,
        "an approval does not clear a repeat over turns",
        "in case.made and not case.is_approved(index):",
        "in case.made:",
    ),
    slip(
        "safety-mode-asks",
        _APPROVALS,
        "a mode above the safety mode asks for an approval that cannot clear it",
        "index, words)\n        if tool.rank > ceiling_rank:",
        "index, words, True)\n        if tool.rank > ceiling_rank:",
    ),
    slip(
        "ceiling-asks",
        _APPROVALS,
        "a mode above the ceiling asks for an approval that cannot clear it",
        "index, words)\n        if tool.rank >= tier_rank",
        "index, words, True)\n        if tool.rank >= tier_rank",
    ),
    slip(
        "tier-never-asks",
        _APPROVALS,
        "a missing approval looks like a mode that is too high",
        "index, words, approvable=True)\n",
        "index, words)\n",
    ),
    slip(
        "asks-if-anything-does",
        "evals/plan_verdicts.py",
        "a refusal asks a person as soon as one of its violations does",
        "return all(violation.approvable for violation in self.violations)",
        "return any(violation.approvable for violation in self.violations)",
    ),
    slip(
        "context-of-approval-ignored",
        _APPROVAL,
        "an approval given in another context holds in this one",
        "bound = [one for one in valid if one.context_digest in contexts]",
        "bound = [one for one in valid if one.context_digest is not None]",
    ),
    slip(
        "context-without-trace",
        _APPROVAL,
        "an approval given for another trace holds for this one",
        '"spec": spec.wire(), "trace_id": ctx.trace_id}',
        '"spec": spec.wire()}',
    ),
    slip(
        "loose-approval-quiet",
        _APPROVAL,
        "an approval without a context gives no caveat",
        "        self._loosely_covered.add(step)\n",
        "",
    ),
)

_LISTED: Final[tuple[Bug, ...]] = (
    slip(
        "cap-hides-the-first",
        _VERIFY,
        "of a capped refusal the first violation is not listed",
        "chain((first,), islice(further, MOST_LISTED - 1))]",
        "chain(islice(further, MOST_LISTED), (first,))][:MOST_LISTED]",
    ),
    slip(
        "cap-says-nothing",
        _VERIFY,
        "a capped refusal does not say how many violations it leaves out",
        "        listed.append(_left_out(left_out, further))\n",
        "        _left_out(left_out, further)\n",
    ),
    slip(
        "cap-of-one-more",
        _VERIFY,
        "1,001 violations are listed as they are",
        "islice(further, MOST_LISTED - 1)",
        "islice(further, MOST_LISTED)",
    ),
    slip(
        "cap-asks-for-the-rest",
        _VERIFY,
        "what is left out can be approved as soon as one of it can",
        "approvable = approvable and each.approvable",
        "approvable = approvable or each.approvable",
    ),
    slip(
        "rules-have-one-digest",
        "harness/rules.py",
        "changed rules have the digest of the old ones, so replay says nothing",
        "hashlib.sha256(source.replace(",
        "hashlib.sha256(source[:0].replace(",
    ),
    Bug(
        "rules-of-one-floor",
        "the digest of the rules leaves out what the evaluators and the envelopes say",
        (
            Edit(
                "harness/rules.py",
                '_PACKAGES: Final = ("critic", "evals")',
                '_PACKAGES: Final = ("critic",)',
            ),
        ),
    ),
)

RULES_BUGS: Final[tuple[Bug, ...]] = (*_WHAT_LEAVES, *_TURNS, *_LISTED)
