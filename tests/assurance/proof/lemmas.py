"""What holds of an arbitrary step `i` of an accepted plan, and of the plan as a whole.

Nothing is said of `i` but that it is a step, so what is proven of it is proven of every step of
every plan of any length.
"""

from typing import Final

from tests.assurance.proof import encoding as enc
from tests.assurance.proof.encoding import World, facts, in_plan, pair, rank, step_mode
from tests.assurance.proof.lemma import Lemma
from tests.assurance.proof.solver import Term, a, every, some, z3
from tests.assurance.proof.sums import any_smaller, counted

STEP: Final = a(enc.INT, "i")
OTHER: Final = a(enc.INT, "j")
_NAME, _REF, _OUTPUT = a(enc.CLASS, "name"), a(enc.REF, "ref"), a(enc.OUTPUT, "output")


def _step(w: World, name: str, says: str, goal: Term, *given: Term) -> Lemma:
    given = (facts(w), enc.accepted(w), in_plan(w, STEP), *given)
    return Lemma(name, says, given, (goal,), split=w.calls(STEP))


def _plan(w: World, name: str, says: str, goal: Term, *given: Term) -> Lemma:
    return Lemma(name, says, (facts(w), enc.accepted(w), *given), (goal,))


def surface_lemmas(w: World) -> tuple[Lemma, ...]:
    tool = pair(w, STEP)
    joined = z3.Function("joined", enc.ADAPTER, enc.CAPABILITY, z3.DeclareSort("Joined"))
    x, y = a(enc.ADAPTER, "x"), a(enc.CAPABILITY, "y")
    namesake = (w.surfaced(x, y), joined(x, y) == joined(*tool))
    empty = every(enc.ADAPTER, lambda m: every(enc.CAPABILITY, lambda n: z3.Not(w.surfaced(m, n))))
    return (
        _step(
            w,
            "surfaced",
            "Every tool step calls a pair that is in the tool manifest.",
            w.surfaced(*tool),
            w.calls(STEP),
        ),
        _step(
            w,
            "args valid",
            "The args of every tool step satisfy its capability's args schema, if it has one.",
            w.satisfies(*tool, w.args(STEP)),
            *(w.calls(STEP), w.schemed(*tool)),
        ),
        Lemma(
            "no namesakes",
            "A call of an unlisted pair is refused, though a listed one joins to the same name.",
            (facts(w), in_plan(w, STEP), w.calls(STEP), z3.Not(w.surfaced(*tool)), *namesake),
            (z3.Not(enc.accepted(w)),),
        ),
        _step(
            w,
            "empty manifest",
            "With no tool in the manifest, no step of an accepted plan calls one.",
            z3.Not(w.calls(STEP)),
            empty,
        ),
    )


def approval_lemmas(w: World) -> tuple[Lemma, ...]:

    mine = rank(step_mode(w, STEP))
    at_tier = (w.calls(STEP), w.has_tier(), mine >= rank(w.tier()))

    def of_another(one: Term) -> Term:
        return z3.And(w.signed(one) != w.digest(), w.signed(one) != w.prefixed_digest())

    def lapsed(one: Term) -> Term:
        return z3.And(w.lapses(one), z3.Or(z3.Not(w.has_now()), w.lapse(one) <= w.now()))

    return (
        _step(
            w,
            "within safety mode",
            "No tool step has a mode above the safety mode.",
            mine <= rank(w.safety_mode()),
            w.calls(STEP),
        ),
        _step(
            w,
            "within ceiling",
            "No tool step has a mode above the spec's ceiling.",
            mine <= rank(w.ceiling()),
            *(w.calls(STEP), w.has_ceiling()),
        ),
        _step(
            w,
            "read only",
            "Under safety mode read_only every tool called is read_only.",
            step_mode(w, STEP) == enc.MODES[0],
            *(w.calls(STEP), w.safety_mode() == enc.MODES[0]),
        ),
        _step(
            w,
            "approved",
            "Every tool step at or above the tier has an unexpired approval of this very plan.",
            enc.approved(w, STEP),
            *at_tier,
        ),
        Lemma(
            "approval of another plan",
            "If every approval is of another plan, a plan that reaches the tier is refused.",
            (facts(w), in_plan(w, STEP), *at_tier, every(enc.APPROVAL, of_another)),
            (z3.Not(enc.accepted(w)),),
        ),
        Lemma(
            "approval lapsed",
            "If every approval has lapsed, at as_of or for want of it, such a plan is refused.",
            (facts(w), in_plan(w, STEP), *at_tier, every(enc.APPROVAL, lapsed)),
            (z3.Not(enc.accepted(w)),),
        ),
    )


def evidence_lemmas(w: World) -> tuple[Lemma, ...]:
    tool = pair(w, STEP)
    arg, leaf = a(enc.ARG, "arg"), a(enc.LEAF, "value")
    asked = (w.calls(STEP), w.binds(*tool, arg), w.has_arg(w.args(STEP), arg))

    def live(r: Term) -> Term:
        unexpired = enc.before(w, w.expires(r), w.expiry(r))
        return z3.And(w.pins(STEP, r), w.known(r), unexpired, w.class_of(r) == _NAME)

    return (
        _step(
            w,
            "tool's classes",
            "Each class the tool requires has a pinned, known, fresh item of exactly that class.",
            some(enc.REF, live),
            *(w.calls(STEP), w.requires(*tool, _NAME)),
        ),
        _step(
            w,
            "step's classes",
            "Each class the step itself asks for has such an item too.",
            some(enc.REF, live),
            w.asks(STEP, _NAME),
        ),
        _plan(
            w,
            "spec's classes",
            "Each class the spec requires is pinned, known and fresh at some step.",
            enc.some_step(w, lambda i: enc.holds_class(w, i, _NAME)),
            w.needs_class(_NAME),
        ),
        _step(
            w,
            "no unknown ref",
            "No step pins what is not in the evidence manifest.",
            w.known(_REF),
            w.pins(STEP, _REF),
        ),
        _step(
            w,
            "no stale ref",
            "No step pins an item at or after its expiry.",
            w.now() < w.expiry(_REF),
            *(w.pins(STEP, _REF), w.expires(_REF), w.has_now()),
        ),
        _step(
            w,
            "no clock, no expiry",
            "Without as_of, no step pins an item that expires.",
            z3.Not(w.expires(_REF)),
            *(w.pins(STEP, _REF), z3.Not(w.has_now())),
        ),
        _step(
            w,
            "args backed",
            "Every value of a bound argument is backed by a pinned fresh item of an allowed class.",
            enc.backed(w, STEP, arg, leaf),
            *(*asked, w.leaf(w.args(STEP), arg, leaf)),
        ),
        Lemma(
            "text of a ref",
            "If no evidence exists, a plan with a required class is refused, whatever it pins.",
            (facts(w), every(enc.REF, lambda r: z3.Not(w.known(r))), w.needs_class(_NAME)),
            (z3.Not(enc.accepted(w)),),
        ),
    )


def order_lemmas(w: World) -> tuple[Lemma, ...]:

    needed = a(enc.ID, "needed")

    def earlier(j: Term) -> Term:
        return z3.And(j < STEP, w.has_id(j), w.id(j) == needed)

    twins = (
        in_plan(w, OTHER),
        STEP < OTHER,
        enc.same_call(w, STEP, OTHER),
        w.calls(STEP),
        w.calls(OTHER),
    )
    both = (in_plan(w, OTHER), w.has_id(STEP), w.has_id(OTHER))
    return (
        _step(
            w,
            "dependencies earlier",
            "Each dependency is the id of an earlier step.",
            enc.some_step(w, earlier),
            w.depends(STEP, needed),
        ),
        _step(
            w,
            "ids unique",
            "No two steps have one id.",
            STEP == OTHER,
            *both,
            w.id(STEP) == w.id(OTHER),
        ),
        _step(
            w,
            "no circle",
            "A step depends neither on itself nor on one that depends on it.",
            z3.Not(z3.And(w.depends(STEP, w.id(OTHER)), w.depends(OTHER, w.id(STEP)))),
            *both,
        ),
        _step(
            w,
            "nothing destroyed twice",
            "No two steps call one destructive pair with equal args.",
            step_mode(w, STEP) != enc.DESTRUCTIVE,
            *twins,
        ),
    )


def budget_lemmas(w: World) -> tuple[Lemma, ...]:
    tool = pair(w, STEP)
    one = counted(w, STEP)
    room = enc.bucket_tokens(w) - w.spent_tokens()
    return (
        *any_smaller(w.unrolled).lemmas(),
        *one.lemmas(),
        _plan(
            w,
            "steps within budget",
            "The steps, with those already spent, are no more than max_steps.",
            w.spent_steps() + w.steps() <= enc.max_steps(w),
        ),
        _plan(
            w,
            "tokens within budget",
            "The tokens of all steps, with those already spent, are no more than bucket_tokens.",
            w.spent_tokens() + w.tokens_before(w.steps()) <= enc.bucket_tokens(w),
        ),
        _step(
            w,
            "each step within budget",
            "What was spent leaves room for any single step: its estimate and its tool's least.",
            z3.And(
                z3.Implies(w.has_estimate(STEP), w.estimate(STEP) <= room),
                z3.Implies(w.calls(STEP), w.least(*tool) <= room),
            ),
            one.concluded(),
        ),
        Lemma(
            "overspent",
            "Once more is spent than the budget holds, every plan is refused, the empty one too.",
            (
                facts(w),
                z3.Implies(w.steps() > 0, counted(w, z3.IntVal(0)).concluded()),
                z3.Implies(w.steps() == 0, w.tokens_before(z3.IntVal(0)) == 0),
                z3.Or(
                    w.spent_steps() > enc.max_steps(w),
                    w.spent_tokens() > enc.bucket_tokens(w),
                ),
            ),
            (z3.Not(enc.accepted(w)),),
        ),
    )


def coverage_lemmas(w: World) -> tuple[Lemma, ...]:
    return (
        _plan(
            w,
            "outputs declared",
            "Every required output is declared.",
            w.declares(_OUTPUT),
            w.needs_output(_OUTPUT),
        ),
        _plan(
            w,
            "outputs producible",
            "Some step can produce every required output: a reason step, or a listed tool that "
            "lists it or lists nothing.",
            enc.some_step(w, lambda i: _makes(w, i)),
            w.needs_output(_OUTPUT),
        ),
        _plan(
            w,
            "plan not empty",
            "A plan without steps is refused if an output or a class of evidence is required.",
            w.steps() > 0,
            z3.Or(w.needs_output(_OUTPUT), w.needs_class(_NAME)),
        ),
        _plan(
            w,
            "same trace",
            "A plan that names a trace names that of the context.",
            w.plan_trace() == w.trace(),
            w.has_trace(),
        ),
    )


def _makes(w: World, i: Term) -> Term:
    tool = pair(w, i)
    listed = z3.And(w.surfaced(*tool), z3.Or(z3.Not(w.lists(*tool)), w.produces(*tool, _OUTPUT)))
    return z3.Or(z3.Not(w.calls(i)), listed)


def step_lemmas(w: World) -> tuple[Lemma, ...]:
    return (
        *surface_lemmas(w),
        *approval_lemmas(w),
        *evidence_lemmas(w),
        *order_lemmas(w),
        *budget_lemmas(w),
        *coverage_lemmas(w),
    )
