"""Lemmas that are false, and that look true: the solver has to find a world where each fails.

They show that the encoding can be contradicted, that plans can pass in it, and where a law ends.
All are about plans of few steps, since an example is small.
"""

from typing import Final

from evals.kinds import MODE_RANK
from tests.assurance.proof import encoding as enc
from tests.assurance.proof import worlds as ws
from tests.assurance.proof.encoding import accepted, facts
from tests.assurance.proof.lemma import Lemma
from tests.assurance.proof.solver import Term, a, every, some, z3
from tests.assurance.proof.worlds import World, in_plan, pair, rank, symbol

_STEP: Final = a(ws.INT, "i")


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
        _group_apart(w),
        _class_is_enough(w),
        _tool_removed(w),
        _evidence_removed(w),
        _all_asks(w),
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
    one, other = a(ws.MODE, "one"), a(ws.MODE, "other")

    def text(mode: Term) -> Term:
        spelled = z3.StringVal("")
        for constant, name in zip(ws.MODES, MODE_RANK, strict=True):
            spelled = z3.If(mode == constant, z3.StringVal(name), spelled)
        return spelled

    return Lemma(
        "string order",
        "The string order of modes agrees with their rank. (destructive sorts lowest.)",
        (text(one) < text(other),),
        (rank(one) < rank(other),),
    )


def _joined_names(w: World) -> Lemma:
    joined = z3.Function("joined", ws.ADAPTER, ws.CAPABILITY, z3.DeclareSort("Joined"))
    x, y = a(ws.ADAPTER, "x"), a(ws.CAPABILITY, "y")
    called = pair(w, _STEP)
    return Lemma(
        "joined names",
        "A call whose joined name is that of a listed tool is surfaced. (a.b + c is not a + b.c.)",
        (in_plan(w, _STEP), w.surfaced(x, y), joined(x, y) == joined(*called)),
        (enc.step_surfaced(w, _STEP),),
    )


def _any_class(w: World) -> Lemma:
    pinned = some(ws.REF, lambda r: z3.And(w.pins(_STEP, r), ws.fresh(w, r)))
    good = every(ws.REF, lambda r: z3.Implies(w.pins(_STEP, r), ws.fresh(w, r)))
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
            w.requires(*pair(w, z3.IntVal(1)), a(ws.CLASS, "name")),
            w.needs_output(a(ws.OUTPUT, "output")),
        ),
        (z3.Not(accepted(w)),),
    )


def _group_apart(w: World) -> Lemma:
    group = a(ws.GROUP, "group")
    values = [(a(ws.ARG, f"arg_{n}"), a(ws.LEAF, f"value_{n}")) for n in range(2)]
    wanted = [enc.in_group(w, _STEP, group, *value) for value in values]
    apart = [enc.backed(w, _STEP, *value) for value in values]

    def by_one(r: Term) -> Term:
        return z3.And(*(enc.backed_by(w, _STEP, *value, r) for value in values))

    return Lemma(
        "each by itself",
        "Values of a group that are backed one by one are backed together. (By two items.)",
        (*wanted, *apart),
        (some(ws.REF, by_one),),
    )


def _class_is_enough(w: World) -> Lemma:
    demand = a(ws.DEMAND, "demand")
    return Lemma(
        "class is enough",
        "A fresh item of the class that is demanded meets the demand. (It may say the opposite.)",
        (in_plan(w, _STEP), ws.holds_class(w, _STEP, w.class_demanded(demand))),
        (some(ws.REF, lambda r: enc.meets(w, _STEP, demand, r)),),
    )


def _tool_removed(w: World) -> Lemma:
    kept = symbol("surfaced", "_kept")
    fewer = w.changed(surfaced=lambda *tool: z3.And(w.surfaced(*tool), kept(*tool)))
    free = ws.every_step(w, lambda i: z3.Not(w.calls(i)))
    return Lemma(
        "tool removed",
        "Removing any tool never accepts a refused plan. (Any step may make what it listed.)",
        (facts(w), facts(fewer), free, accepted(fewer)),
        (accepted(w),),
    )


def _evidence_removed(w: World) -> Lemma:
    kept = symbol("known", "_kept")
    fewer = w.changed(known=lambda ref: z3.And(w.known(ref), kept(ref)))
    return Lemma(
        "evidence removed",
        "Removing any item never accepts a refused plan. (It may have been confined.)",
        (facts(w), facts(fewer), accepted(fewer)),
        (accepted(w),),
    )


def _all_asks(w: World) -> Lemma:
    return Lemma(
        "an approval clears all",
        "What is refused passes once a person approves the plan. (A mode may be too high.)",
        (facts(w),),
        (accepted(enc.cleared(w)),),
    )
