"""The five checks as formulas over plans of any length, manifests of any size and any context.

A `World` is everything that `verify` reads, as symbols without a meaning: what is proven of them
holds for every meaning they could be given. Steps are the integers from 0 to `steps() - 1`.

Modelled exactly
    coverage            required outputs are declared, and some step can produce each; trace ids
    surface             looked up by the pair, two arguments and never one joined name
    modes               five, with their ranks; the safety mode and the spec's ceiling
    approval            tier, plan digest in both spellings, covered steps, expiry at `as_of`
    evidence            exact class, known and fresh refs only; tool's, step's and spec's classes
    bound arguments     every value of a bound argument, by a pinned fresh item of an allowed class
    order               unique ids, `depends_on` names ids of earlier steps
    repeats             no two destructive calls of one pair with equal args
    size and tokens     spent + steps, spent + sum of max(estimate, least); defaults 12 and 8000
    time                integers (microseconds); an absent `as_of`, estimate or expiry is a fact

Abstract: a symbol that may mean anything
    satisfies           whether args satisfy an args schema (JSON Schema)
    backs               whether the content of an item backs a value (leaves, token boundaries)
    has_arg, leaf       which arguments there are and which values they hold (JSON)
    args                equal exactly when their canonical JSON is
    digest              one name for one plan (SHA-256, canonical JSON)

Not modelled: what the package docstring says is not proven.

What the envelopes guarantee before `verify` begins is in `facts`: one entry per pair and per
evidence id (they are functions of them), counts of zero or more. An absent `spent` reads as zero.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.envelope import MODE_RANK
from tests.assurance.proof.solver import Term, every, some, z3

INT: Final = z3.IntSort()
BOOL: Final = z3.BoolSort()
MODE, MODES = z3.EnumSort("Mode", list(MODE_RANK))
DESTRUCTIVE: Final = MODES[-1]

_NAMES = ("Adapter", "Capability", "Args", "Arg", "Leaf", "Output", "Class", "Ref", "Id")
ADAPTER, CAPABILITY, ARGS, ARG, LEAF, OUTPUT, CLASS, REF, ID = map(z3.DeclareSort, _NAMES)
TRACE, DIGEST, APPROVAL = map(z3.DeclareSort, ("Trace", "Digest", "Approval"))
_TOOL = (ADAPTER, CAPABILITY)

# Arguments and result. Nothing else is assumed of a symbol but what `facts` says.
SYMBOLS: Final[dict[str, tuple[Term, ...]]] = {
    "steps": (INT,),
    "calls": (INT, BOOL),
    "args": (INT, ARGS),
    "adapter": (INT, ADAPTER),
    "capability": (INT, CAPABILITY),
    "has_id": (INT, BOOL),
    "id": (INT, ID),
    "depends": (INT, ID, BOOL),
    "asks": (INT, CLASS, BOOL),
    "pins": (INT, REF, BOOL),
    "has_estimate": (INT, BOOL),
    "estimate": (INT, INT),
    "declares": (OUTPUT, BOOL),
    "has_trace": (BOOL,),
    "plan_trace": (TRACE,),
    "digest": (DIGEST,),
    "prefixed_digest": (DIGEST,),
    "tokens_before": (INT, INT),
    # tool manifest
    "surfaced": (*_TOOL, BOOL),
    "mode": (*_TOOL, MODE),
    "least": (*_TOOL, INT),
    "requires": (*_TOOL, CLASS, BOOL),
    "binds": (*_TOOL, ARG, BOOL),
    "allows": (*_TOOL, ARG, CLASS, BOOL),
    "lists": (*_TOOL, BOOL),
    "produces": (*_TOOL, OUTPUT, BOOL),
    "schemed": (*_TOOL, BOOL),
    "satisfies": (*_TOOL, ARGS, BOOL),
    # evidence manifest, and what args hold
    "known": (REF, BOOL),
    "class_of": (REF, CLASS),
    "expires": (REF, BOOL),
    "expiry": (REF, INT),
    "backs": (REF, LEAF, BOOL),
    "has_arg": (ARGS, ARG, BOOL),
    "leaf": (ARGS, ARG, LEAF, BOOL),
    # spec
    "needs_output": (OUTPUT, BOOL),
    "needs_class": (CLASS, BOOL),
    "has_ceiling": (BOOL,),
    "ceiling": (MODE,),
    "has_tier": (BOOL,),
    "tier": (MODE,),
    # context
    "trace": (TRACE,),
    "safety_mode": (MODE,),
    "has_now": (BOOL,),
    "now": (INT,),
    "has_budget": (BOOL,),
    "budget_steps": (INT,),
    "budget_tokens": (INT,),
    "spent_steps": (INT,),
    "spent_tokens": (INT,),
    "given": (APPROVAL, BOOL),
    "signed": (APPROVAL, DIGEST),
    "lapses": (APPROVAL, BOOL),
    "lapse": (APPROVAL, INT),
    "covers_all": (APPROVAL, BOOL),
    "covers": (APPROVAL, INT, BOOL),
}

Meaning = Callable[..., Term]


class World:
    """A meaning for each of the `SYMBOLS`: `w.mode(adapter, capability)`, `w.steps()`.

    With `unrolled`, what is said of every step is spelled out for that many: the same for plans of
    no more steps, and z3 then finds examples. Nothing is proven of an unrolled world.
    """

    def __init__(self, meanings: dict[str, Meaning], unrolled: int = 0) -> None:
        self._meanings = meanings
        self.unrolled = unrolled

    def __getattr__(self, name: str) -> Meaning:
        return self._meanings[name]

    def changed(self, **meanings: Meaning) -> "World":
        """Return the same world with these changes. New costs need new `tokens_before`."""
        if unknown := set(meanings) - set(SYMBOLS):
            raise KeyError(*unknown)
        return World({**self._meanings, **meanings}, self.unrolled)


def symbol(name: str, tag: str = "") -> Meaning:
    """Return the uninterpreted symbol of that name; with a tag, another one of the same sorts."""
    declared: Meaning = z3.Function(name + tag, *SYMBOLS[name])
    return declared


def world(unrolled: int = 0) -> World:
    """Any world at all."""
    return World({name: symbol(name) for name in SYMBOLS}, unrolled)


# --- words that the checks are said in ----------------------------------------------------------


def in_plan(w: World, i: Term) -> Term:
    return z3.And(i >= 0, i < w.steps())


def every_step(w: World, says: Callable[[Term], Term]) -> Term:
    return each_below(w.steps(), says, w.unrolled)


def some_step(w: World, says: Callable[[Term], Term]) -> Term:
    return z3.Not(every_step(w, lambda i: z3.Not(says(i))))


def each_below(count: Term, says: Callable[[Term], Term], unrolled: int) -> Term:
    """Return the formula that `body` holds for every i from 0 to count - 1."""
    if unrolled:
        first = map(z3.IntVal, range(unrolled))
        return z3.And(*[z3.Implies(i < count, says(i)) for i in first])
    return every(INT, lambda i: z3.Implies(z3.And(i >= 0, i < count), says(i)))


def rank(mode: Term) -> Term:
    ranks = z3.IntVal(0)
    for constant in MODES[1:]:
        ranks = z3.If(mode == constant, z3.IntVal(MODE_RANK[str(constant)]), ranks)
    return ranks


def pair(w: World, i: Term) -> tuple[Term, Term]:
    return w.adapter(i), w.capability(i)


def uses_tool(w: World, i: Term) -> Term:
    """Return that a step is a tool step whose pair is in the manifest."""
    return z3.And(w.calls(i), w.surfaced(*pair(w, i)))


def step_mode(w: World, i: Term) -> Term:
    return w.mode(*pair(w, i))


def before(w: World, lasts: Term, until: Term) -> Term:
    """Return that something is unexpired at `as_of`; without `as_of`, only what never expires."""
    return z3.Or(z3.Not(lasts), z3.And(w.has_now(), w.now() < until))


def fresh(w: World, ref: Term) -> Term:
    return z3.And(w.known(ref), before(w, w.expires(ref), w.expiry(ref)))


def holds_class(w: World, i: Term, name: Term) -> Term:
    return some(REF, lambda r: z3.And(w.pins(i, r), fresh(w, r), w.class_of(r) == name))


def approved(w: World, i: Term) -> Term:
    def covering(one: Term) -> Term:
        right = z3.Or(w.signed(one) == w.digest(), w.signed(one) == w.prefixed_digest())
        covered = z3.Or(w.covers_all(one), w.covers(one, i))
        return z3.And(w.given(one), right, before(w, w.lapses(one), w.lapse(one)), covered)

    return some(APPROVAL, covering)


def cost(w: World, i: Term) -> Term:
    least = z3.If(uses_tool(w, i), w.least(*pair(w, i)), z3.IntVal(0))
    return z3.If(z3.And(w.has_estimate(i), w.estimate(i) > least), w.estimate(i), least)


def can_produce(w: World, i: Term, output: Term) -> Term:
    listed = z3.And(w.lists(*pair(w, i)), z3.Not(w.produces(*pair(w, i), output)))
    return z3.Not(z3.And(uses_tool(w, i), listed))


def max_steps(w: World) -> Term:
    return z3.If(w.has_budget(), w.budget_steps(), z3.IntVal(DEFAULT_MAX_STEPS))


def bucket_tokens(w: World) -> Term:
    return z3.If(w.has_budget(), w.budget_tokens(), z3.IntVal(DEFAULT_BUCKET_TOKENS))


# --- the checks: what holds of a step, and of the plan as a whole -------------------------------


def covered(w: World) -> Term:
    def fulfilled(output: Term) -> Term:
        made = some_step(w, lambda i: can_produce(w, i, output))
        return z3.Implies(w.needs_output(output), z3.And(w.declares(output), made))

    right_trace = z3.Implies(w.has_trace(), w.plan_trace() == w.trace())
    return z3.And(every(OUTPUT, fulfilled), right_trace)


def step_surfaced(w: World, i: Term) -> Term:
    tool = pair(w, i)
    valid = z3.Implies(w.schemed(*tool), w.satisfies(*tool, w.args(i)))
    return z3.Implies(w.calls(i), z3.And(w.surfaced(*tool), valid))


def step_permitted(w: World, i: Term) -> Term:
    mine = rank(step_mode(w, i))
    below = z3.Implies(w.has_ceiling(), mine <= rank(w.ceiling()))
    signed = z3.Implies(z3.And(w.has_tier(), mine >= rank(w.tier())), approved(w, i))
    return z3.Implies(uses_tool(w, i), z3.And(mine <= rank(w.safety_mode()), below, signed))


def backed(w: World, i: Term, arg: Term, leaf: Term) -> Term:
    def backing(r: Term) -> Term:
        allowed = w.allows(*pair(w, i), arg, w.class_of(r))
        return z3.And(w.pins(i, r), fresh(w, r), allowed, w.backs(r, leaf))

    return some(REF, backing)


def step_evidenced(w: World, i: Term) -> Term:
    def met(name: Term) -> Term:
        by_tool = z3.And(uses_tool(w, i), w.requires(*pair(w, i), name))
        return z3.Implies(z3.Or(by_tool, w.asks(i, name)), holds_class(w, i, name))

    def bound(arg: Term) -> Term:
        asked = z3.And(w.binds(*pair(w, i), arg), w.has_arg(w.args(i), arg))
        leaves = every(LEAF, lambda x: z3.Implies(w.leaf(w.args(i), arg, x), backed(w, i, arg, x)))
        return z3.Implies(asked, leaves)

    pins = every(REF, lambda r: z3.Implies(w.pins(i, r), fresh(w, r)))
    return z3.And(every(CLASS, met), pins, z3.Implies(uses_tool(w, i), every(ARG, bound)))


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
    return z3.And(z3.Not(taken), ready, z3.Not(z3.And(destructive_call(w, i), done)))


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
