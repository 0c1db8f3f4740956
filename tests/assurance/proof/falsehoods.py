"""Lemmas that are false, and that look true: the solver has to find a world where each fails.

They show that the encoding can be contradicted, that plans can pass in it, and where a law ends.
All are about plans of few steps, since an example is small.
"""

from typing import Final

from evals.envelope import MODE_RANK
from tests.assurance.proof import encoding as enc
from tests.assurance.proof.encoding import World, accepted, facts, in_plan, pair, rank, symbol
from tests.assurance.proof.lemma import Lemma
from tests.assurance.proof.solver import Term, a, every, some, z3

_STEP: Final = a(enc.INT, "i")


def falsehoods(w: World) -> tuple[Lemma, ...]:
    """Return all false lemmas, over a world unrolled far enough for a counterexample."""
    return (
        _appending(w),
        _string_order(),
        _joined_names(w),
        _any_class(w),
        _coverage_alone(w),
        _budget_left_out(w),
        _nothing_destructive_passes(w),
    )


def _appending(w: World) -> Lemma:
    longer = w.changed(steps=lambda: w.steps() + 1)
    return Lemma(
        "appending a step",
        "Appending a step never un-refuses a plan. (It may pin, or produce, what was missing.)",
        (facts(w), facts(longer), z3.Not(accepted(w))),
        (z3.Not(accepted(longer)),),
    )


def _string_order() -> Lemma:
    one, other = a(enc.MODE, "one"), a(enc.MODE, "other")

    def text(mode: Term) -> Term:
        spelled = z3.StringVal("")
        for constant, name in zip(enc.MODES, MODE_RANK, strict=True):
            spelled = z3.If(mode == constant, z3.StringVal(name), spelled)
        return spelled

    return Lemma(
        "string order",
        "The string order of modes agrees with their rank. (destructive sorts lowest.)",
        (text(one) < text(other),),
        (rank(one) < rank(other),),
    )


def _joined_names(w: World) -> Lemma:
    joined = z3.Function("joined", enc.ADAPTER, enc.CAPABILITY, z3.DeclareSort("Joined"))
    x, y = a(enc.ADAPTER, "x"), a(enc.CAPABILITY, "y")
    called = pair(w, _STEP)
    return Lemma(
        "joined names",
        "A call whose joined name is that of a listed tool is surfaced. (a.b + c is not a + b.c.)",
        (in_plan(w, _STEP), w.surfaced(x, y), joined(x, y) == joined(*called)),
        (enc.step_surfaced(w, _STEP),),
    )


def _any_class(w: World) -> Lemma:
    pinned = some(enc.REF, lambda r: z3.And(w.pins(_STEP, r), enc.fresh(w, r)))
    good = every(enc.REF, lambda r: z3.Implies(w.pins(_STEP, r), enc.fresh(w, r)))
    return Lemma(
        "any class",
        "A step that pins something fresh, and nothing else, is evidenced. (Its class counts.)",
        (in_plan(w, _STEP), pinned, good),
        (enc.step_evidenced(w, _STEP),),
    )


def _coverage_alone(w: World) -> Lemma:
    kept = symbol("surfaced", "_kept")
    fewer = w.changed(surfaced=lambda *tool: z3.And(w.surfaced(*tool), kept(*tool)))
    return Lemma(
        "coverage alone",
        "Removing a tool never satisfies coverage, taken alone. (A step outside the surface is "
        "left to the surface check, which refuses it.)",
        (w.steps() >= 0, w.steps() <= w.unrolled, enc.covered(fewer)),
        (enc.covered(w),),
    )


def _budget_left_out(w: World) -> Lemma:
    without = w.changed(has_budget=lambda: z3.BoolVal(False))
    return Lemma(
        "budget left out",
        "Leaving run_budget out never accepts a refused plan. (The defaults may be larger.)",
        (facts(w), accepted(without)),
        (accepted(w),),
    )


def _nothing_destructive_passes(w: World) -> Lemma:
    return Lemma(
        "nothing passes",
        "No plan passes that calls two destructive tools, evidence, approval and all. (It can.)",
        (
            *(facts(w), w.steps() == 2, w.has_tier(), w.has_ceiling(), w.has_budget()),
            *(enc.destructive_call(w, z3.IntVal(0)), enc.destructive_call(w, z3.IntVal(1))),
            w.requires(*pair(w, z3.IntVal(1)), a(enc.CLASS, "name")),
            w.needs_output(a(enc.OUTPUT, "output")),
        ),
        (z3.Not(accepted(w)),),
    )
