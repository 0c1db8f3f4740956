"""The five checks as formulas over plans of any length, manifests of any size and any context.

A `World` (see `worlds`) is everything that `verify` reads, as symbols without a meaning: what is
proven of them holds for every meaning they could be given.

Modelled exactly
    coverage            required outputs are declared, and some step can produce each: one whose
                        tool lists it, where any tool of the manifest does; trace ids
    surface             looked up by the pair, two arguments and never one joined name
    confinement         no confined content in a call at network or above, pinned or fresh or not
    modes               five, with their ranks; the safety mode and the spec's ceiling
    approval            tier, plan digest in both spellings, covered steps, expiry at `as_of`;
                        what asks for one is cleared by it, and nothing else is
    evidence            exact class, known and fresh refs only; tool's, step's and spec's classes
    demands             one pinned fresh item of the class: its content and all of `about`
    bound arguments     every value of a bound argument, by a pinned fresh item of an allowed class,
                        at one of the pointers where there are any; what may be empty or absent
    groups              one item for every value of all the arguments
    order               unique ids, `depends_on` names ids of earlier steps
    repeats             no two destructive calls of one pair with equal args, in the plan or, unless
                        it is approved, over the turns before
    size and tokens     spent + steps, spent + sum of max(estimate, least); defaults 12 and 8000
    time                integers (microseconds); an absent `as_of`, estimate or expiry is a fact

Abstract: a symbol that may mean anything
    satisfies           whether args satisfy an args schema (JSON Schema)
    backs, stands       whether the content of an item backs a value (leaves, token boundaries), and
                        whether it does at a pointer
    says, is_about      whether the content satisfies the schema of a demand, and whether it holds
                        an argument at a pointer (JSON Schema, equality of JSON)
    leaks               whether args hold confined content of an item
    has_arg, empty,     which arguments there are, which of them are empty or absent, and which
    leaf                values they hold (JSON)
    fits                whether an approval names no context, or this one (SHA-256)
    tool_refused,       what provenance finds of a step: that its tool or a value of it is refused,
    value_refused,      that something asks, that two doubts meet. Any findings at all, so that a
    doubted,            law that changes evidence, spec or context says nothing of what provenance
    doubted_twice       then finds
    args                equal exactly when their canonical JSON is
    digest              one name for one plan (SHA-256, canonical JSON)

Not modelled: what the package docstring says is not proven.

What the envelopes guarantee before `verify` begins is in `facts`: one entry per pair and per
evidence id (they are functions of them), counts of zero or more. An absent `spent` reads as zero.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from evals.kinds import MODE_RANK
from tests.assurance.proof.solver import Term, every, some, z3
from tests.assurance.proof.worlds import (
    ARG,
    CLASS,
    DEMAND,
    DESTRUCTIVE,
    GROUP,
    ID,
    LEAF,
    OUTPUT,
    POINTER,
    REF,
    Meaning,
    World,
    approved,
    bucket_tokens,
    can_produce,
    cost,
    each_below,
    every_step,
    fresh,
    holds_class,
    max_steps,
    pair,
    rank,
    some_step,
    step_mode,
    uses_tool,
)

# --- the checks: what holds of a step, and of the plan as a whole -------------------------------


def covered(w: World) -> Term:
    def fulfilled(output: Term) -> Term:
        made = some_step(w, lambda i: can_produce(w, i, output))
        return z3.Implies(w.needs_output(output), z3.And(w.declares(output), made))

    right_trace = z3.Implies(w.has_trace(), w.plan_trace() == w.trace())
    return z3.And(every(OUTPUT, fulfilled), right_trace)


def sends_confined(w: World, i: Term) -> Term:
    """Return that a step sends content of an item that must not leave, pinned or fresh or not."""

    def leaked(r: Term) -> Term:
        return z3.And(w.known(r), w.confines(w.class_of(r)), w.leaks(r, w.args(i)))

    leaves = rank(step_mode(w, i)) >= MODE_RANK["network"]
    return z3.And(uses_tool(w, i), leaves, some(REF, leaked))


def step_surfaced(w: World, i: Term) -> Term:
    tool = pair(w, i)
    valid = z3.Implies(w.schemed(*tool), w.satisfies(*tool, w.args(i)))
    called = z3.Implies(w.calls(i), z3.And(w.surfaced(*tool), valid))
    return z3.And(called, z3.Not(sends_confined(w, i)), z3.Not(w.tool_refused(i)))


def step_permitted(w: World, i: Term) -> Term:
    mine = rank(step_mode(w, i))
    below = z3.Implies(w.has_ceiling(), mine <= rank(w.ceiling()))
    signed = z3.Implies(z3.And(w.has_tier(), mine >= rank(w.tier())), approved(w, i))
    cleared = z3.And(z3.Implies(w.doubted(i), approved(w, i)), z3.Not(w.doubted_twice(i)))
    within = z3.And(mine <= rank(w.safety_mode()), below, signed)
    return z3.And(z3.Implies(uses_tool(w, i), within), cleared)


# --- evidence -----------------------------------------------------------------------------------


def meets(w: World, i: Term, demand: Term, r: Term) -> Term:
    """Return that one pinned item says all that a demand asks for."""

    def about(arg: Term, pointer: Term) -> Term:
        there = z3.And(z3.Not(w.empty(w.args(i), arg)), w.is_about(r, pointer, w.args(i), arg))
        return z3.Implies(w.asks_about(demand, arg, pointer), there)

    every_about = every(ARG, lambda arg: every(POINTER, lambda at: about(arg, at)))
    of_class = w.class_of(r) == w.class_demanded(demand)
    return z3.And(w.pins(i, r), fresh(w, r), of_class, w.says(r, demand), every_about)


def judged(w: World, i: Term, arg: Term) -> Term:
    """Return that a bound argument is there to be backed; one that may be left out is, if empty."""
    named = z3.Or(w.insists(*pair(w, i), arg), w.spares(*pair(w, i), arg))
    left_out = z3.And(named, w.empty(w.args(i), arg))
    return z3.And(w.binds(*pair(w, i), arg), w.has_arg(w.args(i), arg), z3.Not(left_out))


def backed_by(w: World, i: Term, arg: Term, leaf: Term, r: Term) -> Term:
    """Return that one pinned item backs a value, where the binding says that it must stand."""
    tool = pair(w, i)
    places = some(POINTER, lambda at: z3.And(w.at(*tool, arg, at), w.stands(r, at, leaf)))
    held = z3.If(w.placed(*tool, arg), places, w.backs(r, leaf))
    return z3.And(w.pins(i, r), fresh(w, r), w.allows(*tool, arg, w.class_of(r)), held)


def backed(w: World, i: Term, arg: Term, leaf: Term) -> Term:
    return some(REF, lambda r: backed_by(w, i, arg, leaf, r))


def in_group(w: World, i: Term, group: Term, arg: Term, leaf: Term) -> Term:
    """Return that a value is one of those that a single item must back."""
    return z3.And(w.member(group, arg), judged(w, i, arg), w.leaf(w.args(i), arg, leaf))


def backed_together(w: World, i: Term, group: Term) -> Term:
    def by(r: Term) -> Term:
        def each(arg: Term, leaf: Term) -> Term:
            return z3.Implies(in_group(w, i, group, arg, leaf), backed_by(w, i, arg, leaf, r))

        return every(ARG, lambda arg: every(LEAF, lambda leaf: each(arg, leaf)))

    members = some(ARG, lambda arg: some(LEAF, lambda x: in_group(w, i, group, arg, x)))
    return z3.Implies(members, some(REF, by))


def classes_met(w: World, i: Term) -> Term:
    def met(name: Term) -> Term:
        by_tool = z3.And(uses_tool(w, i), w.requires(*pair(w, i), name))
        return z3.Implies(z3.Or(by_tool, w.asks(i, name)), holds_class(w, i, name))

    return every(CLASS, met)


def pins_fresh(w: World, i: Term) -> Term:
    return every(REF, lambda r: z3.Implies(w.pins(i, r), fresh(w, r)))


def demands_met(w: World, i: Term) -> Term:
    def met(demand: Term) -> Term:
        asked = z3.And(uses_tool(w, i), w.demands(*pair(w, i), demand))
        return z3.Implies(asked, some(REF, lambda r: meets(w, i, demand, r)))

    return every(DEMAND, met)


def arguments_there(w: World, i: Term) -> Term:
    def there(arg: Term) -> Term:
        insisted = z3.And(uses_tool(w, i), w.insists(*pair(w, i), arg))
        return z3.Implies(insisted, z3.Not(w.empty(w.args(i), arg)))

    return every(ARG, there)


def arguments_backed(w: World, i: Term) -> Term:
    def each(arg: Term, leaf: Term) -> Term:
        asked = z3.And(uses_tool(w, i), judged(w, i, arg), w.leaf(w.args(i), arg, leaf))
        return z3.Implies(asked, backed(w, i, arg, leaf))

    return every(ARG, lambda arg: every(LEAF, lambda leaf: each(arg, leaf)))


def groups_backed(w: World, i: Term) -> Term:
    def grouped(group: Term) -> Term:
        asked = z3.And(uses_tool(w, i), w.groups(*pair(w, i), group))
        return z3.Implies(asked, backed_together(w, i, group))

    return every(GROUP, grouped)


def values_seen(w: World, i: Term) -> Term:
    return z3.Not(w.value_refused(i))


EVIDENCED: Final = (
    *(classes_met, pins_fresh, demands_met, arguments_there, arguments_backed, groups_backed),
    values_seen,
)
"""The parts of the evidence check at a step."""


def step_evidenced(w: World, i: Term) -> Term:
    return z3.And(*(part(w, i) for part in EVIDENCED))


def classes_pinned(w: World) -> Term:
    def pinned(name: Term) -> Term:
        return z3.Implies(w.needs_class(name), some_step(w, lambda i: holds_class(w, i, name)))

    return every(CLASS, pinned)


def destructive_call(w: World, i: Term) -> Term:
    return z3.And(uses_tool(w, i), step_mode(w, i) == DESTRUCTIVE)


def same_call(w: World, i: Term, j: Term) -> Term:
    same_pair = (w.adapter(i) == w.adapter(j), w.capability(i) == w.capability(j))
    return z3.And(*same_pair, w.args(i) == w.args(j))


def step_in_order(w: World, i: Term) -> Term:
    def earlier(says: Callable[[Term], Term]) -> Term:
        return some_step(w, lambda j: z3.And(j < i, says(j)))

    def named(name: Term) -> Term:
        return earlier(lambda j: z3.And(w.has_id(j), w.id(j) == name))

    taken = z3.And(w.has_id(i), earlier(lambda j: z3.And(w.has_id(j), w.id(j) == w.id(i))))
    ready = every(ID, lambda name: z3.Implies(w.depends(i, name), named(name)))
    done = earlier(lambda j: z3.And(destructive_call(w, j), same_call(w, j, i)))
    before_this_plan = z3.And(w.made_before(*pair(w, i), w.args(i)), z3.Not(approved(w, i)))
    repeated = z3.And(destructive_call(w, i), z3.Or(done, before_this_plan))
    return z3.And(z3.Not(taken), ready, z3.Not(repeated))


def few_steps(w: World) -> Term:
    return w.spent_steps() + w.steps() <= max_steps(w)


def few_tokens(w: World) -> Term:
    return w.spent_tokens() + w.tokens_before(w.steps()) <= bucket_tokens(w)


PER_STEP: Final = {
    ("surface", "violates_decision_spec"): step_surfaced,
    ("approval", "approval_mode_mismatch"): step_permitted,
    ("evidence", "missing_evidence"): step_evidenced,
    ("loop", "loop_guard"): step_in_order,
}
"""Which steps a check has nothing against, by check and refusal kind."""

PARTS: Final = (step_surfaced, step_permitted, *EVIDENCED, step_in_order)
"""The same in smaller parts, for proofs."""

WHOLE: Final = {
    ("coverage", "violates_decision_spec"): covered,
    ("evidence", "missing_evidence"): classes_pinned,
    ("loop", "loop_guard"): few_steps,
    ("loop", "budget_exceeded"): few_tokens,
}
"""When a check has nothing against the plan as a whole."""


def accepted(w: World) -> Term:
    """Return that the plan passes every check, at every step and as a whole."""
    steps = [every_step(w, partial(says, w)) for says in PER_STEP.values()]
    return z3.And(*steps, *(says(w) for says in WHOLE.values()))


def cleared(w: World) -> World:
    """Return the same world, in which a person has approved this very plan, all of it."""
    yes, no = (lambda *_: z3.BoolVal(True)), (lambda *_: z3.BoolVal(False))
    return w.changed(given=yes, signed=lambda _: w.digest(), fits=yes, lapses=no, covers_all=yes)


def approvable(w: World) -> Term:
    """Return that the plan is refused, and that an approval of it would clear all of that."""
    return z3.And(z3.Not(accepted(w)), accepted(cleared(w)))


def facts(w: World) -> Term:
    """Return the facts of every world: counts are not negative, and `tokens_before` is the sum."""
    counts = (w.steps() >= 0, w.spent_steps() >= 0, w.spent_tokens() >= 0)
    costs = every_step(w, lambda i: cost(w, i) >= 0)
    sums = is_sum(w.tokens_before, lambda i: cost(w, i), w.steps(), w.unrolled)
    return z3.And(*counts, costs, sums, *([w.steps() <= w.unrolled] if w.unrolled else []))


def is_sum(total: Meaning, term: Meaning, count: Term, unrolled: int) -> Term:
    """Return that `total(k)` is the sum of the first `k` terms, for all k up to the count."""
    added = each_below(count, lambda i: total(i + 1) == total(i) + term(i), unrolled)
    return z3.And(total(z3.IntVal(0)) == 0, added)
