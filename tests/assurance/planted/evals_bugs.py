"""Bugs in the rules of `evals/`: evidence, binding, approvals, and the five evaluators."""

from typing import Final

from tests.assurance.planted.bug import Bug, Edit, slip

_EVIDENCE: Final = "evals/evidence.py"
_BINDING: Final = "evals/binding.py"
_APPROVAL: Final = "evals/approval.py"
_POLICY: Final = "evals/policy.py"
_SAFETY: Final = "evals/safety.py"

EVALS_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "unlisted-ref-skipped",
        _EVIDENCE,
        "a pinned ref that is not in the manifest is no fault",
        'faults.append(PinFault(position, ref, "which is not in the evidence manifest"))',
        "continue",
        hole="forged_ref",
    ),
    slip(
        "expiry-needs-no-clock",
        "evals/timestamps.py",
        "what expires is fresh where as_of is missing",
        "expires_at is None or (as_of is not None and as_of < expires_at)",
        "expires_at is None or as_of is None or as_of < expires_at",
    ),
    Bug(
        "clock-for-pins",
        "pins are judged by the wall clock where as_of is missing",
        (
            Edit(_EVIDENCE, "import datetime\n", "import UTC, datetime\n"),
            Edit(
                _EVIDENCE,
                "seen: set[str] = set()\n",
                "seen: set[str] = set()\n    as_of = as_of or datetime.now(UTC)\n",
            ),
        ),
        hole="clock",
    ),
    slip(
        "any-class-backs",
        _EVIDENCE,
        "evidence of any class backs a bound argument",
        "for name in bound.classes for item in by_class.get(name, ())]",
        "for items in by_class.values() for item in items]",
        hole="any_class",
    ),
    slip(
        "one-backed-leaf-is-enough",
        _EVIDENCE,
        "an argument passes as soon as one of its values is backed",
        "elif unbacked_values(given[name].values, self.backings(bound, by_class), bound.at):",
        "elif len(unbacked_values(every := given[name].values, self.backings(bound, by_class), "
        "bound.at))"
        " == len(every):",
    ),
    slip(
        "true-is-one",
        _BINDING,
        "true is backed by the number 1",
        "(type(value) is bool, value)",
        "(False, value)",
    ),
    slip(
        "backed-by-a-part",
        _BINDING,
        "pay_1 is backed by a text that holds pay_12",
        "if spelled in self._tokens:",
        "if any(spelled in text for text in self._texts):",
    ),
    slip(
        "lists-not-looked-into",
        _BINDING,
        "values inside an array are no values",
        "elif type(current) is list:\n            open_values.extend(current)\n        else:",
        "elif type(current) is not list:",
    ),
    slip(
        "approval-of-any-plan",
        _APPROVAL,
        "an approval covers a plan if it is of it or simply unexpired",
        "if approval.plan_digest in names and is_unexpired",
        "if approval.plan_digest in names or is_unexpired",
    ),
    slip(
        "approval-for-no-step",
        _APPROVAL,
        "an approval of no step is an approval of all",
        "if any(approval.steps is None for",
        "if any(not approval.steps for",
    ),
    slip(
        "approval-never-expires",
        _APPROVAL,
        "the expiry of an approval is not looked at",
        "and is_unexpired(approval.expires_at, self._ctx.as_of)",
        "and is_unexpired(None, self._ctx.as_of)",
    ),
    slip(
        "run-of-another-trace",
        _POLICY,
        "a run of another trace is scored as long as the plan is of this one",
        "if run.trace_id != ctx.trace_id:",
        "if run.trace_id != ctx.trace_id and plan.trace_id != ctx.trace_id:",
        hole="foreign_run",
    ),
    slip(
        "run-of-another-plan",
        _POLICY,
        "calls with other args than their steps count as the plan's",
        "if canonical_json(call.args) != planned:",
        "if call.args.keys() != step.args.keys():",
        hole="foreign_run",
    ),
    slip(
        "run-of-another-run",
        _POLICY,
        "a run under another run_id is scored",
        "if ctx.run_id is not None and ctx.run_id != run.run_id:",
        "if ctx.run_id is not None and not run.run_id:",
        hole="foreign_run",
    ),
    slip(
        "joined-call-keys",
        _POLICY,
        "a call is held against its step by joined names",
        "if (call.adapter_id, call.capability_id) != (step.adapter_id, step.capability_id):",
        'if f"{call.adapter_id}.{call.capability_id}" != '
        'f"{step.adapter_id}.{step.capability_id}":',
        hole="joined_key",
    ),
    slip(
        "order-not-kept",
        _POLICY,
        "a call may come before what it depends on by way of a reason step",
        "free += [] if needed else [index]",
        "free.append(index)",
    ),
    slip(
        "repeated-after-success",
        _POLICY,
        "a completed call may be repeated as a retry",
        'if earlier is not None and earlier.status == "completed":',
        "if earlier is not None and call.attempt <= earlier.attempt:",
    ),
    slip(
        "null-output-delivered",
        "evals/utility.py",
        "null counts as a delivered output",
        '    if run.outputs[name] is None:\n        return f"required output {name} is null"\n',
        "",
    ),
    slip(
        "unmeasured-passes",
        "evals/measure.py",
        "what was not measured scores 1",
        "return Measured(0.0, Finding",
        "return Measured(1.0, Finding",
    ),
    slip(
        "twice-is-failure",
        "evals/measure.py",
        "exactly twice the budget fails",
        "used > 2 * budget",
        "used >= 2 * budget",
    ),
    slip(
        "executor-says-less",
        "evals/cost.py",
        "a total below the sum of its calls is believed",
        "return max(whole, summed)",
        "return whole",
    ),
    slip(
        "part-for-the-whole",
        "evals/cost.py",
        "the calls that were measured stand for all of them",
        "complete = bool(parts) and len(counted) == len(parts)",
        "complete = bool(counted)",
    ),
    slip(
        "retry-under-any-key",
        _SAFETY,
        "a call of unknown effect is retried under another key",
        "(call.idempotency_key is None or uncertain != {call.idempotency_key})",
        "call.idempotency_key is None",
    ),
    slip(
        "short-secret-leaks",
        "evals/confinement.py",
        "confined strings of eight characters leak",
        "SHORTEST_TEXT: Final = 8",
        "SHORTEST_TEXT: Final = 9",
    ),
    slip(
        "leak-over-the-network",
        _SAFETY,
        "confined content may go out through calls at network",
        'any(_reaches(self._tools.get(name), "network") for name in names)',
        'any(_reaches(self._tools.get(name), "delegated") for name in names)',
    ),
    slip(
        "unknown-tool-is-safe",
        _SAFETY,
        "a call of a tool that is not surfaced has no effect",
        "return tool is None or MODE_RANK[tool.approval_mode] >= MODE_RANK[mode]",
        "return tool is not None and MODE_RANK[tool.approval_mode] >= MODE_RANK[mode]",
        hole="unknown_mode",
    ),
    slip(
        "leak-as-a-key",
        "evals/confinement.py",
        "confined content in the key of an object is not seen",
        "            yield from current\n            open_values",
        "            open_values",
    ),
    slip(
        "evaluator-crash-passes",
        "evals/scorecard.py",
        "an evaluator that raises only warns",
        'crash = Finding(severity="error"',
        'crash = Finding(severity="warn"',
    ),
    slip(
        "error-is-a-warning",
        "evals/verdict.py",
        "an error among warnings is a warning",
        'if "error" in severities:',
        'if "error" in severities and "warn" not in severities:',
    ),
)
