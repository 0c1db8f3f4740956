"""What a plan, its manifests, its spec and its context are: symbols without a meaning.

A `World` gives each symbol a meaning. Steps are the integers from 0 to `steps() - 1`. Below the
symbols are the words that the checks are said in.
"""

from collections.abc import Callable
from typing import Final

from evals.context import DEFAULT_BUCKET_TOKENS, DEFAULT_MAX_STEPS
from evals.kinds import MODE_RANK
from tests.assurance.proof.solver import Term, every, some, z3

INT: Final = z3.IntSort()
BOOL: Final = z3.BoolSort()
MODE, MODES = z3.EnumSort("Mode", list(MODE_RANK))
DESTRUCTIVE: Final = MODES[-1]

_NAMES = ("Adapter", "Capability", "Args", "Arg", "Leaf", "Output", "Class", "Ref", "Id")
ADAPTER, CAPABILITY, ARGS, ARG, LEAF, OUTPUT, CLASS, REF, ID = map(z3.DeclareSort, _NAMES)
TRACE, DIGEST, APPROVAL = map(z3.DeclareSort, ("Trace", "Digest", "Approval"))
DEMAND, GROUP, POINTER = map(z3.DeclareSort, ("Demand", "Group", "Pointer"))
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
    "insists": (*_TOOL, ARG, BOOL),
    "spares": (*_TOOL, ARG, BOOL),
    "placed": (*_TOOL, ARG, BOOL),
    "at": (*_TOOL, ARG, POINTER, BOOL),
    "groups": (*_TOOL, GROUP, BOOL),
    "member": (GROUP, ARG, BOOL),
    "demands": (*_TOOL, DEMAND, BOOL),
    "class_demanded": (DEMAND, CLASS),
    "asks_about": (DEMAND, ARG, POINTER, BOOL),
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
    "stands": (REF, POINTER, LEAF, BOOL),
    "says": (REF, DEMAND, BOOL),
    "is_about": (REF, POINTER, ARGS, ARG, BOOL),
    "leaks": (REF, ARGS, BOOL),
    "has_arg": (ARGS, ARG, BOOL),
    "empty": (ARGS, ARG, BOOL),
    "leaf": (ARGS, ARG, LEAF, BOOL),
    # spec
    "needs_output": (OUTPUT, BOOL),
    "needs_class": (CLASS, BOOL),
    "confines": (CLASS, BOOL),
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
    "fits": (APPROVAL, BOOL),
    "made_before": (*_TOOL, ARGS, BOOL),
    # what provenance finds of a step
    "tool_refused": (INT, BOOL),
    "value_refused": (INT, BOOL),
    "doubted": (INT, BOOL),
    "doubted_twice": (INT, BOOL),
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
        lasts = before(w, w.lapses(one), w.lapse(one))
        return z3.And(w.given(one), right, w.fits(one), lasts, covered)

    return some(APPROVAL, covering)


def cost(w: World, i: Term) -> Term:
    least = z3.If(uses_tool(w, i), w.least(*pair(w, i)), z3.IntVal(0))
    return z3.If(z3.And(w.has_estimate(i), w.estimate(i) > least), w.estimate(i), least)


def lists_output(w: World, tool: tuple[Term, Term], output: Term) -> Term:
    return z3.And(w.surfaced(*tool), w.lists(*tool), w.produces(*tool, output))


def listed(w: World, output: Term) -> Term:
    """Return that some tool of the manifest lists the output."""
    return some(ADAPTER, lambda m: some(CAPABILITY, lambda c: lists_output(w, (m, c), output)))


def can_produce(w: World, i: Term, output: Term) -> Term:
    by_its_tool = z3.And(w.calls(i), lists_output(w, pair(w, i), output))
    unlisted = z3.Not(listed(w, output))
    return z3.Or(
        by_its_tool, z3.And(unlisted, z3.Not(z3.And(uses_tool(w, i), w.lists(*pair(w, i)))))
    )


def max_steps(w: World) -> Term:
    return z3.If(w.has_budget(), w.budget_steps(), z3.IntVal(DEFAULT_MAX_STEPS))


def bucket_tokens(w: World) -> Term:
    return z3.If(w.has_budget(), w.budget_tokens(), z3.IntVal(DEFAULT_BUCKET_TOKENS))
