"""Bugs in `critic/`: the five checks, the surface, the verdicts and the report."""

from typing import Final

from tests.assurance.planted.bug import Bug, Edit, slip

_COVERAGE: Final = "critic/checks/coverage_check.py"
_SURFACE_CHECK: Final = "critic/checks/surface_check.py"
_APPROVAL: Final = "critic/checks/approval_check.py"
_EVIDENCE: Final = "critic/checks/evidence_check.py"
_ORDER: Final = "critic/checks/__init__.py"
_LOOP: Final = "critic/checks/loop_check.py"
_SURFACE: Final = "critic/surface.py"
_REVIEW: Final = "evals/evidence.py"
_ADVISE: Final = "critic/repairs/advise.py"
_VERDICTS: Final = "evals/plan_verdicts.py"
_REPORTS: Final = "critic/reports.py"

CRITIC_BUGS: Final[tuple[Bug, ...]] = (
    # 1. Coverage
    slip(
        "empty-declaration-passes",
        _COVERAGE,
        "a plan that declares no outputs at all is asked for none",
        "undeclared = required.difference(case.plan.declared_outputs)",
        "undeclared = required - (set(case.plan.declared_outputs) or required)",
        hole="omitted",
    ),
    slip(
        "producible-by-any",
        _COVERAGE,
        "any output a step lists stands for every required output",
        "return outputs.difference(*{tool.produces for _, tool, _ in case.steps})",
        "return set() if any(tool.produces for _, tool, _ in case.steps) else outputs",
    ),
    slip(
        "trace-prefix",
        _COVERAGE,
        "a plan of another trace passes where it names a prefix of this one",
        "if trace is not None and trace != case.ctx.trace_id:",
        "if trace is not None and not case.ctx.trace_id.startswith(trace[:1]):",
        hole="foreign_run",
    ),
    slip(
        "empty-produces-is-anything",
        _SURFACE,
        "a capability that says it produces nothing is taken to produce anything",
        "PRODUCES_ANYTHING if entry.produces is None else 0",
        "PRODUCES_ANYTHING if not entry.produces else 0",
    ),
    # 2. Surface
    Bug(
        "joined-tool-keys",
        "tools are looked up by a joined name, so a.b + c is a + b.c",
        (
            Edit(_SURFACE, "_Tools({key: _make_entry", '_Tools({("", ".".join(key)): _make_entry'),
            Edit(
                "critic/prepared.py",
                '_CALL: Final = itemgetter("adapter_id", "capability_id")',
                "def _CALL(fields: Mapping[str, Any]) -> tuple[str, str]:\n"
                "    return \"\", f\"{fields['adapter_id']}.{fields['capability_id']}\"",
            ),
        ),
        hole="joined_key",
    ),
    slip(
        "unknown-tool-is-harmless",
        _SURFACE,
        "a call outside the surface is judged like a step that only reasons",
        "replace(NO_TOOL, traits=PRODUCES_ANYTHING | NOT_IN_MANIFEST)",
        "replace(NO_TOOL, traits=PRODUCES_ANYTHING)",
        hole="step_kind",
    ),
    slip(
        "empty-args-unchecked",
        _SURFACE_CHECK,
        "args are checked against the schema only where there are any",
        "if validator is not None and (",
        'if validator is not None and fields["args"] and (',
        hole="omitted",
    ),
    slip(
        "schemas-never-looked-at",
        _SURFACE,
        "no tool is marked as having a schema, so the surface check stops early",
        "(NO_ARGS_SCHEMA if entry.args_schema is None else HAS_ARGS_SCHEMA)",
        "NO_ARGS_SCHEMA",
    ),
    # 3. Approval
    slip(
        "modes-as-strings",
        _APPROVAL,
        "modes are compared as strings, where destructive sorts lowest",
        "if tool.rank > limit:",
        "if tool.mode > case.ctx.safety_mode and tool.rank > limit:",
        hole="unknown_mode",
    ),
    slip(
        "ceiling-of-spec-ignored",
        _APPROVAL,
        "the ceiling of the spec never counts",
        "ceiling_rank = _DESTRUCTIVE if ceiling is None else MODE_RANK[ceiling]",
        "ceiling_rank = _DESTRUCTIVE",
    ),
    slip(
        "approval-skipped-below-limit",
        _APPROVAL,
        "a tier that needs approval is forgotten where the safety mode allows the call",
        "allowed = min(limit, ceiling_rank, tier_rank - 1)",
        "allowed = min(limit, ceiling_rank)",
        hole="omitted",
    ),
    slip(
        "approval-only-above-tier",
        _APPROVAL,
        "a step at the tier itself needs no approval",
        "if tool.rank >= tier_rank and not (",
        "if tool.rank > tier_rank and not (",
    ),
    slip(
        "one-rank-above-passes",
        _APPROVAL,
        "a step just one rank above the limit counts as within it",
        "if not modes >> (allowed + 1):",
        "if not modes >> (allowed + 2):",
    ),
    # 4. Evidence
    slip(
        "any-class-accepted",
        _EVIDENCE,
        "any evidence at all meets a required class, by the precedence of or and and",
        "met = tool.needs <= held and (not own or held.issuperset(own)) and None not in held",
        "met = held != {None} and bool(held) or tool.needs <= held and not own",
        hole="any_class",
    ),
    slip(
        "any-class-in-detail",
        _REVIEW,
        "a class counts as pinned as soon as anything is",
        "items = by_class.get(need.classification)\n",
        "items = [one for some in by_class.values() for one in some] or None\n",
        hole="any_class",
    ),
    slip(
        "class-in-the-ref",
        _EVIDENCE,
        "a ref that is not in the manifest gives the class that its text names",
        "held.add(class_of(ref))",
        'held.add(class_of(ref) or (ref.split(":") * 2)[1])',
        hole="forged_ref",
    ),
    slip(
        "only-own-requirements",
        _REVIEW,
        "only what the step demands of itself is demanded",
        "self._unmet_demands(needs.demands, claims",
        "self._unmet_demands((), claims",
        hole="omitted",
    ),
    slip(
        "no-refs-no-questions",
        _EVIDENCE,
        "a step that pins nothing and demands nothing is not asked for evidence",
        "if late is None and not refs and not own and not tool.traits & NEEDS_EVIDENCE:",
        "if late is None and not refs and not own:",
        hole="omitted",
    ),
    slip(
        "required-evidence-if-any",
        _EVIDENCE,
        "classes the spec requires count only for plans that pin something",
        "if name not in pinned:",
        "if pinned and name not in pinned:",
        hole="omitted",
    ),
    slip(
        "expiry-instant-is-fresh",
        "evals/timestamps.py",
        "evidence still counts at the very instant of its expiry",
        "as_of < expires_at)",
        "as_of <= expires_at)",
    ),
    Bug(
        "clock-for-as-of",
        "a missing as_of is replaced by the wall clock",
        (
            Edit(
                _EVIDENCE,
                "import Iterable, Iterator, Mapping\n",
                "import Iterable, Iterator, Mapping\nfrom datetime import UTC, datetime\n",
            ),
            Edit(
                _EVIDENCE,
                "class_at(case.ctx.as_of)",
                "class_at(case.ctx.as_of or datetime.now(UTC))",
            ),
        ),
        hole="clock",
    ),
    slip(
        "bound-args-not-marked",
        _SURFACE,
        "a tool that only binds arguments is not looked at without refs",
        "NEEDS_EVIDENCE if required or binds else 0",
        "NEEDS_EVIDENCE if required else 0",
        hole="omitted",
    ),
    slip(
        "bound-args-if-unsound",
        _EVIDENCE,
        "bound arguments are checked only where something else is wrong",
        "if not met or tool.bound_args or ",
        "if not met or ",
    ),
    # 5. Loop and budget
    slip(
        "spent-steps-forgotten",
        _LOOP,
        "steps that the trace spent before do not count",
        "steps_before = (spent.steps if spent else None) or 0",
        "steps_before = 0",
    ),
    slip(
        "spent-tokens-forgotten",
        _LOOP,
        "tokens that the trace spent before do not count",
        "left -= (spent.tokens if spent else None) or 0",
        "left -= 0",
    ),
    slip(
        "estimate-lowers-least",
        _LOOP,
        "an estimate of the plan goes below the least its capability takes",
        "least if estimated is None or estimated < least else estimated",
        "least if estimated is None else estimated",
    ),
    slip(
        "one-step-too-many",
        _LOOP,
        "one step more than max_steps passes",
        "if steps_before + steps > (",
        "if steps_before + steps - 1 > (",
    ),
    slip(
        "repeats-by-spelling",
        _LOOP,
        "the same destructive call passes twice, once with 1 and once with 1.0",
        'canonical_json(fields["args"]))',
        'repr(fields["args"]).encode())',
    ),
    slip(
        "repeats-by-joined-name",
        _LOOP,
        "two different destructive tools whose names join alike count as one",
        'call = (fields["adapter_id"], fields["capability_id"], ',
        'call = (tool.name, "", ',
        hole="joined_key",
    ),
    slip(
        "depends-on-itself",
        _LOOP,
        "a step may depend on itself",
        "if depends_on and not earlier.issuperset(depends_on):",
        "if depends_on and not {*earlier, own}.issuperset(depends_on):",
    ),
    # The verdicts and the report
    slip(
        "checks-out-of-order",
        _ORDER,
        "the surface speaks before coverage, so another violation names the refusal",
        "    check_coverage,\n    check_surface,",
        "    check_surface,\n    check_coverage,",
    ),
    slip(
        "first-violation-only",
        "critic/verify.py",
        "only the first violation is collected",
        "return Refused.because(tuple(listed))",
        "return Refused.because(tuple(listed)[:1])",
    ),
    slip(
        "refusal-is-truthy",
        _VERDICTS,
        "a refusal is true in an if, as a bare model is",
        "    def __bool__(self) -> Literal[False]:\n        return False\n\n",
        "",
    ),
    slip(
        "safety-is-soft",
        _REPORTS,
        "a run that fails safety still passes",
        '"fail" not in (scorecard.scores.policy.status, scorecard.scores.safety.status)',
        '"fail" not in (scorecard.scores.policy.status,)',
    ),
    slip(
        "refused-yet-scored",
        _REPORTS,
        "a report may hold a refused plan with a score",
        'if score is not None:\n            raise self_contradiction("a plan that',
        'if score is not None and not score.ok:\n            raise self_contradiction("a plan that',
    ),
    Bug(
        "clock-for-decided-at",
        "the report is dated by the wall clock and not by its caller",
        (
            Edit(
                "critic/consolidate.py",
                "from datetime import datetime",
                "from datetime import UTC, datetime",
            ),
            Edit(
                "critic/consolidate.py",
                "decided_at=decided_at,",
                "decided_at=datetime.now(UTC),",
            ),
        ),
        hole="clock",
    ),
    slip(
        "soft-failure-not-mentioned",
        "critic/consolidate.py",
        "an evaluator that failed softly is missing from the rationale",
        'if verdict.status != "pass"\n',
        'if verdict.status == "warn"\n',
    ),
    slip(
        "caveat-left-out",
        "critic/caveats.py",
        "only the first step is looked at for an estimate",
        'for step, _, fields in case.steps if fields["estimated_tokens"] is None]',
        'for step, _, fields in case.steps[:1] if fields["estimated_tokens"] is None]',
    ),
    slip(
        "late-dependency-misplaced",
        _LOOP,
        "a dependency named twice shifts the path of those after it",
        "for position, needed in enumerate(depends_on):",
        "for position, needed in enumerate(dict.fromkeys(depends_on)):",
    ),
    # Repairs
    slip(
        "saving-without-the-least",
        _ADVISE,
        "steps to drop are chosen by their estimates, without the least their tools take",
        'max(fields["estimated_tokens"] or 0, tool.least_tokens)',
        'fields["estimated_tokens"] or 0',
    ),
)
