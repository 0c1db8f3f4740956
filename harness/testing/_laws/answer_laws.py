"""The laws of the answer itself: there is one, always the same, well formed and safe to print."""

from typing import Any, Final, get_args

from hypothesis import strategies as st

from critic import Check, Proposal, Refused
from evals.json_value import SAFE_INTEGER
from harness.canonical import canonical_bytes
from harness.testing._laws.law_context import LawContext, with_manifest, with_step
from harness.wire import parse

_CHECKS: Final = get_args(Check)
# A lone ">" is in the published reasons, and harmless in HTML.
_UNSAFE: Final = frozenset("<&\"'`")
_VALUES: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-SAFE_INTEGER, SAFE_INTEGER)
    | st.floats(-1e15, 1e15)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


def totality(context: LawContext) -> None:
    """Every proposal gets one of two answers, and no exception."""
    context.require_answer(context.proposal)


def any_values_get_an_answer(context: LawContext) -> None:
    """Any JSON in args and evidence gets one of two answers, and no exception."""
    args, content = context.draw(_VALUES), context.draw(_VALUES)
    altered = context.wire
    if content is not None:
        items = altered["compiled"]["manifests"]["evidence_manifest"]
        filled = [{**item, "content": content} for item in items]
        altered = with_manifest(altered, "evidence_manifest", filled)
    for index, step in enumerate(altered["plan"]["steps"]):
        if step["kind"] == "tool":
            altered = with_step(altered, index, args={"x": args, "y": content})
    context.require_answer(altered, altered)


def determinism(context: LawContext) -> None:
    """The same proposal gets the same verdict, byte for byte, and so does a copy of it."""
    first = canonical_bytes(context.judge(context.proposal))
    for again in (context.proposal, context.proposal.model_copy(deep=True)):
        same = canonical_bytes(context.judge(again)) == first
        context.require(same, "judged again, it gets another verdict")


def json_round_trip(context: LawContext) -> None:
    """Writing a proposal as JSON and reading it again changes nothing."""
    reread = context.judge(parse(Proposal, canonical_bytes(context.proposal)))
    same = canonical_bytes(reread) == canonical_bytes(context.judge(context.proposal))
    context.require(same, f"read again from its JSON, it gets another verdict: {reread.wire()}")


def the_order_of_keys_means_nothing(context: LawContext) -> None:
    """Another order of the keys of args and contents changes nothing in a verdict."""
    altered = context.wire
    for index, step in enumerate(altered["plan"]["steps"]):
        if step.get("args"):
            altered = with_step(altered, index, args=_backwards(step["args"]))
    items = altered["compiled"]["manifests"]["evidence_manifest"]
    turned = [{name: _backwards(part) for name, part in item.items()} for item in items]
    altered = with_manifest(altered, "evidence_manifest", turned)
    before = context.judge(context.proposal)
    context.require_same(before, altered, "another order of keys")


def _backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _backwards(value[name]) for name in reversed(value)}
    return [*map(_backwards, value)] if isinstance(value, list) else value


def violations_come_in_the_order_of_checks(context: LawContext) -> None:
    """Violations come in the order coverage, surface, approval, evidence, loop."""
    verdict = context.judge(context.proposal)
    violations = verdict.violations if isinstance(verdict, Refused) else ()
    checks = [violation.check for violation in violations]
    context.require(checks == sorted(checks, key=_CHECKS.index), f"they come as {checks}")


def violations_name_real_places(context: LawContext) -> None:
    """Every violation names a step that the plan has, and a path that leads into it."""
    verdict = context.judge(context.proposal)
    plan = context.wire["plan"]
    for violation in verdict.violations if isinstance(verdict, Refused) else ():
        step, path, reason = violation.offending_step, violation.path, violation.reason
        real = step is None or step < len(plan["steps"])
        context.require(real, f"step {step} is blamed, of {len(plan['steps'])}: {reason}")
        leads = path is None or _leads_somewhere(plan, path)
        context.require(leads, f"path {path} leads nowhere: {reason}")
        inside = step is None or path is None or f"{path}/".startswith(f"/steps/{step}/")
        context.require(inside, f"path {path} is not in step {step}: {reason}")


def _leads_somewhere(document: Any, pointer: str) -> bool:
    """Return whether a JSON pointer leads into the document, or to a field that is left out."""
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for position, part in enumerate(parts):
        if isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        elif isinstance(document, dict) and part in document:
            document = document[part]
        else:
            return isinstance(document, dict) and position == len(parts) - 1
    return True


def reasons_are_safe_to_print(context: LawContext) -> None:
    """Every reason and caveat is one line of printable ASCII without HTML in it."""
    verdict = context.judge(context.proposal)
    caveats = () if isinstance(verdict, Refused) else verdict.caveats
    for line in (*verdict.reasons, *caveats):
        safe = line and line.isascii() and line.isprintable() and not _UNSAFE & set(line)
        context.require(bool(safe), f"not safe to print: {line!a}")
