"""What holds of an arbitrary step `i` of an accepted plan, and of the plan as a whole.

Nothing is said of `i` but that it is a step, so what is proven of it is proven of every step of
every plan of any length.
"""

from typing import Final

from evals.kinds import MODE_RANK
from tests.assurance.proof import encoding as enc
from tests.assurance.proof import worlds as ws
from tests.assurance.proof.encoding import facts
from tests.assurance.proof.lemma import Lemma
from tests.assurance.proof.solver import Term, a, every, some, z3
from tests.assurance.proof.sums import any_smaller, counted
from tests.assurance.proof.worlds import World, in_plan, pair, rank, step_mode

STEP: Final = a(ws.INT, "i")
OTHER: Final = a(ws.INT, "j")
_NAME, _REF, _OUTPUT = a(ws.CLASS, "name"), a(ws.REF, "ref"), a(ws.OUTPUT, "output")


def _step(w: World, name: str, says: str, goal: Term, *given: Term) -> Lemma:
    """Return what holds of the step. It mostly follows from what the checks say of that step."""
    checks = [part(w, STEP) for part in enc.PARTS]
    premises = (facts(w), enc.accepted(w), in_plan(w, STEP), *given)
    enough = (*checks, in_plan(w, STEP), *given)
    return Lemma(name, says, premises, (goal,), w.calls(STEP), (enough,))


def _plan(w: World, name: str, says: str, goal: Term, *given: Term) -> Lemma:
    """Return what holds of the plan. It mostly follows from what the checks say of the whole."""
    surfaced = ws.every_step(w, lambda i: enc.step_surfaced(w, i))
    enough = (*(check(w) for check in enc.WHOLE.values()), surfaced, *given)
    return Lemma(name, says, (facts(w), enc.accepted(w), *given), (goal,), enough=(enough,))


def surface_lemmas(w: World) -> tuple[Lemma, ...]:
    tool = pair(w, STEP)
    joined = z3.Function("joined", ws.ADAPTER, ws.CAPABILITY, z3.DeclareSort("Joined"))
    x, y = a(ws.ADAPTER, "x"), a(ws.CAPABILITY, "y")
    namesake = (w.surfaced(x, y), joined(x, y) == joined(*tool))
    empty = every(ws.ADAPTER, lambda m: every(ws.CAPABILITY, lambda n: z3.Not(w.surfaced(m, n))))
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
        _step(
            w,
            "nothing confined sent",
            "No call at network or above holds content of a confined class, pinned or not.",
            z3.Not(w.leaks(_REF, w.args(STEP))),
            *(w.calls(STEP), w.known(_REF), w.confines(w.class_of(_REF))),
            rank(step_mode(w, STEP)) >= MODE_RANK["network"],
        ),
        _step(
            w,
            "tool not refused",
            "No step calls a tool that provenance refuses.",
            z3.Not(w.tool_refused(STEP)),
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

    def refused(approvals: Term) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
        """Return premises and goal: a step at the tier, with such approvals, is not permitted."""
        given = (facts(w), in_plan(w, STEP), *at_tier, approvals)
        return given, (z3.Not(z3.And(w.surfaced(*pair(w, STEP)), enc.step_permitted(w, STEP))),)

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
            step_mode(w, STEP) == ws.MODES[0],
            *(w.calls(STEP), w.safety_mode() == ws.MODES[0]),
        ),
        _step(
            w,
            "approved",
            "Every tool step at or above the tier has an unexpired approval of this very plan.",
            ws.approved(w, STEP),
            *at_tier,
        ),
        _step(
            w,
            "doubts approved",
            "A step with a doubt has an unexpired approval of this very plan, and no second doubt.",
            z3.And(ws.approved(w, STEP), z3.Not(w.doubted_twice(STEP))),
            w.doubted(STEP),
        ),
        Lemma(
            "approval in another context",
            "If every approval names another context, a plan that reaches the tier is refused.",
            *refused(every(ws.APPROVAL, lambda one: z3.Not(w.fits(one)))),
        ),
        Lemma(
            "approval of another plan",
            "If every approval is of another plan, a plan that reaches the tier is refused.",
            *refused(every(ws.APPROVAL, of_another)),
        ),
        Lemma(
            "approval lapsed",
            "If every approval has lapsed, at as_of or for want of it, such a plan is refused.",
            *refused(every(ws.APPROVAL, lapsed)),
        ),
    )


def evidence_lemmas(w: World) -> tuple[Lemma, ...]:
    tool = pair(w, STEP)
    arg, leaf = a(ws.ARG, "arg"), a(ws.LEAF, "value")
    asked = (w.calls(STEP), enc.judged(w, STEP, arg))

    def live(r: Term) -> Term:
        unexpired = ws.before(w, w.expires(r), w.expiry(r))
        return z3.And(w.pins(STEP, r), w.known(r), unexpired, w.class_of(r) == _NAME)

    return (
        _step(
            w,
            "tool's classes",
            "Each class the tool requires has a pinned, known, fresh item of exactly that class.",
            some(ws.REF, live),
            *(w.calls(STEP), w.requires(*tool, _NAME)),
        ),
        _step(
            w,
            "step's classes",
            "Each class the step itself asks for has such an item too.",
            some(ws.REF, live),
            w.asks(STEP, _NAME),
        ),
        _plan(
            w,
            "spec's classes",
            "Each class the spec requires is pinned, known and fresh at some step.",
            ws.some_step(w, lambda i: ws.holds_class(w, i, _NAME)),
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
            "Every value of a bound argument, but of an optional one that is empty, is backed by a "
            "pinned fresh item of an allowed class.",
            enc.backed(w, STEP, arg, leaf),
            *(*asked, w.leaf(w.args(STEP), arg, leaf)),
        ),
        *_demand_lemmas(w),
        *_binding_lemmas(w),
        _step(
            w,
            "values not refused",
            "No value of a step is refused by provenance.",
            z3.Not(w.value_refused(STEP)),
        ),
        Lemma(
            "text of a ref",
            "If no evidence exists, a plan with a required class is refused, whatever it pins.",
            (facts(w), every(ws.REF, lambda r: z3.Not(w.known(r))), w.needs_class(_NAME)),
            (z3.Not(enc.accepted(w)),),
        ),
    )


def _demand_lemmas(w: World) -> tuple[Lemma, ...]:
    tool = pair(w, STEP)
    demand, arg, at = a(ws.DEMAND, "demand"), a(ws.ARG, "arg"), a(ws.POINTER, "pointer")
    demanded = (w.calls(STEP), w.demands(*tool, demand))
    asked = (*demanded, w.asks_about(demand, arg, at))

    def one_item(r: Term) -> Term:
        pinned = z3.And(w.pins(STEP, r), fresh_item(w, r), w.says(r, demand))
        about = z3.Implies(w.asks_about(demand, arg, at), w.is_about(r, at, w.args(STEP), arg))
        return z3.And(pinned, w.class_of(r) == w.class_demanded(demand), about)

    def says_otherwise(r: Term) -> Term:
        return z3.Implies(w.class_of(r) == w.class_demanded(demand), z3.Not(w.says(r, demand)))

    return (
        _step(
            w,
            "demands met",
            "One pinned, known, fresh item of the class says all that a demand asks for: its "
            "content satisfies the schema and holds the argument at the pointer.",
            some(ws.REF, one_item),
            *demanded,
        ),
        _step(
            w,
            "about what is there",
            "An argument that a demand is about is there and not empty.",
            z3.Not(w.empty(w.args(STEP), arg)),
            *asked,
        ),
        Lemma(
            "evidence to the contrary",
            "A step whose tool demands what no item of the class says lacks evidence.",
            (*demanded, w.surfaced(*tool), every(ws.REF, says_otherwise)),
            (z3.Not(enc.step_evidenced(w, STEP)),),
        ),
    )


def fresh_item(w: World, r: Term) -> Term:
    return z3.And(w.known(r), ws.before(w, w.expires(r), w.expiry(r)))


def _binding_lemmas(w: World) -> tuple[Lemma, ...]:
    tool = pair(w, STEP)
    arg, leaf, group = a(ws.ARG, "arg"), a(ws.LEAF, "value"), a(ws.GROUP, "group")
    other, other_leaf = a(ws.ARG, "other_arg"), a(ws.LEAF, "other_value")
    bound = (w.calls(STEP), w.binds(*tool, arg))
    valued = (*bound, z3.Not(w.empty(w.args(STEP), arg)), w.has_arg(w.args(STEP), arg))
    grouped = (w.calls(STEP), w.groups(*tool, group))
    both = [enc.in_group(w, STEP, group, *each) for each in ((arg, leaf), (other, other_leaf))]

    def there(r: Term) -> Term:
        at = some(ws.POINTER, lambda at: z3.And(w.at(*tool, arg, at), w.stands(r, at, leaf)))
        return z3.And(w.pins(STEP, r), fresh_item(w, r), w.allows(*tool, arg, w.class_of(r)), at)

    def one_item(r: Term) -> Term:
        held = [enc.backed_by(w, STEP, *each, r) for each in ((arg, leaf), (other, other_leaf))]
        return z3.And(w.pins(STEP, r), fresh_item(w, r), *held)

    return (
        _step(
            w,
            "bound at",
            "Each value of an argument that is bound at pointers stands at one of them, in a "
            "pinned fresh item of an allowed class.",
            some(ws.REF, there),
            *(*valued, w.placed(*tool, arg), w.leaf(w.args(STEP), arg, leaf)),
        ),
        _step(
            w,
            "bound and there",
            "An argument that is bound, and is neither optional nor of the array form, is there.",
            z3.Not(w.empty(w.args(STEP), arg)),
            *(w.calls(STEP), w.insists(*tool, arg)),
        ),
        _step(
            w,
            "bound together",
            "Any two values of the arguments of a group are backed by one and the same item.",
            some(ws.REF, one_item),
            *(*grouped, *both),
        ),
    )


def order_lemmas(w: World) -> tuple[Lemma, ...]:

    needed = a(ws.ID, "needed")

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
            ws.some_step(w, earlier),
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
            step_mode(w, STEP) != ws.DESTRUCTIVE,
            *twins,
        ),
        _step(
            w,
            "nothing destroyed again",
            "No step makes a destructive call that an earlier turn made, unless it is approved.",
            z3.Or(step_mode(w, STEP) != ws.DESTRUCTIVE, ws.approved(w, STEP)),
            *(w.calls(STEP), w.made_before(*pair(w, STEP), w.args(STEP))),
        ),
    )


def budget_lemmas(w: World) -> tuple[Lemma, ...]:
    tool = pair(w, STEP)
    one = counted(w, STEP)
    room = ws.bucket_tokens(w) - w.spent_tokens()
    return (
        *any_smaller(w.unrolled).lemmas(),
        *one.lemmas(),
        _plan(
            w,
            "steps within budget",
            "The steps, with those already spent, are no more than max_steps.",
            w.spent_steps() + w.steps() <= ws.max_steps(w),
        ),
        _plan(
            w,
            "tokens within budget",
            "The tokens of all steps, with those already spent, are no more than bucket_tokens.",
            w.spent_tokens() + w.tokens_before(w.steps()) <= ws.bucket_tokens(w),
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
                    w.spent_steps() > ws.max_steps(w),
                    w.spent_tokens() > ws.bucket_tokens(w),
                ),
            ),
            (z3.Not(enc.accepted(w)),),
        ),
    )


def coverage_lemmas(w: World) -> tuple[Lemma, ...]:
    x, y = a(ws.ADAPTER, "x"), a(ws.CAPABILITY, "y")
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
            "Some step can produce every required output: a reason step, or a tool that lists it "
            "or lists nothing.",
            ws.some_step(w, lambda i: _makes(w, i)),
            w.needs_output(_OUTPUT),
        ),
        _plan(
            w,
            "listed outputs",
            "A required output that a tool of the manifest lists comes from a step whose tool "
            "lists it, never from a reason step or from a tool that lists nothing.",
            ws.some_step(w, lambda i: _lists(w, i)),
            w.needs_output(_OUTPUT),
            ws.lists_output(w, (x, y), _OUTPUT),
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


def _lists(w: World, i: Term) -> Term:
    tool = pair(w, i)
    lists = z3.And(w.lists(*tool), w.produces(*tool, _OUTPUT))
    return z3.And(w.calls(i), w.surfaced(*tool), lists)


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
